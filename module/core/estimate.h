/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the default policy would have brought in, by the windows of a shadow
 * (shadow.h), and how far off that may be.
 *
 * Interface:
 * hipec_estimate_add()     a window has been closed
 * hipec_estimate_bounds()  least and most that the default brought in
 */
#ifndef HIPEC_CORE_ESTIMATE_H
#define HIPEC_CORE_ESTIMATE_H

#include "shadow.h"

/* Sums of windows; those of sampled pages are scaled. All zero: none yet. */
struct hipec_estimate {
	u64 faults;		/* pages that came in */
	u64 late, unseen;	/* of the default's, as in struct hipec_shadow_window */
	u64 sampled[HIPEC_SHADOW_CLASSES];	/* of faults, by the sample */
	u64 shadow[HIPEC_SHADOW_CLASSES];	/* the default's */
	bool partial;		/* some window had not all pages sampled */
};

/* Pages that the default brought in; most is 0 if nothing is known. */
struct hipec_bounds {
	u64 least, most;
};

void hipec_estimate_add(struct hipec_estimate *e,
			const struct hipec_shadow_window *w);
struct hipec_bounds hipec_estimate_bounds(const struct hipec_estimate *e);

#endif /* HIPEC_CORE_ESTIMATE_H */
