/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A log of strace, while it is read: strace.c has its lines, syscalls.c what calls do.
 *
 * Interface:
 * trace_strace_child()      a process that another one has started
 * trace_strace_skip_item()  behind an argument
 * trace_strace_call_known() the call of a name
 * trace_strace_call_do()    what it did
 */
#ifndef HIPEC_TRACE_STRACE_H
#define HIPEC_TRACE_STRACE_H

#include "fds.h"

#define MAX_ARGS 8	/* of a call, as far as they are looked at */

struct strace {
	struct trace_in *r;
	struct trace_files files;
	struct processes processes;
	u64 unknown;	/* accesses to descriptors that nobody opened */
	u64 maps, rings;	/* that files were mapped, and calls of io_uring */
	u64 mapped_bytes;	/* of these files */
	bool summary;	/* of strace -c, which is no call */
};

/* A call that has returned. */
struct call {
	const char *name;
	char *arg[MAX_ARGS];	/* cut out, in place */
	int nr_args;
	s64 ret;
	char *ret_path;	/* of strace -y, or NULL */
};

int trace_strace_child(struct strace *l, u32 pid, const struct process *parent, bool shared);
char *trace_strace_skip_item(char *c);
int trace_strace_call_known(const char *name, size_t length);
int trace_strace_call_do(int known, struct strace *l, struct process *p, struct call *call);

#endif /* HIPEC_TRACE_STRACE_H */
