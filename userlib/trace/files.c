// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of a log: logs name them and count in bytes, a trace has one space of
 * pages, where place.c puts them.
 *
 * Interface: reader.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "reader.h"

/**
 * trace_file() - the number of a file that a log names
 * @r:    for messages
 * @f:    files so far
 * @name: of it; "": the only one, whose pages are those of the trace
 *
 * Return: from 0; -EINVAL, said, if there are too many; -ENOMEM.
 */
s64 trace_file(struct trace_in *r, struct trace_files *f, const char *name)
{
	s64 number = trace_name_number(&f->names, name, strlen(name));

	if (number < 0)
		return number == -ENOMEM ? number :
		       trace_malformed(r, "want at most %u files", TRACE_MAX_REGIONS);
	if (number < (s64)f->nr_files)
		return number;
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
	f->file[f->nr_files] = (struct trace_file){ 0 };
	return f->nr_files++;
}

/* Many of them are in a file, as the runs of a trace are (room.h). */
static int add_op(struct trace_in *r, struct trace_files *f, const struct trace_op *op)
{
	u64 most = r->options->most ? r->options->most : SIM_MAX_ACCESSES;

	f->nr_accesses += op->nr;
	if (f->nr_accesses > most)
		return trace_malformed(r, "want at most %llu accesses", (unsigned long long)most);
	if (f->nr_ops == f->max_ops) {
		size_t more = f->op_room.mapped ? f->max_ops / 4 : f->max_ops;
		size_t max = f->max_ops + (more ? more : 1024);
		int ret = trace_room_grow(&f->op_room, (void **)&f->op, max * sizeof(*f->op));

		if (ret)
			return ret;
		f->max_ops = max;
	}
	f->op[f->nr_ops++] = *op;
	return 0;
}

/**
 * trace_touch() - an access to bytes of a file, whatever was accessed before
 * @r:      for messages
 * @f:      files
 * @file:   number
 * @offset: first byte
 * @bytes:  at least one
 * @write:  or read
 *
 * Return: 0; -EINVAL, said; -ENOMEM.
 */
int trace_touch(struct trace_in *r, struct trace_files *f, u32 file, u64 offset, u64 bytes,
		bool write)
{
	struct trace_file *its = &f->file[file];
	u64 first = offset / TRACE_PAGE_BYTES, end, nr;

	if (__builtin_add_overflow(offset, bytes, &end))
		return trace_malformed(r, "want bytes below 2^64, but %llu bytes start at %llu",
				       (unsigned long long)bytes,
				       (unsigned long long)offset);
	nr = (end - 1) / TRACE_PAGE_BYTES - first + 1;
	if (nr > SIM_MAX_PAGES)
		return trace_malformed(r, "want at most %u pages in an access, not %llu bytes",
				       SIM_MAX_PAGES, (unsigned long long)bytes);
	if (end > its->end)
		its->end = end;
	if (first + nr > its->pages)
		its->pages = first + nr;
	return add_op(r, f, &(struct trace_op){ f->context, first, file, nr, write });
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
	return trace_touch(r, f, file, offset + known, bytes - known, write);
}

void trace_files_free(struct trace_files *f)
{
	trace_names_free(&f->names);
	free(f->file);
	trace_room_free(&f->op_room, f->op);
	*f = (struct trace_files){ 0 };
}
