// SPDX-License-Identifier: GPL-2.0-only
/*
 * What verbs say: the words that all of them share, on standard error, and how numbers
 * and names look.
 *
 * Interface: say.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../lib/hipec.h"
#include "../option/option.h"
#include "../trace/memory.h"
#include "say.h"

static const char *verb_name;

void cli_set_verb(const char *name)
{
	verb_name = name;
}

const char *cli_verb(void)
{
	return verb_name;
}

/* One line on stderr, under the verb that runs. */
void cli_error(const char *format, ...)
{
	va_list ap;

	fprintf(stderr, verb_name ? "hipec %s: " : "hipec: ", verb_name);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/**
 * cli_option() - the next option of a verb
 * @argc: of @argv
 * @argv: words, the first one of which is the verb
 * @rows: its options; NULL: it has none
 * @how:  as option_next() has it
 *
 * Context: uses getopt's optind, optarg and optopt.
 * Return: an option's value; -1 at their end; '?', said.
 */
int cli_option(int argc, char **argv, const struct option_row *rows, const char *how)
{
	static const struct option_row none[1];
	char why[OPTION_LINE];
	int opt = option_next(argc, argv, rows ?: none, how, why);

	if (opt == '?' && strchr(why, ';'))
		cli_error("%s", cli_clean(why));
	else if (opt == '?' && !strncmp(why, "there is no", strlen("there is no")))
		cli_error("%s; 'hipec help %s' lists them", cli_clean(why), verb_name);
	else if (opt == '?')
		cli_error("%s", cli_clean(why));
	return opt;
}

/**
 * cli_operands() - whether there are as many words behind the options as a verb takes
 * @argc:  of @argv
 * @argv:  words, whose options cli_option() has taken
 * @least: words wanted
 * @most:  words taken
 * @want:  these, in words: "a trace"
 *
 * Return: 0; CLI_USAGE, said.
 */
int cli_operands(int argc, char **argv, int least, int most, const char *want)
{
	int nr = argc - optind;

	if (nr < least)
		cli_error("want %s", want);
	else if (nr > most)
		cli_error("'%s' is one word too many", cli_clean(argv[optind + most]));
	else
		return CLI_OK;
	return CLI_USAGE;
}

/* Say why there is no container: what hipec_open() returned. */
int cli_open_failed(int err)
{
	if (err == -ENOENT || err == -ENXIO || err == -ENODEV)
		cli_error(HIPEC_DEVICE " is missing; load the module first: modprobe hipec; 'hipec doctor' says what is missing for that");
	else if (err == -EACCES || err == -EPERM)
		cli_error(HIPEC_DEVICE ": %s; its owner or mode does not admit you; 'hipec doctor' says what does",
			  strerror(-err));
	else
		cli_error(HIPEC_DEVICE ": %s", cli_call_failed(err));
	return CLI_FAILED;
}

/* Why a call of the module returned @err. */
const char *cli_call_failed(int err)
{
	return err == -ENOTTY ? "the module that is loaded is older than this command; if the new one is installed, reboot to use it" :
	       strerror(-err);
}

/* Say why trace @name was not read: @ret, and @err if it is malformed. */
int cli_trace_failed(const char *name, int ret, const struct trace_error *err)
{
	if (ret == -EINVAL && err->line)
		cli_error("%s:%llu: %s", name, (unsigned long long)err->line, err->text);
	else if (ret == -EINVAL)
		cli_error("%s: %s", name, err->text);
	else if (ret == -ENOSPC)
		cli_error("%s: it fits neither in memory nor in %s: set TMPDIR to a folder with more room",
			  name, trace_room_folder());
	else
		cli_error("%s: %s", name, strerror(-ret));
	return CLI_FAILED;
}

/*
 * Replace, in place, what does not belong on a terminal or into JSON. Names
 * come from tasks and images that anybody may have made.
 */
char *cli_clean(char *text)
{
	char *c;

	for (c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return text;
}

/**
 * cli_commas() - a number as 1,234,567
 * @text: gets it; CLI_COMMAS bytes
 * @n:    number
 *
 * Return: @text.
 */
const char *cli_commas(char *text, uint64_t n)
{
	char digits[24], *to = text;
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	int i;

	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = 0;
	return text;
}

/**
 * cli_number() - a number on standard output
 * @text: gets it; CLI_COMMAS bytes
 * @n:    number
 *
 * Return: @text, with separators on a terminal; digits for a program.
 */
const char *cli_number(char *text, uint64_t n)
{
	if (isatty(STDOUT_FILENO))
		return cli_commas(text, n);
	snprintf(text, CLI_COMMAS, "%llu", (unsigned long long)n);
	return text;
}

/**
 * cli_count() - a number of things
 * @text:  gets it; CLI_COUNT bytes
 * @n:     number
 * @thing: one of them, as access, page, policy or file
 *
 * Return: @text, "1 page" or "2 pages"; as cli_number().
 */
const char *cli_count(char *text, uint64_t n, const char *thing)
{
	int len = strlen(thing);
	bool es = thing[len - 1] == 's';
	bool ies = thing[len - 1] == 'y';

	if (n == 1)
		snprintf(text, CLI_COUNT, "1 %s", thing);
	else
		snprintf(text, CLI_COUNT, "%s %.*s%s", CLI_NUMBER(n), len - ies, thing,
			 ies ? "ies" : es ? "es" : "s");
	return text;
}

/**
 * cli_memory() - an amount of memory
 * @text:  gets it; CLI_COUNT bytes
 * @bytes: amount
 *
 * Return: @text, as "4 KiB", "1.5 MiB" or "2.0 GiB".
 */
const char *cli_memory(char *text, uint64_t bytes)
{
	if (bytes < 1 << 20)
		snprintf(text, CLI_COUNT, "%llu KiB", (unsigned long long)bytes >> 10);
	else if (bytes < 1 << 30)
		snprintf(text, CLI_COUNT, "%.1f MiB", bytes / 0x1p20);
	else
		snprintf(text, CLI_COUNT, "%.1f GiB", bytes / 0x1p30);
	return text;
}

/**
 * cli_percent() - a part, or a change, in percent
 * @text:    gets it; CLI_COUNT bytes
 * @percent: number
 * @sign:    it is a change: with + or -
 *
 * Return: @text, as "43.2" or "+43.2".
 */
const char *cli_percent(char *text, double percent, bool sign)
{
	if (percent < 0 && percent > -0.05)
		percent = 0;	/* not "-0.0" */
	snprintf(text, CLI_COUNT, sign ? "%+.1f" : "%.1f", percent);
	return text;
}

/**
 * cli_hits() - the part of accesses that are hits, in percent
 * @text: gets it; CLI_COUNT bytes
 * @hits: of these
 * @of:   accesses
 *
 * Return: @text, as "43.21"; "-" if there are no accesses.
 */
const char *cli_hits(char *text, uint64_t hits, uint64_t of)
{
	if (of)
		snprintf(text, CLI_COUNT, "%.2f", 100. * hits / of);
	else
		strcpy(text, "-");
	return text;
}
