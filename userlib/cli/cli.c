// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec: the command, its verbs and its help. A verb is in a file or a folder of its own.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "../program/install_path.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const char *const groups[CLI_NR_GROUPS] = {
	[CLI_GROUP_FIND] = "Is there a better policy? Without root and without the module:",
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
			if (!verbs[i]->of && verbs[i]->group == group)
				fprintf(out, "  %-8s %s\n", verbs[i]->name,
					verbs[i]->summary);
	}
	fputs("\n'hipec help VERB' says more. Exit codes: 0 done, 1 failed, 2 usage.\n",
	      out);
}

/* The next form of a verb from row *@i on, or NULL. */
static const struct cli_verb *next_form(const struct cli_verb *v, size_t *i)
{
	while (*i < ARRAY_SIZE(verbs)) {
		const struct cli_verb *form = verbs[(*i)++];

		if (form->of && !strcmp(form->of, v->name))
			return form;
	}
	return NULL;
}

static void print_usage(FILE *out, const char *head, const struct cli_verb *v)
{
	fprintf(out, "%s hipec %s %s%s%s\n", head, v->of ?: v->name, v->of ? v->name : "",
		v->of ? " " : "", v->usage);
}

/* What there is to say of a verb or a form, behind its summary. */
static void print_text(const struct cli_verb *v)
{
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
}

static void print_form(const struct cli_verb *form)
{
	const struct option_row name[] = { { 0, form->name, NULL, .help = form->summary }, { 0 } };

	option_print(stdout, name);
	print_text(form);
}

static bool names_docs(const struct cli_verb *v)
{
	return v->help && strstr(v->help, "docs/");
}

static void print_verb_help(const struct cli_verb *v)
{
	char docs[PATH_MAX], where[PATH_MAX];
	const struct cli_verb *form;
	const char *head = "usage:";
	bool apart = true, docs_named = names_docs(v);
	size_t i;

	if (v->usage) {
		print_usage(stdout, head, v);
		head = "      ";
	}
	for (i = 0; (form = next_form(v, &i)); head = "      ")
		print_usage(stdout, head, form);
	printf("\n%s.\n", v->summary);
	print_text(v);
	for (i = 0; (form = next_form(v, &i)); apart = form->help) {
		if (apart || form->help)
			putchar('\n');
		print_form(form);
		docs_named |= names_docs(form);
	}
	cli_examples_print(v->name);
	if (docs_named && install_path(docs, INSTALL_PATH_DOCS) &&
	    !access(docs, R_OK) && realpath(docs, where))
		printf("\nThe folder docs/ is %s.\n", where);
}

/* The form of a verb that is asked for, whose name is taken away; else the verb. */
static const struct cli_verb *take_form(const struct cli_verb *v, int *argc, char **argv)
{
	const struct cli_verb *form;
	size_t nr;
	int i;

	for (nr = 0; (form = next_form(v, &nr));)
		for (i = 1; i < *argc && strcmp(argv[i], "--"); i++) {
			if (strcmp(argv[i], form->name) || (i > 1 && *form->name != '-'))
				continue;
			memmove(&argv[i], &argv[i + 1], (*argc - i) * sizeof(*argv));
			--*argc;
			argv[0] = (char *)form->name;
			return form;
		}
	return v;
}

/* Say that no form of a verb is asked for. @word: what is instead, or NULL */
static int no_form(const struct cli_verb *v, char *word)
{
	const struct cli_verb *form;
	const char *near = NULL;
	size_t i;

	for (i = 0; word && (form = next_form(v, &i));)
		near = option_nearest(word, near, form->name);
	if (near)
		cli_error("there is no '%s'; did you mean '%s'?", cli_clean(word), near);
	else if (word)
		cli_error("want %s, not '%s'", v->forms, cli_clean(word));
	else
		cli_error("want %s", v->forms);
	return CLI_USAGE;
}

static int run_verb(const struct cli_verb *v, int argc, char **argv)
{
	size_t first = 0;
	int i, ret;

	cli_set_verb(v->name);
	for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			print_verb_help(v);
			return CLI_OK;
		}
	v = take_form(v, &argc, argv);
	optind = 1;
	if (v->forms && (argc < 2 || !v->run || *argv[1] != '-'))
		ret = no_form(v, argv[1]);
	else
		ret = v->run(argc, argv);
	if (ret == CLI_USAGE)
		print_usage(stderr, "usage:", v->usage ? v : next_form(v, &first));
	return ret;
}

static const struct cli_verb *find_verb(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!verbs[i]->of && !strcmp(name, verbs[i]->name))
			return verbs[i];
	return NULL;
}

static int no_verb(char *name)
{
	const char *thing = *name == '-' ? "option" : "verb", *near = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (verbs[i]->was && !strcmp(name, verbs[i]->was)) {
			fprintf(stderr, "hipec %s is now hipec %s %s\n", name, verbs[i]->of,
				verbs[i]->name);
			return CLI_USAGE;
		} else if (!verbs[i]->of) {
			near = option_nearest(name, near, verbs[i]->name);
		}
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
