// SPDX-License-Identifier: GPL-2.0-only
/*
 * What came of a mix, as a table and as JSON: docs/mixes.md has columns and keys.
 */
#include "cli_mix.h"
#include "cli_sim.h"

static double seconds(u64 ns)
{
	return ns / 1e9;
}

static void print_state(const struct mix_row *row)
{
	if (row->r.exit.kind)
		printf("  ended at access %llu: %s\n",
		       (unsigned long long)row->r.ended_at,
		       hipec_exit_text(row->r.exit.kind));
	else
		puts(hipec_fifo2_is(&row->app->policy->policy) ? "  built in" :
		     "  runs");
}

static void print_row(const struct mix_row *row, int width, int policy)
{
	const struct mix_app *app = row->app;

	printf("%-*s  %-*s %7u %9llu %9llu %8llu %7llu %7llu %7llu %9.2f %9.2f %9.2f %9.2f",
	       width, app->name, policy, app->policy->policy.image->name,
	       row->most_frames, (unsigned long long)row->r.faults,
	       (unsigned long long)row->read_pages,
	       (unsigned long long)row->r.written,
	       (unsigned long long)row->given, (unsigned long long)row->moved,
	       (unsigned long long)row->recovered, seconds(row->cpu),
	       seconds(row->disk_wait), seconds(row->cpu_wait),
	       seconds(row->ended - row->began));
	print_state(row);
}

/**
 * mix_table_print() - print what came of an order
 * @job: what was asked for
 * @r:   result
 *
 * Context: any.
 */
void mix_table_print(const struct mix_job *job, const struct mix_result *r)
{
	u64 faults = 0, pages = 0, written = 0;
	int width = 5, policy = 6, n;
	u32 i;

	printf("%s: %u frames, %s; order", job->file, job->machine.frames,
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
	printf("%-*s  %-*s %7s %9llu %9llu %8llu %73.2f\n", width, "all", policy,
	       "", "", (unsigned long long)faults, (unsigned long long)pages,
	       (unsigned long long)written, seconds(r->elapsed));
	printf("disk busy %.2f s, %.0f %% of the time; processor idle %.0f %%\n",
	       seconds(r->disk_busy),
	       r->elapsed ? 100.0 * r->disk_busy / r->elapsed : 0,
	       r->elapsed ? 100.0 * r->idle / r->elapsed : 0);
}

static void add_number(struct json_object *o, const char *key, u64 n)
{
	json_object_object_add(o, key, json_object_new_uint64(n));
}

static void add_text(struct json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, json_object_new_string(text));
}

static struct json_object *row_json(const struct mix_row *row)
{
	const struct mix_app *app = row->app;
	struct json_object *o = json_object_new_object();

	add_text(o, "app", app->name);
	add_text(o, "trace", app->source);
	add_text(o, "policy", app->policy->name);
	add_number(o, "privileged", app->reserved);
	add_number(o, "min", app->reserved ? 0 : app->min);
	add_number(o, "max", app->reserved ? 0 : app->max);
	add_number(o, "pages", app->trace->nr_pages);
	add_number(o, "accesses", app->trace->nr_accesses);
	add_number(o, "faults", row->r.faults);
	add_number(o, "read_pages", row->read_pages);
	add_number(o, "written_pages", row->r.written);
	add_number(o, "evictions", row->r.evictions);
	add_number(o, "commands", row->r.commands);
	add_number(o, "events", row->r.events);
	add_number(o, "refused", row->r.refused);
	add_number(o, "helped", row->r.helped);
	add_number(o, "forgotten", row->r.forgotten);
	add_number(o, "given", row->given);
	add_number(o, "moved", row->moved);
	add_number(o, "recovered", row->recovered);
	add_number(o, "most_frames", row->most_frames);
	add_number(o, "began_ns", row->began);
	add_number(o, "ended_ns", row->ended);
	add_number(o, "cpu_ns", row->cpu);
	add_number(o, "disk_wait_ns", row->disk_wait);
	add_number(o, "cpu_wait_ns", row->cpu_wait);
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
		add_number(o, "at_ns", r->sample[i].at);
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
 * Context: any.
 * Return: an object of the caller's.
 */
struct json_object *mix_json(const struct mix_job *job,
			     const struct mix_result *r)
{
	struct json_object *o = json_object_new_object();
	struct json_object *apps = json_object_new_array();
	u32 i;

	add_number(o, "frames", job->machine.frames);
	add_text(o, "global", mix_global_name(&job->machine));
	add_number(o, "elapsed_ns", r->elapsed);
	add_number(o, "idle_ns", r->idle);
	add_number(o, "disk_busy_ns", r->disk_busy);
	add_number(o, "disk_reads", r->disk_reads);
	add_number(o, "disk_writes", r->disk_writes);
	add_number(o, "disk_sequential", r->disk_sequential);
	for (i = 0; i < r->nr; i++)
		json_object_array_add(apps, row_json(&r->row[i]));
	json_object_object_add(o, "apps", apps);
	if (job->machine.sample_ns)
		json_object_object_add(o, "samples", samples_json(r));
	return o;
}
