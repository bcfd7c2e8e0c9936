/* SPDX-License-Identifier: GPL-2.0-only */
/* What operations share: memory.c has mappings, file.c copies and files. */
#ifndef HIPEC_STRESS_TOUCH_H
#define HIPEC_STRESS_TOUCH_H

#include "stress.h"

struct touch {
	struct spot *sp;
	uint32_t page, word;
	uint64_t value;
};

struct spot *any_spot(int kind);
struct spot *any_page(int kind, bool write, uint32_t *page);
bool any_run(const struct spot *sp, uint32_t *first, uint32_t *nr);
int read_page(struct spot *sp, uint32_t page);
int write_page(struct spot *sp, uint32_t page);
int refused(uint32_t s);

#endif /* HIPEC_STRESS_TOUCH_H */
