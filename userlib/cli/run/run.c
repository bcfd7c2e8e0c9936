// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec run: arguments, the container, the program, and waiting for it. Without the
 * module the program runs all the same, unless --strict.
 */
#define _GNU_SOURCE	/* asprintf(), strdupa() */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../amp/loop.h"
#include "../cgroup.h"
#include "../cli.h"
#include "../league.h"
#include "../program.h"
#include "run.h"
#include "../../job/size.h"

enum { POLICY = 256, BUDGET, MAP, PARAM, SHARE, CONTRACT, STRICT, HINTS, NO_HINTS, AMONG,
       CURVE, EXPECT };

#define MAX_GLOBS 16384	/* bytes of them all, with a zero */

#define REST_MS 5	/* from one look at samples to the next */

static int add_glob(struct run *r, const char *glob)
{
	char *all;

	if (!*glob || strchr(glob, '\n') ||
	    strlen(r->globs ?: "") + strlen(glob) + 2 > MAX_GLOBS) {
		cli_error("--map: want a glob, of one line, and not too many of them");
		return CLI_USAGE;
	}
	if (asprintf(&all, "%s%s\n", r->globs ?: "", glob) < 0) {
		cli_error("%s", strerror(ENOMEM));
		return CLI_FAILED;
	}
	free(r->globs);
	r->globs = all;
	return CLI_OK;
}

static int set_budget(struct run *r, const char *text)
{
	struct sim_size size;
	char *own;

	if (!strcmp(text, "auto")) {
		own = cli_cgroup_own();
		r->budget = cli_cgroup_budget(own);
		free(own);
		return CLI_OK;
	}
	if (sim_size_parse_to(text, INT_MAX, &size) && !size.percent) {
		r->budget = size.nr;
		return CLI_OK;
	}
	return sim_size_refuse("--budget", strdupa(text), INT_MAX,
			       "memory (512M, 8G), pages (4096, 10k) or auto");
}

static int set_expected(struct run *r, const char *text)
{
	struct sim_size size;

	if (sim_size_parse_to(text, INT_MAX, &size) && !size.percent) {
		r->expected = size.nr;
		return CLI_OK;
	}
	return sim_size_refuse("--expect", strdupa(text), INT_MAX, "memory (512M, 8G) or pages (4096, 10k)");
}

static int set_option(struct run *r, int opt)
{
	switch (opt) {
	case 'p':
		r->policy = optarg;
		r->league = !strcmp(optarg, CLI_LEAGUE);
		return CLI_OK;
	case AMONG:
		r->among = optarg;
		return CLI_OK;
	case CURVE:
		r->curve = true;
		return CLI_OK;
	case 'b':
		return set_budget(r, optarg);
	case EXPECT:
		return set_expected(r, optarg);
	case 'm':
		return add_glob(r, optarg);
	case PARAM:
		return policy_param_add(&r->params, optarg);
	case SHARE:
		r->share = true;
		return CLI_OK;
	case CONTRACT:
		r->contract = true;
		return CLI_OK;
	case STRICT:
		r->strict = true;
		return CLI_OK;
	case HINTS:
		free(r->hints);
		r->hints = strdup(optarg);
		return r->hints ? CLI_OK : CLI_FAILED;
	case NO_HINTS:
		r->no_hints = true;
		return CLI_OK;
	case 'q':
		r->quiet = true;
		return CLI_OK;
	case 'j':
		r->json = true;
		return CLI_OK;
	case 'o':
		r->output = optarg;
		return CLI_OK;
	}
	return CLI_USAGE;
}

static const struct option_row options[] = {
	{ 'p', "policy", "NAME",
	  .help = "a policy: .hp, .hpo, the name of a shipped one, builtin, or auto: the one"
		  " that is found to miss least, while the program runs" },
	{ AMONG, "among", "NAME,...", .help = "policies that auto tries" },
	{ CURVE, "curve", NULL,
	  .help = "hear at the end, and by 'hipec status --curve', what the policy would have"
		  " missed with other budgets" },
	{ PARAM, "param", "NAME=VALUE", .help = "a parameter of it; repeatable" },
	{ 'b', "budget", "SIZE",
	  .help = "memory that all files share: 512M, 8G; pages: 4096, 10k; or auto: what our"
		  " cgroup's limit allows, half of the machine's" },
	{ EXPECT, "expect", "SIZE",
	  .help = "what hipec try says will be read: the summary says how much was" },
	{ 'm', "map", "GLOB",
	  .help = "files that count, by their whole name or its last part; repeatable. Without"
		  " it, all of 1 MB and more" },
	{ SHARE, "share", NULL,
	  .help = "pages of the pool that all who share divide, up to the budget, and no"
		  " locked memory" },
	{ CONTRACT, "contract", NULL,
	  .help = "revoke the policy if it reads far more than the default would; so it is"
		  " anyway in a share" },
	{ HINTS, "hints", "FILE",
	  .help = "what runs of the program have learnt, of a policy as amp; not the one in"
		  " ~/.local/state/hipec/amp. It is read and written" },
	{ NO_HINTS, "no-hints", NULL, .help = "neither" },
	{ STRICT, "strict", NULL,
	  .help = "fail where the module is missing or does not admit you; without it, files are"
		  " then cached as ever, and one line says so" },
	{ 'q', "quiet", NULL, .help = "do not tell at the end what was saved" },
	{ 'j', "json", NULL, .help = "tell it as an object, for programs" },
	{ 'o', "output", "FILE", .help = "tell it there, not on standard error" },
	{ 0 },
};

static int parse(struct run *r, int argc, char **argv)
{
	int opt, ret = CLI_OK;

	while (!ret && (opt = cli_option(argc, argv, options, "+")) != -1)
		ret = set_option(r, opt);
	if (!ret && (!r->policy || !r->budget)) {
		cli_error("want --policy and --budget");
		ret = CLI_USAGE;
	}
	if (!ret && optind == argc) {
		cli_error("want a program to run");
		ret = CLI_USAGE;
	}
	if (!ret && r->among && !r->league) {
		cli_error("--among: want --policy auto beside it");
		ret = CLI_USAGE;
	}
	return ret;
}

/* Why it is to run without a container; kept for the report. */
static void set_plain(struct run *r, const char *who, const char *why)
{
	if (asprintf(&r->plain, "%s%s%s", who, *who ? ": " : "", why) < 0)
		r->plain = NULL;
	cli_clean(r->plain ?: "");
}

static const char *why_closed(int err)
{
	if (err == -ENOENT || err == -ENXIO || err == -ENODEV)
		return "there is none, since the module is not loaded (modprobe hipec)";
	if (err == -EACCES || err == -EPERM)
		return "its owner or mode does not admit you";
	return strerror(-err);
}

/* And what a user does about it. */
static const char *why_not_loaded(const struct run *r, int err)
{
	if (err == -ENOMEM && !r->share)
		return "there is not so much memory, or RLIMIT_MEMLOCK (ulimit -l) does not allow it: raise the limit, or take pages of the pool (--share)";
	if (err == -ENOSPC && !r->share)
		return "policies in place may not have so much of the machine's memory: take a smaller budget, or set the module's parameter cache_percent";
	if (err == -EAGAIN)
		return "the policy was revoked lately, and waits before it may share again";
	return cli_call_failed(err);
}

/* Return: 0; -errno, @why is it in words, or empty if the device did not open. */
static int load(struct run *r, char *why, size_t size)
{
	const struct policy *p = &r->loaded;
	const char *slash = strrchr(r->program, '/');
	struct hipec_load load = {
		.flags = HIPEC_LOAD_IN_PLACE | (r->share ? HIPEC_LOAD_SHARE : 0) |
			 (r->contract ? HIPEC_LOAD_CONTRACT : 0),
		.image = (uintptr_t)p->image,
		.image_size = p->image ? p->policy.image->image_size : 0,
		.frames = r->budget,
		.log = (uintptr_t)why,
		.log_size = size,
	};
	int ret = hipec_open();

	*why = 0;
	if (ret < 0)
		return ret;
	r->device = ret;
	/* The container bears its program's name, in hipec status and in the log. */
	prctl(PR_SET_NAME, slash ? slash + 1 : r->program);
	ret = hipec_load_args(r->device, &load);
	prctl(PR_SET_NAME, "hipec");
	if (!ret)
		return 0;
	if (!*why)
		snprintf(why, size, "%s", why_not_loaded(r, ret));
	close(r->device);
	r->device = -1;
	return ret;
}

static void drop_container(struct run *r)
{
	if (r->device >= 0)
		close(r->device);
	r->device = -1;
}

/*
 * What plays beside the policy of a container that was loaded. Return: false, with r->plain
 * said, if what was asked for cannot be.
 */
static bool begin_league(struct run *r)
{
	if (r->league && cli_league_begin(r->device, r->among)) {
		set_plain(r, r->policy, "there is no league");
		return false;
	}
	if (r->curve && cli_curve_begin(r->device)) {
		r->curve = false;
		if (r->strict) {
			set_plain(r, r->policy, "there is no curve");
			return false;
		}
	}
	return true;
}

/*
 * The container, and the program's cgroup. Without them nothing is run: what is missing is
 * the user's to mend. But the program runs, and r->plain says why it does so without a
 * container, where the module is not there for this user, or the policy has to wait.
 * Return: 0; an exit code, said.
 */
static int open_in_place(struct run *r)
{
	char why[512];
	int ret = load(r, why, sizeof(why));

	if (ret && !*why) {
		set_plain(r, HIPEC_DEVICE, why_closed(ret));
	} else if (ret == -EAGAIN) {
		set_plain(r, r->policy, why);
	} else if (ret) {
		cli_error("%s, in place: %s; nothing was run", r->policy, cli_clean(why));
		return CLI_FAILED;
	} else if (!begin_league(r)) {
		drop_container(r);
	} else if (run_place_begin(r)) {
		return CLI_FAILED;
	}
	return CLI_OK;
}

/* All that has to be there before the program. */
static int prepare(struct run *r)
{
	int ret = policy_load_with(&r->loaded, r->league ? HIPEC_FIFO2_NAME : r->policy,
				   &r->params);

	if (ret)
		return ret;
	if (r->curve && hipec_needs_of(&r->loaded.policy) & HIPEC_NEED_CONTEXT) {
		cli_error("--curve: %s decides by where in a program a page is read, which other"
			  " budgets are not told", r->policy);
		return CLI_USAGE;
	}
	ret = open_in_place(r);
	if (ret)
		return ret;
	run_amp_begin(r, &r->loaded.policy);
	if (r->device >= 0)
		return CLI_OK;
	cli_error("%s; %s", r->plain ?: strerror(ENOMEM), r->strict ?
		  "nothing was run, for --strict" :
		  "files are cached as without hipec");
	return r->strict ? CLI_FAILED : CLI_OK;
}

/* What a terminal sends goes to the program as well; the rest is for it alone. */
static void pass_signal(int signals, pid_t child)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD && info.ssi_code <= 0)
			kill(child, info.ssi_signo);
}

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

static long long least(long long a, long long b)
{
	return a < b ? a : b;
}

/* Until the program has ended. Return: its exit code. */
static int attend(struct run *r, int signals, pid_t child)
{
	struct pollfd fds[] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = -1, .events = POLLIN },
	};
	long long next = now_ms() + r->period_ms, rest = 0, now;
	int status;

	while (waitpid(child, &status, WNOHANG) != child) {
		long long wait = INT_MAX;

		now = now_ms();
		fds[1].fd = r->amp && now >= rest ? r->amp->fd : -1;
		if (r->amp && now < rest)
			wait = rest - now;
		if (r->period_ms)
			wait = least(wait, next > now ? next - now : 0);
		poll(fds, ARRAY_SIZE(fds), wait == INT_MAX ? -1 : wait);
		pass_signal(signals, child);
		if (fds[1].fd >= 0 && fds[1].revents) {
			run_amp_serve(r);
			rest = now_ms() + REST_MS;
		}
		if (r->period_ms && now_ms() >= next) {
			next = now_ms() + r->period_ms;
			r->every(r);
		}
	}
	return cli_program_status(status);
}

/* Have @signals of the caller come through a descriptor. Return: it, or -errno. */
static int take_signals(sigset_t *old)
{
	static const int taken[] = { SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	sigset_t set;
	size_t i;
	int fd;

	/* Ignored children cannot be waited for. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	for (i = 0; i < ARRAY_SIZE(taken); i++)
		sigaddset(&set, taken[i]);
	sigprocmask(SIG_BLOCK, &set, old);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* Return: an exit code; @ran: it is the program's. */
static int run_program(struct run *r, char **argv, bool *ran)
{
	sigset_t old;
	struct cli_program how = {
		.mask = &old,
		.procs = r->procs > 0 ? r->procs : 0,
	};
	int signals = take_signals(&old), ret;
	pid_t child;

	if (signals < 0) {
		cli_error("%s", strerror(-signals));
		return CLI_FAILED;
	}
	ret = cli_program_start(argv, &how, &child);
	*ran = !ret;
	if (!ret) {
		ret = attend(r, signals, child);
		run_amp_end(r);
	}
	close(signals);
	return ret;
}

static int cli_run(int argc, char **argv)
{
	struct run r = { .device = -1, .procs = -1 };
	bool ran = false;
	int ret = parse(&r, argc, argv), reported = 0;

	if (!ret) {
		r.program = argv[optind];
		ret = prepare(&r);
	}
	if (!ret)
		ret = run_program(&r, argv + optind, &ran);
	if (ran)
		reported = run_report(&r, ret);
	run_amp_free(&r);
	run_place_end(&r);
	drop_container(&r);
	policy_close(&r.loaded);
	free(r.params.param);
	free(r.globs);
	free(r.plain);
	if (ran)
		exit(ret ?: reported);	/* it means nothing to our caller */
	return ret;
}

const struct cli_verb cli_verb_run = {
	.name = "run", .run = cli_run, .group = CLI_GROUP_RUN,
	.usage = "--policy P --budget B [OPTION...] -- PROGRAM...",
	.summary = "run a program as it is, with its files under a policy",
	.help = "Files that the program, and what it starts, opens are a policy's to keep in"
		" memory, by read() and by maps, in a cgroup of its own. docs/user/in-place.md has more.",
	.options = options,
	.end = "Exit code: the program's, 128 and the signal that ended it, 127 if there is no"
	       " such program, 126 if it cannot be run; 1 if nothing was run.",
};
