// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an expression does on the way through an event: which pages it sets, uses
 * and gives up, and on which queues it puts them. Two ways lead out of a
 * condition, and what a command has answered is known on each of them.
 *
 * Interface:
 * ampc_path_join()    ways meet
 * ampc_path_value(), ampc_path_effect(), ampc_path_branch()  as in value.c
 * ampc_gives_frame()  whether a call asks the host to take a frame back
 */
#include "lint.h"

static void join_slots(struct ampc_slots *to, const struct ampc_slots *from)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(to->bits); i++)
		to->bits[i] |= from->bits[i];
}

/**
 * ampc_path_join() - add ways to those that lead to a place
 * @to:   the ways so far
 * @from: more of them
 *
 * Return: whether that is news.
 */
bool ampc_path_join(struct ampc_path *to, const struct ampc_path *from)
{
	struct ampc_path old = *to;
	u32 i;

	if (!from->is_live)
		return false;
	to->is_live = true;
	to->owes |= from->owes;
	to->excused |= from->excused;
	join_slots(&to->set, &from->set);
	join_slots(&to->old, &from->old);
	join_slots(&to->gone, &from->gone);
	join_slots(&to->kept, &from->kept);
	join_slots(&to->queued, &from->queued);
	for (i = 0; i < AMPC_NR_NOTED; i++)
		if (!to->gave[i])
			to->gave[i] = from->gave[i];
	return memcmp(&old, to, sizeof(old));
}

static bool is_name_of(const struct ampc_expr *e, u32 slot)
{
	return e && e->kind == AMPC_NAME && e->symbol &&
	       e->symbol->slot == slot;
}

/* Whether a call asks the host to take a frame back. */
bool ampc_gives_frame(const struct ampc_expr *e)
{
	if (e->kind != AMPC_CALL || e->event)
		return false;
	if (e->opcode == HIPEC_OP_RELEASE)
		return true;
	return e->opcode == HIPEC_OP_ENQUEUE && e->a &&
	       is_name_of(e->a->next, HIPEC_SLOT_FREE_QUEUE);
}

/* The variable whose page @e is, when that is certain; or NULL. */
static const struct ampc_symbol *variable(const struct ampc_expr *e)
{
	if (e->type != AMPC_PAGE)
		return NULL;
	if (e->kind == AMPC_ASSIGN)
		e = e->a;
	return e->kind == AMPC_NAME ? e->symbol : NULL;
}

/* Frames owed by Replace */

/* The policy has looked whether there is a page, or a need for one. */
static void excuse(struct ampc_path *p)
{
	p->excused |= p->owes;
	p->owes = false;
}

/* It has a page that it could give up. */
static void get_page(struct ampc_path *p)
{
	p->owes |= p->excused;
	p->excused = false;
}

static void settle(struct ampc_path *p)
{
	p->owes = p->excused = false;
}

/* Pages */

/* On all ways from here a page is gone, or one that is not. */
static void put_page(struct ampc_path *p, u32 slot, bool is_gone)
{
	ampc_slots_put(&p->old, slot, false);
	ampc_slots_put(&p->gone, slot, is_gone);
	ampc_slots_put(&p->kept, slot, !is_gone);
}

/* Whether a command wants a frame, which a ghost has not. */
static bool wants_frame(u8 opcode)
{
	return hipec_ops[opcode].flags & HIPEC_OPF_HOST &&
	       opcode != HIPEC_OP_ENQUEUE && opcode != HIPEC_OP_RELEASE;
}

static bool has_ghosts(const struct ampc *c)
{
	return ampc_setting_value(c, AMPC_GHOSTS);
}

/* Where a page was given up on a way, if that is known. */
static const struct ampc_loc *where(const struct ampc_walk *l,
				    const struct ampc_path *p, u32 slot)
{
	u8 nr = l->page_nr[slot];

	return nr < AMPC_NR_NOTED ? p->gave[nr] : NULL;
}

static void note_where(const struct ampc_walk *l, struct ampc_path *p, u32 slot,
		       const struct ampc_loc *loc)
{
	u8 nr = l->page_nr[slot];

	if (nr < AMPC_NR_NOTED)
		p->gave[nr] = loc;
}

/* Say that @sym, which may have given up its frame, is used at @loc. */
static void report_gone(struct ampc_walk *l, const struct ampc_symbol *sym,
			struct ampc_loc loc)
{
	struct ampc_path *p = &l->now;
	u32 slot = sym->slot;

	if (!l->speaks || !p->is_live || !ampc_slots_has(&p->gone, slot))
		return;
	if (ampc_slots_has(&p->kept, slot) || ampc_slots_has(&p->old, slot))
		ampc_report(l->c, loc, RELEASED_PATH, sym->name);
	else
		ampc_report(l->c, loc, RELEASED, sym->name);
	if (where(l, p, slot))
		ampc_report(l->c, *where(l, p, slot), RELEASED_HERE, sym->name);
	put_page(p, slot, false);
}

static void report_unset(struct ampc_walk *l, u8 opcode,
			 const struct ampc_expr *e)
{
	const struct ampc_symbol *sym = e->symbol;
	const struct ampc_event *ev;

	if (!l->speaks || !l->now.is_live ||
	    ampc_slots_has(&l->said, sym->slot))
		return;
	if (!ampc_slots_has(l->all, sym->slot)) {
		ampc_report(l->c, e->loc, PAGE_UNSET, e->name);
		if (sym->loc.line)
			ampc_report(l->c, sym->loc, DECLARED_HERE, e->name);
		ampc_slots_put(&l->said, sym->slot, true);
		return;
	}
	if (!l->is_certain || ampc_slots_has(&l->now.set, sym->slot) ||
	    ampc_builtin_takes_none(opcode))
		return;
	for (ev = l->c->events; ev; ev = ev->next)
		if (ev != l->ev && ampc_slots_has(&ev->does->set, sym->slot))
			return;
	ampc_report(l->c, e->loc, PAGE_FIRST, e->name);
	ampc_slots_put(&l->said, sym->slot, true);
}

/* The variable @e is handed to a command. */
static void use(struct ampc_walk *l, u8 opcode, const struct ampc_expr *e)
{
	const struct ampc_symbol *sym = e->symbol;

	if (e->kind != AMPC_NAME || e->type != AMPC_PAGE || !sym)
		return;
	report_unset(l, opcode, e);
	if (ampc_builtin_takes_none(opcode) ||
	    (has_ghosts(l->c) && !wants_frame(opcode)))
		return;
	if (ampc_slots_has(&l->now.old, sym->slot))
		ampc_slots_put(&l->ev->does->needs, sym->slot, true);
	report_gone(l, sym, e->loc);
}

/* Whether a page that a command gives may be on any queue, or on none known. */
static bool may_be_queued(const struct ampc_walk *l, const struct ampc_expr *e)
{
	const struct ampc_symbol *sym = variable(e);

	if (sym)
		return ampc_slots_has(&l->now.queued, sym->slot);
	if (e->kind != AMPC_CALL)
		return true;
	/* What it takes from its queue, or shows of it, counts as that. */
	if (e->opcode == HIPEC_OP_DEQUEUE || e->opcode == HIPEC_OP_PEEK)
		return false;
	/* What has just come is on no queue, unless it was a ghost. */
	return !(e->opcode == HIPEC_OP_FINDPA &&
		 l->ev->number == HIPEC_EVENT_PAGEFAULT && !has_ghosts(l->c) &&
		 is_name_of(e->a, HIPEC_SLOT_FAULTED_ADDRESS));
}

/* @to = @from, whose commands are done. */
static void set_page(struct ampc_walk *l, struct ampc_path *p, u32 to,
		     const struct ampc_expr *from)
{
	const struct ampc_symbol *sym = variable(from);
	bool is_queued = may_be_queued(l, from);

	note_where(l, p, to, sym ? where(l, p, sym->slot) : NULL);
	if (sym && ampc_slots_has(&p->gone, sym->slot)) {
		ampc_slots_put(&p->kept, to,
			       ampc_slots_has(&p->kept, sym->slot) ||
			       ampc_slots_has(&p->old, sym->slot));
		ampc_slots_put(&p->gone, to, true);
		ampc_slots_put(&p->old, to, false);
	} else {
		put_page(p, to, false);
	}
	ampc_slots_put(&p->set, to, true);
	ampc_slots_put(&p->queued, to, is_queued);
}

/* Queues */

static void mark_queue(bool *marks, const struct ampc_expr *e)
{
	if (e && e->kind == AMPC_INDEX)
		e = e->a;
	if (e && e->kind == AMPC_NAME && e->symbol)
		marks[e->symbol->slot] = true;
}

/* A page of any queue goes to @to, or gives up its frame. */
static void move_any(struct ampc_queues *q, const struct ampc_expr *to)
{
	const struct ampc_symbol *sym;

	sym = to ? (to->kind == AMPC_INDEX ? to->a : to)->symbol : NULL;
	q->moved_away |= !sym || (q->moved_to && q->moved_to != sym);
	q->moved_to = sym;
}

static void note_queues(struct ampc_walk *l, const struct ampc_expr *e)
{
	const struct ampc_expr *arg;

	if (ampc_gives_frame(e) || e->opcode == HIPEC_OP_ENQUEUE) {
		bool is_put = !ampc_gives_frame(e);

		if (is_put)
			mark_queue(l->queues->is_filled, e->a->next);
		if (may_be_queued(l, e->a))
			move_any(l->queues, is_put ? e->a->next : NULL);
		return;
	}
	for (arg = e->a; arg; arg = arg->next)
		if (arg->type == AMPC_QUEUE)
			mark_queue(l->queues->is_known, arg);
}

/* Calls */

/* What is known behind a command when its condition holds, and when not. */
static void answer(struct ampc_walk *l, const struct ampc_expr *e,
		   struct ampc_path *yes, struct ampc_path *no)
{
	const struct ampc_symbol *sym = e->a ? variable(e->a) : NULL;

	*yes = *no = l->now;
	if (ampc_gives_frame(e)) {
		settle(yes);
		settle(no);
		if (!sym)
			return;
		put_page(yes, sym->slot, !l->is_stored);
		note_where(l, yes, sym->slot, &e->loc);
		put_page(no, sym->slot, false);
	} else if (e->opcode == HIPEC_OP_ENQUEUE) {
		if (!sym)
			return;
		ampc_slots_put(&yes->queued, sym->slot, true);
		ampc_slots_put(&no->queued, sym->slot, true);
	} else if (e->type == AMPC_PAGE) {
		get_page(yes);
		excuse(no);
	} else if (e->opcode == HIPEC_OP_EMPTYQ ||
		   e->opcode == HIPEC_OP_LENGTH) {
		excuse(yes);
		excuse(no);
	}
}

static void builtin(struct ampc_walk *l, const struct ampc_expr *e,
		    struct ampc_path *yes, struct ampc_path *no)
{
	const struct ampc_expr *arg;

	for (arg = e->a; arg; arg = arg->next) {
		ampc_path_value(l, arg);
		use(l, e->opcode, arg);
	}
	if (l->now.is_live)
		note_queues(l, e);
	answer(l, e, yes, no);
}

static void call_event(struct ampc_walk *l, const struct ampc_event *ev)
{
	const struct ampc_path *end = &ev->does->end;
	struct ampc_path *p = &l->now;
	u32 i;

	join_slots(&p->set, &ev->does->set);
	memset(&p->queued, 0xff, sizeof(p->queued));
	if (!end->is_live)
		return;
	for (i = 0; i < ARRAY_SIZE(p->old.bits); i++) {
		u64 same = end->old.bits[i];

		p->gone.bits[i] = end->gone.bits[i] | (same & p->gone.bits[i]);
		p->kept.bits[i] = end->kept.bits[i] | (same & p->kept.bits[i]);
		p->old.bits[i] &= same;
	}
	if (end->excused && !end->owes)
		excuse(p);
	else if (!end->owes)
		settle(p);
}

static void call(struct ampc_walk *l, const struct ampc_expr *e)
{
	const struct ampc_symbol *sym;

	for (sym = l->c->symbols; sym; sym = sym->next) {
		if (sym->kind != AMPC_OPERAND || sym->type != AMPC_PAGE)
			continue;
		if (ampc_slots_has(&e->event->does->needs, sym->slot)) {
			if (ampc_slots_has(&l->now.old, sym->slot))
				ampc_slots_put(&l->ev->does->needs, sym->slot,
					       true);
			report_gone(l, sym, e->loc);
		}
		if (ampc_slots_has(&e->event->does->end.gone, sym->slot))
			note_where(l, &l->now, sym->slot, &e->loc);
	}
	call_event(l, e->event);
}

/* Expressions */

/* What finds the place @e, which is assigned to. */
static void place(struct ampc_walk *l, const struct ampc_expr *e)
{
	if (e->kind == AMPC_INDEX) {
		ampc_path_value(l, e->b);
	} else if (e->kind == AMPC_MEMBER) {
		ampc_path_value(l, e->a);
		use(l, HIPEC_OP_PUT, e->a);
	}
}

static void assign(struct ampc_walk *l, const struct ampc_expr *e)
{
	place(l, e->a);
	if (e->b)
		ampc_path_value(l, e->b);
	if (e->type == AMPC_PAGE && e->a->kind == AMPC_NAME)
		set_page(l, &l->now, e->a->symbol->slot, e->b);
}

/**
 * ampc_path_value() - go through an expression whose value is kept
 * @l: walk
 * @e: expression
 */
void ampc_path_value(struct ampc_walk *l, const struct ampc_expr *e)
{
	bool is_stored = l->is_stored;
	struct ampc_path yes, no;

	if (!l->now.is_live)
		return;
	l->is_stored = true;
	switch (e->kind) {
	case AMPC_CALL:
		if (e->event) {
			call(l, e);
			break;
		}
		builtin(l, e, &yes, &no);
		l->now = yes;
		break;
	case AMPC_AND:
	case AMPC_OR:
	case AMPC_NOT:
		ampc_path_branch(l, e, &yes, &no);
		ampc_path_join(&yes, &no);
		l->now = yes;
		break;
	case AMPC_COND:
		ampc_path_branch(l, e->a, &yes, &no);
		l->now = yes;
		ampc_path_value(l, e->b);
		yes = l->now;
		l->now = no;
		ampc_path_value(l, e->c);
		ampc_path_join(&l->now, &yes);
		break;
	case AMPC_ASSIGN:
	case AMPC_PRE:
	case AMPC_POST:
		assign(l, e);
		break;
	case AMPC_MEMBER:
		ampc_path_value(l, e->a);
		use(l, HIPEC_OP_GET, e->a);
		break;
	case AMPC_NAME:
		if (is_name_of(e, HIPEC_SLOT_FREE_COUNT))
			excuse(&l->now);
		break;
	default:
		if (e->a)
			ampc_path_value(l, e->a);
		if (e->b)
			ampc_path_value(l, e->b);
	}
	l->is_stored = is_stored;
}

/**
 * ampc_path_effect() - go through an expression that is a statement
 * @l: walk
 * @e: expression
 */
void ampc_path_effect(struct ampc_walk *l, const struct ampc_expr *e)
{
	struct ampc_path yes, no;

	if (!l->now.is_live)
		return;
	if (e->kind != AMPC_CALL || e->event) {
		ampc_path_value(l, e);
		return;
	}
	/* Nobody looks at the answer: it must do what it says. */
	builtin(l, e, &yes, &no);
	l->now = yes;
}

/* A page on its own, or against none: @yes if there is one. */
static void branch_page(struct ampc_walk *l, const struct ampc_expr *e,
			struct ampc_path *yes, struct ampc_path *no)
{
	const struct ampc_expr *from = e;

	while (from->kind == AMPC_ASSIGN)
		from = from->b;
	if (from->kind == AMPC_CALL) {
		builtin(l, from, yes, no);
	} else {
		ampc_path_value(l, from);
		*yes = *no = l->now;
		excuse(no);
	}
	for (; e->kind == AMPC_ASSIGN; e = e->b) {
		set_page(l, yes, e->a->symbol->slot, from);
		set_page(l, no, e->a->symbol->slot, from);
	}
}

/* Whether some part of a condition looks for pages, or whether frames are free. */
static bool looks(const struct ampc_expr *e)
{
	const struct ampc_expr *arg;

	if (!e)
		return false;
	if (e->kind == AMPC_CALL && !e->event &&
	    (e->opcode == HIPEC_OP_EMPTYQ || e->opcode == HIPEC_OP_LENGTH))
		return true;
	for (arg = e->a; arg; arg = arg->next)
		if (looks(arg))
			return true;
	return is_name_of(e, HIPEC_SLOT_FREE_COUNT) || looks(e->b) ||
	       looks(e->c);
}

/*
 * A condition that looks for pages in one of its parts is one search, as is
 * `n >= 0 && EmptyQ(level[n])`, wherever it ends.
 */
static void branch_logic(struct ampc_walk *l, const struct ampc_expr *e,
			 struct ampc_path *yes, struct ampc_path *no)
{
	bool is_and = e->kind == AMPC_AND;
	struct ampc_path past;

	if (looks(e))
		excuse(&l->now);
	ampc_path_branch(l, e->a, yes, no);
	past = is_and ? *no : *yes;
	l->now = is_and ? *yes : *no;
	ampc_path_branch(l, e->b, yes, no);
	ampc_path_join(is_and ? no : yes, &past);
}

/**
 * ampc_path_branch() - go through a condition
 * @l:   walk; where it goes on is the caller's choice
 * @e:   condition
 * @yes: gets the ways on which it holds
 * @no:  gets the others
 */
void ampc_path_branch(struct ampc_walk *l, const struct ampc_expr *e,
		      struct ampc_path *yes, struct ampc_path *no)
{
	const struct ampc_path dead = { 0 };

	*yes = *no = dead;
	if (!l->now.is_live)
		return;
	if (e->kind == AMPC_NOT) {
		ampc_path_branch(l, e->a, no, yes);
	} else if (e->kind == AMPC_AND || e->kind == AMPC_OR) {
		branch_logic(l, e, yes, no);
	} else if (e->type == AMPC_PAGE) {
		branch_page(l, e, yes, no);
	} else if (e->kind == AMPC_COMP && (e->a->is_none || e->b->is_none)) {
		const struct ampc_expr *page = e->a->is_none ? e->b : e->a;

		if (e->op == AMPC_OP_EQ)
			branch_page(l, page, no, yes);
		else
			branch_page(l, page, yes, no);
	} else if (e->kind == AMPC_CALL && !e->event) {
		builtin(l, e, yes, no);
	} else {
		ampc_path_value(l, e);
		*yes = *no = l->now;
	}
}
