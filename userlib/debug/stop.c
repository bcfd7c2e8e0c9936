// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a session of hipec sim --step stops: at an access, in an event, at a line, at a
 * page, at a miss.
 */
#include <string.h>

#include "debug.h"
#include "../option/option.h"

/* Why a run stops at @stop. */
void dbg_stop_text(const struct dbg *d, const struct dbg_stop *stop, char *text,
		   size_t size)
{
	unsigned long long n = stop->n;

	switch (stop->kind) {
	case DBG_STOP_AT:
		snprintf(text, size, "at access %llu", n);
		break;
	case DBG_STOP_IN:
		snprintf(text, size, "in %s",
			 hipec_image_event_name(d->policy, stop->n));
		break;
	case DBG_STOP_LINE:
		snprintf(text, size, "at line %llu", n);
		break;
	case DBG_STOP_PAGE:
		snprintf(text, size, "at page %llu", n);
		break;
	case DBG_STOP_MISS:
		snprintf(text, size, "at a miss");
		break;
	}
}

static bool is_here(const struct dbg *d, const struct dbg_stop *stop)
{
	bool command = d->at == DBG_COMMAND, access = d->at == DBG_ACCESS;

	switch (stop->kind) {
	case DBG_STOP_AT:
		return access && d->s->nr_accesses == stop->n;
	case DBG_STOP_IN:
		return command && d->entered && d->c.event == stop->n;
	case DBG_STOP_LINE:
		return command && d->new_line && d->c.line == stop->n;
	case DBG_STOP_PAGE:
		return access && d->pgno == stop->n;
	case DBG_STOP_MISS:
		return access && d->touch >= SIM_FAULT;
	}
	return false;
}

/* The stop where the run is now, or NULL. */
const struct dbg_stop *dbg_stop_here(const struct dbg *d)
{
	u32 i;

	for (i = 0; i < d->nr_stops; i++)
		if (is_here(d, &d->stop[i]))
			return &d->stop[i];
	return NULL;
}

/* Page state changed: report its breakpoint after this step. */
void dbg_stop_fate(struct dbg *d, u32 pgno, enum sim_fate fate)
{
	char place[2 * DBG_NAME] = "";
	u32 i;

	for (i = 0; i < d->nr_stops; i++)
		if (d->stop[i].kind == DBG_STOP_PAGE && d->stop[i].n == pgno)
			break;
	if (i == d->nr_stops)
		return;
	if (d->in_event)
		dbg_place_text(d, &d->c, place);
	snprintf(d->reason, sizeof(d->reason), "stop %u: page %u %s%s%s",
		 d->stop[i].id, pgno, sim_fate_text(fate), *place ? ", " : "",
		 place);
}

static void add(struct dbg *d, enum dbg_stop_kind kind, u64 n)
{
	struct dbg_stop *stop = &d->stop[d->nr_stops];
	char text[2 * DBG_NAME];

	if (d->nr_stops == DBG_MAX_STOPS) {
		dbg_wrong(d, "stop: there are %u already; 'delete' one",
			  DBG_MAX_STOPS);
		return;
	}
	*stop = (struct dbg_stop){ .kind = kind, .n = n, .id = ++d->last_stop };
	d->nr_stops++;
	dbg_stop_text(d, stop, text, sizeof(text));
	printf("stop %u: %s\n", stop->id, text);
}

static void add_event(struct dbg *d, const char *name)
{
	const struct hipec_policy *p = d->policy;
	const char *near = NULL, *other;
	u32 i;

	for (i = 0; i < p->image->nr_events; i++) {
		other = hipec_image_event_name(p, p->event[i].number);
		if (!strcmp(name, other)) {
			add(d, DBG_STOP_IN, p->event[i].number);
			return;
		}
		near = option_nearest(name, near, other);
	}
	if (near)
		dbg_wrong(d, "stop: the policy has no event '%s'; did you mean '%s'?",
			  name, near);
	else
		dbg_wrong(d, "stop: the policy has no event '%s'", name);
}

/* The first line from @line on that has commands; 0: none has. */
static u32 line_with_commands(const struct hipec_policy *p, u64 line)
{
	u32 best = 0, i, e;

	for (e = 0; e < p->image->nr_events; e++)
		for (i = 1; i < p->event[e].nr; i++) {
			u32 has = p->lines[p->event[e].first + i];

			if (has >= line && has && (!best || has < best))
				best = has;
		}
	return best;
}

static void add_line(struct dbg *d, const char *word)
{
	const char *colon = strrchr(word, ':'), *slash = strrchr(word, '/');
	const char *file = slash ? slash + 1 : word;
	u32 with;
	u64 n;

	if (!d->policy->lines) {
		dbg_wrong(d, "stop: the policy has no line numbers");
		return;
	}
	if (colon && *d->source.name &&
	    (strncmp(file, d->source.name, colon - file) ||
	     d->source.name[colon - file])) {
		dbg_wrong(d, "stop: there is no '%.*s' here, the policy is of %s",
			  (int)(colon - word), word, d->source.name);
		return;
	}
	if (!dbg_number(colon ? colon + 1 : word, &n) || !n) {
		dbg_wrong(d, "stop: want a line, as 7 or FILE:7, not '%s'", word);
		return;
	}
	with = line_with_commands(d->policy, n);
	if (with == n)
		add(d, DBG_STOP_LINE, n);
	else if (with)
		dbg_wrong(d, "stop: line %llu has no commands; the next that has is %u",
			  (unsigned long long)n, with);
	else
		dbg_wrong(d, "stop: no line from %llu on has commands",
			  (unsigned long long)n);
}

static void list(const struct dbg *d)
{
	char text[2 * DBG_NAME];
	u32 i;

	if (!d->nr_stops)
		puts("no stops; 'stop in Replace' makes one");
	for (i = 0; i < d->nr_stops; i++) {
		dbg_stop_text(d, &d->stop[i], text, sizeof(text));
		printf("stop %u: %s\n", d->stop[i].id, text);
	}
}

/**
 * dbg_stop_command() - stop WHERE
 * @d:    session
 * @word: of WHERE
 * @nr:   of them; 0: say where it stops
 */
void dbg_stop_command(struct dbg *d, char **word, size_t nr)
{
	u64 n = 0;

	if (!nr) {
		list(d);
	} else if (!strcmp(word[0], "miss") && nr == 1) {
		add(d, DBG_STOP_MISS, 0);
	} else if (!strcmp(word[0], "in") && nr == 2) {
		add_event(d, word[1]);
	} else if (!strcmp(word[0], "line") && nr == 2) {
		add_line(d, word[1]);
	} else if (strchr(word[0], ':') && nr == 1) {
		add_line(d, word[0]);
	} else if (!strcmp(word[0], "page") && nr == 2 &&
		   dbg_number(word[1], &n) && n <= UINT32_MAX) {
		add(d, DBG_STOP_PAGE, n);
	} else if (!strcmp(word[0], "at") && nr == 2 &&
		   dbg_number(word[1], &n) && n && n <= d->trace->nr_accesses) {
		add(d, DBG_STOP_AT, n);
	} else {
		dbg_wrong(d, "stop: want at N (an access, 1 to %llu), in EVENT, line [FILE:]N, page N, or miss",
			  (unsigned long long)d->trace->nr_accesses);
	}
}

/* delete N, or all. */
void dbg_delete_command(struct dbg *d, const char *word)
{
	u64 id;
	u32 i;

	if (!strcmp(word, "all")) {
		d->nr_stops = 0;
		return;
	}
	for (i = 0; dbg_number(word, &id) && i < d->nr_stops; i++) {
		if (d->stop[i].id != id)
			continue;
		d->nr_stops--;
		memmove(&d->stop[i], &d->stop[i + 1],
			(d->nr_stops - i) * sizeof(d->stop[0]));
		return;
	}
	dbg_wrong(d, "delete: there is no stop '%s'", word);
}
