// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec sim: traces through policies and references, as a table or as JSON.
 * All that can be wrong with the arguments is found before anything is printed.
 */
#include <errno.h>
#include <getopt.h>
#include <json-c/json.h>
#include <stdlib.h>

#include "cli.h"
#include "sim.h"

/* Longest text of a cell, bytes. */
#define CELL (HIPEC_MESSAGE_MAX + 64)

struct job {
	struct sim_policy *policy;
	size_t nr_policies;
	u32 *frames;		/* of every trace; NULL: from its pages */
	size_t nr_frames;
	struct sim_trace *trace;
	size_t nr_traces;
	enum sim_mode mode;
	bool json;
	bool contract;
	u32 salt;		/* of --contract */
};

/* One line of the table. */
struct row {
	const struct sim_policy *policy;
	const struct sim_trace *trace;
	u32 frames;
	struct sim_result r;
	struct sim_contract contract;	/* if --contract was given */
	u64 default_faults;
};

static const char *const mode_names[] = {
	[SIM_MAPPED] = "mapped",
	[SIM_EXACT] = "exact",
};

/* Cut @list at its commas; each part is handed to @add. 0 or an exit code. */
static int for_each_part(char *list, struct job *job,
			 int (*add)(struct job *job, char *part))
{
	char *part;
	int ret = 0;

	while (!ret && (part = strsep(&list, ",")))
		ret = add(job, part);
	return ret;
}

/* Room for one more behind @nr things of @size bytes, or NULL, said. */
static void *one_more(void *old, size_t nr, size_t size)
{
	void *more = reallocarray(old, nr + 1, size);

	if (!more)
		cli_error("%s", strerror(ENOMEM));
	return more;
}

static int add_policy(struct job *job, char *name)
{
	struct sim_policy *more = one_more(job->policy, job->nr_policies,
					   sizeof(*more));

	if (!more)
		return CLI_FAILED;
	job->policy = more;
	job->policy[job->nr_policies++] = (struct sim_policy){ .name = name };
	return CLI_OK;
}

static int add_frames(struct job *job, char *part)
{
	u32 *more;
	char *end;
	u64 n;

	errno = 0;
	n = strtoull(part, &end, 10);
	if (errno || *end || *part < '0' || *part > '9' || !n ||
	    n > SIM_MAX_FRAMES) {
		cli_error("--frames: want numbers from 1 to %u, not '%s'",
			  SIM_MAX_FRAMES, cli_clean(part));
		return CLI_USAGE;
	}
	more = one_more(job->frames, job->nr_frames, sizeof(*more));
	if (!more)
		return CLI_FAILED;
	job->frames = more;
	job->frames[job->nr_frames++] = n;
	return CLI_OK;
}

static int set_mode(struct job *job, char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mode_names); i++)
		if (!strcmp(name, mode_names[i])) {
			job->mode = i;
			return CLI_OK;
		}
	cli_error("--mode: want mapped or exact, not '%s'", cli_clean(name));
	return CLI_USAGE;
}

/* @salt: NULL for a fixed one, so that a run can be repeated. */
static int set_contract(struct job *job, char *salt)
{
	char *end;
	u64 n = 0;

	errno = 0;
	if (salt)
		n = strtoull(salt, &end, 10);
	if (salt && (errno || *end || *salt < '0' || *salt > '9' ||
		     n > UINT32_MAX)) {
		cli_error("--contract: want a number from 0 to %u, not '%s'",
			  UINT32_MAX, cli_clean(salt));
		return CLI_USAGE;
	}
	job->contract = true;
	job->salt = n;
	return CLI_OK;
}

static int parse_options(struct job *job, int argc, char **argv)
{
	static char all[] = "lru,fifo,clock,opt";
	static const struct option options[] = {
		{ "policy", required_argument, NULL, 'p' },
		{ "frames", required_argument, NULL, 'f' },
		{ "mode", required_argument, NULL, 'm' },
		{ "json", no_argument, NULL, 'j' },
		{ "contract", optional_argument, NULL, 'c' },
		{ NULL, 0, NULL, 0 },
	};
	int opt, ret = CLI_OK;

	while (!ret &&
	       (opt = getopt_long(argc, argv, "p:f:m:c::j", options, NULL)) != -1) {
		if (opt == 'p')
			ret = for_each_part(optarg, job, add_policy);
		else if (opt == 'f')
			ret = for_each_part(optarg, job, add_frames);
		else if (opt == 'm')
			ret = set_mode(job, optarg);
		else if (opt == 'j')
			job->json = true;
		else if (opt == 'c')
			ret = set_contract(job, optarg);
		else
			ret = CLI_USAGE;
	}
	if (!ret && optind == argc)
		ret = CLI_USAGE;
	if (!ret && !job->nr_policies)
		ret = for_each_part(all, job, add_policy);
	return ret;
}

static int open_policies(struct job *job)
{
	char line[512];
	struct hipec_text why;
	size_t i;

	for (i = 0; i < job->nr_policies; i++) {
		struct sim_policy *p = &job->policy[i];

		hipec_text_init(&why, line, sizeof(line));
		if (sim_policy_open(p, p->name, &why)) {
			cli_error("%s", cli_clean(line));
			return CLI_FAILED;
		}
		if (!p->reference && p->policy.index[HIPEC_EVENT_TIMER])
			cli_error("%s: its Timer does not run: there is no clock here",
				  p->name);
	}
	return CLI_OK;
}

static int read_trace(struct sim_trace *t, const char *name)
{
	bool standard = !strcmp(name, "-");
	FILE *in = standard ? stdin : fopen(name, "re");
	struct sim_error err;
	int ret;

	if (!in) {
		cli_error("%s: %s", name, strerror(errno));
		return CLI_FAILED;
	}
	ret = sim_trace_read(t, name, in, &err);
	if (!standard)
		fclose(in);
	if (ret == -EINVAL && err.line)
		fprintf(stderr, "%s:%llu: %s\n", name,
			(unsigned long long)err.line, err.text);
	else if (ret == -EINVAL)
		fprintf(stderr, "%s: %s\n", name, err.text);
	else if (ret)
		cli_error("%s: %s", name, strerror(-ret));
	return ret ? CLI_FAILED : CLI_OK;
}

static int read_traces(struct job *job, char **names, int nr)
{
	int i, ret = CLI_OK;

	job->trace = calloc(nr, sizeof(*job->trace));
	if (!job->trace) {
		cli_error("%s", strerror(ENOMEM));
		return CLI_FAILED;
	}
	for (i = 0; i < nr && !ret; i++)
		ret = read_trace(&job->trace[job->nr_traces++], names[i]);
	return ret;
}

enum column {
	POLICY, FRAMES, ACCESSES, FAULTS, HITS, WRITTEN, COMMANDS, STATE,
	DEFAULTS, ESTIMATE, WORST, CONTRACT, NR_COLUMNS
};

static const char *const titles[] = {
	[POLICY] = "POLICY", [FRAMES] = "FRAMES", [ACCESSES] = "ACCESSES",
	[FAULTS] = "FAULTS", [HITS] = "HITS%", [WRITTEN] = "WRITTEN",
	[COMMANDS] = "COMMANDS/FAULT", [STATE] = "STATE",
	[DEFAULTS] = "DEFAULT'S", [ESTIMATE] = "ESTIMATE", [WORST] = "WORST%",
	[CONTRACT] = "CONTRACT",
};

/* The last one, and no other, is of any width. */
static const enum column columns[] = {
	POLICY, FRAMES, ACCESSES, FAULTS, HITS, WRITTEN, COMMANDS, STATE
};

static const enum column contract_columns[] = {
	POLICY, FRAMES, FAULTS, DEFAULTS, ESTIMATE, WORST, CONTRACT
};

static void state_text(const struct row *row, char *cell)
{
	const struct sim_result *r = &row->r;

	if (row->policy->reference)
		snprintf(cell, CELL, "built in");
	else if (r->exit.kind)
		snprintf(cell, CELL, "ended at access %llu: %s",
			 (unsigned long long)r->ended_at, r->exit.message);
	else if (r->helped)
		snprintf(cell, CELL, "runs, helped %llu times",
			 (unsigned long long)r->helped);
	else
		snprintf(cell, CELL, "runs");
	cli_clean(cell);
}

static bool has_worst(const struct row *row)
{
	return !row->policy->reference && row->contract.nr_windows >=
	       hipec_contract_default.windows;
}

static void contract_text(const struct row *row, char *cell)
{
	const struct sim_contract *c = &row->contract;

	if (row->policy->reference)
		snprintf(cell, CELL, "built in");
	else if (c->revoked_at)
		snprintf(cell, CELL, "revoked at fault %llu, in window %u of %u",
			 (unsigned long long)c->revoked_at, c->revoked_in,
			 c->nr_windows);
	else
		snprintf(cell, CELL, "%s, %u windows",
			 has_worst(row) ? "kept" : "too short to say",
			 c->nr_windows);
}

static void cell_text(const struct row *row, enum column column, char *cell)
{
	const struct sim_result *r = &row->r;
	u64 n = row->trace->nr_accesses;

	switch (column) {
	case POLICY:
		snprintf(cell, CELL, "%s", row->policy->name);
		cli_clean(cell);
		break;
	case FRAMES:
		snprintf(cell, CELL, "%u", row->frames);
		break;
	case ACCESSES:
		snprintf(cell, CELL, "%llu", (unsigned long long)n);
		break;
	case FAULTS:
		snprintf(cell, CELL, "%llu", (unsigned long long)r->faults);
		break;
	case HITS:
		snprintf(cell, CELL, "%.2f", 100.0 * (n - r->faults) / n);
		break;
	case WRITTEN:
		snprintf(cell, CELL, "%llu", (unsigned long long)r->written);
		break;
	case COMMANDS:
		if (row->policy->reference)
			snprintf(cell, CELL, "-");
		else
			snprintf(cell, CELL, "%.1f",
				 (double)r->commands / r->faults);
		break;
	case DEFAULTS:
		snprintf(cell, CELL, "%llu",
			 (unsigned long long)row->default_faults);
		break;
	case ESTIMATE:
		if (row->policy->reference)
			snprintf(cell, CELL, "-");
		else
			snprintf(cell, CELL, "%llu",
				 (unsigned long long)row->contract.estimate);
		break;
	case WORST:
		if (has_worst(row))
			snprintf(cell, CELL, "%+.1f", row->contract.worst);
		else
			snprintf(cell, CELL, "-");
		break;
	case CONTRACT:
		contract_text(row, cell);
		break;
	default:
		state_text(row, cell);
	}
}

static void print_cell(const char *cell, int width, size_t j, size_t last)
{
	printf("%*s%s", !j ? -width : j == last ? 0 : width, cell,
	       j == last ? "\n" : "  ");
}

static void print_table(const struct job *job, const struct row *rows,
			size_t nr)
{
	const enum column *shown = job->contract ? contract_columns : columns;
	size_t last = (job->contract ? ARRAY_SIZE(contract_columns) :
				       ARRAY_SIZE(columns)) - 1, i, j;
	int width[NR_COLUMNS];
	char cell[CELL];

	for (j = 0; j <= last; j++) {
		width[j] = strlen(titles[shown[j]]);
		for (i = 0; i < nr; i++) {
			cell_text(&rows[i], shown[j], cell);
			if ((int)strlen(cell) > width[j])
				width[j] = strlen(cell);
		}
	}
	for (j = 0; j <= last; j++)
		print_cell(titles[shown[j]], width[j], j, last);
	for (i = 0; i < nr; i++)
		for (j = 0; j <= last; j++) {
			cell_text(&rows[i], shown[j], cell);
			print_cell(cell, width[j], j, last);
		}
}

static void print_trace(const struct job *job, const struct sim_trace *t)
{
	printf("%s%s: %llu accesses to %u pages, %s\n",
	       t == job->trace ? "" : "\n", t->name,
	       (unsigned long long)t->nr_accesses, t->nr_pages,
	       mode_names[job->mode]);
}

static void add_number(struct json_object *o, const char *key, u64 n)
{
	json_object_object_add(o, key, json_object_new_uint64(n));
}

static void add_text(struct json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, json_object_new_string(text));
}

static struct json_object *exit_json(const struct sim_result *r)
{
	struct json_object *o = json_object_new_object();

	add_number(o, "kind", r->exit.kind);
	add_text(o, "text", hipec_exit_text(r->exit.kind));
	if (r->exit.kind == HIPEC_EXIT_NONE)
		return o;
	add_number(o, "access", r->ended_at);
	add_number(o, "event", r->exit.event);
	add_number(o, "command", r->exit.command);
	add_number(o, "line", r->exit.line);
	add_text(o, "message", r->exit.message);
	return o;
}

/* The integers that the policy declares as counters. */
static struct json_object *counters_json(const struct row *row)
{
	const struct hipec_policy *p = &row->policy->policy;
	struct json_object *o = json_object_new_object();
	u32 i;

	for (i = 0; i < p->image->nr_operands; i++)
		if (p->operand[i].flags & HIPEC_OPERAND_COUNTER)
			json_object_object_add(o,
				hipec_policy_name(p, p->operand[i].name),
				json_object_new_int64(row->r.slot[i]));
	return o;
}

static struct json_object *contract_json(const struct row *row)
{
	const struct sim_contract *c = &row->contract;
	struct json_object *o = json_object_new_object();

	add_number(o, "default_faults", row->default_faults);
	add_number(o, "windows", c->nr_windows);
	add_number(o, "watched_faults", c->watched);
	add_number(o, "estimated_faults", c->estimate);
	json_object_object_add(o, "worst_percent", !has_worst(row) ? NULL :
			       json_object_new_double(c->worst));
	add_number(o, "looks", c->looks);
	add_number(o, "revoked_at", c->revoked_at);
	add_number(o, "revoked_in", c->revoked_in);
	return o;
}

static struct json_object *row_json(const struct job *job,
				    const struct row *row)
{
	struct json_object *o = json_object_new_object();
	bool built_in = row->policy->reference;
	const struct sim_result *r = &row->r;

	add_text(o, "trace", row->trace->name);
	add_text(o, "mode", mode_names[job->mode]);
	add_text(o, "policy", row->policy->name);
	json_object_object_add(o, "built_in", json_object_new_boolean(built_in));
	add_number(o, "frames", row->frames);
	add_number(o, "pages", row->trace->nr_pages);
	add_number(o, "accesses", row->trace->nr_accesses);
	add_number(o, "faults", r->faults);
	add_number(o, "hits", row->trace->nr_accesses - r->faults);
	add_number(o, "evictions", r->evictions);
	add_number(o, "written_pages", r->written);
	if (built_in)
		return o;
	add_number(o, "commands", r->commands);
	add_number(o, "events", r->events);
	add_number(o, "refused", r->refused);
	add_number(o, "helped", r->helped);
	add_number(o, "forgotten", r->forgotten);
	json_object_object_add(o, "exit", exit_json(r));
	json_object_object_add(o, "policy_counters", counters_json(row));
	if (job->contract)
		json_object_object_add(o, "contract", contract_json(row));
	return o;
}

static int run_row(const struct job *job, struct sim_trace *t,
		   const struct sim_policy *p, u32 frames, struct row *row)
{
	int ret;

	*row = (struct row){ .policy = p, .trace = t, .frames = frames,
			     .contract.salt = job->salt };
	if (p->reference)
		ret = sim_run_reference(p->reference, t, frames, &row->r);
	else
		ret = sim_run_policy(&p->policy, t, frames, job->mode, &row->r,
				     job->contract ? &row->contract : NULL);
	if (ret)
		cli_error("%s with %u frames: %s", p->name, frames,
			  strerror(-ret));
	return ret;
}

/* What the default does, for all rows of the same frames from @row on. */
static int run_default(const struct job *job, struct sim_trace *t,
		       struct row *row)
{
	struct sim_result r;
	int ret = sim_run_reference(SIM_DEFAULT, t, row->frames, &r);
	size_t i;

	if (ret)
		cli_error("the default with %u frames: %s", row->frames,
			  strerror(-ret));
	for (i = 0; i < job->nr_policies; i++)
		row[i].default_faults = r.faults;
	return ret;
}

/* Frames of a trace that nobody gave: a half of its pages, and a quarter. */
static size_t frames_of(const struct job *job, const struct sim_trace *t,
			u32 own[2], const u32 **frames)
{
	*frames = job->frames ? job->frames : own;
	if (job->frames)
		return job->nr_frames;
	own[0] = (t->nr_pages + 3) / 4;
	own[1] = (t->nr_pages + 1) / 2;
	own[0] = own[0] < SIM_MAX_FRAMES ? own[0] : SIM_MAX_FRAMES;
	own[1] = own[1] < SIM_MAX_FRAMES ? own[1] : SIM_MAX_FRAMES;
	return own[0] == own[1] ? 1 : 2;
}

/* All rows of one trace: to the terminal, or into @array. */
static int run_trace(const struct job *job, struct sim_trace *t,
		     struct json_object *array)
{
	const u32 *frames;
	u32 own[2];
	size_t nr = frames_of(job, t, own, &frames), i;
	struct row *rows = calloc(nr * job->nr_policies, sizeof(*rows));
	int ret = rows ? 0 : -ENOMEM;

	nr *= job->nr_policies;
	for (i = 0; i < nr && !ret; i++)
		ret = run_row(job, t, &job->policy[i % job->nr_policies],
			      frames[i / job->nr_policies], &rows[i]);
	for (i = 0; job->contract && i < nr && !ret; i += job->nr_policies)
		ret = run_default(job, t, &rows[i]);
	if (!ret && array) {
		for (i = 0; i < nr; i++)
			json_object_array_add(array, row_json(job, &rows[i]));
	} else if (!ret) {
		print_trace(job, t);
		print_table(job, rows, nr);
	}
	free(rows);
	return ret;
}

static int run_job(const struct job *job)
{
	struct json_object *array = job->json ? json_object_new_array() : NULL;
	int ret = 0;
	size_t i;

	for (i = 0; i < job->nr_traces && !ret; i++)
		ret = run_trace(job, &job->trace[i], array);
	if (array && !ret)
		puts(json_object_to_json_string_ext(array,
						    JSON_C_TO_STRING_PRETTY));
	json_object_put(array);
	return ret ? CLI_FAILED : CLI_OK;
}

int cli_sim(int argc, char **argv)
{
	struct job job = { 0 };
	size_t i;
	int ret;

	ret = parse_options(&job, argc, argv);
	if (!ret)
		ret = read_traces(&job, argv + optind, argc - optind);
	if (!ret)
		ret = open_policies(&job);
	if (!ret)
		ret = run_job(&job);
	for (i = 0; i < job.nr_traces; i++)
		sim_trace_free(&job.trace[i]);
	for (i = 0; i < job.nr_policies; i++)
		sim_policy_close(&job.policy[i]);
	free(job.trace);
	free(job.policy);
	free(job.frames);
	return ret;
}
