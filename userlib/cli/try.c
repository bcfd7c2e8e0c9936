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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "../job/input.h"
#include "program.h"
#include "sim/sim.h"
#include "try.h"

#define MOST_COMMAND (1u << 16)	/* bytes of a command that runs already */

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
	const char *folder = *base == '-' ? "." : "", *other = getenv("TMPDIR");
	const char *slash;
	char *name;
	u32 i;

	if (access(".", W_OK)) {
		folder = other && *other ? other : "/tmp";
		cli_error("nothing can be written here: the trace goes to %s", folder);
	}
	slash = *folder ? "/" : "";
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
	{ LONG('k'), "kernel", NULL,
	  .help = "take what the kernel tells, through perf: of static programs, io_uring and"
		  " aio; for root" },
	{ LONG('P'), "pid", "PID",
	  .help = "the same, of a process that runs already, until Ctrl-C or --seconds" },
	{ LONG('s'), "seconds", "N", .help = "of --pid: how long" },
	CLI_INPUT_OPTIONS,
	{ 0 },
};

static bool is_number(const char *text)
{
	return *text >= '1' && *text <= '9' && !text[strspn(text, "0123456789")] &&
	       strlen(text) < 10;
}

/* What options say of the kernel's events. */
static int set_kernel(struct try *t, int opt, char *arg)
{
	t->kernel = true;
	if (opt != 'k' && !is_number(arg)) {
		cli_error("--%s: want a number, not '%s'", opt == 'P' ? "pid" : "seconds",
			  cli_clean(strdupa(arg)));
		return CLI_USAGE;
	}
	if (opt == 'P')
		t->pid = arg;
	else if (opt == 's')
		t->seconds = arg;
	return CLI_OK;
}

/* The words that a process was started with; none are left of a zombie, or of the kernel's. */
static int read_command(struct try *t)
{
	char path[32], *c;
	size_t n = 0, nr = 0;
	FILE *in;

	t->words = calloc(1, MOST_COMMAND + 1);
	snprintf(path, sizeof(path), "/proc/%s/cmdline", t->pid);
	in = fopen(path, "re");
	if (in && t->words)
		n = fread(t->words, 1, MOST_COMMAND, in);
	if (in)
		fclose(in);
	t->command = n ? calloc(n + 1, sizeof(*t->command)) : NULL;
	if (!t->command) {
		cli_error("there is no process %s that runs a program", t->pid);
		return CLI_FAILED;
	}
	for (c = t->words; c < t->words + n; c += strlen(c) + 1)
		t->command[nr++] = c;
	return CLI_OK;
}

static int parse_options(struct try *t, int argc, char **argv, const char **out)
{
	int opt, ret = CLI_OK;

	while (!ret && (opt = cli_option(argc, argv, options, "+")) != -1)
		if (opt >= CLI_INPUT_FROM)
			ret = cli_input_set(opt, optarg) ? CLI_USAGE : CLI_OK;
		else if (opt == 'f')
			t->frames = optarg;
		else if (opt == 'p')
			t->policies = optarg;
		else if (opt == 'o')
			*out = optarg;
		else if (opt == 'M')
			t->no_maps = true;
		else if (opt == 'k' || opt == 'P' || opt == 's')
			ret = set_kernel(t, opt, optarg);
		else if (opt == '?')
			ret = CLI_USAGE;
		else if (!keep_option(t, opt == 'y' ? "only" : opt == 'n' ? "min-pages" : "all",
				      opt == 'a' ? NULL : optarg))
			ret = CLI_FAILED;
	return ret;
}

/* Whether what is asked for fits together. @what: a program, a trace, or NULL. */
static int check_options(const struct try *t, const char *what, bool more, bool program,
			 const char *out)
{
	if (t->pid && what)
		cli_error("want --pid, or a program or a trace");
	else if (!t->pid && !what)
		cli_error("want -- and a program to run, or its trace");
	else if (!program && more)
		cli_error("want one trace, or -- before a program and its arguments");
	else if (!t->pid && !program && (out || t->no_maps || t->nr_keep || t->kernel))
		cli_error("--output, --no-mmap, --kernel and what says which files matter are for programs: '%s' is a trace",
			  cli_clean(strdupa(what)));
	else if (t->seconds && !t->pid)
		cli_error("--seconds is of --pid");
	else if (t->kernel && (t->no_maps || t->nr_keep))
		cli_error("--no-mmap and what says which files matter have no meaning for the kernel's events, which have no names");
	else
		return CLI_OK;
	return CLI_USAGE;
}

/* A trace is written, and then read. */
static int check_file(const char *name)
{
	struct stat st;

	if (strcmp(name, "-") && (stat(name, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return CLI_OK;
	cli_error("--output: want a file, which is read again, not '%s'", cli_clean(strdupa(name)));
	return CLI_USAGE;
}

static int parse(struct try *t, int argc, char **argv)
{
	const char *out = NULL, *what;
	bool program;
	int ret = parse_options(t, argc, argv, &out);

	if (ret)
		return ret;
	what = optind < argc ? argv[optind] : NULL;
	program = what && optind > 1 && !strcmp(argv[optind - 1], "--");
	ret = check_options(t, what, optind + 1 < argc, program, out) ?:
	      (out ? check_file(out) : CLI_OK);
	if (!ret && t->pid)
		ret = read_command(t);
	if (ret)
		return ret;
	t->out = program || t->pid ? stderr : stdout;
	if (program)
		t->command = argv + optind;
	if (out || !t->command)
		t->trace = strdup(out ?: what);
	else
		t->trace = new_name(*t->command);
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
	if (taken->direct_pages > taken->accesses / 2)
		return "most of it is read or written by O_DIRECT, past the page cache, where no policy sees it";
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
	why = missing(&t->taken);
	if (why) {
		fprintf(t->out, "no verdict: %s\n", why);
		if (t->taken.nr_uring || t->taken.rings || t->taken.nr_aio)
			cli_try_say_kernel(t);
		else if (t->taken.nr_silent)
			cli_try_say_strace(t);
		return CLI_FAILED;
	}
	if (t->taken.failed)
		return CLI_FAILED;
	if (t->taken.accesses)
		return CLI_OK;
	cli_error("no accesses were seen, so there is nothing to try (docs/user/traces.md)");
	return CLI_FAILED;
}

/* What --policy auto would come to, with the trace and the memory of a cell. */
static int run_auto(const struct sim_job *of, const struct sim_cell *cell,
		    struct cli_try_auto *found)
{
	static char policy[] = "auto", mode[] = "exact";
	struct sim_job job = { .trace = of->trace, .nr_traces = of->nr_traces };
	struct sim_rows rows;
	char frames[32];
	int ret;

	snprintf(frames, sizeof(frames), "%u", cell->row->frames);
	ret = sim_args_set(&job, 'p', policy) ?: sim_args_set(&job, 'm', mode) ?:
	      sim_args_set(&job, 'f', frames) ?: sim_args_fill(&job) ?:
	      sim_job_open(&job, NULL, 0);
	if (!ret) {
		ret = sim_rows_make(&job, &rows) ?: sim_rows_run(&job, &rows);
		found->reads = rows.row->r.read_misses;
		snprintf(found->policy, sizeof(found->policy), "%s",
			 job.team[rows.row->league.runs].name);
		sim_rows_free(&rows);
	}
	job.trace = NULL;
	job.nr_traces = 0;
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
	struct cli_try_auto found = { .reads = UINT64_MAX };
	int ret = verdict == SIM_VERDICT_GAIN ? run_auto(job, cell, &found) : CLI_OK;

	if (ret)
		return ret;
	cli_try_say(t, job, rows, &found);
	return code[verdict];
}

/* What is to be run; @name: the trace's, or NULL: none yet. */
static int open_job(struct sim_job *job, const struct try *t, char *policies, char *frames,
		    const char *name)
{
	static char mode[] = "exact";	/* as auto is told of accesses in place */

	*job = (struct sim_job){ .least = SIM_LEAST_GAIN, .verdict = true, .by_reads = true };
	return sim_args_set(job, 'p', policies) ?: sim_args_set(job, 'm', mode) ?:
	       (t->frames ? sim_args_set(job, 'f', frames) : CLI_OK) ?: sim_args_fill(job) ?:
	       sim_job_open(job, (char **)&name, !!name);
}

#define POLICIES(t) ((t)->policies ?: CLI_TRY_OVER "," SIM_LEAGUE ",opt")	/* those of auto */

/* Whether all of it is there, before a program runs. */
static int check_job(const struct try *t)
{
	char *policies = strdupa(POLICIES(t)), *frames = strdupa(t->frames ?: "");
	struct sim_job job;
	int ret = open_job(&job, t, policies, frames, NULL);

	sim_job_close(&job);
	return ret;
}

static int simulate(const struct try *t)
{
	char *policies = strdupa(POLICIES(t)), *frames = strdupa(t->frames ?: "");
	char sizes[CLI_TRY_SIZES];
	struct sim_rows rows;
	struct sim_job job;
	int ret = open_job(&job, t, policies, frames, t->trace);

	if (!ret && job.trace[0].partial) {
		fprintf(t->out, "no verdict: %s\n", job.trace[0].partial);
		ret = CLI_FAILED;
	}
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
		ret = check_job(&t) ?: (t.kernel ? cli_try_kernel(&t) : take_trace(&t));
	ret = ret ?: simulate(&t);
	if (t.words)
		free(t.command);
	free(t.words);
	free(t.trace);
	while (t.nr_keep)
		free(t.keep[--t.nr_keep]);
	free(t.keep);
	return ret;
}

const struct cli_verb cli_verb_try = {
	.name = "try", .run = cli_try, .group = CLI_GROUP_FIND,
	.usage = "[OPTION...] TRACE|--pid PID|-- PROGRAM...",
	.summary = "say whether a policy is worth it for a program, and what to run next",
	.help = "Takes the program's trace, or reads one, runs the policies of --policy auto"
		" on it at a few sizes of memory, beside lru, which is about what"
		" operating systems do, and the optimum. Needs neither root nor the module,"
		" but for --kernel and --pid."
		" docs/user/first-steps.md has an example. A program may ignore its policy:"
		" hipec run says which accesses it acts on.",
	.options = options,
	.end = "Exit codes: 0 worth it; 3 not with these policies, one could; 4 none could; 1"
	       " failed, 2 usage, 126 and 127 as of hipec run.",
};
