// SPDX-License-Identifier: GPL-2.0-only
/*
 * A container: its life, its policy's events, and what happens when the policy
 * does not do its part.
 *
 * Interface:
 * hipec_container_new(), _put(), _next()  life
 * hipec_container_load()                  gives it a policy and frames
 * hipec_container_page_fault()            runs PageFault
 * hipec_container_make_room()             runs Replace until frames are free
 * hipec_container_status()                numbers for the user
 *
 * Owns hipec_containers_lock.
 */
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/ratelimit.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "internal.h"

/* Writes that may fail before a fault gives up waiting for a clean frame. */
#define HIPEC_MAX_WRITE_ERRORS 16

DEFINE_MUTEX(hipec_containers_lock);
LIST_HEAD(hipec_containers);	/* by rising id */

/**
 * hipec_container_new() - make a container without policy and frames
 *
 * Context: process context, may sleep.
 * Return: container with one reference; NULL if there is no memory.
 */
struct hipec_container *hipec_container_new(void)
{
	static u64 next_id = 1;
	struct hipec_container *c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);

	if (!c)
		return NULL;
	if (!zalloc_cpumask_var(&c->stale_cpus, GFP_KERNEL)) {
		kfree(c);
		return NULL;
	}
	mutex_init(&c->lock);
	kref_init(&c->ref);
	INIT_LIST_HEAD(&c->regions);
	INIT_LIST_HEAD(&c->free);
	INIT_WORK(&c->wash, hipec_io_wash);
	init_waitqueue_head(&c->wait);
	mutex_lock(&hipec_containers_lock);
	c->id = next_id++;
	list_add_tail(&c->link, &hipec_containers);
	mutex_unlock(&hipec_containers_lock);
	return c;
}

/* Undo prepare(), or as much of it as was done. */
static void unload(struct hipec_container *c)
{
	hipec_frames_free(c);
	kvfree(c->frame);
	c->frame = NULL;
	kvfree(c->vm_memory);
	c->vm_memory = NULL;
	bitmap_free(c->flush);
	c->flush = NULL;
	if (c->owner_mm) {
		account_locked_vm(c->owner_mm, c->nr_reserved, false);
		mmdrop(c->owner_mm);
		c->owner_mm = NULL;
	}
	put_pid(c->owner_pid);
	c->owner_pid = NULL;
	c->nr_reserved = 0;
}

static void container_free(struct kref *ref)
{
	struct hipec_container *c =
		container_of(ref, struct hipec_container, ref);

	mutex_lock(&hipec_containers_lock);
	list_del(&c->link);
	mutex_unlock(&hipec_containers_lock);
	hipec_debugfs_del(c);
	cancel_work_sync(&c->wash);
	unload(c);
	kvfree(c->image);
	WARN_ON_ONCE(c->nr_frames);
	free_cpumask_var(c->stale_cpus);
	kfree(c);
}

/**
 * hipec_container_put() - drop a reference
 * @c: container
 *
 * Context: process context, may sleep; expects no lock of ours.
 */
void hipec_container_put(struct hipec_container *c)
{
	kref_put(&c->ref, container_free);
}

/**
 * hipec_container_next() - the container with the least id above another
 * @id: any number
 *
 * Context: process context; takes hipec_containers_lock.
 * Return: container with a reference; NULL if there is none.
 */
struct hipec_container *hipec_container_next(u64 id)
{
	struct hipec_container *c;

	mutex_lock(&hipec_containers_lock);
	list_for_each_entry(c, &hipec_containers, link) {
		if (c->id > id && kref_get_unless_zero(&c->ref)) {
			mutex_unlock(&hipec_containers_lock);
			return c;
		}
	}
	mutex_unlock(&hipec_containers_lock);
	return NULL;
}

/* One line for the log, and FIFO with a second chance is in charge. */
static void policy_ended(struct hipec_container *c)
{
	const struct hipec_exit *e = &c->vm.exit;

	pr_warn_ratelimited("%s[%d]: policy '%s' ended: %s in %s+%u, line %u\n",
			    c->owner_comm, pid_nr(c->owner_pid),
			    c->policy.image->name, hipec_exit_text(e->kind),
			    hipec_policy_event_name(&c->policy, e->event),
			    e->command, e->line);
	hipec_vm_abandon(&c->vm);
}

/* Run an event of a policy that has not ended; @free: frames it may count on. */
static void run(struct hipec_container *c, u32 event, u32 free)
{
	struct hipec_vm *vm = &c->vm;
	int ended;

	lockdep_assert_held(&c->lock);
	vm->slot[HIPEC_SLOT_FREE_COUNT] = free;
	vm->queue[HIPEC_QUEUE_FREE].count = free;
	vm->slot[HIPEC_SLOT_FRAME_BUDGET] = c->nr_frames - c->nr_surplus;
	vm->slot[HIPEC_SLOT_RESIDENT_COUNT] = vm->nr_live;
	ended = hipec_vm_run(vm, event);
	hipec_young_flush(c);
	if (ended)
		policy_ended(c);
}

static void set_fault(struct hipec_container *c, u32 pgno, bool write)
{
	c->vm.slot[HIPEC_SLOT_FAULTED_ADDRESS] = (s64)pgno << PAGE_SHIFT;
	c->vm.slot[HIPEC_SLOT_FAULT_KIND] = write;
}

/**
 * hipec_container_page_fault() - tell the policy of a page that was brought in
 * @c:     container
 * @pgno:  live page, on the fallback queue
 * @write: the access that faulted was a write
 *
 * Context: expects c->lock; may sleep.
 * Source: hipec-1997, "Application-specific caching strategies".
 */
void hipec_container_page_fault(struct hipec_container *c, u32 pgno, bool write)
{
	if (c->vm.exit.kind)
		return;
	set_fault(c, pgno, write);
	run(c, HIPEC_EVENT_PAGEFAULT, c->nr_free);
}

/*
 * Have one page given up: one that the policy has forgotten, else by the policy
 * or, if it gives none, by the built-in choice. Return: false if no page can go.
 */
static bool replace(struct hipec_container *c, u32 pgno, bool write)
{
	u64 before = c->counters.evictions;

	if (!c->vm.exit.kind) {
		if (hipec_frame_evict_forgotten(c)) {
			c->counters.forgotten++;
			return true;
		}
		set_fault(c, pgno, write);
		/* All free frames are promised to the fault that asks. */
		run(c, HIPEC_EVENT_REPLACE, 0);
		if (c->counters.evictions != before)
			return true;
		c->counters.helped++;
	}
	if (!hipec_frame_evict_any(c))
		return false;
	hipec_young_flush(c);
	return true;
}

/* Free what was read ahead for faults that did not come. */
static bool drop_ahead(struct hipec_container *c)
{
	struct hipec_region *r;

	list_for_each_entry(r, &c->regions, link)
		if (hipec_ahead_drop(r))
			return true;
	return false;
}

/**
 * hipec_container_try_room() - get free frames without waiting
 * @c:     container
 * @pgno:  page that they are for
 * @write: it is to be written to
 * @want:  frames, 1 or more
 *
 * Free ones first, then by Replace. Victims that were dirty count when the
 * washer has cleaned them.
 *
 * Context: process context; expects c->lock.
 * Return: free frames, at most @want.
 */
u32 hipec_container_try_room(struct hipec_container *c, u32 pgno, bool write,
			     u32 want)
{
	const struct hipec_queue *laundry = &c->vm.queue[HIPEC_QUEUE_HOST];

	while (c->nr_free + laundry->count < want)
		if (!replace(c, pgno, write))
			break;
	return min(c->nr_free, want);
}

/**
 * hipec_container_make_room() - get free frames for a fault
 * @c:     container
 * @pgno:  page that faulted
 * @write: the access was a write
 * @want:  frames, 1 or more
 *
 * Waits until all are there, or fewer if no more pages can go.
 *
 * Context: process context; expects c->lock, which it may drop and retake.
 * Return: free frames, at most @want; 0 if the lock was dropped, so look again;
 *         -EINTR on a fatal signal; -ENOMEM if every page is pinned; -EIO if
 *         victims cannot be written.
 */
int hipec_container_make_room(struct hipec_container *c, u32 pgno, bool write,
			      u32 want)
{
	const struct hipec_queue *laundry = &c->vm.queue[HIPEC_QUEUE_HOST];
	u64 errors = c->counters.write_errors;
	bool slept = false;
	u32 got;

	while ((got = hipec_container_try_room(c, pgno, write, want)) < want) {
		if (!laundry->count && got)
			break;
		if (!laundry->count && drop_ahead(c))
			continue;
		if (!laundry->count && !c->nr_reading)
			return -ENOMEM;
		if (c->counters.write_errors - errors > HIPEC_MAX_WRITE_ERRORS)
			return -EIO;
		slept = true;
		if (!hipec_io_wait(c, TASK_KILLABLE))
			return -EINTR;
	}
	return slept ? 0 : got;
}

/* Memory and frames for @nr pages; nobody else looks at @c's yet. */
static int prepare(struct hipec_container *c, u32 nr)
{
	int ret = account_locked_vm(current->mm, nr, true);

	if (ret)
		return ret;
	c->owner_mm = current->mm;
	mmgrab(c->owner_mm);
	c->owner_pid = get_pid(task_tgid(current));
	c->owner_uid = current_uid();
	get_task_comm(c->owner_comm, current);
	c->nr_reserved = nr;

	c->frame = kvcalloc(nr + 1ul, sizeof(*c->frame), GFP_KERNEL_ACCOUNT);
	c->flush = bitmap_zalloc(nr + 1, GFP_KERNEL_ACCOUNT);
	c->vm_memory = kvmalloc(hipec_vm_size(&c->policy, nr),
				GFP_KERNEL_ACCOUNT);
	ret = -ENOMEM;
	if (c->frame && c->flush && c->vm_memory)
		ret = hipec_frames_reserve(c, nr);
	if (ret)
		unload(c);
	return ret;
}

static int parse(struct hipec_container *c, struct hipec_load *args,
		 void *image, struct hipec_text *log)
{
	struct hipec_verify_error error;
	int ret;

	ret = hipec_image_parse(image, args->image_size, &c->policy, &error);
	if (!ret)
		ret = hipec_verify(&c->policy, &error);
	if (!ret)
		return 0;
	args->error_kind = error.kind;
	args->error_event = error.event;
	args->error_command = error.command;
	args->error_operand = error.operand;
	hipec_verify_explain(&c->policy, &error, log);
	return ret;
}

/**
 * hipec_container_load() - give a container its policy and frames
 * @c:     container
 * @args:  from the user, checked for size and flags; its error fields are set
 * @image: copy of the image, kvmalloc()ed; @c owns it on success
 * @log:   gets the verifier's words
 *
 * Context: process context, may sleep; takes c->lock.
 * Return: 0; -EBUSY if it has a policy; -EINVAL for an image that is refused or
 *         for a frame budget or cluster out of range; -ENOMEM if the machine,
 *         the memory cgroup or RLIMIT_MEMLOCK does not give the frames; -EINTR
 *         on a fatal signal.
 */
int hipec_container_load(struct hipec_container *c, struct hipec_load *args,
			 void *image, struct hipec_text *log)
{
	bool busy;
	u32 nr;
	int ret;

	if (!args->frames || args->cluster > HIPEC_MAX_CLUSTER)
		return -EINVAL;
	if (args->frames > totalram_pages() || args->frames > INT_MAX)
		return -ENOMEM;
	nr = args->frames;

	/* One load at a time; until it is done nothing else uses @c's fields. */
	mutex_lock(&c->lock);
	busy = c->loading || c->vm.policy;
	c->loading = c->loading || !busy;
	mutex_unlock(&c->lock);
	if (busy)
		return -EBUSY;

	ret = parse(c, args, image, log);
	if (!ret)
		ret = prepare(c, nr);

	mutex_lock(&c->lock);
	c->loading = false;
	if (!ret) {
		c->image = image;
		c->cluster = min(args->cluster ?: HIPEC_DEFAULT_CLUSTER, nr);
		hipec_vm_init(&c->vm, &c->policy, &hipec_kernel_host,
			      c->vm_memory, nr);
		if (hipec_vm_has_event(&c->vm, HIPEC_EVENT_INIT))
			run(c, HIPEC_EVENT_INIT, c->nr_free);
	}
	mutex_unlock(&c->lock);
	if (!ret)
		hipec_debugfs_add(c);
	return ret;
}

/**
 * hipec_container_status() - numbers of a container
 * @c: container
 * @s: filled, but for its size
 *
 * Context: process context; takes c->lock.
 */
void hipec_container_status(struct hipec_container *c, struct hipec_status *s)
{
	*s = (struct hipec_status){ .size = s->size, .id = c->id };
	mutex_lock(&c->lock);
	s->regions = c->nr_regions;
	if (c->vm.policy) {
		s->pid = pid_vnr(c->owner_pid);
		s->uid = from_kuid_munged(current_user_ns(), c->owner_uid);
		memcpy(s->comm, c->owner_comm, sizeof(s->comm));
		memcpy(s->policy, c->policy.image->name, sizeof(s->policy));
		s->frames = c->nr_frames - c->nr_surplus;
		s->free_frames = c->nr_free;
		s->resident = c->vm.nr_live;
		s->dirty = atomic_read(&c->nr_dirty);
		s->cluster = c->cluster;
		s->exit = c->vm.exit;
		s->counters = c->counters;
		s->counters.commands = c->vm.nr_commands;
		s->counters.events = c->vm.nr_events;
	}
	mutex_unlock(&c->lock);
}
