// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces from a seed, the same everywhere: all arithmetic is in integers, with
 * a generator of random numbers of its own (SplitMix64).
 */
#include <errno.h>
#include <stdlib.h>

#include "reader.h"

/* A page of the highest rank has this weight, one of rank i less: i^-skew. */
#define WEIGHT_BITS 36

/* Of random data retrieval, as bench/lib/index.h and rdr.c have them. */
#define RDR_RECORDS 64		/* of a page of the index */
#define RDR_TUPLES 4		/* of a record */
#define RDR_TUPLES_PER_PAGE 64
#define RDR_DATA_LEVEL 25	/* behind the last one of an index */

#define TOLD_EVERY (1u << 20)	/* accesses */
#define RDR_DEPTH 16		/* accesses of a retrieval, about */

struct maker {
	const struct trace_recipe *recipe;
	struct trace *t;
	u64 state;	/* of the random numbers */
	u64 left;	/* accesses */
	u64 all;	/* accesses that there will be, about */
	u64 told;	/* of these, when progress was told */
};

/* Ranks by popularity, and which thing has which. */
struct zipf {
	u64 *sum;	/* of weights, up to each rank */
	u32 *thing;	/* by rank */
	u32 nr;
};

const char *const trace_kinds[TRACE_NR_KINDS] = {
#define X(kind, text) [TRACE_##kind] = text,
	TRACE_KINDS(X)
#undef X
};

static u64 random_bits(struct maker *m)
{
	u64 z = m->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Below @n, each with the same chance: the few that some would have more go. */
static u64 below(struct maker *m, u64 n)
{
	unsigned __int128 product;

	do
		product = (unsigned __int128)random_bits(m) * n;
	while ((u64)product < -n % n);
	return product >> 64;
}

static bool chance(struct maker *m, u64 percent)
{
	return percent && (percent >= 100 || below(m, 100) < percent);
}

static void tell(struct maker *m)
{
	u64 done = m->recipe->accesses - m->left;

	if (!m->recipe->progress || done - m->told < TOLD_EVERY)
		return;
	m->told = done;
	m->recipe->progress(done < m->all ? done : m->all, m->all);
}

/* Runs are cut where the trace ends. @hint: 0 for none. */
static int put_hint(struct maker *m, u64 pgno, u64 nr, bool write, u32 hint)
{
	struct trace_run run = { pgno, nr < m->left ? nr : m->left, write };
	struct trace_tag tag = { .hint = hint };

	m->left -= run.nr;
	tell(m);
	return trace_add(NULL, m->t, &run, &tag);
}

static int put(struct maker *m, u64 pgno, u64 nr, bool write)
{
	return put_hint(m, pgno, nr, write, 0);
}

/* @nr pages from @from on, of @first to @first + @pages - 1, round and round. */
static int put_round(struct maker *m, u64 first, u64 pages, u64 *from, u64 nr,
		     bool write)
{
	int ret = 0;
	u64 n;

	for (; nr && m->left && !ret; nr -= n) {
		n = nr < pages - *from ? nr : pages - *from;
		ret = put(m, first + *from, n, write);
		*from = (*from + n) % pages;
	}
	return ret;
}

static u64 root(unsigned __int128 square)
{
	u64 r = 0, bit;

	for (bit = (u64)1 << 63; bit; bit >>= 1)
		if ((unsigned __int128)(r | bit) * (r | bit) <= square)
			r |= bit;
	return r;
}

/* The binary logarithm of @n > 0; 32 bits are behind the point. */
static u64 log2_of(u64 n)
{
	int whole = 63 - __builtin_clzll(n), i;
	unsigned __int128 m = (unsigned __int128)n << (63 - whole);
	u64 log = whole;

	for (i = 0; i < 32; i++) {
		m = m * m >> 63;
		log = log << 1 | (m >> 64 & 1);
		m >>= m >> 64 & 1;
	}
	return log;
}

/* rank^-skew, in 1 / 2^WEIGHT_BITS; not less than one of these. */
static u64 weight(const u64 half[32], u64 rank, u64 skew)
{
	unsigned __int128 x = (unsigned __int128)log2_of(rank) * skew / 1000;
	u64 w = (u64)1 << 63, whole = x >> 32;
	int i;

	for (i = 0; i < 32; i++)
		if (x >> (31 - i) & 1)
			w = (unsigned __int128)w * half[i] >> 63;
	w = whole < 64 ? w >> (63 - WEIGHT_BITS) >> whole : 0;
	return w ? w : 1;
}

static void free_zipf(struct zipf *z)
{
	free(z->sum);
	free(z->thing);
}

/* Things are dealt to ranks at random, so that popular ones are everywhere. */
static int init_zipf(struct maker *m, struct zipf *z, u64 nr, u64 skew)
{
	u64 half[32], sum = 0, i, j;
	u32 other;

	z->nr = nr;
	z->sum = calloc(nr, sizeof(*z->sum));
	z->thing = calloc(nr, sizeof(*z->thing));
	if (!z->sum || !z->thing)
		return -ENOMEM;
	/* 2^-1/2, 2^-1/4 and so on, with 63 bits behind the point. */
	half[0] = root((unsigned __int128)1 << 125);
	for (i = 1; i < 32; i++)
		half[i] = root((unsigned __int128)half[i - 1] << 63);
	for (i = 0; i < nr; i++) {
		sum += weight(half, i + 1, skew);
		z->sum[i] = sum;
		z->thing[i] = i;
	}
	for (i = nr - 1; i > 0; i--) {
		j = below(m, i + 1);
		other = z->thing[i];
		z->thing[i] = z->thing[j];
		z->thing[j] = other;
	}
	return 0;
}

static u32 draw(struct maker *m, const struct zipf *z)
{
	u64 n = below(m, z->sum[z->nr - 1]);
	u32 low = 0, high = z->nr - 1, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (z->sum[middle] > n)
			high = middle;
		else
			low = middle + 1;
	}
	return z->thing[low];
}

static int make_loop(struct maker *m)
{
	const struct trace_recipe *c = m->recipe;
	u64 from = 0;
	int ret = 0;

	while (m->left && !ret)
		ret = put_round(m, 0, c->pages, &from, c->run,
				chance(m, c->writes));
	return ret;
}

static int make_sequential(struct maker *m)
{
	const struct trace_recipe *c = m->recipe;
	int ret = 0;

	while (m->left && !ret) {
		u64 from = below(m, c->pages);

		ret = put_round(m, 0, c->pages, &from, c->run,
				chance(m, c->writes));
	}
	return ret;
}

static int make_zipf(struct maker *m)
{
	const struct trace_recipe *c = m->recipe;
	struct zipf z = { 0 };
	int ret = init_zipf(m, &z, c->pages, c->skew);

	while (m->left && !ret) {
		u32 pgno = draw(m, &z);

		ret = put(m, pgno, 1, chance(m, c->writes));
	}
	free_zipf(&z);
	return ret;
}

/* Pages of a tree with so many leaves. */
static u64 tree_pages(u64 leaves, u64 fanout)
{
	u64 n = leaves;

	while (leaves > 1) {
		leaves = (leaves + fanout - 1) / fanout;
		n += leaves;
	}
	return n;
}

/* From the root, page 0, down: a level lies behind the one above it. */
static int look_up(struct maker *m, u64 leaves, u64 leaf)
{
	u64 nr[64], at[64], fanout = m->recipe->fanout;
	int levels = 0, ret = 0;
	u64 first = 0;

	for (;; leaves = (leaves + fanout - 1) / fanout, leaf /= fanout) {
		nr[levels] = leaves;
		at[levels++] = leaf;
		if (leaves == 1)
			break;
	}
	for (; levels-- && m->left && !ret; first += nr[levels])
		ret = put(m, first + at[levels], 1,
			  !levels && chance(m, m->recipe->writes));
	return ret;
}

static int make_btree(struct maker *m)
{
	const struct trace_recipe *c = m->recipe;
	u64 low = 1, high = c->pages, middle;
	struct zipf z = { 0 };
	int ret = 0;

	while (low < high) {	/* most leaves that there is room for */
		middle = high - (high - low) / 2;
		if (tree_pages(middle, c->fanout) <= c->pages)
			low = middle;
		else
			high = middle - 1;
	}
	if (c->skew)
		ret = init_zipf(m, &z, low, c->skew);
	while (m->left && !ret)
		ret = look_up(m, low, c->skew ? draw(m, &z) : below(m, low));
	free_zipf(&z);
	return ret;
}

/* Zipf in one half of the pages, scans in the other, which go on round it. */
static int make_mixed(struct maker *m)
{
	const struct trace_recipe *c = m->recipe;
	u64 hot = (c->pages + 1) / 2, cold = c->pages - hot, from = 0;
	u64 scan = cold ? c->scan : 0;
	struct zipf z = { 0 };
	int ret = init_zipf(m, &z, hot, c->skew);

	while (m->left && !ret) {
		/* A scan is as many accesses as it has pages. */
		if (scan && below(m, scan + (100 - scan) * c->run) < scan) {
			ret = put_round(m, hot, cold, &from, c->run, false);
		} else {
			u32 pgno = draw(m, &z);

			ret = put(m, pgno, 1, chance(m, c->writes));
		}
	}
	free_zipf(&z);
	return ret;
}

static int make_shift(struct maker *m)
{
	const struct trace_recipe *c = m->recipe;
	u64 first = 0, n = 0;
	int ret = 0;

	for (; m->left && !ret; n++) {
		u64 pgno;

		if (n == c->phase) {
			first = (first + c->set) % c->pages;
			n = 0;
		}
		pgno = (first + below(m, c->set)) % c->pages;
		ret = put(m, pgno, 1, chance(m, c->writes));
	}
	return ret;
}

/* A nested-loop join, as bench/paper/join.c: the inner relation is the page behind. */
static int make_nlj(struct maker *m)
{
	const struct trace_recipe *c = m->recipe;
	u64 pass;
	int ret = 0;

	for (pass = 0; pass < c->passes && m->left && !ret; pass++) {
		ret = put(m, c->pages, 1, false);
		if (!ret && m->left)
			ret = put(m, 0, c->pages, false);
	}
	return ret;
}

/* Records of the subtree at @i of a tree that is numbered level by level. */
static u64 subtree(u64 i, u64 nr)
{
	u64 last = i, n = 0;

	for (; i < nr; i = 2 * i + 1, last = 2 * last + 2)
		n += (last < nr ? last : nr - 1) - i + 1;
	return n;
}

/* As bench/paper/rdr.c: from the root of the index down, then to the data behind it. */
static int retrieve(struct maker *m, u64 index_pages, u64 tuple)
{
	u64 nr = index_pages * RDR_RECORDS, key = tuple / RDR_TUPLES;
	u64 i = 0, least = 0, page = 0, own;
	int ret = put(m, 0, 1, false);

	while (m->left && !ret) {
		if (i / RDR_RECORDS != page) {
			page = i / RDR_RECORDS;
			/* The level of its first record. */
			ret = put_hint(m, page, 1, false,
				       63 - __builtin_clzll(page * RDR_RECORDS + 1));
		}
		own = least + subtree(2 * i + 1, nr);
		if (key == own)
			break;
		if (key > own)
			least = own + 1;
		i = 2 * i + (key < own ? 1 : 2);
	}
	if (!m->left || ret)
		return ret;
	return put_hint(m, index_pages + tuple / RDR_TUPLES_PER_PAGE, 1, false,
			RDR_DATA_LEVEL);
}

static int make_rdr(struct maker *m)
{
	const struct trace_recipe *c = m->recipe;
	u64 index_pages = c->pages / 5, n;
	u64 x = c->seed ? c->seed : 1997;
	int ret = 0;

	for (n = 0; n < c->lookups && m->left && !ret; n++) {
		x ^= x >> 12;
		x ^= x << 25;
		x ^= x >> 27;
		ret = retrieve(m, index_pages,
			       (x * 0x2545f4914f6cdd1d >> 32) %
			       (index_pages * RDR_RECORDS * RDR_TUPLES));
	}
	return ret;
}

/* A video that is played, as bench/paper/smpeg.c: each page once. */
static int make_smpeg(struct maker *m)
{
	return put(m, 0, m->recipe->pages, chance(m, m->recipe->writes));
}

/* Accesses that @c makes, about: some kinds end by themselves. */
static u64 expected(const struct trace_recipe *c)
{
	u64 n = c->accesses, own = c->kind == TRACE_NLJ ? c->passes * (c->pages + 1) :
				   c->kind == TRACE_RDR ? c->lookups * RDR_DEPTH :
				   c->kind == TRACE_SMPEG ? c->pages : n;

	return own < n ? own : n;
}

/**
 * trace_make() - make a trace
 * @t:      filled; trace_free() it, also after an error
 * @recipe: pages 1 to SIM_MAX_PAGES, accesses 1 to SIM_MAX_ACCESSES, run 1 to
 *          SIM_MAX_PAGES, set 1 to pages, phase at least 1, fanout 2 or more,
 *          passes and lookups so few that accesses stay in their limits
 *
 * Return: 0; -ENOMEM.
 */
int trace_make(struct trace *t, const struct trace_recipe *recipe)
{
	static int (*const make[TRACE_NR_KINDS])(struct maker *m) = {
		[TRACE_LOOP] = make_loop,
		[TRACE_SEQUENTIAL] = make_sequential,
		[TRACE_ZIPF] = make_zipf,
		[TRACE_BTREE] = make_btree,
		[TRACE_MIXED] = make_mixed,
		[TRACE_SHIFT] = make_shift,
		[TRACE_NLJ] = make_nlj,
		[TRACE_RDR] = make_rdr,
		[TRACE_SMPEG] = make_smpeg,
	};
	struct maker m = {
		.recipe = recipe, .t = t, .state = recipe->seed,
		.left = recipe->accesses, .all = expected(recipe),
	};

	*t = (struct trace){ .name = trace_kinds[recipe->kind] };
	return make[recipe->kind](&m);
}
