// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a run stands: the access, the event, the command and its line.
 */
#include <string.h>

#include "debug.h"
#include "../option/option.h"

#define AROUND 5	/* lines on each side of the one that is shown */

/* A line of the source without what it is indented by, or NULL. */
const char *dbg_line_text(const struct dbg *d, u32 line)
{
	if (!line || line > d->source.nr_lines)
		return NULL;
	return d->source.line[line] + strspn(d->source.line[line], " \t");
}

/* Event+N, and file:line as far as that is known. */
void dbg_place_text(const struct dbg *d, const struct sim_command *c,
		    char text[2 * DBG_NAME])
{
	const char *event = hipec_image_event_name(d->policy, c->event);
	const char *name = d->source.name;

	if (!c->line)
		snprintf(text, 2 * DBG_NAME, "%.40s+%u", event, c->command);
	else if (*name)
		snprintf(text, 2 * DBG_NAME, "%.40s+%u, %s:%u", event,
			 c->command, name, c->line);
	else
		snprintf(text, 2 * DBG_NAME, "%.40s+%u, line %u", event,
			 c->command, c->line);
}

/* A command as text. */
static void command_text(const struct hipec_policy *p, u32 word, char text[128])
{
	struct hipec_text out;

	hipec_text_init(&out, text, 128);
	hipec_disasm(p, p->words[word], &out);
}

/* "Replace+1  dequeue page, fifo, head    fifo.hp:28: page = DeQueue(...);" */
static void show_command(const struct dbg *d, const struct sim_command *c)
{
	const char *source = dbg_line_text(d, c->line);
	char command[128], place[2 * DBG_NAME];

	command_text(d->policy, c->word, command);
	snprintf(place, sizeof(place), "%s+%u",
		 hipec_image_event_name(d->policy, c->event), c->command);
	if (source)
		printf("%-13s %-40s %s:%u: %s\n", place, command,
		       d->source.name, c->line, source);
	else if (c->line)
		printf("%-13s %-40s line %u\n", place, command, c->line);
	else
		printf("%-13s %s\n", place, command);
}

static void show_access(const struct dbg *d)
{
	static const char *const text[] = {
		[SIM_HIT] = "a hit", [SIM_SOFT] = "a hit, but not mapped",
		[SIM_FAULT] = "a miss",
		[SIM_FIRST] = "a miss, but Prefetch brought it in",
	};

	printf("access %llu of %llu: %s page %u, %s\n",
	       (unsigned long long)d->s->nr_accesses,
	       (unsigned long long)d->trace->nr_accesses,
	       d->write ? "write" : "read", d->pgno, text[d->touch]);
}

static void show_event(const struct dbg *d)
{
	const char *name = hipec_image_event_name(d->policy, d->s->core.event);

	if (d->s->nr_accesses)
		printf("%s for page %u\n", name, sim_event_page(&d->s->core.vm));
	else
		printf("%s, before the first access\n", name);
}

/* What the user has not been told since the last time. */
static void show_news(struct dbg *d, bool all)
{
	if (d->s->nr_accesses && (all || d->shown_access != d->s->nr_accesses))
		show_access(d);
	if (d->in_event && (all || d->shown_event != d->nr_events))
		show_event(d);
	d->shown_access = d->s->nr_accesses;
	d->shown_event = d->nr_events;
}

static void show_end(const struct dbg *d)
{
	const struct sim_result *r = d->s->r;

	printf("the trace is over: %llu accesses, %llu misses, %llu evictions, %llu written, %llu commands\n",
	       (unsigned long long)d->s->nr_accesses,
	       (unsigned long long)r->faults,
	       (unsigned long long)d->s->core.counters.evictions,
	       (unsigned long long)r->written,
	       (unsigned long long)d->s->core.vm.nr_commands);
}

/* Where it stands, as at each stop. */
void dbg_show_place(struct dbg *d)
{
	if (d->at == DBG_OVER) {
		show_end(d);
		return;
	}
	show_news(d, false);
	if (d->at == DBG_COMMAND)
		show_command(d, &d->c);
	if (d->at == DBG_ENDED)
		printf("the policy has ended: %s\n", d->s->core.vm.exit.message);
}

/* Everything about where it stands, and who called. */
void dbg_show_calls(struct dbg *d)
{
	const struct hipec_vm *vm = &d->s->core.vm;
	struct sim_command caller;
	u32 i;

	if (d->at == DBG_OVER) {
		show_end(d);
		return;
	}
	show_news(d, true);
	if (d->at == DBG_ENDED)
		printf("the policy has ended: %s\n", vm->exit.message);
	if (!d->in_event)
		return;
	show_command(d, &d->c);
	for (i = d->c.depth; i--;) {
		caller = sim_command_of(vm, vm->frame[i].pc, vm->frame[i].base, i);
		show_command(d, &caller);
	}
}

/* The event that @name names, of that of the command, or NULL; said. */
static const struct hipec_image_event *event_of(struct dbg *d, const char *name)
{
	const struct hipec_policy *p = d->policy;
	const char *near = NULL, *other;
	u32 i;

	if (!name && d->in_event)
		return &p->event[p->index[d->c.event] - 1];
	for (i = 0; name && i < p->image->nr_events; i++) {
		other = hipec_image_event_name(p, p->event[i].number);
		if (!strcmp(name, other))
			return &p->event[i];
		near = option_nearest(name, near, other);
	}
	if (!name)
		dbg_wrong(d, "dis: no event runs; want the name of one");
	else
		dbg_wrong(d, "dis: the policy has no event '%s'%s%s%s", name,
			  near ? "; did you mean '" : "", near ?: "",
			  near ? "'?" : "");
	return NULL;
}

/* The commands of an event, or of the one that runs. */
void dbg_show_commands(struct dbg *d, const char *name)
{
	const struct hipec_image_event *e = event_of(d, name);
	const struct hipec_policy *p = d->policy;
	u32 i;

	for (i = 1; e && i < e->nr; i++) {
		struct sim_command c = {
			.word = e->first + i, .event = e->number, .command = i,
			.line = p->lines ? p->lines[e->first + i] : 0,
		};

		fputs(d->in_event && d->c.word == c.word ? "> " : "  ", stdout);
		show_command(d, &c);
	}
}

/* The source around @line; 0: where it stands, or where it begins. */
void dbg_show_source(struct dbg *d, u64 line)
{
	u32 here = d->in_event ? d->c.line : 0, first, last;

	if (!d->source.nr_lines) {
		dbg_wrong(d, "list: there is no source; 'dis' shows commands");
		return;
	}
	if (!line)
		line = here ?: 1;
	if (line > d->source.nr_lines) {
		dbg_wrong(d, "list: %s has %u lines", d->source.name,
			  d->source.nr_lines);
		return;
	}
	first = line > AROUND ? line - AROUND : 1;
	last = line + AROUND < d->source.nr_lines ? line + AROUND :
						    d->source.nr_lines;
	for (; first <= last; first++)
		printf("%c%5u%s%s\n", first == here ? '>' : ' ', first,
		       *d->source.line[first] ? "  " : "", d->source.line[first]);
}
