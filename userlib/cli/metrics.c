// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec status --metrics: the same numbers in the text format of Prometheus, version 0.0.4.
 */
#define _GNU_SOURCE	/* asprintf() */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "league.h"
#include "state.h"
#include "table.h"

/* What is so now, of each container; X(name, help, value of s) */
#define GAUGES(X)								\
	X(frames, "frames held, or reserved; pages of 4096 bytes", s->frames)	\
	X(limit_frames, "most frames that it may hold", s->limit)		\
	X(free_frames, "of its frames, those that hold no page", s->free_frames) \
	X(resident_pages, "pages that hold a frame", s->resident)		\
	X(dirty_pages, "pages that are not yet written", s->dirty)		\
	X(ghost_pages, "pages without a frame that the policy remembers", s->ghosts) \
	X(regions, "ranges of files that are attached", s->regions)		\
	X(shares, "1: frames of the pool; 0: its own", s->shares)		\
	X(exit_kind, "0: the policy runs; else why it ended, a number of docs/user/operations.md", \
	  s->exit.kind)

struct metrics {
	FILE *out;
	int fd;
	struct cli_state list;
	struct cli_league *teams;	/* what plays in each */
};

static void print_head(const struct metrics *m, const char *name, const char *end,
		       const char *help, const char *type)
{
	fprintf(m->out, "# HELP hipec_%s%s %s\n# TYPE hipec_%s%s %s\n", name, end, help, name,
		end, type);
}

/* A label's text: clean, with a backslash before what would end it. */
static void print_label(FILE *out, const char *name, const char *text, size_t size)
{
	char cell[CLI_CELL];
	const char *c;

	cli_put_text(cell, text, size);
	fprintf(out, "%s=\"", name);
	for (c = cell; *c; c++) {
		if (*c == '\\' || *c == '"')
			fputc('\\', out);
		fputc(*c, out);
	}
	fputc('"', out);
}

/* A sample of @s, up to its value; @own: NULL, or what the policy calls it. */
static void print_sample(FILE *out, const char *name, const char *end,
			 const struct hipec_status *s, const char *own)
{
	fprintf(out, "hipec_%s%s{id=\"%" PRIu64 "\",", name, end, (uint64_t)s->id);
	print_label(out, "policy", s->policy, sizeof(s->policy));
	fputc(',', out);
	print_label(out, "comm", s->comm, sizeof(s->comm));
	fprintf(out, ",uid=\"%u\"", s->uid);
	if (own) {
		fputc(',', out);
		print_label(out, "name", own, HIPEC_NAME_MAX);
	}
	fputs("} ", out);
}

static void print_counter(const struct metrics *m, const char *name, const char *help,
			  size_t offset)
{
	/* What is of now may sink: in hipec.h its help begins so. */
	bool now = !strncmp(help, "now,", 4);
	const char *end = now ? "" : "_total";
	const struct hipec_status *s;
	size_t i;

	print_head(m, name, end, help, now ? "gauge" : "counter");
	for (i = 0; i < m->list.nr; i++) {
		s = &m->list.row[i];
		print_sample(m->out, name, end, s, NULL);
		fprintf(m->out, "%" PRIu64 "\n",
			*(const uint64_t *)((const char *)&s->counters + offset));
	}
}

/* The integers that policies declare as counters: they may also sink. */
static void print_own(const struct metrics *m)
{
	struct hipec_operand operand;
	uint32_t slot;
	size_t i;

	print_head(m, "policy_counter", "", "a counter that the policy declares", "gauge");
	for (i = 0; i < m->list.nr; i++)
		for (slot = 0; !hipec_operand(m->fd, m->list.row[i].id, slot, &operand); slot++)
			if (operand.operand_flags & HIPEC_OPERAND_COUNTER) {
				print_sample(m->out, "policy_counter", "", &m->list.row[i],
					     operand.name);
				fprintf(m->out, "%" PRId64 "\n", (int64_t)operand.value);
			}
}

/* Of a team, its container, and which it is. */
typedef void (*put_team)(FILE *out, const struct hipec_status *s,
			 const struct hipec_standing *t);

/* A sample of each team that is a rival, or of each other one. */
static void print_of_teams(const struct metrics *m, const char *name, const char *end,
			   const char *help, bool rivals, put_team put)
{
	const struct cli_league *l;
	size_t i;
	uint32_t k;

	print_head(m, name, end, help, *end ? "counter" : "gauge");
	for (i = 0; i < m->list.nr; i++) {
		l = &m->teams[i];
		if (rivals && !cli_league_is(l))
			continue;
		for (k = 0; k < l->nr; k++)
			if (cli_league_is_rival(&l->team[k]) == rivals)
				put(m->out, &m->list.row[i], &l->team[k]);
	}
}

static void put_misses(FILE *out, const struct hipec_status *s, const struct hipec_standing *t)
{
	print_sample(out, "league_misses", "_total", s, t->policy);
	fprintf(out, "%" PRIu64 "\n", (uint64_t)t->misses);
}

static void put_runs(FILE *out, const struct hipec_status *s, const struct hipec_standing *t)
{
	print_sample(out, "league_runs", "", s, t->policy);
	fprintf(out, "%d\n", t->team == t->runs);
}

/* A share of the misses, by the name of the budget: its share of the container's. */
static void put_share(FILE *out, const char *metric, const struct hipec_status *s,
		      const struct hipec_standing *t, double percent)
{
	char name[HIPEC_NAME_MAX];

	snprintf(name, sizeof(name), "%g", t->quarters / 4.);
	print_sample(out, metric, "", s, name);
	fprintf(out, "%g\n", percent / 100);
}

static void put_saves(FILE *out, const struct hipec_status *s, const struct hipec_standing *t)
{
	double percent, error;

	if (cli_curve_is_filled(t, s->limit) && cli_league_saving(t, &percent, &error))
		put_share(out, "curve_saves", s, t, percent);
}

static void put_error(FILE *out, const struct hipec_status *s, const struct hipec_standing *t)
{
	double percent, error;

	if (cli_curve_is_filled(t, s->limit) && cli_league_saving(t, &percent, &error))
		put_share(out, "curve_error", s, t, error);
}

/* One of each league. */
static void print_leagues(const struct metrics *m)
{
	const struct cli_league *l;
	size_t i;

#define X(name, help, value)							\
	print_head(m, name, "_total", help, "counter");				\
	for (i = 0; i < m->list.nr; i++) {					\
		l = &m->teams[i];						\
		if (!cli_league_is(l))						\
			continue;						\
		print_sample(m->out, name, "_total", &m->list.row[i], NULL);	\
		fprintf(m->out, "%" PRIu64 "\n", (uint64_t)(value));		\
	}
	X("league_sampled", "accesses of the sample that all policies of a league played",
	  l->team[0].sampled)
	X("league_missed", "of these, that the container missed", l->team[0].missed)
	X("league_takeovers", "policies of a league that took over", l->team[0].switches)
#undef X
	print_of_teams(m, "league_misses", "_total",
		       "of these, that a policy of the league would have missed", true, put_misses);
	print_of_teams(m, "league_runs", "", "1: the policy of the league that runs", true,
		       put_runs);
	print_of_teams(m, "curve_saves", "",
		       "share of the misses that another budget, name times as large, would save",
		       false, put_saves);
	print_of_teams(m, "curve_error", "",
		       "by how much that may be off, up or down, 19 times of 20", false, put_error);
}

/* The module as a whole, whoever asks. */
static void print_module(const struct metrics *m, const struct hipec_query *q)
{
#define X(name, help, value)							\
	print_head(m, name, "", help, "gauge");					\
	fprintf(m->out, "hipec_%s %" PRIu64 "\n", name, (uint64_t)(value));
	X("module_frames", "frames that all containers hold; pages of 4096 bytes", q->frames)
	X("pool_frames", "of these, by containers that share", q->pool_frames)
	X("pool_max_frames", "frames that containers may share", q->pool_max)
	X("pool_quota_frames", "of these, those of one user", q->quota)
#undef X
}

static void print_metrics(const struct metrics *m, const struct hipec_query *q)
{
	const struct hipec_status *s;
	size_t i;

	print_module(m, q);
#define X(name, help, value)							\
	print_head(m, "container_" #name, "", help, "gauge");			\
	for (i = 0; i < m->list.nr; i++) {					\
		s = &m->list.row[i];						\
		print_sample(m->out, "container_" #name, "", s, NULL);		\
		fprintf(m->out, "%" PRIu64 "\n", (uint64_t)(value));		\
	}
	GAUGES(X)
#undef X
#define X(name, help)								\
	print_counter(m, "container_" #name, help, offsetof(struct hipec_counters, name));
	HIPEC_COUNTERS(X)
#undef X
	print_leagues(m);
	print_own(m);
}

/* Ask, and print all of it; 0 or -errno. */
static int collect(FILE *out)
{
	struct metrics m = { .out = out, .fd = hipec_open() };
	struct hipec_query q;
	int ret = m.fd;

	if (ret >= 0)
		ret = hipec_query(m.fd, &q);
	if (!ret)
		ret = cli_state_read(m.fd, &m.list);
	if (!ret) {
		m.teams = cli_league_read_all(m.fd, &m.list);
		ret = m.teams ? 0 : -ENOMEM;
	}
	if (!ret)
		print_metrics(&m, &q);
	free(m.list.row);
	free(m.teams);
	if (m.fd >= 0)
		close(m.fd);
	return ret;
}

/* Whoever reads @path finds the old text or the new one, whole. */
static int into_file(const char *path)
{
	char *name;
	FILE *out = NULL;
	int fd, ret;

	if (asprintf(&name, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkstemp(name);
	if (fd >= 0)
		out = fdopen(fd, "w");
	if (!out) {
		cli_error("%s: %s", path, strerror(errno));
		free(name);
		return -ECANCELED;
	}
	ret = collect(out);
	fchmod(fd, 0644);
	if ((ferror(out) | fclose(out) || (!ret && rename(name, path))) && !ret) {
		cli_error("%s: it cannot be written", path);
		ret = -ECANCELED;
	}
	if (ret)
		unlink(name);
	free(name);
	return ret;
}

static const struct option_row options[] = {
	{ 'o', "output", "FILE",
	  .help = "there, the old text or the new one at any time; for the collector of text"
		  " files of its node_exporter" },
	{ 0 },
};

static int cli_metrics(int argc, char **argv)
{
	const char *path = NULL;
	int opt, ret;

	while ((opt = cli_option(argc, argv, options, "")) != -1) {
		if (opt != 'o')
			return CLI_USAGE;
		path = optarg;
	}
	if (cli_operands(argc, argv, 0, 0, ""))
		return CLI_USAGE;
	ret = path ? into_file(path) : collect(stdout);
	if (ret == -ECANCELED)
		return CLI_FAILED;
	return ret ? cli_open_failed(ret) : CLI_OK;
}

const struct cli_verb cli_verb_metrics = {
	.name = "--metrics", .of = "status", .was = "metrics", .run = cli_metrics,
	.usage = "[--output FILE]",
	.summary = "print the numbers of all containers for Prometheus",
	.help = "In its text format. docs/user/operations.md says what to watch.",
	.options = options,
};
