/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options of a command line. One row has all there is of an option; getopt's tables, the
 * help, and words of our own for what is wrong are made of it. Completion and man pages
 * are made of the help.
 *
 * Interface:
 * option_next()     the next option, as getopt_long() has it
 * option_word()     which of its words the argument of one is
 * option_name()     the long name of one
 * option_print()    the help; option_print_text(): a paragraph
 * option_nearest()  which of two names is nearer to a word
 */
#ifndef HIPEC_OPTION_H
#define HIPEC_OPTION_H

#include <getopt.h>
#include <stdio.h>

#define OPTION_LINE 256	/* longest complaint, bytes; what was written may be cut */
#define OPTION_LONG 0x10000
#define LONG(letter) (OPTION_LONG + (letter))	/* the letter stands for it, but is no option */
#define OPTION_MOST 48	/* rows of a command */

/*
 * A row. Where @value is 0 it is no option: @name is listed as it is, or @help is a
 * paragraph between options. { 0 } ends a table.
 */
struct option_row {
	int value;		/* its letter, LONG() of one, or a number above 255 */
	const char *name;	/* long, or NULL */
	const char *argument;	/* "FILE", "[=N]" if it may be missing, "a|b|c": one of these
				   words; NULL: it takes none */
	const char *help;	/* NULL: that of the next row; without a name, it is not listed */
	const char *forms;	/* of the command that have it, a letter each; NULL: all */
};

/* Of a table X(ID, "word", ...), the words: "|a|b|c", whose bar is to be left out. */
#define OPTION_WORD(id, text, ...) "|" text

int option_next(int argc, char **argv, const struct option_row *rows, const char *how,
		char *why);
int option_word(const char *words, const char *text);
const char *option_name(const struct option_row *rows, int value);
void option_print(FILE *out, const struct option_row *rows);
void option_print_text(FILE *out, const char *text);
const char *option_nearest(const char *word, const char *best, const char *other);

#endif /* HIPEC_OPTION_H */
