// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stream that compresses what is written to it.
 *
 * Interface: trace.h.
 */
#define _GNU_SOURCE	/* fopencookie() */
#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "trace.h"

#define ROOM (1u << 17)	/* bytes that are compressed at a time */

struct packer {
	FILE *out;
	ZSTD_CCtx *zstd;
	char room[ROOM];
};

/* Return: bytes of @bytes that were taken, all of them; 0 on an error. */
static ssize_t pack(struct packer *p, const char *bytes, size_t n, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = { bytes, n, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { p->room, ROOM, 0 };

		left = ZSTD_compressStream2(p->zstd, &out, &in, how);
		if (ZSTD_isError(left) || fwrite(p->room, 1, out.pos, p->out) != out.pos)
			return 0;
	} while (how == ZSTD_e_end ? left : in.pos < in.size);
	return n;
}

static ssize_t write_some(void *cookie, const char *bytes, size_t n)
{
	return pack(cookie, bytes, n, ZSTD_e_continue);
}

static int close_it(void *cookie)
{
	struct packer *p = cookie;
	int ret;

	errno = 0;
	pack(p, NULL, 0, ZSTD_e_end);
	ret = ferror(p->out) ? -1 : 0;
	ZSTD_freeCCtx(p->zstd);
	free(p);
	return ret;
}

/**
 * trace_zstd_writer() - a stream that compresses
 * @out: gets one zstd frame; it stays open when the stream is closed, and has its errors
 *
 * Return: to fclose(); NULL: there is no memory.
 */
FILE *trace_zstd_writer(FILE *out)
{
	const cookie_io_functions_t io = { .write = write_some, .close = close_it };
	struct packer *p = malloc(sizeof(*p));
	FILE *stream = NULL;

	if (p) {
		p->out = out;
		p->zstd = ZSTD_createCCtx();
	}
	if (p && p->zstd)
		stream = fopencookie(p, "w", io);
	if (!stream && p) {
		ZSTD_freeCCtx(p->zstd);
		free(p);
	}
	return stream;
}
