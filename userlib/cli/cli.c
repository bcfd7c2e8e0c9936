// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec: the command, its verbs and its help. A verb is in a file or a folder of its own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "../sim/install_path.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const char *const groups[CLI_NR_GROUPS] = {
	[CLI_GROUP_FIND] = "Is there a better policy? Without root and without the module:",
	[CLI_GROUP_WRITE] = "Look into a policy, likewise:",
	[CLI_GROUP_RUN] = "Run programs under a policy:",
	[CLI_GROUP_WATCH] = "See what policies do, while they do it or later:",
	[CLI_GROUP_MACHINE] = "This machine:",
};

static const struct cli_verb *const verbs[] = {
#define X(verb) &cli_verb_##verb,
	CLI_VERBS(X)
#undef X
};

static void print_help(FILE *out)
{
	enum cli_group group;
	size_t i;

	fputs("usage: hipec VERB [ARGUMENT...]\n"
	      "       hipec help [VERB]\n"
	      "       hipec --help | --version\n"
	      "\n"
	      "Page replacement that applications choose.\n", out);
	for (group = 0; group < CLI_NR_GROUPS; group++) {
		fprintf(out, "\n%s\n", groups[group]);
		for (i = 0; i < ARRAY_SIZE(verbs); i++)
			if (verbs[i]->group == group)
				fprintf(out, "  %-8s %s\n", verbs[i]->name,
					verbs[i]->summary);
	}
	fputs("\n'hipec help VERB' says more. Exit codes: 0 done, 1 failed, 2 usage.\n",
	      out);
}

/* Of @usage, which is left, the next line; its length. */
static int usage_line(const char **usage, const char **line)
{
	int len = strcspn(*usage, "\n");

	*line = *usage;
	*usage += len + ((*usage)[len] == '\n');
	return len;
}

static void print_verb_help(const struct cli_verb *v)
{
	const char *usage = v->usage, *line, *head = "usage:";
	char docs[PATH_MAX], where[PATH_MAX];
	int len;

	do {
		len = usage_line(&usage, &line);
		printf("%s hipec %s %.*s\n", head, v->name, len, line);
		head = "      ";
	} while (*usage);
	printf("\n%s.\n", v->summary);
	if (v->help) {
		putchar('\n');
		option_print_text(stdout, v->help);
	}
	if (v->options) {
		putchar('\n');
		option_print(stdout, v->options);
	}
	if (v->end) {
		putchar('\n');
		option_print_text(stdout, v->end);
	}
	cli_examples_print(v->name);
	if (v->help && strstr(v->help, "docs/") && install_path(docs, INSTALL_PATH_DOCS) &&
	    !access(docs, R_OK) && realpath(docs, where))
		printf("\nThe folder docs/ is %s.\n", where);
}

/* The line of the verb's own verb that was asked for, if it has some, or its first one. */
static void print_usage(const struct cli_verb *v, const char *asked)
{
	const char *usage = v->usage, *line;
	size_t n = strlen(asked);
	int len;

	do
		len = usage_line(&usage, &line);
	while (*usage && !(n && !strncmp(line, asked, n) && line[n] == ' '));
	if (!n || strncmp(line, asked, n) || line[n] != ' ') {
		usage = v->usage;
		len = usage_line(&usage, &line);
	}
	fprintf(stderr, "usage: hipec %s %.*s\n", v->name, len, line);
}

static int run_verb(const struct cli_verb *v, int argc, char **argv)
{
	int i, ret;

	cli_set_verb(v->name);
	for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			print_verb_help(v);
			return CLI_OK;
		}
	optind = 1;
	ret = v->run(argc, argv);
	if (ret == CLI_USAGE)
		print_usage(v, argc > 1 ? argv[1] : "");
	return ret;
}

static const struct cli_verb *find_verb(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(name, verbs[i]->name))
			return verbs[i];
	return NULL;
}

static int no_verb(char *name)
{
	const char *thing = *name == '-' ? "option" : "verb", *near = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		near = option_nearest(name, near, verbs[i]->name);
	cli_clean(name);
	if (near)
		cli_error("there is no %s '%s'; did you mean '%s'?", thing, name, near);
	else
		cli_error("there is no %s '%s'", thing, name);
	fputs("'hipec help' lists the verbs\n", stderr);
	return CLI_USAGE;
}

/* @name: of a verb, or NULL */
static int help(char *name)
{
	const struct cli_verb *v = name ? find_verb(name) : NULL;

	if (v)
		print_verb_help(v);
	else if (name)
		return no_verb(name);
	else
		print_help(stdout);
	return CLI_OK;
}

static int run(int argc, char **argv)
{
	char *name = argv[1];
	const struct cli_verb *v;

	if (argc < 2) {
		print_help(stderr);
		return CLI_USAGE;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help"))
		return help(argc > 2 ? argv[2] : NULL);
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		puts("hipec " HIPEC_VERSION);
		return CLI_OK;
	}
	v = find_verb(name);
	return v ? run_verb(v, argc - 1, argv + 1) : no_verb(name);
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
