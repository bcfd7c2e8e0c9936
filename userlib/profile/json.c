// SPDX-License-Identifier: GPL-2.0-only
/*
 * A profile as JSON: build/schemas/profile.json has the keys.
 */
#include "../say/json.h"
#include "pattern.h"

static struct json_object *numbers(const u32 *n, u32 nr)
{
	struct json_object *array = json_object_new_array_ext(nr);
	u32 i;

	for (i = 0; i < nr; i++)
		json_object_array_add(array, json_object_new_int64(n[i]));
	return array;
}

/* Of what is in bins and bands, bin by bin. */
static struct json_object *grid(const struct profile_map *m,
				u32 (*cell)[PROFILE_MAX_BANDS])
{
	struct json_object *array = json_object_new_array_ext(m->nr_bins);
	u32 i;

	for (i = 0; i < m->nr_bins; i++)
		json_object_array_add(array, numbers(cell[i], m->nr_bands));
	return array;
}

/* The region that has @pgno, or NULL. */
static const struct trace_region *region_of(const struct trace *t, u32 pgno)
{
	u32 i;

	for (i = 0; i < t->nr_regions; i++)
		if (pgno >= t->region[i].pgno &&
		    (!t->region[i].nr ||
		     pgno - t->region[i].pgno < t->region[i].nr))
			return &t->region[i];
	return NULL;
}

static struct json_object *name_of(const struct trace_region *r)
{
	return r ? json_object_new_string(r->name) : NULL;
}

static struct json_object *bands_json(const struct profile_map *m)
{
	struct json_object *array = json_object_new_array(), *o, *spans;
	const struct trace_region *r, *last;
	u32 i;

	for (i = 0; i < m->nr_bands; i++) {
		o = json_object_new_object();
		spans = NULL;
		r = region_of(m->t, m->band[i].first);
		last = region_of(m->t, m->band[i].last);
		if (r != last) {
			spans = json_object_new_array_ext(2);
			json_object_array_add(spans, name_of(r));
			json_object_array_add(spans, name_of(last));
			r = NULL;
		}
		cli_json_number(o, "first", m->band[i].first);
		cli_json_number(o, "last", m->band[i].last);
		cli_json_number(o, "pages", m->band[i].nr);
		cli_json_text(o, "region", r ? r->name : NULL);
		cli_json_number(o, "region_first", r ? r->pgno : 0);
		json_object_object_add(o, "spans", spans);
		json_object_array_add(array, o);
	}
	return array;
}

static struct json_object *queues_json(const struct profile *p)
{
	struct json_object *array = json_object_new_array(), *o, *length;
	u32 i, j;

	for (i = 0; i < p->nr_queues; i++) {
		o = json_object_new_object();
		length = json_object_new_array_ext(p->map->nr_bins);
		for (j = 0; j < p->map->nr_bins; j++)
			json_object_array_add(length,
				json_object_new_int64(p->length[j][i]));
		cli_json_text(o, "name", i ? hipec_image_policy_name(p->policy,
				p->policy->operand[p->queue[i]].name) : NULL);
		json_object_object_add(o, "length", length);
		json_object_array_add(array, o);
	}
	return array;
}

static struct json_object *counters_json(const struct profile *p)
{
	struct json_object *array = json_object_new_array(), *o, *value;
	u32 i, j;

	for (i = 0; i < p->nr_counters; i++) {
		o = json_object_new_object();
		value = json_object_new_array_ext(p->map->nr_bins);
		for (j = 0; j < p->map->nr_bins; j++)
			json_object_array_add(value,
				json_object_new_int64(p->value[j][i]));
		cli_json_text(o, "name", hipec_image_policy_name(p->policy,
				p->policy->operand[p->counter[i]].name));
		json_object_object_add(o, "value", value);
		json_object_array_add(array, o);
	}
	return array;
}

/* Commands of the words of an event. */
static u64 commands_of(const struct profile *p, const struct hipec_image_event *e)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < e->nr; i++)
		n += p->commands[e->first + i];
	return n;
}

static struct json_object *events_json(const struct profile *p)
{
	struct json_object *array = json_object_new_array(), *o;
	u32 i;

	for (i = 0; i < p->policy->image->nr_events; i++) {
		const struct hipec_image_event *e = &p->policy->event[i];

		o = json_object_new_object();
		cli_json_text(o, "name", hipec_image_event_name(p->policy, e->number));
		cli_json_number(o, "runs", p->runs[i]);
		cli_json_number(o, "commands", commands_of(p, e));
		json_object_array_add(array, o);
	}
	return array;
}

/* By line of the source: a line may have words in several places. */
static struct json_object *lines_json(const struct profile *p)
{
	struct json_object *o = json_object_new_object();
	const u32 *lines = p->policy->lines;
	struct json_object *n;
	char key[16];
	u32 i;

	for (i = 0; lines && i < p->policy->image->nr_words; i++) {
		snprintf(key, sizeof(key), "%u", lines[i]);
		if (json_object_object_get_ex(o, key, &n))
			json_object_int_inc(n, p->commands[i]);
		else if (lines[i])
			json_object_object_add(o, key,
				json_object_new_int64(p->commands[i]));
	}
	return o;
}

static void add_hash(struct json_object *o, const struct hipec_image *image)
{
	char text[2 * HIPEC_HASH_SIZE + 1];
	u32 i;

	for (i = 0; i < HIPEC_HASH_SIZE; i++)
		sprintf(text + 2 * i, "%02x", image->source_hash[i]);
	cli_json_text(o, "source_hash", text);
}

static struct json_object *run_json(const struct sim_rows *rows,
				    const struct profile_watchers *w,
				    const struct profile *p)
{
	struct json_object *o = json_object_new_object();

	cli_json_number(o, "row", p->row - rows->row);
	cli_json_number(o, "trace", p->map - w->map);
	cli_json_text(o, "application", p->application ?: p->map->t->name);
	cli_json_text(o, "unit", p->map->clock ? "ns" : "accesses");
	cli_json_number(o, "per_bin", p->map->per_bin);
	if (p->application) {
		cli_json_number(o, "group", p->group);
		json_object_object_add(o, "held",
				       numbers(p->held, p->map->nr_bins));
	}
	json_object_object_add(o, "faults", grid(p->map, p->faults));
	json_object_object_add(o, "resident", grid(p->map, p->resident));
	if (p->map->nr_fine) {
		cli_json_number(o, "per_fine", p->map->per_fine);
		json_object_object_add(o, "fine", numbers(p->fine, p->map->nr_fine));
	}
	if (!p->policy)
		return o;
	json_object_object_add(o, "queues", queues_json(p));
	json_object_object_add(o, "counters", counters_json(p));
	json_object_object_add(o, "events", events_json(p));
	json_object_object_add(o, "lines", lines_json(p));
	add_hash(o, p->policy->image);
	return o;
}

static void add_number(struct json_object *o, const char *key, u64 n)
{
	json_object_array_add(json_object_object_get(o, key), json_object_new_int64(n));
}

static void add_real(struct json_object *o, const char *key, double value)
{
	json_object_object_add(o, key, json_object_new_double(value));
}

static struct json_object *zipf_json(const struct profile_zipf *z)
{
	struct json_object *o;

	if (!z->pages)
		return NULL;
	o = json_object_new_object();
	add_real(o, "skew", z->skew);
	add_real(o, "error", z->error);
	add_real(o, "first", z->first);
	add_real(o, "misfit", z->misfit);
	cli_json_number(o, "pages", z->pages);
	cli_json_number(o, "accesses", z->accesses);
	return o;
}

static struct json_object *popularity_json(const struct profile_pattern *p)
{
	static const char *const keys[] = { "ranks", "accesses", "sums" };
	struct json_object *o = json_object_new_object();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		json_object_object_add(o, keys[i], json_object_new_array_ext(p->nr_ranks));
	for (i = 0; i < p->nr_ranks; i++) {
		add_number(o, "ranks", p->rank[i].rank);
		add_number(o, "accesses", p->rank[i].accesses);
		add_number(o, "sums", p->rank[i].sum);
	}
	json_object_object_add(o, "zipf", zipf_json(&p->zipf));
	return o;
}

static struct json_object *reuse_json(const struct profile_map *m,
				      const struct profile_pattern *p)
{
	struct json_object *array = json_object_new_array(), *o;
	u32 class, i;

	for (class = 0; class < p->nr_classes; class++) {
		o = json_object_new_object();
		json_object_object_add(o, "frames", class ?
				       json_object_new_int64(1u << (class - 1)) : NULL);
		json_object_object_add(o, "accesses", json_object_new_array_ext(m->nr_bins));
		for (i = 0; i < m->nr_bins; i++)
			add_number(o, "accesses", p->reuse[i][class]);
		json_object_array_add(array, o);
	}
	return array;
}

/* In seconds, where the unit of the trace's clock is known. */
static struct json_object *rate_json(const struct trace_clock *c)
{
	double unit = c && c->ns ? c->ns / 1e9 : 1;
	struct json_object *o;
	u32 i;

	if (!c)
		return NULL;
	o = json_object_new_object();
	cli_json_text(o, "unit", c->ns ? "s" : NULL);
	add_real(o, "first", c->first * unit);
	add_real(o, "part", c->part * unit);
	json_object_object_add(o, "requests", json_object_new_array_ext(c->nr));
	for (i = 0; i < c->nr; i++)
		add_number(o, "requests", c->requests[i]);
	return o;
}

static struct json_object *trace_json(const struct profile_map *m,
				      const struct profile_pattern *p)
{
	struct json_object *o = json_object_new_object();

	cli_json_text(o, "name", m->t->name);
	cli_json_number(o, "accesses", m->t->nr_accesses);
	cli_json_number(o, "pages", m->t->nr_pages);
	json_object_object_add(o, "bands", bands_json(m));
	json_object_object_add(o, "popularity", p ? popularity_json(p) : NULL);
	json_object_object_add(o, "reuse", p ? reuse_json(m, p) : NULL);
	json_object_object_add(o, "rate", p ? rate_json(m->t->clock) : NULL);
	return o;
}

static struct json_object *verdicts_json(const struct sim_job *job,
					 const struct sim_rows *rows)
{
	struct json_object *array = json_object_new_array(), *o;
	char line[SIM_VERDICT_LINE];
	size_t i;

	for (i = 0; i < rows->nr_cells; i++) {
		if (!sim_verdict_text(job, &rows->cell[i], line))
			continue;
		o = json_object_new_object();
		cli_json_text(o, "trace", rows->cell[i].row->trace->name);
		cli_json_number(o, "frames", rows->cell[i].row->frames);
		cli_json_text(o, "text", line);
		json_object_array_add(array, o);
	}
	return array;
}

/**
 * profile_json() - a profile
 * @job:  job
 * @rows: rows, which have run
 * @w:    who watched some of them
 *
 * Return: the object, to be put.
 */
struct json_object *profile_json(const struct sim_job *job,
				 const struct sim_rows *rows,
				 const struct profile_watchers *w)
{
	struct json_object *o = json_object_new_object();
	struct json_object *traces = json_object_new_array();
	struct json_object *runs = json_object_new_array();
	size_t i;

	cli_json_number(o, "version", 1);
	cli_json_text(o, "mode", sim_mode_names[job->mode]);
	cli_json_text(o, "over", job->over);
	json_object_object_add(o, "rows", sim_json(job, rows));
	json_object_object_add(o, "verdicts", verdicts_json(job, rows));
	for (i = 0; i < w->nr_maps; i++)
		json_object_array_add(traces, trace_json(&w->map[i],
							  w->pattern ? &w->pattern[i] : NULL));
	for (i = 0; i < w->nr; i++)
		json_object_array_add(runs, run_json(rows, w, &w->profile[i]));
	json_object_object_add(o, "traces", traces);
	json_object_object_add(o, "runs", runs);
	return o;
}
