/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes of a log and their descriptors.
 *
 * Interface:
 * trace_add_process(), _find_, _del_, _free_processes()  processes
 * trace_unshare()    descriptors of its own
 * trace_put_fd()     a descriptor of an open file
 * trace_close_fd()   it is closed
 */
#ifndef HIPEC_TRACEFDS_H
#define HIPEC_TRACEFDS_H

#include "reader.h"

/* An open file. */
struct open_file {
	u32 refs;	/* descriptors */
	s64 file;	/* -1: none whose pages could be cached */
	char *path;	/* as far as it is known; "": not */
	u64 offset;
	bool append;
};

struct fds {
	u32 refs;	/* processes */
	u32 nr;
	struct open_file **open;
	bool *on_exec;	/* closed then */
};

struct process {
	u32 pid;
	struct fds *fds;
	char *unfinished;	/* a call, up to where it was interrupted; or NULL */
	char *cwd;		/* where it has gone by the log; or NULL */
};

struct processes {
	struct process *process;	/* in the order of their birth */
	size_t nr, max;
};

int trace_add_process(struct trace_in *r, struct processes *all, u32 pid,
		      struct fds *parent, bool shared);
struct process *trace_find_process(struct processes *all, u32 pid);
void trace_del_process(struct processes *all, struct process *p);
void trace_free_processes(struct processes *all);
int trace_unshare(struct process *p);
int trace_put_fd(struct trace_in *r, struct fds *fds, u64 fd,
		 struct open_file *o, bool on_exec);
void trace_close_fd(struct fds *fds, u64 fd);

#endif /* HIPEC_TRACEFDS_H */
