// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec trace play: a list of reads and writes on a real file or disk, timed again and
 * again until its time is known well enough.
 */
#define _GNU_SOURCE	/* strdupa() */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "../job/input.h"
#include "../say/json.h"
#include "../play/play.h"

struct options {
	u32 batch, pages, rounds, told;
	double within;
	bool read_only, dry_run, json;
};

static int parse_count(const char *option, const char *text, u32 least, u32 most,
		       u32 *n)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text >= '0' && *text <= '9' && !*end && value >= least &&
	    value <= most) {
		*n = value;
		return CLI_OK;
	}
	cli_error("%s: want a number from %u to %u, not '%s'", option, least, most,
		  cli_clean(strdupa(text)));
	return CLI_USAGE;
}

static int parse_percent(const char *text, double *percent)
{
	char *end;

	*percent = strtod(text, &end);
	if (*text >= '0' && *text <= '9' && !*end && *percent > 0 &&
	    *percent <= 100)
		return CLI_OK;
	cli_error("--within: want a percentage above 0, up to 100, not '%s'",
		  cli_clean(strdupa(text)));
	return CLI_USAGE;
}

static int set_option(struct options *o, int opt, const char *arg)
{
	int ret = cli_input_set(opt, arg);

	if (ret >= 0)
		return ret;
	switch (opt) {
	case 'b':
		return parse_count("--batch", arg, 1, PLAY_MAX_BATCH, &o->batch);
	case 'p':
		return parse_count("--pages", arg, 1, PLAY_MAX_REQUEST, &o->pages);
	case 'r':
		return parse_count("--rounds", arg, 1, PLAY_MAX_ROUNDS, &o->rounds);
	case 'w':
		return parse_percent(arg, &o->within);
	case 'O':
		o->told++;
		return CLI_OK;
	case 'R':
		o->read_only = true;
		return CLI_OK;
	case 'n':
		o->dry_run = true;
		return CLI_OK;
	case 'j':
		o->json = true;
		return CLI_OK;
	}
	return CLI_USAGE;
}

static const struct option_row options[] = {
	{ LONG('O'), "overwrite", NULL,
	  .help = "the list's writes may destroy what is there; where there is a file system,"
		  " or the kernel uses the disk, say it twice" },
	{ LONG('R'), "read-only", NULL, .help = "read what the list writes" },
	{ LONG('b'), "batch", "N", .help = "requests under way at a time; 32" },
	{ LONG('p'), "pages", "N",
	  .help = "pages of a request, where they follow each other; 1" },
	{ LONG('w'), "within", "P",
	  .help = "percent of the mean that half of its 95 % interval may be, for the rounds to"
		  " end; 2" },
	{ LONG('r'), "rounds", "N", .help = "at most; 30" },
	{ 'n', "dry-run", NULL, .help = "all but the reads and writes" },
	CLI_INPUT_OPTIONS,
	{ 'j', "json", NULL, .help = "an object with all there is, for programs" },
	{ 0 },
};

static int parse(struct options *o, int argc, char **argv)
{
	int opt, ret = CLI_OK;

	while (!ret && (opt = cli_option(argc, argv, options, "")) != -1)
		ret = set_option(o, opt, optarg);
	if (!ret && argc - optind != 2) {
		cli_error("want a list and what to play it on");
		ret = CLI_USAGE;
	}
	return ret;
}

static int say(int ret, const char *target, const struct play_error *err)
{
	if (ret == -EINVAL)
		cli_error("%s", err->text);
	else
		cli_error("%s: %s", target, strerror(-ret));
	return CLI_FAILED;
}

static int play(const struct options *o, const struct play_plan *plan, int fd,
		const char *target, struct play_times *times)
{
	struct play_error err;
	bool stable = false;
	int ret;

	while (!stable && times->nr < o->rounds) {
		ret = play_round(plan, fd, &times->second[times->nr], &err);
		if (ret)
			return say(ret, target, &err);
		times->nr++;
		stable = play_stable(times, o->within);
	}
	return CLI_OK;
}

static void print(const struct options *o, const char *list, const char *target,
		  const struct play_plan *plan, const struct play_times *times)
{
	printf("%s on %s: %s pages read, %s written, in %s requests, %s batches of up to %u\n",
	       list, target, CLI_NUMBER(plan->read_pages), CLI_NUMBER(plan->written_pages),
	       CLI_NUMBER(plan->nr), CLI_NUMBER((plan->nr + plan->batch - 1) / plan->batch),
	       plan->batch);
	if (o->dry_run) {
		printf("nothing was done: up to %u rounds, until the mean is within %g %%\n",
		       o->rounds, o->within);
		return;
	}
	printf("%.6f s in the mean of %u rounds", times->mean, times->nr);
	if (isfinite(times->within))
		printf(", within %.2g %%", times->within);
	printf("; lowest %.6f s\n", times->lowest);
	if (!(times->within <= o->within))
		printf("not stable: the mean is not known within %g %%; more --rounds, or a quieter machine\n",
		       o->within);
}

static void print_json(const struct options *o, const char *list,
		       const char *target, const struct play_plan *plan,
		       const struct play_times *times)
{
	struct json_object *all = json_object_new_object();
	struct json_object *seconds = json_object_new_array();
	u32 i;

	cli_json_text(all, "list", list);
	cli_json_text(all, "target", target);
	json_object_object_add(all, "dry_run", json_object_new_boolean(o->dry_run));
	cli_json_number(all, "requests", plan->nr);
	cli_json_number(all, "batches", (plan->nr + plan->batch - 1) / plan->batch);
	cli_json_number(all, "batch", plan->batch);
	cli_json_number(all, "read_pages", plan->read_pages);
	cli_json_number(all, "written_pages", plan->written_pages);
	cli_json_number(all, "end_bytes", plan->end * TRACE_PAGE_BYTES);
	for (i = 0; i < times->nr; i++)
		json_object_array_add(seconds,
				      json_object_new_double(times->second[i]));
	json_object_object_add(all, "seconds", seconds);
	cli_json_real(all, "mean", times->nr, times->mean);
	cli_json_real(all, "lowest", times->nr, times->lowest);
	cli_json_real(all, "within_percent", isfinite(times->within), times->within);
	json_object_object_add(all, "stable", json_object_new_boolean(
				       times->nr && times->within <= o->within));
	puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY));
	json_object_put(all);
}

static int play_list(const struct options *o, const struct trace *t,
		     const char *target)
{
	static struct play_times times = { .within = INFINITY };
	struct play_plan plan = { .batch = o->batch };
	struct play_error err;
	int ret = play_plan(&plan, t, o->pages, o->read_only), fd = -1;

	if (!ret)
		ret = fd = play_open(&plan, target, o->told, &err);
	if (ret < 0)
		ret = say(ret, target, &err);
	else
		ret = o->dry_run ? CLI_OK : play(o, &plan, fd, target, &times);
	if (!ret && o->json)
		print_json(o, t->name, target, &plan, &times);
	else if (!ret)
		print(o, t->name, target, &plan, &times);
	if (fd >= 0)
		close(fd);
	play_plan_free(&plan);
	return ret;
}

static int cli_play(int argc, char **argv)
{
	struct options o = { .batch = 32, .pages = 1, .rounds = 30, .within = 2 };
	struct trace t = { 0 };
	int ret = parse(&o, argc, argv);

	if (ret)
		return ret;
	ret = cli_trace_open(&t, argv[optind]);
	if (!ret)
		ret = play_list(&o, &t, argv[optind + 1]);
	trace_free(&t);
	return ret;
}

const struct cli_verb cli_verb_play = {
	.name = "play", .of = "trace", .was = "play", .run = cli_play,
	.usage = "[OPTION...] LIST DISK",
	.summary = "time a list of reads and writes on a real file or disk",
	.help = "LIST is what hipec sim --post-cache wrote, or any trace; page N is byte 4096 N"
		" of DISK, which may be a file. docs/user/traces.md says what is measured, and"
		" how.",
	.options = options,
};
