/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The container, and what both hosts call: struct hipec_host is all that the rest of the
 * module asks of a host. What users ask for is a folder above; what knows neither
 * containers nor kernels is in core/.
 *
 * Names: @c a container, @r a region, @h a page handle, @idx a page counted from
 * its region's start, @pgno one counted from its container's start, @folio a
 * frame that holds a page. All counts of memory are in pages of 4096 bytes.
 *
 * Lock order, outermost first; the holder of a lock takes only those below it:
 *   mmap_lock or the VMA's lock
 *     hipec_container.lock
 *       hipec_share_pin() or the pool's lock (pool.c): other containers' are only tried
 *         folio lock
 *           i_mmap_rwsem of the file's mapping
 *         cache->slots_lock (cache/file.c)
 *   hook_lock (cache/open.c), attach_lock (cache/table.c) and dir_lock (cache/dir.c) are taken with
 *   none of the others held, and no lock of ours under them. Nobody waits in cache->inodes.
 *   hipec_containers_lock and hipec_claims_lock are taken with none of the others
 *   held. Nothing is taken under them, nor under the locks of user.c, backoff.c, log.c,
 *   context.c, kept.c, volume.c and cache/clean.c.
 * None of them but mmap_lock is held over I/O. Whoever holds a folio's lock
 * never takes a container's lock.
 * The lock of a backing file's inode is not in this order: write() and direct
 * I/O hold it when they fault. Reads do not take it (read.c); writeback, which
 * does, holds nothing else; and no fault waits for writeback for ever while it
 * holds anything (fault.c).
 */
#ifndef HIPEC_BASE_BASE_H
#define HIPEC_BASE_BASE_H

#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/seqlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "../context/context.h"
#include "../core/league.h"
#include "../core/pool.h"
#include "../vm/bucket.h"
#include "../vm/queue.h"
#include "columns.h"
#include "share.h"
#include "user.h"

static_assert(PAGE_SIZE == 4096, "the ABI counts in pages of 4096 bytes");

/*
 * Of a variable on the stack that is large, and filled before it is read: Debian's kernels
 * would fill it with zeros first, at each miss.
 */
#ifdef __CHECKER__
#define HIPEC_UNINITIALIZED
#else
#define HIPEC_UNINITIALIZED __attribute__((uninitialized))
#endif

/* Bands of HIPEC_EXIT_KINDS. */
#define HIPEC_EXIT_BAND 0xf0
#define HIPEC_EXIT_BAND_REVOKED 0x40

/**
 * struct hipec_host - the owner of a container's pages: chosen at its load, and never changed
 * @in_place: its pages are the page cache's
 * @grows:    its tables get longer with use; else they have all their rows at once
 * @ref_shift: where HIPEC_REF_* begin in the flags of a page
 * @row:      bytes of an entry of its own column
 * @machine:  what commands ask
 * @engine:   what the engine asks, of a container that has its frames for itself
 * @shared:   the same, of one that shares
 * @entries:  entries of the page table that a policy needs for a budget
 * @load:     memory, and frames unless it shares, for a budget; @log says what there is too
 *            little of. May sleep; nobody else uses @c. Return: as hipec_container_load()
 * @place:    its own column is @own from now on. Under the lock
 * @end:      nobody uses the container: no page is its any more, and no work comes. Sleeps;
 *            without the lock. NULL: that is so without a word
 * @drop:     frames go back. Under the lock
 * @unload:   free what @load has made, of which some may not be there; it has left the pool.
 *            NULL: nothing is left
 *
 * The rest is called under the lock:
 * @resident: pages that hold a frame
 * @tell:     a record has begun: tell it what the container has; NULL: nothing
 * @wants:    somebody wants to know of accesses, or nobody any more; NULL: of no matter
 * @deliver:  what was touched is told before anybody asks; NULL: it has been
 * @settle:   events have run outside of a fault: what they gave up may go; NULL: it has
 * @spare:    the pool may be full: pages go that no policy knows; NULL: there are none
 */
struct hipec_host {
	bool in_place, grows;
	u32 ref_shift;
	size_t row;
	const struct hipec_host_ops *machine;
	const struct hipec_core_ops *engine, *shared;
	u32 (*entries)(const struct hipec_policy *p, u32 nr);
	int (*load)(struct hipec_container *c, u32 nr, struct hipec_text *log);
	void (*place)(struct hipec_container *c, void *own);
	void (*end)(struct hipec_container *c);
	void (*drop)(struct hipec_container *c);
	void (*unload)(struct hipec_container *c);

	u32 (*resident)(const struct hipec_container *c);
	void (*tell)(struct hipec_container *c);
	void (*wants)(struct hipec_container *c);
	void (*deliver)(struct hipec_container *c);
	void (*settle)(struct hipec_container *c);
	void (*spare)(struct hipec_container *c);
};

/**
 * struct hipec_frames - what a container of frames of our own has beside its pages
 * @frame:     frame of each page, by handle; in place NULL
 * @free:      frames that hold no page, by folio->lru
 * @cgroup:    frames are charged to it; NULL: to none. Invariant after the load
 * @token:     if the container shares; likewise
 * @nr_ahead:  pages that are being read, or were, for which no fault has come, or come again
 * @nr_fetched: of these, pages that Prefetch asked for
 * @nr_filling: batches that are being read ahead now
 * @leave_none: misses that keep mmap_lock, since a batch that a fault had left was lost
 * @batches:   that were shown to the policy, up to now
 * @nr_dirty:  dirty frames; atomic, no lock
 * @age:       has what is dirty cleaned after a while
 * @flush_all: bit 0: all dirty pages are to be written back; atomic
 * @served:    faults that found their page, or had it brought in; it wraps
 * @last_timeout: @served when a fault last timed out on pinned pages
 * @last_miss: page of a region that a program missed last
 * @last_state: the program's registers then, as a number; 0: it was the kernel's own fault
 *
 * Under the container's lock, but for what says something else. It is zeros where the container's
 * pages are the page cache's, but for @free and @age. Only frames/ has a use for it, and what
 * begins, ends and reports containers.
 */
struct hipec_frames {
	struct folio **frame;
	struct list_head free;
	struct mem_cgroup *cgroup;
	struct hipec_token *token;
	u32 nr_ahead;
	u32 nr_fetched;
	u32 nr_filling;
	u32 leave_none;
	u64 batches;
	atomic_t nr_dirty;
	struct delayed_work age;
	unsigned long flush_all;
	u32 served;
	u32 last_timeout;
	u32 last_miss;
	u64 last_state;
};

/**
 * struct hipec_container - one policy with its operands, pages and frames
 * @lock:      protects everything below that says nothing else
 * @ref:       one of the device file, one of each region
 * @release:   ends it; invariant
 * @host:      its host's, from the load on
 * @id:        invariant
 * @regions:   of struct hipec_region
 * @nr_regions: their number
 * @core:      the engine's part; core.vm.policy is NULL until a policy is loaded
 * @loading:   a load or a swap is under way; the fields a load fills are its alone
 * @image:     bytes that the policy points into; NULL: it has none
 * @image_hash: of these bytes, for backoff.c
 * @policy:    parsed image; like all that belongs to it, a swap changes it
 * @vm_memory: memory of the machine, but for its tables
 * @columns:   rows for each entry (columns.c): the machine's, frames.frame or @links, the pool's
 * @grown:     what is to take their place
 * @gone:      has what they are in then taken away
 * @grow:      makes both
 * @placed:    where they are; no lock
 * @grow_again: jiffies, before which it does not, as there was no memory
 * @shared:    shared arrays, by slot; NULL: it has none
 * @frames:    of a container of frames of our own
 * @links:     of entries that are on one of a cache's lists, by handle; else NULL
 * @user:      who is charged for it. Invariant after the load, as:
 * @bounded:   whoever loaded it had no CAP_SYS_ADMIN: the bounds of a user hold
 * @counted_kept: it counts as one of its user's that are kept
 * @recovery:  memory of core.recover
 * @cluster:   most pages of one read; invariant after the load
 * @stale_cpus: CPUs whose TLB may still have referenced bits that were reset, while
 *             core.unsettled
 * @stale_events: events since it is
 * @refill:    has the policy name pages for others
 * @for_others: that is under way, in the worker
 * @asked_since: ns, when that began; 0: it is not
 * @late_for_others: it was late then, and runs nothing more for them
 * @others_wait: requests that it missed when it was late for them the last time
 * @others_skip: requests that it is still to miss; atomic, no lock
 * @timer:     runs Timer
 * @ended:     polled for the end of the policy
 * @cache:     its pages are the page cache's; NULL: frames. Invariant after the load
 * @wait:      woken when a page stops being READING, EVICT_PENDING or WRITING
 * @contract:  its policies are held to the contract of revocation; likewise
 * @owner_mm:  of the task that loaded; invariant after the load
 * @locked:    its locked_vm counts the frames, likewise
 * @locked_cred: of the user whose locked_vm counts them as well; NULL: nobody's
 * @owner_pid, @owner_comm, @owner_uid: of the task that loaded; invariant
 * @loaded:    it has a policy, and an owner; released, no lock
 * @contexts:  of which programs its policy knows the contexts
 * @recorder:  its record; NULL: nobody listens
 * @sampler:   of its accesses, likewise
 * @league:    policies that play beside the one that runs (core/league.h), and may take
 *             over; NULL: none, or no more. May be looked at without the lock while it
 *             is in use
 * @league_since: ns, when it began, if one of them reads Time; else 0
 * @contest:   its memory (league.c), which @end_contest() frees; NULL: it never had one
 * @change:    work: one of them rehearses, or takes over
 * @put:       work: drops a reference that may be the last
 * @dying:     nobody uses it any more, and no work is queued that would
 * @slice:     jiffies until which a worker may have events run; 0: no worker does
 * @debugfs:   directory
 */
struct hipec_container {
	struct mutex lock;
	struct kref ref;
	void (*release)(struct kref *ref);
	const struct hipec_host *host;
	u64 id;
	struct list_head regions;
	u32 nr_regions;

	struct hipec_core core;
	bool loading;
	struct hipec_policy policy;
	void *image;
	u64 image_hash;
	void *vm_memory;
	struct hipec_columns columns, grown;
	struct hipec_columns_gone *gone;
	struct work_struct grow;
	struct hipec_placed placed;
	unsigned long grow_again;
	struct hipec_shared **shared;

	struct hipec_frames frames;
	struct hipec_links *links;
	struct hipec_user *user;
	bool bounded, counted_kept;
	void *recovery;
	u32 cluster;
	cpumask_var_t stale_cpus;
	u32 stale_events;

	struct delayed_work refill;
	bool for_others;
	u64 asked_since;
	bool late_for_others;
	u32 others_wait;
	atomic_t others_skip;
	struct delayed_work timer;
	wait_queue_head_t ended;

	struct hipec_cache *cache;
	wait_queue_head_t wait;

	struct mm_struct *owner_mm;
	bool contract;
	bool locked;
	const struct cred *locked_cred;
	struct pid *owner_pid;
	char owner_comm[TASK_COMM_LEN];
	kuid_t owner_uid;
	bool loaded;
	struct hipec_contexts contexts;
	struct hipec_recorder *recorder;
	struct hipec_sampler *sampler;
	struct hipec_league *league;
	u64 league_since;
	struct hipec_contest *contest;
	void (*end_contest)(struct hipec_container *c);
	struct work_struct change;
	struct work_struct put;
	bool dying;
	unsigned long slice;
	struct dentry *debugfs;
};

static inline struct hipec_container *hipec_of_core(struct hipec_core *core)
{
	return container_of(core, struct hipec_container, core);
}

static inline struct hipec_container *hipec_of_vm(struct hipec_vm *vm)
{
	return hipec_of_core(hipec_core_of(vm));
}

/* args.c */
int hipec_args_get(void *args, size_t ksize, void __user *uargs, u32 *usize,
		   u32 known_flags);

/* containers.c */
extern struct mutex hipec_containers_lock;
extern struct xarray hipec_containers;	/* by their ids */
extern atomic_t hipec_nr_containers;	/* of these */
struct hipec_container *hipec_container_next(u64 id);
struct hipec_container *hipec_container_with(u64 id);
void hipec_container_put(struct hipec_container *c);
void hipec_container_put_later(struct hipec_container *c);
void hipec_container_put_work(struct work_struct *work);
void __hipec_container_status(struct hipec_container *c,
			      struct hipec_status *s);

/* columns.c, beside columns.h */
/*
 * An unused entry is about to be used, for which there may be no row yet; and if there is
 * no memory, none after this. Context: expects c->lock, and no event under way; may sleep.
 */
static inline void hipec_columns_want(struct hipec_container *c)
{
	if (unlikely(hipec_page_next_unused(&c->core.vm) > c->columns.mark))
		__hipec_columns_want(c);
}

/*
 * The entry of a page, perhaps; 0: not known. No lock is needed. Context: under
 * rcu_read_lock(), or with preemption disabled.
 */
static __always_inline u32 hipec_columns_peek(const struct hipec_container *c, u32 pgno)
{
	unsigned int seq = raw_read_seqcount(&c->placed.seq);
	const struct hipec_page *page = READ_ONCE(c->placed.page);
	const u32 *bucket = READ_ONCE(c->placed.bucket);
	u32 nr = READ_ONCE(c->placed.nr);

	if (unlikely(seq & 1 || read_seqcount_retry(&c->placed.seq, seq)))
		return 0;
	return hipec_bucket_peek(&c->core.vm, page, nr, bucket, pgno);
}

/* memory.c */
void *hipec_memory_alloc(size_t bytes);
long hipec_memory_room(struct mem_cgroup *memcg);
struct mem_cgroup *hipec_memory_short(struct mem_cgroup *memcg);
long hipec_memory_files(struct mem_cgroup *memcg);

/* work.c */
extern struct workqueue_struct *hipec_wq, *hipec_end_wq, *hipec_grow_wq, *hipec_league_wq;
extern struct workqueue_struct *hipec_volume_wq;
int hipec_work_init(void);
void hipec_work_drain(void);
void hipec_work_exit(void);

/* young.c: the referenced bit in page tables */
bool hipec_young_walk(struct hipec_container *c, struct address_space *mapping,
		      struct folio *folio, bool reset);
bool hipec_young_range(struct hipec_container *c, struct address_space *mapping,
		       pgoff_t first, u32 nr, unsigned long *young);
void hipec_young_reset(struct hipec_container *c, struct address_space *mapping,
		       pgoff_t first, u32 nr, const unsigned long *which);
u64 hipec_young_take(struct hipec_container *c, struct address_space *mapping,
		     const pgoff_t *idx, u32 nr);
void hipec_young_settle(struct hipec_core *core);
bool hipec_young_leave(struct hipec_container *c, struct cpumask *cpus);
void hipec_young_flush_cpus(struct cpumask *cpus);
void hipec_young_flush(struct hipec_container *c);

/* vmas.c: the VMAs that map some pages of a file */
struct vm_area_struct *hipec_vma_first(struct address_space *mapping, pgoff_t first, pgoff_t last);
struct vm_area_struct *hipec_vma_next(struct vm_area_struct *vma, pgoff_t first, pgoff_t last);

/* Each VMA of @mapping that has one of its pages @first to @last. Context: under i_mmap_rwsem. */
#define hipec_for_each_vma(vma, mapping, first, last)			\
	for (vma = hipec_vma_first(mapping, first, last); vma;		\
	     vma = hipec_vma_next(vma, first, last))

/* exit.c: what follows from the end of a policy, and one cause of it */
void hipec_exit_ended(struct hipec_core *core);
bool hipec_exit_window(struct hipec_core *core, enum hipec_verdict verdict);
int hipec_exit_administrative(struct hipec_container *c);

/* log.c: what became of those that are gone */
int hipec_log_init(void);
void hipec_log_exit(void);
void hipec_log_note(struct hipec_container *c, bool closed);
int hipec_log_next(struct hipec_log *a);

/* event.c: how long events may take, and what they know */
int hipec_event_run(struct hipec_core *core, u32 event);
bool hipec_event_late(struct hipec_core *core);
void hipec_event_refill(struct hipec_core *core);
void hipec_event_refill_work(struct work_struct *work);
bool hipec_event_pause(struct hipec_core *core);
void hipec_event_touched(struct hipec_core *core, u32 pgno);
void __hipec_event_access(struct hipec_container *c, u32 pgno, bool write, bool missed);
u64 hipec_event_now(struct hipec_core *core);
bool hipec_event_overtime(struct hipec_vm *vm);
/* Ticks of a slice that is a worker's for a policy's sake; and of its rest where that was not enough. */
#define HIPEC_SLICE (HZ / 20)
#define HIPEC_REST (10 * HIPEC_SLICE)

void hipec_event_slice_begin(struct hipec_container *c, unsigned long end);
void hipec_event_slice_of(struct hipec_container *c, unsigned long *end);
bool hipec_event_slice_end(struct hipec_container *c);
bool hipec_event_slice_is_over(const struct hipec_container *c, unsigned long end);
bool hipec_event_worker_lock(struct hipec_container *c);

/* Ticks until a work's rest is over. */
static inline unsigned long hipec_rest_left(const unsigned long *until)
{
	long left = READ_ONCE(*until) - jiffies;

	return max(left, 0l);
}

/* A work has had its slice. */
static inline void hipec_rest_begin(unsigned long *until)
{
	WRITE_ONCE(*until, jiffies + HIPEC_REST);
}

/*
 * A work goes on in so many ticks: when it has rested ten times as long as it has had the lock for, of a
 * slice that is over at @end; 0: it has not had it.
 */
static inline unsigned long hipec_rest_behind(const struct hipec_container *c, unsigned long end,
					      unsigned long *until)
{
	unsigned long used = jiffies - (end - HIPEC_SLICE), rest;

	if (READ_ONCE(c->dying) || !end)
		return 1;
	rest = min(10 * (used + 1), (unsigned long)HIPEC_REST);
	WRITE_ONCE(*until, jiffies + rest);
	return rest;
}

/* Its policy is new, or more is to be heard. Context: expects c->lock. */
static inline void hipec_host_wants(struct hipec_container *c)
{
	if (c->host->wants)
		c->host->wants(c);
}

/* What was touched is told before anybody asks. Context: expects c->lock; may sleep. */
static inline void hipec_host_deliver(struct hipec_container *c)
{
	if (c->host->deliver)
		c->host->deliver(c);
}

/* Events have run outside of a fault: what they gave up goes. Context: expects c->lock; may sleep. */
static inline void hipec_host_settle(struct hipec_container *c)
{
	if (c->host->settle)
		c->host->settle(c);
}

/* The league plays an access, if there is one. Context: expects c->lock. */
static __always_inline void hipec_event_access(struct hipec_container *c, u32 pgno,
					       bool write, bool missed)
{
	if (unlikely(c->league))
		__hipec_event_access(c, pgno, write, missed);
}

/* The league: a page got a frame, and became live. Context: expects c->lock. */
static inline void hipec_event_added(struct hipec_container *c, u32 pgno)
{
	if (unlikely(c->league)) {
		hipec_sampling_added(&c->league->sample, pgno);
		VM_WARN_ON_ONCE(c->league->sample.nr_held > c->core.vm.nr_pages);
	}
}

/* The league: a live or named page loses it. Context: expects c->lock. */
static inline void hipec_event_removed(struct hipec_container *c, u32 pgno)
{
	if (unlikely(c->league))
		hipec_sampling_removed(&c->league->sample, pgno);
}

/* What is the same of the engine's hosts in the kernel. */
#define HIPEC_CORE_OPS				\
	.settle = hipec_young_settle,		\
	.pause = hipec_event_pause,		\
	.late = hipec_event_late,		\
	.ended = hipec_exit_ended,		\
	.window = hipec_exit_window,		\
	.touched = hipec_event_touched,		\
	.now = hipec_event_now

/* Of containers that share, but for .unlock. */
#define HIPEC_SHARED_OPS			\
	.run = hipec_event_run,			\
	.allowance = hipec_share_allowance,	\
	.accounted = hipec_share_accounted,	\
	.try_lock = hipec_share_try_member,	\
	.enter = hipec_share_enter,		\
	.more = hipec_entries_more,		\
	.leave = hipec_share_leave_lock,	\
	.pin = hipec_share_pin,		\
	.unpin = hipec_share_unpin,		\
	.refill = hipec_event_refill

/* entries.c: of the pool's manager */
int hipec_entries_make(u32 most, struct hipec_mr_frame **frame, u32 *nr);
void hipec_entries_free(void);
void hipec_entries_more(struct hipec_pool *pool);

/* backoff.c: who was revoked waits before it shares again */
u64 hipec_backoff_hash(const void *image, size_t size);
int hipec_backoff_check(const struct hipec_policy *p, u64 hash, kuid_t uid,
		struct hipec_text *log);
void hipec_backoff_revoked(struct hipec_container *c);

/* record.c: what happens, told to whoever wants to know */
int hipec_record_start(struct hipec_container *c, u32 ring, struct file **file);
void hipec_record_region(struct hipec_container *c, u32 start, u32 nr,
			 struct file *backing);
void hipec_record_swapped(struct hipec_container *c, void **then, size_t bytes);
void hipec_record_end(struct hipec_container *c);

/* sample.c: which pages, from where in the program */
int hipec_sample_start(struct hipec_container *c, u64 threshold, u32 ring,
		       struct file **file);
void __hipec_sample_note(struct hipec_container *c, u32 kind, u32 pgno,
			 bool write);
void hipec_sample_end(struct hipec_container *c);

/**
 * hipec_sample_note() - an access, if somebody samples
 * @c:     container
 * @host:  HIPEC_SAMPLE_FAULT, _SOFT or _HARVEST
 * @pgno:  page
 * @write: it is written to
 *
 * Context: expects c->lock; does not sleep.
 */
static inline void hipec_sample_note(struct hipec_container *c, u32 kind, u32 pgno,
				     bool write)
{
	if (unlikely(c->sampler))
		__hipec_sample_note(c, kind, pgno, write);
}

#endif /* HIPEC_BASE_BASE_H */
