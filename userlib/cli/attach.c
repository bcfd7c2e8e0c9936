// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec attach, hipec detach: files whose pages in the page cache are a policy's to
 * choose from, until somebody says otherwise: by name, or those that a cgroup's processes
 * have open, and open later.
 */
#define _GNU_SOURCE	/* O_PATH */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "cli.h"
#include "league.h"
#include "live.h"
#include "../job/size.h"
#include "../policy/policy.h"
#include "../lib/hipec.h"

enum { PARAM = 256, LEAST, SHARE, CONTRACT, AMONG, CURVE };

#define MAX_CGROUPS 16
#define CGROUPS "/sys/fs/cgroup/"	/* where systemd has them */

struct attach {
	const char *policy;
	bool league;		/* that is auto */
	const char *among;	/* its policies, or NULL */
	uint64_t budget;	/* pages */
	bool budget_auto;
	const char *cgroup[MAX_CGROUPS];
	unsigned int nr_cgroups;
	uint64_t least;		/* of their files, bytes */
	bool share;		/* the pool's pages, no locked memory */
	bool contract;		/* the policy is held to it */
	bool curve;		/* it plays with other budgets, too */
	struct policy loaded;	/* what it names */
	struct policy_params params;
};

static const char *refusal(uint32_t why)
{
	switch (why) {
#define HIPEC_X(name, number, text) case number: return text;
	HIPEC_REFUSALS(HIPEC_X)
#undef HIPEC_X
	}
	return "the module does not want it";
}

/* Files below a directory that stay the kernel's. */
struct left {
	unsigned long nr;
	char first[PATH_MAX + 128];	/* and why */
};

static void describe(char *line, size_t size, const char *path, int err,
		     const struct hipec_take *take)
{
	if (err == -EOPNOTSUPP)
		snprintf(line, size, "%s: %s", path, refusal(take->refused));
	else if (err == -EBUSY)
		snprintf(line, size, "%s: container %llu has it", path,
			 (unsigned long long)take->other);
	else if (err == -EPERM)
		snprintf(line, size, "%s: it is not yours", path);
	else if (err == -ENOSPC)
		snprintf(line, size, "%s: the container has too many files", path);
	else if (err == -EDQUOT)
		snprintf(line, size, "%s: files of a user's containers may have 16 TB together, twice their size or 256 MB each, and lie on 64 file systems",
			 path);
	else
		snprintf(line, size, "%s: %s", path, cli_call_failed(err));
}

static int take_path(int fd, const char *path, struct hipec_take *take)
{
	int file = open(path, O_PATH | O_CLOEXEC), ret;

	if (file < 0)
		return -errno;
	ret = hipec_take(fd, 0, file, take);
	close(file);
	return ret;
}

/* One of the paths, or what is below one. @id: the container. */
static int take_entry(int fd, uint64_t id, const FTSENT *e, struct left *left)
{
	struct hipec_take take = { 0 };
	char line[sizeof(left->first)];
	int ret;

	if (e->fts_info == FTS_DP ||
	    (e->fts_level && e->fts_info != FTS_D && e->fts_info != FTS_F &&
	     e->fts_info != FTS_DNR && e->fts_info != FTS_ERR))
		return CLI_OK;
	ret = e->fts_errno ? -e->fts_errno : take_path(fd, e->fts_path, &take);
	/* It has come since its directory was taken. */
	if (!ret || (e->fts_level && ret == -EBUSY && take.other == id))
		return CLI_OK;
	describe(line, sizeof(line), e->fts_path, ret, &take);
	if (!e->fts_level) {
		cli_error("%s", cli_clean(line));
		return CLI_FAILED;
	}
	if (!left->nr++)
		memcpy(left->first, line, sizeof(line));
	return CLI_OK;
}

static void report_left(struct left *left)
{
	if (left->nr)
		cli_error("the kernel decides about %lu file%s, for example %s", left->nr,
			  left->nr == 1 ? "" : "s", cli_clean(left->first));
}

/* A directory before what is in it, so that nothing is missed. */
static int take_paths(int fd, uint64_t id, char **path)
{
	FTS *tree = fts_open(path, FTS_COMFOLLOW | FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR,
			     NULL);
	struct left left = { 0 };
	int ret = CLI_OK;
	FTSENT *e;

	if (!tree) {
		cli_error("%s", strerror(errno));
		return CLI_FAILED;
	}
	while (!ret && (errno = 0, e = fts_read(tree)))
		ret = take_entry(fd, id, e, &left);
	fts_close(tree);
	if (!ret)
		report_left(&left);
	return ret;
}

static const char *cgroup_path(char path[PATH_MAX], const char *name)
{
	snprintf(path, PATH_MAX, "%s%s", *name == '/' ? "" : CGROUPS, name);
	return path;
}

/* The least that one of the cgroups leaves. */
static uint64_t auto_budget(const struct attach *a)
{
	uint64_t least = cli_cgroup_budget(NULL), budget;
	char path[PATH_MAX];
	unsigned int i;

	for (i = 0; i < a->nr_cgroups; i++) {
		budget = cli_cgroup_budget(cgroup_path(path, a->cgroup[i]));
		if (budget < least)
			least = budget;
	}
	return least;
}

/* What a cgroup's processes have open, on its way to a container. */
struct opened {
	int fd;
	uint64_t id;
	struct left left;
};

/* What cannot be taken by its kind is no loss. */
static void take_opened(const char *path, void *arg)
{
	struct hipec_take take = { 0 };
	struct opened *o = arg;
	char name[PATH_MAX];
	ssize_t n;
	int ret = take_path(o->fd, path, &take);

	if (!ret || ret == -ENOENT || ret == -EOPNOTSUPP ||
	    (ret == -EBUSY && take.other == o->id) || o->left.nr++)
		return;
	n = readlink(path, name, sizeof(name) - 1);
	name[n > 0 ? n : 0] = '\0';
	describe(o->left.first, sizeof(o->left.first), n > 0 ? name : path, ret, &take);
}

static int take_cgroup(int fd, uint64_t id, const char *name, uint64_t least)
{
	struct opened opened = { .fd = fd, .id = id };
	struct hipec_take take = { 0 };
	char path[PATH_MAX];
	int dir, ret;

	cgroup_path(path, name);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ret = dir < 0 ? -errno : hipec_take_cgroup(fd, 0, dir, least, NULL, &take);
	if (dir >= 0)
		close(dir);
	if (!ret) {
		/* After that: what is opened meanwhile is taken as well. */
		cli_cgroup_opened(path, least, take_opened, &opened);
		report_left(&opened.left);
		return CLI_OK;
	}
	if (ret == -EBUSY)
		cli_error("%s: container %llu has it", cli_clean(path),
			  (unsigned long long)take.other);
	else
		cli_error("%s: %s", cli_clean(path), cli_cgroup_why(ret));
	return CLI_FAILED;
}

static int load(int fd, const struct attach *a)
{
	const struct policy *p = &a->loaded;
	char log[512] = "";
	struct hipec_load load = {
		.flags = HIPEC_LOAD_IN_PLACE | HIPEC_LOAD_KEEP |
			 (a->share ? HIPEC_LOAD_SHARE : 0) |
			 (a->contract ? HIPEC_LOAD_CONTRACT : 0),
		.image = (uintptr_t)p->image,
		.image_size = p->image ? p->policy.image->image_size : 0,
		.frames = a->budget_auto ? auto_budget(a) : a->budget,
		.log = (uintptr_t)log,
		.log_size = sizeof(log),
	};
	int ret = hipec_load_args(fd, &load);

	if (ret == -ENOMEM)
		cli_error("there is not so much memory, or RLIMIT_MEMLOCK (ulimit -l) does not allow it");
	else if (ret == -ENOSPC && !a->share)
		cli_error("policies in place may not have so much of the machine's memory; the module's parameter cache_percent says how much");
	else if (ret)
		cli_error("%s: %s", a->policy, *log ? cli_clean(log) :
			  cli_call_failed(ret));
	return ret ? CLI_FAILED : CLI_OK;
}

/* All of the files and cgroups, or none. */
static int attach(const struct attach *a, char **path)
{
	struct hipec_status status;
	int fd = hipec_open(), ret;
	unsigned int i;

	if (fd < 0)
		return cli_open_failed(fd);
	ret = load(fd, a);
	if (ret) {
		close(fd);
		return ret;
	}
	ret = hipec_status(fd, &status);
	if (ret)
		cli_error("%s", cli_call_failed(ret));
	if (!ret && a->league)
		ret = cli_league_begin(fd, a->among);
	if (!ret && a->curve)
		ret = cli_curve_begin(fd);
	if (!ret && *path)
		ret = take_paths(fd, status.id, path);
	for (i = 0; !ret && i < a->nr_cgroups; i++)
		ret = take_cgroup(fd, status.id, a->cgroup[i], a->least);
	if (ret)
		hipec_release(fd, 0, -1);
	else
		printf("%llu\n", (unsigned long long)status.id);
	close(fd);
	return ret;
}

static int set_budget(struct attach *a, char *text)
{
	struct sim_size size;

	if (!strcmp(text, "auto")) {
		a->budget_auto = true;
		return CLI_OK;
	}
	if (sim_size_parse_to(text, INT_MAX, &size) && !size.percent) {
		a->budget = size.nr;
		return CLI_OK;
	}
	return sim_size_refuse("--budget", text, INT_MAX,
			       "memory (512M, 8G), pages (4096, 10k) or auto");
}

static int set_least(struct attach *a, char *text)
{
	struct sim_size size;

	if (sim_size_parse_to(text, INT_MAX, &size) && !size.percent) {
		a->least = size.nr * 4096;
		return CLI_OK;
	}
	return sim_size_refuse("--least", text, INT_MAX,
			       "memory (256KiB, 1M) or pages (16, 1k)");
}

static int add_cgroup(struct attach *a, const char *name)
{
	if (a->nr_cgroups < MAX_CGROUPS && *name) {
		a->cgroup[a->nr_cgroups++] = name;
		return CLI_OK;
	}
	cli_error("--cgroup: want a name, and %d of them at most", MAX_CGROUPS);
	return CLI_USAGE;
}

static const struct option_row options[] = {
	{ 'p', "policy", "NAME",
	  .help = "a policy: .hp, .hpo, the name of a shipped one, builtin, or auto: the one"
		  " that is found to miss least" },
	{ AMONG, "among", "NAME,...", .help = "policies that auto tries" },
	{ PARAM, "param", "NAME=VALUE", .help = "a parameter of it; repeatable" },
	{ 'b', "budget", "SIZE",
	  .help = "memory that the files share: 512M, 8G; pages: 4096, 10k; or auto: what a"
		  " cgroup's limit allows, half of the machine's" },
	{ 'c', "cgroup", "NAME",
	  .help = "files that processes of a cgroup have open or open later; below"
		  " /sys/fs/cgroup if NAME begins with no '/'; repeatable" },
	{ LEAST, "least", "SIZE", .help = "of these, only files as large; 1M" },
	{ SHARE, "share", NULL,
	  .help = "pages of the pool that all who share divide, up to the budget, and no"
		  " locked memory; with the contract" },
	{ CONTRACT, "contract", NULL,
	  .help = "revoke the policy if it reads far more than the default" },
	{ CURVE, "curve", NULL,
	  .help = "hear what the policy would miss with other budgets: 'hipec status --curve'" },
	{ 0 },
};

static int parse(struct attach *a, int argc, char **argv)
{
	int opt, ret = CLI_OK;

	while (!ret && (opt = cli_option(argc, argv, options, "")) != -1) {
		if (opt == 'p')
			a->policy = optarg;
		else if (opt == AMONG)
			a->among = optarg;
		else if (opt == 'b')
			ret = set_budget(a, optarg);
		else if (opt == PARAM)
			ret = policy_param_add(&a->params, optarg);
		else if (opt == 'c')
			ret = add_cgroup(a, optarg);
		else if (opt == LEAST)
			ret = set_least(a, optarg);
		else if (opt == SHARE)
			a->share = true;
		else if (opt == CONTRACT)
			a->contract = true;
		else if (opt == CURVE)
			a->curve = true;
		else
			ret = CLI_USAGE;
	}
	if (!ret && (!a->policy || (!a->budget && !a->budget_auto) ||
		     (optind == argc && !a->nr_cgroups))) {
		cli_error("want --policy, --budget, and files or --cgroup");
		ret = CLI_USAGE;
	}
	a->league = !ret && !strcmp(a->policy, CLI_LEAGUE);
	if (!ret && a->among && !a->league) {
		cli_error("--among: want --policy auto beside it");
		ret = CLI_USAGE;
	}
	return ret;
}

static int cli_attach(int argc, char **argv)
{
	struct attach a = { .least = 1 << 20 };
	int ret = parse(&a, argc, argv);

	if (!ret)
		ret = policy_load_with(&a.loaded, a.league ? HIPEC_FIFO2_NAME : a.policy,
				       &a.params);
	if (!ret)
		ret = attach(&a, argv + optind);
	policy_close(&a.loaded);
	free(a.params.param);
	return ret;
}

const struct cli_verb cli_verb_attach = {
	.name = "attach", .run = cli_attach, .group = CLI_GROUP_RUN,
	.usage = "--policy P --budget B [OPTION...] [PATH...]",
	.summary = "let a policy decide which pages of files stay in the page cache",
	.help = "The files' pages stay where they are; all programs go on, by read() and by"
		" maps. Of a directory: those of all files below it, and of what comes into it"
		" later. It lasts until 'hipec detach ID', and prints that ID."
		" docs/user/in-place.md says which files, and what a program may notice.",
	.options = options,
};

/* Return: 0; -ENOENT if the container has neither @path nor anything below it. */
static int let_go(int fd, uint64_t id, char *path)
{
	char *paths[] = { path, NULL };
	FTS *tree = fts_open(paths, FTS_COMFOLLOW | FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR,
			     NULL);
	int ret = -ENOENT, got, file;
	FTSENT *e;

	while (tree && (errno = 0, e = fts_read(tree))) {
		if (e->fts_info == FTS_DP ||
		    (e->fts_level && e->fts_info != FTS_D && e->fts_info != FTS_F))
			continue;
		file = open(e->fts_path, O_PATH | O_CLOEXEC);
		got = file < 0 ? -errno : hipec_release(fd, id, file);
		if (file >= 0)
			close(file);
		if (!got || (!e->fts_level && got != -ENOENT))
			ret = got;
		if (got && got != -ENOENT)
			break;
	}
	if (tree)
		fts_close(tree);
	return ret;
}

static int detach_path(int fd, uint64_t id, char *path)
{
	int ret = access(path, F_OK) ? -errno : let_go(fd, id, path);

	if (ret == -ENOENT && !access(path, F_OK))
		cli_error("%s: container %llu does not have it", path,
			  (unsigned long long)id);
	else if (ret == -ENOENT)
		cli_error("%s: %s", path, strerror(-ret));
	else if (ret)
		cli_live_failed(id, ret);
	return ret ? CLI_FAILED : CLI_OK;
}

static int cli_detach(int argc, char **argv)
{
	int fd, ret = 0, failed = 0, i;
	uint64_t id;

	if (cli_option(argc, argv, NULL, "") != -1 ||
	    cli_operands(argc, argv, 1, argc, "a container's number, of hipec status") ||
	    !cli_live_id(argv[optind], &id))
		return CLI_USAGE;
	fd = hipec_open();
	if (fd < 0)
		return cli_open_failed(fd);
	if (optind + 1 == argc) {
		ret = hipec_release(fd, id, -1);
		if (ret == -EINVAL)
			cli_error("container %llu: hipec attach did not make it",
				  (unsigned long long)id);
		else if (ret)
			cli_live_failed(id, ret);
	}
	for (i = optind + 1; i < argc; i++)
		failed |= detach_path(fd, id, argv[i]);
	close(fd);
	return ret || failed ? CLI_FAILED : CLI_OK;
}

const struct cli_verb cli_verb_detach = {
	.name = "detach", .run = cli_detach, .group = CLI_GROUP_RUN,
	.usage = "ID [PATH...]",
	.summary = "end what 'hipec attach' began, or let go of some of its files",
	.help = "Their pages stay in memory, and are the kernel's to reclaim as any others. A"
		" PATH may be a directory's, or the one of a cgroup: what it had opened stays.",
};
