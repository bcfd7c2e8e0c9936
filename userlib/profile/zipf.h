/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A law of Zipf that is fitted to counts.
 *
 * Interface:
 * zipf_fit()
 */
#ifndef HIPEC_PROFILE_ZIPF_H
#define HIPEC_PROFILE_ZIPF_H

#include "pattern.h"

/* Accesses to a page, of two halves of all accesses that are drawn by chance. */
struct zipf_page {
	u32 half[2];
};

void zipf_fit(struct profile_zipf *z, struct zipf_page *page, u32 nr);

#endif /* HIPEC_PROFILE_ZIPF_H */
