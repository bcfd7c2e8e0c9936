/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What of the command table a case touches, one fact a line, and what there is
 * to touch. The tests take the difference of the two lists.
 *
 * Interface:
 * hpt_list_table()	everything that some case has to touch
 * hpt_cover()		what one case touches
 */
#ifndef HIPEC_HPTCOVER_H
#define HIPEC_HPTCOVER_H

#include "file.h"

void hpt_list_table(void);
void hpt_cover(const struct hpt *t, const char *outcome);

#endif /* HIPEC_HPTCOVER_H */
