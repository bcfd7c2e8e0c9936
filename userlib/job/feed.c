// SPDX-License-Identifier: GPL-2.0-only
/*
 * --detector, --detect-every and --hints: how the policies of a job that declare the
 * arrays of amp/amp.h are fed.
 */
#include <errno.h>
#include <stdlib.h>

#include "../say/say.h"
#include "job.h"

#define MOST_EVERY 1000000000ull

/**
 * sim_feed_set_detector() - the argument of --detector
 * @job:  gets it
 * @name: of SIM_DETECTOR_WORDS
 */
void sim_feed_set_detector(struct sim_job *job, const char *name)
{
	job->feed.off = !strcmp(name, "none");
	if (!job->feed.off)
		job->feed.method = option_word(SIM_DETECTOR_WORDS, name);
}

/* The same of --detect-every. Return: 0 or an exit code, said. */
int sim_feed_set_every(struct sim_job *job, const char *text)
{
	char *end;

	errno = 0;
	job->feed.every = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno &&
	    job->feed.every && job->feed.every <= MOST_EVERY)
		return CLI_OK;
	cli_error("--detect-every: want a number of accesses, 1 to %llu, not '%s'",
		  MOST_EVERY, text);
	return CLI_USAGE;
}

static bool any_wants(const struct sim_job *job)
{
	size_t i;

	for (i = 0; i < job->nr_policies; i++)
		if (!job->policy[i].reference &&
		    sim_feed_wants(&job->policy[i].policy))
			return true;
	return false;
}

static int read_hints(struct sim_feed_job *feed)
{
	FILE *in = fopen(feed->file, "re");
	struct amp_state state;
	struct amp_error err;
	int ret;

	if (!in && errno == ENOENT)
		return CLI_OK;	/* the first run */
	if (!in) {
		cli_error("%s: %s", feed->file, strerror(errno));
		return CLI_FAILED;
	}
	ret = amp_state_read(in, &state, &err);
	fclose(in);
	feed->hints = state.pattern;
	feed->nr_hints = state.nr;
	state.pattern = NULL;
	amp_state_free(&state);
	if (ret == -EINVAL)
		cli_error("%s:%llu: %s", feed->file, (unsigned long long)err.line, err.text);
	else if (ret)
		cli_error("%s: %s", feed->file, strerror(-ret));
	return ret ? CLI_FAILED : CLI_OK;
}

/**
 * sim_feed_open() - read what the policies of a job are to begin with
 * @job: with its policies and traces
 *
 * Return: 0 or an exit code, said.
 */
int sim_feed_open(struct sim_job *job)
{
	if (job->sample && !job->feed.off && any_wants(job)) {
		cli_error("--sample: a policy here is fed by a detector, which wants all accesses; --detector none runs it without");
		return CLI_USAGE;
	}
	if (!job->feed.file)
		return CLI_OK;
	if (job->feed.off || !any_wants(job)) {
		cli_error("--hints: no policy here is fed; docs/user/amp.md says which are");
		return CLI_USAGE;
	}
	if (job->nr_traces != 1) {
		cli_error("--hints: want one trace: one file is for one program");
		return CLI_USAGE;
	}
	return read_hints(&job->feed);
}

/* The feed of a row that is to be fed; sim_feed_free() it. */
void sim_feed_row(const struct sim_job *job, struct sim_row *row)
{
	row->feed = (struct sim_feed){ .job = &job->feed };
	if (!job->feed.off && !row->policy->reference &&
	    sim_feed_wants(&row->policy->policy))
		row->r.feed = &row->feed;
}

/**
 * sim_feed_write() - write the patterns of a job for the next one
 * @job:  done
 * @rows: the patterns do not depend on frames nor policies: the first fed one's
 *
 * The file is put in place at once, or not at all.
 *
 * Return: 0 or an exit code, said.
 */
int sim_feed_write(const struct sim_job *job, const struct sim_rows *rows)
{
	const char *name = job->feed.file;
	char new[4096];
	FILE *out;
	size_t i = 0;
	int ret;

	if (!name)
		return CLI_OK;
	while (!rows->row[i].r.feed)
		i++;
	ret = snprintf(new, sizeof(new), "%s.new", name) < (int)sizeof(new) ?
	      0 : -ENAMETOOLONG;
	out = ret ? NULL : fopen(new, "we");
	if (!ret && !out)
		ret = -errno;
	if (!ret)
		ret = amp_state_write(out, &(struct amp_state){
			.pattern = rows->row[i].feed.pattern,
			.nr = rows->row[i].feed.nr,
		});
	if (out && fclose(out) && !ret)
		ret = -errno;
	if (!ret && rename(new, name))
		ret = -errno;
	if (!ret)
		return CLI_OK;
	cli_error("%s: %s", name, strerror(-ret));
	return CLI_FAILED;
}

/* What a job's feed and its rows hold. */
void sim_feed_close(struct sim_job *job)
{
	free(job->feed.hints);
}
