/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parents of hipec-place-stress and hipec-crowd share: parent.c. */
#ifndef HIPEC_STRESS_PARENT_H
#define HIPEC_STRESS_PARENT_H

#include <stdbool.h>

bool put(const char *path, const char *text);
int oom_kills(const char *events);
void add_up(int container);
void show_counters(void);

#endif /* HIPEC_STRESS_PARENT_H */
