// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows as JSON: docs/user/sim.md has the keys.
 */
#include "../say/json.h"
#include "job.h"

const char *const sim_mode_names[] = {
#define X(id, text) [SIM_##id] = text,
	SIM_MODES(X)
#undef X
};

/* Whether the contract had windows enough to have a worst excess. */
bool sim_has_worst(const struct sim_row *row)
{
	return !row->policy->reference && row->contract.nr_windows >=
	       hipec_contract_default.windows;
}

/* Whether and why the policy has ended. */
struct json_object *sim_exit_json(const struct sim_result *r)
{
	struct json_object *o = json_object_new_object();

	cli_json_number(o, "kind", r->exit.kind);
	cli_json_text(o, "text", hipec_vm_exit_text(r->exit.kind));
	if (r->exit.kind == HIPEC_EXIT_NONE)
		return o;
	cli_json_number(o, "access", r->ended_at);
	cli_json_number(o, "event", r->exit.event);
	cli_json_number(o, "command", r->exit.command);
	cli_json_number(o, "line", r->exit.line);
	cli_json_text(o, "message", r->exit.message);
	return o;
}

/* The integers that the policy declares as counters. */
struct json_object *sim_counters_json(const struct hipec_policy *p,
				      const struct sim_result *r)
{
	struct json_object *o = json_object_new_object();
	u32 i;

	for (i = 0; i < p->image->nr_operands; i++)
		if (p->operand[i].flags & HIPEC_OPERAND_COUNTER)
			json_object_object_add(o,
				hipec_image_policy_name(p, p->operand[i].name),
				json_object_new_int64(r->slot[i]));
	return o;
}

static struct json_object *contract_json(const struct sim_row *row,
					 u64 default_faults)
{
	const struct sim_contract *c = &row->contract;
	struct json_object *o = json_object_new_object();

	cli_json_number(o, "default_faults", default_faults);
	cli_json_number(o, "windows", c->nr_windows);
	cli_json_number(o, "watched_faults", c->watched);
	cli_json_number(o, "estimated_faults", c->estimate);
	cli_json_number(o, "estimated_in_windows", c->closed_estimate);
	cli_json_number(o, "least_faults", c->bounds.least);
	cli_json_number(o, "most_faults", c->bounds.most);
	cli_json_real(o, "worst_percent", sim_has_worst(row), c->worst);
	cli_json_number(o, "looks", c->looks);
	cli_json_number(o, "revoked_at", c->revoked_at);
	cli_json_number(o, "revoked_in", c->revoked_in);
	return o;
}

static void add_verdict(struct json_object *o, const struct sim_job *job,
			const struct sim_cell *cell, const struct sim_row *row)
{
	static const char *const names[] = {
		[SIM_VERDICT_NONE] = "none",
		[SIM_VERDICT_ROOM] = "room",
		[SIM_VERDICT_GAIN] = "gain",
	};
	enum sim_verdict verdict = sim_verdict(job, cell);
	double gain = 0;
	bool known = sim_verdict_gain(cell, row, &gain);

	cli_json_real(o, "gain_percent", known, gain);
	cli_json_text(o, "verdict", verdict == SIM_VERDICT_UNKNOWN ? NULL : names[verdict]);
}

static void add_counts(struct json_object *o, const struct sim_job *job,
		       const struct sim_row *row)
{
	u64 accesses = sim_accesses(row);
	const struct sim_result *r = &row->r;
	u64 reads = accesses - r->writes;

	cli_json_number(o, "frames", row->frames);
	cli_json_number(o, "pages", row->trace->nr_pages);
	cli_json_number(o, "accesses", accesses);
	cli_json_number(o, "reads", reads);
	cli_json_number(o, "writes", r->writes);
	cli_json_number(o, "faults", r->faults);
	cli_json_number(o, "hits", accesses - r->faults);
	cli_json_number(o, "read_misses", r->read_misses);
	cli_json_number(o, "write_misses", r->faults - r->read_misses);
	cli_json_real(o, "read_hit_ratio", reads,
		      (double)(reads - r->read_misses) / reads);
	cli_json_number(o, "evictions", r->evictions);
	cli_json_number(o, "read_pages", sim_read_pages(job, row));
	cli_json_number(o, "written_pages", r->written);
}

static struct json_object *sample_json(const struct sim_sample *s)
{
	struct json_object *o = json_object_new_object();

	cli_json_number(o, "every", s->every);
	cli_json_number(o, "pages", s->pages);
	cli_json_number(o, "accesses", s->accesses);
	cli_json_number(o, "frames", s->frames);
	cli_json_number(o, "ran", s->ran);
	cli_json_real(o, "error", true, s->error);
	return o;
}

static struct json_object *row_json(const struct sim_job *job,
				    const struct sim_cell *cell,
				    const struct sim_row *row)
{
	struct json_object *o = json_object_new_object();
	const struct sim_result *r = &row->r;
	bool built_in = row->policy->reference;

	cli_json_text(o, "trace", row->trace->name);
	cli_json_text(o, "mode", sim_mode_names[job->mode]);
	cli_json_text(o, "policy", row->policy->name);
	json_object_object_add(o, "built_in", json_object_new_boolean(built_in));
	add_counts(o, job, row);
	add_verdict(o, job, cell, row);
	if (job->sample)
		json_object_object_add(o, "sample", sample_json(&row->sample));
	if (row->policy->reference == POLICY_AUTO)
		json_object_object_add(o, "league", sim_league_json(job, row));
	if (built_in)
		return o;
	cli_json_number(o, "commands", r->commands);
	cli_json_real(o, "commands_per_access", true,
		      (double)r->commands / sim_accesses(row));
	cli_json_number(o, "most_commands", r->most_commands);
	cli_json_number(o, "events", r->events);
	cli_json_number(o, "refused", r->refused);
	cli_json_number(o, "helped", r->helped);
	cli_json_number(o, "forgotten", r->forgotten);
	cli_json_number(o, "ahead_faults", r->ahead_faults);
	cli_json_number(o, "ahead_pages", r->ahead_pages);
	cli_json_number(o, "ahead_dropped", r->ahead_dropped);
	json_object_object_add(o, "exit", sim_exit_json(r));
	json_object_object_add(o, "policy_counters",
			       sim_counters_json(&row->policy->policy, r));
	if (job->contract)
		json_object_object_add(o, "contract", contract_json(row,
				       cell->row[job->nr_policies].r.faults));
	return o;
}

/**
 * sim_json() - rows as an array
 * @job:  job
 * @rows: rows, which have run
 *
 * Return: the array, to be put.
 */
struct json_object *sim_json(const struct sim_job *job,
			     const struct sim_rows *rows)
{
	struct json_object *array = json_object_new_array();
	size_t i, j;

	for (i = 0; i < rows->nr_cells; i++)
		for (j = 0; j < job->nr_policies; j++)
			json_object_array_add(array,
				row_json(job, &rows->cell[i],
					 &rows->cell[i].row[j]));
	return array;
}
