/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames of our own: a region is a range of a file with an inode of ours, and its pages
 * are frames of its container.
 */
#ifndef HIPEC_FRAMES_FRAMES_H
#define HIPEC_FRAMES_FRAMES_H

#include <linux/xarray.h>

#include "../base/base.h"

/* Host flags of struct hipec_page. */
#define HIPEC_PAGE_LOOKED 0x0010	/* its policy found it touched, since its last fault */
#define HIPEC_PAGE_READING 0x0100	/* not live: being filled, or read ahead */
#define HIPEC_PAGE_EVICT_PENDING 0x0200	/* not live: given up, being cleaned */
#define HIPEC_PAGE_WRITING 0x0400	/* writeback holds it */
#define HIPEC_PAGE_FAILED 0x0800	/* it could not be written: others go first */
/* HIPEC_REF_*: it was referenced, for those who have not reset that, whatever the bit. */
#define HIPEC_PAGE_REF_SHIFT 12
#define HIPEC_PAGE_FLUSH 0x8000		/* on its writeback's list @flush */

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
 * struct hipec_ahead - a batch that is read before a fault asks for it, or comes for it again
 * @r:     region, invariant
 * @s:     sequence that it belongs to; NULL: none
 * @idx:   first page
 * @nr:    pages; 0: there is no batch. All of them READING, with frames
 * @since: c->frames.batches, when it was begun
 * @until: jiffies when the fault that left it is no longer expected
 * @read:  it is filled
 * @work:  fills it, unless a fault does
 *
 * Under c->lock, but for the frames while they are filled.
 */
struct hipec_ahead {
	struct hipec_region *r;
	struct hipec_stream *s;
	u32 idx;
	u32 nr;
	u64 since;
	unsigned long until;
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

/* Faults that read at the same time without mmap_lock. */
#define HIPEC_NR_LEFT 32

/* Batches of a region: of its sequences, behind them of Prefetch, and of such faults. */
#define HIPEC_NR_STREAM_AHEAD (HIPEC_NR_STREAMS * HIPEC_STREAM_AHEAD)
#define HIPEC_NR_BEFORE (HIPEC_NR_STREAM_AHEAD + HIPEC_MAX_PREFETCH)
#define HIPEC_NR_AHEAD (HIPEC_NR_BEFORE + HIPEC_NR_LEFT)

/**
 * struct hipec_region - a range of a backing file, attached to a container
 * @c:        container, invariant
 * @link:     c->regions, under c->lock
 * @inode:    its own, whose mapping the frames belong to; invariant
 * @backing:  opened for direct I/O; invariant
 * @claim:    hipec_claims, under hipec_claims_lock
 * @volume:   what the backing file lies on; invariant
 * @writeback:writes its pages back; invariant
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
	struct hipec_volume *volume;
	struct hipec_writeback *writeback;
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

/* Of a block device, file_inode() would be the node in /dev. */
static inline struct inode *hipec_backing(const struct hipec_region *r)
{
	return r->backing->f_mapping->host;
}

static inline struct hipec_region *hipec_region_of(const struct folio *folio)
{
	return folio->mapping->host->i_private;
}

/* host.c: the engine's host, and the machine's */
extern const struct hipec_core_ops hipec_shared_frame_ops;
extern const struct hipec_host_ops hipec_frame_machine;
extern const struct hipec_host hipec_frame_host;

/* frame.c */
extern atomic_long_t hipec_nr_frames;
extern wait_queue_head_t hipec_frames_gave;
u32 hipec_frame_allocate(struct hipec_core *core, u32 nr, enum hipec_effort effort);
void hipec_frame_free(struct hipec_core *core, u32 h, bool keep);
void hipec_frames_free(struct hipec_container *c);
bool hipec_frame_shed(struct hipec_container *c);
u32 hipec_frame_bind(struct hipec_container *c, struct hipec_region *r,
		     u32 idx);
u32 hipec_frame_bind_in_event(struct hipec_container *c,
			      struct hipec_region *r, u32 idx);
void hipec_frame_unbind(struct hipec_container *c, u32 h);
void hipec_frame_unmap(struct folio *folio);
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
int hipec_frames_load(struct hipec_container *c, u32 nr, struct hipec_text *log);

/* referenced.c: the referenced bit of a page */
bool hipec_referenced_seen(struct hipec_core *core, u32 h, u32 who);
void hipec_referenced_forget(struct hipec_core *core, u32 h, u32 who);
u32 hipec_referenced_probe(struct hipec_core *core, u32 pgno[HIPEC_HARVEST]);

/* io.c: the backing file */
extern const struct address_space_operations hipec_aops;
bool hipec_io_would_deadlock(struct hipec_region *r);
u32 hipec_io_pages(struct hipec_region *r);
int hipec_io_sync(struct hipec_region *r, u32 first, u32 last);
int hipec_io_sync_all(void);
void hipec_io_age(struct work_struct *work);
long hipec_io_wait_for(struct hipec_container *c, u32 pgno, unsigned int state, long timeout);
void hipec_io_wake(struct hipec_container *c, u32 pgno, u32 nr);
long hipec_io_wait(struct hipec_container *c, unsigned int state, long timeout);

/* dirty.c: what is to be written */
void hipec_dirty_add(struct hipec_container *c, u32 h);
void hipec_dirty_del(struct hipec_container *c, u32 h);
void hipec_dirty_flush(struct hipec_container *c);
void hipec_dirty_walk_pause(struct hipec_container *c, u32 h);

/* read.c: the backing file's data, without its lock */
const char *hipec_read_untested(const struct file *file);
void hipec_read_init(struct hipec_region *r);
int hipec_read(struct hipec_region *r, u32 idx, struct folio **folio, u32 nr);
bool hipec_read_copies(const struct hipec_region *r, u32 idx);

/* shrink.c: memory pressure */
int hipec_shrink_init(void);
void hipec_shrink_exit(void);

/* cgroup.c: memory cgroups */
int hipec_cgroup_init(void);
void hipec_cgroup_exit(void);
int hipec_cgroup_join(struct hipec_container *c, bool share);
void hipec_cgroup_leave(struct hipec_container *c);

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
void hipec_batch_bind(struct hipec_region *r, struct hipec_batch *b);
void hipec_batch_cut(struct hipec_container *c, struct hipec_batch *b, u32 nr);
int hipec_batch_read(struct hipec_region *r, struct hipec_batch *b);
void hipec_batch_activate(struct hipec_region *r, struct hipec_batch *b, u32 idx,
			  bool write);
u32 hipec_batch_size(struct hipec_region *r, struct vm_area_struct *vma,
		     u32 idx, u32 most);

/* readahead.c: sequences, and what is read before it is asked for */
void hipec_readahead_open(struct hipec_region *r);
void hipec_readahead_close(struct hipec_region *r);
u32 hipec_readahead_window(const struct hipec_region *r, u32 idx);
struct hipec_stream *hipec_readahead_note(struct hipec_region *r, u32 idx, u32 nr);
void hipec_readahead_start(struct hipec_region *r, struct hipec_stream *s,
			   struct vm_area_struct *vma, bool write);
struct hipec_ahead *hipec_readahead_find(struct hipec_region *r, u32 idx);
void hipec_readahead_take(struct hipec_ahead *a, struct hipec_batch *b);
struct hipec_ahead *hipec_readahead_leave(struct hipec_region *r, const struct hipec_batch *b);
void hipec_readahead_left(struct hipec_ahead *a, const struct hipec_batch *b);
bool hipec_readahead_is_left(const struct hipec_ahead *a);
bool hipec_readahead_drop(struct hipec_region *r, bool stale);
bool hipec_readahead_drop_all(struct hipec_core *core, bool stale);
u32 hipec_readahead_prefetch(struct hipec_vm *vm, u32 pgno, u32 nr);

#endif /* HIPEC_FRAMES_FRAMES_H */
