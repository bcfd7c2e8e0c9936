// SPDX-License-Identifier: GPL-2.0-only
/*
 * The next option. getopt finds it, by tables that are made of the rows; the words for
 * what is wrong are ours.
 */
#define _GNU_SOURCE	/* stpcpy() */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "option.h"

/* Of a word, as --frames=4k, what stands in front of its argument. */
static int name_length(const char *word)
{
	return strcspn(word, "=");
}

static bool is_long(const char *word)
{
	return word[0] == '-' && word[1] == '-' && word[2];
}

/* The option that a word without its dashes is in full, or NULL. */
static const struct option *find(const struct option *options, const char *name)
{
	for (; options->name; options++)
		if (!strncmp(options->name, name, name_length(name)))
			return options;
	return NULL;
}

/* Options that begin with @name, which more than one does. */
static void say_ambiguous(const struct option *options, const char *name, char *why)
{
	const char *between = "may be";
	int n = snprintf(why, OPTION_LINE, "'--%.*s'", name_length(name), name);

	for (; options->name && n < OPTION_LINE; options++)
		if (!strncmp(options->name, name, name_length(name))) {
			n += snprintf(why + n, OPTION_LINE - n, " %s '--%s'", between,
				      options->name);
			between = "or";
		}
}

static void say_unknown(const struct option *options, const char *name, char *why)
{
	const char *near = NULL;
	char word[OPTION_LINE / 4];

	if (find(options, name)) {
		say_ambiguous(options, name, why);
		return;
	}
	snprintf(word, sizeof(word), "%.*s", name_length(name), name);
	for (; options->name; options++)
		near = option_nearest(word, near, options->name);
	if (near)
		snprintf(why, OPTION_LINE, "there is no option '--%s'; did you mean '--%s'?",
			 word, near);
	else
		snprintf(why, OPTION_LINE, "there is no option '--%s'", word);
}

/* Whether @word is a long option with an argument that it does not take. */
static bool takes_none(const struct option *options, const char *word)
{
	const struct option *o = is_long(word) && strchr(word, '=') ?
				 find(options, word + 2) : NULL;

	return o && o->has_arg == no_argument && o->val == optopt;
}

/* @error: '?' or ':', as getopt_long() has returned it. */
static void say_wrong(const struct option *options, int error, const char *word, char *why)
{
	if (error == ':' && is_long(word))
		snprintf(why, OPTION_LINE, "'%.60s' wants an argument", word);
	else if (error == ':')
		snprintf(why, OPTION_LINE, "'-%c' wants an argument", optopt);
	else if (!optopt)
		say_unknown(options, word + 2, why);
	else if (takes_none(options, word))
		snprintf(why, OPTION_LINE, "'%.*s' takes no argument", name_length(word),
			 word);
	else
		snprintf(why, OPTION_LINE, "there is no option '-%c'", optopt);
}

/* The row of an option, or NULL. @value: with LONG() or without */
static const struct option_row *row_of(const struct option_row *row, int value)
{
	for (; row->value || row->name || row->help; row++)
		if (row->value && (row->value | OPTION_LONG) == (value | OPTION_LONG))
			return row;
	return NULL;
}

static void make_tables(const struct option_row *row, char *letters, struct option *options)
{
	for (; row->value || row->name || row->help; row++) {
		bool may = row->argument && *row->argument == '[';

		if (row->value && row->value < 0x100) {
			*letters++ = row->value;
			letters = stpcpy(letters, may ? "::" : row->argument ? ":" : "");
		}
		if (row->value && row->name)
			*options++ = (struct option){ row->name,
				may ? optional_argument : row->argument ? required_argument :
				no_argument, NULL, row->value };
	}
	*options = (struct option){ 0 };
	*letters = 0;
}

/**
 * option_word() - which of some words a text is
 * @words: "a|b|c"
 * @text:  what was given
 *
 * Return: its number, from 0; -1: none of them.
 */
int option_word(const char *words, const char *text)
{
	size_t length = strlen(text), n;

	for (int nr = 0;; nr++, words++) {
		n = strcspn(words, "|");
		if (n == length && !strncmp(words, text, n))
			return nr;
		words += n;
		if (!*words)
			return -1;
	}
}

/* Whether a row's argument is one of some words, which are in lower case. */
static bool has_words(const struct option_row *row)
{
	return row->argument && strchr(row->argument, '|') && *row->argument >= 'a';
}

/* --mode: want mapped or exact, not 'fast' */
static void say_no_word(const struct option_row *row, const char *text, char *why)
{
	int n = snprintf(why, OPTION_LINE, "--%s: want ", row->name);
	const char *word, *bar;

	for (word = row->argument; word && n < OPTION_LINE; word = bar ? bar + 1 : NULL) {
		bar = strchr(word, '|');
		n += snprintf(why + n, OPTION_LINE - n, "%.*s%s", (int)strcspn(word, "|"), word,
			      !bar ? "" : strchr(bar + 1, '|') ? ", " : " or ");
	}
	if (n < OPTION_LINE)
		snprintf(why + n, OPTION_LINE - n, ", not '%s'", text);
}

/**
 * option_next() - the next option of a command line
 * @argc: of @argv
 * @argv: what main() got, or part of it; argv[0] is no option
 * @rows: OPTION_MOST at most
 * @how:  a letter of rows' forms, or "": all; behind a '+' if the first word that is no
 *        option ends them
 * @why:  says what is wrong, in one line of OPTION_LINE bytes
 *
 * Context: uses getopt's optind, optarg and optopt.
 * Return: an option's value, without LONG(); -1 at their end; '?', and why.
 */
int option_next(int argc, char **argv, const struct option_row *rows, const char *how,
		char *why)
{
	/* A colon in front tells a missing argument from an unknown option. */
	char letters[3 * OPTION_MOST + 3] = "+:";
	bool first = *how == '+';
	struct option options[OPTION_MOST + 1];
	const struct option_row *row;
	int opt;

	make_tables(rows, letters + 2, options);
	opterr = 0;
	opt = getopt_long(argc, argv, letters + !first, options, NULL);
	if (opt < 0)
		return opt;
	row = row_of(rows, opt);
	if (opt == '?' || opt == ':') {
		say_wrong(options, opt, argv[optind - 1], why);
	} else if (row->forms && how[first] && !strchr(row->forms, how[first])) {
		snprintf(why, OPTION_LINE, "'%.60s' has no such option", argv[0]);
		opt = '?';
	} else if (has_words(row) && option_word(row->argument, optarg) < 0) {
		say_no_word(row, optarg, why);
		opt = '?';
	}
	return opt == ':' ? '?' : opt & ~OPTION_LONG;
}

/* The long name of an option that there is. */
const char *option_name(const struct option_row *rows, int value)
{
	return row_of(rows, value)->name;
}
