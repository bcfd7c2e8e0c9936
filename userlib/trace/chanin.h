/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command's end of the channel; chan.h says what is in it.
 *
 * Interface:
 * trace_chan_make(), _free()  the channel
 * trace_chan_read()           what came through it, as a trace
 */
#ifndef HIPEC_TRACECHANIN_H
#define HIPEC_TRACECHANIN_H

#include "chan.h"
#include "reader.h"

struct tracechan {
	char *path;
	int fd;
	struct tracechan_head *head;
};

struct tracechan_found {
	u64 process;	/* given: the first one, */
	const char *program;	/* which runs this */
	u64 nr_lost;	/* slots that nothing was written to */
	bool no_room;	/* for some of them */
	u64 untraced_bytes;	/* of files, mapped where touches were not seen */
	u32 untraced_files;
	u64 nr_uring, nr_aio;	/* requests that were not traced */
	u64 direct_bytes;	/* that went past the page cache */
	bool rings;		/* of io_uring were there */
	u32 nr_silent;		/* programs that nothing was heard of */
	/* Given; a program that was started, and of which nothing was heard. */
	void (*silent)(const char *name, struct tracechan_found *found);
};

int trace_chan_make(struct tracechan *c, const char *dir);
void trace_chan_free(struct tracechan *c);
int trace_chan_read(struct tracechan *c, struct trace *t,
		    struct tracechan_found *found, struct trace_error *err);

#endif /* HIPEC_TRACECHANIN_H */
