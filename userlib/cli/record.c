// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec record: what happens in live containers, into a file.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "../lib/hipec.h"
#include "../record/record.h"

#define MAX_CONTAINERS 1024
#define LAST_PASSES 64	/* the largest ring, once */
#define LOOK_MS 10	/* between two looks for new containers */

struct recorder {
	const char *name;
	FILE *out;
	int device;
	u32 ring;
	bool all;		/* those that come as well */
	u64 seen;		/* id of the last one looked at */
	pid_t child;		/* 0: there is no command */
	int status;		/* of the command */
	struct pollfd fd[MAX_CONTAINERS];
	u64 id[MAX_CONTAINERS];
	bool ended[MAX_CONTAINERS];	/* a record of it; there may be another */
	u32 nr, nr_recorded;
	u64 bytes;
};

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

static bool add(struct recorder *r, u64 id)
{
	int fd;

	if (r->nr == MAX_CONTAINERS) {
		cli_error("container %llu: %d are recorded already",
			  (unsigned long long)id, MAX_CONTAINERS);
		return false;
	}
	fd = hipec_record(r->device, id, r->ring);
	if (fd < 0) {
		cli_error("container %llu: %s", (unsigned long long)id,
			  fd == -ESRCH ? "there is none, or it is not yours" :
			  fd == -EBUSY ? "it is being recorded already" :
			  fd == -EINVAL ? "--ring wants a power of two from 4k to 16M" :
			  cli_call_failed(fd));
		return false;
	}
	r->fd[r->nr] = (struct pollfd){ .fd = fd, .events = POLLIN };
	r->ended[r->nr] = false;
	r->id[r->nr++] = id;
	r->nr_recorded++;
	return true;
}

/* Record the containers that have come since the last look. */
static void look(struct recorder *r)
{
	struct hipec_status s;

	while (r->all && !hipec_next(r->device, r->seen, &s)) {
		r->seen = s.id;
		add(r, s.id);
	}
}

/* Bytes of one container. Return: whether there will be more. */
static bool drain(struct recorder *r, u32 i)
{
	static u8 buf[1 << 18];
	ssize_t n = read(r->fd[i].fd, buf, sizeof(buf));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n) {
		r->bytes += n;
		record_file_block(r->out, r->id[i], r->ended[i], buf, n);
		r->ended[i] = false;
		return true;
	}
	/* Behind the record of one policy there may be that of the next. */
	r->ended[i] = !r->ended[i];
	return r->ended[i];
}

/* Wait for bytes, and take them. Return: whether there were any. */
static bool take(struct recorder *r, int timeout)
{
	bool any = false;
	u32 i;

	if (poll(r->fd, r->nr, timeout) <= 0)
		return false;
	for (i = 0; i < r->nr; i++) {
		if (!r->fd[i].revents)
			continue;
		any = true;
		if (drain(r, i))
			continue;
		close(r->fd[i].fd);
		r->nr--;
		r->fd[i] = r->fd[r->nr];
		r->id[i] = r->id[r->nr];
		r->ended[i] = r->ended[r->nr];
		i--;
	}
	return any;
}

static bool child_runs(struct recorder *r)
{
	if (r->child && waitpid(r->child, &r->status, WNOHANG) == r->child)
		r->child = 0;
	return r->child;
}

static u64 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

/* Until the time is over, the command has ended or there is nothing more to come. */
static void run(struct recorder *r, double seconds)
{
	u64 begun = now_ms();
	bool command = r->child;
	u32 passes;

	while (!stopped && !ferror(r->out)) {
		look(r);
		if (command ? !child_runs(r) : !r->all && !r->nr)
			break;
		if (seconds && now_ms() - begun >= seconds * 1000)
			break;
		take(r, r->all || seconds ? LOOK_MS : -1);
		fflush(r->out);
	}
	/* What the rings hold; a busy container would go on and on. */
	for (passes = 0; passes < LAST_PASSES && take(r, 0); passes++)
		;
}

static pid_t start(char **argv)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	execvp(argv[0], argv);
	cli_error("%s: %s", argv[0], strerror(errno));
	_exit(127);
}

/* The ids of the command line, or what there is. */
static int choose(struct recorder *r, int argc, char **argv, bool command)
{
	struct hipec_status s;
	char *end;
	int i;

	if (command)	/* not those that are there already */
		while (!hipec_next(r->device, r->seen, &s))
			r->seen = s.id;
	if (command || r->all) {
		r->all = true;
		return CLI_OK;
	}
	for (i = 0; i < argc; i++) {
		u64 id = strtoull(argv[i], &end, 10);

		if (!id || *end) {
			cli_error("want a container's number, as in 'hipec status', not '%s'",
				  argv[i]);
			return CLI_USAGE;
		}
		if (!add(r, id))
			return CLI_FAILED;
	}
	return CLI_OK;
}

static int record(struct recorder *r, int argc, char **argv, bool command,
		  double seconds)
{
	struct sigaction action = { .sa_handler = stop };
	char bytes[CLI_COUNT], containers[CLI_COUNT];
	int ret;

	r->device = hipec_open();
	if (r->device < 0)
		return cli_open_failed(r->device);
	r->out = fopen(r->name, "wb");
	if (!r->out) {
		cli_error("%s: %s", r->name, strerror(errno));
		return CLI_FAILED;
	}
	record_file_begin(r->out);
	ret = choose(r, argc, argv, command);
	if (ret)
		return ret;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (command)
		r->child = start(argv);
	run(r, seconds);
	if (r->child)
		kill(r->child, SIGTERM);
	if (fclose(r->out)) {
		cli_error("%s: %s", r->name, strerror(errno));
		return CLI_FAILED;
	}
	cli_error("%s: %s of %s", r->name, cli_count(bytes, r->bytes, "byte"),
		  cli_count(containers, r->nr_recorded, "container"));
	if (!r->nr_recorded)
		cli_error("there was no container to record");
	return r->nr_recorded ? CLI_OK : CLI_FAILED;
}

/* Bytes, with k or M. Return: 0 if it is no number. */
static u32 parse_ring(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end == 'k' || *end == 'K')
		n <<= 10, end++;
	else if (*end == 'm' || *end == 'M')
		n <<= 20, end++;
	return *end || n > HIPEC_RECORD_MAX_RING ? 0 : n;
}

static const struct option_row options[] = {
	{ 'o', "output", "FILE", .help = "hipec.record" },
	{ 's', "seconds", "N", .help = "at most so long" },
	{ 'a', "all", NULL, .help = "all containers that the caller may see" },
	{ 'r', "ring", "BYTES",
	  .help = "kept for each container until they are written, a power of two from 4k to"
		  " 16M; 1M. What does not fit is lost, and the record says so" },
	{ 0 },
};

static int cli_record(int argc, char **argv)
{
	static struct recorder r = { .name = "hipec.record" };
	double seconds = 0;
	bool command;
	char *end;
	int c;

	while ((c = cli_option(argc, argv, options, "+")) != -1) {
		switch (c) {
		case 'o':
			r.name = optarg;
			break;
		case 's':
			seconds = strtod(optarg, &end);
			if (*end || !(seconds > 0)) {
				cli_error("--seconds wants a number above 0, not '%s'",
					  optarg);
				return CLI_USAGE;
			}
			break;
		case 'r':
			r.ring = parse_ring(optarg);
			if (!r.ring) {
				cli_error("--ring wants a power of two from 4k to 16M, not '%s'",
					  optarg);
				return CLI_USAGE;
			}
			break;
		case 'a':
			r.all = true;
			break;
		default:
			return CLI_USAGE;
		}
	}
	command = optind > 1 && optind < argc && !strcmp(argv[optind - 1], "--");
	if (command ? r.all : r.all == (optind < argc)) {
		cli_error("want containers' numbers, or --all, or -- COMMAND");
		return CLI_USAGE;
	}
	return record(&r, argc - optind, argv + optind, command, seconds);
}

const struct cli_verb cli_verb_record = {
	.name = "record", .run = cli_record, .group = CLI_GROUP_WATCH,
	.usage = "[OPTION...] ID...|--all|-- COMMAND",
	.summary = "write what happens in live containers to a file",
	.help = "Records containers by their number in 'hipec status', all of them and those"
		" that come, or those that come while a command runs; until they end, the"
		" command ends, or Ctrl-C. docs/user/operations.md says what is in the file; --check"
		" proves it, 'hipec sim' takes it as a trace.",
	.options = options,
};
