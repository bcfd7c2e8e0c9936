// SPDX-License-Identifier: GPL-2.0-only
/*
 * The league in the kernel: policies that play a sample of a container's accesses beside
 * the one that runs (core/league.h), their memory, and a worker that puts the one that is
 * ahead in charge.
 *
 * Each touch that the policy is told of the league plays as well, under the container's
 * lock; in a container that shares, with as many frames as that has at the time. A policy
 * takes over in a worker, some accesses after that was decided. What it remembers goes along.
 *
 * A team with another budget plays what runs: when another policy has taken over, the same
 * worker gives it that one's image and a machine of its own.
 *
 * Interface:
 * hipec_league_join()      a policy plays from now on
 * hipec_league_standing()  how one of them stands
 */
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "cache/host.h"
#include "internal.h"

static_assert(HIPEC_MAX_TEAMS == HIPEC_LEAGUE_MAX);
static_assert(HIPEC_MAX_QUARTERS == HIPEC_LEAGUE_MOST);
static_assert(HIPEC_STANDING_NAME == HIPEC_NAME_MAX);

/* Memory of a team. */
struct member {
	struct hipec_policy policy;
	void *image;	/* NULL: the built-in replacement */
	u32 image_size;
	void *memory, *shared;
};

/* The first; teams are numbered alike. */
struct hipec_contest {
	struct hipec_league league;
	struct member member[HIPEC_LEAGUE_MAX];
	void *memory, *shared;	/* of the rehearsal */
};

static void member_free(struct member *m)
{
	kvfree(m->image);
	kvfree(m->memory);
	kvfree(m->shared);
	memset(m, 0, sizeof(*m));
}

/* A copy, to be kvfree()d; NULL: there is no memory, or no image. */
static void *copy_image(const void *image, u32 size)
{
	void *copy = image ? kvmalloc(size, GFP_KERNEL_ACCOUNT) : NULL;

	if (copy)
		memcpy(copy, image, size);
	return copy;
}

/* Memory of a machine of @bytes with the policy @p. Return: 0; -ENOMEM. */
static int alloc_machine(const struct hipec_policy *p, size_t bytes, void **memory, void **shared)
{
	*memory = hipec_memory_alloc(bytes);
	*shared = kvzalloc(p->shared_size + 1ul, GFP_KERNEL_ACCOUNT);
	return *memory && *shared ? 0 : -ENOMEM;
}

/* A member with @image, which is its own from now on. */
static int make_member(struct member *m, const struct hipec_league *l, u32 quarters,
		       void *image, u32 size, struct hipec_verify_error *error,
		       struct hipec_text *log)
{
	int ret;

	m->image = image;
	m->image_size = size;
	ret = hipec_container_parse(&m->policy, image, size, error, log);
	if (!ret)
		ret = alloc_machine(&m->policy,
				    hipec_league_bytes(&m->policy, l->sample.frames, quarters),
				    &m->memory, &m->shared);
	if (ret)
		member_free(m);
	return ret;
}

/* Team @i has run its Init. Return: 0; -ECANCELED if that ended it. */
static int begin_team(struct hipec_container *c, struct hipec_contest *contest, u32 i,
		      struct hipec_text *log)
{
	const struct hipec_policy *p = &contest->member[i].policy;
	struct hipec_vm *vm = &contest->league.team[i].core.vm;

	if (vm->exit.kind) {
		hipec_vm_explain_exit(p, &vm->exit, log);
		return -ECANCELED;
	}
	if (hipec_verify_reads(p, HIPEC_SLOT_TIME) && !c->league_since)
		c->league_since = ktime_get_ns();
	return 0;
}

/* The member of the next number plays. Context: expects c->lock if there is a league. */
static int add_member(struct hipec_container *c, struct hipec_contest *contest,
		      struct hipec_text *log)
{
	struct hipec_league *l = &contest->league;
	const struct member *m = &contest->member[l->nr];
	int ret;

	hipec_league_add(l, &m->policy, m->memory, m->shared);
	ret = begin_team(c, contest, l->nr - 1, log);
	if (ret)
		l->nr--;
	return ret;
}

/*
 * The policy that runs plays with @quarters of the budget, as team @i, which is out, or
 * the next number. Context: no swap is under way; expects c->lock.
 */
static int rescale_team(struct hipec_container *c, u32 i, u32 quarters, struct member *m,
			struct hipec_text *log)
{
	struct hipec_contest *contest = c->contest;
	struct hipec_league *l = &contest->league;
	u32 nr = l->nr;
	int ret;

	swap(contest->member[i], *m);
	ret = hipec_league_rescale(l, i, quarters, &contest->member[i].policy,
				   contest->member[i].memory, contest->member[i].shared,
				   &c->core);
	if (!ret)
		ret = begin_team(c, contest, i, log);
	l->team[i].out = ret != 0;
	if (ret && i == nr) {
		/* The number is free again, and the caller has the memory back. */
		swap(contest->member[i], *m);
		l->nr = nr;
	}
	return ret;
}

/* As rescale_team(), which it calls. Context: no swap is under way. */
static int follow_policy(struct hipec_container *c, u32 i, u32 quarters,
			 struct hipec_text *log)
{
	struct hipec_contest *contest = c->contest;
	const struct member *runs = &contest->member[contest->league.runs];
	void *image = copy_image(runs->image, runs->image_size);
	struct hipec_verify_error error;
	struct member m = { 0 };
	int ret = image || !runs->image ? 0 : -ENOMEM;
	unsigned int nofs;

	if (!ret)
		ret = make_member(&m, &contest->league, quarters, image, runs->image_size,
				  &error, log);
	if (ret)
		return ret;
	nofs = memalloc_nofs_save();
	mutex_lock(&c->lock);
	hipec_event_slice_begin(c, jiffies + HZ);
	ret = rescale_team(c, i, quarters, &m, log);
	hipec_event_slice_end(c);
	mutex_unlock(&c->lock);
	memalloc_nofs_restore(nofs);
	member_free(&m);
	return ret;
}

/* Teams with other budgets play the policy that has taken over. */
static void follow_all(struct hipec_container *c)
{
	const struct hipec_league *l = &c->contest->league;
	struct hipec_text nobody;
	u32 i;

	hipec_text_init(&nobody, NULL, 0);
	for (i = 0; i < l->nr; i++)
		if (hipec_candidate_is_scaled(&l->team[i]) && l->team[i].out)
			follow_policy(c, i, l->team[i].quarters, &nobody);
}

/* Team @wanted gets memory for its rehearsal, and begins. */
static void start_rehearsal(struct hipec_container *c, u32 wanted, size_t bytes)
{
	struct hipec_contest *contest = c->contest;
	const struct hipec_policy *p = &contest->member[wanted].policy;
	struct hipec_league *l = &contest->league;
	void *memory, *shared;
	int ret = alloc_machine(p, bytes, &memory, &shared);
	unsigned int nofs = memalloc_nofs_save();

	mutex_lock(&c->lock);
	if (!c->league || l->wanted != wanted)
		ret = -EAGAIN;
	if (ret) {
		l->wanted = HIPEC_LEAGUE_NONE;
	} else {
		swap(contest->memory, memory);
		swap(contest->shared, shared);
		hipec_event_slice_begin(c, jiffies + HZ);
		hipec_league_warm_up(l, contest->memory, contest->shared, &c->core);
		hipec_event_slice_end(c);
	}
	mutex_unlock(&c->lock);
	memalloc_nofs_restore(nofs);
	kvfree(memory);
	kvfree(shared);
}

/* Team @next takes over, unless the league has changed its mind. */
static void change_policy(struct hipec_container *c, u32 next)
{
	const struct member *m = &c->contest->member[next];
	struct hipec_league *l = &c->contest->league;
	void *image = copy_image(m->image, m->image_size);
	int ret = -ENOMEM;

	if (image || !m->image)
		ret = hipec_swap_candidate(c, image, m->image_size, next);
	if (!ret)
		follow_all(c);
	if (!ret || ret == -ECANCELED)
		return;
	/* It is judged again when the next window is over. */
	mutex_lock(&c->lock);
	l->next = l->runs;
	mutex_unlock(&c->lock);
}

/* Free the rehearsal's machine, if it is over. */
static void free_rehearsal(struct hipec_container *c)
{
	struct hipec_contest *contest = c->contest;
	void *memory = NULL, *shared = NULL;

	mutex_lock(&c->lock);
	if (contest->league.rehearses == HIPEC_LEAGUE_NONE) {
		swap(contest->memory, memory);
		swap(contest->shared, shared);
	}
	mutex_unlock(&c->lock);
	kvfree(memory);
	kvfree(shared);
}

/* What league_work() is for. */
static void change_league(struct hipec_container *c)
{
	u32 wanted = HIPEC_LEAGUE_NONE, next = HIPEC_LEAGUE_NONE;
	size_t bytes = 0;

	/* Where that is busy the next access asks again. */
	if (hipec_swap_begin(c))
		return;
	mutex_lock(&c->lock);
	if (c->league) {
		wanted = c->league->wanted;
		next = c->league->next;
		if (wanted != HIPEC_LEAGUE_NONE)
			bytes = hipec_league_warm_up_bytes(c->league);
		if (next == c->league->runs)
			next = HIPEC_LEAGUE_NONE;
	}
	mutex_unlock(&c->lock);
	if (next != HIPEC_LEAGUE_NONE)
		change_policy(c, next);
	else if (wanted != HIPEC_LEAGUE_NONE)
		start_rehearsal(c, wanted, bytes);
	free_rehearsal(c);
	hipec_swap_end(c);
}

/* Work: a policy is to rehearse, or to take over, in memory that its owner's cgroup pays for. */
static void league_work(struct work_struct *work)
{
	struct hipec_container *c = container_of(work, struct hipec_container, change);
	struct mem_cgroup *before = set_active_memcg(c->columns.memcg);

	change_league(c);
	set_active_memcg(before);
}

/* Context: process context, sleeps; nobody uses @c, and c->change was cancelled. */
static void free_league(struct hipec_container *c)
{
	struct hipec_contest *contest = c->contest;
	u32 i;

	for (i = 0; i < HIPEC_LEAGUE_MAX; i++)
		member_free(&contest->member[i]);
	kvfree(contest->memory);
	kvfree(contest->shared);
	kvfree(contest);
	c->contest = NULL;
	c->league = NULL;
}

/* A league of the policy that runs. Context: no swap is under way. */
static int make_league(struct hipec_container *c, struct hipec_text *log)
{
	struct hipec_contest *contest = kvzalloc(sizeof(*contest), GFP_KERNEL_ACCOUNT);
	u32 size = c->image ? c->policy.image->image_size : 0;
	void *image = copy_image(c->image, size);
	struct hipec_verify_error error;
	int ret = contest && (image || !c->image) ? 0 : -ENOMEM;

	if (ret) {
		kvfree(contest);
		kvfree(image);
		return ret;
	}
	hipec_league_init(&contest->league, c->core.nr_reserved, get_random_u32());
	contest->league.whose = &c->core;
	ret = make_member(&contest->member[0], &contest->league, HIPEC_LEAGUE_WHOLE, image,
			  size, &error, log) ?: add_member(c, contest, log);
	if (ret) {
		member_free(&contest->member[0]);
		kvfree(contest);
		return ret;
	}
	INIT_WORK(&c->change, league_work);
	c->end_contest = free_league;
	c->contest = contest;
	return 0;
}

/* The league plays from now on; it knows which pages are held. Context: takes c->lock. */
static void start_league(struct hipec_container *c)
{
	struct hipec_league *l = &c->contest->league;
	unsigned int nofs = memalloc_nofs_save();
	u32 h = 0, i;

	mutex_lock(&c->lock);
	while ((h = hipec_vm_next_live(&c->core.vm, h)))
		hipec_sampling_added(&l->sample, c->core.vm.page[h].pgno);
	for (i = 0; i < c->core.nr_chosen; i++)
		hipec_sampling_added(&l->sample, c->core.vm.page[c->core.chosen[i]].pgno);
	c->core.heard = true;
	/* A policy that is no default has its judge, and that stays. */
	if (c->contract && hipec_fifo2_is(c->core.vm.policy))
		hipec_core_watch_league(&c->core, l);
	WRITE_ONCE(c->league, l);
	hipec_host_wants(c);
	mutex_unlock(&c->lock);
	memalloc_nofs_restore(nofs);
}

/* Whether @c may have a league, and another member. Context: no swap is under way. */
static int check_join(const struct hipec_container *c)
{
	if (c->core.vm.exit.kind || (c->contest && !c->league))
		return -EALREADY;
	if (c->contest && c->contest->league.nr == HIPEC_LEAGUE_MAX)
		return -ENOSPC;
	return 0;
}

/* A rival joins, with @image, which is its own from now on. Context: no swap is under way. */
static int add_rival(struct hipec_container *c, struct hipec_join *args, void *image,
		     struct hipec_text *log)
{
	struct hipec_verify_error error = { 0 };
	struct hipec_league *l = &c->contest->league;
	struct member *m = &c->contest->member[l->nr];
	int ret = make_member(m, l, HIPEC_LEAGUE_WHOLE, image, args->image_size, &error, log);
	unsigned int nofs;

	args->error_kind = error.kind;
	args->error_event = error.event;
	args->error_command = error.command;
	args->error_operand = error.operand;
	if (ret)
		return ret;
	nofs = memalloc_nofs_save();
	mutex_lock(&c->lock);
	ret = add_member(c, c->contest, log);
	mutex_unlock(&c->lock);
	memalloc_nofs_restore(nofs);
	if (ret)
		member_free(m);
	return ret;
}

/* As hipec_league_join(). Context: no swap is under way. */
static int join_league(struct hipec_container *c, struct hipec_join *args, void *image,
		       struct hipec_text *log)
{
	bool first = !c->contest;
	int ret = check_join(c);

	if (!ret && first)
		ret = make_league(c, log);
	if (ret) {
		kvfree(image);
		return ret;
	}
	args->team = c->contest->league.nr;
	if (first)
		start_league(c);
	return args->quarters ? follow_policy(c, args->team, args->quarters, log) :
				add_rival(c, args, image, log);
}

/**
 * hipec_league_join() - a policy plays beside the one that runs, and may take over; or the
 * one that runs plays with another budget
 * @c:     container
 * @args:  from the user, checked; its error fields and team are set
 * @image: copy of the image, kvmalloc()ed, which is no longer the caller's; NULL: the
 *         built-in replacement
 * @log:   gets the verifier's words, or how its Init ended
 *
 * The first time the policy that runs becomes the league's first, and its default.
 *
 * Context: process context, may sleep; takes c->lock.
 * Return: 0; -ENODATA before a policy is loaded; -EALREADY if the policy has ended, or
 *         another was swapped in by hand; -ENOSPC: HIPEC_LEAGUE_MAX play; -EBUSY if a swap is under way; -EINVAL for an
 *         image that is refused; -ECANCELED if Init ended it; -ENOMEM; -EINTR on a fatal
 *         signal.
 */
int hipec_league_join(struct hipec_container *c, struct hipec_join *args, void *image,
		      struct hipec_text *log)
{
	int ret = hipec_swap_begin(c);

	if (ret) {
		kvfree(image);
		return ret;
	}
	ret = join_league(c, args, image, log);
	hipec_swap_end(c);
	return ret;
}

static void fill_standing(const struct hipec_league *l, struct hipec_standing *a)
{
	const struct hipec_candidate *t = &l->team[a->team];

	a->nr = l->nr;
	a->runs = l->runs;
	a->switches = l->switches;
	a->shift = l->sample.shift;
	a->out = t->out;
	a->rehearses = l->rehearses == a->team;
	a->quarters = t->quarters;
	a->misses = t->misses;
	if (hipec_candidate_is_scaled(t) && t->out) {
		a->sampled = a->missed = a->misses = a->saves = a->variance = 0;
	} else {
		a->sampled = l->played - t->played;
		a->missed = hipec_league_missed(l, a->team);
		a->saves = hipec_league_saves(l, a->team, &a->variance);
	}
	memcpy(a->policy, t->core.vm.policy->image->name, sizeof(a->policy));
}

/**
 * hipec_league_standing() - how a policy of a league stands
 * @c: container
 * @a: with the team set; filled, but for its size and id
 *
 * Context: process context; takes c->lock.
 * Return: 0; -ENODATA if there is no league; -ENOENT if it has no such team; -EINTR on a
 *         fatal signal.
 */
int hipec_league_standing(struct hipec_container *c, struct hipec_standing *a)
{
	int ret = 0;

	if (mutex_lock_killable(&c->lock))
		return -EINTR;
	if (c->league)
		hipec_host_deliver(c);
	if (!c->league)
		ret = -ENODATA;
	else if (a->team >= c->league->nr)
		ret = -ENOENT;
	else
		fill_standing(c->league, a);
	mutex_unlock(&c->lock);
	return ret;
}
