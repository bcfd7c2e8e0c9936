// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec trace -- COMMAND: runs a program as it is, with a library loaded into it
 * that notes its file accesses, and makes a trace of them when it has ended, and
 * all that it started.
 */
#define _GNU_SOURCE	/* asprintf(), strdupa() */
#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cli.h"
#include "../program.h"
#include "trace.h"
#include "../../../module/context/hash.h"
#include "../../trace/chanin.h"

#define LIBRARY "libhipectrace.so"
#define MAP_PAGES 64
#define MIN_MAP_PAGES 32	/* one instruction may touch so many */

struct options {
	const char *out;
	enum trace_form to;
	u32 depth;
	u32 map_pages;
	bool frames;
	struct cli_keep keep;
};

static volatile sig_atomic_t interrupted;

static void note_signal(int sig)
{
	interrupted = sig;
}

static int parse_count(const char *option, const char *text, u32 least, u32 most,
		       u32 *n)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || value < least ||
	    value > most) {
		cli_error("%s: want a number from %u to %u, not '%s'", option,
			  least, most, cli_clean(strdupa(text)));
		return CLI_USAGE;
	}
	*n = value;
	return CLI_OK;
}

static int set_stack(struct options *o, const char *text)
{
	o->frames = !strcmp(text, "frames");
	if (o->frames || !strcmp(text, "tables"))
		return CLI_OK;
	cli_error("--stack: want tables or frames, not '%s'",
		  cli_clean(strdupa(text)));
	return CLI_USAGE;
}

static int parse(struct options *o, int argc, char **argv)
{
	int opt, ret = CLI_OK;

	while (!ret && (opt = cli_option(argc, argv, cli_trace_options, "+p")) != -1) {
		if (opt == 'o')
			o->out = optarg;
		else if (opt == OPT_TO)
			ret = cli_trace_form("--to", optarg, true, &o->to);
		else if (opt == OPT_DEPTH)
			ret = parse_count("--depth", optarg, 0,
					  CONTEXT_MAX_DEPTH, &o->depth);
		else if (opt == OPT_STACK)
			ret = set_stack(o, optarg);
		else if (opt == OPT_ONLY)
			ret = cli_trace_only(&o->keep, optarg);
		else if (opt == OPT_MIN_PAGES)
			ret = cli_trace_min_pages(&o->keep, optarg);
		else if (opt == OPT_ALL)
			o->keep.keep.leave_own = false;
		else if (opt == OPT_MMAP && optarg)
			ret = parse_count("--mmap", optarg, MIN_MAP_PAGES,
					  1 << 14, &o->map_pages);
		else if (opt == OPT_MMAP)
			o->map_pages = MAP_PAGES;
		else
			ret = CLI_USAGE;
	}
	if (!ret && optind == argc) {
		cli_error("want a program to run");
		ret = CLI_USAGE;
	}
	return ret;
}

/*
 * A terminal's Ctrl-C is for the program; we wait for it. When it has ended, what it
 * left behind may be left behind.
 */
static int wait_for(pid_t child)
{
	int status = 0, its = 0;
	bool ended = false;
	pid_t pid;

	for (;;) {
		pid = wait(&status);
		if (pid == child) {
			its = status;
			ended = true;
		}
		if (pid < 0 && errno == ECHILD)
			break;
		if (interrupted && ended)
			break;
		if (interrupted == SIGTERM) {
			interrupted = 0;
			kill(child, SIGTERM);
		}
	}
	return cli_program_status(its);
}

static void say_silent(const char *name, struct tracechan_found *found)
{
	(void)found;
	cli_error("nothing was seen of %s: %s", name, cli_program_why_plain(name) ?:
		  "it may be static or setuid, or not allowed to open its records");
}

static void say_untraced(const struct options *o, const struct tracechan_found *found)
{
	char memory[CLI_COUNT], files[CLI_COUNT];

	cli_error("%s of %s were mapped, and touches of them not %s",
		  cli_memory(memory, found->untraced_bytes),
		  cli_count(files, found->untraced_files, "file"),
		  o->map_pages ? "all traced: more than 1024 maps at a time, or moved or protected by the program" :
		  "traced: --mmap does that");
}

static char *default_name(const char *program)
{
	const char *slash = strrchr(program, '/');
	char *name;

	return asprintf(&name, "%s.trace", slash ? slash + 1 : program) < 0 ?
	       NULL : name;
}

/* Requests of other ways to read: there are no records of them, or no pages. */
static void say_async(const struct tracechan_found *found)
{
	char memory[CLI_COUNT];

	if (found->nr_uring || found->rings)
		cli_error("%s requests by io_uring were not traced", found->nr_uring ?
			  CLI_NUMBER(found->nr_uring) : "the");
	if (found->nr_aio)
		cli_error("%s requests by aio were not traced", CLI_NUMBER(found->nr_aio));
	if (found->direct_bytes)
		cli_error("%s were read or written by O_DIRECT, past the page cache",
			  cli_memory(memory, found->direct_bytes));
}

static void note_found(struct cli_taken *taken, const struct tracechan_found *found,
		       const struct trace *t)
{
	taken->lost = found->no_room || found->nr_lost > t->nr_accesses / 100;
	taken->nr_uring = found->nr_uring;
	taken->nr_aio = found->nr_aio;
	taken->rings = found->rings;
	taken->direct_pages = found->direct_bytes >> 12;
	taken->nr_silent = found->nr_silent;
	taken->untraced_pages = found->untraced_bytes >> 12;
}

static void say_lost(const struct tracechan_found *found, const char *path)
{
	unsigned long long n = found->nr_lost;

	if (found->no_room)
		cli_error("%llu records are missing: there was no room for them in %s, or no more than ulimit -f allows; TMPDIR names another folder",
			  n, dirname(strdupa(path)));
	else
		cli_error("%llu records are missing: a program was killed as it wrote them, or could not write",
			  n);
}

/* What came is written, whatever became of the program. */
static int finish(struct options *o, struct tracechan *c, pid_t child,
		  const char *program, struct cli_taken *taken)
{
	struct tracechan_found found = {
		.process = child, .program = program, .silent = say_silent,
	};
	struct trace t = { .name = program };
	char *name = o->out ? strdup(o->out) : default_name(program);
	char n[3][CLI_COUNT];
	struct trace_error err;
	int ret = name ? trace_chan_read(c, &t, &found, &err) : -ENOMEM;

	if (ret) {
		cli_error("%s", ret == -EINVAL ? err.text : strerror(-ret));
		ret = CLI_FAILED;
		goto out;
	}
	note_found(taken, &found, &t);
	taken->no_stdio = c->head->no_stdio;
	say_async(&found);
	if (found.nr_lost)
		say_lost(&found, c->path);
	if (found.untraced_files)
		say_untraced(o, &found);
	if (c->head->no_stdio)
		cli_error("streams (stdio) were not seen: this C library has them in another way");
	if (!t.nr_accesses) {
		cli_error(found.no_room ? "so there is no trace" :
					  "no file was read or written, so there is no trace");
		ret = found.no_room ? CLI_FAILED : CLI_OK;
		goto out;
	}
	ret = cli_trace_keep(&t, &o->keep) ?: cli_trace_write(&t, o->to, name);
	taken->accesses = t.nr_accesses;
	taken->left_accesses = o->keep.left;
	taken->pages = t.nr_pages;
	if (!ret)
		cli_error("%s to %s of %s are in %s", cli_count(n[0], t.nr_accesses, "access"),
			  cli_count(n[1], t.nr_pages, "page"),
			  cli_count(n[2], t.nr_regions, "file"), name);
out:
	trace_free(&t);
	free(name);
	return ret;
}

static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	const struct sigaction note = { .sa_handler = note_signal };
	struct sigaction old;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++)
		if (!sigaction(signals[i], NULL, &old) &&
		    old.sa_handler != SIG_IGN)
			sigaction(signals[i], &note, NULL);
}

/* Whether the trace can be written, before the program runs. */
static int check_output(const struct options *o, const char *program)
{
	char *name = o->out ? strdup(o->out) : default_name(program);
	int ret = name ? cli_trace_check(name) : CLI_FAILED;

	free(name);
	return ret;
}

/**
 * cli_trace_take() - take a program's trace
 * @argc:  with the verb
 * @argv:  [OPTION...] -- COMMAND [ARGUMENT...]
 * @taken: filled: what became of it
 *
 * Context: any; waits for children, and is their reaper from then on.
 * Return: 0 if the program ran; 127 or 126 if it cannot be run; or an exit code, said.
 */
int cli_trace_take(int argc, char **argv, struct cli_taken *taken)
{
	struct options o = { .depth = CONTEXT_DEPTH, .keep.keep.leave_own = true };
	const char *dir = getenv("TMPDIR");
	struct cli_program how = { .name = TRACECHAN_ENV };
	struct tracechan c;
	char *library;
	pid_t child;
	int ret = parse(&o, argc, argv);

	*taken = (struct cli_taken){ 0 };
	ret = ret ?: check_output(&o, argv[optind]);
	if (ret)
		return ret;
	library = cli_program_library(LIBRARY);
	if (!library)
		return CLI_FAILED;
	dir = dir && *dir ? dir : "/tmp";
	ret = trace_chan_make(&c, dir);
	if (ret) {
		cli_error("cannot keep records in %s: %s", dir, strerror(-ret));
		ret = CLI_FAILED;
		goto out;
	}
	c.head->depth = o.depth;
	c.head->frames = o.frames;
	c.head->map_pages = o.map_pages;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	catch_signals();
	how.library = library;
	how.value = c.path;
	ret = cli_program_start(argv + optind, &how, &child);
	if (!ret) {
		taken->ran = true;
		taken->status = wait_for(child);
		taken->failed = finish(&o, &c, child, argv[optind], taken);
	}
out:
	trace_chan_free(&c);
	free(library);
	return ret;
}

/**
 * cli_trace_program() - hipec trace [OPTION...] -- COMMAND [ARGUMENT...]
 * @argc: with the verb
 * @argv: likewise
 *
 * Exits with the program's status, or 128 and the number of the signal that ended it.
 *
 * Context: any; waits for children.
 * Return: 127 or 126 if it cannot be run; or an exit code, said.
 */
int cli_trace_program(int argc, char **argv)
{
	struct cli_taken taken;
	int ret = cli_trace_take(argc, argv, &taken);

	if (!ret)	/* it means nothing to our caller */
		exit(taken.status ?: (taken.failed ? CLI_FAILED : CLI_OK));
	return ret;
}
