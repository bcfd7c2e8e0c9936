/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options of a command line: getopt's, with words of our own for what is wrong, and the
 * nearest name to one that does not exist.
 *
 * Interface:
 * option_next()     the next option, as getopt_long() has it
 * option_nearest()  which of two names is nearer to a word
 */
#ifndef HIPEC_OPTION_H
#define HIPEC_OPTION_H

#include <getopt.h>

#define OPTION_LINE 256	/* longest complaint, bytes; what was written may be cut */

int option_next(int argc, char **argv, const char *letters,
		const struct option *options, char *why);
const char *option_nearest(const char *word, const char *best, const char *other);

#endif /* HIPEC_OPTION_H */
