/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Policies in native code, in user space: image/emitc.c says them in C, the system's
 * compiler compiles that with policy.h, and what comes out is loaded into this program.
 *
 * Interface:
 * native_open()	compile policies, load them
 * native_load()	load what somebody has compiled
 * native_find()	one's code, by the name of its entry
 * native_entry()	that name, of a policy in its place
 * native_close()	unload them
 */
#ifndef HIPEC_NATIVE_NATIVE_H
#define HIPEC_NATIVE_NATIVE_H

#include "../../module/vm/text.h"
#include "../../module/vm/vm.h"

#define NATIVE_ENTRY 32	/* longest name of an entry, bytes */

struct native {
	void *library;		/* NULL: nothing is loaded */
};

int native_open(struct native *n, const struct hipec_policy *const *policy, size_t nr,
		struct hipec_text *why);
int native_load(struct native *n, const char *path, struct hipec_text *why);
bool native_find(const struct native *n, const char *entry,
		 int (**run)(struct hipec_vm *vm, u32 event));
void native_entry(char entry[NATIVE_ENTRY], size_t i);
void native_close(struct native *n);

#endif /* HIPEC_NATIVE_NATIVE_H */
