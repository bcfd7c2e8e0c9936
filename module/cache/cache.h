/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Host of the page cache: a container's files keep their folios where they are, in
 * the page cache, and the container's policy decides which of them goes.
 *
 * A page of the container's machine is a folio of one of its files, known by the
 * number of its first page; no folio is held. An entry may be older than the truth:
 * truncation, direct I/O or the kernel's own reclaim drop folios without a word. So
 * each use looks the folio up, and one that is gone is forgotten then.
 *
 * The life of an entry that has a folio:
 *
 *   ahead     on the list @ahead: read, and nobody has touched it; no policy knows it
 *   live      the policy knows it
 *   victim    on the list @victims: given up, to be evicted before the page that comes is
 *             read; or in somebody's struct hipec_evicting
 *   refused   on the list @refused: given up, and could not go (dirty, being written,
 *             pinned, mlocked); it is tried again, or a touch brings it back
 *
 * Interface:
 * cache.c   hipec_cache_*(): a container's side: load, end, status
 * take.c    what a user wants taken, and let go of
 * table.c   the files that are taken
 * file.c    one file
 * dir.c     a directory likewise, and what comes into it
 * open.c    what a cgroup's processes open is taken
 * hooks.c   what the kernel calls for a file that is taken
 * before.c  what had a file open before it was taken
 * touch.c   which pages were touched, on their way to the policy
 * bits.c    what the policy asks of its host
 * maps.c    which pages of maps were touched
 * miss.c    what is about to be read
 * policy.c  what the policy is asked and told
 * budget.c  pages that are held, and that may be
 * why.c     where a page stands
 * evict.c   folios leave the page cache
 * mlock.c   but for those that mlock() holds
 * window.c  how much is read at once
 * pressure.c  memory cgroups, and the machine's memory
 * surrender.c whether the kernel's reclaim leaves files alone
 * share.c   frames of the pool
 */
#ifndef HIPEC_CACHE_CACHE_H
#define HIPEC_CACHE_CACHE_H

#include <linux/percpu.h>

#include "../compat.h"
#include "host.h"

struct hipec_mark;
struct readahead_control;

/* Host flags of struct hipec_page, of an entry with a folio. */
#define HIPEC_FOLIO_ORDER 0x0f00	/* of its number of pages */
#define HIPEC_FOLIO_ORDER_SHIFT 8
/* HIPEC_REF_*: touched, for those who have not reset that, whatever the page tables say. */
#define HIPEC_FOLIO_REF_SHIFT 4
#define HIPEC_FOLIO_REF (HIPEC_REF_ALL << HIPEC_FOLIO_REF_SHIFT)
#define HIPEC_FOLIO_LOOKED 0x1000	/* mapped, and its bit there was reset since */
#define HIPEC_FOLIO_AHEAD 0x2000	/* on the list @ahead */
#define HIPEC_FOLIO_REFUSED 0x4000	/* on the list @refused */
#define HIPEC_FOLIO_AROUND 0x8000	/* mapped by a fault of a neighbour */
/* Both: a victim. */
#define HIPEC_FOLIO_VICTIM (HIPEC_FOLIO_AHEAD | HIPEC_FOLIO_REFUSED)
#define HIPEC_FOLIO_PENDING 0x0080	/* a victim that was live: core/core.h */

/* Page numbers of a file begin at a multiple of this. */
#define HIPEC_SLOT_SHIFT 12
#define HIPEC_SLOT_PAGES (1u << HIPEC_SLOT_SHIFT)

/* Folios that are evicted together. */
#define HIPEC_MAX_VICTIMS 32

/* Ranges of touched pages that a CPU keeps; a power of two. */
#define HIPEC_MAX_TOUCHES 256

/**
 * enum hipec_touch - how pages were touched
 * @HIPEC_BY_READ:   by read(), or the fault of a map
 * @HIPEC_BY_WRITE:  by write(), or a fault to write
 * @HIPEC_BY_AROUND: mapped by the fault of a neighbour
 * @HIPEC_BY_KNOWN:  by read(), one page, whose entry was looked up without the lock
 */
enum hipec_touch {
	HIPEC_BY_READ,
	HIPEC_BY_WRITE,
	HIPEC_BY_AROUND,
	HIPEC_BY_KNOWN,
};

/* Of which touches somebody wants to know. */
enum hipec_hear {
	HIPEC_HEAR_ALL,
	HIPEC_HEAR_BITS,	/* of all, and of pages that the policy has only their bits */
	HIPEC_HEAR_SAMPLED,	/* of pages that the shadow samples, or the league (core/) */
	HIPEC_HEAR_NONE,
};

/**
 * struct hipec_touches - of one CPU and one container: a ring
 * @mapped: first of the pages that the last fault mapped behind its own
 * @nr_mapped: their number
 * @missed: something was read since the last note
 * @hits:   pages that were touched and not noted, as nobody wants to know, ever
 * @told:   of these, that were counted; under c->lock
 * @head:  ranges that were noted, ever; it wraps
 * @tail:  ranges that the policy was told of, likewise; under c->lock
 * @range: in the order in which they came
 *
 * Only its own CPU, with preemption disabled, changes what says nothing else.
 */
struct hipec_touches {
	u32 mapped, nr_mapped;
	bool missed;
	u64 hits, told;
	u32 head;
	u32 tail;
	struct hipec_touched {
		u32 pgno;
		u32 nr : 30;	/* pages */
		u32 how : 2;	/* enum hipec_touch */
		/* of the program; 0: not known, or nobody asks. BY_KNOWN: the entry */
		u64 context;
	} range[HIPEC_MAX_TOUCHES];
};

/* Entries, linked by their handles. */
struct hipec_folios {
	u32 head, tail;
	u32 nr;		/* entries */
	u32 pages;
};

/* Page numbers that are looked at together, in maps. */
#define HIPEC_RUN_PAGES 512u

/**
 * struct hipec_maps - where touched pages of maps are looked for
 * @next:   page number that is looked at next
 * @walked: page numbers that were looked at since page number 0
 * @round:  the same, of the round before
 * @earned: page numbers that may be looked at
 * @start:  page number of the first of these:
 * @told:   pages that were found touched, and the policy is to be told of
 * @nr_told: their number
 */
struct hipec_maps {
	u64 next;
	u32 walked, round;
	s32 earned;
	u32 start;
	DECLARE_BITMAP(told, HIPEC_RUN_PAGES);
	u32 nr_told;
};

/**
 * struct hipec_cfile - a file that is taken
 * @hash:    of all files, by inode; RCU
 * @link:    cache->files, under c->lock
 * @cache:   whose it is; invariant
 * @inode:   valid while the file is taken: the mark holds it
 * @start:   page number of its first page; invariant
 * @nr:      page numbers that it has; invariant
 * @end:     no entry was ever of its page number @end or a later one; under c->lock
 * @orders:  largest order of its folios so far, under c->lock
 * @writers: it may have been open to write before it was taken: such writes are not
 *           heard of. Under c->lock
 * @opened:  it was taken as a cgroup's process opened it; invariant
 * @code:    and it was mapped to execute
 * @outgrown: it is larger than its page numbers; under c->lock
 * @capped:  windows of those who have it open may be narrower than the disk's
 * @users:   1, and who uses it without a lock; 0: it is let go
 * @mark:    holds the inode, and tells when it goes
 * @rcu:     frees it
 */
struct hipec_cfile {
	struct hlist_node hash;
	struct list_head link;
	struct hipec_cache *cache;
	struct inode *inode;
	u32 start;
	u32 nr;
	u32 end;
	u32 orders;
	bool writers;
	bool opened;
	bool code;
	bool outgrown;
	bool capped;
	atomic_t users;
	struct hipec_mark *mark;
	struct rcu_head rcu;
};

/**
 * struct hipec_victim - a victim that is about to be evicted
 * @f:    its file
 * @idx:  first page there
 * @nr:   pages
 * @h:    its entry; 0: somebody has finished it. Under c->lock
 * @gone: it is known to have gone
 */
struct hipec_victim {
	struct hipec_cfile *f;
	u32 idx;
	u32 nr;
	u32 h;
	bool gone;
};

/**
 * struct hipec_evicting - victims that a task evicts together
 * @link:   cache->evicting, while it does not hold c->lock
 * @nr:     victims
 * @pages:  of them
 * @victim: in the order of their pages
 */
struct hipec_evicting {
	struct list_head link;
	u32 nr;
	u32 pages;
	struct hipec_victim victim[HIPEC_MAX_VICTIMS];
};

/**
 * struct hipec_cache - what a container has to do with the page cache
 * @c:       container; invariant
 * @files:   of struct hipec_cfile
 * @dirs:    directories whose new files are taken; under dir_lock (dir.c)
 * @nr_dirs: their number
 * @slots:   file of each HIPEC_SLOT_PAGES page numbers; has a lock of its own
 * @next_slot: where those that are free are looked for; under take_lock (table.c)
 * @none_of: of so many slots, or more, there are none that are free and follow each other;
 *           0: not known. Under take_lock
 * @last:    file that was looked up last; NULL: none
 * @ahead:   folios that were read and not touched
 * @refused: folios that were given up and could not go
 * @held:    pages of folios that have an entry, but for victims
 * @limit:   pages that it might hold when room was made last
 * @usable:  of these, what the policy may count on, in folios
 * @rises:   times that there was a little more of it
 * @whole:   pages that the kernel read together for the last large read() that stayed whole
 * @misfits: pages that got no entry, until the files are searched for them
 * @victims: folios to be evicted
 * @own:     those of them that the lock's holder evicts
 * @urgent:  one of them is not mapped: there is nothing to wait for
 * @evicting: of struct hipec_evicting: those that tasks evict that do not hold it
 * @nr_evicting: pages of these
 * @freed:   pages that victims have freed, ever
 * @deaf:    the policy does not ask whether a page was referenced, and has no Access
 * @bits:    the policy has no Access: touches of live pages set their bits, and nothing else
 * @hear:    of which touches: not of all, if it is @deaf and all folios are live. May be
 *           read without the lock
 * @large:   there are folios of several pages, or were
 * @shown, @wasted: folios that came and were touched, or were not; lately, see @window
 * @requests: counters.read_ios when that began
 * @window:  pages that are read around a fault; 0: as many as the kernel wants. May be read
 *           without the lock
 * @group: cgroup that was looked at last, never followed
 * @group_files, @group_looks: pages of files there, and how often that is still believed
 * @on_lists: pages of it may be on the kernel's lists, for its reclaim; no lock
 * @in_reclaim: the caller may hold any lock: nothing is waited for
 * @vain:    ticks of tries of reclaim in a row that freed nothing; under pressure.c's lock, as:
 * @vain_at: jiffies, when the last one was
 * @surrendered: the files are left to the kernel's reclaim, since it was; may be reset under
 *           c->lock alone
 * @surrender_until: jiffies, before which they are not taken back
 * @surrender_slot, @surrender_next: how far folios have been moved
 * @kept:    it has a reference of its own, and lives until it is told to end
 * @ended:   it goes: @compact is queued no more
 * @touches: pages that were touched, for each CPU
 * @noted:   CPUs whose touches the policy has not been told of; one that noted while it
 *           was told may be missing until its notes are half full
 * @maps:    which pages of maps were touched
 * @drain:   work: tells the policy of them
 * @clean:   work: writes what is dirty
 * @compact: work: has tables get shorter
 * @code:    work: lets files go that turned out to be code
 * @tokens:  of memory cgroups, by their ids; has a lock of its own
 * @last_memcg: id of the cgroup that was seen last; no lock
 *
 * All under c->lock that does not say otherwise.
 */
struct hipec_cache {
	struct hipec_container *c;
	struct list_head files;
	struct list_head dirs;
	u32 nr_dirs;
	struct xarray slots;
	u32 next_slot;
	u32 none_of;
	struct hipec_cfile *last;
	struct hipec_folios ahead;
	struct hipec_folios refused;
	u32 held;
	u32 limit;
	u32 usable;
	u32 rises;
	u32 whole;
	u32 misfits;
	struct hipec_folios victims;
	bool urgent;
	struct hipec_evicting own;
	struct list_head evicting;
	u32 nr_evicting;
	u64 freed;
	bool deaf, bits;
	enum hipec_hear hear;
	bool large;
	u32 shown;
	u32 wasted;
	u64 requests;
	u32 window;
	const struct mem_cgroup *group;
	long group_files;
	s32 group_looks;
	bool on_lists;
	bool in_reclaim;
	u32 vain;
	unsigned long vain_at;
	bool surrendered;
	unsigned long surrender_until;
	unsigned long surrender_slot;
	pgoff_t surrender_next;
	bool kept;
	bool ended;
	struct hipec_touches __percpu *touches;
	cpumask_var_t noted;
	struct hipec_maps maps;
	struct work_struct drain;
	struct work_struct clean;
	struct delayed_work compact;
	struct work_struct code;
	struct xarray tokens;
	u64 last_memcg;
};

static inline u32 hipec_folio_pages(const struct hipec_vm *vm, u32 h)
{
	return 1u << ((vm->page[h].flags & HIPEC_FOLIO_ORDER) >>
		      HIPEC_FOLIO_ORDER_SHIFT);
}

/* Whether somebody wants to know where in the program touches come from. */
static inline bool hipec_cache_wants_context(const struct hipec_cache *cache)
{
	return READ_ONCE(cache->c->core.wants_context) ||
	       READ_ONCE(cache->c->sampler);
}

/* The file of a page number that has an entry. Context: expects c->lock. */
static inline struct hipec_cfile *hipec_cfile_of(struct hipec_cache *cache,
						 u32 pgno)
{
	struct hipec_cfile *f = cache->last;

	if (unlikely(!f || pgno - f->start >= f->nr))
		f = cache->last = xa_load(&cache->slots, pgno >> HIPEC_SLOT_SHIFT);
	return f;
}

/* The slot of page numbers behind those of a file. */
static inline unsigned long hipec_slot_behind(const struct hipec_cfile *f)
{
	return ((u64)f->start + f->nr) >> HIPEC_SLOT_SHIFT;
}

/* The entry that has page @pgno of a file; 0: none has. Context: expects c->lock. */
static inline u32 hipec_entry_at(struct hipec_cfile *f, u32 pgno)
{
	struct hipec_vm *vm = &f->cache->c->core.vm;
	u32 h = hipec_page_find(vm, pgno), order, head;

	for (order = 1; !h && order <= f->orders; order++) {
		head = f->start + round_down(pgno - f->start, 1u << order);
		h = hipec_page_find(vm, head);
		if (h && hipec_folio_pages(vm, h) <= pgno - head)
			h = 0;
	}
	return h;
}

/**
 * hipec_folio_found() - the bit in page tables was found set, for all who read it
 * @page:   whose bit is reset
 * @looked: it was reset before
 *
 * The fault that maps a page sets the bit, its neighbours' as well: the shadow, which is
 * to know what was touched, hears of faults, and of the bit only where it was reset
 * before.
 *
 * Context: expects c->lock.
 */
static inline void hipec_folio_found(struct hipec_page *page, bool looked)
{
	page->flags |= HIPEC_FOLIO_LOOKED |
		       (looked ? HIPEC_REF_ALL : HIPEC_REF_ALL & ~HIPEC_REF_SHADOW)
		       << HIPEC_FOLIO_REF_SHIFT;
}

/*
 * The folio at an index, which may be gone at any time; NULL: there is none. Only its
 * flags and counts may be looked at, and only under rcu_read_lock().
 */
static inline struct folio *hipec_folio_at(struct address_space *mapping,
					   pgoff_t idx)
{
	struct folio *folio = xa_load(&mapping->i_pages, idx);

	return xa_is_value(folio) ? NULL : folio;
}

/**
 * hipec_touch_last() - whether the last fault on this CPU was of one of these pages
 * @cache: cache
 * @pgno:  the first
 * @nr:    pages
 *
 * Who is at its next fault may be at the same instruction still.
 *
 * Context: any.
 */
static inline bool hipec_touch_last(const struct hipec_cache *cache, u32 pgno,
				    u32 nr)
{
	return raw_cpu_read(cache->touches->mapped) - 1 - pgno < nr;
}

/* dir.c */
int hipec_dir_init(void);
void hipec_dir_exit(void);
int hipec_dir_take(struct hipec_cache *cache, struct inode *inode, u64 *other);
bool hipec_dir_release(struct hipec_cache *cache, const struct inode *inode);

/* table.c */
extern struct mutex hipec_admin_lock, hipec_take_lock;
struct hipec_cfile *hipec_file_find(const struct inode *inode);
struct hipec_cfile *hipec_file_get(const struct inode *inode);
void hipec_file_put(struct hipec_cfile *f);
void hipec_file_add(struct hipec_cfile *f);
void hipec_file_remove(struct hipec_cfile *f);
int hipec_files_init(void);
void hipec_files_exit(void);

/* file.c */
u32 hipec_file_refusal(const struct inode *inode);
int hipec_file_take(struct hipec_cache *cache, struct inode *inode, struct file *file,
		    struct hipec_take *a);
int hipec_file_take_new(struct hipec_cache *cache, struct inode *inode, struct file *file);
bool hipec_file_release(struct hipec_cache *cache, const struct inode *inode);
void hipec_file_code(struct work_struct *work);
int hipec_file_init(void);
void hipec_file_exit(void);

/* open.c */
int hipec_open_take(struct hipec_cache *cache, struct hipec_take *a);
bool hipec_open_release(struct hipec_cache *cache, int fd);

/* hooks.c */
void hipec_hooks_stay(void);
int hipec_hooks_set(struct inode *inode);
void hipec_hooks_restore(struct inode *inode);
bool hipec_hooks_file(struct file *file);
bool hipec_hooks_vma(struct vm_area_struct *vma);
bool hipec_hooks_copy(const struct vm_operations_struct *ops);
bool hipec_hooks_has(const struct inode *inode);

/* before.c */
void hipec_before_hear(struct hipec_cfile *f, struct file *file);

/* touch.c */
bool hipec_touch_note(struct hipec_cache *cache, u32 pgno, u32 nr,
		      enum hipec_touch how, u64 context);
void hipec_touch_missed(struct hipec_cache *cache);
bool hipec_touch_fault(struct hipec_cache *cache, u32 pgno, u32 nr, u64 context);
void hipec_touch_drain(struct hipec_cache *cache);
void hipec_touch_drain_all(struct hipec_cache *cache);
void hipec_touch_wants(struct hipec_cache *cache);
void hipec_touch_work(struct work_struct *work);

/* bits.c */
bool hipec_folio_young(struct hipec_cache *cache, u32 h, bool reset);
void hipec_folios_spare(struct hipec_cache *cache);

/* maps.c */
u32 hipec_maps_touched(struct hipec_core *core, u32 pgno[HIPEC_HARVEST]);
void hipec_maps_forget(struct hipec_cache *cache);

/* miss.c */
void hipec_cache_read(struct hipec_cfile *f, pgoff_t idx, u32 nr, u64 context);
void hipec_cache_read_folio(struct hipec_cfile *f, struct folio *folio, u64 context);

/* policy.c */
u32 hipec_entry_find(struct hipec_cache *cache, u32 pgno);
void hipec_entry_drop(struct hipec_cache *cache, u32 h);
int hipec_order_at(struct address_space *mapping, pgoff_t idx);
void hipec_cache_room(struct hipec_cache *cache, u32 pgno, bool write, u32 want);
u32 hipec_cache_bring(struct hipec_cache *cache, struct hipec_cfile *f, u32 pgno,
		      u32 order, long left);
void hipec_cache_settle_unlocked(struct hipec_cache *cache);
u32 hipec_cache_give(struct hipec_cache *cache, u32 want);
void hipec_cache_touched(struct hipec_cache *cache, u32 pgno, u32 nr,
			 enum hipec_touch how);
void hipec_cache_search(struct hipec_cfile *f);
void hipec_cache_forget(struct hipec_cfile *f);
u32 hipec_cache_entry(struct hipec_cfile *f, u32 pgno);

/* budget.c */
void hipec_cache_account(struct hipec_cache *cache);
long hipec_pressure_room(void);
bool hipec_pressure_is_short(void);
long hipec_pressure_left(struct hipec_cache *cache, long room, u32 nr);
u32 hipec_pressure_limit(const struct hipec_cache *cache, long left);

/* window.c: a read() of so many bytes goes at once, whatever the budget. */
#define HIPEC_READ_AT_ONCE (32 << PAGE_SHIFT)

void hipec_window_judge(struct hipec_cache *cache, bool touched);
void hipec_window_set(struct hipec_cfile *f, struct file_ra_state *ra, pgoff_t index);
ssize_t hipec_window_read(struct kiocb *iocb, struct iov_iter *to,
			  ssize_t (*read)(struct kiocb *iocb, struct iov_iter *to));
void hipec_window_forget(struct hipec_cfile *f);

/* share.c */
void hipec_cache_grow(struct hipec_cache *cache, const struct hipec_demand *d);
void hipec_cache_hand_back(struct hipec_cache *cache);

/* evict.c */
void hipec_folios_add(struct hipec_cache *cache, u16 flags, u32 h);
void hipec_folios_del(struct hipec_cache *cache, u32 h);
void hipec_victim_add(struct hipec_cache *cache, u32 h, bool live);
bool hipec_victims_wait(const struct hipec_cache *cache);
void hipec_victims_evict(struct hipec_cache *cache);
void hipec_victims_evict_unlocked(struct hipec_cache *cache);
void hipec_victim_finish(struct hipec_cache *cache, u32 h);
void hipec_refused_retry(struct hipec_cache *cache, u32 most);
void hipec_refused_clean(struct work_struct *work);
void hipec_evictable_again(struct address_space *mapping);

/* compact.c */
void hipec_cache_compact(struct work_struct *work);

/* Unused entries that are worth it: so many, and one of so many that are used. */
#define HIPEC_COMPACT_LEAST 512
#define HIPEC_COMPACT_PART 16

/*
 * Tables get shorter in a second, if many of their entries are unused then; in a moment pages
 * may come for them. Context: expects c->lock.
 */
static inline void hipec_cache_compact_later(struct hipec_cache *cache)
{
	const struct hipec_vm *vm = &cache->c->core.vm;

	if (unlikely(vm->nr_unused > HIPEC_COMPACT_LEAST + vm->reached / HIPEC_COMPACT_PART &&
		     !cache->ended))
		queue_delayed_work(hipec_wq, &cache->compact, HZ);
}

/* mlock.c */
bool hipec_locked(struct address_space *mapping, pgoff_t idx, u32 nr, bool wait);
bool hipec_unmap(struct address_space *mapping, pgoff_t idx, u32 nr);

/* surrender.c */
unsigned long hipec_surrender_more(struct hipec_cache *cache);
bool hipec_cache_outgrown(struct hipec_cfile *f);
bool hipec_cache_keep_away(struct hipec_cfile *f);

/* pressure.c: reclaim in a cgroup stops as soon as it has so many pages. */
#define HIPEC_PRESSURE_ENOUGH 128

int hipec_pressure_init(void);
void hipec_pressure_exit(void);
void hipec_pressure_join(struct hipec_cache *cache);
void hipec_pressure_join_owner(struct hipec_cache *cache, struct folio *folio);
void hipec_pressure_leave(struct hipec_cache *cache);

#endif /* HIPEC_CACHE_CACHE_H */
