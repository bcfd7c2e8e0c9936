// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec trace: traces from one form to another, and from a seed; the arguments.
 * Output is written when all of the input has been read, under another name until
 * it is complete.
 */
#define _GNU_SOURCE	/* strdupa() */
#include <errno.h>
#include <stdlib.h>

#include "../cli.h"
#include "../../say/json.h"
#include "../../job/job.h"
#include "trace.h"

#define MAX_TOP 1000

struct options {
	enum trace_form to;	/* TRACE_ANY: as the name of the output says */
	bool json;
	u64 top;
	struct cli_keep keep;
	u32 sample;		/* one page of so many; 0: all */
	struct trace_recipe recipe;
};

#define BINARY 1024	/* of memory: pages */
#define DECIMAL 1000	/* of all else: accesses */

/* Numbers of recipes, from OPT_PAGES on: where one goes, what k is, least and most. */
static const struct number {
	size_t at;
	u64 unit;
	u64 least, most;
} numbers[] = {
#define N(option, member, unit, least, most) \
	[option - OPT_PAGES] = { offsetof(struct trace_recipe, member), unit, least, most }
	N(OPT_PAGES, pages, BINARY, 1, SIM_MAX_PAGES),
	N(OPT_ACCESSES, accesses, DECIMAL, 1, SIM_MAX_ACCESSES),
	N(OPT_SEED, seed, DECIMAL, 0, UINT64_MAX),
	N(OPT_WRITES, writes, DECIMAL, 0, 100),
	N(OPT_RUN, run, BINARY, 1, SIM_MAX_PAGES),
	N(OPT_FANOUT, fanout, DECIMAL, 2, SIM_MAX_PAGES),
	N(OPT_SCAN, scan, DECIMAL, 0, 100),
	N(OPT_SET, set, BINARY, 1, SIM_MAX_PAGES),
	N(OPT_PHASE, phase, DECIMAL, 1, SIM_MAX_ACCESSES),
	N(OPT_PASSES, passes, DECIMAL, 1, SIM_MAX_ACCESSES),
	N(OPT_LOOKUPS, lookups, DECIMAL, 1, SIM_MAX_PAGES),
#undef N
};

static const struct number top = { 0, DECIMAL, 0, MAX_TOP };

/*
 * A number of an option, which may have k, M or G behind it: the unit, its square or its
 * cube.
 */
static int parse_number(enum cli_trace_option opt, const struct number *what, const char *text,
			u64 *n)
{
	static const char units[] = "kMG";
	const char *unit = "";
	size_t power;
	u64 times = 1;
	char *end;

	errno = 0;
	*n = strtoull(text, &end, 10);
	if (*end)
		unit = strchr(units, *end);
	if (*text >= '0' && *text <= '9' && !errno && unit &&
	    (!*end || !end[1])) {
		for (power = *unit ? unit - units + 1 : 0; power; power--)
			times *= what->unit;
		if (!__builtin_mul_overflow(*n, times, n) && *n >= what->least &&
		    *n <= what->most)
			return CLI_OK;
	}
	cli_error("--%s: want a number from %llu to %llu, not '%s'",
		  option_name(cli_trace_options, opt), (unsigned long long)what->least,
		  (unsigned long long)what->most, cli_clean(strdupa(text)));
	return CLI_USAGE;
}

/* Thousandths, of up to 4: "0.99". */
static int parse_skew(const char *text, u64 *skew)
{
	u64 n = 0, unit = 1000;
	const char *c = text;

	if (*c >= '0' && *c <= '9')
		n = (*c++ - '0') * unit;
	if (c > text && *c == '.' && c[1])
		for (c++; *c >= '0' && *c <= '9' && unit > 1; c++) {
			unit /= 10;
			n += (*c - '0') * unit;
		}
	if (c == text || *c || n > 4000) {
		cli_error("--skew: want a number from 0 to 4 with up to three decimals, not '%s'",
			  cli_clean(strdupa(text)));
		return CLI_USAGE;
	}
	*skew = n;
	return CLI_OK;
}

static int set_number(struct trace_recipe *recipe, enum cli_trace_option opt, const char *text)
{
	const struct number *n = &numbers[opt - OPT_PAGES];

	return parse_number(opt, n, text, (u64 *)((char *)recipe + n->at));
}

/* @form: 'i', 'c' or 'm', of cli_trace_options */
static int parse_options(struct options *o, int argc, char **argv, const char *form)
{
	int opt, ret = CLI_OK;

	while (!ret && (opt = cli_option(argc, argv, cli_trace_options, form)) != -1) {
		if (opt == '?')
			ret = CLI_USAGE;
		else if (opt >= CLI_INPUT_FROM)
			ret = cli_input_set(opt, optarg);
		else if (opt == OPT_TO)
			ret = cli_trace_form("--to", optarg, true, &o->to);
		else if (opt == 'j')
			o->json = true;
		else if (opt == OPT_TOP)
			ret = parse_number(opt, &top, optarg, &o->top);
		else if (opt == OPT_ONLY)
			ret = cli_trace_only(&o->keep, optarg);
		else if (opt == OPT_MIN_PAGES)
			ret = cli_trace_min_pages(&o->keep, optarg);
		else if (opt == OPT_SAMPLE)
			ret = sim_sample_parse(optarg, &o->sample);
		else if (opt == OPT_SKEW)
			ret = parse_skew(optarg, &o->recipe.skew);
		else
			ret = set_number(&o->recipe, opt, optarg);
	}
	return ret;
}

static int read_trace(struct trace *t, const char *name, struct options *o)
{
	return cli_input_read(t, name) ?: cli_trace_keep(t, &o->keep);
}

/* Leave a sample of a trace; its regions go. 0 or an exit code, said. */
static int keep_sample(struct trace *t, u32 every)
{
	struct trace some[1 + TRACE_SAMPLE_PARTS] = { 0 };
	int ret = trace_sample(t, every, some), i;

	if (!ret && !some->nr_accesses)
		ret = -ENODATA;
	if (ret) {
		cli_error("%s: --sample: %s", t->name,
			  ret == -ENODATA ? "no page is left" : strerror(-ret));
	} else {
		trace_free(t);
		*t = *some;
		*some = (struct trace){ 0 };
	}
	for (i = 0; i <= TRACE_SAMPLE_PARTS; i++)
		trace_free(&some[i]);
	return ret ? CLI_FAILED : CLI_OK;
}

static int convert(int argc, char **argv)
{
	struct options o = { 0 };
	struct trace t;
	int ret = parse_options(&o, argc, argv, "c");

	if (!ret && argc - optind != 2) {
		cli_error("convert: want a trace to read and one to write");
		ret = CLI_USAGE;
	}
	if (ret) {
		free(o.keep.keep.only);
		return ret;
	}
	ret = read_trace(&t, argv[optind], &o);
	if (!ret && o.sample > 1)
		ret = keep_sample(&t, o.sample);
	if (!ret)
		ret = cli_trace_write(&t, o.to, argv[optind + 1]);
	if (!ret)
		cli_trace_say_notes(&t, "hipec trace: ", stderr);
	trace_free(&t);
	free(o.keep.keep.only);
	return ret;
}

/* What was not given, where it depends on what was. */
static int complete(struct trace_recipe *recipe)
{
	/* In pages: those of hipec-1997's "Hipec profiler". */
	static const u64 sizes[TRACE_NR_KINDS] = {
		[TRACE_NLJ] = 4096, [TRACE_RDR] = 20480, [TRACE_SMPEG] = 1068,
	};
	const u64 unset = UINT64_MAX;
	bool sized = sizes[recipe->kind];

	if (!recipe->pages)
		recipe->pages = sizes[recipe->kind];
	if (!recipe->accesses && sized)
		recipe->accesses = SIM_MAX_ACCESSES;
	if (!recipe->pages || !recipe->accesses) {
		cli_error("make: want --pages and --accesses");
		return CLI_USAGE;
	}
	if (recipe->kind == TRACE_RDR && recipe->pages % 5) {
		cli_error("--pages: want a multiple of 5 for rdr: four of data for each of the index");
		return CLI_USAGE;
	}
	if (!recipe->set)
		recipe->set = (recipe->pages + 9) / 10;
	if (!recipe->phase)
		recipe->phase = (recipe->accesses + 9) / 10;
	if (recipe->set > recipe->pages) {
		cli_error("--set: want at most --pages");
		return CLI_USAGE;
	}
	if (recipe->skew == unset)	/* as most published traces have it */
		recipe->skew = recipe->kind == TRACE_BTREE ? 0 : 1000;
	return CLI_OK;
}

static void no_kind(const char *kind, const char *list)
{
	const char *near = NULL;
	size_t i;

	for (i = 0; i < TRACE_NR_KINDS; i++)
		near = option_nearest(kind, near, trace_kinds[i]);
	kind = cli_clean(strdupa(kind));
	if (near)
		cli_error("make: there is no '%s'; did you mean '%s'?", kind, near);
	else if (*kind)
		cli_error("make: want one of %s, not '%s'", list, kind);
	else
		cli_error("make: want one of %s", list);
}

/* @argv: KIND [OPTION...]; optind is then the first argument behind them. */
static int make_one(struct trace *t, struct options *o, int argc,
		    char **argv)
{
	const char *kind = argc ? argv[0] : "";
	char list[128] = "";
	size_t i;
	int ret;

	o->recipe = (struct trace_recipe){
		.skew = UINT64_MAX, .run = 64, .fanout = 100, .scan = 50,
		.passes = 32, .lookups = 10000,
	};
	for (i = 0; i < TRACE_NR_KINDS && strcmp(kind, trace_kinds[i]); i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list),
			 "%s%s", *list ? ", " : "", trace_kinds[i]);
	if (i == TRACE_NR_KINDS) {
		no_kind(kind, list);
		return CLI_USAGE;
	}
	o->recipe.kind = i;
	ret = parse_options(o, argc, argv, "m");
	if (!ret && argc - optind > 1) {
		cli_error("make: want one trace to write");
		ret = CLI_USAGE;
	}
	if (!ret)
		ret = complete(&o->recipe);
	if (!ret && cli_progress_begin())
		o->recipe.progress = cli_progress_draw;
	if (!ret && trace_make(t, &o->recipe)) {
		cli_error("%s", strerror(ENOMEM));
		ret = CLI_FAILED;
	}
	if (o->recipe.progress)
		cli_progress_end();
	return ret;
}

/**
 * cli_trace_make() - make a trace as hipec trace make does
 * @t:    filled; trace_free() it, also after an error
 * @argc: of @argv
 * @argv: KIND [OPTION...]
 *
 * Context: any; uses getopt.
 * Return: 0 or an exit code, said.
 */
int cli_trace_make(struct trace *t, int argc, char **argv)
{
	struct options o = { 0 };
	int ret;

	*t = (struct trace){ 0 };
	optind = 0;	/* anew */
	ret = make_one(t, &o, argc, argv);
	if (!ret && optind < argc) {
		cli_error("want options behind the kind of trace, not '%s'",
			  cli_clean(argv[optind]));
		ret = CLI_USAGE;
	}
	return ret;
}

static int make(int argc, char **argv)
{
	struct options o = { 0 };
	struct trace t = { 0 };
	int ret = make_one(&t, &o, argc - 1, argv + 1);

	if (!ret)
		ret = cli_trace_write(&t, o.to, optind < argc - 1 ?
				  argv[1 + optind] : "-");
	trace_free(&t);
	return ret;
}

/* One trace; into @array, or printed. */
static int one_info(const char *name, struct options *o, bool first,
		    struct json_object *array)
{
	struct trace_info info;
	struct trace t;
	int ret = read_trace(&t, name, o);

	if (!ret && trace_info(&t, o->top, &info)) {
		cli_error("%s: %s", name, strerror(ENOMEM));
		trace_info_free(&info);
		ret = CLI_FAILED;
	} else if (!ret) {
		if (array) {
			json_object_array_add(array, cli_trace_info_json(&t, &info));
		} else {
			if (!first)
				putchar('\n');
			cli_trace_info_print(&t, &info, o->top);
		}
		trace_info_free(&info);
	}
	trace_free(&t);
	return ret;
}

static int info(int argc, char **argv)
{
	struct options o = { .top = 5 };
	struct json_object *array;
	int ret = parse_options(&o, argc, argv, "i"), i;

	if (!ret && optind == argc) {
		cli_error("info: want a trace");
		ret = CLI_USAGE;
	}
	if (ret) {
		free(o.keep.keep.only);
		return ret;
	}
	array = o.json ? json_object_new_array() : NULL;
	for (i = optind; i < argc && !ret; i++)
		ret = one_info(argv[i], &o, i == optind, array);
	if (array && !ret)
		puts(json_object_to_json_string_ext(array,
						    JSON_C_TO_STRING_PRETTY));
	json_object_put(array);
	free(o.keep.keep.only);
	return ret;
}

const struct cli_verb cli_verb_trace = {
	.name = "trace", .run = cli_trace_program, .group = CLI_GROUP_FIND,
	.forms = "info, convert, make, play, or -- and a program",
	.usage = "[OPTION...] -- COMMAND...",
	.summary = "take a program's trace; describe, convert, make and play them",
	.help = "'-' is standard input or output. docs/user/traces.md has forms and kinds.",
	.options = cli_trace_options,
};

const struct cli_verb cli_verb_info = {
	.name = "info", .of = "trace", .run = info,
	.usage = "[OPTION...] TRACE...", .summary = "say what is in traces",
};

const struct cli_verb cli_verb_convert = {
	.name = "convert", .of = "trace", .run = convert,
	.usage = "[OPTION...] IN OUT",
	.summary = "write a trace, or part of it, in another form",
};

const struct cli_verb cli_verb_make = {
	.name = "make", .of = "trace", .run = make,
	.usage = "KIND --pages N --accesses N [OPTION...] [OUT]",
	.summary = "make a trace by a recipe",
};
