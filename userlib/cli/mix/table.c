// SPDX-License-Identifier: GPL-2.0-only
/*
 * What came of a mix, as a table and as JSON: docs/user/sim.md has columns and keys.
 */
#include "../cli.h"
#include "../../say/json.h"
#include "mix.h"
#include "../table.h"

static double seconds(u64 ns)
{
	return ns / 1e9;
}

static void print_state(const struct mix_row *row)
{
	char cell[CLI_CELL];

	cli_put_runs(cell, row->r.helped, row->r.forgotten);
	if (row->r.exit.kind)
		printf("  ended at access %s: %s\n", CLI_NUMBER(row->r.ended_at),
		       hipec_vm_exit_text(row->r.exit.kind));
	else
		printf("  %s\n", hipec_fifo2_is(&row->app->policy->policy) ?
		       "built in" : cell);
}

static void print_row(const struct mix_row *row, int width, int policy)
{
	const struct mix_app *app = row->app;

	printf("%-*s  %-*s %7s %9s %9s %8s %7s %7s %7s %9.2f %9.2f %9.2f %9.2f",
	       width, app->name, policy, app->policy->policy.image->name,
	       CLI_NUMBER(row->most_frames), CLI_NUMBER(row->r.faults),
	       CLI_NUMBER(row->read_pages), CLI_NUMBER(row->r.written),
	       CLI_NUMBER(row->given), CLI_NUMBER(row->moved),
	       CLI_NUMBER(row->recovered), seconds(row->cpu),
	       seconds(row->disk_wait), seconds(row->cpu_wait),
	       seconds(row->ended - row->began));
	print_state(row);
}

/**
 * mix_table_print() - print what came of an order
 * @job: what was asked for
 * @r:   result
 */
void mix_table_print(const struct mix_job *job, const struct mix_result *r)
{
	u64 faults = 0, pages = 0, written = 0;
	int width = 5, policy = 6, n;
	u32 i;

	printf("%s: %s frames, %s; order", job->file, CLI_NUMBER(job->machine.frames),
	       mix_global_name(&job->machine));
	for (i = 0; i < r->nr; i++) {
		const struct mix_row *row = &r->row[i];

		printf(" %s", row->app->name);
		n = strlen(row->app->name);
		width = n > width ? n : width;
		n = strlen(row->app->policy->policy.image->name);
		policy = n > policy ? n : policy;
		faults += row->r.faults;
		pages += row->read_pages;
		written += row->r.written;
	}
	printf("\n%-*s  %-*s %7s %9s %9s %8s %7s %7s %7s %9s %9s %9s %9s  %s\n",
	       width, "APP", policy, "POLICY", "FRAMES", "FAULTS", "READ",
	       "WRITTEN", "GIVEN", "MOVED", "RECOV", "CPU", "DISK-WAIT",
	       "CPU-WAIT", "ELAPSED", "STATE");
	for (i = 0; i < r->nr; i++)
		print_row(&r->row[i], width, policy);
	printf("%-*s  %-*s %7s %9s %9s %8s %73.2f\n", width, "all", policy, "", "",
	       CLI_NUMBER(faults), CLI_NUMBER(pages), CLI_NUMBER(written),
	       seconds(r->elapsed));
	printf("disk busy %.2f s, %s %% of the time; processor idle %s %%\n",
	       seconds(r->disk_busy),
	       CLI_PERCENT(r->elapsed ? 100.0 * r->disk_busy / r->elapsed : 0),
	       CLI_PERCENT(r->elapsed ? 100.0 * r->idle / r->elapsed : 0));
}

static struct json_object *row_json(const struct mix_row *row)
{
	const struct mix_app *app = row->app;
	struct json_object *o = json_object_new_object();

	cli_json_text(o, "app", app->name);
	cli_json_text(o, "trace", app->source);
	cli_json_text(o, "policy", app->policy->name);
	cli_json_number(o, "privileged", app->reserved);
	cli_json_number(o, "min", app->reserved ? 0 : app->min);
	cli_json_number(o, "max", app->reserved ? 0 : app->max);
	cli_json_number(o, "pages", app->trace->nr_pages);
	cli_json_number(o, "accesses", app->trace->nr_accesses);
	cli_json_number(o, "faults", row->r.faults);
	cli_json_number(o, "read_pages", row->read_pages);
	cli_json_number(o, "written_pages", row->r.written);
	cli_json_number(o, "evictions", row->r.evictions);
	cli_json_number(o, "commands", row->r.commands);
	cli_json_number(o, "events", row->r.events);
	cli_json_number(o, "refused", row->r.refused);
	cli_json_number(o, "helped", row->r.helped);
	cli_json_number(o, "forgotten", row->r.forgotten);
	cli_json_number(o, "given", row->given);
	cli_json_number(o, "moved", row->moved);
	cli_json_number(o, "recovered", row->recovered);
	cli_json_number(o, "most_frames", row->most_frames);
	cli_json_number(o, "began_ns", row->began);
	cli_json_number(o, "ended_ns", row->ended);
	cli_json_number(o, "cpu_ns", row->cpu);
	cli_json_number(o, "disk_wait_ns", row->disk_wait);
	cli_json_number(o, "cpu_wait_ns", row->cpu_wait);
	json_object_object_add(o, "exit", sim_exit_json(&row->r));
	json_object_object_add(o, "policy_counters",
			       sim_counters_json(&app->policy->policy, &row->r));
	return o;
}

static struct json_object *samples_json(const struct mix_result *r)
{
	struct json_object *array = json_object_new_array(), *o, *frames;
	u32 i, n;

	for (i = 0; i < r->nr_samples; i++) {
		frames = json_object_new_array();
		for (n = 0; n < r->nr; n++)
			json_object_array_add(frames, json_object_new_uint64(
						      r->sample[i].frames[n]));
		o = json_object_new_object();
		cli_json_number(o, "at_ns", r->sample[i].at);
		json_object_object_add(o, "frames", frames);
		json_object_array_add(array, o);
	}
	return array;
}

/**
 * mix_json() - what came of an order
 * @job: what was asked for
 * @r:   result
 *
 * Return: an object of the caller's.
 */
struct json_object *mix_json(const struct mix_job *job,
			     const struct mix_result *r)
{
	struct json_object *o = json_object_new_object();
	struct json_object *apps = json_object_new_array();
	u32 i;

	cli_json_number(o, "frames", job->machine.frames);
	cli_json_text(o, "global", mix_global_name(&job->machine));
	cli_json_number(o, "elapsed_ns", r->elapsed);
	cli_json_number(o, "idle_ns", r->idle);
	cli_json_number(o, "disk_busy_ns", r->disk_busy);
	cli_json_number(o, "disk_reads", r->disk_reads);
	cli_json_number(o, "disk_writes", r->disk_writes);
	cli_json_number(o, "disk_sequential", r->disk_sequential);
	for (i = 0; i < r->nr; i++)
		json_object_array_add(apps, row_json(&r->row[i]));
	json_object_object_add(o, "apps", apps);
	if (job->machine.sample_ns)
		json_object_object_add(o, "samples", samples_json(r));
	return o;
}
