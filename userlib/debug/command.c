// SPDX-License-Identifier: GPL-2.0-only
/*
 * The commands of hipec sim --step: rows of one table. A word may be cut short: it is
 * the first row that begins so.
 */
#include <string.h>

#include "debug.h"
#include "../option/option.h"

#define MAX_WORDS 4

struct verb {
	const char *name;
	const char *other;	/* what other debuggers call it, or NULL */
	const char *usage;
	const char *summary;
	bool (*fn)(struct dbg *d, char **word, size_t nr);	/* true: go on */
	int max;		/* words behind it */
};

static const struct verb verbs[];

/* How often: the word behind a command, 1 if there is none. 0: wrong, said. */
static u64 times(struct dbg *d, char **word, size_t nr)
{
	u64 n = 1;

	if (nr > 1 && (!dbg_number(word[1], &n) || !n)) {
		dbg_wrong(d, "%s: want a number from 1 on, not '%s'", word[0],
			  word[1]);
		return 0;
	}
	return n;
}

static bool go(struct dbg *d, enum dbg_goal goal, char **word, size_t nr)
{
	u64 n = times(d, word, nr);

	if (n && d->at == DBG_OVER) {
		puts("the trace is over; 'back' and 'goto N' go back");
		return false;
	}
	if (n)
		dbg_go(d, goal, n);
	return n;
}

static bool do_step(struct dbg *d, char **word, size_t nr)
{
	return go(d, DBG_TO_COMMAND, word, nr);
}

static bool do_next(struct dbg *d, char **word, size_t nr)
{
	if (d->policy->lines)
		return go(d, DBG_TO_LINE, word, nr);
	dbg_wrong(d, "next: the policy has no line numbers; 'step' goes by commands");
	return false;
}

static bool do_event(struct dbg *d, char **word, size_t nr)
{
	return go(d, DBG_TO_EVENT, word, nr);
}

static bool do_access(struct dbg *d, char **word, size_t nr)
{
	return go(d, DBG_TO_ACCESS, word, nr);
}

static bool do_finish(struct dbg *d, char **word, size_t nr)
{
	(void)word;
	(void)nr;
	if (!d->in_event) {
		dbg_wrong(d, "finish: no event runs");
		return false;
	}
	dbg_go(d, DBG_TO_END, d->nr_events);
	return true;
}

static bool do_run(struct dbg *d, char **word, size_t nr)
{
	return go(d, DBG_TO_STOP, word, nr);
}

static bool do_goto(struct dbg *d, char **word, size_t nr)
{
	u64 n = 0;

	if (nr < 2 || !dbg_number(word[1], &n) || !n ||
	    n > d->trace->nr_accesses) {
		dbg_wrong(d, "goto: want the number of an access, 1 to %llu",
			  (unsigned long long)d->trace->nr_accesses);
		return false;
	}
	if (d->at == DBG_ACCESS && n == d->s->nr_accesses) {
		dbg_show_place(d);
		return false;
	}
	dbg_go(d, DBG_TO_NUMBER, n);
	return true;
}

static bool do_back(struct dbg *d, char **word, size_t nr)
{
	u64 n = times(d, word, nr);

	if (!n)
		return false;
	if (d->moment == 1) {
		puts("this is where it begins");
		return false;
	}
	dbg_go(d, DBG_TO_MOMENT, n < d->moment ? d->moment - n : 1);
	return true;
}

static bool do_stop(struct dbg *d, char **word, size_t nr)
{
	dbg_stop_command(d, word + 1, nr - 1);
	return false;
}

static bool do_delete(struct dbg *d, char **word, size_t nr)
{
	if (nr == 2)
		dbg_delete_command(d, word[1]);
	else
		dbg_wrong(d, "delete: want the number of a stop, or all");
	return false;
}

static bool do_where(struct dbg *d, char **word, size_t nr)
{
	(void)word;
	(void)nr;
	dbg_show_calls(d);
	return false;
}

static bool do_queues(struct dbg *d, char **word, size_t nr)
{
	dbg_print_queues(d, nr > 1 ? word[1] : NULL);
	return false;
}

static bool do_print(struct dbg *d, char **word, size_t nr)
{
	dbg_print_operands(d, nr > 1 ? word[1] : NULL);
	return false;
}

/* The page that a command is about. Return: whether there is one; said. */
static bool page_of(struct dbg *d, char **word, size_t nr, u64 *pgno)
{
	if (nr > 1 && dbg_number(word[1], pgno) && *pgno <= UINT32_MAX)
		return true;
	dbg_wrong(d, "%s: want the number of a page", word[0]);
	return false;
}

static bool do_page(struct dbg *d, char **word, size_t nr)
{
	u64 pgno;

	if (page_of(d, word, nr, &pgno))
		dbg_print_page(d, pgno);
	return false;
}

static bool do_why(struct dbg *d, char **word, size_t nr)
{
	u64 pgno, most = 16;

	if (!page_of(d, word, nr, &pgno))
		return false;
	if (nr > 2 && !strcmp(word[2], "all"))
		most = UINT64_MAX;
	else if (nr > 2 && (!dbg_number(word[2], &most) || !most)) {
		dbg_wrong(d, "why: want how many lines, or all, not '%s'", word[2]);
		return false;
	}
	if (dbg_why(d, pgno, most))
		dbg_wrong(d, "why: there is no memory for that");
	return false;
}

static bool do_list(struct dbg *d, char **word, size_t nr)
{
	u64 line = 0;

	if (nr > 1 && !dbg_number(word[1], &line))
		dbg_wrong(d, "list: want the number of a line, not '%s'", word[1]);
	else
		dbg_show_source(d, line);
	return false;
}

static bool do_dis(struct dbg *d, char **word, size_t nr)
{
	dbg_show_commands(d, nr > 1 ? word[1] : NULL);
	return false;
}

static bool do_help(struct dbg *d, char **word, size_t nr);

static bool do_quit(struct dbg *d, char **word, size_t nr)
{
	(void)word;
	(void)nr;
	dbg_quit(d);
	return true;
}

static const struct verb verbs[] = {
	{ "step", "si", "[N]", "run a command, or N", do_step, 1 },
	{ "next", NULL, "[N]", "run to the next line of the policy", do_next, 1 },
	{ "event", NULL, "[N]", "run to the next event", do_event, 1 },
	{ "access", NULL, "[N]", "run to the next access", do_access, 1 },
	{ "finish", NULL, "", "run to the end of this event", do_finish, 0 },
	{ "run", "continue", "", "run to a stop, or to the end of the trace",
	  do_run, 0 },
	{ "goto", NULL, "N", "to access N, forwards or back, past all stops",
	  do_goto, 1 },
	{ "back", NULL, "[N]", "to where it stood a command, or an access, ago",
	  do_back, 1 },
	{ "stop", "break", "at N | in EVENT | line [FILE:]N | page N | miss",
	  "stop there; without an argument, say where", do_stop, 2 },
	{ "delete", NULL, "N | all", "do not stop there", do_delete, 1 },
	{ "where", "bt", "", "the access, the event, and who called it",
	  do_where, 0 },
	{ "queues", NULL, "[QUEUE]", "the pages on queues, from head to tail",
	  do_queues, 1 },
	{ "print", NULL, "[NAME]", "operands: integers, pages, arrays",
	  do_print, 1 },
	{ "page", NULL, "N", "what is known of page N", do_page, 1 },
	{ "why", NULL, "N [LINES|all]",
	  "what became of page N, and which line had it", do_why, 2 },
	{ "list", NULL, "[LINE]", "the source around here", do_list, 1 },
	{ "dis", "disassemble", "[EVENT]", "the commands of this event", do_dis, 1 },
	{ "help", NULL, "", "this", do_help, 1 },
	{ "quit", "exit", "", "end", do_quit, 0 },
};

static bool do_help(struct dbg *d, char **word, size_t nr)
{
	size_t i;

	(void)d;
	(void)word;
	(void)nr;
	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		printf("%-6s %-13s  %s\n", verbs[i].name,
		       strlen(verbs[i].usage) > 13 ? "..." : verbs[i].usage,
		       verbs[i].summary);
	puts("stop at N | in EVENT | line [FILE:]N | page N | miss\n"
	     "Words may be cut short: s is step. docs/policy/tutorial.md has examples.");
	return false;
}

static const struct verb *find(struct dbg *d, const char *word)
{
	const char *near = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strncmp(verbs[i].name, word, strlen(word)))
			return &verbs[i];
	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (verbs[i].other &&
		    !strncmp(verbs[i].other, word, strlen(word)))
			return &verbs[i];
	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		near = option_nearest(word, near, verbs[i].name);
	if (near)
		dbg_wrong(d, "there is no '%s'; did you mean '%s'?", word, near);
	else
		dbg_wrong(d, "there is no '%s'; 'help' says what there is", word);
	return NULL;
}

/**
 * dbg_obey() - do what a line says
 * @d:    session that stands still
 * @line: is cut apart; # begins a comment; an empty one on a terminal goes on as
 *        the last one did
 *
 * Return: whether the run goes on.
 */
bool dbg_obey(struct dbg *d, char *line)
{
	char *word[MAX_WORDS + 1], last[DBG_NAME];
	const struct verb *v;
	size_t nr = 0;
	char *save, *w;
	bool goes_on;

	if (!*line && d->lines.terminal)
		line = d->last_line;
	snprintf(last, sizeof(last), "%s", line);
	line[strcspn(line, "#")] = 0;
	for (w = strtok_r(line, " \t\r", &save); w && nr <= MAX_WORDS;
	     w = strtok_r(NULL, " \t\r", &save))
		word[nr++] = w;
	if (!nr)
		return false;
	v = find(d, word[0]);
	if (!v)
		return false;
	word[0] = (char *)v->name;
	if (nr - 1 > (size_t)v->max) {
		dbg_wrong(d, "usage: %s%s%s", v->name, *v->usage ? " " : "",
			  v->usage);
		return false;
	}
	goes_on = v->fn(d, word, nr);
	snprintf(d->last_line, sizeof(d->last_line), "%s", goes_on ? last : "");
	return goes_on;
}
