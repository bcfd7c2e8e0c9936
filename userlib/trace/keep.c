// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace without what does not matter: files that were not asked for, small ones, and
 * those that interpreters and the C library read of themselves, which are the same in
 * every program.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

/*
 * Files that a loader or a C library reads of itself, whatever program runs: by their
 * whole name.
 */
static const char *const of_libraries[] = {
	"/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/localtime", "/etc/locale.alias",
	"/etc/nsswitch.conf", "/etc/passwd", "/etc/group", "/etc/host.conf", "/etc/hosts",
	"/etc/resolv.conf", "/etc/inputrc", "/etc/terminfo/*", "/usr/share/terminfo/*",
	"/lib/terminfo/*", "/usr/share/zoneinfo/*", "/usr/share/locale/*",
	"/usr/lib/locale/*", "*/gconv/gconv-modules*",
	"*.so", "*.so.[0-9]*",				/* plug-ins, of all */
	NULL
};

/* And what interpreters do; to any other program they are files like others. */
static const char *const of_interpreters[] = {
	"*.py", "*.pyc", "*.pth", "*/pyvenv.cfg",	/* Python */
	"*/lib/python3*/*.zip",
	"*/perl5/*.p[lmh]", "*/perl/*.p[lmh]", "*/perl-base/*.p[lmh]",
	"*/ruby/*.rb", "*/rubygems*/*.rb",
	"*/node_modules/*.js", "*/node_modules/*.json",
	"*/lib/modules", "*/lib/tzdb.dat", "*/lib/jvm.cfg", "*.jsa",	/* Java's runtime */
	NULL
};

static bool is_listed(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (!fnmatch(*list, name, 0))
			return true;
	return false;
}

static bool is_own(const struct trace_region *region)
{
	return is_listed(of_libraries, region->name) ||
	       (region->own && is_listed(of_interpreters, region->name));
}

static bool is_asked_for(const struct trace_keep *k, const char *name)
{
	const char *slash = strrchr(name, '/');
	u32 i;

	for (i = 0; i < k->nr_only; i++)
		if (!fnmatch(k->only[i], name, 0) ||
		    (slash && !fnmatch(k->only[i], slash + 1, 0)))
			return true;
	return !k->nr_only;
}

/* The first region that begins behind a page. */
static u32 region_behind(const struct trace *t, u32 pgno)
{
	u32 low = 0, high = t->nr_regions, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (t->region[middle].pgno <= pgno)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The page behind the last one of a region. */
static u64 region_end(const struct trace_region *region)
{
	return region->nr ? (u64)region->pgno + region->nr : (u64)UINT32_MAX + 1;
}

/**
 * trace_region() - the region that a page is in
 * @t:    trace
 * @pgno: page of it
 *
 * Return: its number; t->nr_regions if there is none.
 * Source: ours.
 */
u32 trace_region(const struct trace *t, u32 pgno)
{
	u32 behind = region_behind(t, pgno);

	return behind && pgno < region_end(&t->region[behind - 1]) ? behind - 1 : t->nr_regions;
}

/* Pages of each region that are accessed; of those in none too, behind them. */
static u32 *count_pages(const struct trace *t)
{
	u32 *pages = calloc((size_t)t->nr_regions + 1, sizeof(*pages));
	size_t i;

	for (i = 0; pages && t->page && i < (size_t)1 << t->bits; i++)
		if (t->page[i].id)
			pages[trace_region(t, t->page[i].pgno)]++;
	return pages;
}

/* Whether each region stays; the last one is of pages that are in none. */
static bool *choose(const struct trace *t, const struct trace_keep *k)
{
	bool *stays = calloc((size_t)t->nr_regions + 1, sizeof(*stays));
	u32 *pages = count_pages(t), i;

	for (i = 0; stays && pages && i < t->nr_regions; i++)
		stays[i] = pages[i] >= k->min_pages && is_asked_for(k, t->region[i].name) &&
			   !(k->leave_own && is_own(&t->region[i]));
	if (stays && pages)
		stays[i] = !k->nr_only && pages[i] >= k->min_pages;
	else {
		free(stays);
		stays = NULL;
	}
	free(pages);
	return stays;
}

/* Of a run, what is of regions that stay. */
static int keep_run(struct trace *to, const struct trace *t, size_t n,
		    const bool *stays)
{
	struct trace_tag tag = trace_tag(t, n);
	u64 pgno = t->run[n].pgno, end = pgno + t->run[n].nr, border;
	int ret = 0;

	for (; pgno < end && !ret; pgno = border) {
		u32 region = trace_region(t, pgno), behind = region_behind(t, pgno);
		struct trace_run run = { .pgno = pgno, .write = t->run[n].write };

		border = end;
		if (region < t->nr_regions && region_end(&t->region[region]) < end)
			border = region_end(&t->region[region]);
		else if (region == t->nr_regions && behind < region && t->region[behind].pgno < end)
			border = t->region[behind].pgno;
		run.nr = border - pgno;
		if (stays[region])
			ret = trace_add(NULL, to, &run, &tag);
	}
	return ret;
}

static int keep_regions(struct trace *to, const struct trace *t, const bool *stays)
{
	u32 i;

	to->region = calloc((size_t)t->nr_regions + 1, sizeof(*to->region));
	if (!to->region)
		return -ENOMEM;
	for (i = 0; i < t->nr_regions; i++) {
		if (!stays[i])
			continue;
		to->region[to->nr_regions] = t->region[i];
		to->region[to->nr_regions].name = strdup(t->region[i].name);
		if (!to->region[to->nr_regions++].name)
			return -ENOMEM;
	}
	return 0;
}

/**
 * trace_keep() - leave out what does not matter
 * @t:    trace, before any of its accesses is warm; without these accesses afterwards.
 *        Pages keep their numbers
 * @keep: what stays
 * @left: filled: what was left out
 *
 * Where nothing would stay, and no more was asked for than to leave out what
 * interpreters read of themselves, all stays.
 *
 * Return: 0; -ENOMEM, and @t is as it was.
 * Source: ours.
 */
int trace_keep(struct trace *t, const struct trace_keep *keep, struct trace_left *left)
{
	struct trace to = { .name = t->name };
	bool *stays;
	int ret = -ENOMEM;
	size_t n;

	*left = (struct trace_left){ 0 };
	if (!keep->nr_only && !keep->min_pages && (!keep->leave_own || !t->nr_regions))
		return 0;
	stays = choose(t, keep);
	if (stays)
		ret = keep_regions(&to, t, stays);
	for (n = 0; n < t->nr_runs && !ret; n++)
		ret = keep_run(&to, t, n, stays);
	free(stays);
	if (ret || (!to.nr_accesses && !keep->nr_only && !keep->min_pages)) {
		trace_free(&to);
		return ret;
	}
	left->accesses = t->nr_accesses - to.nr_accesses;
	left->pages = t->nr_pages - to.nr_pages;
	left->regions = t->nr_regions - to.nr_regions;
	to.notes = t->notes;
	t->notes = NULL;
	trace_free(t);
	*t = to;
	return 0;
}
