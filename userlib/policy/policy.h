/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A policy by its name, as the user gives it, and its parameters.
 *
 * Interface:
 * policy_open()        what --policy names, loaded, compiled, verified        policy.c
 * policy_load()        the same of what the module could run: no reference
 * policy_close()
 * policy_param_add()   an argument of --param                                 param.c
 * policy_params_set()  all of them, in policies that are open
 * policy_load_with()   one policy, with its parameters
 */
#ifndef HIPEC_POLICY_POLICY_H
#define HIPEC_POLICY_POLICY_H

#include "../../module/vm/fifo2.h"
#include "../../module/vm/vm.h"

/* Built-in references: what they do is in docs/user/sim.md. auto is a league (auto.h). */
#define POLICY_REFERENCES(X) X(LRU, "lru") X(FIFO, "fifo") X(CLOCK, "clock") X(OPT, "opt") \
	X(OPT_READS, "opt-reads") X(DEFAULT, "default") X(AUTO, "auto")

enum policy_reference {
	POLICY_LOADED,	/* none: it has commands, or is the module's own */
#define X(name, text) POLICY_##name,
	POLICY_REFERENCES(X)
#undef X
};

/* What --policy names. */
struct policy {
	const char *name;	/* as it was named */
	enum policy_reference reference;
	void *image;		/* of a policy */
	struct hipec_policy policy;
	int (*run)(struct hipec_vm *vm, u32 event); /* its native code, if it was asked for */
};

/* Of --param. */
struct policy_param {
	char *name;
	s64 value;
};

struct policy_params {
	struct policy_param *param;	/* the owner frees it */
	size_t nr;
};

int policy_open(struct policy *p, const char *name,
		struct hipec_text *why);
int policy_load(struct policy *p, const char *name,
		struct hipec_text *why);
void policy_close(struct policy *p);


int policy_param_add(struct policy_params *params, char *arg);
int policy_params_set(const struct policy_params *params, struct policy *policy, size_t nr);
int policy_load_with(struct policy *p, const char *name, const struct policy_params *params);

#endif /* HIPEC_POLICY_POLICY_H */
