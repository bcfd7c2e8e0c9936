// SPDX-License-Identifier: GPL-2.0-only
/*
 * ampc: options and files. Exit status: 0 the policy was
 * compiled, 1 it was refused or could not be read or written, 2 the command
 * line is wrong.
 */
#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "ampc.h"

struct options {
	const char *source;
	const char *output;	/* or NULL */
	bool list;
};

static void usage(FILE *out)
{
	fprintf(out,
		"usage: ampc [-S] [-o output.hpo] source.hp\n"
		"\n"
		"Compile a page replacement policy. The output is named after the source and\n"
		"put into the current directory. '-' reads the source from standard input.\n"
		"\n"
		"  -o, --output FILE  write the compiled policy to FILE\n"
		"  -S, --list         print the commands beside their source lines; writes no\n"
		"                     file unless -o names one\n"
		"      --help         print this\n"
		"      --version      print the version\n");
}

__attribute__((format(printf, 1, 2), noreturn))
static void refuse_usage(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "ampc: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nTry 'ampc --help'.\n");
	exit(2);
}

static void parse_options(struct options *o, int argc, char **argv)
{
	static const struct option longopts[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "list", no_argument, NULL, 'S' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ 0 },
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "o:S", longopts, NULL)) != -1) {
		switch (opt) {
		case 'o':
			o->output = optarg;
			break;
		case 'S':
			o->list = true;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		case 'v':
			printf("ampc %s\n", HIPEC_VERSION);
			exit(0);
		default:
			fprintf(stderr, "Try 'ampc --help'.\n");
			exit(2);
		}
	}
	if (optind == argc)
		refuse_usage("no source file");
	if (optind + 1 < argc)
		refuse_usage("more than one source file");
	o->source = argv[optind];
	if (!strcmp(o->source, "-") && !o->output && !o->list)
		refuse_usage("standard input needs -o");
}

/* Base name of @path without @suffix. */
static char *base_name(struct ampc *c, const char *path, const char *suffix)
{
	const char *slash = strrchr(path, '/');
	size_t len, cut = strlen(suffix);

	if (slash)
		path = slash + 1;
	len = strlen(path);
	if (len > cut && !strcmp(path + len - cut, suffix))
		len -= cut;
	return ampc_strndup(c, path, len);
}

/* A policy is called like its source, or like its output if that is a pipe. */
static void name_policy(struct ampc *c, struct options *o)
{
	const struct ampc_loc file = { 0 };
	char *name;
	const char *s;

	if (strcmp(o->source, "-"))
		name = base_name(c, o->source, ".hp");
	else
		name = base_name(c, o->output ? o->output : "stdin", ".hpo");
	for (s = name; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("._+-", *s))
			break;
	if (*s) {
		ampc_report(c, file, POLICY_NAME, name);
		ampc_report(c, file, POLICY_NAME_FROM);
	} else if (s - name >= HIPEC_NAME_MAX) {
		ampc_report(c, file, POLICY_NAME_LONG, name,
			    HIPEC_NAME_MAX - 1);
		ampc_report(c, file, POLICY_NAME_FROM);
	} else {
		snprintf(c->policy, sizeof(c->policy), "%s", name);
	}
	if (!o->output && !o->list)
		o->output = ampc_printf(c, "%s.hpo", name);
}

static int compile(struct ampc *c, struct options *o)
{
	struct hipec_policy p;

	if (ampc_source_read(c, o->source))
		return 1;
	name_policy(c, o);
	if (ampc_compile(c, &p))
		return 1;
	if (o->list)
		ampc_list(c, &p, stdout);
	if (o->output && ampc_image_write(c, o->output))
		return 1;
	return 0;
}

static bool wants_colour(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && !getenv("NO_COLOR") && term &&
	       strcmp(term, "dumb");
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	struct ampc c;
	int status;

	parse_options(&o, argc, argv);
	ampc_init(&c, o.source);
	status = compile(&c, &o);
	ampc_diag_print(&c, stderr, wants_colour());
	ampc_free(&c);
	if (fflush(stdout)) {
		perror("ampc: standard output");
		status = 1;
	}
	return status;
}
