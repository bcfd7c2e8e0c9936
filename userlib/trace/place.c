// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the pages of files are in the one space of a trace, which has 2^32 pages. Each
 * file has its own range. Where the files are larger than that together, as disks and
 * sparse files are, what nobody accessed is left out: a file is cut into chunks, the
 * chunks that were accessed keep their order, and a gap of any size between them becomes
 * a gap of one chunk. So pages that follow each other still do, and others do not.
 *
 * Interface: reader.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "reader.h"

/* Files start at multiples of this, and have a page between them at least. */
#define FILE_SHIFT 10
#define SPACE ((u64)UINT32_MAX + 1)

/* Chunks of a file that follow each other. */
struct span {
	u32 file;
	u32 base;	/* the page of the trace where the first one begins */
	u64 first, last;
};

struct places {
	u32 *base;	/* by file; or NULL: the spans say it */
	struct span *span;
	size_t nr, max;
	u32 shift;	/* a chunk has 2^shift pages */
};

/* A region's name: printable, and in text blanks at its ends would be lost. */
static size_t make_name(const char *name, char made[TRACE_MAX_NAME])
{
	size_t n = strnlen(name, TRACE_MAX_NAME), i;

	for (i = 0; i < n; i++)
		made[i] = name[i] >= ' ' && name[i] <= '~' ? name[i] : '?';
	if (made[0] == ' ')
		made[0] = '?';
	if (made[n - 1] == ' ')
		made[n - 1] = '?';
	return n;
}

static int name_range(struct trace_in *r, struct trace_files *f, struct trace *t,
		      u32 file, u64 first, u64 nr)
{
	const char *name = trace_name_text(&f->names, file);
	char made[TRACE_MAX_NAME];
	int ret;

	if (!*name)
		return 0;
	ret = trace_add_region(r, t, first, nr, made, make_name(name, made));
	if (!ret)
		t->region[t->nr_regions - 1].own = f->file[file].own;
	return ret;
}

/* The pages of files side by side, those nobody accessed too; 0: there are too many. */
static u64 place_whole(const struct trace_files *f, u32 *base)
{
	u64 next = 0, end = 0;
	size_t i;

	for (i = 0; i < f->nr_files; i++) {
		if (!f->file[i].pages)
			continue;
		if (f->file[i].pages > SPACE || next + f->file[i].pages > SPACE)
			return 0;
		base[i] = next;
		end = next + f->file[i].pages;
		next = ((end >> FILE_SHIFT) + 1) << FILE_SHIFT;
	}
	return end;
}

static int name_whole(struct trace_in *r, struct trace_files *f, struct trace *t,
		      const u32 *base)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < f->nr_files && !ret; i++)
		if (f->file[i].pages)
			ret = name_range(r, f, t, i, base[i], f->file[i].pages);
	return ret;
}

static int by_place(const void *a, const void *b)
{
	const struct span *p = a, *q = b;

	if (p->file != q->file)
		return p->file < q->file ? -1 : 1;
	return p->first < q->first ? -1 : p->first > q->first;
}

static int add_span(struct places *p, const struct span *span)
{
	struct span *last = p->nr ? &p->span[p->nr - 1] : NULL, *more;

	if (last && last->file == span->file && span->first >= last->first &&
	    span->first <= last->last + 1) {
		last->last = span->last > last->last ? span->last : last->last;
		return 0;
	}
	if (p->nr == p->max) {
		p->max = p->max ? 2 * p->max : 1024;
		more = reallocarray(p->span, p->max, sizeof(*more));
		if (!more)
			return -ENOMEM;
		p->span = more;
	}
	p->span[p->nr++] = *span;
	return 0;
}

/* The chunks that were accessed, in order. */
static int find_spans(const struct trace_files *f, struct places *p)
{
	size_t i, nr;
	int ret = 0;

	p->nr = 0;
	for (i = 0; i < f->nr_ops && !ret; i++) {
		const struct trace_op *op = &f->op[i];

		ret = add_span(p, &(struct span){ op->file, 0, op->pgno >> p->shift,
						  (op->pgno + op->nr - 1) >> p->shift });
	}
	if (ret || !p->nr)
		return ret;
	qsort(p->span, p->nr, sizeof(*p->span), by_place);
	nr = p->nr;
	p->nr = 0;
	for (i = 0; i < nr; i++)
		add_span(p, &(struct span){ p->span[i].file, 0, p->span[i].first,
					    p->span[i].last });	/* has room */
	return 0;
}

/* Give spans their bases. Return: whether the space is large enough. */
static bool place_spans(struct places *p)
{
	u64 next = 0;
	size_t i;

	for (i = 0; i < p->nr; i++) {
		struct span *s = &p->span[i];

		if (next + ((s->last - s->first + 1) << p->shift) > SPACE)
			return false;
		s->base = next;
		next += (s->last - s->first + 2) << p->shift;
	}
	return true;
}

/* A chunk of one page always has room: there are at most SIM_MAX_PAGES of them. */
static int place_touched(struct trace_in *r, struct trace_files *f, struct places *p)
{
	int ret;

	for (p->shift = FILE_SHIFT;; p->shift--) {
		ret = find_spans(f, p);
		if (ret || place_spans(p))
			return ret;
		if (!p->shift)
			return trace_malformed(r, "want at most %u different pages",
					       SIM_MAX_PAGES);
	}
}

static int name_touched(struct trace_in *r, struct trace_files *f, struct trace *t,
			const struct places *p)
{
	size_t i, first = 0;
	int ret = 0;

	for (i = 0; i < p->nr && !ret; i++) {
		const struct span *s = &p->span[i];
		u64 end = s->base + ((s->last - s->first + 1) << p->shift);

		if (s->file != p->span[first].file)
			first = i;
		if (i + 1 == p->nr || s[1].file != s->file)
			ret = name_range(r, f, t, s->file, p->span[first].base,
					 end - p->span[first].base);
	}
	return ret ? ret : trace_note(t, "%s are larger than 16 TiB together: pages are numbered without what is not accessed",
				      f->nr_files > 1 ? "the files" : "the addresses");
}

static u32 place_of(const struct places *p, const struct trace_op *op)
{
	const struct span key = { .file = op->file, .first = op->pgno >> p->shift };
	size_t low = 0, high = p->nr, middle;

	if (p->base)
		return p->base[op->file] + op->pgno;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (by_place(&p->span[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return p->span[low - 1].base +
	       (op->pgno - (p->span[low - 1].first << p->shift));
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
		    struct trace *t)
{
	struct places p = { .base = calloc(f->nr_files + 1, sizeof(*p.base)) };
	int ret = p.base ? 0 : -ENOMEM;
	size_t i;

	r->err->line = 0;
	if (!ret && f->nr_ops && !place_whole(f, p.base)) {
		free(p.base);
		p.base = NULL;
		ret = place_touched(r, f, &p);
		ret = ret ? ret : name_touched(r, f, t, &p);
	} else if (!ret) {
		ret = name_whole(r, f, t, p.base);
	}
	for (i = 0; i < f->nr_ops && !ret; i++) {
		const struct trace_op *op = &f->op[i];
		struct trace_run run = { place_of(&p, op), op->nr, op->write };

		ret = trace_add(r, t, &run,
				&(struct trace_tag){ .context = op->context });
	}
	free(p.base);
	free(p.span);
	return ret;
}
