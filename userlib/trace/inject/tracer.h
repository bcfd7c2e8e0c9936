/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libhipectrace.so, which hipec trace has loaded into programs: it stands before
 * the C library's calls that move data of files, and notes what they did.
 *
 * It allocates nothing, holds no descriptor and changes no signal's handler (but
 * with --mmap); without a channel it does nothing.
 *
 * Interface:
 * tracer_head()            the channel, or NULL                  tracer.c
 * tracer_path()            its name
 * tracer_begin(), _begin_two(), _end()  around a call on descriptors
 * tracer_note()            an access
 * tracer_untraced()        a map whose touches will not be seen
 * tracer_say()             another record
 * tracer_identify()        what file a descriptor is of
 * tracer_real()            the library's own function
 * tracer_context()         of the caller                         stack.c
 * tracer_hook_stdio()      have streams seen                     stdio.c
 * tracer_begin_maps()      have mapped files seen               map.c
 * tracer_touch()           memory that the kernel will look at
 * tracer_on_syscall        hears of what syscall() did            call.c
 * tracer_look_at_ring()    whether a map is of a ring of io_uring  async.c
 */
#ifndef HIPEC_TRACER_H
#define HIPEC_TRACER_H

#include <stdbool.h>
#include <sys/types.h>

#include "../chan.h"

#define TRACER_EXPORT __attribute__((visibility("default")))

/* Where in its file a call reads or writes, if it does not say. */
#define TRACER_POSITION (-1)	/* where the descriptor is; so it is to preadv2() */
#define TRACER_END (-2)		/* at the end of the file, whatever it says */

struct tracer_op {
	uint64_t file;		/* 0: none that counts */
	int64_t offset;
	int fd;
	bool write;
	bool locked;
	bool direct;		/* past the page cache */
};

/* @real: is set to the library's function, once. */
#define TRACER_REAL(real, name)                                               \
	static __typeof__(name) *real;                                        \
	if (!real)                                                            \
		real = tracer_real(#name)

struct tracechan_head *tracer_head(void);
const char *tracer_path(void);
void tracer_begin(struct tracer_op *op, int fd, int64_t offset, bool write);
void tracer_begin_two(struct tracer_op *in, struct tracer_op *out);
ssize_t tracer_end(struct tracer_op *op, ssize_t ret);
void tracer_note(uint64_t file, uint64_t offset, uint64_t bytes, bool write,
		 uint64_t context);
void tracer_untraced(uint64_t file, uint64_t offset, uint64_t bytes);
void tracer_say(enum tracechan_kind kind, uint64_t id, const char *text);
uint64_t tracer_identify(int fd);
void *tracer_real(const char *name);

uint64_t tracer_context(const struct tracechan_head *head, const void *from);
void tracer_begin_contexts(void);
bool tracer_hook_stdio(void);
const char *tracer_library(void);
void tracer_begin_maps(const struct tracechan_head *head);
extern void (*tracer_on_syscall)(long number, long ret);
void tracer_look_at_ring(int fd, off_t offset);
void tracer_touch(const void *memory, size_t bytes, bool write);

#endif /* HIPEC_TRACER_H */
