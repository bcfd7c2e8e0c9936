/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * FIFO2-MR and AWST on plain arrays, written from Figure 4 and from the text, not
 * from module/core: a queue is an array, its head is first, and whatever leaves
 * or comes in shifts the rest.
 *
 * Interface:
 * hipec_poolmodel_new()	a poolhost.h host that runs on the model
 */
#ifndef HIPEC_TESTS_POOLMODEL_H
#define HIPEC_TESTS_POOLMODEL_H

#include "poolhost.h"

struct hipec_poolhost *hipec_poolmodel_new(struct kunit *test, u32 nr,
					   enum hipec_mr_policy policy);

#endif /* HIPEC_TESTS_POOLMODEL_H */
