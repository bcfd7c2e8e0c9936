// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec try: whether a policy is worth it for a program, and what to run next. It
 * takes the program's trace, runs the policies that are fit for production on it at
 * a few sizes of memory, and says what came of it. Neither root nor the module.
 */
#define _GNU_SOURCE	/* asprintf(), strdupa() */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "input.h"
#include "program.h"
#include "try.h"

/* Hand an option on to hipec trace, as one word. */
static bool keep_option(struct try *t, const char *name, const char *value)
{
	char **more = reallocarray(t->keep, t->nr_keep + 1, sizeof(*more));

	if (more)
		t->keep = more;
	if (!more || asprintf(&more[t->nr_keep], value ? "--%s=%s" : "--%s", name, value) < 0) {
		cli_error("%s", strerror(ENOMEM));
		return false;
	}
	t->nr_keep++;
	return true;
}

/*
 * The name of a trace that is not there yet: PROGRAM.trace, PROGRAM.2.trace and so on; in
 * a folder for temporary files, where nothing can be written here. NULL: no memory.
 */
static char *new_name(const char *program)
{
	const char *base = strrchr(program, '/') ? strrchr(program, '/') + 1 : program;
	const char *folder = "", *slash = "", *other = getenv("TMPDIR");
	char *name;
	u32 i;

	if (access(".", W_OK)) {
		folder = other && *other ? other : "/tmp";
		slash = "/";
		cli_error("nothing can be written here: the trace goes to %s", folder);
	}
	if (asprintf(&name, "%s%s%s.trace", folder, slash, base) < 0)
		return NULL;
	for (i = 2; !access(name, F_OK); i++) {
		free(name);
		if (asprintf(&name, "%s%s%s.%u.trace", folder, slash, base, i) < 0)
			return NULL;
	}
	return name;
}

static const struct option_row options[] = {
	{ 'f', "frames", "LIST",
	  .help = "sizes of memory, as of hipec sim: 64M, 4096, 10%; without it about a tenth to"
		  " three quarters of the pages that are accessed" },
	{ 'p', "policy", "LIST", .help = "these policies, as of hipec sim" },
	{ 'o', "output", "FILE", .help = "the trace; without it PROGRAM.trace" },
	{ LONG('M'), "no-mmap", NULL,
	  .help = "leave out mapped files: for a program that fails with them" },
	{ LONG('y'), "only", "GLOB", .help = NULL },
	{ LONG('n'), "min-pages", "N", .help = NULL },
	{ LONG('a'), "all", NULL, .help = "which files matter, as of hipec trace" },
	CLI_INPUT_OPTIONS,
	{ 0 },
};

static int parse(struct try *t, int argc, char **argv)
{
	const char *out = NULL;
	bool program;
	int opt;

	while ((opt = cli_option(argc, argv, options, "+")) != -1)
		if (opt >= CLI_INPUT_FROM) {
			if (cli_input_set(opt, optarg))
				return CLI_USAGE;
		} else if (opt == 'f')
			t->frames = optarg;
		else if (opt == 'p')
			t->policies = optarg;
		else if (opt == 'o')
			out = optarg;
		else if (opt == 'M')
			t->no_maps = true;
		else if (opt == '?')
			return CLI_USAGE;
		else if (!keep_option(t, opt == 'y' ? "only" : opt == 'n' ? "min-pages" : "all",
				      opt == 'a' ? NULL : optarg))
			return CLI_FAILED;
	program = optind > 1 && !strcmp(argv[optind - 1], "--");
	if (optind == argc) {
		cli_error("want -- and a program to run, or its trace");
		return CLI_USAGE;
	}
	t->out = program ? stderr : stdout;
	if (program)
		t->command = argv + optind;
	else if (optind + 1 != argc) {
		cli_error("want one trace, or -- before a program and its arguments");
		return CLI_USAGE;
	} else if (out || t->no_maps || t->nr_keep) {
		cli_error("--output, --no-mmap and what says which files matter are for programs: '%s' is a trace",
			  cli_clean(strdupa(argv[optind])));
		return CLI_USAGE;
	}
	if (!program || out)
		t->trace = strdup(program ? out : argv[optind]);
	else
		t->trace = new_name(argv[optind]);
	if (t->trace)
		return CLI_OK;
	cli_error("%s", strerror(ENOMEM));
	return CLI_FAILED;
}

/* hipec trace, in the child; what became of it goes into the pipe. */
static void trace_and_exit(const struct try *t, int to)
{
	char **argv;
	size_t nr = 0, n = 0, i;
	struct cli_taken taken;
	int ret = CLI_FAILED;

	while (t->command[nr])
		nr++;
	argv = calloc(nr + t->nr_keep + 6, sizeof(*argv));
	if (argv) {
		argv[n++] = "trace";
		argv[n++] = "-o";
		argv[n++] = t->trace;
		if (!t->no_maps)
			argv[n++] = "--mmap";
		for (i = 0; i < t->nr_keep; i++)
			argv[n++] = t->keep[i];
		argv[n++] = "--";
		memcpy(argv + n, t->command, nr * sizeof(*argv));
		optind = 1;
		ret = cli_trace_take(n + nr, argv, &taken);
		free(argv);
	}
	if (!ret && write(to, &taken, sizeof(taken)) != sizeof(taken))
		ret = CLI_FAILED;
	exit(ret);
}

static volatile sig_atomic_t tracer;

/* The tracer hands it to the program, and writes the trace; Ctrl-C it has heard itself. */
static void hand_on(int sig)
{
	if (sig == SIGTERM || sig == SIGHUP)
		kill(tracer, sig);
}

static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	const struct sigaction on = { .sa_handler = hand_on, .sa_flags = SA_RESTART };
	struct sigaction old;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &on, NULL);
}

/* hipec trace, in a process of its own: it waits for all that the program starts. */
static int run_tracer(struct try *t)
{
	int pipes[2], status;
	ssize_t n;

	if (pipe(pipes)) {
		cli_error("%s", strerror(errno));
		return CLI_FAILED;
	}
	tracer = fork();
	if (!tracer) {
		close(pipes[0]);
		fcntl(pipes[1], F_SETFD, FD_CLOEXEC);
		trace_and_exit(t, pipes[1]);
	}
	catch_signals();
	close(pipes[1]);
	n = tracer < 0 ? 0 : read(pipes[0], &t->taken, sizeof(t->taken));
	close(pipes[0]);
	while (tracer > 0 && waitpid(tracer, &status, 0) < 0 && errno == EINTR)
		;
	if (n == sizeof(t->taken))
		return CLI_OK;
	return tracer > 0 && WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) :
									CLI_FAILED;
}

/* What of the program's reads is known not to be in the trace; NULL: nothing. */
static const char *missing(const struct cli_taken *taken)
{
	if (taken->nr_uring || taken->rings)
		return "what it read by io_uring is not in the trace";
	if (taken->nr_aio)
		return "what it read by aio is not in the trace";
	if (taken->nr_silent)
		return "what that program read is not in the trace";
	if (taken->lost)
		return "records are missing";
	if (taken->no_stdio)
		return "streams (stdio) are not in the trace";
	if (taken->untraced_pages > taken->pages)
		return "more was mapped without being traced than is in the trace";
	return NULL;
}

static int take_trace(struct try *t)
{
	const char *why;
	int ret = run_tracer(t);

	if (ret)
		return ret;		/* said */
	if (t->taken.status)
		cli_error("%s ended with %d; what it did until then counts",
			  cli_clean(strdupa(t->command[0])), t->taken.status);
	if (t->taken.failed)
		return CLI_FAILED;
	why = missing(&t->taken);
	if (why) {
		fprintf(t->out, "no verdict: %s\n", why);
		if (t->taken.nr_silent)
			cli_try_say_strace(t);
		return CLI_FAILED;
	}
	if (t->taken.accesses)
		return CLI_OK;
	cli_error("no accesses were seen, so there is nothing to try (docs/user/traces.md)");
	return CLI_FAILED;
}

/* What --policy auto would come to, with the memory of a cell. */
static int run_auto(const struct try *t, const struct sim_cell *cell, struct cli_try_auto *found)
{
	static char policy[] = "auto", mode[] = "exact";
	struct sim_job job = { 0 };
	struct sim_rows rows;
	char frames[32];
	int ret;

	snprintf(frames, sizeof(frames), "%u", cell->row->frames);
	ret = sim_args_set(&job, 'p', policy) ?: sim_args_set(&job, 'm', mode) ?:
	      sim_args_set(&job, 'f', frames) ?: sim_args_fill(&job) ?:
	      sim_job_open(&job, (char **)&t->trace, 1);
	if (!ret) {
		ret = sim_rows_make(&job, &rows) ?: sim_rows_run(&job, &rows);
		found->faults = rows.row->r.faults;
		snprintf(found->policy, sizeof(found->policy), "%s",
			 job.team[rows.row->league.runs].name);
		sim_rows_free(&rows);
	}
	sim_job_close(&job);
	return ret;
}

/* What the rows say, and what is to be run next. */
static int judge(const struct try *t, const struct sim_job *job, const struct sim_rows *rows)
{
	static const int code[] = {
		[SIM_VERDICT_UNKNOWN] = CLI_NO_GAIN_POSSIBLE,
		[SIM_VERDICT_NONE] = CLI_NO_GAIN_POSSIBLE,
		[SIM_VERDICT_ROOM] = CLI_NO_GAIN,
		[SIM_VERDICT_GAIN] = CLI_OK,
	};
	const struct sim_cell *cell = cli_try_best(job, rows);
	enum sim_verdict verdict = cell ? sim_verdict(job, cell) : SIM_VERDICT_UNKNOWN;
	struct cli_try_auto found = { .faults = UINT64_MAX };
	int ret = verdict == SIM_VERDICT_GAIN ? run_auto(t, cell, &found) : CLI_OK;

	if (ret)
		return ret;
	cli_try_say(t, job, rows, &found);
	return code[verdict];
}

static int simulate(const struct try *t)
{
	/* Those of auto, whose accesses it is told in place, as in exact mode. */
	static char usual[] = CLI_TRY_OVER "," SIM_LEAGUE ",opt";
	static char mode[] = "exact";
	struct sim_job job = { .least = SIM_LEAST_GAIN, .verdict = true };
	char sizes[CLI_TRY_SIZES];
	struct sim_rows rows;
	int ret;

	ret = sim_args_set(&job, 'p', t->policies ? strdupa(t->policies) : usual) ?:
	      sim_args_set(&job, 'm', mode) ?:
	      (t->frames ? sim_args_set(&job, 'f', t->frames) : CLI_OK) ?: sim_args_fill(&job) ?:
	      sim_job_open(&job, (char **)&t->trace, 1);
	if (!ret && cli_try_is_small(t, &job.trace[0]))
		ret = CLI_NO_GAIN_POSSIBLE;	/* said */
	if (!ret && !t->frames) {
		job.nr_sizes = 0;	/* what the trace has decides */
		ret = sim_args_set(&job, 'f', cli_try_sizes(&job.trace[0], sizes));
	}
	if (!ret) {
		ret = sim_rows_make(&job, &rows) ?: sim_rows_run(&job, &rows) ?:
		      judge(t, &job, &rows);
		sim_rows_free(&rows);
	}
	sim_job_close(&job);
	return ret;
}

static int cli_try(int argc, char **argv)
{
	struct try t = { 0 };
	int ret = parse(&t, argc, argv);

	if (!ret && t.command)
		ret = take_trace(&t);
	ret = ret ?: simulate(&t);
	free(t.trace);
	while (t.nr_keep)
		free(t.keep[--t.nr_keep]);
	free(t.keep);
	return ret;
}

const struct cli_verb cli_verb_try = {
	.name = "try", .run = cli_try, .group = CLI_GROUP_FIND,
	.usage = "[OPTION...] TRACE|-- PROGRAM...",
	.summary = "say whether a policy is worth it for a program, and what to run next",
	.help = "Takes the program's trace, or reads one, runs the policies of --policy auto"
		" on it at a few sizes of memory, beside lru, which is about what"
		" operating systems do, and the optimum. Needs neither root nor the module."
		" docs/user/first-steps.md has an example. A program may ignore its policy:"
		" hipec run says which accesses it acts on.",
	.options = options,
	.end = "Exit codes: 0 worth it; 3 not with these policies, one could; 4 none could; 1"
	       " failed, 2 usage, 126 and 127 as of hipec run.",
};
