// SPDX-License-Identifier: GPL-2.0-only
/*
 * The arguments of hipec sim. What they leave open is filled in here.
 */
#define _GNU_SOURCE	/* CPU_COUNT() */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "../cli.h"
#include "../../job/input.h"
#include "sim.h"

#define MAX_THREADS 256

/* Cut @list at its commas; each part is handed to @add. 0 or an exit code. */
static int for_each_part(char *list, struct sim_job *job,
			 int (*add)(struct sim_job *job, char *part))
{
	char *part;
	int ret = 0;

	while (!ret && (part = strsep(&list, ",")))
		ret = add(job, part);
	return ret;
}

/* Room for one more behind @nr things of @size bytes, or NULL, said. */
static void *one_more(void *old, size_t nr, size_t size)
{
	void *more = reallocarray(old, nr + 1, size);

	if (!more)
		cli_error("%s", strerror(ENOMEM));
	return more;
}

static int add_policy(struct sim_job *job, char *name)
{
	struct policy *more = one_more(job->policy, job->nr_policies,
				       sizeof(*more));

	if (!more)
		return CLI_FAILED;
	job->policy = more;
	job->policy[job->nr_policies++] = (struct policy){ .name = name };
	return CLI_OK;
}

/* Have the policy among the rows. */
static int need_policy(struct sim_job *job, const char *name)
{
	size_t i;

	for (i = 0; i < job->nr_policies; i++)
		if (!strcmp(job->policy[i].name, name))
			return CLI_OK;
	return add_policy(job, (char *)name);
}

static int add_size(struct sim_job *job, struct sim_size size)
{
	struct sim_size *more = one_more(job->size, job->nr_sizes,
					 sizeof(*more));

	if (!more)
		return CLI_FAILED;
	job->size = more;
	job->size[job->nr_sizes++] = size;
	return CLI_OK;
}

static int add_frames(struct sim_job *job, char *part)
{
	struct sim_size size;

	if (sim_size_parse(part, &size))
		return add_size(job, size);
	return sim_size_refuse("--frames", part, SIM_MAX_FRAMES,
			       "frames (4096, 4k), memory (64M, 8G, 512KiB) or a part of the pages (25%)");
}

static int add_column(struct sim_job *job, char *name)
{
	enum sim_column column = 0;
	size_t i;

	if (!strcmp(name, "all")) {
		for (i = 0; i < SIM_NR_COLUMNS; i++)
			job->column[i] = i;
		job->nr_columns = SIM_NR_COLUMNS;
		return CLI_OK;
	}
	if (!sim_column_find(name, &column)) {
		const char *near = sim_column_nearest(name);

		if (near)
			cli_error("--columns: there is no '%s'; did you mean '%s'?",
				  cli_clean(name), near);
		else
			cli_error("--columns: there is no '%s'; docs/user/sim.md lists them",
				  cli_clean(name));
		return CLI_USAGE;
	}
	if (job->nr_columns == SIM_NR_COLUMNS) {
		cli_error("--columns: want %u at most", SIM_NR_COLUMNS);
		return CLI_USAGE;
	}
	job->column[job->nr_columns++] = column;
	return CLI_OK;
}

/* @salt: NULL for a fixed one, so that a run can be repeated. */
static int set_contract(struct sim_job *job, char *salt)
{
	char *end = "";
	u64 n = 0;

	if (salt && (!sim_leading_number(salt, &n, &end) || *end ||
		     n > UINT32_MAX)) {
		cli_error("--contract: want a number from 0 to %u, not '%s'",
			  UINT32_MAX, cli_clean(salt));
		return CLI_USAGE;
	}
	job->contract = true;
	job->salt = n;
	return CLI_OK;
}

/* @percent: NULL for what it is anyway. */
static int set_verdict(struct sim_job *job, char *percent)
{
	char *end;

	job->verdict = true;
	if (!percent)
		return CLI_OK;
	job->least = strtod(percent, &end);
	if (*percent >= '0' && *percent <= '9' && !*end && job->least <= 100)
		return CLI_OK;
	cli_error("--verdict: want a percentage from 0 to 100, not '%s'",
		  cli_clean(percent));
	return CLI_USAGE;
}

static int set_over(struct sim_job *job, char *name)
{
	job->over = name;
	if (strcmp(name, "opt") && strcmp(name, "opt-reads"))
		return CLI_OK;
	cli_error("--over: want a policy that can be had, not '%s'", name);
	return CLI_USAGE;
}

static int set_warm_up(struct sim_job *job, char *text)
{
	char *end;
	u64 n;

	if (sim_leading_number(text, &n, &end) && (!*end || !strcmp(end, "%")) &&
	    n <= (*end ? 99 : SIM_MAX_ACCESSES)) {
		job->warm_up = (struct sim_size){ *end ? n * SIM_PERCENT : n, *end };
		return CLI_OK;
	}
	cli_error("--warm-up: want accesses (100000) or a part of them (25%%), not '%s'",
		  cli_clean(text));
	return CLI_USAGE;
}

static int set_jobs(struct sim_job *job, char *text)
{
	char *end;
	u64 n;

	if (sim_leading_number(text, &n, &end) && !*end && n && n <= MAX_THREADS) {
		job->nr_threads = n;
		return CLI_OK;
	}
	cli_error("--jobs: want a number from 1 to %u, not '%s'", MAX_THREADS,
		  cli_clean(text));
	return CLI_USAGE;
}

/**
 * sim_args_set() - an option that jobs have
 * @job: job
 * @opt: its letter, as in sim_args_parse()
 * @arg: its argument, or NULL; is cut apart, must outlive @job
 *
 * Return: 0 or an exit code, said.
 */
int sim_args_set(struct sim_job *job, int opt, char *arg)
{
	int ret = cli_input_set(opt, arg);

	if (ret >= 0)
		return ret;
	switch (opt) {
	case 'p':
		return for_each_part(arg, job, add_policy);
	case 'a':
		return policy_param_add(&job->params, arg);
	case 'f':
		return for_each_part(arg, job, add_frames);
	case 'm':
		job->mode = option_word(SIM_MODE_WORDS, arg);
		return CLI_OK;
	case 'c':
		return set_contract(job, arg);
	case 'C':	/* "id=1" is of traces */
		return strchr(arg, '=') ? cli_input_set(CLI_INPUT_COLUMNS, arg) :
					  for_each_part(arg, job, add_column);
	case 'v':
		return set_verdict(job, arg);
	case 'o':
		return set_over(job, arg);
	case 'J':
		return set_jobs(job, arg);
	case 'd':
		sim_feed_set_detector(job, arg);
		return CLI_OK;
	case 'e':
		return sim_feed_set_every(job, cli_clean(arg));
	case 'U':
		job->feed.unguarded = true;
		return CLI_OK;
	case 'H':
		job->feed.file = arg;
		return CLI_OK;
	case 'P':
		job->post_name = arg;
		return CLI_OK;
	case 'W':
		return set_warm_up(job, arg);
	case 'S':
		return sim_sample_set(job, arg);
	case 'K':
		job->curve = true;
		return CLI_OK;
	case 'n':
		job->native = true;
		return CLI_OK;
	case 'A':
		job->among = arg;
		return CLI_OK;
	case 'w':
		job->whole_writes = true;
		return CLI_OK;
	case 'j':
		job->json = true;
		return CLI_OK;
	}
	return CLI_USAGE;
}

/* Processors that this process may use. */
static u32 nr_processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return CPU_COUNT(&set) < MAX_THREADS ? CPU_COUNT(&set) : MAX_THREADS;
}

/**
 * sim_args_fill() - what nobody said
 * @job: job; its least is set
 *
 * Return: 0 or an exit code, said.
 */
int sim_args_fill(struct sim_job *job)
{
	static char policies[] = "lru,fifo,clock,opt", sizes[] = "25%,50%";
	static char usual[] = "policy,frames,faults,hits,read-hits,read,written,commands,state";
	static char sample[] = "policy,frames,faults,hits,error,sample,commands,state";
	static char contract[] = "policy,frames,faults,default,estimate,worst,contract";
	static char rate[] = "1/64";
	static char curve[] = "1%,2%,3%,5%,7%,10%,15%,20%,25%,30%,35%,40%,45%,50%,55%,60%,70%,80%,90%,100%";
	int ret = CLI_OK;

	if (job->curve && !job->sample)
		ret = sim_sample_set(job, rate);
	if (!ret && !job->nr_policies)
		ret = for_each_part(policies, job, add_policy);
	if (!ret && !job->nr_sizes)
		ret = for_each_part(job->curve ? curve : sizes, job, add_frames);
	if (!ret && !job->nr_columns)
		ret = for_each_part(job->contract ? contract : job->sample ? sample : usual,
				    job, add_column);
	if (!ret && (job->verdict || job->over))
		ret = need_policy(job, job->over ?: "lru");
	if (!ret && job->verdict)
		ret = need_policy(job, "opt");
	if (!job->over)
		job->over = "lru";
	if (!job->nr_threads)
		job->nr_threads = nr_processors();
	return ret;
}

const struct option_row sim_options[] = {
	{ 'p', "policy", "LIST",
	  .help = "files (.hpo, or .hp, which ampc compiles), shipped policies (mru) or what is"
		  " built in: lru, fifo, clock, opt, which is the least that any policy can"
		  " reach, opt-reads, default; without it the first four of these; builtin:"
		  " what the module does without a policy" },
	{ LONG('A'), "among", "LIST",
	  .help = "policies of the league of --policy auto, --mode exact" },
	{ LONG('a'), "param", "NAME=VALUE",
	  .help = "of each policy that has such a param; repeatable" },
	{ 'f', "frames", "LIST",
	  .help = "frames of memory: 4096, 4k (1024 each); or as bytes 64M, 1G, 512KiB; or as a"
		  " part of the trace's pages, 10%; without it 25% and 50%" },
	{ 'm', "mode", SIM_MODE_WORDS,
	  .help = "mapped: a hit sets the page's bits, as hardware does (the default); exact:"
		  " it also runs Access" },
	{ LONG('w'), "whole-writes", NULL,
	  .help = "a write miss reads nothing: it fills its page" },
	{ LONG('n'), "native", NULL,
	  .help = "policies run as native code, which $CC or cc makes first" },
	{ 'v', "verdict", "[=PERCENT]",
	  .help = "exit with 0 if a policy has PERCENT (3) fewer faults than lru, 3 if none"
		  " has, 4 if none can; adds lru and opt" },
	{ LONG('o'), "over", "POLICY", .help = "the one to compare with in the place of lru" },
	{ LONG('W'), "warm-up", "N",
	  .help = "the first N accesses are not counted; 25%: of all" },
	{ 'c', "contract", "[=SALT]",
	  .help = "beside the default policy and a sample of it: whether revocation's"
		  " contract would end it, and when" },
	{ LONG('C'), "columns", "LIST",
	  .help = "of the table: docs/user/sim.md has them; all. With a '=' in it, of traces:"
		  " " CLI_INPUT_COLUMNS_HELP },
	{ CLI_INPUT_FROM, "from", "FORM", .help = CLI_INPUT_FROM_HELP },
	{ CLI_INPUT_OPS, "ops", "LIST", .help = CLI_INPUT_OPS_HELP },
	{ CLI_INPUT_FORMAT, "format", "LETTERS", .help = CLI_INPUT_FORMAT_HELP },
	{ LONG('S'), "sample", "1/64",
	  .help = "run one page of 64, or more if that is too few, and as small a part of the"
		  " frames; ERROR% says how far that is off" },
	{ LONG('K'), "curve", NULL,
	  .help = "misses by memory, with a picture: 20 sizes without --frames; lru in one pass,"
		  " others by --sample 1/64" },
	{ LONG('P'), "post-cache", "FILE",
	  .help = "write there what one policy with one number of frames reads and writes, a"
		  " trace; hipec trace play times it" },
	{ LONG('d'), "detector", SIM_DETECTOR_WORDS,
	  .help = "what finds the patterns of a policy that is fed, as amp; none: nothing does" },
	{ LONG('e'), "detect-every", "N", .help = "accesses from one feed to the next; 5000" },
	{ LONG('U'), "unguarded", NULL,
	  .help = "what is found is fed at once, whether it pays or not" },
	{ LONG('H'), "hints", "FILE",
	  .help = "patterns of the last run, if it is there; gets this one's" },
	{ 'J', "jobs", "N", .help = "at a time; without it as many as there are processors" },
	{ 'j', "json", NULL, .help = "an array with all there is, for programs" },
	{ 0 },
};

/**
 * sim_args_parse() - read the arguments
 * @job:  empty; filled but for its traces
 * @argc: with the verb
 * @argv: lists in it are cut apart; must outlive @job
 *
 * getopt's optind is then the first trace.
 *
 * Return: 0 or an exit code, said.
 */
int sim_args_parse(struct sim_job *job, int argc, char **argv)
{
	int opt, ret = CLI_OK;

	job->least = SIM_LEAST_GAIN;
	while (!ret && (opt = cli_option(argc, argv, sim_options, "")) != -1)
		ret = sim_args_set(job, opt, optarg);
	ret = ret ?: cli_operands(argc, argv, 1, argc, "a trace") ?: sim_args_fill(job);
	if (!ret && job->post_name &&
	    (job->nr_policies != 1 || job->nr_sizes != 1 || argc - optind != 1 ||
	     job->contract || job->warm_up.nr)) {
		cli_error("--post-cache: want one policy, one number of frames and one trace, and neither --contract nor --warm-up");
		ret = CLI_USAGE;
	}
	if (!ret && job->sample && (job->contract || job->post_name || job->feed.file)) {
		cli_error("%s: not with --contract, --post-cache or --hints, which want all accesses",
			  job->curve ? "--curve" : "--sample");
		ret = CLI_USAGE;
	}
	if (!ret && job->contract && job->warm_up.nr) {
		cli_error("--warm-up: not with --contract, which counts from the start");
		ret = CLI_USAGE;
	}
	return ret;
}
