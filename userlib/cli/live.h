/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the verbs that take a live container's number share.
 *
 * Interface:
 * cli_live_id()      a number of a container
 * cli_live_failed()  why a call about one has failed
 * cli_swap_policy()  another policy, said if it fails
 * cli_swap_try()     the same for a while, and back if it is worse
 * cli_cpu_of()       processor time of a process and its children
 */
#ifndef HIPEC_CLI_LIVE_H
#define HIPEC_CLI_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A policy that is to be swapped in. */
struct cli_swap {
	int device;
	uint64_t id;
	const char *name;	/* as it was asked for */
	const void *image;	/* NULL: the built-in replacement */
	size_t size;
	uint64_t adopted;	/* pages; filled */
	bool json;
};

bool cli_live_id(const char *text, uint64_t *id);
int cli_live_failed(uint64_t id, int err);
int cli_swap_policy(struct cli_swap *s);
int cli_swap_try(struct cli_swap *s, double seconds);
double cli_cpu_of(int pid);

#endif /* HIPEC_CLI_LIVE_H */
