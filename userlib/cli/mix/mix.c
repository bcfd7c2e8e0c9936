// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec mix: several applications on one machine, in one order of submission or
 * in several, as tables or as JSON.
 */
#include <errno.h>
#include <stdlib.h>

#include "../cli.h"
#include "../../job/input.h"
#include "mix.h"
#include "../../job/size.h"

#define MIX_GLOBAL_WORDS (MIX_GLOBALS(OPTION_WORD) + 1)

#define MAX_PERMUTED 6	/* 720 orders */
#define MAX_DRAWN 4	/* 24 */

static const struct {
	const char *name;
	u64 random, next;	/* ns */
} disks[] = {
	/* A page at a fault of Table V; 4 KB of Table III. */
	{ "paper", 12789000, 1502400 },
	/* bench/lib/guests.py: a request, and 4096 bytes at so many MB/s. */
	{ "ssd", 108192, 108192 },
	{ "hdd", 5027307, 5027307 },
};

static void set_times(u64 *ns, u64 random, u64 next)
{
	ns[0] = random;
	ns[1] = next;
}

/* A disk's name, or one time, or two. */
static bool parse_disk(char *text, u64 *ns)
{
	char *comma = strchr(text, ',');
	size_t i;

	for (i = 0; i < ARRAY_SIZE(disks); i++) {
		if (!strcmp(text, disks[i].name)) {
			set_times(ns, disks[i].random, disks[i].next);
			return true;
		}
	}
	if (comma)
		*comma = 0;
	return mix_time_parse(text, &ns[0]) &&
	       mix_time_parse(comma ? comma + 1 : text, &ns[1]);
}

static int set_disk(char *option, char *text, u64 *ns)
{
	char copy[64];

	snprintf(copy, sizeof(copy), "%s", text);
	if (parse_disk(text, ns))
		return CLI_OK;
	cli_error("--%s: want paper, ssd, hdd or a time, 5ms, or two, that of the page behind the last one, 5ms,1ms, not '%s'",
		  option, cli_clean(copy));
	return CLI_USAGE;
}

static int set_time(const char *option, char *text, u64 least, u64 *ns)
{
	if (mix_time_parse(text, ns) && *ns >= least)
		return CLI_OK;
	cli_error("--%s: want a time, as 100ms, not '%s'", option,
		  cli_clean(text));
	return CLI_USAGE;
}

static int set_frames(struct mix_machine *m, char *text)
{
	struct sim_size size;

	if (sim_size_parse_to(text, MIX_MAX_FRAMES, &size) && !size.percent) {
		m->frames = size.nr;
		return CLI_OK;
	}
	return sim_size_refuse("--frames", text, MIX_MAX_FRAMES,
			       "frames (4096, 4k) or memory (64M, 512KiB)");
}

/* text, json, or the page's file. */
static void set_output(struct profile_output *o, const char *text)
{
	*o = (struct profile_output){
		.json = !strcmp(text, "json"), .text = !strcmp(text, "text"),
	};
	o->file = o->text ? "-" : text;
}

static int set_option(struct mix_job *job, int opt, char *arg)
{
	struct mix_machine *m = &job->machine;
	int ret = cli_input_set(opt, arg);

	if (ret >= 0)
		return ret;
	switch (opt) {
	case 'f':
		return set_frames(m, arg);
	case 'g':
		m->global = option_word(MIX_GLOBAL_WORDS, arg);
		return CLI_OK;
	case 'm':
		m->mode = option_word(SIM_MODE_WORDS, arg);
		return CLI_OK;
	case 's':
		return set_time("slice", arg, 1, &m->slice_ns);
	case 'G':
		return set_time("gap", arg, 0, &m->gap_ns);
	case 'S':
		return set_time("sample", arg, 1, &m->sample_ns);
	case 'd':
		ret = set_disk("disk", arg, m->read_ns);
		memcpy(m->write_ns, m->read_ns, sizeof(m->write_ns));
		return ret;
	case 'w':
		return set_disk("write", arg, m->write_ns);
	case 'o':
		job->orders = arg;
		return CLI_OK;
	case 'R':
		m->recovery = false;
		return CLI_OK;
	case 'r':
		m->revocation = true;
		return CLI_OK;
	case 'p':
		set_output(&job->output, arg);
		return CLI_OK;
	case 'j':
		job->json = true;
		return CLI_OK;
	}
	return CLI_USAGE;
}

static const struct option_row options[] = {
	{ 'f', "frames", "N", .help = "of the machine: 4096, 4k (1024 each), 64M, 512KiB" },
	{ 'g', "global", MIX_GLOBAL_WORDS,
	  .help = "policy of the frames that are shared; awst: between each one's min and max;"
		  " without it fifo2-mr" },
	{ 'o', "orders", "LIST",
	  .help = "of submission: all, or J,R,S; without it as in the file" },
	{ 's', "slice", "TIME",
	  .help = "of the processor, 100ms; times are in ns, us, ms and s" },
	{ LONG('G'), "gap", "TIME", .help = "from the start of one to that of the next; 0" },
	{ 'd', "disk", "TIME",
	  .help = "of a page: paper (the default), ssd, hdd, 5ms, or 5ms,1ms if the page behind"
		  " the last one takes less" },
	{ LONG('w'), "write", "TIME", .help = "of a page that is written, if it is another" },
	{ 'm', "mode", SIM_MODE_WORDS, .help = "as of hipec sim" },
	{ LONG('R'), "no-recovery", NULL, .help = "let ill-advised decisions stand" },
	{ LONG('r'), "revoke", NULL, .help = "end policies that break the contract" },
	{ LONG('S'), "sample", "TIME", .help = "in JSON, who holds how many frames, so often" },
	{ LONG('p'), "profile", "FILE",
	  .help = "a page as hipec profile's, all applications together over time; text: a"
		  " summary instead; json: what both are made of" },
	{ 'j', "json", NULL, .help = "an array with an element an order, for programs" },
	CLI_INPUT_OPTIONS,
	{ 0 },
};

static int parse_args(struct mix_job *job, int argc, char **argv)
{
	int opt, ret = CLI_OK;

	job->machine = (struct mix_machine){
		.slice_ns = 100000000, .recovery = true,
	};
	set_times(job->machine.read_ns, disks[0].random, disks[0].next);
	set_times(job->machine.write_ns, disks[0].random, disks[0].next);
	while (!ret && (opt = cli_option(argc, argv, options, "")) != -1)
		ret = set_option(job, opt, optarg);
	if (!ret && argc - optind != 1) {
		cli_error("want one file of applications");
		ret = CLI_USAGE;
	}
	if (!ret && job->json && job->output.file) {
		cli_error("want one of --profile and --json; --profile json is the profile as JSON");
		ret = CLI_USAGE;
	}
	if (!ret && !job->machine.frames) {
		cli_error("want --frames, the machine's");
		ret = CLI_USAGE;
	}
	if (!ret)
		job->file = argv[optind];
	return ret;
}

static int run_order(const struct mix_job *job, struct mix_app *const *app,
		     struct json_object *array)
{
	struct mix_result result;
	int ret = mix_run(&job->machine, app, job->nr_apps, &result);

	if (!ret && job->profile)
		ret = mix_profile_run(job, app, &result);
	if (ret == -E2BIG)
		cli_error("--sample: want a longer time: that would be more than %d samples",
			  MIX_MAX_SAMPLES);
	else if (ret)
		cli_error("%s", strerror(-ret));
	else if (array)
		json_object_array_add(array, mix_json(job, &result));
	else if (!job->profile)
		mix_table_print(job, &result);
	mix_result_free(&result);
	return ret ? CLI_FAILED : CLI_OK;
}

/* All orders of app[from] and those behind it, in that of the alphabet. */
static int run_orders(const struct mix_job *job, struct mix_app **app, u32 from,
		      struct json_object *array)
{
	struct mix_app *first;
	int ret = CLI_OK;
	u32 i;

	if (from + 1 >= job->nr_apps)
		return run_order(job, app, array);
	for (i = from; i < job->nr_apps && !ret; i++) {
		first = app[i];
		memmove(&app[from + 1], &app[from], (i - from) * sizeof(*app));
		app[from] = first;
		ret = run_orders(job, app, from + 1, array);
		memmove(&app[from], &app[from + 1], (i - from) * sizeof(*app));
		app[i] = first;
	}
	return ret;
}

/* Fill @app with those that @names names, all of them once. */
static int find_order(struct mix_job *job, const char *names,
		      struct mix_app **app)
{
	const char *name = names;
	u32 i, n = 0, k;

	while (n < job->nr_apps) {
		size_t length = strcspn(name, ",");

		for (i = 0; i < job->nr_apps; i++)
			if (strlen(job->app[i].name) == length &&
			    !memcmp(job->app[i].name, name, length))
				break;
		if (i == job->nr_apps)
			break;
		for (k = 0; k < n; k++)
			if (app[k] == &job->app[i])
				break;
		if (k < n)
			break;
		app[n++] = &job->app[i];
		name += length;
		if (n < job->nr_apps && *name++ != ',')
			break;
	}
	if (n == job->nr_apps && !*name)
		return CLI_OK;
	cli_error("--orders: want all, or each of the %u applications once, between commas, not '%s'",
		  job->nr_apps, names);
	return CLI_USAGE;
}

static int begin_profile(struct mix_job *job, bool all)
{
	u32 i, nr_orders = 1;

	if (all && job->nr_apps > MAX_DRAWN) {
		cli_error("--profile: want at most %d applications for all orders",
			  MAX_DRAWN);
		return CLI_USAGE;
	}
	for (i = 2; all && i <= job->nr_apps; i++)
		nr_orders *= i;
	job->profile = mix_profile_make(job, nr_orders);
	if (job->profile)
		return profile_output_check(&job->output);
	cli_error("%s", strerror(ENOMEM));
	return CLI_FAILED;
}

static int run_job(struct mix_job *job)
{
	struct mix_app *app[MIX_MAX_APPS];
	struct json_object *array = NULL;
	bool all = job->orders && !strcmp(job->orders, "all");
	int ret = CLI_OK;
	u32 i;

	for (i = 0; i < job->nr_apps; i++)
		app[i] = &job->app[i];
	if (all && job->nr_apps > MAX_PERMUTED) {
		cli_error("--orders: want at most %d applications for all orders",
			  MAX_PERMUTED);
		return CLI_USAGE;
	}
	if (job->orders && !all)
		ret = find_order(job, job->orders, app);
	if (!ret && job->output.file)
		ret = begin_profile(job, all);
	if (ret)
		return ret;
	if (job->json)
		array = json_object_new_array();
	ret = all ? run_orders(job, app, 0, array) : run_order(job, app, array);
	if (array && !ret)
		puts(json_object_to_json_string_ext(array,
						    JSON_C_TO_STRING_PRETTY));
	json_object_put(array);
	if (job->profile && !ret)
		ret = mix_profile_show(job);
	return ret;
}

static int cli_mix(int argc, char **argv)
{
	struct mix_job *job = calloc(1, sizeof(*job));
	int ret;

	if (!job) {
		cli_error("%s", strerror(ENOMEM));
		return CLI_FAILED;
	}
	ret = parse_args(job, argc, argv);
	if (!ret)
		ret = mix_file_read(job);
	if (!ret)
		ret = run_job(job);
	mix_profile_free(job->profile);
	mix_apps_free(job);
	free(job);
	return ret;
}

const struct cli_verb cli_verb_mix = {
	.name = "mix", .run = cli_mix, .group = CLI_GROUP_FIND,
	.usage = "--frames N [OPTION...] APPS",
	.summary = "run several applications with policies on one simulated machine",
	.help = "APPS is a file with a line for each: NAME [KEY=VALUE...] : TRACE, with the"
		" keys policy, privileged (frames), min, max, start and cpu (of an access);"
		" TRACE is a file or what hipec trace make takes. docs/user/sim.md says what"
		" happens when.",
	.options = options,
};
