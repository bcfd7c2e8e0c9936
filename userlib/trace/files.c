// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of a log: logs name them and count in bytes, a trace has one space of
 * pages.
 *
 * Interface: reader.h.
 */
#define _GNU_SOURCE	/* tdestroy() */
#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "reader.h"

/* Regions start at multiples of this, and have a page between them at least. */
#define REGION_PAGES 1024

/* By its name: @a and @b are pointers to it, the first thing in an entry. */
static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct name_entry {
	char *name;
	u32 file;
};

/**
 * trace_file() - the number of a file that a log names
 * @r:    for messages
 * @f:    files so far
 * @name: of it, printable
 *
 * Return: from 0; -EINVAL, said, if there are too many; -ENOMEM.
 */
s64 trace_file(struct trace_in *r, struct trace_files *f, const char *name)
{
	struct name_entry *new, **found;

	found = tfind(&name, &f->by_name, by_name);
	if (found)
		return (*found)->file;
	if (f->nr_files == TRACE_MAX_REGIONS)
		return trace_malformed(r, "want at most %u files",
				       TRACE_MAX_REGIONS);
	if (f->nr_files == f->max_files) {
		size_t max = f->max_files ? 2 * f->max_files : 16;
		void *more = reallocarray(f->file, max, sizeof(*f->file));

		if (!more)
			return -ENOMEM;
		f->file = more;
		f->max_files = max;
	}
	new = malloc(sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->file = f->nr_files;
	new->name = strdup(name);
	if (!new->name || !tsearch(new, &f->by_name, by_name)) {
		free(new->name);
		free(new);
		return -ENOMEM;
	}
	f->file[f->nr_files] = (struct trace_file){ .name = new->name };
	return f->nr_files++;
}

static int add_op(struct trace_files *f, const struct trace_op *op)
{
	if (f->nr_ops == f->max_ops) {
		size_t max = f->max_ops ? 2 * f->max_ops : 1024;
		void *more = reallocarray(f->op, max, sizeof(*f->op));

		if (!more)
			return -ENOMEM;
		f->op = more;
		f->max_ops = max;
	}
	f->op[f->nr_ops++] = *op;
	return 0;
}

/**
 * trace_pages() - the pages that have one of some bytes
 * @r:      for messages
 * @offset: first byte
 * @bytes:  at least one
 * @run:    its pages are filled in
 *
 * Return: 0; -EINVAL, said.
 */
int trace_pages(struct trace_in *r, u64 offset, u64 bytes, struct sim_run *run)
{
	u64 first = offset / TRACE_PAGE_BYTES, last, end;

	if (__builtin_add_overflow(offset, bytes, &end) ||
	    (end - 1) / TRACE_PAGE_BYTES > UINT32_MAX)
		return trace_malformed(r, "want no byte from %llu on, but %llu bytes start at %llu",
				       ((unsigned long long)UINT32_MAX + 1) * TRACE_PAGE_BYTES,
				       (unsigned long long)bytes,
				       (unsigned long long)offset);
	last = (end - 1) / TRACE_PAGE_BYTES;
	if (last - first >= SIM_MAX_PAGES)
		return trace_malformed(r, "want at most %u pages in an access, not %llu bytes",
				       SIM_MAX_PAGES, (unsigned long long)bytes);
	run->pgno = first;
	run->nr = last - first + 1;
	return 0;
}

/**
 * trace_access() - an access to bytes of a file
 * @r:      for messages
 * @f:      files
 * @file:   number
 * @offset: first byte
 * @bytes:  0: no access
 * @write:  or read
 *
 * A read that goes on where the file's last one ended, within a page, does not access
 * that page once more.
 *
 * Return: 0; -EINVAL, said; -ENOMEM.
 */
int trace_access(struct trace_in *r, struct trace_files *f, u32 file,
		 u64 offset, u64 bytes, bool write)
{
	struct trace_file *its = &f->file[file];
	u64 known = 0;
	struct sim_run run;
	int ret;

	if (!bytes)
		return 0;
	/* As the module hears it. */
	if (!write && offset && offset == its->read_to)
		known = -offset % TRACE_PAGE_BYTES;
	if (!write)
		its->read_to = offset + bytes;
	if (bytes <= known) {
		its->end = offset + bytes > its->end ? offset + bytes : its->end;
		return 0;
	}
	offset += known;
	bytes -= known;
	ret = trace_pages(r, offset, bytes, &run);
	if (ret)
		return ret;
	if (offset + bytes > its->end)
		its->end = offset + bytes;
	if ((u64)run.pgno + run.nr > its->pages)
		its->pages = (u64)run.pgno + run.nr;
	return add_op(f, &(struct trace_op){ f->context, file, run.pgno,
					     run.nr, write });
}

/* A region's name of a file's: in text, blanks at its ends would be lost. */
static size_t make_name(char *name)
{
	size_t n = strlen(name);

	n = n < TRACE_MAX_NAME ? n : TRACE_MAX_NAME;
	if (name[0] == ' ')
		name[0] = '?';
	if (name[n - 1] == ' ')
		name[n - 1] = '?';
	return n;
}

/* Where the pages of each file begin; those nobody accessed have none. */
static int place_files(struct trace_in *r, struct trace_files *f,
		       struct sim_trace *t, u32 *base)
{
	u64 next = 0;
	size_t i;
	int ret;

	for (i = 0; i < f->nr_files; i++) {
		const struct trace_file *its = &f->file[i];

		if (!its->pages)
			continue;
		if (next + its->pages - 1 > UINT32_MAX)
			return trace_malformed(r, "want files that together have at most %llu pages",
					       (unsigned long long)UINT32_MAX + 1);
		base[i] = next;
		ret = trace_add_region(r, t, next, its->pages, its->name,
				       make_name(its->name));
		if (ret)
			return ret;
		next += its->pages + REGION_PAGES;
		next -= next % REGION_PAGES;
	}
	return 0;
}

/**
 * trace_files_end() - make a trace of what was accessed
 * @r: for messages, which are about the log as a whole
 * @f: files
 * @t: gets a region for each file, in the order in which they were named
 *
 * Return: 0; -EINVAL, said; -ENOMEM.
 */
int trace_files_end(struct trace_in *r, struct trace_files *f,
		    struct sim_trace *t)
{
	u32 *base = calloc(f->nr_files + 1, sizeof(*base));
	int ret = base ? 0 : -ENOMEM;
	size_t i;

	r->err->line = 0;
	if (!ret)
		ret = place_files(r, f, t, base);
	for (i = 0; i < f->nr_ops && !ret; i++) {
		const struct trace_op *op = &f->op[i];
		struct sim_run run = {
			base[op->file] + op->pgno, op->nr, op->write
		};

		ret = trace_add(r, t, &run,
				&(struct sim_tag){ .context = op->context });
	}
	free(base);
	return ret;
}

static void free_entry(void *entry)
{
	free(((struct name_entry *)entry)->name);
	free(entry);
}

void trace_files_free(struct trace_files *f)
{
	tdestroy(f->by_name, free_entry);
	free(f->file);
	free(f->op);
	*f = (struct trace_files){ 0 };
}
