// SPDX-License-Identifier: GPL-2.0-only
/*
 * The skew of a trace: the exponent of the law of Zipf under which its counts are most
 * likely, and how far off that may be.
 *
 * Ranks are not given, they are counted too: pages that are all alike have a first one and
 * a last one by chance, so the skew comes out too large where counts are small. If pages
 * are ranked by one half of the accesses and counted by the other half, it comes out too
 * small. The distance of the two is the error, with that of the counts themselves. Pages
 * with few accesses are left out: which of them were seen at all is chance.
 */
#include <math.h>
#include <stdlib.h>

#include "zipf.h"

#define EXACT 256	/* ranks that are summed one by one */
#define STEPS 256	/* of what is behind them, by Simpson's rule; even */
#define LEAST_SKEW (-2.0)
#define MOST_SKEW 8.0

/* Of w(r) = r^-skew, r from 1 to n: the sums of w, w ln r, w (ln r)^2. */
struct sums {
	double w, l, ll;
};

static void add_term(struct sums *s, double log_r, double w)
{
	s->w += w;
	s->l += w * log_r;
	s->ll += w * log_r * log_r;
}

static struct sums sums_of(double skew, u32 n)
{
	double from = log(EXACT), step = (log(n) - from) / STEPS;
	struct sums s = { 0 };
	u32 r, i;

	for (r = 1; r <= n && r <= EXACT; r++)
		add_term(&s, log(r), exp(-skew * log(r)));
	if (n <= EXACT)
		return s;
	/* The integral over ln r, and half of what stands at its ends. */
	for (i = 0; i <= STEPS; i++) {
		double u = from + i * step, part = i % STEPS ? i % 2 ? 4 : 2 : 1;

		add_term(&s, u, part * step / 3 * exp((1 - skew) * u));
	}
	add_term(&s, from, -exp(-skew * from) / 2);
	add_term(&s, log(n), exp(-skew * log(n)) / 2);
	return s;
}

static u32 accesses_of(const struct zipf_page *page)
{
	return page->half[0] + page->half[1];
}

/* Accesses of one half, or of both. */
static u32 count_of(const struct zipf_page *page, int half)
{
	return half < 2 ? page->half[half] : accesses_of(page);
}

/* The skew under which the counts are most likely; the pages are in the order of ranks. */
static double likeliest_skew(const struct zipf_page *page, u32 nr, int half, u64 *accesses)
{
	double low = LEAST_SKEW, high = MOST_SKEW, mean = 0;
	u32 i;

	for (*accesses = i = 0; i < nr; i++) {
		*accesses += count_of(&page[i], half);
		mean += count_of(&page[i], half) * log(i + 1.0);
	}
	mean /= *accesses ? *accesses : 1;
	/* The mean of ln r falls with the skew. */
	for (i = 0; i < 48; i++) {
		double middle = (low + high) / 2;
		struct sums s = sums_of(middle, nr);

		if (s.l / s.w > mean)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

static int compare_falling(u32 a, u32 b)
{
	return a < b ? 1 : -(a > b);
}

static int by_first(const void *a, const void *b)
{
	const struct zipf_page *x = a, *y = b;

	return compare_falling(x->half[0], y->half[0]) ?: compare_falling(y->half[1], x->half[1]);
}

static int by_second(const void *a, const void *b)
{
	const struct zipf_page *x = a, *y = b;

	return compare_falling(x->half[1], y->half[1]) ?: compare_falling(y->half[0], x->half[0]);
}

static int by_total(const void *a, const void *b)
{
	return compare_falling(accesses_of(a), accesses_of(b));
}

/* How far the share of the first r pages is from the law's, at most. */
static double misfit_of(const struct profile_zipf *z, const struct zipf_page *page)
{
	double counted = 0, expected = 0, most = 0;
	u32 i;

	for (i = 0; i < z->pages; i++) {
		counted += accesses_of(&page[i]);
		expected += z->first * pow(i + 1.0, -z->skew);
		most = fmax(most, fabs(counted - expected) / z->accesses);
	}
	return most;
}

/**
 * zipf_fit() - the law of Zipf that is nearest to some counts
 * @z:    filled
 * @page: counts; they are in the order of their totals afterwards, most first
 * @nr:   of them
 *
 * The error is right 19 times of 20 where accesses are independent.
 */
void zipf_fit(struct profile_zipf *z, struct zipf_page *page, u32 nr)
{
	double halves, deviation;
	struct sums s;
	u64 unused;
	u32 n;

	*z = (struct profile_zipf){ 0 };
	qsort(page, nr, sizeof(*page), by_total);
	for (n = 0; n < nr && accesses_of(&page[n]) >= PROFILE_ZIPF_LEAST; n++)
		;
	if (n < PROFILE_ZIPF_PAGES)
		return;
	z->pages = n;
	qsort(page, n, sizeof(*page), by_first);
	halves = likeliest_skew(page, n, 1, &unused);
	qsort(page, n, sizeof(*page), by_second);
	halves = (halves + likeliest_skew(page, n, 0, &unused)) / 2;
	qsort(page, n, sizeof(*page), by_total);
	z->skew = likeliest_skew(page, n, 2, &z->accesses);
	s = sums_of(z->skew, n);
	deviation = sqrt((s.ll / s.w - s.l / s.w * (s.l / s.w)) * z->accesses);
	z->error = fabs(z->skew - halves) + 1.96 / deviation;
	z->first = z->accesses / s.w;
	z->misfit = misfit_of(z, page);
}
