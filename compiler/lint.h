/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lint.c, which follows the paths through an event, and path.c, which
 * knows what an expression does to one, share.
 *
 * Names: @l the walk, @p a path, @e an expression.
 */
#ifndef AMPC_LINT_H
#define AMPC_LINT_H

#include "ampc.h"

/* Page variables, by slot. */
struct ampc_slots {
	u64 bits[HIPEC_NR_SLOTS / 64];
};

static inline bool ampc_slots_has(const struct ampc_slots *s, u32 slot)
{
	return s->bits[slot / 64] >> slot % 64 & 1;
}

static inline void ampc_slots_put(struct ampc_slots *s, u32 slot, bool is_in)
{
	s->bits[slot / 64] &= ~(1ull << slot % 64);
	s->bits[slot / 64] |= (u64)is_in << slot % 64;
}

/* Pages of which it is said where they were given up; the first of a policy. */
#define AMPC_NR_NOTED 16

/*
 * What may have been done on some way to a place; where ways meet, all of it.
 * No way: the place is not reached.
 */
struct ampc_path {
	bool is_live;
	bool owes;	/* no page was told to give up its frame, */
	bool excused;	/* or none was, but the policy has looked for one */
	struct ampc_slots set;		/* a command has set it, */
	struct ampc_slots old;		/* or it is as the event found it, */
	struct ampc_slots gone;		/* it was told to give up its frame, */
	struct ampc_slots kept;		/* or neither */
	struct ampc_slots queued;	/* it may be on any queue */
	/* Where each page was given up, by number, on one of the ways; or NULL. */
	const struct ampc_loc *gave[AMPC_NR_NOTED];
};

/* Where ways meet: a label or loop. */
struct ampc_meet {
	struct ampc_path path;
	bool gives;		/* a page is told to give up its frame in it */
};

/* What an event does as a whole, with those that it calls. */
struct ampc_does {
	bool gives;
	bool frees;			/* gives the fault a frame, or asks for one */
	bool keeps;			/* puts a page on a queue, */
	bool takes;			/* or takes one off */
	struct ampc_slots set;		/* anywhere in it */
	bool fills;			/* puts a page on a queue, also on that of free ones */
	const struct ampc_expr *changes[HIPEC_NR_SLOTS];	/* of fields, by slot */
	struct ampc_slots needs;	/* used as the caller left them */
	struct ampc_path end;		/* what its caller finds behind it */
};

/* What becomes of the queues of a policy, by slot. */
struct ampc_queues {
	bool is_filled[HIPEC_NR_SLOTS];
	bool is_known[HIPEC_NR_SLOTS];	/* taken from, or looked at */
	/* Pages of any queue are moved: to one, to @all but none, to several. */
	const struct ampc_symbol *moved_to;
	bool moved_away;
};

struct ampc_walk {
	struct ampc *c;
	struct ampc_event *ev;
	struct ampc_path now;
	struct ampc_path end;		/* all ways out of the event */
	struct ampc_path *out, *again;	/* break and continue lead there */
	bool has_changed;		/* walk again */
	bool speaks;			/* the walk that reports */
	bool is_certain;		/* whenever the event runs, this runs */
	bool is_said;			/* of this unreachable stretch */
	bool is_stored;			/* an answer is kept, not looked at */
	u32 ways_out;			/* returns and gotos so far */
	const struct ampc_slots *all;	/* pages that any event sets */
	struct ampc_slots said;		/* pages that were reported as not set */
	const u8 *page_nr;		/* number of a page by its slot */
	struct ampc_queues *queues;
};

/* path.c */
bool ampc_path_join(struct ampc_path *to, const struct ampc_path *from);
bool ampc_gives_frame(const struct ampc_expr *e);
void ampc_path_value(struct ampc_walk *l, const struct ampc_expr *e);
void ampc_path_effect(struct ampc_walk *l, const struct ampc_expr *e);
void ampc_path_branch(struct ampc_walk *l, const struct ampc_expr *e,
		      struct ampc_path *yes, struct ampc_path *no);

#endif /* AMPC_LINT_H */
