/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hipec run: a program as it is, whose files are those of one container. It gets a
 * cgroup of its own, and what is opened there is the container's. The command stays
 * beside it: it has the container, does something every now and then, and tells at the
 * end what came of it.
 *
 * Interface:
 * run_place_begin(), _end()  the program's cgroup              place.c
 * run_report()               what came of it                   report.c
 * run_amp_begin(), _serve(), _end(), _free()  feed the policy  amp.c
 */
#ifndef HIPEC_CLI_RUN_H
#define HIPEC_CLI_RUN_H

#include "../../lib/hipec.h"
#include "../../policy/policy.h"

struct run {
	/* As the user said. */
	const char *policy;
	bool league;		/* that is auto */
	const char *among;	/* its policies, or NULL */
	bool curve;		/* the policy plays with other budgets, too */
	uint64_t budget;	/* frames */
	uint64_t expected;	/* pages that hipec try says will be read; 0: nobody said */
	char *globs;		/* each ended by a newline, or NULL */
	bool share, contract, strict, quiet, json;
	const char *output;	/* of the report, or NULL: standard error */

	char *hints;		/* file of what was learnt; NULL: by the program */
	bool no_hints;

	struct policy loaded;	/* what --policy names */
	struct policy_params params;
	int device;		/* the container; -1: there is none */
	char *cgroup;		/* directory of the program's, or NULL */
	int procs;		/* its cgroup.procs, or -1 */
	const char *program;
	char *plain;		/* why it runs without a container, or NULL */

	struct amp_loop *amp;	/* that feeds the policy, or NULL */

	/* Done every period_ms while the program runs, if it is not 0. */
	int period_ms;
	void (*every)(struct run *r);
};

int run_place_begin(struct run *r);
void run_place_end(struct run *r);

void run_amp_begin(struct run *r, const struct hipec_policy *p);
void run_amp_serve(struct run *r);
void run_amp_end(struct run *r);
void run_amp_free(struct run *r);

int run_report(struct run *r, int status);

#endif /* HIPEC_CLI_RUN_H */
