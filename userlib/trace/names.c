// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names and their numbers: a hash table over one array of text.
 *
 * Interface: names.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

#define FIRST_ROOM 64
#define MOST_NAMES (1u << 30)

static u64 hash(const char *name, size_t length)
{
	u64 h = length;

	while (length--)
		h = (h ^ (unsigned char)*name++) * 0x9e3779b97f4a7c15;
	return h ^ h >> 32;
}

/* The place of a name, or the empty one that it would have. */
static u32 *place_of(const struct trace_names *names, const char *name, size_t length)
{
	u32 mask = names->room * 2 - 1, i = hash(name, length) & mask;

	for (; names->place[i]; i = (i + 1) & mask) {
		const char *old = names->text + names->at[names->place[i] - 1];

		if (!strncmp(old, name, length) && !old[length])
			break;
	}
	return &names->place[i];
}

static int grow(struct trace_names *names)
{
	u32 room = names->room ? names->room * 2 : FIRST_ROOM, i;
	size_t *at = reallocarray(names->at, room, sizeof(*at));
	u32 *place = calloc((size_t)room * 2, sizeof(*place));
	const char *text;

	if (at)
		names->at = at;
	if (!at || !place) {
		free(place);
		return -ENOMEM;
	}
	free(names->place);
	names->place = place;
	names->room = room;
	for (i = 0; i < names->nr; i++) {
		text = trace_name_text(names, i);
		*place_of(names, text, strlen(text)) = i + 1;
	}
	return 0;
}

static int append(struct trace_names *names, const char *name, size_t length)
{
	size_t max = names->max ? names->max : 4096;
	char *more;

	while (names->used + length + 1 > max)
		max *= 2;
	if (max > names->max) {
		more = realloc(names->text, max);
		if (!more)
			return -ENOMEM;
		names->text = more;
		names->max = max;
	}
	memcpy(names->text + names->used, name, length);
	names->text[names->used + length] = 0;
	names->at[names->nr++] = names->used;
	names->used += length + 1;
	return 0;
}

/**
 * trace_name_number() - the number of a name
 * @names:  all of them
 * @name:   without a 0 in it
 * @length: bytes
 *
 * Return: from 0; -ENOMEM; -ERANGE: there are too many.
 */
s64 trace_name_number(struct trace_names *names, const char *name, size_t length)
{
	u32 *place;

	if (names->nr == names->room) {
		if (names->nr == MOST_NAMES)
			return -ERANGE;
		if (grow(names))
			return -ENOMEM;
	}
	place = place_of(names, name, length);
	if (!*place) {
		if (append(names, name, length))
			return -ENOMEM;
		*place = names->nr;
	}
	return *place - 1;
}

/* Valid until the next name comes. */
const char *trace_name_text(const struct trace_names *names, u32 number)
{
	return names->text + names->at[number];
}

void trace_names_free(struct trace_names *names)
{
	free(names->text);
	free(names->at);
	free(names->place);
	*names = (struct trace_names){ 0 };
}
