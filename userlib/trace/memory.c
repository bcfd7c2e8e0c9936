// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace in memory, or where it is large on a disk (room.h): runs of pages, a hash table that
 * gives the pages, which are sparse, their ids, and, where there are any, tags, regions and notes.
 */
#define _GNU_SOURCE	/* asprintf() */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

/* Where @pgno is in the table, or would be. */
static struct trace_page *place_of(const struct trace *t, u32 pgno)
{
	u32 mask = (1u << t->bits) - 1;
	u32 i = pgno * 2654435769u >> (32 - t->bits);

	while (t->page[i].id && t->page[i].pgno != pgno)
		i = (i + 1) & mask;
	return &t->page[i];
}

/* Make the table twice as large. */
static int grow(struct trace *t)
{
	struct trace_page *old = t->page;
	size_t i, n = old ? (size_t)1 << t->bits : 0;
	u32 bits = old ? t->bits + 1 : 10;
	struct trace_page *new = calloc((size_t)1 << bits, sizeof(*new));

	if (!new)
		return -ENOMEM;
	t->page = new;
	t->bits = bits;
	for (i = 0; i < n; i++)
		if (old[i].id)
			*place_of(t, old[i].pgno) = old[i];
	free(old);
	return 0;
}

/* Give @pgno an id, if it has none; -ERANGE if there are too many. */
static int add_page(struct trace *t, u32 pgno)
{
	struct trace_page *place = t->page ? place_of(t, pgno) : NULL;

	if (place && place->id)
		return 0;
	if (t->nr_pages == SIM_MAX_PAGES)
		return -ERANGE;
	if (!place || t->nr_pages >= 1u << (t->bits - 1)) {
		if (grow(t))
			return -ENOMEM;
		place = place_of(t, pgno);
	}
	*place = (struct trace_page){ pgno, ++t->nr_pages };
	return 0;
}

/* Where @tag is in the table of tags, or would be. */
static u32 *tag_place(const struct trace *t, const struct trace_tag *tag)
{
	u32 mask = t->max_tags * 2 - 1;
	u64 hash = (tag->context ^ (u64)tag->hint << 32) * 0x9e3779b97f4a7c15;
	u32 i = (hash >> 32) & mask;
	u32 *place;

	for (;; i = (i + 1) & mask) {
		place = &t->tag_place[i];
		if (!*place || (t->tag[*place].context == tag->context &&
				t->tag[*place].hint == tag->hint))
			return place;
	}
}

/* Make room for more tags; @t has a table of their places afterwards. */
static int grow_tags(struct trace *t)
{
	u32 max = t->max_tags ? 2 * t->max_tags : 64, i;
	struct trace_tag *tag = reallocarray(t->tag, max, sizeof(*tag));
	u32 *places;

	if (!tag)
		return -ENOMEM;
	t->tag = tag;
	places = calloc((size_t)max * 2, sizeof(*places));
	if (!places)
		return -ENOMEM;
	free(t->tag_place);
	t->tag_place = places;
	t->max_tags = max;
	tag[0] = (struct trace_tag){ 0 };
	if (!t->nr_tags)
		t->nr_tags = 1;
	for (i = 1; i < t->nr_tags; i++)
		*tag_place(t, &tag[i]) = i;
	return 0;
}

/* The number of a tag; nothing is 0, and takes no memory. */
static int number_of_tag(struct trace *t, const struct trace_tag *tag,
			 u32 *number)
{
	u32 *place;

	*number = 0;
	if (!tag || (!tag->hint && !tag->context))
		return 0;
	if (t->nr_tags == t->max_tags && grow_tags(t))
		return -ENOMEM;
	place = tag_place(t, tag);
	if (!*place) {
		t->tag[t->nr_tags] = *tag;
		*place = t->nr_tags++;
	}
	*number = *place;
	return 0;
}

/* The user should know where it is. */
static int say_where(struct trace *t)
{
	return trace_note(t, "%s: it is too large for memory, and is in a file in %s meanwhile",
			  t->name, trace_room_folder());
}

/* Room for one more run. */
static int grow_runs(struct trace *t)
{
	size_t more = t->run_room.mapped ? t->max_runs / 4 : t->max_runs;
	size_t max = t->max_runs + (more ? more : 1024);
	bool mapped = t->run_room.mapped;
	int ret = trace_room_grow(&t->run_room, (void **)&t->run, max * sizeof(*t->run));

	if (!ret && t->run_tag)
		ret = trace_room_grow(&t->tag_room, (void **)&t->run_tag,
				      max * sizeof(*t->run_tag));
	if (ret)
		return ret;
	t->max_runs = max;
	return t->run_room.mapped && !mapped ? say_where(t) : 0;
}

/* The runs up to now have no tag, and others will. */
static int begin_tags(struct trace *t)
{
	int ret = trace_room_grow(&t->tag_room, (void **)&t->run_tag,
				  t->max_runs * sizeof(*t->run_tag));

	if (!ret)
		memset(t->run_tag, 0, t->nr_runs * sizeof(*t->run_tag));
	return ret;
}

/* What goes on where the last run ended is more of that run. */
static bool goes_on(const struct trace *t, const struct trace_run *run,
		    u32 tag)
{
	const struct trace_run *last;

	if (!t->nr_runs)
		return false;
	last = &t->run[t->nr_runs - 1];
	return last->write == run->write &&
	       (u64)last->pgno + last->nr == run->pgno &&
	       (u32)last->nr + run->nr <= SIM_MAX_PAGES &&
	       (t->run_tag ? t->run_tag[t->nr_runs - 1] : 0) == tag;
}

static int add_run(struct trace *t, const struct trace_run *run, u32 tag)
{
	int ret = 0;

	if (goes_on(t, run, tag)) {
		t->run[t->nr_runs - 1].nr += run->nr;
		t->nr_accesses += run->nr;
		return 0;
	}
	if (t->nr_runs == t->max_runs)
		ret = grow_runs(t);
	if (!ret && tag && !t->run_tag)
		ret = begin_tags(t);
	if (ret)
		return ret;
	if (t->run_tag)
		t->run_tag[t->nr_runs] = tag;
	t->run[t->nr_runs++] = *run;
	t->nr_accesses += run->nr;
	return 0;
}

/* Cut a run in two, behind its first @nr pages. */
static int cut_run(struct trace *t, size_t n, u32 nr)
{
	int ret = t->nr_runs == t->max_runs ? grow_runs(t) : 0;

	if (ret)
		return ret;
	memmove(&t->run[n + 1], &t->run[n], (t->nr_runs - n) * sizeof(*t->run));
	if (t->run_tag)
		memmove(&t->run_tag[n + 1], &t->run_tag[n],
			(t->nr_runs - n) * sizeof(*t->run_tag));
	t->nr_runs++;
	t->run[n].nr = nr;
	t->run[n + 1].pgno += nr;
	t->run[n + 1].nr -= nr;
	return 0;
}

/**
 * trace_warm() - have the first accesses of a trace not counted
 * @t:        trace
 * @accesses: less than it has
 *
 * They run as all others do.
 *
 * Return: 0; as trace_room_grow().
 */
int trace_warm(struct trace *t, u64 accesses)
{
	u64 left = accesses;
	size_t n = 0;
	int ret;

	while (left && left >= t->run[n].nr)
		left -= t->run[n++].nr;
	if (left) {
		ret = cut_run(t, n++, left);
		if (ret)
			return ret;
	}
	t->warm_runs = n;
	t->warm_accesses = accesses;
	return 0;
}

/**
 * trace_add() - add accesses to a trace
 * @r:   for messages, or NULL if the limits are known to hold
 * @t:   trace
 * @run: at least one page, at most SIM_MAX_PAGES, none above UINT32_MAX
 * @tag: what they bring along, or NULL
 *
 * Return: 0; -EINVAL, said, above the limits of a trace; as trace_room_grow().
 */
int trace_add(struct trace_in *r, struct trace *t,
	      const struct trace_run *run, const struct trace_tag *tag)
{
	u64 most = r && r->options->most ? r->options->most : SIM_MAX_ACCESSES;
	u32 i, number;
	int ret;

	if (t->nr_accesses + run->nr > most)
		return trace_malformed(r, "want at most %llu accesses",
				       (unsigned long long)most);
	for (i = 0; i < run->nr; i++) {
		ret = add_page(t, run->pgno + i);
		if (ret == -ERANGE)
			return trace_malformed(r, "want at most %u different pages",
					       SIM_MAX_PAGES);
		if (ret)
			return ret;
	}
	ret = number_of_tag(t, tag, &number);
	return ret ? ret : add_run(t, run, number);
}

/* Names in quotes may have more than one. */
static void make_one_line(char *text)
{
	while ((text = strchr(text, '\n')))
		*text = '?';
}

/**
 * trace_add_region() - name a range of pages
 * @r:      for messages
 * @t:      trace
 * @first:  page, behind all regions that there are
 * @nr:     pages, at least one
 * @name:   printable, not empty, with no blank at either end
 * @length: bytes of it
 *
 * Return: 0; -EINVAL, said; -ENOMEM.
 */
int trace_add_region(struct trace_in *r, struct trace *t, u64 first, u64 nr,
		     const char *name, size_t length)
{
	u32 n = t->nr_regions;
	u64 from = n ? (u64)t->region[n - 1].pgno + t->region[n - 1].nr : 0;
	struct trace_region *more;
	char *copy;

	if (first < from || (n && !t->region[n - 1].nr))
		return trace_malformed(r, "want regions in ascending order, the next from page %llu on",
				       (unsigned long long)from);
	if (!nr || first + nr - 1 > UINT32_MAX)
		return trace_malformed(r, "want 1 to %llu pages in a region that starts at %llu",
				       (unsigned long long)UINT32_MAX - first + 1,
				       (unsigned long long)first);
	if (!length || length > TRACE_MAX_NAME)
		return trace_malformed(r, "want a region's name of 1 to %u bytes",
				       TRACE_MAX_NAME);
	if (name[0] == ' ' || name[length - 1] == ' ')
		return trace_malformed(r, "want a region's name without a blank at its ends");
	if (n == TRACE_MAX_REGIONS)
		return trace_malformed(r, "want at most %u regions",
				       TRACE_MAX_REGIONS);
	if (!(n & (n - 1))) {	/* all places are taken: as many more */
		more = reallocarray(t->region, n ? 2 * n : 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		t->region = more;
	}
	copy = strndup(name, length);
	if (!copy)
		return -ENOMEM;
	make_one_line(copy);
	t->region[t->nr_regions++] = (struct trace_region){
		.pgno = first, .nr = nr, .name = copy,
	};
	return 0;
}

/* A line for the user: what was skipped, or how pages were numbered. */
int trace_note(struct trace *t, const char *format, ...)
{
	char *line, *all;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&line, format, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	make_one_line(line);
	n = asprintf(&all, "%s%s\n", t->notes ? t->notes : "", line);
	free(line);
	if (n < 0)
		return -ENOMEM;
	free(t->notes);
	t->notes = all;
	return 0;
}

/**
 * trace_say_notes() - print what a user should know of a trace
 * @t:    trace
 * @mark: in front of each line
 * @out:  to where
 */
void trace_say_notes(const struct trace *t, const char *mark, FILE *out)
{
	const char *line, *end;

	for (line = t->notes; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		fprintf(out, "%s%.*s\n", mark, (int)(end - line), line);
	}
}

void trace_free(struct trace *t)
{
	u32 i;

	for (i = 0; i < t->nr_regions; i++)
		free(t->region[i].name);
	free(t->region);
	free(t->notes);
	free(t->tag);
	free(t->tag_place);
	trace_room_free(&t->tag_room, t->run_tag);
	trace_room_free(&t->run_room, t->run);
	free(t->page);
	free(t->next_use);
	free(t->clock);
	*t = (struct trace){ 0 };
}

/**
 * trace_tag() - what the accesses of a run bring along
 * @t:   trace
 * @run: number of the run
 *
 * Return: hint and program context, 0 where there is none.
 */
struct trace_tag trace_tag(const struct trace *t, size_t run)
{
	return t->run_tag ? t->tag[t->run_tag[run]] : (struct trace_tag){ 0 };
}

/**
 * trace_id() - number of a page, in the order of first appearance
 * @t:    trace
 * @pgno: page of the trace
 *
 * Return: from 0, less than t->nr_pages.
 */
u32 trace_id(const struct trace *t, u32 pgno)
{
	return place_of(t, pgno)->id - 1;
}

/**
 * trace_next_uses() - note for each access when its page is wanted again
 * @t: trace
 *
 * Fills t->next_use, 4 bytes an access, once.
 *
 * Return: 0; -ENOMEM.
 */
int trace_next_uses(struct trace *t)
{
	u32 *next, *last, i, access = t->nr_accesses;
	size_t n;

	if (t->next_use)
		return 0;
	next = calloc(t->nr_accesses, sizeof(*next));
	last = malloc((size_t)t->nr_pages * sizeof(*last));
	if (!next || !last) {
		free(next);
		free(last);
		return -ENOMEM;
	}
	for (i = 0; i < t->nr_pages; i++)
		last[i] = SIM_NEVER;
	for (n = t->nr_runs; n--;) {
		for (i = t->run[n].nr; i--;) {
			u32 id = trace_id(t, t->run[n].pgno + i);

			next[--access] = last[id];
			last[id] = access;
		}
	}
	free(last);
	t->next_use = next;
	return 0;
}
