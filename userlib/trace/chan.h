/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The channel from traced programs to hipec trace: a file that all of them map. A
 * record takes the next slots; their order is the order of the trace. What a
 * program has written is there, however it ends, and it holds no descriptor that
 * it could close. Nobody waits: where there is no room, slots stay empty.
 */
#ifndef HIPEC_TRACECHAN_H
#define HIPEC_TRACECHAN_H

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define TRACECHAN_ENV "HIPEC_TRACE"	/* has the file's path */
#define TRACECHAN_MAGIC 0x3165636172747068ull
#define TRACECHAN_HEAD 8192		/* bytes */
#define TRACECHAN_CHUNK (1u << 20)	/* bytes of slots that are mapped at once */
#define TRACECHAN_CHUNKS (1u << 14)	/* at most */
#define TRACECHAN_TEXT 48
#define TRACECHAN_LOCKS 64

enum tracechan_kind {
	TRACECHAN_EMPTY,	/* no room, or its writer was killed */
	TRACECHAN_READ,
	TRACECHAN_WRITE,
	TRACECHAN_UNTRACED,	/* a part of a file is mapped; touches are not seen */
	TRACECHAN_NAME,		/* of a file, in several slots */
	TRACECHAN_STARTED,	/* a process runs a program that is traced */
	TRACECHAN_EXEC,		/* it is about to become another: its name; */
	TRACECHAN_EXEC_FAILED,	/* and has not */
	TRACECHAN_SPAWNED,	/* a process has been made for a program: its name */
};

struct tracechan_slot {
	uint16_t kind;		/* written last */
	uint16_t part;		/* of several slots */
	uint32_t own;		/* the process is an interpreter */
	uint64_t id;		/* of the file; else the process */
	union {
		struct {
			uint64_t offset, bytes;
			uint64_t context;
		};
		char text[TRACECHAN_TEXT];	/* 0 bytes are behind its end */
	};
};

#define TRACECHAN_PER_CHUNK (TRACECHAN_CHUNK / sizeof(struct tracechan_slot))

struct tracechan_head {
	uint64_t magic;
	uint32_t depth;		/* of contexts, points; 0: none */
	uint32_t frames;	/* through frame pointers, not unwind tables */
	uint32_t map_pages;	/* of mapped files that are open at a time; 0: all */
	uint32_t no_stdio;	/* a program's stdio could not be seen */
	uint64_t nr_uring, nr_aio;	/* requests that were not traced */
	uint64_t direct_bytes;	/* read and written by O_DIRECT */
	uint32_t rings;		/* of io_uring that were seen, whatever was requested there */
	uint64_t nr_slots;	/* taken, also if there was no room for them */
	pthread_mutex_t lock[TRACECHAN_LOCKS];	/* of positions in files */
};

static_assert(sizeof(struct tracechan_slot) == 64, "slots fill their chunks");
static_assert(sizeof(struct tracechan_head) <= TRACECHAN_HEAD, "the head has room");

#endif /* HIPEC_TRACECHAN_H */
