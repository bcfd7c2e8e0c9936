// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sizes as people type them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../say/say.h"
#include "../sim/sim.h"
#include "size.h"

#define PAGE_BYTES 4096

/* A number in decimal, and what stands behind it. */
bool sim_leading_number(const char *text, u64 *n, char **end)
{
	errno = 0;
	*n = strtoull(text, end, 10);
	return *text >= '0' && *text <= '9' && !errno;
}

enum parsed { NO_SIZE, SIZE, BEYOND, BELOW };	/* more than the most; less than a page */

#define FRACTION 1000000000	/* of decimals: as many as nine are read */

/* "1.5": its whole part and its decimals. What is too large becomes the largest number. */
static bool leading_decimal(const char *text, u64 *n, u64 *fraction, char **end)
{
	u64 unit = FRACTION / 10;

	*fraction = 0;
	if (!sim_leading_number(text, n, end) && errno != ERANGE)
		return false;
	if (**end != '.' || (*end)[1] < '0' || (*end)[1] > '9')
		return true;
	for (++*end; **end >= '0' && **end <= '9'; ++*end, unit /= 10)
		*fraction += (**end - '0') * unit;
	return true;
}

struct unit {
	const char *suffix;
	u64 times;
	bool bytes;
};

/* Of memory, each letter is a power of 1,024, with or without the B of bytes. */
static const struct unit *find_unit(const char *suffix)
{
	static const struct unit units[] = {
		{ "", 1, false },		{ "k", 1024, false },
		{ "KB", 1 << 10, true },	{ "KiB", 1 << 10, true },
		{ "M", 1 << 20, true },		{ "MB", 1 << 20, true },
		{ "MiB", 1 << 20, true },	{ "G", 1 << 30, true },
		{ "GB", 1 << 30, true },	{ "GiB", 1 << 30, true },
		{ "T", 1ull << 40, true },	{ "TB", 1ull << 40, true },
		{ "TiB", 1ull << 40, true },	{ "%", SIM_PERCENT, false },
	};
	size_t i;

	suffix += *suffix == ' ' && suffix[1];
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcasecmp(suffix, units[i].suffix))
			return &units[i];
	return NULL;
}

/*
 * Frames are counted, k is 1024 of them. M and G, and what has a B, are bytes:
 * nobody has a million frames in mind who says 1M. They are rounded down to pages.
 */
static enum parsed parse_size(const char *text, u32 most, struct sim_size *size)
{
	unsigned __int128 n;
	const struct unit *unit;
	u64 whole, fraction;
	char *end;

	if (!leading_decimal(text, &whole, &fraction, &end))
		return NO_SIZE;
	unit = find_unit(end);
	if (!unit || (fraction && unit->times == 1))
		return NO_SIZE;
	size->percent = end[strlen(end) - !!*end] == '%';
	n = ((unsigned __int128)whole * FRACTION + fraction) * unit->times / FRACTION;
	n /= unit->bytes ? PAGE_BYTES : 1;
	if (!n)
		return BELOW;
	if (size->percent && n > 100 * SIM_PERCENT)
		return NO_SIZE;
	if (!size->percent && n > most)
		return BEYOND;
	size->nr = n;
	return SIZE;
}

bool sim_size_parse_to(const char *text, u32 most, struct sim_size *size)
{
	return parse_size(text, most, size) == SIZE;
}

/**
 * sim_size_refuse() - say why a size cannot be had
 * @what: what it is of, as "--frames"
 * @text: that sim_size_parse_to() with @most did not take; is made printable
 * @most: frames
 * @want: what would be a size
 *
 * Return: CLI_USAGE.
 */
int sim_size_refuse(const char *what, char *text, u32 most, const char *want)
{
	struct sim_size size;
	enum parsed why = parse_size(text, most, &size);
	char frames[CLI_COMMAS];

	if (why == BELOW)
		cli_error("%s: want a page, 4 KiB, at least, not '%s'", what, cli_clean(text));
	else if (why == BEYOND)
		cli_error("%s: want %s frames (%u GiB) at most, not '%s'", what,
			  cli_commas(frames, most), most >> 18, cli_clean(text));
	else
		cli_error("%s: want %s, not '%s'", what, want, cli_clean(text));
	return CLI_USAGE;
}

bool sim_size_parse(const char *text, struct sim_size *size)
{
	return sim_size_parse_to(text, SIM_MAX_FRAMES, size);
}
