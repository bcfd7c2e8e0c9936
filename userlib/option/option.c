// SPDX-License-Identifier: GPL-2.0-only
/*
 * The next option. getopt finds it; the words for what is wrong are ours.
 */
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

/**
 * option_next() - the next option of a command line
 * @argc:    of @argv
 * @argv:    what main() got, or part of it; argv[0] is no option
 * @letters: short options, as getopt has them, 60 characters at most
 * @options: long options, as getopt_long() has them
 * @why:     says what is wrong, in one line of OPTION_LINE bytes
 *
 * Context: uses getopt's optind, optarg and optopt.
 * Return: an option's value; -1 at their end; '?', and why.
 */
int option_next(int argc, char **argv, const char *letters,
		const struct option *options, char *why)
{
	char colon[64];
	int opt, plus = *letters == '+';

	/* A colon in front tells a missing argument from an unknown option. */
	snprintf(colon, sizeof(colon), "%.*s:%s", plus, letters, letters + plus);
	opterr = 0;
	opt = getopt_long(argc, argv, colon, options, NULL);
	if (opt != '?' && opt != ':')
		return opt;
	say_wrong(options, opt, argv[optind - 1], why);
	return '?';
}
