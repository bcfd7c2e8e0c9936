// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec: the command. Verbs are rows of one table; their work is in cli_*.c.
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const struct verb {
	const char *name;
	int (*fn)(int argc, char **argv);
	const char *usage;	/* arguments */
	const char *summary;	/* one line */
	const char *help;	/* the rest, or NULL */
} verbs[] = {
	{ "status", cli_status, "[--json]",
	  "show the containers: their frames, faults and why they ended",
	  "Shows the containers of the caller, or all of them with CAP_SYS_ADMIN.\n"
	  "FRAMES is the budget; FREE, RESIDENT and DIRTY are pages of it now, the\n"
	  "other counts are since the policy was loaded. Pages have 4096 bytes.\n"
	  "\n"
	  "  -j, --json    an array with all there is, for programs\n" },
	{ "dis", cli_dis, "FILE.hpo",
	  "print a compiled policy: operands, events, commands",
	  "Commands are numbered from 1 as in exit messages, with their words in\n"
	  "hexadecimal. An image that the module would refuse is printed as far as\n"
	  "it can be read, with the module's reason, and exit code 1.\n" },
	{ "sim", cli_sim,
	  "[OPTION...] TRACE...",
	  "count the faults of policies on traces, without the module",
	  "Runs each trace through each policy with each number of frames; '-' is\n"
	  "standard input. docs/sim.md has the trace's form and the columns.\n"
	  "\n"
	  "  -p, --policy LIST  files (.hpo, or .hp, which ampc compiles), shipped\n"
	  "                     policies (mru) or what is built in: lru, fifo, clock,\n"
	  "                     opt, which is the least that any policy can reach,\n"
	  "                     default; without it the first four of these\n"
	  "  -f, --frames LIST  pages of memory, 1 to 1048576; without it a quarter\n"
	  "                     and a half of the pages that the trace has\n"
	  "  -m, --mode MODE    mapped: a hit sets the page's bits, as hardware does\n"
	  "                     (the default); exact: it also runs Access\n"
	  "  -c, --contract[=SALT]\n"
	  "                     beside the default policy and its sampled shadow:\n"
	  "                     whether revocation's contract would end it, and when\n"
	  "  -j, --json         an array with all there is, for programs\n" },
};

static const char *verb_name;

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

static void print_help(FILE *out)
{
	size_t i;

	fputs("usage: hipec VERB [ARGUMENT...]\n"
	      "       hipec --help | --version\n"
	      "\n"
	      "Page replacement that applications choose.\n"
	      "\n", out);
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		fprintf(out, "  %-8s %-20s %s\n", verbs[i].name, verbs[i].usage,
			verbs[i].summary);
	fputs("\nhipec VERB --help says more. Exit codes: 0 done, 1 failed, 2 usage.\n",
	      out);
}

static void print_verb_help(FILE *out, const struct verb *v)
{
	fprintf(out, "usage: hipec %s %s\n", v->name, v->usage);
	if (out == stdout)
		fprintf(out, "\n%s.\n%s%s", v->summary, v->help ? "\n" : "",
			v->help ? v->help : "");
}

static int run_verb(const struct verb *v, int argc, char **argv)
{
	int i, ret;

	verb_name = v->name;
	for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			print_verb_help(stdout, v);
			return CLI_OK;
		}
	optind = 1;
	ret = v->fn(argc, argv);
	if (ret == CLI_USAGE)
		print_verb_help(stderr, v);
	return ret;
}

static int run(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	size_t i;

	if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
		print_help(stdout);
		return CLI_OK;
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		puts("hipec " HIPEC_VERSION);
		return CLI_OK;
	}
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(name, verbs[i].name))
			return run_verb(&verbs[i], argc - 1, argv + 1);
	if (*name)
		cli_error("there is no '%s'; want one of the verbs below", name);
	print_help(stderr);
	return CLI_USAGE;
}

int main(int argc, char **argv)
{
	int ret = run(argc, argv);

	if (fflush(stdout) || ferror(stdout)) {
		cli_error("cannot write: %s", strerror(errno));
		return CLI_FAILED;
	}
	return ret;
}
