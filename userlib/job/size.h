/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sizes as people type them: 4096, 64M, 25%.
 *
 * Interface:
 * sim_leading_number()   a number in decimal, and what stands behind it
 * sim_size_parse()       "64M" -> frames
 * sim_size_parse_to()    the same, up to a number of frames
 * sim_size_refuse()      why a text is none
 */
#ifndef HIPEC_JOB_SIZE_H
#define HIPEC_JOB_SIZE_H

#include <stdbool.h>

#include "../../module/vm/port.h"

/* Thousandths of a percent, which parts of the pages of a trace are counted in. */
#define SIM_PERCENT 1000

/* A number of frames, or a part of the pages that a trace has. */
struct sim_size {
	u32 nr;
	bool percent;
};

bool sim_leading_number(const char *text, u64 *n, char **end);
bool sim_size_parse(const char *text, struct sim_size *size);
bool sim_size_parse_to(const char *text, u32 most, struct sim_size *size);
int sim_size_refuse(const char *what, char *text, u32 most, const char *want);

#endif /* HIPEC_JOB_SIZE_H */
