// SPDX-License-Identifier: GPL-2.0-only
/*
 * What became of a page up to where a session stands: the trace is run once more
 * up to there, and somebody else watches.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "debug.h"

/* What happened to the page in an access. */
struct entry {
	u64 access, last;	/* hits in a row are one entry */
	u32 hits, writes;
	char text[3 * DBG_NAME];
};

struct why {
	struct sim_watch watch;		/* first */
	const struct dbg *d;
	u32 pgno;
	u64 moment;
	bool done;			/* this is where the session stands */
	bool interrupted;
	bool failed;			/* no memory */
	struct entry *entry;
	size_t nr, max;
	u32 wanted;			/* page of the access */
	bool in_event;
	struct sim_command c;		/* the last one that began */
	bool ran;			/* and its effect was not looked at */
	u32 queue;			/* of the page, before that */
	struct sim_command wrote[HIPEC_NR_SLOTS];	/* what put its page there */
	struct {
		u64 access;		/* 0: it has not left */
		u32 wanted;
		struct sim_command chose;	/* command 0: none did */
	} left;
};

static struct why *why_of(struct sim_watch *w)
{
	static_assert(!offsetof(struct why, watch), "watch comes first");
	return (struct why *)w;
}

static struct entry *add(struct why *y, const struct sim *s)
{
	struct entry *e = y->entry;

	if (y->nr == y->max) {
		y->max = y->max ? 2 * y->max : 64;
		e = reallocarray(y->entry, y->max, sizeof(*e));
	}
	if (!e) {
		y->failed = y->done = y->watch.stop = true;
		return NULL;
	}
	y->entry = e;
	e += y->nr++;
	*e = (struct entry){ .access = s->nr_accesses, .last = s->nr_accesses };
	return e;
}

/* Something that the last command did, or that no command did. */
static void note(struct why *y, const struct sim *s, const char *text,
		 const char *more, bool by_command)
{
	struct entry *e = add(y, s);
	char place[2 * DBG_NAME] = "";

	if (by_command)
		dbg_place_text(y->d, &y->c, place);
	if (e)
		snprintf(e->text, sizeof(e->text), "%s%s%s%.*s", text, more,
			 by_command ? ": " : "", DBG_NAME, place);
}

static void note_hit(struct why *y, const struct sim *s, bool write)
{
	struct entry *e = y->nr ? &y->entry[y->nr - 1] : NULL;

	if (!e || !e->hits)
		e = add(y, s);
	if (!e)
		return;
	e->last = s->nr_accesses;
	e->hits++;
	e->writes += write;
}

static bool one_moment(struct why *y)
{
	if (y->done)
		return true;
	y->interrupted = dbg_interrupted();
	if (++y->moment == y->d->moment || y->interrupted)
		y->done = y->watch.stop = true;
	return false;
}

static void access_comes(struct sim_watch *w, const struct sim *s, u32 pgno,
			 bool write, enum sim_touch touch)
{
	struct why *y = why_of(w);

	if (one_moment(y))
		return;
	y->wanted = pgno;
	if (pgno != y->pgno)
		return;
	if (touch == SIM_HIT || touch == SIM_SOFT)
		note_hit(y, s, write);
	else
		note(y, s, write ? "write" : "read", ": a miss", false);
}

/* The command that began last. */
static u32 word_of(const struct why *y, const struct sim *s)
{
	return s->core.vm.policy->words[y->c.word];
}

static void page_is(struct sim_watch *w, const struct sim *s, u32 h,
		    enum sim_fate fate)
{
	struct why *y = why_of(w);

	if (y->done || s->core.vm.page[h].pgno != y->pgno)
		return;
	note(y, s, sim_fate_text(fate), "", y->in_event);
	if (fate < SIM_PAGE_FREED) {
		if (fate == SIM_PAGE_CAME || fate == SIM_PAGE_FETCHED)
			y->left.access = 0;
		return;
	}
	y->left.access = s->nr_accesses;
	y->left.wanted = y->wanted;
	y->left.chose = (struct sim_command){ 0 };
	if (y->in_event)
		y->left.chose = y->wrote[hipec_word_a(word_of(y, s))];
}

/* Where EnQueue put the page; giving it up is told by page_is(), unless refused. */
static void note_enqueue(struct why *y, const struct sim *s, u32 word)
{
	u32 q = s->core.vm.slot[hipec_word_b(word)];
	bool head = hipec_word_c(word) == HIPEC_END_HEAD;
	char name[DBG_NAME];

	dbg_queue_text(&s->core.vm, q, name);
	if (!s->core.vm.condition)
		note(y, s, q == HIPEC_QUEUE_FREE ? "not given up: it cannot go now" :
		     "not remembered: there is no room for a ghost", "", true);
	else if (q != HIPEC_QUEUE_FREE)
		note(y, s, s->core.vm.queue[q].key ? "put into " : head ?
		     "put at the head of " : "put at the tail of ", name, true);
}

/* What the last command did with the page. */
static void look_back(struct why *y, const struct sim *s)
{
	const struct hipec_vm *vm = &s->core.vm;
	u32 word = word_of(y, s);
	u8 op = hipec_word_op(word), kind = hipec_ops[op].kind[0];
	char name[DBG_NAME];
	u32 h;

	if (!y->ran)
		return;
	y->ran = false;
	if (kind != HIPEC_KIND_PAGE && kind != HIPEC_KIND_PAGE_W)
		return;
	h = vm->slot[hipec_word_a(word)];
	if (kind == HIPEC_KIND_PAGE_W)
		y->wrote[hipec_word_a(word)] = op == HIPEC_OP_COPY ?
			y->wrote[hipec_word_b(word)] : y->c;
	if (!h || vm->page[h].pgno != y->pgno)
		return;
	if (op == HIPEC_OP_DEQUEUE) {
		dbg_queue_text(vm, y->queue, name);
		note(y, s, hipec_word_c(word) == HIPEC_END_HEAD ?
		     "taken off the head of " : "taken off the tail of ", name,
		     true);
	} else if (op == HIPEC_OP_ENQUEUE) {
		note_enqueue(y, s, word);
	} else if (op == HIPEC_OP_SET) {
		note(y, s, hipec_word_b(word) == HIPEC_BIT_REFERENCE ?
		     "referenced bit " : "modified bit ",
		     hipec_word_c(word) == HIPEC_ACTION_SET ? "set" : "reset", true);
	}
}

static void event_is(struct sim_watch *w, const struct sim *s, u32 event,
		     bool begins)
{
	struct why *y = why_of(w);

	(void)event;
	if (y->done)
		return;
	look_back(y, s);
	y->in_event = begins;
}

static void command_comes(struct sim_watch *w, const struct sim *s,
			  const struct sim_command *c)
{
	struct why *y = why_of(w);
	u32 h;

	if (y->done)
		return;
	look_back(y, s);
	h = hipec_page_find_named(&s->core.vm, y->pgno);
	y->queue = s->core.vm.page[h].queue;
	y->c = *c;
	y->ran = true;
	one_moment(y);
}

static void has_ended(struct sim_watch *w, const struct sim *s)
{
	struct why *y = why_of(w);

	(void)s;
	y->ran = false;
	one_moment(y);
}

static void is_over(struct sim_watch *w, const struct sim *s)
{
	(void)s;
	one_moment(why_of(w));
}

static void print_entry(const struct entry *e)
{
	if (!e->access)
		printf("  %-14s", "at first");
	else if (e->last == e->access)
		printf("  access %-7llu", (unsigned long long)e->access);
	else
		printf("  access %llu to %llu",
		       (unsigned long long)e->access, (unsigned long long)e->last);
	if (e->hits == 1)
		printf(" %s: a hit\n", e->writes ? "write" : "read");
	else if (e->hits)
		printf(", %u hits, %u of them writes\n", e->hits, e->writes);
	else
		printf(" %s\n", e->text);
}

/* Where it is now, or how it left. */
static void conclude(struct dbg *d, const struct why *y)
{
	const char *source = dbg_line_text(d, y->left.chose.line);
	char place[2 * DBG_NAME];

	if (!y->nr) {
		printf("page %u was not touched so far\n", y->pgno);
		return;
	}
	if (!y->left.access) {
		dbg_print_page(d, y->pgno);
		return;
	}
	printf("page %u left in access %llu, when page %u was wanted", y->pgno,
	       (unsigned long long)y->left.access, y->left.wanted);
	if (y->left.chose.command) {
		dbg_place_text(d, &y->left.chose, place);
		printf(", chosen by %s%s%s\n", place, source ? ": " : "",
		       source ?: "");
	} else {
		puts(", and no line chose it");
	}
	if (hipec_page_find_named(&d->s->core.vm, y->pgno))
		dbg_print_page(d, y->pgno);
}

/**
 * dbg_why() - say what became of a page
 * @d:    session that stands still
 * @pgno: page
 * @most: lines, the last ones
 *
 * Context: any; takes as long as the session's run up to here.
 * Return: 0; -ENOMEM.
 */
int dbg_why(struct dbg *d, u32 pgno, u64 most)
{
	struct why y = {
		.watch = { .access = access_comes, .event = event_is,
			   .page = page_is, .command = command_comes,
			   .ended = has_ended, .over = is_over },
		.d = d, .pgno = pgno,
	};
	struct sim_result r = { 0 };
	size_t i = 0;
	int ret = sim_run_watched(d->policy, d->trace, d->frames, d->mode, &r,
				  NULL, &y.watch);

	if (y.interrupted) {
		puts("interrupted");
	} else if (!y.failed && (!ret || ret == -ECANCELED)) {
		if (y.nr > most)
			i = y.nr - most;
		if (i)
			printf("  %zu more before: 'why %u all'\n", i, pgno);
		for (; i < y.nr; i++)
			print_entry(&y.entry[i]);
		conclude(d, &y);
	}
	free(y.entry);
	if (y.failed)
		return -ENOMEM;
	return ret == -ECANCELED ? 0 : ret;
}
