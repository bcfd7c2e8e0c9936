/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Program contexts in the module, and what they were made of: context.c.
 */
#ifndef HIPEC_CONTEXT_CONTEXT_H
#define HIPEC_CONTEXT_CONTEXT_H

#include <linux/uidgid.h>

#include "stack.h"

#define HIPEC_CONTEXT_POINTS 16		/* at most */
#define HIPEC_CONTEXT_PATH 255		/* bytes of a path that are kept: its end */

/**
 * struct hipec_context_file - a file of points
 * @file:       as in struct hipec_stack_point
 * @id_bytes:   of @id; 0: it has none
 * @path_bytes: of @path
 * @id:         build id
 * @path:       when it was first met
 */
struct hipec_context_file {
	u64 file;
	u8 id_bytes;
	u8 path_bytes;
	u8 id[HIPEC_BUILD_ID_MAX];
	char path[HIPEC_CONTEXT_PATH];
};

/**
 * struct hipec_contexts - whose contexts a container has, and what these were made of
 * @uid:  of the loader; invariant after the load
 * @all:  the loader could trace all processes; likewise
 * @key:  of what fast walks of this container found; another one makes that void
 * @kept: points and files; NULL until somebody wants them, then invariant
 */
struct hipec_contexts {
	kuid_t uid;
	bool all;
	u64 key;
	struct hipec_context_kept *kept;
};

struct vm_fault;

int hipec_context_init(void);
void hipec_context_exit(void);
void hipec_context_begin(struct hipec_contexts *t);
void hipec_context_end(struct hipec_contexts *t);
u64 hipec_context(const struct hipec_contexts *t, struct vm_fault *vmf);
u64 hipec_context_of_call(const struct hipec_contexts *t);
int hipec_context_keep(struct hipec_contexts *t);
u32 hipec_context_points(const struct hipec_contexts *t, u64 context,
			 struct hipec_stack_point *point);
bool hipec_context_file(const struct hipec_contexts *t, u64 id,
			struct hipec_context_file *file);

#endif /* HIPEC_CONTEXT_CONTEXT_H */
