/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What libhipecrun.so, in a program under hipec run, and the command say to each
 * other: a packet from the library to the command's socket, with the file that is
 * to be mapped and a socket of its own; and a packet back through that one, with
 * the region. Nothing stays open in the program, so it can close what it likes.
 *
 * Interface:
 * run_send(), run_receive()  a packet with its descriptors   proto.c
 *
 * The packets are between two parts of one build, and no ABI.
 */
#ifndef HIPEC_RUNPROTO_H
#define HIPEC_RUNPROTO_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#define RUN_ENV "HIPEC_RUN"		/* name of the command's socket */
#define RUN_MAP_ENV "HIPEC_RUN_MAP"	/* globs, each ended by a newline; or empty */

#define RUN_MAGIC 0x314e5552u		/* "RUN1" */
#define RUN_MAX_FDS 2			/* that come with a packet */
#define RUN_MAX_GLOBS 16384		/* bytes of that text, with its zero */
#define RUN_MIN_BYTES (1u << 20)	/* of a file, where there are no globs */

enum run_kind {
	RUN_READ = 1,	/* a region to read, of the file that comes along */
	RUN_WRITE,	/* one to write */
	RUN_IF_WRITTEN,	/* the one that somebody writes, if there is one */
	RUN_AGAIN,	/* that of @number, and its file */
	RUN_LEFT,	/* a map was left alone; nothing comes along, nor back */
};

struct run_ask {
	uint32_t magic;
	uint32_t kind;
	uint64_t number;	/* of RUN_AGAIN */
};

struct run_answer {
	int32_t error;		/* 0, or -errno: map the file as it is */
	uint32_t strict;	/* the map is to fail with it */
	uint64_t number;	/* of the region, for RUN_AGAIN */
	uint64_t length;	/* of the file that it covers, from the start; bytes, whole pages */
};

ssize_t run_send(int via, const struct sockaddr_un *to, const void *packet, size_t size,
		 const int *fds, int nr, int flags);
ssize_t run_receive(int from, void *packet, size_t size, int *fds, int *nr, int flags);

#endif /* HIPEC_RUNPROTO_H */
