// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interval in which the default's faults are, 19 times of 20.
 *
 * The estimate is the container's own faults, all of which are counted, times the
 * shadow's faults for each of the container's on sampled pages. Pages that are
 * faulted on more than others then weigh on both sides: for a policy that does
 * what the default does nothing is left of the chance of the sample.
 *
 * What is left comes from three sources:
 *
 * chance   of which pages are sampled. The classes are samples of the same kind,
 *          and their residuals d - R f (d the shadow's faults in a class, f the
 *          container's, R all d by all f) give the variance of the ratio.
 * lateness of touches of dropped pages, which the shadow sees when it looks: what
 *          the default would have done since is made up for by halves. This only
 *          makes the default's faults too few, so it is added on one side.
 * ends     of the first and the last window, and rounding.
 *
 * How much the last two are was measured (bench/cost/interval): 8 policies on 17
 * traces, of which the interval holds the true number in 95 of 100 runs and more.
 */
#include "estimate.h"

#define CHANCE 213	/* Student's t, 15 degrees of freedom, 95 %; hundredths */
#define LATE 8		/* of so many that were seen late, one more */
#define UNSEEN 3	/* for each that was not seen, so many more */
#define ENDS 200	/* one of so many */

#define LARGEST (1u << 27)	/* of what is multiplied */

static u64 sum(const u64 *class)
{
	u64 n = 0;
	u32 k;

	for (k = 0; k < HIPEC_SHADOW_CLASSES; k++)
		n += class[k];
	return n;
}

static u64 root(u64 n)
{
	u64 r = 0, bit;

	for (bit = 1ull << 62; bit; bit >>= 2) {
		if (n >= r + bit) {
			n -= r + bit;
			r = (r >> 1) + bit;
		} else {
			r >>= 1;
		}
	}
	return r;
}

/* Standard error of the sum of @e->shadow, given that of sampled; >> @scale. */
static u64 standard_error(const struct hipec_estimate *e, u64 sampled, u64 shadow,
			  u32 scale)
{
	u64 squares = 0;
	u32 k;

	for (k = 0; k < HIPEC_SHADOW_CLASSES; k++) {
		s64 f = e->sampled[k] >> scale, d = e->shadow[k] >> scale;
		s64 residual = d - (s64)(f * shadow / sampled);

		squares += residual * residual;
	}
	return root(squares * HIPEC_SHADOW_CLASSES / (HIPEC_SHADOW_CLASSES - 1));
}

/**
 * hipec_estimate_add() - count a window
 * @e: sums
 * @w: closed window, with its shift
 *
 * Context: any, serialised by the host.
 */
void hipec_estimate_add(struct hipec_estimate *e,
			const struct hipec_shadow_window *w)
{
	u32 k;

	e->faults += w->faults;
	e->late += (u64)w->late << w->shift;
	e->unseen += (u64)w->unseen << w->shift;
	e->partial |= w->shift;
	for (k = 0; k < HIPEC_SHADOW_CLASSES; k++) {
		e->sampled[k] += (u64)w->class_sampled[k] << w->shift;
		e->shadow[k] += (u64)w->class_shadow[k] << w->shift;
	}
}

/**
 * hipec_estimate_bounds() - what the default brought in at least and at most
 * @e: sums
 *
 * Context: any, serialised by the host.
 * Return: the bounds, both 0 if no page of the sample came in on one of both sides.
 * Source: ours; the ratio and its variance are those of cluster sampling.
 */
struct hipec_bounds hipec_estimate_bounds(const struct hipec_estimate *e)
{
	u64 sampled = sum(e->sampled), shadow = sum(e->shadow), faults = e->faults;
	u64 estimate, less, more;
	u32 scale = 0;

	while ((faults | sampled | shadow) >> scale >= LARGEST)
		scale++;
	faults >>= scale;
	sampled >>= scale;
	shadow >>= scale;
	if (!sampled || !shadow)
		return (struct hipec_bounds){ 0 };
	estimate = faults * shadow / sampled;
	less = estimate / ENDS + 1;
	if (e->partial)
		less += standard_error(e, sampled, shadow, scale) * CHANCE / 100 *
			faults / sampled;
	more = less + ((e->late >> scale) / LATE + (e->unseen >> scale) * UNSEEN) *
		      faults / sampled;
	if (less > estimate / 10 * 9)
		less = estimate / 10 * 9;
	return (struct hipec_bounds){
		.least = (estimate - less) << scale,
		.most = (estimate + more) << scale,
	};
}
