// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams. The C library's stdio reads and writes by calls of its own, before
 * which no library can stand. But all of them go through a table of operations
 * that a stream has (the GNU C library's struct _IO_jump_t, the same since 2.1), and
 * there we do. Nothing is changed unless the tables are as expected.
 */
#define _GNU_SOURCE	/* RTLD_NEXT */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tracer.h"

/* Operations of the table, counted from its first word. */
#define OP_READ 14
#define OP_WRITE 15

typedef ssize_t (*read_fn)(FILE *f, void *buf, ssize_t n);
typedef ssize_t (*write_fn)(FILE *f, const void *buf, ssize_t n);

static read_fn real_read;
static write_fn real_write;

static ssize_t stream_read(FILE *f, void *buf, ssize_t n)
{
	struct tracer_op op;

	tracer_touch(buf, n, true);
	tracer_begin(&op, f->_fileno, TRACER_POSITION, false);
	return tracer_end(&op, real_read(f, buf, n));
}

static ssize_t stream_write(FILE *f, const void *buf, ssize_t n)
{
	struct tracer_op op;

	tracer_touch(buf, n, false);
	tracer_begin(&op, f->_fileno, TRACER_POSITION, true);
	return tracer_end(&op, real_write(f, buf, n));
}

/* The tables are read-only once the loader is done with them. */
static bool hook(void **table)
{
	uintptr_t page = sysconf(_SC_PAGESIZE);
	uintptr_t first = (uintptr_t)&table[OP_READ] & -page;
	size_t bytes = (uintptr_t)&table[OP_WRITE + 1] - first;

	if (table[OP_READ] != (void *)real_read ||
	    table[OP_WRITE] != (void *)real_write ||
	    mprotect((void *)first, bytes, PROT_READ | PROT_WRITE))
		return false;
	table[OP_READ] = (void *)stream_read;
	table[OP_WRITE] = (void *)stream_write;
	return !mprotect((void *)first, bytes, PROT_READ);
}

/**
 * tracer_hook_stdio() - have what streams do seen
 *
 * Context: once, before main().
 * Return: whether it is.
 */
bool tracer_hook_stdio(void)
{
	void **bytes = tracer_real("_IO_file_jumps");
	void **wide = tracer_real("_IO_wfile_jumps");

	real_read = tracer_real("_IO_file_read");
	real_write = tracer_real("_IO_file_write");
	/* A stream has its table behind what stdio.h shows of it. */
	if (!bytes || !wide || !real_read || !real_write ||
	    *(void ***)(stdin + 1) != bytes)
		return false;
	return hook(bytes) && hook(wide);
}
