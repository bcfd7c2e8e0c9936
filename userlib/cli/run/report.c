// SPDX-License-Identifier: GPL-2.0-only
/*
 * What came of hipec run: in words, or as JSON. It goes to standard error, as
 * standard output is the program's, or to a file.
 */
#define _GNU_SOURCE	/* program_invocation_short_name */
#include <errno.h>
#include <string.h>

#include "../amp/loop.h"
#include "../cli.h"
#include "../../say/json.h"
#include "../league.h"
#include "run.h"
#include "../state.h"

#define DEFAULT "FIFO with a second chance"

static void say_files(const struct run *r, const struct hipec_status *s, FILE *out)
{
	const struct hipec_counters *c = &s->counters;
	uint64_t all = c->hits + c->pages_in;
	char n[4][CLI_COUNT];

	if (!all)
		fprintf(out, "hipec run: %s\n", r->globs ?
			"no file that --map names was read or written" :
			"no file of 1 MB or more was read or written; --map names others");
	else
		fprintf(out, "hipec run: %s, %s in place: %s, %s by calls and faults, %s %% of them hits; %s read\n",
			s->policy, cli_count(n[0], r->budget, "page"),
			cli_count(n[1], s->regions, "file"), cli_count(n[2], all, "access"),
			CLI_HITS(c->hits, all), cli_count(n[3], c->read_pages, "page"));
}

/* What hipec try said, beside what came of it. */
static void say_expected(const struct run *r, const struct hipec_status *s, FILE *out)
{
	uint64_t read = s->counters.read_pages;

	if (!r->expected || !(s->counters.hits + s->counters.pages_in))
		return;
	fprintf(out, "hipec run: expected: %s, read: %s (%s %%)\n",
		cli_memory((char [CLI_COUNT]){ 0 }, r->expected << 12),
		cli_memory((char [CLI_COUNT]){ 0 }, read << 12),
		CLI_CHANGE(100. * ((double)read / r->expected - 1)));
}

static void say_end(const struct hipec_status *s, FILE *out)
{
	if (s->exit.kind != HIPEC_EXIT_NONE)
		fprintf(out, "hipec run: the policy ended: %.*s; " DEFAULT " did the rest\n",
			(int)sizeof(s->exit.message), s->exit.message);
}

/* What was found, if the policy is one that is fed, and has it in use. */
static void say_loops(const struct run *r, FILE *out)
{
	char n[CLI_COUNT];
	u64 nr = 0;
	u32 i;

	if (!r->amp || !r->amp->trial.used)
		return;
	for (i = 1; i <= AMP_LOOPS; i++)
		nr += r->amp->to.size[i] != 0;
	if (nr)
		fprintf(out, "hipec run: %s %s a partition of its own; `hipec amp report` has more\n",
			cli_count(n, nr, "loop"), nr == 1 ? "has" : "have each");
}

static void say_league(const struct run *r, FILE *out)
{
	struct cli_league l;
	char line[256];

	if ((!r->league && !r->curve) || cli_league_read(r->device, 0, &l))
		return;
	if (r->league) {
		cli_league_line(&l, line, sizeof(line));
		fprintf(out, "hipec run: auto: %s\n", line);
	}
	if (r->curve) {
		cli_curve_line(&l, r->budget, line, sizeof(line));
		fprintf(out, "hipec run: curve: %s\n", line);
	}
}

static void print_json(const struct run *r, const struct hipec_status *s, int code,
		       FILE *out)
{
	struct json_object *o = json_object_new_object();
	bool ended = r->device >= 0 && s->exit.kind != HIPEC_EXIT_NONE;
	struct cli_league l = { 0 };

	cli_json_number(o, "exit", code);
	cli_json_text(o, "plain", r->plain);
	cli_json_text(o, "policy", r->device < 0 ? NULL : s->policy);
	cli_json_number(o, "frames", r->budget);
	json_object_object_add(o, "expected", r->expected ?
			       json_object_new_int64(r->expected) : NULL);
	json_object_object_add(o, "shares", json_object_new_boolean(r->share));
	cli_json_number(o, "files", s->regions);
	cli_json_text(o, "ended", ended ? s->exit.message : NULL);
	json_object_object_add(o, "counters", r->device < 0 ? NULL :
			       cli_state_counters_json(&s->counters));
	if (r->device >= 0)
		cli_league_read(r->device, 0, &l);
	json_object_object_add(o, "league", cli_league_json(&l));
	json_object_object_add(o, "curve", cli_curve_json(&l, r->budget));
	fprintf(out, "%s\n",
		json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));
	json_object_put(o);
}

/**
 * run_report() - what came of a run
 * @r:    run, whose program has ended
 * @code: its exit code
 *
 * Return: 0 or an exit code, said.
 */
int run_report(struct run *r, int code)
{
	struct hipec_status s = { 0 };
	FILE *out = stderr;
	int ret = r->device < 0 ? 0 : hipec_status(r->device, &s);

	if (ret) {
		cli_error(HIPEC_DEVICE ": %s", cli_call_failed(ret));
		return CLI_FAILED;
	}
	if (r->output)
		out = fopen(r->output, "we");
	if (!out) {
		cli_error("%s: %s", r->output, strerror(errno));
		return CLI_FAILED;
	}
	cli_clean(s.policy);
	cli_clean(s.exit.message);
	if (r->json) {
		print_json(r, &s, code, out);
	} else if (!r->quiet && r->device >= 0) {
		say_files(r, &s, out);
		say_expected(r, &s, out);
		say_league(r, out);
		say_end(&s, out);
		say_loops(r, out);
	}
	if (out == stderr || !(ferror(out) | fclose(out)))
		return CLI_OK;
	cli_error("%s: it cannot be written", r->output);
	return CLI_FAILED;
}
