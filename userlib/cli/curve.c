// SPDX-License-Identifier: GPL-2.0-only
/*
 * --curve of live containers: what the policy that runs would miss with a part of the
 * budget, or with more. In the kernel these are teams of the league (module/league.c).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../module/vm/optable.h"
#include "cli.h"
#include "../say/json.h"
#include "league.h"
#include "table.h"

static const uint32_t budgets[] = CLI_CURVE;

/**
 * cli_curve_begin() - the policy that runs plays with other budgets as well
 * @device: container, loaded
 *
 * Return: 0 or an exit code, said.
 */
int cli_curve_begin(int device)
{
	char log[512] = "";
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(budgets); i++) {
		ret = hipec_join_budget(device, 0, budgets[i], log, sizeof(log));
		if (ret >= 0)
			continue;
		cli_error("--curve: %s", *log ? cli_clean(log) : cli_league_why(ret));
		return CLI_FAILED;
	}
	return CLI_OK;
}

static const struct hipec_standing *next_point(const struct cli_league *l,
					       const struct hipec_standing *s)
{
	for (s = s ? s + 1 : l->team; s < l->team + l->nr; s++)
		if (!cli_league_is_rival(s))
			return s;
	return NULL;
}

/* Return: whether @l has a curve. */
bool cli_curve_is(const struct cli_league *l)
{
	return next_point(l, NULL);
}

struct point {
	struct hipec_standing s;
	uint64_t pages;		/* budget */
	bool filled;
};

/*
 * Whether a budget has been used up, by the pages that came into it. Until then what it
 * saves is that of the time so far, and grows: a number would be taken for the whole truth.
 * @frames: the budget of the container
 */
bool cli_curve_is_filled(const struct hipec_standing *s, uint64_t frames)
{
	return s->misses >= (frames * s->quarters / 4) >> s->shift;
}

static void put_misses(char *cell, const struct point *p)
{
	if (p->s.sampled)
		cli_put_number(cell, p->s.misses);
	else
		strcpy(cell, "-");
}

static void put_saves(char *cell, const struct point *p)
{
	if (cli_league_is_rival(&p->s))
		strcpy(cell, "has it");
	else if (!p->filled)
		strcpy(cell, "not full");
	else
		cli_league_put_saving(cell, &p->s);
}

#define COLUMNS(X)								\
	X(budget, "BUDGET", false, cli_memory(cell, p->pages * 4096))		\
	X(pages, "PAGES", false, cli_put_number(cell, p->pages))		\
	X(misses, "MISSES", false, put_misses(cell, p))				\
	X(saves, "SAVES%", true, put_saves(cell, p))

#define CLI_ROW const struct point *p
COLUMNS(CLI_PUT_CELL)

static const struct cli_column columns[] = { COLUMNS(CLI_COLUMN) };

static int by_pages(const void *a, const void *b)
{
	const struct point *p = a, *q = b;

	return (p->pages > q->pages) - (p->pages < q->pages);
}

/* The budgets, of @frames and its parts and multiples, and what each would have missed. */
void cli_curve_print(const struct cli_league *l, uint64_t frames)
{
	const struct hipec_standing *runs = &l->team[l->team[0].runs], *s = NULL;
	struct point row[HIPEC_MAX_TEAMS + 1];
	size_t nr = 0;

	while ((s = next_point(l, s)))
		row[nr++] = (struct point){ *s, frames * s->quarters / 4,
					    cli_curve_is_filled(s, frames) };
	s = &row[0].s;
	printf("%s, %s accesses, to one page in %u\n", runs->policy, CLI_NUMBER(s->sampled),
	       1u << s->shift);
	row[nr] = (struct point){ *runs, frames, true };
	row[nr].s.sampled = s->sampled;
	row[nr++].s.misses = s->missed;
	qsort(row, nr, sizeof(*row), by_pages);
	cli_table_print(stdout, columns, ARRAY_SIZE(columns), row, nr, sizeof(*row));
}

/* What the next larger and the next smaller budget would bring, of @frames; @size bytes. */
void cli_curve_line(const struct cli_league *l, uint64_t frames, char *text, size_t size)
{
	const struct hipec_standing *s = NULL;
	double percent, error;
	char memory[CLI_COUNT];
	size_t n = 0;

	*text = '\0';
	while ((s = next_point(l, s))) {
		uint64_t pages = frames * s->quarters / 4;
		bool more = pages > frames;

		if ((s->quarters != 2 && s->quarters != 8) ||
		    !cli_league_saving(s, &percent, &error) || n >= size)
			continue;
		cli_memory(memory, (more ? pages - frames : frames - pages) * 4096);
		n += snprintf(text + n, size - n, "%s%s %s: ", n ? "; " : "", memory,
			      more ? "more" : "less");
		if (n >= size)
			break;
		if (!cli_curve_is_filled(s, frames))
			n += snprintf(text + n, size - n, "not full yet");
		else if (fabs(percent) < error)
			n += snprintf(text + n, size - n, "as many misses, ± %s %%",
				      CLI_PERCENT(error));
		else
			n += snprintf(text + n, size - n, "%s %% ± %s %% %s misses",
				      CLI_PERCENT(fabs(percent)), CLI_PERCENT(error), percent < 0 ? "more" : "fewer");
	}
	if (!n)
		snprintf(text, size, "nothing was missed yet");
}

/* Of a container of @frames. Return: an object, to be put; NULL: there is no curve. */
struct json_object *cli_curve_json(const struct cli_league *l, uint64_t frames)
{
	struct json_object *o, *points, *point;
	const struct hipec_standing *s = NULL;
	double percent, error;

	if (!cli_curve_is(l))
		return NULL;
	o = json_object_new_object();
	points = json_object_new_array();
	cli_json_text(o, "policy", l->team[l->team[0].runs].policy);
	cli_json_number(o, "one_page_in", 1ull << l->team[0].shift);
	while ((s = next_point(l, s))) {
		bool known = cli_curve_is_filled(s, frames) &&
			     cli_league_saving(s, &percent, &error);

		point = json_object_new_object();
		cli_json_number(point, "pages", frames * s->quarters / 4);
		cli_json_number(point, "sampled_accesses", s->sampled);
		cli_json_number(point, "sampled_misses", s->misses);
		cli_json_number(point, "budget_misses", s->missed);
		cli_json_real(point, "saves_percent", known, percent);
		cli_json_real(point, "error_percent", known, error);
		json_object_array_add(points, point);
	}
	json_object_object_add(o, "points", points);
	return o;
}
