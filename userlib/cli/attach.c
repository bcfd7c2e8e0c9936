// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec attach, hipec detach: files whose pages in the page cache are a policy's to
 * choose from, until somebody says otherwise.
 */
#define _GNU_SOURCE	/* O_PATH */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "live.h"
#include "sim/sim.h"
#include "../lib/hipec.h"

enum { PARAM = 256 };

struct attach {
	const char *policy;
	uint64_t budget;	/* pages */
	struct sim_job job;	/* its policy, and params */
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

static void say_failed(const char *path, int err, const struct hipec_take *take)
{
	if (err == -EOPNOTSUPP)
		cli_error("%s: %s", path, refusal(take->refused));
	else if (err == -EBUSY)
		cli_error("%s: container %llu has it", path,
			  (unsigned long long)take->other);
	else if (err == -EPERM)
		cli_error("%s: it is not yours", path);
	else if (err == -ENOSPC)
		cli_error("%s: the container has too many files", path);
	else
		cli_error("%s: %s", path, strerror(-err));
}

static int take(int fd, const char *path)
{
	struct hipec_take take = { 0 };
	int file = open(path, O_PATH | O_CLOEXEC), ret;

	if (file < 0) {
		cli_error("%s: %s", path, strerror(errno));
		return CLI_FAILED;
	}
	ret = hipec_take(fd, 0, file, &take);
	close(file);
	if (ret)
		say_failed(path, ret, &take);
	return ret ? CLI_FAILED : CLI_OK;
}

static int load(int fd, const struct attach *a)
{
	const struct sim_policy *p = a->job.policy;
	char log[512] = "";
	struct hipec_load load = {
		.flags = HIPEC_LOAD_IN_PLACE | HIPEC_LOAD_KEEP,
		.image = (uintptr_t)p->image,
		.image_size = p->image ? p->policy.image->image_size : 0,
		.frames = a->budget,
		.log = (uintptr_t)log,
		.log_size = sizeof(log),
	};
	int ret = hipec_load_args(fd, &load);

	if (ret == -ENOMEM)
		cli_error("there is not so much memory, or RLIMIT_MEMLOCK (ulimit -l) does not allow it");
	else if (ret == -ENOSPC)
		cli_error("policies in place may not have so much of the machine's memory; the module's parameter cache_percent says how much");
	else if (ret)
		cli_error("%s: %s", a->policy, *log ? cli_clean(log) :
			  strerror(-ret));
	return ret ? CLI_FAILED : CLI_OK;
}

/* All of the files, or none. */
static int attach(const struct attach *a, int nr, char **path)
{
	struct hipec_status status;
	int fd = hipec_open(), ret, i;

	if (fd < 0)
		return cli_open_failed(fd);
	ret = load(fd, a);
	if (ret) {
		close(fd);
		return ret;
	}
	for (i = 0; i < nr && !ret; i++)
		ret = take(fd, path[i]);
	if (ret)
		hipec_release(fd, 0, -1);
	else if (!hipec_status(fd, &status))
		printf("%llu\n", (unsigned long long)status.id);
	close(fd);
	return ret;
}

/* The policy, with its parameters. */
static int open_policy(struct attach *a)
{
	struct sim_job *job = &a->job;
	struct hipec_text why;
	char line[512];

	hipec_text_init(&why, line, sizeof(line));
	job->policy = calloc(1, sizeof(*job->policy));
	if (!job->policy) {
		cli_error("%s", strerror(ENOMEM));
		return CLI_FAILED;
	}
	job->nr_policies = 1;
	if (sim_policy_load(job->policy, a->policy, &why)) {
		cli_error("%s", cli_clean(line));
		return CLI_FAILED;
	}
	return sim_params_set(job);
}

static int set_budget(struct attach *a, char *text)
{
	struct sim_size size;

	if (sim_size_parse_to(text, INT_MAX, &size) && !size.percent) {
		a->budget = size.nr;
		return CLI_OK;
	}
	return sim_size_refuse("--budget", text, INT_MAX,
			       "memory (512M, 8G) or pages (4096, 10k)");
}

static int parse(struct attach *a, int argc, char **argv)
{
	static const struct option options[] = {
		{ "policy", required_argument, NULL, 'p' },
		{ "budget", required_argument, NULL, 'b' },
		{ "param", required_argument, NULL, PARAM },
		{ NULL, 0, NULL, 0 },
	};
	int opt, ret = CLI_OK;

	while (!ret && (opt = cli_option(argc, argv, "p:b:", options)) != -1) {
		if (opt == 'p')
			a->policy = optarg;
		else if (opt == 'b')
			ret = set_budget(a, optarg);
		else if (opt == PARAM)
			ret = sim_param_add(&a->job, optarg);
		else
			ret = CLI_USAGE;
	}
	if (!ret && (!a->policy || !a->budget || optind == argc)) {
		cli_error("want --policy, --budget and files");
		ret = CLI_USAGE;
	}
	return ret;
}

int cli_attach(int argc, char **argv)
{
	struct attach a = { 0 };
	int ret = parse(&a, argc, argv);

	if (!ret)
		ret = open_policy(&a);
	if (!ret)
		ret = attach(&a, argc - optind, argv + optind);
	sim_job_close(&a.job);
	return ret;
}

static int let_go(int fd, uint64_t id, const char *path)
{
	int file = open(path, O_PATH | O_CLOEXEC), ret;

	if (file < 0) {
		cli_error("%s: %s", path, strerror(errno));
		return CLI_FAILED;
	}
	ret = hipec_release(fd, id, file);
	close(file);
	if (ret == -ENOENT)
		cli_error("%s: container %llu does not have it", path,
			  (unsigned long long)id);
	else if (ret)
		cli_live_failed(id, ret);
	return ret ? CLI_FAILED : CLI_OK;
}

int cli_detach(int argc, char **argv)
{
	static const struct option options[] = { { NULL, 0, NULL, 0 } };
	int fd, ret = 0, failed = 0, i;
	uint64_t id;

	if (cli_option(argc, argv, "", options) != -1 ||
	    optind == argc || !cli_live_id(argv[optind], &id))
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
		failed |= let_go(fd, id, argv[i]);
	close(fd);
	return ret || failed ? CLI_FAILED : CLI_OK;
}
