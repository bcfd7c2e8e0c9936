// SPDX-License-Identifier: GPL-2.0-only
/*
 * ampc: options and files. Exit status: 0 the policy was
 * compiled, 1 it was refused or could not be read or written, 2 the command
 * line is wrong.
 */
#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

#include "ampc.h"
#include "../userlib/option/option.h"

struct options {
	struct ampc *c;		/* gets the warnings' switches */
	const char *source;
	const char *output;	/* or NULL */
	bool list, tree;
	bool cost, c_array, in_c;
	bool json;
};

static const struct option_row options[] = {
	{ 'o', "output", "FILE", .help = "write the compiled policy to FILE" },
	{ 'S', "list", NULL,
	  .help = "print the commands beside their source lines; writes no file unless -o names"
		  " one" },
	{ 'E', "tree", NULL,
	  .help = "print the declarations, statements and expressions with their types and"
		  " constants; writes no file either" },
	{ 'O', .argument = "[0|1]" },
	{ 0, "-O0, -O1", .help = "leave all commands in, or compute as little as needed (-O1)" },
	{ LONG('c'), "explain-cost", NULL,
	  .help = "print how many commands each event runs at most" },
	{ LONG('a'), "emit-c-array", NULL,
	  .help = "print the compiled policy as a C header; like -S and --explain-cost it writes"
		  " no file unless -o names one" },
	{ LONG('C'), "emit", "c",
	  .help = "print the policy in C, which does what its commands do" },
	{ 'W', .argument = "NAME" },
	{ 0, "-Wall", .help = "warn of all that --help=warnings lists" },
	{ 0, "-Wname, -Wno-name", .help = "turn a warning on or off" },
	{ 0, "-Werror[=name]",
	  .help = "take warnings, or one, for errors; -Wno-error[=name]" },
	{ LONG('d'), "diagnostics", "FORM",
	  .help = "text, or json: print errors and warnings as a JSON array" },
	{ LONG('h'), "help", "[=warnings]", .help = "print this, or list the warnings" },
	{ LONG('v'), "version", NULL, .help = "print the version" },
	{ 0 },
};

static void usage(FILE *out)
{
	fprintf(out,
		"usage: ampc [option...] source.hp\n"
		"\n"
		"Compile a page replacement policy. The output is named after the source and\n"
		"put into the current directory. '-' reads the source from standard input.\n"
		"A source that is called *.hps is assembler text, as -S prints it.\n"
		"\n");
	option_print(out, options);
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

/* Whether the result goes to standard output. */
static bool prints(const struct options *o)
{
	return o->list || o->tree || o->cost || o->c_array || o->in_c;
}

static void help(const char *about)
{
	if (!about)
		usage(stdout);
	else if (!strcmp(about, "warnings"))
		ampc_warn_help(stdout);
	else
		refuse_usage("there is no help about '%s'", about);
}

static bool has_suffix(const char *path, const char *suffix)
{
	size_t len = strlen(path), n = strlen(suffix);

	return len > n && !strcmp(path + len - n, suffix);
}

static bool is_assembler(const struct options *o)
{
	return has_suffix(o->source, ".hps");
}

/* What is not an option: the source. */
static void take_source(struct options *o, int nr, char **names)
{
	if (!nr)
		refuse_usage("no source file");
	if (nr > 1)
		refuse_usage("more than one source file");
	o->source = *names;
	if (!strcmp(o->source, "-") && !o->output && !prints(o))
		refuse_usage("standard input needs -o");
	if (o->tree && is_assembler(o))
		refuse_usage("assembler text has no tree");
}

static void parse_options(struct options *o, int argc, char **argv)
{
	char why[OPTION_LINE];
	int opt;

	while ((opt = option_next(argc, argv, options, "", why)) != -1) {
		switch (opt) {
		case 'o':
			o->output = optarg;
			break;
		case 'O':
			if (optarg && strcmp(optarg, "0") && strcmp(optarg, "1"))
				refuse_usage("there is no level -O%s", optarg);
			o->c->level = !optarg || *optarg == '1';
			break;
		case 'S':
			o->list = true;
			break;
		case 'E':
			o->tree = true;
			break;
		case 'W':
			if (!ampc_warn_option(o->c, optarg))
				refuse_usage("there is no warning '%s'", optarg);
			break;
		case 'a':
			o->c_array = true;
			break;
		case 'C':
			o->in_c = !strcmp(optarg, "c");
			if (!o->in_c)
				refuse_usage("a policy can be emitted as 'c'");
			break;
		case 'c':
			o->cost = true;
			break;
		case 'd':
			o->json = !strcmp(optarg, "json");
			if (!o->json && strcmp(optarg, "text"))
				refuse_usage("diagnostics are 'text' or 'json'");
			break;
		case 'h':
			help(optarg);
			exit(0);
		case 'v':
			printf("ampc %s\n", HIPEC_VERSION);
			exit(0);
		default:
			refuse_usage("%s", why);
		}
	}
	take_source(o, argc - optind, argv + optind);
}

/* Base name of @path without @suffix. */
static char *base_name(struct ampc *c, const char *path, const char *suffix)
{
	const char *slash = strrchr(path, '/');

	if (slash)
		path = slash + 1;
	return ampc_strndup(c, path, strlen(path) -
			    (has_suffix(path, suffix) ? strlen(suffix) : 0));
}

/* A policy is called like its source, or like its output if that is a pipe. */
static void name_policy(struct ampc *c, struct options *o)
{
	const struct ampc_loc file = { 0 };
	char *name;
	const char *s;

	if (strcmp(o->source, "-"))
		name = base_name(c, o->source,
				 is_assembler(o) ? ".hps" : ".hp");
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
	if (!o->output && !prints(o))
		o->output = ampc_printf(c, "%s.hpo", name);
}

static int compile(struct ampc *c, struct options *o)
{
	struct hipec_policy p;

	c->is_assembler = is_assembler(o);
	if (ampc_source_read(c, o->source))
		return 1;
	name_policy(c, o);
	if (is_assembler(o) ? ampc_assemble(c, &p) : ampc_compile(c, &p))
		return 1;
	if (o->tree)
		ampc_tree(c, stdout);
	if (o->list)
		ampc_list(c, &p, stdout);
	if (o->cost)
		ampc_cost(c, &p, stdout);
	if (o->c_array)
		ampc_c_array(c, stdout);
	if (o->in_c && ampc_in_c(c, &p, stdout))
		return 1;
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
	struct ampc c;
	struct options o = { .c = &c };
	int status;

	ampc_init(&c, NULL);
	parse_options(&o, argc, argv);
	c.source.file = o.source;
	status = compile(&c, &o);
	if (o.json)
		ampc_diag_json(&c, stderr);
	else
		ampc_diag_print(&c, stderr, wants_colour());
	ampc_free(&c);
	if (fflush(stdout)) {
		perror("ampc: standard output");
		status = 1;
	}
	return status;
}
