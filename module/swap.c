// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another policy for a container that is in use. Nothing that holds a frame is
 * touched: the new machine gets the pages under the handles that they have (vm/
 * adopt.c), so reads, writes and the pool go on and do not notice.
 *
 * Machine, tables and image are made aside, then they change places with those of
 * the policy before, and Init and Adopt run, all under the container's lock. Until
 * that is done no page can go or come; so if it fails, they change places again.
 *
 * A policy of the league takes what it remembers with it: its machine is copied, and gets
 * the pages that are held. No event of the policy runs then that could end it.
 *
 * Interface:
 * hipec_swap_policy()         a user's
 * hipec_swap_candidate()      one of the league
 * hipec_swap_begin(), _end()  no other swap is under way
 */
#include <linux/bitmap.h>
#include <linux/minmax.h>
#include <linux/poll.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "base/trace.h"
#include "cache/host.h"
#include "internal.h"

/*
 * Per-policy container state, exchanged during a swap: of the next policy, then of the
 * one before.
 */
struct side {
	struct hipec_vm vm;
	struct hipec_policy policy;
	void *image;
	u64 image_hash;
	void *vm_memory;
	struct hipec_shared **shared;
	struct hipec_columns columns;
	struct hipec_vm spare;	/* for the exchange: too much for the stack */
	struct hipec_judge *judge;	/* which changes places last */
	bool beside;		/* there is none: the league has the default */
	void *record;		/* what the next record begins with, if there is one now */
	size_t record_bytes;
	u64 loaded_at;
};

/*
 * What a policy's host does while it adopts: it may put pages where it wants them,
 * but none gives its frame up or gets one, nor are there more frames.
 */
static bool keep_page(struct hipec_vm *vm, u32 h, bool keep)
{
	return false;
}

static u64 grant_none(struct hipec_vm *vm, u64 nr)
{
	return 0;
}

static u32 fetch_none(struct hipec_vm *vm, u32 pgno, u32 nr)
{
	return 0;
}

static struct hipec_host_ops adopting_host(const struct hipec_container *c)
{
	struct hipec_host_ops host = *c->host->machine;

	host.evict = keep_page;
	host.request = grant_none;
	host.prefetch = fetch_none;
	return host;
}

/* With @image, which is freed if there is no memory. */
static struct side *side_new(void *image)
{
	struct side *s = kvzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);

	if (s)
		s->image = image;
	else
		kvfree(image);
	return s;
}

static void side_free(struct side *s)
{
	if (!s)
		return;
	kvfree(s->vm_memory);
	synchronize_rcu();	/* they may have been a container's */
	hipec_columns_free(&s->columns);
	kvfree(s->judge);
	kvfree(s->record);
	if (s->shared)
		hipec_shared_free(s->shared, s->policy.image->nr_operands);
	kvfree(s->image);
	kvfree(s);
}

static void exchange_sides(struct hipec_container *c, struct side *s)
{
	s->spare = c->core.vm;
	c->core.vm = s->vm;
	s->vm = s->spare;
	spin_lock(&hipec_shared_lock);
	swap(c->policy, s->policy);
	swap(c->shared, s->shared);
	spin_unlock(&hipec_shared_lock);
	swap(c->image, s->image);
	swap(c->image_hash, s->image_hash);
	swap(c->vm_memory, s->vm_memory);
	swap(c->columns, s->columns);
	swap(c->core.loaded_at, s->loaded_at);
	hipec_columns_use(c);
}

static int parse_swapped_image(struct side *s, struct hipec_swap *args,
			       struct hipec_text *log)
{
	struct hipec_verify_error error;
	int ret = hipec_container_parse(&s->policy, s->image, args->image_size,
					&error, log);

	args->error_kind = error.kind;
	args->error_event = error.event;
	args->error_command = error.command;
	args->error_operand = error.operand;
	return ret;
}

/* Memory for @nr entries, as it is at a load, with rows for as many as there are now. */
static int make_side_tables(struct hipec_container *c, struct side *s, u32 nr)
{
	bool judged = hipec_container_judges(c, &s->policy) && !s->beside;

	s->vm_memory = hipec_memory_alloc(hipec_vm_table_size(&s->policy, 0));
	s->columns.memcg = c->columns.memcg;
	if (judged)
		s->judge = hipec_memory_alloc(hipec_judge_bytes(c->core.nr_reserved));
	if (!s->vm_memory || (judged && !s->judge) ||
	    hipec_container_columns(c, &s->policy, nr, &s->columns, READ_ONCE(c->columns.nr)))
		return -ENOMEM;
	return hipec_shared_alloc(&s->policy, &c->policy, c->shared,
				  &s->shared);
}

/* All that can be done while the policy before goes on; no other swap is. */
static int prepare_side(struct hipec_container *c, struct side *s,
			struct hipec_swap *args, struct hipec_text *log)
{
	int ret = parse_swapped_image(s, args, log);
	u32 nr;

	if (ret)
		return ret;
	if (s->image)
		s->image_hash = hipec_backoff_hash(s->image, args->image_size);
	if (s->image && c->core.pool)
		ret = hipec_backoff_check(&s->policy, s->image_hash, c->user->uid, log);
	if (ret)
		return ret;
	/* Never shorter: whoever sleeps may have the number of any entry. */
	nr = hipec_container_entries(c, &s->policy, c->core.nr_reserved);
	nr = max(nr, c->core.vm.nr_pages);
	ret = make_side_tables(c, s, nr);
	if (ret)
		return ret;
	hipec_vm_init_apart(&s->vm, &s->policy, c->host->machine,
			    s->vm_memory, NULL, c->core.nr_reserved, nr);
	hipec_columns_place(&s->vm, &s->columns);
	hipec_shared_place(&s->vm, s->shared);
	hipec_container_draw(&s->vm, args->seed);
	if (READ_ONCE(c->recorder)) {
		s->record_bytes = hipec_tracer_snapshot_size(&s->vm);
		s->record = hipec_memory_alloc(s->record_bytes);
	}
	return 0;
}

/*
 * Rows for entries up to @nr, and for all that @c has used by now. Nothing grows from now on.
 * Context: expects c->lock; may sleep.
 */
static int make_rows(struct hipec_container *c, struct side *s, u32 nr)
{
	unsigned int noio;
	struct hipec_columns new;
	int ret;

	hipec_columns_hold(c);
	nr = max(nr, c->core.vm.reached);
	if (nr <= s->columns.nr)
		return 0;
	noio = memalloc_noio_save();
	ret = hipec_columns_resize(&s->columns, &new, nr);
	memalloc_noio_restore(noio);
	if (ret)
		return ret;
	hipec_columns_place(&s->vm, &new);
	hipec_columns_replaced(&s->columns);
	s->columns = new;
	return 0;
}

/* What is known of each entry, and what the counters go on from. */
static void copy_tables(const struct hipec_container *c, struct side *s)
{
	const struct hipec_column *from = c->columns.column;
	struct hipec_column *to = s->columns.column;
	size_t nr = c->core.vm.reached + 1ul;
	int i;

	lockdep_assert_held(&c->lock);
	for (i = HIPEC_COLUMN_OWN; i <= HIPEC_COLUMN_POOL; i++)
		if (from[i].at)
			memcpy(to[i].at, from[i].at, nr * from[i].size);
	s->vm.nr_commands = c->core.vm.nr_commands;
	s->vm.nr_events = c->core.vm.nr_events;
	s->vm.nr_late = c->core.vm.nr_late;
}

/* The policy before goes on as if nothing had been. */
static void go_back(struct hipec_container *c, struct side *s,
		    struct hipec_text *log)
{
	if (c->core.vm.exit.kind)
		hipec_vm_explain_exit(&c->policy, &c->core.vm.exit, log);
	hipec_vm_restore(&s->vm, &c->core.vm);
	exchange_sides(c, s);
	hipec_core_wants(&c->core);
	/* It may have ended before: who polled just now was told otherwise. */
	if (c->core.vm.exit.kind)
		wake_up_poll(&c->ended, EPOLLIN | EPOLLRDNORM);
}

/* The policy before is no more: nobody holds its past against the new one. */
static void settle_swap(struct hipec_container *c, struct side *s)
{
	c->core.vm.host = c->host->machine;
	hipec_record_swapped(c, &s->record, s->record_bytes);
	c->core.late_in_a_row = 0;
	c->core.helped_in_a_row = 0;
	c->core.lost_in_a_row = 0;
	swap(c->core.judge, s->judge);
	c->core.beside = s->beside;
	if (s->beside)
		hipec_core_watch_league(&c->core, c->league);
	hipec_core_watch_again(&c->core);
	hipec_core_settle(&c->core);
	hipec_host_wants(c);
	cancel_delayed_work(&c->timer);
	hipec_timer_start(c);
}

static int take_place(struct hipec_container *c, struct side *s,
		      struct hipec_text *log)
{
	const struct hipec_host_ops adopting = adopting_host(c);
	int ret;

	/* What was touched up to now the policy before is told, and what others took. */
	hipec_host_deliver(c);
	hipec_core_catch_up(&c->core);
	hipec_core_unchoose_all(&c->core);
	ret = make_rows(c, s, 0);
	if (ret)
		return ret;
	copy_tables(c, s);
	exchange_sides(c, s);
	/* A policy knows its machine, and that it is the container's. */
	c->core.vm.policy = &c->policy;
	c->core.vm.host = &adopting;
	ret = hipec_core_adopt(&c->core, &s->vm);
	if (ret)
		go_back(c, s, log);
	else
		settle_swap(c, s);
	return ret;
}

/*
 * The team forgets ghosts of pages that the container has and that are not live: a page
 * has one entry in a machine.
 */
static void forget_absent(struct hipec_vm *team, const struct hipec_vm *vm)
{
	u32 h, ghost;

	for (h = 1; h <= vm->reached; h++) {
		if (!(vm->page[h].flags & HIPEC_PAGE_FRAME) || hipec_page_live(vm, h))
			continue;
		ghost = hipec_page_find_named(team, vm->page[h].pgno);
		if (ghost)
			hipec_page_forget(team, ghost);
	}
}

/*
 * The policy that takes over finds referenced bits as its team had them, but for what page
 * tables say. Context: expects c->lock.
 */
static void graft_bits(struct hipec_container *c, const struct hipec_candidate *t,
		       const u32 *handle)
{
	const u16 bit = HIPEC_REF_POLICY << c->host->ref_shift;
	u32 h;

	for (h = 1; h <= t->core.vm.reached; h++) {
		u16 *flags = &c->core.vm.page[handle[h]].flags;

		if (!hipec_page_live(&t->core.vm, h))
			continue;
		*flags &= ~bit;
		*flags |= t->bits[h] & HIPEC_REF_POLICY ? bit : 0;
	}
}

/* The machine of @t goes on in the place of @c's. Context: expects c->lock; may sleep. */
static int graft_machine(struct hipec_container *c, struct side *s, struct hipec_candidate *t)
{
	u32 *handle = kvcalloc(t->core.vm.nr_pages + 1ul, sizeof(*handle), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!handle)
		return -ENOMEM;
	hipec_core_catch_up(&c->core);
	hipec_core_unchoose_all(&c->core);
	ret = hipec_candidate_take_over(t, &c->core);
	if (!ret) {
		forget_absent(&t->core.vm, &c->core.vm);
		ret = hipec_vm_map_handles(&t->core.vm, &c->core.vm, s->vm.nr_pages, handle);
	}
	if (ret >= 0)
		ret = make_rows(c, s, ret);
	if (ret) {
		kvfree(handle);
		return ret;
	}
	copy_tables(c, s);
	exchange_sides(c, s);
	c->core.vm.policy = &c->policy;
	hipec_vm_graft(&c->core.vm, &t->core.vm, handle);
	hipec_vm_graft_frames(&c->core.vm, &s->vm);
	graft_bits(c, t, handle);
	kvfree(handle);
	hipec_core_wants(&c->core);
	c->core.loaded_at = c->league_since + t->core.loaded_at;
	settle_swap(c, s);
	return 0;
}

/*
 * Team @next takes over, unless the league has changed its mind.
 * Context: expects c->lock; may sleep.
 */
static int take_turn(struct hipec_container *c, struct side *s, u32 next,
		     struct hipec_text *log)
{
	struct hipec_league *l;
	bool adopt;
	int ret;

	hipec_host_deliver(c);
	l = c->league;
	if (!l || l->next != next ||
	    (!l->adopt && l->sample.shift && l->rehearses != next))
		return -EAGAIN;
	adopt = l->adopt;
	ret = adopt ? take_place(c, s, log) : graft_machine(c, s, hipec_league_source(l));
	/* Touches that take_place() heard may have changed these. */
	l->next = next;
	l->adopt = adopt;
	if (!ret) {
		hipec_league_switched(l);
		trace_hipec_swap(c, &s->policy, true);
	} else if (ret == -ECANCELED) {
		hipec_league_failed(l);
	}
	return ret;
}

/**
 * hipec_swap_begin() - no other swap, load or change of the league is under way
 * @c: container
 *
 * hipec_swap_end() is owed.
 *
 * Context: process context; takes c->lock.
 * Return: 0; -ENODATA before a policy is loaded; -EBUSY if one is; -EINTR on a fatal
 *         signal.
 */
int hipec_swap_begin(struct hipec_container *c)
{
	int ret = 0;

	if (mutex_lock_killable(&c->lock))
		return -EINTR;
	if (c->loading)
		ret = -EBUSY;
	else if (!c->core.vm.policy)
		ret = -ENODATA;
	else
		c->loading = true;
	mutex_unlock(&c->lock);
	return ret;
}

/* Ends what hipec_swap_begin() began. Context: process context; takes c->lock. */
void hipec_swap_end(struct hipec_container *c)
{
	mutex_lock(&c->lock);
	c->loading = false;
	mutex_unlock(&c->lock);
	wake_up_all(&c->wait);
}

/**
 * hipec_swap_policy() - put another policy in the place of a container's
 * @c:     container
 * @args:  from the user, checked for size and flags; its error fields and what was
 *         adopted are set
 * @image: copy of the image, kvmalloc()ed, which is no longer the caller's. NULL:
 *         the built-in replacement
 * @log:   gets the verifier's words, how the policy ended, or why it has to wait
 *
 * Context: process context, may sleep; takes c->lock.
 * Return: 0; -ENODATA before a policy is loaded; -EBUSY if another swap is under
 *         way; -EINVAL for an image that is refused; -EAGAIN as hipec_backoff_check(), if @c
 *         shares; -ENOMEM; -ECANCELED if Init or Adopt has ended the policy; -EINTR on a
 *         fatal signal. But for 0, the policy before goes on.
 */
int hipec_swap_policy(struct hipec_container *c, struct hipec_swap *args,
		      void *image, struct hipec_text *log)
{
	struct side *s = side_new(image);
	int ret = s ? hipec_swap_begin(c) : -ENOMEM;

	if (ret)
		goto out;
	ret = prepare_side(c, s, args, log);
	mutex_lock(&c->lock);
	if (!ret)
		ret = take_place(c, s, log);
	if (!ret) {
		args->adopted = c->core.vm.nr_live;
		trace_hipec_swap(c, &s->policy, false);
		/* The user knows better than the league. */
		WRITE_ONCE(c->league, NULL);
		c->core.heard = false;
	}
	mutex_unlock(&c->lock);
	hipec_swap_end(c);
out:
	side_free(s);
	return ret;
}

/**
 * hipec_swap_candidate() - a policy of the league takes over
 * @c:     container; hipec_swap_begin() was called
 * @image: copy of its image, kvmalloc()ed, which is no longer the caller's; NULL: the
 *         built-in replacement
 * @size:  its bytes
 * @next:  the team
 *
 * Context: process context, may sleep; takes c->lock.
 * Return: 0; -EAGAIN if it is not to any more; -ECANCELED if Init or Adopt ended it;
 *         -ENOMEM; -ENOSPC as hipec_candidate_take_over() and hipec_vm_map_handles(); -EINTR.
 *         But for 0, the policy before goes on.
 */
int hipec_swap_candidate(struct hipec_container *c, void *image, u32 size, u32 next)
{
	struct hipec_swap args = { .image_size = size, .seed = get_random_u32() };
	struct side *s = side_new(image);
	unsigned int nofs = memalloc_nofs_save();	/* of graft_machine(), under the lock */
	struct hipec_text log;
	char words[8];
	int ret = -ENOMEM;

	hipec_text_init(&log, words, sizeof(words));
	if (s) {
		s->beside = READ_ONCE(c->core.beside);
		ret = prepare_side(c, s, &args, &log);
	}
	mutex_lock(&c->lock);
	hipec_event_slice_begin(c, jiffies + HZ);
	if (!ret)
		ret = take_turn(c, s, next, &log);
	hipec_event_slice_end(c);
	mutex_unlock(&c->lock);
	memalloc_nofs_restore(nofs);
	side_free(s);
	return ret;
}
