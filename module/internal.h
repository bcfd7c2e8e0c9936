/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel-side structures of hipec and who calls whom.
 *
 * Names: @c a container, @r a region, @h a page handle, @idx a page counted from
 * its region's start, @pgno one counted from its container's start, @folio a
 * frame that holds a page. All counts of memory are in pages of 4096 bytes.
 *
 * Lock order, outermost first:
 *   mmap_lock or the VMA's lock
 *     hipec_container.lock
 *       the pool's lock (share.c), under which other containers' are only tried
 *         folio lock
 *           i_mmap_rwsem of the region's mapping
 *             page table lock
 *   hipec_containers_lock, hipec_claims_lock and volume.c's are taken with none of
 *   the others held and nothing is taken under them, nor under backoff.c's and log.c's.
 * None of them but mmap_lock is held over I/O. Whoever holds a folio's lock
 * never takes a container's lock.
 * The lock of a backing file's inode is not in this order: write() and direct
 * I/O hold it when they fault. Reads do not take it (read.c); the washer, which
 * does, holds nothing else; and no fault waits for the washer for ever while it
 * holds anything (fault.c).
 */
#ifndef HIPEC_INTERNAL_H
#define HIPEC_INTERNAL_H

#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "core/pool.h"
#include "share.h"
#include "base/user.h"
#include "vm/queue.h"

static_assert(PAGE_SIZE == 4096, "the ABI counts in pages of 4096 bytes");

/* Host flags of struct hipec_page. */
#define HIPEC_PAGE_READING 0x0100	/* not live: being filled, or read ahead */
#define HIPEC_PAGE_LAUNDRY 0x0200	/* not live: given up, being cleaned */
#define HIPEC_PAGE_WRITING 0x0400	/* the washer holds it */
#define HIPEC_PAGE_FAILED 0x0800	/* it could not be written: others go first */
/* HIPEC_REF_*: it was referenced, for those who have not reset that, whatever the bit. */
#define HIPEC_PAGE_REF_SHIFT 12
#define HIPEC_PAGE_FLUSH 0x8000		/* on c->flush */

/* Bands of HIPEC_EXIT_KINDS. */
#define HIPEC_EXIT_BAND 0xf0
#define HIPEC_EXIT_BAND_REVOKED 0x40

/**
 * struct hipec_container - one policy with its operands, pages and frames
 * @lock:      protects everything below that says nothing else
 * @ref:       one of the device file, one of each region
 * @id:        invariant
 * @link:      hipec_containers, under hipec_containers_lock
 * @regions:   of struct hipec_region
 * @nr_regions: their number
 * @core:      the engine's part; core.vm.policy is NULL until a policy is loaded
 * @loading:   a load or a swap is under way; the fields a load fills are its alone
 * @image:     bytes that the policy points into; NULL: it has none
 * @image_hash: of these bytes, for backoff.c
 * @policy:    parsed image; like all that belongs to it, a swap changes it
 * @vm_memory: memory of the machine
 * @shared:    shared arrays, by slot; NULL: it has none
 * @frame:     frame of each page, by handle
 * @free:      frames that hold no page, by folio->lru
 * @user:      who is charged for it. Invariant after the load
 * @recovery:  memory of core.recover
 * @cgroup:    its frames are charged to it; NULL: to none. Invariant after the load
 * @token:     if it shares; likewise
 * @laundry:   frames of pages that are LAUNDRY, which are pending, by folio->lru
 * @nr_ahead:  pages that are being read which no fault asked for
 * @nr_fetched: of these, pages that Prefetch asked for
 * @batches:   that were shown to the policy, up to now
 * @nr_dirty:  dirty frames; atomic, no lock
 * @cluster:   most pages of one read; invariant after the load
 * @served:    faults that found their page, or had it brought in; it wraps
 * @vain:      @served when one last waited in vain for a page to be unpinned
 * @stale_cpus: CPUs whose TLB may still have referenced bits that were reset, while
 *             core.unsettled
 * @asked_since: ns, when it was asked for a page that others wait for; 0: it is not
 * @passed:    it was late then, and is not asked now
 * @passes:    pages for which it is not, still
 * @pass_next: for how many it was not, the last time
 * @timer:     runs Timer
 * @ended:     polled for the end of the policy
 * @nr_filling: batches that are being read ahead now
 * @age:       has what is dirty cleaned after a while
 * @cache:     its pages are the page cache's; NULL: frames. Invariant after the load
 * @flush:     frames of live pages that are to be written back, by folio->lru
 * @flush_all: bit 0: all dirty pages are to be written back; atomic
 * @wait:      woken when a page stops being READING, LAUNDRY or WRITING
 * @owner_mm:  of the task that loaded; invariant after the load
 * @locked:    its locked_vm counts the frames, likewise
 * @locked_user: whose locked_vm counts them as well; NULL: nobody's
 * @owner_pid, @owner_comm, @owner_uid: of the task that loaded; invariant
 * @recorder:  its record; NULL: nobody listens
 * @sampler:   of its accesses, likewise
 * @debugfs:   directory
 */
struct hipec_container {
	struct mutex lock;
	struct kref ref;
	u64 id;
	struct list_head link;
	struct list_head regions;
	u32 nr_regions;

	struct hipec_core core;
	bool loading;
	struct hipec_policy policy;
	void *image;
	u64 image_hash;
	void *vm_memory;
	struct hipec_shared **shared;

	struct folio **frame;
	struct list_head free;
	struct hipec_user *user;
	void *recovery;
	struct mem_cgroup *cgroup;
	struct hipec_token *token;
	struct list_head laundry;
	u32 nr_ahead;
	u32 nr_fetched;
	u64 batches;
	atomic_t nr_dirty;
	u32 cluster;
	u32 served;
	u32 vain;
	cpumask_var_t stale_cpus;

	u64 asked_since;
	bool passed;
	u32 passes;
	u32 pass_next;
	struct delayed_work timer;
	wait_queue_head_t ended;

	u32 nr_filling;
	struct delayed_work age;
	struct hipec_cache *cache;
	struct list_head flush;
	unsigned long flush_all;
	wait_queue_head_t wait;

	struct mm_struct *owner_mm;
	bool locked;
	struct user_struct *locked_user;
	struct pid *owner_pid;
	char owner_comm[TASK_COMM_LEN];
	kuid_t owner_uid;
	struct hipec_recorder *recorder;
	struct hipec_sampler *sampler;
	struct dentry *debugfs;
};

/**
 * struct hipec_batch - consecutive pages of a region that are read in one go
 * @idx:   first page
 * @nr:    pages; 0: none
 * @h:     their handles
 * @folio: their frames
 */
struct hipec_batch {
	u32 idx;
	u32 nr;
	u32 h[HIPEC_MAX_CLUSTER];
	struct folio *folio[HIPEC_MAX_CLUSTER];
};

/**
 * struct hipec_stream - a sequence of misses of a region, all under c->lock
 * @next:  page behind the last one read
 * @level: how much it is trusted: 0 for one miss, more with each batch
 * @run:   pages brought in by it up to now
 * @used:  when, by r->clock
 */
struct hipec_stream {
	u32 next;
	u32 level;
	u64 run;
	u64 used;
};

/**
 * struct hipec_ahead - a batch that is read before a fault asks for it
 * @r:     region, invariant
 * @s:     sequence that it belongs to; NULL: none
 * @idx:   first page
 * @nr:    pages; 0: there is no batch. All of them READING, with frames
 * @since: c->batches, when it was begun
 * @read:  it is filled
 * @work:  fills it
 *
 * Under c->lock, but for the frames while they are filled.
 */
struct hipec_ahead {
	struct hipec_region *r;
	struct hipec_stream *s;
	u32 idx;
	u32 nr;
	u64 since;
	bool read;
	struct work_struct work;
};

/**
 * enum hipec_read_way - how a region's file is read
 * @HIPEC_READ_PLAIN:  directly; that takes no lock
 * @HIPEC_READ_NOWAIT: directly, or through the page cache if that would wait
 * @HIPEC_READ_CACHED: through the page cache
 */
enum hipec_read_way {
	HIPEC_READ_PLAIN,
	HIPEC_READ_NOWAIT,
	HIPEC_READ_CACHED,
};

/* Sequences that one region's misses may be of, turn and turn about. */
#define HIPEC_NR_STREAMS 4

/* While one batch that was read ahead is waited for, the next is on its way. */
#define HIPEC_STREAM_AHEAD 2

/* Batches of a region: of its sequences, and behind them of Prefetch. */
#define HIPEC_NR_STREAM_AHEAD (HIPEC_NR_STREAMS * HIPEC_STREAM_AHEAD)
#define HIPEC_NR_AHEAD (HIPEC_NR_STREAM_AHEAD + HIPEC_MAX_PREFETCH)

/**
 * struct hipec_region - a range of a backing file, attached to a container
 * @c:        container, invariant
 * @link:     c->regions, under c->lock
 * @inode:    its own, whose mapping the frames belong to; invariant
 * @backing:  opened for direct I/O; invariant
 * @claim:    hipec_claims, under hipec_claims_lock
 * @washer:   writes its pages back; invariant
 * @end:      ends the region, where its last reference's holder shall not wait
 * @start:    first page in the container; invariant
 * @nr:       pages; invariant
 * @offset:   bytes into the backing file; invariant
 * @writable: invariant
 * @read:     how to read the file; NOWAIT may become CACHED at any time
 * @read_most: pages of one direct read; invariant
 * @open:     it is there for Prefetch, under c->lock
 * @hints:    chunks of hints, which stay once they are there; a byte for each page,
 *            under c->lock
 * @clock:    batches of its sequences up to now, under c->lock
 * @stream:   its sequences
 * @ahead:    batches that the policy has not been told of
 */
struct hipec_region {
	struct hipec_container *c;
	struct list_head link;
	struct inode *inode;
	struct file *backing;
	struct list_head claim;
	struct hipec_washer *washer;
	struct delayed_work end;
	u32 start;
	u32 nr;
	loff_t offset;
	bool writable;
	enum hipec_read_way read;
	u32 read_most;
	bool open;
	struct xarray hints;
	u64 clock;
	struct hipec_stream stream[HIPEC_NR_STREAMS];
	struct hipec_ahead ahead[HIPEC_NR_AHEAD];
};

static inline struct hipec_container *hipec_of_core(struct hipec_core *core)
{
	return container_of(core, struct hipec_container, core);
}

static inline struct hipec_container *hipec_of_vm(struct hipec_vm *vm)
{
	return hipec_of_core(hipec_core_of(vm));
}

/* Of a block device, file_inode() would be the node in /dev. */
static inline struct inode *hipec_backing(const struct hipec_region *r)
{
	return r->backing->f_mapping->host;
}

static inline struct hipec_region *hipec_region_of(const struct folio *folio)
{
	return folio->mapping->host->i_private;
}

/* args.c */
int hipec_get_args(void *args, size_t ksize, void __user *uargs, u32 *usize,
		   u32 known_flags);

/* frame.c: the engine's host, and the machine's */
extern const struct hipec_core_ops hipec_frame_ops, hipec_shared_frame_ops;
extern const struct hipec_host_ops hipec_kernel_host;
extern atomic_long_t hipec_nr_frames;
void hipec_frames_free(struct hipec_container *c);
bool hipec_frame_shed(struct hipec_container *c);
u32 hipec_frame_bind(struct hipec_container *c, struct hipec_region *r,
		     u32 idx);
u32 hipec_frame_bind_in_event(struct hipec_container *c,
			      struct hipec_region *r, u32 idx);
void hipec_frame_unbind(struct hipec_container *c, u32 h);
bool hipec_frame_detach(struct hipec_container *c, u32 h);

/* Page of a frame that holds one. Context: expects c->lock. */
static inline u32 hipec_frame_page(struct hipec_container *c,
				   const struct folio *folio)
{
	return hipec_page_find(&c->core.vm, hipec_region_of(folio)->start +
			       folio->index);
}

/* reserve.c */
int hipec_frames_reserve(struct hipec_container *c, u32 nr, u64 beside);

/* referenced.c: the referenced bit in page tables */
bool hipec_young_seen(struct hipec_core *core, u32 h, u32 who);
void hipec_young_forget(struct hipec_core *core, u32 h, u32 who);
void hipec_young_settle(struct hipec_core *core);
void hipec_young_leave(struct hipec_container *c, struct cpumask *cpus);
void hipec_young_flush_cpus(struct cpumask *cpus);

/* io.c: the backing file */
extern const struct address_space_operations hipec_aops;
bool hipec_io_would_deadlock(struct hipec_region *r);
u32 hipec_io_pages(struct hipec_region *r);
int hipec_io_sync(struct hipec_region *r, u32 first, u32 last);
int hipec_io_sync_all(void);
void hipec_io_age(struct work_struct *work);
long hipec_io_wait(struct hipec_container *c, unsigned int state, long timeout);
extern struct workqueue_struct *hipec_wq, *hipec_end_wq;

/* dirty.c: what is to be written */
void hipec_flush_add(struct hipec_container *c, u32 h);
void hipec_flush_del(struct hipec_container *c, u32 h);
void hipec_flush_dirty(struct hipec_container *c);
void hipec_walk_pause(struct hipec_container *c, u32 h);

/* read.c: the backing file's data, without its lock */
const char *hipec_read_untested(const struct file *file);
void hipec_read_init(struct hipec_region *r);
int hipec_read(struct hipec_region *r, u32 idx, struct folio **folio, u32 nr);
bool hipec_read_copies(const struct hipec_region *r, u32 idx);

/* container.c */
void *hipec_table_alloc(size_t bytes);
extern struct mutex hipec_containers_lock;
extern struct list_head hipec_containers;
struct hipec_container *hipec_container_new(void);
void hipec_container_put(struct hipec_container *c);
int hipec_container_parse(struct hipec_policy *p, const void *image,
			  size_t size, struct hipec_verify_error *error,
			  struct hipec_text *log);
int hipec_container_load(struct hipec_container *c, struct hipec_load *args,
			 void *image, struct hipec_text *log);
int hipec_container_status(struct hipec_container *c, struct hipec_status *s);
void __hipec_container_status(struct hipec_container *c,
			      struct hipec_status *s);
int hipec_container_operand(struct hipec_container *c, struct hipec_operand *o);
int hipec_container_set_param(struct hipec_container *c, u32 slot, s64 value);
struct hipec_container *hipec_container_next(u64 id);

/* exit.c: what follows from the end of a policy, and one cause of it */
void hipec_exit_ended(struct hipec_core *core);
bool hipec_exit_window(struct hipec_core *core, enum hipec_shadow_verdict verdict);
int hipec_exit_by_hand(struct hipec_container *c);

/* log.c: what became of those that are gone */
int hipec_log_init(void);
void hipec_log_exit(void);
void hipec_log_note(struct hipec_container *c, bool closed);
int hipec_log_next(struct hipec_log *a);

/* event.c: how long events may take, and what they know */
int hipec_event_run(struct hipec_core *core, u32 event);
bool hipec_event_late(struct hipec_core *core);
bool hipec_event_may_ask(struct hipec_core *core);
void hipec_event_asked(struct hipec_core *core);
bool hipec_event_pause(struct hipec_core *core);
void hipec_event_touched(struct hipec_core *core, u32 pgno);
u64 hipec_event_now(struct hipec_core *core);
void hipec_event_timer(struct work_struct *work);
void hipec_event_timer_start(struct hipec_container *c);
bool hipec_event_overtime(struct hipec_vm *vm);

/* What is the same of the engine's hosts in the kernel. */
#define HIPEC_CORE_OPS				\
	.settle = hipec_young_settle,		\
	.pause = hipec_event_pause,		\
	.late = hipec_event_late,		\
	.ended = hipec_exit_ended,		\
	.window = hipec_exit_window,		\
	.touched = hipec_event_touched,		\
	.hint = hipec_hint_of,			\
	.now = hipec_event_now

/* global.c: whose page goes when the pool is full */
struct hipec_mr;
struct hipec_mr_ops;
int hipec_global_check(void);
int hipec_global_start(struct hipec_mr *mr, const struct hipec_mr_ops *ops,
		       u32 nr, u32 nr_owners);
void hipec_global_stop(struct hipec_mr *mr);

/* backoff.c: who was revoked waits before it shares again */
u64 hipec_admit_hash(const void *image, size_t size);
int hipec_admit(const struct hipec_policy *p, u64 hash, kuid_t uid,
		struct hipec_text *log);
void hipec_admit_revoked(struct hipec_container *c);

/* shrink.c: memory pressure */
int hipec_shrink_init(void);
void hipec_shrink_exit(void);

/* cgroup.c: memory cgroups */
int hipec_cgroup_init(void);
void hipec_cgroup_exit(void);
int hipec_cgroup_join(struct hipec_container *c, bool share);
void hipec_cgroup_leave(struct hipec_container *c);
struct page *hipec_cgroup_alloc(struct hipec_container *c, gfp_t gfp,
				unsigned int order);
void hipec_cgroup_gave(void);

/* shared.c: arrays that the application writes */
int hipec_shared_alloc(const struct hipec_policy *p,
		       const struct hipec_policy *old,
		       struct hipec_shared **old_array,
		       struct hipec_shared ***array);
void hipec_shared_free(struct hipec_shared **array, u32 nr);
void hipec_shared_place(struct hipec_vm *vm, struct hipec_shared **array);
int hipec_shared_mmap(struct hipec_container *c, struct vm_area_struct *vma);

/* swap.c: another policy, and the pages stay */
int hipec_swap_policy(struct hipec_container *c, struct hipec_swap *args,
		      void *image, struct hipec_text *log);

/* why.c: where a page stands */
int hipec_why_page(struct hipec_container *c, struct hipec_why *w);

/* hint.c: what the application says about pages */
void hipec_hint_init(struct hipec_region *r);
void hipec_hint_free(struct hipec_region *r);
int hipec_hint_set(struct hipec_region *r, const struct hipec_hint *a);
s64 hipec_hint_of(struct hipec_core *core, u32 pgno);

/* region.c, fault.c */
extern const struct vm_operations_struct hipec_vm_ops;
int hipec_region_attach(struct hipec_container *c, struct hipec_attach *args,
			struct file **region_file);

/* batch.c: pages that one fault brings in */
struct hipec_stream *hipec_batch_bind(struct hipec_region *r,
				      struct hipec_batch *b);
void hipec_batch_cut(struct hipec_container *c, struct hipec_batch *b, u32 nr);
int hipec_batch_read(struct hipec_region *r, struct hipec_batch *b);
void hipec_batch_show(struct hipec_region *r, struct hipec_batch *b, u32 idx,
		      bool write);
u32 hipec_batch_size(struct hipec_region *r, struct vm_area_struct *vma,
		     u32 idx, u32 most);

/* readahead.c: sequences, and what is read before it is asked for */
void hipec_ahead_open(struct hipec_region *r);
void hipec_ahead_close(struct hipec_region *r);
u32 hipec_stream_window(const struct hipec_region *r, u32 idx);
struct hipec_stream *hipec_stream_note(struct hipec_region *r, u32 idx, u32 nr);
void hipec_ahead_start(struct hipec_region *r, struct hipec_stream *s,
		       struct vm_area_struct *vma, bool write);
struct hipec_ahead *hipec_ahead_find(struct hipec_region *r, u32 idx);
void hipec_ahead_take(struct hipec_ahead *a, struct hipec_batch *b);
bool hipec_ahead_drop(struct hipec_region *r, bool stale);
bool hipec_ahead_drop_all(struct hipec_core *core, bool stale);
u32 hipec_ahead_prefetch(struct hipec_vm *vm, u32 pgno, u32 nr);

/* record.c: what happens, told to whoever wants to know */
int hipec_record_start(struct hipec_container *c, u32 ring, struct file **file);
void hipec_record_region(struct hipec_region *r);
void hipec_record_end(struct hipec_container *c);

/* sample.c: which pages, from where in the program */
int hipec_sample_start(struct hipec_container *c, u64 threshold, u32 ring,
		       struct file **file);
void hipec_sample_note(struct hipec_container *c, u32 kind, u32 pgno,
		       bool write);
void hipec_sample_end(struct hipec_container *c);

/* dev.c */
extern const struct file_operations hipec_dev_fops;

/* debugfs.c */
void hipec_debugfs_init(void);
void hipec_debugfs_exit(void);
void hipec_debugfs_add(struct hipec_container *c);
void hipec_debugfs_del(struct hipec_container *c);

#endif /* HIPEC_INTERNAL_H */
