/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A league of policies beside the one that runs: each team plays the same accesses to a
 * sample of the pages, on a machine of its own, and a better one takes over. league.c has
 * the argument.
 *
 * A take-over keeps all pages. Where the team has played with all pages, its machine
 * goes on as it is, with all that its policy remembers (hipec_vm_graft()); so does one
 * that has rehearsed: a machine with all frames that begins with the container's pages
 * when a team is ahead, and has to miss less than the container before it takes over.
 * Where there is nothing to lose, as in a loop without a hit, the policy takes over at
 * once by Init and Adopt.
 *
 * A team may play with another budget: it never takes over, and tells what the policy
 * that runs would miss with a part of the memory, or with more.
 *
 * Names: @l a league, @t one of its teams, @pgno a page as the container numbers it.
 *
 * Interface:
 * hipec_league_bytes()     memory that a team needs
 * hipec_league_init()      a league without teams
 * hipec_league_add()       one more; the first one runs, and is the default
 * hipec_league_rescale()   one plays what runs, with another budget
 * hipec_league_access()    the container had an access
 * hipec_league_warm_up()   l->wanted rehearses
 * hipec_league_source()    whose machine the container's is to be made of
 * hipec_candidate_take_over()  that machine plays on with the container's pages
 * hipec_league_switched()  the policy of l->next runs
 * hipec_league_failed()    it could not take over
 * hipec_league_saves()     what a team would have saved
 * hipec_league_missed()    and of how many misses
 *
 * Here is no lock, no allocation and no clock; the host serialises all calls.
 */
#ifndef HIPEC_CORE_LEAGUE_H
#define HIPEC_CORE_LEAGUE_H

#include "core.h"
#include "sampling.h"

/* Teams at most. */
#define HIPEC_LEAGUE_MAX 16

/* Frames that a team plays with: all, or so many and less than twice that. */
#define HIPEC_LEAGUE_FRAMES 1024

/* Of a budget, in one; and the largest, in these. */
#define HIPEC_LEAGUE_WHOLE 4
#define HIPEC_LEAGUE_MOST (4 * HIPEC_LEAGUE_WHOLE)

#define HIPEC_LEAGUE_NONE HIPEC_LEAGUE_MAX

/**
 * struct hipec_candidate - a policy on a machine of its own
 * @core:     its engine; frames are counted
 * @whose:    container whose tasks it plays in: others may run in long events; NULL: none
 * @bits:     HIPEC_REF_POLICY and a dirty bit, by handle
 * @now:      its clock, which is set before it plays: the container's
 * @misses:   of the sample, since the league began
 * @total:    of these, by classes of pages
 * @class:    by classes, in the window under way
 * @lead:     misses that it had less than what runs, since that was least
 * @variance: of @lead, by the chance of which pages are in the sample
 * @wins:     windows in a row in which it had fewer misses
 * @out:      it plays no more: its policy has ended; or, with another budget, it is to
 *            play another policy first
 * @quarters: of the container's budget, in quarters; where they are not
 *            HIPEC_LEAGUE_WHOLE, it plays what runs, and does not take over
 * @played:   accesses of the sample before it began, if so
 * @base:     misses of what runs before that, by classes of pages
 */
struct hipec_candidate {
	struct hipec_core core;
	struct hipec_core *whose;
	u8 *bits;
	u64 now;
	u64 misses;
	u64 total[HIPEC_CLASSES];
	u32 class[HIPEC_CLASSES];
	s64 lead;
	u64 variance;
	u32 wins;
	bool out;
	u32 quarters;
	u64 played;
	u64 base[HIPEC_CLASSES];
};

/**
 * struct hipec_league - the teams, and what is known of them
 * @nr:        teams
 * @runs:      the one whose policy the container runs
 * @next:      the one that is to; the same: nothing changes
 * @adopt:     of @next: by Init and Adopt; else hipec_league_source() is grafted
 * @wanted:    the one that is to rehearse, and the host is to give it memory
 * @rehearses: the one that does
 * @sample:    what the teams play
 * @has:       frames that the container has now, which the host keeps, and candidates play with
 * @now:       accesses so far
 * @played:    of these, of the sample
 * @in_window: of these, in the window under way
 * @real:      misses of the container, of the sample
 * @total:     of these, by classes of pages
 * @hits:      of the team that runs, of the sample, lately
 * @sent_back: what runs is back, as the one that had taken over was not what its team is
 * @lags, @wait: times that this was so, and windows until another one may take over by Adopt
 * @before:    the team before the last switch
 * @at_switch: misses of the container, of the team before and of the one that runs, by
 *             the last switch; and pages that it began without, by the teams
 * @judged:    misses by classes, of the container and of the first team, by the last
 *             window of the contract (revoke.c)
 * @dear:      times the price that a team has to lead by
 * @switches:  so far
 * @rehearsed: accesses of the rehearsal
 * @spared:    misses that it had less than the container
 * @container: its machine, while a team rehearses
 * @whose:     container whose tasks teams play in; the host sets it. NULL: no other task
 *             is to have a turn
 * @team:      the first @nr
 * @rehearsal: a machine with all frames
 */
struct hipec_league {
	u32 nr;
	u32 runs, next;
	bool adopt;
	u32 wanted, rehearses;
	struct hipec_sampling sample;
	u32 has;
	u64 now, played;
	u32 in_window;
	u64 real;
	u64 total[HIPEC_CLASSES];
	u64 hits;
	bool sent_back;
	u32 lags, wait;
	u32 before;
	struct { u64 real, before, runs, lacks; } at_switch;
	struct { u64 real[HIPEC_CLASSES], first[HIPEC_CLASSES]; } judged;
	u32 dear;
	u32 switches;
	u64 rehearsed;
	s64 spared;
	const struct hipec_vm *container;
	struct hipec_core *whose;
	struct hipec_candidate team[HIPEC_LEAGUE_MAX];
	struct hipec_candidate rehearsal;
};

/* candidate.c */
size_t hipec_candidate_bytes(const struct hipec_policy *p, u32 frames);
void hipec_candidate_start(struct hipec_candidate *t, struct hipec_core *whose,
			   const struct hipec_policy *p, void *memory, void *shared, u32 most,
			   u32 frames, u32 salt);
void hipec_candidate_resize(struct hipec_candidate *t, u32 frames);
bool hipec_candidate_simulate(struct hipec_candidate *t, u32 pgno, bool write);
u32 hipec_candidate_lacks(const struct hipec_candidate *t, const struct hipec_vm *vm);
int hipec_candidate_take_over(struct hipec_candidate *t, struct hipec_core *container);

size_t hipec_league_bytes(const struct hipec_policy *p, u32 frames, u32 quarters);
void hipec_league_init(struct hipec_league *l, u32 frames, u32 salt);
void hipec_league_add(struct hipec_league *l, const struct hipec_policy *p,
		      void *memory, void *shared);
int hipec_league_rescale(struct hipec_league *l, u32 i, u32 quarters,
			 const struct hipec_policy *p, void *memory, void *shared,
			 struct hipec_core *container);
void hipec_league_access(struct hipec_league *l, u32 pgno, bool write,
			 bool missed);
size_t hipec_league_warm_up_bytes(const struct hipec_league *l);
void hipec_league_warm_up(struct hipec_league *l, void *memory, void *shared,
			  struct hipec_core *container);
struct hipec_candidate *hipec_league_source(struct hipec_league *l);
void hipec_league_switched(struct hipec_league *l);
void hipec_league_failed(struct hipec_league *l);
void hipec_core_watch_league(struct hipec_core *core, struct hipec_league *l);
void hipec_core_missed(struct hipec_core *core, struct hipec_league *l);
s64 hipec_league_saves(const struct hipec_league *l, u32 i, u64 *variance);
u64 hipec_league_missed(const struct hipec_league *l, u32 i);

/* Whether @t plays with another budget. Context: any, serialised by the host. */
static inline bool hipec_candidate_is_scaled(const struct hipec_candidate *t)
{
	return t->quarters != HIPEC_LEAGUE_WHOLE;
}

/*
 * Whether the policy of @core was never told of live page @h: the policy before had it.
 * Such pages go first; one that is touched is to be told as one that came in.
 */
static inline bool hipec_league_is_orphan(const struct hipec_core *core, u32 h)
{
	return core->vm.page[h].queue == HIPEC_QUEUE_FALLBACK &&
	       !hipec_fifo2_rules(&core->vm);
}

#endif /* HIPEC_CORE_LEAGUE_H */
