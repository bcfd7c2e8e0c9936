// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec try --kernel: what a program reads, as the kernel's events tell it, through perf.
 * So static programs are seen, those that run already, and requests of io_uring and aio;
 * by root alone.
 *
 * Interface: try.h.
 */
#define _GNU_SOURCE	/* asprintf(), strdupa() */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "program.h"
#include "try.h"

#define EVENTS "/sys/kernel/tracing/events/filemap"
#define MOST_ARGS 32

/* Reads, touches that map pages, and the ends of calls, which say how much was read. */
static char *const record[] = {
	"perf", "record", "-q", "-m", "4M", "-e", "filemap:mm_filemap_get_pages",
	"-e", "filemap:mm_filemap_fault", "-e", "filemap:mm_filemap_map_pages",
	"-e", "syscalls:sys_exit_*read*", "-e", "syscalls:sys_exit_io_*",
	"-e", "syscalls:sys_exit_sendfile*", "-o",
};

static volatile sig_atomic_t perf;

static void hand_on(int sig)
{
	/* A terminal's Ctrl-C it has heard itself; a process that runs already has not ended. */
	kill(perf, sig == SIGINT ? 0 : sig);
}

static int start(char **argv, pid_t *child)
{
	const struct cli_program how = { 0 };
	int ret = cli_program_start(argv, &how, child);

	if (ret == CLI_NOT_FOUND)
		cli_error("perf is needed (Debian's package linux-perf)");
	return ret ? CLI_FAILED : CLI_OK;
}

/* Return: perf's status, which is the program's; or -1, said. */
static int run_record(const struct try *t, char *data)
{
	const struct sigaction on = { .sa_handler = hand_on, .sa_flags = SA_RESTART };
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	static char *const rest[] = { "sleep", "infinity" };
	size_t n = 0, nr = 0, i;
	char **argv;
	int status, ret;
	pid_t child;

	while (!t->pid && t->command[nr])
		nr++;
	argv = calloc(nr + MOST_ARGS, sizeof(*argv));
	if (!argv) {
		cli_error("%s", strerror(ENOMEM));
		return -1;
	}
	for (i = 0; i < ARRAY_SIZE(record); i++)
		argv[n++] = record[i];
	argv[n++] = data;
	if (t->pid) {
		argv[n++] = "-p";
		argv[n++] = t->pid;
	}
	argv[n++] = "--";
	if (t->pid) {
		argv[n++] = rest[0];
		argv[n++] = t->seconds ?: rest[1];
	}
	for (i = 0; i < nr; i++)
		argv[n++] = t->command[i];
	ret = start(argv, &child);
	free(argv);
	if (ret)
		return -1;
	perf = child;
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &on, NULL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return cli_program_status(status);
}

/* What perf prints of its records, as a trace. */
static int read_script(struct trace *trace, const char *name, const char *data)
{
	const struct trace_options options = { .form = TRACE_PERF };
	struct trace_error err = { 0 };
	char *command;
	FILE *in;
	int ret;

	/* The name is of mkstemp(). */
	if (asprintf(&command, "perf script --show-mmap-events --show-lost-events -i '%s' 2>/dev/null",
		     data) < 0) {
		cli_error("%s", strerror(ENOMEM));
		return CLI_FAILED;
	}
	in = popen(command, "r");
	free(command);
	ret = in ? trace_read(trace, name, in, &options, &err) : -errno;
	if (ret)
		cli_error("perf script: %s", *err.text ? err.text : strerror(-ret));
	if (in)
		pclose(in);
	return ret ? CLI_FAILED : CLI_OK;
}

static int keep_trace(const struct try *t, const char *data)
{
	char n[3][CLI_COUNT];
	struct trace trace = { 0 };
	int ret = read_script(&trace, t->trace, data);

	if (!ret && !trace.nr_accesses) {
		cli_error("the kernel told of no page that was read: O_DIRECT goes past its cache");
		ret = CLI_FAILED;
	}
	if (!ret) {
		trace_say_notes(&trace, "hipec try: ", stderr);
		ret = cli_trace_write(&trace, TRACE_ANY, t->trace);
	}
	if (!ret)
		cli_error("%s to %s of %s are in %s", cli_count(n[0], trace.nr_accesses, "access"),
			  cli_count(n[1], trace.nr_pages, "page"),
			  cli_count(n[2], trace.nr_regions, "file"), t->trace);
	if (!ret && trace.partial) {
		fprintf(t->out, "no verdict: %s\n", trace.partial);
		ret = CLI_FAILED;
	}
	trace_free(&trace);
	return ret;
}

static int check(const struct try *t)
{
	if (geteuid()) {
		cli_error("--kernel and --pid are for root, who may see the kernel's events");
		return CLI_FAILED;
	}
	if (!access(EVENTS, F_OK) && access(EVENTS "/mm_filemap_get_pages", F_OK)) {
		cli_error("this kernel does not tell which pages are read: Linux 6.12 does");
		return CLI_FAILED;
	}
	return cli_trace_check(t->trace);
}

/**
 * cli_try_kernel() - a trace of what the kernel tells of a program
 * @t: what is run, or the process that runs already
 *
 * Context: waits for the program, or for Ctrl-C.
 * Return: 0 or an exit code, said.
 */
int cli_try_kernel(const struct try *t)
{
	const char *dir = getenv("TMPDIR");
	char *data;
	int fd, status, ret = check(t);

	if (ret)
		return ret;
	if (asprintf(&data, "%s/hipec-perf-XXXXXX", dir && *dir ? dir : "/tmp") < 0)
		return CLI_FAILED;
	fd = strchr(data, '\'') ? -1 : mkstemp(data);
	if (fd < 0) {
		cli_error("%s: no room for what perf records", data);
		free(data);
		return CLI_FAILED;
	}
	close(fd);
	status = run_record(t, data);
	if (status > 0 && !t->pid)
		cli_error("%s ended with %d; what it did until then counts",
			  cli_clean(strdupa(t->command[0])), status);
	ret = status < 0 ? CLI_FAILED : keep_trace(t, data);
	unlink(data);
	free(data);
	return ret;
}
