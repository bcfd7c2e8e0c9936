// SPDX-License-Identifier: GPL-2.0-only
/*
 * A container: its life, its policy and its memory.
 *
 * Interface:
 * hipec_container_new()                   its beginning; its end is hipec_container_put()
 * hipec_container_load()                  gives it a policy and frames
 */
#include <linux/cred.h>
#include <linux/memcontrol.h>
#include <linux/pid.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "cache/host.h"
#include "internal.h"

/* Undo prepare_container(), or as much of it as was done. */
static void unload_container(struct hipec_container *c)
{
	/* Reclaim may take free frames until the pool is left. */
	mutex_lock(&c->lock);
	c->host->drop(c);
	mutex_unlock(&c->lock);
	hipec_share_leave(c);
	cancel_delayed_work_sync(&c->refill);	/* only the pool queues it */
	if (c->host->unload)
		c->host->unload(c);
	hipec_columns_end(c);
	c->host->place(c, NULL);
	kvfree(c->vm_memory);
	c->vm_memory = NULL;
	kvfree(c->core.judge);
	c->core.judge = NULL;
	if (c->shared)
		hipec_shared_free(c->shared, c->policy.image->nr_operands);
	c->shared = NULL;
	if (c->owner_mm) {
		if (c->locked)
			hipec_user_unlock(c);
		mmdrop(c->owner_mm);
		c->owner_mm = NULL;
	}
	put_pid(c->owner_pid);
	c->owner_pid = NULL;
	if (c->user) {
		hipec_user_kept_no_more(c);
		hipec_user_put(c->user);
	}
	c->user = NULL;
	c->core.nr_reserved = 0;
}

/*
 * The league's worker, Timer and touches that are told late queue each other. Each looks at
 * c->dying under the lock, so what is cancelled here is not queued again; and what these two
 * queue for the files is cancelled with those.
 */
static void stop_works(struct hipec_container *c)
{
	/* An event that runs ends; and who queues what looks at it under the lock. */
	WRITE_ONCE(c->dying, true);
	mutex_lock(&c->lock);
	mutex_unlock(&c->lock);
	if (c->contest)
		cancel_work_sync(&c->change);
	cancel_delayed_work_sync(&c->timer);
}

static void container_free(struct kref *ref)
{
	struct hipec_container *c =
		container_of(ref, struct hipec_container, ref);

	mutex_lock(&hipec_containers_lock);
	xa_erase(&hipec_containers, c->id);
	mutex_unlock(&hipec_containers_lock);
	atomic_dec(&hipec_nr_containers);
	hipec_debugfs_del(c);
	stop_works(c);
	if (c->host->end)
		c->host->end(c);
	cancel_delayed_work_sync(&c->frames.age);
	if (c->contest)
		c->end_contest(c);
	mutex_lock(&c->lock);
	if (c->core.vm.policy) {
		hipec_core_end(&c->core, HIPEC_EXIT_CLOSED);
		hipec_log_note(c, true);
	}
	hipec_record_end(c);
	hipec_sample_end(c);
	mutex_unlock(&c->lock);
	unload_container(c);
	kvfree(c->image);
	hipec_context_end(&c->contexts);
	WARN_ON_ONCE(c->core.nr_frames);
	free_cpumask_var(c->stale_cpus);
	kfree(c);
}

/**
 * hipec_container_new() - make a container without policy and frames
 *
 * Context: process context, may sleep.
 * Return: container with one reference; NULL if there is no memory.
 */
struct hipec_container *hipec_container_new(void)
{
	static atomic64_t last_id;
	struct hipec_container *c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!c)
		return NULL;
	if (!zalloc_cpumask_var(&c->stale_cpus, GFP_KERNEL_ACCOUNT))
		goto no_cpus;
	mutex_init(&c->lock);
	kref_init(&c->ref);
	INIT_WORK(&c->put, hipec_container_put_work);
	c->release = container_free;
	c->host = &hipec_frame_host;
	hipec_core_init(&c->core, c->host->engine, 0, 0);
	INIT_LIST_HEAD(&c->regions);
	INIT_LIST_HEAD(&c->frames.free);
	INIT_DELAYED_WORK(&c->frames.age, hipec_io_age);
	INIT_DELAYED_WORK(&c->timer, hipec_timer_run);
	INIT_DELAYED_WORK(&c->refill, hipec_event_refill_work);
	INIT_WORK(&c->grow, hipec_columns_work);
	seqcount_init(&c->placed.seq);
	init_waitqueue_head(&c->wait);
	init_waitqueue_head(&c->ended);
	c->id = atomic64_inc_return(&last_id);
	ret = xa_err(xa_store(&hipec_containers, c->id, c, GFP_KERNEL_ACCOUNT));
	if (!ret) {
		atomic_inc(&hipec_nr_containers);
		return c;
	}
	free_cpumask_var(c->stale_cpus);
no_cpus:
	kfree(c);
	return NULL;
}

/**
 * hipec_container_columns() - columns for a policy of a container
 * @c:     container; not changed
 * @p:     policy
 * @nr:    entries at most
 * @t:     gets them
 * @least: entries that there are to be now; of frames all are
 *
 * Context: process context, may sleep.
 * Return: 0; -ENOMEM, and there is nothing to free.
 */
int hipec_container_columns(const struct hipec_container *c, const struct hipec_policy *p,
			    u32 nr, struct hipec_columns *t, u32 least)
{
	return hipec_columns_make(t, p, c->host->row, c->core.pool, nr, c->host->grows ? least : nr);
}

/* Tables for @nr entries. */
static int make_container_tables(struct hipec_container *c, u32 nr)
{
	c->vm_memory = hipec_memory_alloc(hipec_vm_table_size(&c->policy, 0));
	c->columns.memcg = get_mem_cgroup_from_mm(current->mm);
	if (!c->vm_memory || hipec_container_columns(c, &c->policy, nr, &c->columns, 0))
		return -ENOMEM;
	hipec_columns_use(c);
	if (hipec_container_judges(c, &c->policy)) {
		c->core.judge =
			hipec_memory_alloc(hipec_judge_bytes(c->core.nr_reserved));
		if (!c->core.judge)
			return -ENOMEM;
	}
	return hipec_shared_alloc(&c->policy, NULL, NULL, &c->shared);
}

/* Entries of a container's page table for policy @p and @nr frames. */
u32 hipec_container_entries(const struct hipec_container *c,
			    const struct hipec_policy *p, u32 nr)
{
	return c->host->entries(p, nr);
}

/*
 * Memory and frames for @nr pages; nobody else looks at @c's yet. Quotas and
 * limits first: what they refuse costs no memory, which is more than its frames'
 * where a policy has many ghosts.
 */
static int prepare_container(struct hipec_container *c, u32 nr, u32 flags,
			     struct hipec_text *log)
{
	bool share = flags & HIPEC_LOAD_SHARE;
	u32 entries;
	int ret;

	c->user = hipec_user_get();
	if (!c->user)
		return -ENOMEM;
	ret = share ? 0 : hipec_user_lock(c, nr);
	if (ret) {
		hipec_user_put(c->user);
		c->user = NULL;
		return ret;
	}
	c->locked = !share;
	c->bounded = !hipec_user_sees_all();
	c->host = flags & HIPEC_LOAD_IN_PLACE ? &hipec_cache_host : &hipec_frame_host;
	c->contract = flags & (HIPEC_LOAD_SHARE | HIPEC_LOAD_CONTRACT);
	c->owner_mm = current->mm;
	mmgrab(c->owner_mm);
	c->owner_pid = get_pid(task_tgid(current));
	c->owner_uid = current_uid();
	hipec_context_begin(&c->contexts);
	get_task_comm(c->owner_comm, current);
	hipec_core_init(&c->core, share ? c->host->shared : c->host->engine, nr, 0);

	if (flags & HIPEC_LOAD_KEEP && !hipec_user_may_keep(c)) {
		hipec_text_str(log, "the user has as many containers without a descriptor as one may have");
		ret = -EDQUOT;
	}
	if (!ret && share)
		ret = hipec_share_join(c, log);
	if (!ret)
		ret = c->host->load(c, nr, log);
	entries = hipec_container_entries(c, &c->policy, nr);
	if (!ret)
		ret = make_container_tables(c, entries);
	if (!ret && share)
		ret = hipec_share_fill(c);
	if (ret)
		unload_container(c);
	return ret;
}

/**
 * hipec_container_parse() - the policy of an image
 * @p:     filled; points into @image
 * @image: its bytes; NULL: the built-in replacement
 * @size:  their number
 * @error: filled where it is refused
 * @log:   gets the verifier's words then
 *
 * Context: process context.
 * Return: 0; -EINVAL if the image is refused.
 */
int hipec_container_parse(struct hipec_policy *p, const void *image,
			  size_t size, struct hipec_verify_error *error,
			  struct hipec_text *log)
{
	int ret;

	*error = (struct hipec_verify_error){ 0 };
	if (!image) {
		hipec_fifo2_policy(p);
		return 0;
	}
	ret = hipec_image_parse(image, size, p, error);
	if (!ret)
		ret = hipec_verify(p, error);
	if (ret)
		hipec_verify_explain(p, error, log);
	return ret;
}

static int parse_loaded_image(struct hipec_container *c, struct hipec_load *args,
			      void *image, struct hipec_text *log)
{
	struct hipec_verify_error error;
	int ret = hipec_container_parse(&c->policy, image, args->image_size,
					&error, log);

	if (ret) {
		args->error_kind = error.kind;
		args->error_event = error.event;
		args->error_command = error.command;
		args->error_operand = error.operand;
	}
	return ret;
}

/* Read the policy, and see whether it may be loaded now. Return: as hipec_container_load(). */
static int accept_policy(struct hipec_container *c, struct hipec_load *args, void *image,
			 struct hipec_text *log)
{
	int ret = parse_loaded_image(c, args, image, log);

	if (!ret && !hipec_vm_fits(&c->policy, args->frames)) {
		hipec_text_num(log, args->frames);
		hipec_text_str(log, " frames and the policy's ghosts are too many for a page table");
		ret = -ENOMEM;
	}
	if (!ret && image)
		c->image_hash = hipec_backoff_hash(image, args->image_size);
	if (!ret && image && args->flags & HIPEC_LOAD_SHARE)
		ret = hipec_backoff_check(&c->policy, c->image_hash,
					  hipec_user_charged(), log);
	return ret;
}

/*
 * Give a new machine the numbers that no author of a policy can know: its salt and its key.
 * Random begins with @seed, if there is one. Context: before a page is added.
 */
void hipec_container_draw(struct hipec_vm *vm, u64 seed)
{
	vm->salt = get_random_u32();
	vm->key = get_random_u64() | 1;
	if (seed)
		vm->random = seed;
}

/* The policy begins. Context: expects c->lock, and all that prepare_container() makes. */
static void start_policy(struct hipec_container *c, const struct hipec_load *args, void *image)
{
	u32 nr = args->frames;

	c->image = image;
	c->cluster = min(args->cluster ?: HIPEC_DEFAULT_CLUSTER, nr);
	hipec_vm_init_apart(&c->core.vm, &c->policy, c->host->machine, c->vm_memory, NULL, nr,
			    hipec_container_entries(c, &c->policy, nr));
	hipec_columns_use(c);
	hipec_shared_place(&c->core.vm, c->shared);
	hipec_container_draw(&c->core.vm, args->seed);
	hipec_core_watch(&c->core, c->core.vm.salt);
	hipec_core_start(&c->core);
	hipec_host_wants(c);
	hipec_timer_start(c);
}

/**
 * hipec_container_load() - give a container its policy and frames
 * @c:     container
 * @args:  from the user, checked for size and flags; its error fields are set
 * @image: copy of the image, kvmalloc()ed; @c owns it on success. NULL: the
 *         built-in replacement
 * @log:   gets the verifier's words, the quota's, or why it has to wait
 *
 * Context: process context, may sleep; takes c->lock.
 * Return: 0; -EBUSY if it has a policy; -EINVAL for an image that is refused or
 *         for a frame budget or cluster out of range; -ENOMEM if the machine,
 *         the memory cgroup or RLIMIT_MEMLOCK does not give the frames; -EINTR
 *         on a fatal signal; in place, -ENOSPC if all such containers would have more than their
 *         part of the machine's memory; if it shares, also -EAGAIN as hipec_backoff_check(),
 *         -EDQUOT and -ENOSPC as hipec_share_join(); -EDQUOT as well if it is to be kept and its
 *         user has HIPEC_MAX_USER_KEPT.
 */
int hipec_container_load(struct hipec_container *c, struct hipec_load *args,
			 void *image, struct hipec_text *log)
{
	bool busy;
	int ret;

	if (!args->frames || args->cluster > HIPEC_MAX_CLUSTER)
		return -EINVAL;
	if (args->flags & (HIPEC_LOAD_KEEP | HIPEC_LOAD_CONTRACT) &&
	    !(args->flags & HIPEC_LOAD_IN_PLACE))
		return -EINVAL;
	if (args->frames > totalram_pages() || args->frames > HIPEC_MAX_FRAMES)
		return -ENOMEM;

	/* One load at a time; until it is done nothing else uses @c's fields. */
	mutex_lock(&c->lock);
	busy = c->loading || c->core.vm.policy;
	c->loading = c->loading || !busy;
	mutex_unlock(&c->lock);
	if (busy)
		return -EBUSY;

	ret = accept_policy(c, args, image, log);
	if (!ret)
		ret = prepare_container(c, args->frames, args->flags, log);

	mutex_lock(&c->lock);
	c->loading = false;
	if (!ret)
		start_policy(c, args, image);
	mutex_unlock(&c->lock);
	if (!ret)
		smp_store_release(&c->loaded, true);	/* behind its owner: may_see() */
	if (!ret)
		hipec_debugfs_add(c);
	if (!ret && args->flags & HIPEC_LOAD_KEEP)
		hipec_cache_keep(c);
	return ret;
}
