// SPDX-License-Identifier: GPL-2.0-only
/*
 * The name that somebody meant.
 */
#include <stdint.h>
#include <string.h>

#include "option.h"

#define LONGEST 64	/* longest word that is compared, bytes */

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Edits (insert, delete, replace, swap two neighbours) that make @a of @b. */
static uint32_t distance(const char *a, const char *b)
{
	uint32_t row[3][LONGEST + 1];
	uint32_t *before = row[0], *last = row[1], *now = row[2], *old;
	size_t na = strlen(a), nb = strlen(b), i, j;

	if (na > LONGEST || nb > LONGEST)
		return UINT32_MAX;
	for (j = 0; j <= nb; j++)
		last[j] = j;
	for (i = 1; i <= na; i++) {
		now[0] = i;
		for (j = 1; j <= nb; j++) {
			now[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]),
				       least(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				now[j] = least(now[j], before[j - 2] + 1);
		}
		old = before;
		before = last;
		last = now;
		now = old;
	}
	return last[nb];
}

/**
 * option_nearest() - the nearer one of two names
 * @word:  as it was written
 * @best:  nearest name so far, or NULL
 * @other: another name
 *
 * A name is near if it differs in one letter, or in a third of a word of five and more.
 *
 * Return: @other if it is near, and nearer than @best; else @best.
 * Source: ours.
 */
const char *option_nearest(const char *word, const char *best, const char *other)
{
	size_t len = strlen(word);
	uint32_t most = len < 5 ? 1 : 1 + len / 3, near = distance(word, other);

	if (near > most || (best && distance(word, best) <= near))
		return best;
	return other;
}
