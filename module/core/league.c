// SPDX-License-Identifier: GPL-2.0-only
/*
 * The league: policies that play a sample of a container's accesses beside the one that runs, and
 * when one of them is to take over.
 *
 *	all accesses of the container
 *	  |                         \ pages of the sample, 1 of 2^shift
 *	  v                          v
 *	the policy that runs       team 0    team 1    team 2  . . .  frames / 2^shift counted
 *	  |                        (default)                          frames for each
 *	  | misses, real             | misses, each in its class of pages
 *	  +-------------+------------+
 *	                v  a window: accesses of the sample, a quarter of its frames
 *	            judge_teams():  lead, variance, wins      is_ahead()
 *	                            lead against price        is_worth()
 *	                v
 *	            choose_team()
 *	              |-- the team has played all pages: its machine takes the place (graft)
 *	              |-- nothing to lose: the policy begins with the container's pages (Adopt)
 *	              +-- else it rehearses: all accesses, all frames; then its machine does
 *
 * Which policy is best depends on the program, and the program changes. To try policies one after
 * the other on the container would cost the faults of each bad one. To play all accesses would
 * cost a machine of full size for each. A sample by page number keeps what matters, the distances
 * between uses of a page, at 1/2^shift of both: a cache of n / 2^shift frames with a 2^shift-th
 * of the pages misses about as often, per access, as the whole with n. All teams see the same
 * sample, so what is judged is the difference of two, which varies less than either.
 *
 * A lead is the sum of such differences since it was least, as in a test for a change (CUSUM): a
 * team that was bad for an hour need not make up for it. It counts if the last WINS windows were
 * won and the sum is more than two standard errors (ERRORS is their square) of the chance of
 * which pages are in the sample, as the classes show it. And it has to be worth the price: a
 * policy that takes over may miss the next hit of each page that its machine lacks, a quarter of
 * which is paid. Where it takes over without a rehearsal, the price is not to be more than what
 * was saved over the default so far, and a fiftieth of the default's misses (credit_of_misses()).
 *
 * What if it is wrong?
 *
 * The lead was chance, or the program changes back: what runs then is a team like others, and is
 * overtaken. If it cost more than it brought, switches get twice as dear, up to DEAREST; one that
 * brought more halves that (hipec_league_switched()).
 *
 * The sample is unlike the whole, as where few pages have all the hits: so where there are hits
 * to lose a team does not take over by its sample alone, but rehearses, and has to miss less than
 * the container by a 64th of the frames and by the price. A rehearsal that has lost a quarter of
 * them, or lasts REHEARSAL times the frames, is over, and the next switch dearer.
 *
 * A take-over by Adopt goes another way than its team, which depended on pages that it had:
 * adopted_lags() sees it by more misses than the team's, the one before comes back, and none
 * takes over by Adopt for 2, 4, ... windows.
 *
 * A team's policy ends: it is out. If it is the one that runs, the default takes over.
 *
 * What all that costs is bounded by commands, not by time: each event of a team has fuel, so that
 * the league decides here as at the desk. It runs under the container's lock; pause_between()
 * gives other tasks the CPU, and ends the access where its own task has to end.
 *
 * The numbers below were chosen with bench/cost/auto.py.
 */
#include "league.h"
#include "pool.h"

/* A window is so many accesses of the sample: a part of the frames, or this. */
#define WINDOW_OF_FRAMES 4
#define WINDOW_LEAST 64

/* A lead that is no evidence, in misses; and one of so many frames. */
#define LEAST 16
#define ONE_OF 64

/* Windows in a row that a team has to win; square of the standard errors that it leads by. */
#define WINS 2
#define ERRORS 4

/* Half of the hits are forgotten in about so many times the frames, in accesses. */
#define LATELY 4

/* Hits lately, of so many frames one, that are nothing to lose. */
#define NOTHING 16

/*
 * Of the pages that a take-over lacks so many percent are paid for, by a lead and from
 * what was saved before: not all of them would have been touched again.
 */
#define PRICE 25

/* Misses that may be risked, in a thousand of the default's. */
#define RISK 20

/*
 * A policy that took over by Adopt may miss each page once that its team had and it lacked.
 * If it misses more than its team by these and one of so many frames, it is sent back.
 */
#define LAG 8

/*
 * Then none takes over by Adopt for two windows, and the next time for four: what that
 * brings may depend on which pages are held, and be the same again.
 */
#define MOST_LAGS 8

/* A rehearsal is over after so many times the frames, in accesses. */
#define REHEARSAL 4

#define DEAREST 64

/* The most that a team may have, with @quarters of the budget. */
static u32 most_frames(const struct hipec_sampling *sample, u32 quarters)
{
	return (hipec_sampling_most(sample) * quarters + HIPEC_LEAGUE_WHOLE - 1) /
	       HIPEC_LEAGUE_WHOLE;
}

/**
 * hipec_league_bytes() - memory that a team needs
 * @p:        its policy, verified
 * @frames:   of the container
 * @quarters: that it plays with; HIPEC_LEAGUE_WHOLE, but for hipec_league_rescale()
 *
 * Return: bytes.
 */
size_t hipec_league_bytes(const struct hipec_policy *p, u32 frames, u32 quarters)
{
	struct hipec_sampling sample;

	hipec_sampling_init(&sample, frames, HIPEC_LEAGUE_FRAMES, 0);
	return hipec_candidate_bytes(p, most_frames(&sample, quarters));
}

/**
 * hipec_league_init() - a league without teams
 * @l:      to fill
 * @frames: of the container, 1 or more; it may have fewer now, see @l->has
 * @salt:   any number that no policy's author can know
 */
void hipec_league_init(struct hipec_league *l, u32 frames, u32 salt)
{
	memset(l, 0, sizeof(*l));
	hipec_sampling_init(&l->sample, frames, HIPEC_LEAGUE_FRAMES, salt);
	l->has = frames;
	l->dear = 1;
	l->wanted = l->rehearses = HIPEC_LEAGUE_NONE;
}

/**
 * hipec_league_add() - one team more; the first one runs, and is the default
 * @l:      with less than HIPEC_LEAGUE_MAX of them
 * @p:      its policy, verified; outlives @l
 * @memory: hipec_league_bytes() of zeros, aligned for u64; the host frees it
 * @shared: as for hipec_vm_init()
 *
 * Context: any; runs its Init.
 */
void hipec_league_add(struct hipec_league *l, const struct hipec_policy *p,
		      void *memory, void *shared)
{
	struct hipec_candidate *t = &l->team[l->nr++];

	hipec_candidate_start(t, l->whose, p, memory, shared,
			      most_frames(&l->sample, HIPEC_LEAGUE_WHOLE),
			      hipec_sampling_frames(&l->sample), l->sample.salt);
	t->quarters = HIPEC_LEAGUE_WHOLE;
}

/*
 * Frames that teams share out. Without candidates there is only a curve: it is of budgets as
 * they were asked for, whatever the container has of its own at the moment.
 */
static u32 budget_of_league(const struct hipec_league *l)
{
	return l->nr < 2 || hipec_candidate_is_scaled(&l->team[1]) ? l->sample.frames : l->has;
}

/* Frames that a team is to have, with @quarters of the budget. */
static u32 target_of_team(const struct hipec_league *l, u32 quarters)
{
	s64 half = 1u << l->sample.shift >> 1;
	s64 whole = hipec_sampling_room(&l->sample, budget_of_league(l));
	s64 n = (whole * quarters / HIPEC_LEAGUE_WHOLE + half) >> l->sample.shift;
	u32 most = most_frames(&l->sample, quarters);

	return n < 1 ? 1 : n > most ? most : n;
}

/**
 * hipec_league_rescale() - a team plays the policy that runs, with another budget
 * @l:         league with a team
 * @i:         a team that does so already and is out, or l->nr: one more
 * @quarters:  1 to HIPEC_LEAGUE_MOST, not HIPEC_LEAGUE_WHOLE
 * @p:         policy of the team that runs; outlives @l
 * @memory:    hipec_league_bytes() of @quarters, zeros, aligned for u64; the host frees it
 * @shared:    as for hipec_vm_init()
 * @container: whose league it is; has a turn now and then
 *
 * It begins with the pages of the team that runs, as many as it may have. When another
 * policy runs, it is out until this is called again.
 *
 * Context: any, serialised by the host; runs events of the policy.
 * Return: 0; -EINTR if the task has to end: it is no team then.
 */
int hipec_league_rescale(struct hipec_league *l, u32 i, u32 quarters,
			 const struct hipec_policy *p, void *memory, void *shared,
			 struct hipec_core *container)
{
	const struct hipec_candidate *runs = &l->team[l->runs];
	struct hipec_candidate *t = &l->team[i];
	u32 h = 0;

	hipec_candidate_start(t, container, p, memory, shared, most_frames(&l->sample, quarters),
			      target_of_team(l, quarters), l->sample.salt);
	t->quarters = quarters;
	t->now = l->now;
	t->played = l->played;
	memcpy(t->base, runs->total, sizeof(t->base));
	while ((h = hipec_vm_next_live(&runs->core.vm, h))) {
		hipec_candidate_simulate(t, runs->core.vm.page[h].pgno, false);
		if (hipec_core_pause(container))
			return -EINTR;
	}
	if (i == l->nr)
		l->nr++;
	return 0;
}

/* What a take-over by @t may cost: it may miss the next hit of each page that it lacks. */
static u64 price_of_takeover(const struct hipec_league *l, const struct hipec_candidate *t)
{
	u64 lacking = hipec_candidate_lacks(t, &l->team[l->runs].core.vm);

	return (lacking < l->hits ? lacking : l->hits) * PRICE / 100;
}

/* Misses that may be risked: what was saved so far over the default, and a little more. */
static s64 credit_of_misses(const struct hipec_league *l)
{
	return (s64)(l->team[0].misses * (1000 + RISK) / 1000) - (s64)l->real;
}

/*
 * Whether @t is to take over, or to rehearse: it leads by what that may cost, if all goes
 * on as it did for as long again. The default may always come back.
 */
static bool is_worth(const struct hipec_league *l, const struct hipec_candidate *t)
{
	u64 least = hipec_sampling_frames(&l->sample) / ONE_OF, cost = price_of_takeover(l, t);
	bool is_default = t == l->team;

	least = least > LEAST ? least : LEAST;
	return t->lead >= (s64)(least + cost * (is_default ? 1 : l->dear)) &&
	       (is_default || l->sample.shift || (s64)cost <= credit_of_misses(l));
}

/* The sum of differences, a class each; and its variance, by the chance of the sample. */
static s64 add_up(const struct hipec_league *l, const s64 *d, u64 *variance)
{
	const s64 nr = HIPEC_CLASSES;
	u64 squares = 0;
	s64 sum = 0, off;
	u32 k;

	for (k = 0; k < nr; k++)
		sum += d[k];
	for (k = 0; k < nr; k++) {
		off = d[k] * nr - sum;
		squares += off * off / (nr * nr);
	}
	*variance = l->sample.shift ? squares * nr / (nr - 1) : 0;
	return sum;
}

/* Misses of the window that @t had less than what runs. */
static s64 gain_of_team(const struct hipec_league *l, const struct hipec_candidate *t,
			u64 *variance)
{
	const u32 *runs = l->team[l->runs].class;
	s64 d[HIPEC_CLASSES];
	u32 k;

	for (k = 0; k < HIPEC_CLASSES; k++)
		d[k] = (s64)runs[k] - t->class[k];
	return add_up(l, d, variance);
}

/* The window is over for @t. Return: whether it may take over. */
static bool is_ahead(struct hipec_league *l, struct hipec_candidate *t)
{
	u64 variance;
	s64 d = gain_of_team(l, t, &variance);

	t->lead = t->lead + d > 0 ? t->lead + d : 0;
	t->variance = t->lead ? t->variance + variance : 0;
	t->wins = d > 0 ? t->wins + 1 : 0;
	return t->wins >= WINS && (u64)(t->lead * t->lead) >= ERRORS * t->variance;
}

/* Whether what took over by Adopt is not what its team is. */
static bool adopted_lags(const struct hipec_league *l)
{
	u64 real = l->real - l->at_switch.real;
	u64 team = l->team[l->runs].misses - l->at_switch.runs;

	return l->switches && l->adopt && !l->sent_back &&
	       real > team + l->at_switch.lacks + hipec_sampling_frames(&l->sample) / LAG;
}

/* Let @best take over, or rehearse. */
static void choose_team(struct hipec_league *l, u32 best)
{
	/* A team has less fuel than the container: of what runs nothing is known any more. */
	if (l->runs && l->team[l->runs].out && !l->team[0].out) {
		l->next = 0;
		l->adopt = true;
		l->sent_back = false;
	} else if (adopted_lags(l)) {
		l->next = l->before;
		l->sent_back = true;
		l->lags += l->lags < MOST_LAGS;
		l->wait = 1 << l->lags;
	} else if (best == l->runs) {
		return;
	} else if (!l->sample.shift) {
		l->next = best;
		l->adopt = false;
	} else if (l->hits * NOTHING < hipec_sampling_frames(&l->sample) && !l->wait) {
		l->next = best;
		l->adopt = true;
		l->sent_back = false;
	} else if (l->rehearses == HIPEC_LEAGUE_NONE) {
		l->wanted = best;
	}
}

/* A window is over: which team is to run from now on? */
static void judge_teams(struct hipec_league *l)
{
	u32 best = l->runs, i;
	s64 lead = 0;

	for (i = 0; i < l->nr; i++) {
		struct hipec_candidate *t = &l->team[i];

		t->out |= t->core.vm.exit.kind != 0;
		if (i != l->runs && !t->out && !hipec_candidate_is_scaled(t) &&
		    is_ahead(l, t) && t->lead > lead && is_worth(l, t)) {
			best = i;
			lead = t->lead;
		}
	}
	l->wait -= l->wait != 0;
	choose_team(l, best);
	/* ln 2 is 7 / 10. */
	l->hits -= l->hits * l->in_window * 7 / 10 /
		   (LATELY * (u64)hipec_sampling_frames(&l->sample) + l->in_window);
	for (i = 0; i < l->nr; i++)
		memset(l->team[i].class, 0, sizeof(l->team[i].class));
	l->in_window = 0;
}

static u32 window_of_league(const struct hipec_league *l)
{
	u32 n = hipec_sampling_frames(&l->sample) / WINDOW_OF_FRAMES;

	return n < WINDOW_LEAST ? WINDOW_LEAST : n;
}

static void make_dearer(struct hipec_league *l)
{
	l->dear = l->dear < DEAREST ? l->dear * 2 : DEAREST;
}

/* Others may run. Return: whether the task has to end. */
static bool pause_between(struct hipec_league *l)
{
	return l->whose && hipec_core_pause(l->whose);
}

/* A policy plays all accesses, and is to miss less than the container. */
static void rehearse_access(struct hipec_league *l, u32 pgno, bool write, bool missed)
{
	s64 least = l->sample.frames / ONE_OF;

	l->rehearsal.now = l->now;
	if (l->rehearsal.core.nr_frames != l->has)
		hipec_candidate_resize(&l->rehearsal, l->has);
	l->spared += (int)missed - (int)hipec_candidate_simulate(&l->rehearsal, pgno, write);
	if (l->rehearsal.core.vm.exit.kind) {
		l->team[l->rehearses].out = true;
		l->rehearses = HIPEC_LEAGUE_NONE;
	} else if (l->spared < -(s64)l->sample.frames / 4 ||
	    ++l->rehearsed > (u64)l->sample.frames * REHEARSAL) {
		l->rehearses = HIPEC_LEAGUE_NONE;
		make_dearer(l);
	} else if (l->rehearsed % (l->sample.frames / 4) == 0 && l->spared > least &&
		   l->spared >= (s64)hipec_candidate_lacks(&l->rehearsal, l->container) *
				PRICE / 100) {
		l->next = l->rehearses;
		l->adopt = false;
	}
}

/*
 * All teams play an access of the sample; but for one of a task that has to end, of which some
 * may not hear. One whose policy ends, as it has spent its fuel, is out at once.
 */
static void play_all(struct hipec_league *l, u32 pgno, bool write, u32 class)
{
	u32 whole = target_of_team(l, HIPEC_LEAGUE_WHOLE), frames, i;

	for (i = 0; i < l->nr; i++) {
		struct hipec_candidate *t = &l->team[i];
		bool missed;

		if (t->out)
			continue;
		if (pause_between(l))
			return;
		frames = hipec_candidate_is_scaled(t) ? target_of_team(l, t->quarters) : whole;
		if (t->core.nr_frames != frames)
			hipec_candidate_resize(t, frames);
		t->now = l->now;
		missed = hipec_candidate_simulate(t, pgno, write);
		t->out |= t->core.vm.exit.kind != 0;
		t->misses += missed;
		t->total[class] += missed;
		t->class[class] += missed;
		if (i == l->runs)
			l->hits += !missed;
	}
}

/**
 * hipec_league_access() - the container had an access
 * @l:      league with teams
 * @pgno:   page
 * @write:  it was written
 * @missed: the container did not have it
 *
 * To be followed by a look at l->wanted, and at l->next.
 *
 * Context: any, serialised by the host; runs events of teams.
 */
void hipec_league_access(struct hipec_league *l, u32 pgno, bool write, bool missed)
{
	u32 class = hipec_sampling_class(&l->sample, pgno);

	l->now++;
	if (l->rehearses != HIPEC_LEAGUE_NONE)
		rehearse_access(l, pgno, write, missed);
	if (!hipec_sampling_has(&l->sample, pgno))
		return;
	l->real += missed;
	l->total[class] += missed;
	l->played++;
	play_all(l, pgno, write, class);
	if (++l->in_window >= window_of_league(l))
		judge_teams(l);
}

/* Memory that the rehearsal of l->wanted needs. Return: bytes. */
size_t hipec_league_warm_up_bytes(const struct hipec_league *l)
{
	return hipec_candidate_bytes(l->team[l->wanted].core.vm.policy, l->sample.frames);
}

/**
 * hipec_league_warm_up() - l->wanted rehearses, with all frames
 * @l:         league
 * @memory:    hipec_league_warm_up_bytes() of zeros, aligned for u64; it is in use as
 *             long as l->rehearses is a team
 * @shared:    as for hipec_vm_init()
 * @container: stays where it is
 *
 * It begins with the pages that the container has, or some of them, if the host has no time for all.
 *
 * Context: any, serialised by the host; runs events of the policy.
 */
void hipec_league_warm_up(struct hipec_league *l, void *memory, void *shared,
			  struct hipec_core *container)
{
	struct hipec_candidate *t = &l->rehearsal;
	u32 h = 0;

	hipec_candidate_start(t, container, l->team[l->wanted].core.vm.policy, memory, shared,
			      l->sample.frames, l->sample.frames, l->sample.salt);
	t->now = l->now;
	while ((h = hipec_vm_next_live(&container->vm, h))) {
		hipec_candidate_simulate(t, container->vm.page[h].pgno, false);
		if (hipec_core_pause(container))
			break;
	}
	l->container = &container->vm;
	l->rehearses = l->wanted;
	l->wanted = HIPEC_LEAGUE_NONE;
	l->rehearsed = l->spared = 0;
}

/* Whose machine the container's is to be made of, unless l->adopt. */
struct hipec_candidate *hipec_league_source(struct hipec_league *l)
{
	return l->sample.shift ? &l->rehearsal : &l->team[l->next];
}

/**
 * hipec_league_switched() - the policy of l->next runs from now on
 * @l: league
 *
 * A switch that cost more than it brought makes the next one dearer.
 *
 * Context: any, serialised by the host.
 */
void hipec_league_switched(struct hipec_league *l)
{
	u32 i;

	if (l->switches && l->real - l->at_switch.real >
			   l->team[l->before].misses - l->at_switch.before)
		make_dearer(l);
	else if (l->dear > 1)
		l->dear /= 2;
	l->at_switch.lacks = hipec_candidate_lacks(&l->team[l->next], &l->team[l->runs].core.vm);
	l->before = l->runs;
	l->runs = l->next;
	l->at_switch.real = l->real;
	l->at_switch.before = l->team[l->before].misses;
	l->at_switch.runs = l->team[l->runs].misses;
	l->rehearses = l->wanted = HIPEC_LEAGUE_NONE;
	l->switches++;
	l->hits = 0;
	for (i = 0; i < l->nr; i++) {
		l->team[i].lead = 0;
		l->team[i].variance = 0;
		l->team[i].wins = 0;
		l->team[i].out |= hipec_candidate_is_scaled(&l->team[i]);
	}
}

/* l->next could not take over, and plays no more. Context: any, serialised by the host. */
void hipec_league_failed(struct hipec_league *l)
{
	l->team[l->next].out = true;
	l->next = l->runs;
	l->rehearses = l->wanted = HIPEC_LEAGUE_NONE;
}

/* Misses of class @k that the ones of @t are held against. */
static u64 held_against(const struct hipec_league *l, const struct hipec_candidate *t, u32 k)
{
	return hipec_candidate_is_scaled(t) ? l->team[l->runs].total[k] - t->base[k] : l->total[k];
}

/**
 * hipec_league_missed() - misses that those of a team are held against, of the sample
 * @l: league
 * @i: team
 *
 * Of one with another budget: those of the policy that runs with the container's, since
 * it began. Of others: the container's, since the league began, whatever ran.
 *
 * Context: any, serialised by the host.
 * Return: misses.
 */
u64 hipec_league_missed(const struct hipec_league *l, u32 i)
{
	u64 n = 0;
	u32 k;

	for (k = 0; k < HIPEC_CLASSES; k++)
		n += held_against(l, &l->team[i], k);
	return n;
}

/**
 * hipec_league_saves() - misses that a team had less than hipec_league_missed()
 * @l:        league
 * @i:        team
 * @variance: gets that of the answer, by the chance of which pages are in the sample; 0
 *            where all are
 *
 * Context: any, serialised by the host.
 * Return: misses; below 0 if it had more.
 */
s64 hipec_league_saves(const struct hipec_league *l, u32 i, u64 *variance)
{
	const struct hipec_candidate *t = &l->team[i];
	s64 d[HIPEC_CLASSES];
	u32 k;

	for (k = 0; k < HIPEC_CLASSES; k++)
		d[k] = (s64)held_against(l, t, k) - (s64)t->total[k];
	return add_up(l, d, variance);
}
