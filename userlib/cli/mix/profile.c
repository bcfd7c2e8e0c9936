// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec mix --profile: orders of submission for hipec profile's page, with one time
 * for all applications. Each runs twice: how long it takes is known behind the end,
 * and nothing is by chance.
 */
#include <errno.h>
#include <stdlib.h>

#include "../../say/json.h"
#include "mix.h"

/* Runs of all orders, in theirs; each has its map, since orders last differently. */
struct mix_profile {
	struct profile_watchers w;
	struct sim_rows rows;
	u32 nr_orders;		/* so far */
};

/**
 * mix_profile_make() - be ready to draw orders
 * @job:       what was asked for
 * @nr_orders: that will run
 *
 * Return: to be freed with mix_profile_free(); NULL if there is no memory.
 */
struct mix_profile *mix_profile_make(const struct mix_job *job, u32 nr_orders)
{
	struct mix_profile *p = calloc(1, sizeof(*p));
	size_t nr = (size_t)nr_orders * job->nr_apps;

	if (!p)
		return NULL;
	p->w.map = calloc(nr, sizeof(*p->w.map));
	p->w.profile = calloc(nr, sizeof(*p->w.profile));
	p->rows.row = calloc(nr, sizeof(*p->rows.row));
	p->rows.cell = calloc(nr, sizeof(*p->rows.cell));
	if (p->w.map && p->w.profile && p->rows.row && p->rows.cell)
		return p;
	mix_profile_free(p);
	return NULL;
}

void mix_profile_free(struct mix_profile *p)
{
	if (!p)
		return;
	profile_watchers_free(&p->w);
	free(p->rows.row);
	free(p->rows.cell);
	free(p);
}

/* Have @app watched. */
static int watch(struct mix_profile *p, struct mix_app *app, u64 elapsed)
{
	struct profile_map *map = &p->w.map[p->w.nr_maps++];
	struct profile *profile = &p->w.profile[p->w.nr];
	struct sim_row *row = &p->rows.row[p->rows.nr++];
	int ret = profile_map_make(map, app->trace);

	if (ret)
		return ret;
	profile_map_clock(map, elapsed);
	p->rows.cell[p->rows.nr_cells++].row = row;
	row->policy = app->policy;
	row->trace = app->trace;
	p->w.nr++;
	ret = profile_begin(profile, map, row);
	profile->application = app->name;
	profile->group = p->nr_orders;
	app->watch = row->watch;
	return ret;
}

/**
 * mix_profile_run() - run an order once more, to be drawn
 * @job:    what was asked for
 * @app:    applications in that order
 * @before: what came of it before
 *
 * Return: 0; an error as mix_run()'s.
 */
int mix_profile_run(const struct mix_job *job, struct mix_app *const *app,
		    const struct mix_result *before)
{
	struct mix_profile *p = job->profile;
	struct mix_machine machine = job->machine;
	struct mix_result result = { 0 };
	size_t first = p->w.nr;
	int ret = 0;
	u32 i;

	for (i = 0; i < job->nr_apps && !ret; i++)
		ret = watch(p, app[i], before->elapsed);
	machine.moment_ns = p->w.map[first].per_bin;
	if (!ret)
		ret = mix_run(&machine, app, job->nr_apps, &result);
	for (i = 0; i < job->nr_apps && !ret; i++) {
		profile_end(&p->w.profile[first + i]);
		p->rows.row[first + i].r = result.row[i].r;
		p->rows.row[first + i].frames = result.row[i].most_frames;
	}
	for (i = 0; i < job->nr_apps; i++)
		app[i]->watch = NULL;
	mix_result_free(&result);
	p->nr_orders++;
	return ret;
}

/**
 * mix_profile_show() - put out what was drawn
 * @job: what was asked for
 *
 * Return: 0 or an exit code, said.
 */
int mix_profile_show(const struct mix_job *job)
{
	/* As if each ran by itself, with nothing to compare. */
	const struct sim_job alone = {
		.mode = job->machine.mode, .nr_policies = 1,
	};
	struct json_object *o = profile_json(&alone, &job->profile->rows,
					     &job->profile->w);
	struct json_object *machine = json_object_new_object();
	int ret;

	cli_json_number(machine, "frames", job->machine.frames);
	cli_json_text(machine, "global", mix_global_name(&job->machine));
	json_object_object_add(o, "machine", machine);
	ret = profile_show(&job->output, o);
	json_object_put(o);
	return ret;
}
