// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows as JSON: docs/sim.md has the keys.
 */
#include "cli_sim.h"

static void add_number(struct json_object *o, const char *key, u64 n)
{
	json_object_object_add(o, key, json_object_new_uint64(n));
}

static void add_text(struct json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, json_object_new_string(text));
}

/* @given: false: null. */
static void add_real(struct json_object *o, const char *key, bool given,
		     double n)
{
	json_object_object_add(o, key, given ? json_object_new_double(n) : NULL);
}

/* Whether and why the policy has ended. */
struct json_object *sim_exit_json(const struct sim_result *r)
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
struct json_object *sim_counters_json(const struct hipec_policy *p,
				      const struct sim_result *r)
{
	struct json_object *o = json_object_new_object();
	u32 i;

	for (i = 0; i < p->image->nr_operands; i++)
		if (p->operand[i].flags & HIPEC_OPERAND_COUNTER)
			json_object_object_add(o,
				hipec_policy_name(p, p->operand[i].name),
				json_object_new_int64(r->slot[i]));
	return o;
}

static struct json_object *contract_json(const struct sim_row *row,
					 u64 default_faults)
{
	const struct sim_contract *c = &row->contract;
	struct json_object *o = json_object_new_object();

	add_number(o, "default_faults", default_faults);
	add_number(o, "windows", c->nr_windows);
	add_number(o, "watched_faults", c->watched);
	add_number(o, "estimated_faults", c->estimate);
	add_real(o, "worst_percent", sim_has_worst(row), c->worst);
	add_number(o, "looks", c->looks);
	add_number(o, "revoked_at", c->revoked_at);
	add_number(o, "revoked_in", c->revoked_in);
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

	add_real(o, "gain_percent", known, gain);
	json_object_object_add(o, "verdict", verdict == SIM_VERDICT_UNKNOWN ?
			       NULL : json_object_new_string(names[verdict]));
}

static void add_counts(struct json_object *o, const struct sim_job *job,
		       const struct sim_row *row)
{
	u64 accesses = sim_accesses(row);
	const struct sim_result *r = &row->r;
	u64 reads = accesses - r->writes;

	add_number(o, "frames", row->frames);
	add_number(o, "pages", row->trace->nr_pages);
	add_number(o, "accesses", accesses);
	add_number(o, "reads", reads);
	add_number(o, "writes", r->writes);
	add_number(o, "faults", r->faults);
	add_number(o, "hits", accesses - r->faults);
	add_number(o, "read_misses", r->read_misses);
	add_number(o, "write_misses", r->faults - r->read_misses);
	add_real(o, "read_hit_ratio", reads,
		 (double)(reads - r->read_misses) / reads);
	add_number(o, "evictions", r->evictions);
	add_number(o, "read_pages", sim_read_pages(job, row));
	add_number(o, "written_pages", r->written);
}

static struct json_object *row_json(const struct sim_job *job,
				    const struct sim_cell *cell,
				    const struct sim_row *row)
{
	struct json_object *o = json_object_new_object();
	const struct sim_result *r = &row->r;
	bool built_in = row->policy->reference;

	add_text(o, "trace", row->trace->name);
	add_text(o, "mode", sim_mode_names[job->mode]);
	add_text(o, "policy", row->policy->name);
	json_object_object_add(o, "built_in", json_object_new_boolean(built_in));
	add_counts(o, job, row);
	add_verdict(o, job, cell, row);
	if (built_in)
		return o;
	add_number(o, "commands", r->commands);
	add_real(o, "commands_per_access", true,
		 (double)r->commands / sim_accesses(row));
	add_number(o, "most_commands", r->most_commands);
	add_number(o, "events", r->events);
	add_number(o, "refused", r->refused);
	add_number(o, "helped", r->helped);
	add_number(o, "forgotten", r->forgotten);
	add_number(o, "ahead_faults", r->ahead_faults);
	add_number(o, "ahead_pages", r->ahead_pages);
	add_number(o, "ahead_dropped", r->ahead_dropped);
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
 * Context: any.
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
