/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libhipecrun.so, which hipec run has loaded into programs: it stands before the
 * C library's mmap(), and has files that the user named mapped from regions.
 *
 * It holds no descriptor, starts no thread and changes no signal's handler; without
 * the command's socket it does nothing. Whatever goes wrong, the program gets the
 * map that it would have without us.
 *
 * Interface:
 * preload_ask()        a region for a file                      ask.c
 * preload_tell_left()  a map was left alone
 * preload_active()     whether there is somebody to ask
 * preload_globs()      what the user named
 * preload_wants()      whether a map is one of ours             choose.c
 * preload_area_add(), _cut(), _find(), _edge(), _move(), _written()  area.c
 */
#ifndef HIPEC_PRELOAD_H
#define HIPEC_PRELOAD_H

#include <stdbool.h>
#include <sys/types.h>

#include "proto.h"

#define PRELOAD_EXPORT __attribute__((visibility("default")))
#define PRELOAD_PAGE 4096ul

/* A call of mmap(). */
struct preload_map {
	void *at;
	size_t bytes;
	int prot, flags, fd;
	off_t offset;
};

/* Of which file: what fsync() of any descriptor of it is about. */
struct preload_file {
	dev_t dev;
	ino_t ino;
};

/* Memory where a region is. */
struct preload_area {
	uintptr_t start, end;
	uint64_t number;	/* of the region */
	uint64_t offset;	/* in the file, bytes */
	int prot, flags;	/* as it was mapped; what mprotect() did is not known */
	bool written;		/* stores go to the file */
	struct preload_file file;
};

struct preload_region {
	int fd, file;		/* @file: of RUN_AGAIN, else -1 */
	uint64_t number, length;
};

bool preload_active(void);
const char *preload_globs(void);
int preload_ask(enum run_kind kind, int fd, uint64_t number,
		struct preload_region *region, bool *strict);
void preload_tell_left(void);

enum run_kind preload_wants(const struct preload_map *map,
			    struct preload_file *file);


bool preload_area_any(void);
bool preload_area_add(const struct preload_area *area);
void preload_area_cut(uintptr_t start, uintptr_t end);
bool preload_area_find(uintptr_t start, uintptr_t end, struct preload_area *area);
uintptr_t preload_area_edge(uintptr_t start, uintptr_t end);
void preload_area_move(uintptr_t start, uintptr_t end, uintptr_t to);
bool preload_area_written(uintptr_t start, uintptr_t end,
			  const struct preload_file *file,
			  struct preload_area *area);

static inline uintptr_t preload_up(uintptr_t n)
{
	return (n + PRELOAD_PAGE - 1) & -PRELOAD_PAGE;
}

#endif /* HIPEC_PRELOAD_H */
