// SPDX-License-Identifier: GPL-2.0-only
/*
 * A session of hipec sim --step: what a run tells, and whether to stop there.
 */
#include "../say/say.h"
#include "debug.h"
#include "../sim/feed.h"

static struct dbg *dbg_of(struct sim_watch *w)
{
	static_assert(!offsetof(struct dbg, watch), "watch comes first");
	return (struct dbg *)w;
}

/* Whether what was asked for has been reached. */
static bool reached(struct dbg *d)
{
	bool counts = false;

	switch (d->goal) {
	case DBG_TO_STOP:
		return false;
	case DBG_TO_COMMAND:
		counts = d->at == DBG_COMMAND;
		break;
	case DBG_TO_LINE:
		counts = d->at == DBG_COMMAND && d->new_line;
		break;
	case DBG_TO_EVENT:
		counts = d->at == DBG_COMMAND && d->entered && !d->c.depth;
		break;
	case DBG_TO_ACCESS:
		counts = d->at == DBG_ACCESS;
		break;
	case DBG_TO_END:
		return d->at == DBG_ACCESS || d->nr_events != d->left;
	case DBG_TO_MOMENT:
		return d->moment == d->left;
	case DBG_TO_NUMBER:
		return d->at == DBG_ACCESS && d->s->nr_accesses == d->left;
	}
	d->left -= counts;
	return !d->left;
}

/* Whether to stop here, on the way; says why. */
static bool stops(struct dbg *d)
{
	const struct dbg_stop *stop;
	char text[2 * DBG_NAME];

	if (dbg_interrupted()) {
		puts("interrupted");
		return true;
	}
	if (d->goal == DBG_TO_MOMENT || d->goal == DBG_TO_NUMBER)
		return d->at == DBG_OVER;
	if (*d->reason) {
		puts(d->reason);
		return true;
	}
	stop = dbg_stop_here(d);
	if (stop) {
		dbg_stop_text(d, stop, text, sizeof(text));
		printf("stop %u: %s\n", stop->id, text);
		return true;
	}
	return d->at == DBG_ENDED || d->at == DBG_OVER;
}

/* Do what the user says, until that goes on. */
static void talk(struct dbg *d)
{
	char *line;

	dbg_show_place(d);
	do {
		line = dbg_lines_next(&d->lines);
		if (!line) {
			dbg_quit(d);
			return;
		}
	} while (!dbg_obey(d, line));
}

static void moment(struct dbg *d, const struct sim *s, enum dbg_at at)
{
	bool here;

	d->s = s;
	d->at = at;
	d->moment++;
	if (d->leave)
		return;
	here = reached(d);
	here |= stops(d);
	*d->reason = 0;
	if (here)
		talk(d);
}

static void access_comes(struct sim_watch *w, const struct sim *s, u32 pgno,
			 bool write, enum sim_touch touch)
{
	struct dbg *d = dbg_of(w);

	d->pgno = pgno;
	d->write = write;
	d->touch = touch;
	moment(d, s, DBG_ACCESS);
}

static void event_is(struct sim_watch *w, const struct sim *s, u32 event,
		     bool begins)
{
	struct dbg *d = dbg_of(w);

	(void)s;
	(void)event;
	d->in_event = begins;
	d->nr_events += begins;
	if (begins)
		d->c = (struct sim_command){ 0 };
}

static void page_is(struct sim_watch *w, const struct sim *s, u32 h,
		    enum sim_fate fate)
{
	struct dbg *d = dbg_of(w);

	if (!d->leave && !*d->reason)
		dbg_stop_fate(d, s->core.vm.page[h].pgno, fate);
}

static void command_comes(struct sim_watch *w, const struct sim *s,
			  const struct sim_command *c)
{
	struct dbg *d = dbg_of(w);

	d->entered = !d->c.command || c->depth > d->c.depth;
	d->new_line = c->line && (d->entered || c->line != d->c.line);
	d->c = *c;
	moment(d, s, DBG_COMMAND);
}

static void has_ended(struct sim_watch *w, const struct sim *s)
{
	moment(dbg_of(w), s, DBG_ENDED);
}

static void is_over(struct sim_watch *w, const struct sim *s)
{
	moment(dbg_of(w), s, DBG_OVER);
}

/**
 * dbg_run() - a session, to its end
 * @d: with what is to be run, its source and its lines
 *
 * Return: 0 or an exit code, said.
 */
int dbg_run(struct dbg *d)
{
	const struct sim_feed_job usual = { 0 };
	struct sim_feed feed = { .job = &usual };
	int ret;

	d->watch = (struct sim_watch){
		.access = access_comes, .event = event_is, .page = page_is,
		.command = command_comes, .ended = has_ended, .over = is_over,
	};
	d->goal = DBG_TO_MOMENT;
	d->left = 1;
	d->result.feed = sim_feed_wants(d->policy) ? &feed : NULL;
	do {
		d->watch.stop = d->leave = d->again = false;
		d->moment = d->nr_events = 0;
		d->shown_access = d->shown_event = 0;
		d->in_event = false;
		ret = sim_run_watched(d->policy, d->trace, d->frames, d->mode,
				      &d->result, NULL, &d->watch);
		sim_feed_free(&feed);
	} while (d->again && (!ret || ret == -ECANCELED));
	if (ret && ret != -ECANCELED) {
		cli_error("%s", strerror(-ret));
		return CLI_FAILED;
	}
	return d->nr_wrong && !d->lines.terminal ? CLI_FAILED : CLI_OK;
}
