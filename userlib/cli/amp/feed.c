// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec amp feed: the loop of loop.h, for a program that has loaded its policy
 * itself. The policy's arrays are mapped from a descriptor of the container, which is
 * taken from the process that loaded it.
 *
 * Interface: amp.h.
 */
#define _GNU_SOURCE	/* asprintf(), strdupa() */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"
#include "../cli.h"
#include "amp.h"
#include "../../lib/hipec.h"
#include "../../sim/feed.h"

#define REST_MS 5	/* from one look at samples to the next */
#define LOOK_MS 1000	/* from one look whether anybody is left to the next */

struct feeding {
	/* As the user said. */
	unsigned long long number;
	const char *policy;
	char *hints;
	bool no_hints;
	double seconds;		/* 0: until it ends */

	int own;		/* of ours, to ask with */
	int process;		/* pidfd of the one that loaded the container */
	int device;		/* the container */
	struct hipec_status status;	/* as it was found */
	struct policy with;
	struct amp_loop loop;
};

/* The container with the number asked for, or the one that this process loaded. */
static int find_container(struct feeding *f)
{
	struct hipec_status s = { 0 };
	int ret, found = 0;

	while (!(ret = hipec_next(f->own, s.id, &s))) {
		if (s.id == f->number) {
			f->status = s;
			return CLI_OK;
		}
		if (s.pid > 0 && (unsigned long long)s.pid == f->number) {
			f->status = s;
			found++;
		}
	}
	if (ret != -ENOENT)
		cli_error(HIPEC_DEVICE ": %s", strerror(-ret));
	else if (found > 1)
		cli_error("process %llu has loaded %d containers; name one by its ID in hipec status",
			  f->number, found);
	else if (!found)
		cli_error("no container has the number %llu, nor was one loaded by such a process, of those that you may see; hipec status lists them",
			  f->number);
	return ret == -ENOENT && found == 1 ? CLI_OK : CLI_FAILED;
}

/* Whether the container's policy shares an array of @nr elements. */
static bool has_array(const struct feeding *f, const char *name, uint32_t nr)
{
	struct hipec_operand o;
	uint32_t slot;

	for (slot = 0; !hipec_operand(f->own, f->status.id, slot, &o); slot++)
		if (o.operand_flags & HIPEC_OPERAND_SHARED && o.nr >= nr &&
		    !strncmp(o.name, name, sizeof(o.name)))
			return true;
	return false;
}

static int check_arrays(const struct feeding *f)
{
	char missing[256] = "";
	size_t n = 0;

#define X(field, name, nr) \
	if (!has_array(f, name, nr)) \
		n += snprintf(missing + n, sizeof(missing) - n, "%s%s[%d]", \
			      n ? ", " : "", name, (int)(nr));
	AMP_ARRAYS(X)
#undef X
	if (!n)
		return CLI_OK;
	cli_error("container %llu: its policy '%s' does not declare shared Int %s; only one that does can be fed, as amp (docs/user/amp.md)",
		  (unsigned long long)f->status.id, f->status.policy, missing);
	return CLI_FAILED;
}

/* Whether an operand of the container is what the policy at hand declares. */
static bool same_operand(const struct hipec_policy *p, uint32_t slot,
			 const struct hipec_operand *o)
{
	const struct hipec_image_operand *d = &p->operand[slot];

	return d->type == o->type && d->flags == o->operand_flags &&
	       !strncmp(hipec_image_policy_name(p, d->name), o->name,
			sizeof(o->name) - 1) &&
	       (d->type != HIPEC_TYPE_INTS || d->value == o->nr);
}

/*
 * What is on trial is to be what runs: the same operands, with the parameters that
 * they have now.
 */
static bool match_policy(struct feeding *f)
{
	struct hipec_policy *p = &f->with.policy;
	struct hipec_operand o;
	uint32_t slot;

	for (slot = 0; p->image && slot < p->image->nr_operands; slot++) {
		if (hipec_operand(f->own, f->status.id, slot, &o) ||
		    !same_operand(p, slot, &o))
			return false;
		if (o.operand_flags & HIPEC_OPERAND_PARAM)
			hipec_image_set_param(f->with.image,
					      p->image->image_size, o.name,
					      o.value);
	}
	return p->image && hipec_operand(f->own, f->status.id, slot, &o);
}

static int open_policy(struct feeding *f)
{
	const char *name = f->policy ?: f->status.policy;
	struct hipec_text why;
	char line[512];

	hipec_text_init(&why, line, sizeof(line));
	if (policy_load(&f->with, name, &why)) {
		cli_error("%s%s", cli_clean(line), f->policy ? "" :
			  "; name what the container's policy was loaded from with --policy");
		return CLI_FAILED;
	}
	if (match_policy(f))
		return CLI_OK;
	cli_error("%s is not what container %llu runs: its operands differ; name what that was loaded from with --policy",
		  cli_clean(strdupa(name)), (unsigned long long)f->status.id);
	return CLI_FAILED;
}

/* A descriptor of the process, if it is one of the container. Return: as take_device(). */
static int look_at(const struct feeding *f, int dir, const char *name,
		   const struct stat *own)
{
	struct hipec_status s;
	struct stat st;
	int fd;

	/* By device number: in another root it has another name. */
	if (fstatat(dir, name, &st, 0))
		return errno == EACCES || errno == EPERM ? -errno : -ENOENT;
	if ((st.st_mode & S_IFMT) != (own->st_mode & S_IFMT) ||
	    st.st_rdev != own->st_rdev)
		return -ENOENT;
	fd = syscall(SYS_pidfd_getfd, f->process, atoi(name), 0);
	if (fd < 0)	/* it may be closed by now */
		return errno == EBADF ? -ENOENT : -errno;
	if (!hipec_status(fd, &s) && s.id == f->status.id)
		return fd;
	close(fd);
	return -ENOENT;
}

/*
 * A descriptor of the container, from the process that loaded it. Return: ours;
 * -ENOENT: that has none; -EPERM or -EACCES: we may not; or another error.
 */
static int take_device(const struct feeding *f)
{
	char path[64];
	struct dirent *e;
	struct stat own;
	int ret = -ENOENT;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", f->status.pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	if (fstat(f->own, &own))
		ret = -errno;
	while (ret == -ENOENT && (e = readdir(dir)))
		if (*e->d_name != '.')
			ret = look_at(f, dirfd(dir), e->d_name, &own);
	closedir(dir);
	return ret;
}

static int open_device(struct feeding *f)
{
	int pid = f->status.pid, ret;

	f->process = pid > 0 ? syscall(SYS_pidfd_open, pid, 0) : -1;
	if (f->process < 0 && (pid <= 0 || errno == ESRCH)) {
		cli_error("container %llu: the process that loaded it has ended, or is not to be seen from here; nobody else has what is needed to feed it",
			  (unsigned long long)f->status.id);
		return CLI_FAILED;
	}
	ret = f->process < 0 ? -errno : take_device(f);
	if (ret >= 0) {
		f->device = ret;
		return CLI_OK;
	}
	if (ret == -ENOENT)
		cli_error("process %d has closed its descriptor of container %llu, from which the arrays are mapped; have it keep that open, or run it under hipec run",
			  pid, (unsigned long long)f->status.id);
	else if (ret == -EPERM || ret == -EACCES)
		cli_error("process %d: not permitted to take its descriptor of container %llu; run this as root, or as the same user where ptrace is allowed (kernel.yama.ptrace_scope=0)",
			  pid, (unsigned long long)f->status.id);
	else
		cli_error("process %d: %s", pid, strerror(-ret));
	return CLI_FAILED;
}

static int attach(struct feeding *f)
{
	struct amp_state hints;
	char exe[32];
	int ret;

	snprintf(exe, sizeof(exe), "/proc/%d/exe", f->status.pid);
	if (!f->hints && !f->no_hints) {
		f->hints = amp_hints_name(exe);
		if (!f->hints)
			cli_error("process %d: its program is gone, or there is no home; hints are left out, but for --hints FILE",
				  f->status.pid);
	}
	amp_hints_read(f->hints, &hints);
	ret = amp_loop_attach(&f->loop, f->device, &f->with.policy,
			      f->status.limit, &hints);
	amp_state_free(&hints);
	if (!ret)
		return CLI_OK;
	cli_error("container %llu: %s", (unsigned long long)f->status.id,
		  ret == -EBUSY ? "it is being fed already; hipec run does that for its program itself" :
		  cli_call_failed(ret));
	return CLI_FAILED;
}

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

/*
 * Our descriptor and our maps keep the container alive, so nobody tells us that it
 * would have ended: who has regions uses it, and who has loaded it may make some.
 */
static bool is_wanted(const struct feeding *f)
{
	struct hipec_status s;
	int fd;

	if (hipec_status(f->device, &s) || s.regions)
		return true;
	fd = take_device(f);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* What there is. Return: false: that was all. */
static bool serve(struct feeding *f)
{
	int ret = amp_loop_serve(&f->loop);

	if (ret < 0)
		cli_error("samples: %s; the policy is fed no more",
			  strerror(-ret));
	return !ret;
}

/* Until the container ends, a signal comes, or the time is over. */
static void run(struct feeding *f, int signals)
{
	struct pollfd fds[] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = f->process, .events = POLLIN },
		{ .fd = f->device, .events = POLLIN },	/* the policy has ended */
		{ .fd = -1, .events = POLLIN },
	};
	long long end = now_ms() + (long long)(f->seconds * 1000);
	long long look = now_ms() + LOOK_MS, rest = 0, now, until;

	while (!fds[0].revents && !fds[2].revents) {
		now = now_ms();
		if (f->seconds && now >= end)
			break;
		if (now >= look || fds[1].revents) {
			if (!is_wanted(f))
				break;
			look = now + LOOK_MS;
		}
		if (fds[1].revents)
			fds[1].fd = -1;		/* it is said once */
		fds[3].fd = now >= rest ? f->loop.fd : -1;
		until = now < rest ? rest : look;
		if (f->seconds && end < until)
			until = end;
		poll(fds, ARRAY_SIZE(fds), until > now ? until - now : 0);
		if (fds[3].fd >= 0 && fds[3].revents) {
			if (!serve(f))
				return;
			rest = now_ms() + REST_MS;
		}
	}
	serve(f);
}

static void report(const struct feeding *f)
{
	unsigned int nr = 0, i;

	for (i = 1; f->loop.trial.used && i <= AMP_LOOPS; i++)
		nr += f->loop.to.size[i] != 0;
	printf("container %llu: %s samples, %s lost; fed %s times; %u loop%s a partition of %s own\n",
	       (unsigned long long)f->status.id,
	       CLI_NUMBER(f->loop.samples), CLI_NUMBER(f->loop.lost),
	       CLI_NUMBER(f->loop.feeds), nr, nr == 1 ? " has" : "s have",
	       nr == 1 ? "its" : "their");
}

/* Signals that end it, through a descriptor. Return: it, or -errno. */
static int take_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static int feed(struct feeding *f)
{
	int signals, ret;

	ret = find_container(f);
	cli_clean(f->status.policy);
	cli_clean(f->status.comm);
	ret = ret ?: check_arrays(f) ?: open_policy(f) ?: open_device(f) ?:
	      attach(f);
	if (ret)
		return ret;
	signals = take_signals();
	if (signals < 0) {
		cli_error("%s", strerror(-signals));
		return CLI_FAILED;
	}
	printf("container %llu: process %d (%s) is fed\n",
	       (unsigned long long)f->status.id, f->status.pid,
	       f->status.comm);
	fflush(stdout);
	run(f, signals);
	close(signals);
	report(f);
	return amp_hints_keep(f->hints, &f->loop) ? CLI_FAILED : CLI_OK;
}

static int set_option(struct feeding *f, int opt)
{
	char *end;

	switch (opt) {
	case 'h':
		free(f->hints);
		f->hints = strdup(optarg);
		return f->hints ? CLI_OK : CLI_FAILED;
	case 'n':
		f->no_hints = true;
		return CLI_OK;
	case 'p':
		f->policy = optarg;
		return CLI_OK;
	case 's':
		f->seconds = strtod(optarg, &end);
		if (*optarg && !*end && f->seconds > 0 && f->seconds < 1e9)
			return CLI_OK;
		cli_error("--seconds wants a number above 0, not '%s'",
			  cli_clean(strdupa(optarg)));
		return CLI_USAGE;
	}
	return CLI_USAGE;
}

static int parse(struct feeding *f, int argc, char **argv)
{
	const char *number;
	char *end;
	int opt, ret = CLI_OK;

	while (!ret && (opt = cli_option(argc, argv, amp_options, "f")) != -1)
		ret = set_option(f, opt);
	if (ret)
		return ret;
	if (f->hints && f->no_hints) {
		cli_error("want --hints FILE or --no-hints, not both");
		return CLI_USAGE;
	}
	if (argc - optind != 1) {
		cli_error("want one container: its ID in hipec status, or the PID that loaded it");
		return CLI_USAGE;
	}
	number = argv[optind];
	f->number = strtoull(number, &end, 10);
	if (*number >= '1' && *number <= '9' && !*end && f->number < 1ull << 63)
		return CLI_OK;
	cli_error("want a container's ID or a PID, a number above 0, not '%s'",
		  cli_clean(strdupa(number)));
	return CLI_USAGE;
}

static int cli_amp_feed(int argc, char **argv)
{
	struct feeding f = { .own = -1, .process = -1, .device = -1,
			     .loop = { .fd = -1 } };
	int ret = parse(&f, argc, argv);

	if (!ret) {
		f.own = hipec_open();
		ret = f.own < 0 ? cli_open_failed(f.own) : feed(&f);
	}
	amp_loop_close(&f.loop);
	policy_close(&f.with);
	if (f.device >= 0)
		close(f.device);
	if (f.process >= 0)
		close(f.process);
	if (f.own >= 0)
		close(f.own);
	free(f.hints);
	return ret;
}

const struct cli_verb cli_verb_feed = {
	.name = "feed", .of = "amp", .run = cli_amp_feed,
	.usage = "[OPTION...] ID|PID",
	.summary = "find patterns in a live container, and tell its policy",
};
