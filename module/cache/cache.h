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
 * core/core.h has the states of a page, policy.c the life of an entry, README.md the rules.
 *
 * Interface:
 * cache.c   hipec_cache_*(): a container's side: load, end, status
 * take.c    what a user wants taken, and let go of
 * table.c   the files that are taken
 * file.c    one file
 * numbers.c its page numbers
 * dir.c     a directory, and what comes into it
 * open.c    what a cgroup's processes open is taken
 * group.c   which cgroups these are
 * hooks.c   what the kernel calls for a file that is taken
 * before.c  what had a file open before it was taken
 * touch.c   which pages were touched, or come, on their way to the policy
 * deliver.c  by read() and write()
 * drain.c   and there
 * bits.c    what the policy asks of its host
 * maps.c    which pages of maps were touched
 * miss.c    what is about to be read
 * come.c    what comes gets its entry
 * policy.c  what the policy is asked and told
 * search.c  pages of a whole file
 * budget.c  pages that are held, and that may be
 * why.c     where a page stands
 * evict.c   folios leave the page cache
 * refused.c those that could not
 * clean.c   and are dirty: they are written
 * mlock.c   but for those that mlock() holds
 * window.c  how much is read at once
 * pressure.c  memory cgroups, and the machine's memory
 * surrender.c whether the kernel's reclaim leaves files alone
 * payer.c   which cgroup pays for a page
 * share.c   frames of the pool
 * lockdep.c which locks' holders may not wait for a policy
 */
#ifndef HIPEC_CACHE_CACHE_H
#define HIPEC_CACHE_CACHE_H

#include <linux/llist.h>
#include <linux/percpu.h>
#include <linux/srcu.h>

#include "../compat.h"
#include "evict.h"
#include "host.h"
#include "touch.h"

struct hipec_mark;
struct hipec_payer;
struct readahead_control;

/* Host flags of struct hipec_page, of an entry with a folio. */
#define HIPEC_FOLIO_ORDER 0x0f00	/* of its number of pages */
#define HIPEC_FOLIO_ORDER_SHIFT 8
/* HIPEC_REF_*: touched, for readers that have not reset that, whatever the page tables say. */
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

/* Mark the entries of all files, of those that are lost, and of those that turned out to be code. */
#define HIPEC_SLOT_FILE XA_MARK_0
#define HIPEC_SLOT_LOST XA_MARK_1
#define HIPEC_SLOT_CODE XA_MARK_2
/* Entries, linked by their handles. */
struct hipec_folios {
	u32 head, tail;
	u32 nr;		/* entries */
	u32 pages;
};

#define HIPEC_WAITING_MARKS 1024	/* of victims; a power of two */
#define HIPEC_RUN_PAGES 512u	/* page numbers that are looked at together, in maps */

/**
 * struct hipec_maps - where touched pages of maps are looked for
 * @next:   page number that is looked at next
 * @walked: page numbers that were looked at since page number 0
 * @round:  the same, of the round before
 * @earned: page numbers that may be looked at
 * @start:  page number of the first of these:
 * @told:   pages that were found touched, and the policy is to be told of
 * @nr_delivered: their number
 */
struct hipec_maps {
	u64 next;
	u32 walked, round;
	s32 earned;
	u32 start;
	DECLARE_BITMAP(told, HIPEC_RUN_PAGES);
	u32 nr_delivered;
};

/**
 * struct hipec_goes - how far entries of a dead file have gone
 * @next:    of its pages, or of all entries: the next that is looked at; 0: a round begins
 * @moves:   cache->moves, when it began
 * @by_page: which of the two
 * @any:     one was there in this round
 */
struct hipec_goes {
	u32 next, moves;
	bool by_page, any;
};

/**
 * struct hipec_cfile - a file that is taken
 * @hash:    of all files, by inode; RCU
 * @link:    cache->files, under c->lock
 * @grave:   cache->graves, once it is dead
 * @cache:   whose it is; invariant
 * @inode:   of hipec_mapping_of(): the mark holds it until the file is dead
 * @start:   page number of its first page; invariant
 * @nr:      page numbers that it has; invariant
 * @end:     no entry was ever of its page number @end or a later one; under c->lock
 * @orders:  largest order of its folios so far, under c->lock
 * @writers: it may have been open to write before it was taken: such writes are not
 *           heard of. Under c->lock
 * @opened:  it was taken as a cgroup's process opened it; invariant
 * @code:    and it was mapped to execute; its slot has HIPEC_SLOT_CODE
 * @outgrown: it is larger than its page numbers; under c->lock
 * @large:   it may have folios of several pages; invariant
 * @lost:    pages of it may have no entry: the kernel's reclaim has it. No lock
 * @searched: the same: a search has come so far, and goes on; 0: none does. Set under c->lock
 * @goes:    its entries go; under c->lock
 * @capped:  windows of its descriptors may be narrower than the disk's
 * @dead:    it is let go, and found no more; its entries go later. Under attach_lock
 * @buried:  they have; the task that let it go waits for that
 * @users:   1 until they have, and one for each use without a lock; 0: it is freed
 * @clean:   writes it; invariant
 * @mark:    holds the inode, and tells when it goes
 * @rcu:     frees it
 */
struct hipec_cfile {
	struct hlist_node hash;
	struct list_head link;
	struct llist_node grave;
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
	bool large;
	bool lost;
	pgoff_t searched;
	struct hipec_goes goes;
	bool capped;
	bool dead;
	bool buried;
	atomic_t users;
	struct hipec_clean *clean;
	struct hipec_mark *mark;
	struct rcu_head rcu;
};

/**
 * struct hipec_cache - what a container has to do with the page cache
 * @c:       container; invariant
 * @inodes:  in a section of it inodes of its files are used, and do not go; invariant
 * @files:   of struct hipec_cfile; changed under attach_lock, RCU
 * @moves:   of entries to other numbers, by a table that gets shorter
 * @dirs:    directories whose new files are taken; under dir_lock (dir.c)
 * @nr_dirs: their number
 * @file_marks, @dir_marks: fsnotify's groups of the marks that they have; invariant
 * @nr_groups: cgroups whose files are taken; under hook_lock (open.c)
 * @by_path: files were taken by their path, too; no lock
 * @nr_files: of struct hipec_cfile that are not freed; no lock
 * @open_before: open files that were so before theirs was taken; no lock
 * @graves:  those that are dead, and whose entries are there still
 * @nr_graves: their number; no lock
 * @bury:    work: these go
 * @slots:   files, by the last slot of their page numbers (numbers.c); has a lock of its own
 * @slots_lock: one that looks for page numbers at a time
 * @next_slot: where those that are free are looked for; under it, as:
 * @none_of: of so many slots, or more, none are free that follow each other; 0: not known
 * @nr_taken: times that slots got free
 * @last:    file that was looked up last; NULL: none
 * @ahead:   folios that were read and not touched
 * @refused: folios that were given up and could not go
 * @held:    pages of folios that have an entry, but for victims
 * @limit:   pages that it might hold when room was made last
 * @usable:  of these, what the policy may count on, in folios
 * @rises:   times that there was a little more of it
 * @whole:   pages that the kernel read together for the last large read() that stayed whole
 * @owed:    pages noted as missed or written, and not delivered (touch.c). No lock
 * @deliverers: tasks that are to tell the policy as they leave the kernel, never followed. No lock
 * @hurry:   the worker is to tell, even if a task has; no lock
 * @rest:    jiffies, until which works rest; no lock
 * @delivered_at: jiffies, when the policy was told last. May be read without the lock
 * @batch:   pages that may be owed in one tick (hipec_touch_can_wait()). May be read without the lock
 * @mapped:  a file was mapped: page tables have to be looked at before they change. No lock
 * @victims: folios to be evicted
 * @own:     those of them that the lock's holder evicts
 * @waiting: marks of their pages, by page number; others may have the same. May be read without
 *           the lock
 * @evicting: of struct hipec_evicting: those that tasks evict without the lock
 * @nr_evicting: pages of these
 * @spare:   those that are not in use, of @evictors
 * @done:    those that the lock's holder is to finish; no lock
 * @freed:   pages that victims have freed, ever
 * @quiet:   the policy does not ask whether a page was referenced, and has no Access
 * @bits:    the policy has no Access: touches of live pages set their bits, and nothing else
 * @notify:  which touches are noted (touch.c). May be read without the lock
 * @large:   there are folios of several pages, or were
 * @shown, @wasted: folios that came and were touched, or were not; lately, see @window
 * @requests: counters.read_ios when that began
 * @window:  pages that are read around a fault; 0: as many as the kernel wants. May be read
 *           without the lock
 * @group: cgroup that was looked at last, never followed
 * @group_files, @group_looks: pages of files there, and how often that is still believed
 * @payer, @payer_pays, @payer_until: the one whose limit that is, never followed; whether it pays for
 *           most pages of the cache; and jiffies, until which that is believed
 * @only:    reclaim takes pages that this cgroup pays for; NULL: of all
 * @on_lists: pages of it may be on the kernel's lists, for its reclaim; no lock
 * @in_reclaim: the caller may hold any lock: nothing is waited for
 * @scanned: a reclaimer has it give pages; no lock
 * @vain:    ticks of tries of reclaim in a row that freed nothing; of the setter of @scanned, as:
 * @vain_at: jiffies, when the last one was
 * @surrendered: the files are left to the kernel's reclaim, since it was; may be reset under
 *           c->lock alone
 * @surrender_until: jiffies, before which they are not taken back
 * @surrender_slot, @surrender_next: how far folios have been moved
 * @kept:    it has a reference of its own, and lives until it is told to end. No lock
 * @ended:   it goes: @compact is queued no more
 * @touches: pages that were touched, for each CPU
 * @noted:   CPUs with notes that are to be delivered (touch.c); one may be missing for a while
 * @told:    CPUs whose notes are being delivered
 * @maps:    which pages of maps were touched
 * @drain:   work: tells the policy of them
 * @search:  work: files that are lost get their entries
 * @cleans:  of struct hipec_clean: writes what is dirty; has a lock of its own
 * @compact: work: has tables get shorter
 * @code:    work: lets files go that turned out to be code
 * @tokens:  of memory cgroups, by their ids; has a lock of its own
 * @looked_at: by which look at them it was met (pressure.c), under the lock for these
 * @last_memcg: id of the cgroup that was seen last; no lock
 *
 * All under c->lock that does not say otherwise.
 */
struct hipec_cache {
	struct hipec_container *c;
	struct srcu_struct *inodes;
	struct list_head files;
	u32 moves;
	struct list_head dirs;
	u32 nr_dirs;
	struct fsnotify_group *file_marks, *dir_marks;
	u32 nr_groups;
	bool by_path;
	atomic_t nr_files;
	atomic_t open_before;
	struct llist_head graves;
	atomic_t nr_graves;
	struct delayed_work bury;
	struct xarray slots;
	struct mutex slots_lock;
	u32 next_slot, none_of, nr_taken;
	struct hipec_cfile *last;
	struct hipec_folios ahead;
	struct hipec_folios refused;
	u32 held;
	u32 limit;
	u32 usable;
	u32 rises;
	u32 whole;
	atomic_t owed;
	struct task_struct *deliverers[HIPEC_MAX_DELIVERERS];
	bool hurry;
	struct {
		unsigned long drain, search, bury;
	} rest;
	unsigned long delivered_at;
	u32 batch;
	bool mapped;
	struct hipec_folios victims;
	DECLARE_BITMAP(waiting, HIPEC_WAITING_MARKS);
	struct hipec_evicting own;
	struct list_head evicting;
	u32 nr_evicting;
	struct list_head spare;
	struct llist_head done;
	struct hipec_evicting evictors[HIPEC_EVICTORS];
	u64 freed;
	bool quiet, bits;
	enum hipec_notify notify;
	bool large;
	u32 shown;
	u32 wasted;
	u64 requests;
	u32 window;
	const struct mem_cgroup *group;
	long group_files;
	s32 group_looks;
	const struct mem_cgroup *payer;
	bool payer_pays;
	unsigned long payer_until;
	const struct mem_cgroup *only;
	bool on_lists;
	bool in_reclaim;
	bool scanned;
	u32 vain;
	unsigned long vain_at;
	bool surrendered;
	unsigned long surrender_until;
	unsigned long surrender_slot;
	pgoff_t surrender_next;
	bool kept;
	bool ended;
	struct hipec_touches __percpu *touches;
	cpumask_var_t noted, told;
	struct hipec_maps maps;
	struct delayed_work drain;
	struct delayed_work search;
	struct list_head cleans;
	struct delayed_work compact;
	struct work_struct code;
	struct xarray tokens;
	u64 looked_at, last_memcg;
};

static inline u32 hipec_folio_pages(const struct hipec_vm *vm, u32 h)
{
	return 1u << ((vm->page[h].flags & HIPEC_FOLIO_ORDER) >>
		      HIPEC_FOLIO_ORDER_SHIFT);
}

/* numbers.c */
u32 hipec_numbers_for(const struct hipec_cache *cache, const struct inode *inode);
int hipec_numbers_give(struct hipec_cfile *f, bool all);
void hipec_numbers_take(struct hipec_cfile *f);
struct hipec_cfile *hipec_numbers_of(struct hipec_cache *cache, u32 pgno);

struct srcu_struct *hipec_table_inodes_of(kuid_t uid);

/*
 * The pages of a file; NULL: its inode goes. Context: in cache->inodes, or under rcu_read_lock()
 * without sleeping, or of a task that has it open.
 */
static inline struct address_space *hipec_mapping_of(const struct hipec_cfile *f)
{
	return READ_ONCE(f->dead) ? NULL : f->inode->i_mapping;
}

/* Whether the policy or a sampler wants to know where in the program touches come from. */
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
		f = cache->last = hipec_numbers_of(cache, pgno);
	return f;
}

/* Whether an entry is a victim. Context: expects c->lock. */
static inline bool hipec_is_victim(const struct hipec_cache *cache, u32 h)
{
	return (cache->c->core.vm.page[h].flags & HIPEC_FOLIO_VICTIM) == HIPEC_FOLIO_VICTIM;
}

/* Whether so much could not go that a worker is to write it. Context: expects c->lock. */
static inline bool hipec_refused_are_many(const struct hipec_cache *cache)
{
	return cache->refused.pages > hipec_core_held(&cache->c->core) / 4;
}

/* The last slot of a file's page numbers, by which it is found. */
static inline unsigned long hipec_slot_of(const struct hipec_cfile *f)
{
	return (((u64)f->start + f->nr) >> HIPEC_SLOT_SHIFT) - 1;
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
 * hipec_folio_found() - the bit in page tables was found set, for all its readers
 * @page:   whose bit is reset
 * @looked: it was reset before
 *
 * The fault that maps a page sets the bit, its neighbours' as well: the judge, which is
 * to know what was touched, hears of faults, and of the bit only where it was reset
 * before.
 *
 * Context: expects c->lock.
 */
static inline void hipec_folio_found(struct hipec_page *page, bool looked)
{
	page->flags |= HIPEC_FOLIO_LOOKED |
		       (looked ? HIPEC_REF_ALL : HIPEC_REF_ALL & ~HIPEC_REF_JUDGE)
		       << HIPEC_FOLIO_REF_SHIFT;
}

/* The folio at an index; NULL: there is none. Only its flags and counts are looked at, under RCU. */
static inline struct folio *hipec_folio_at(struct address_space *mapping, pgoff_t idx)
{
	struct folio *folio = xa_load(&mapping->i_pages, idx);

	return xa_is_value(folio) ? NULL : folio;
}

/* lockdep.c */
void hipec_lockdep_init(struct hipec_container *c);
void hipec_lockdep_teach(struct hipec_container *c, struct inode *inode);

/* dir.c */
int hipec_dir_begin(struct hipec_cache *cache);
int hipec_dir_attach(struct hipec_cache *cache, struct inode *inode, u64 *other);
bool hipec_dir_detach(struct hipec_cache *cache, struct inode *inode);

/* table.c */
extern struct mutex hipec_attach_lock;
struct hipec_cfile *hipec_table_find(const struct inode *inode);
struct hipec_cfile *hipec_table_get(const struct inode *inode);
void hipec_table_put(struct hipec_cfile *f);
struct hipec_cfile *hipec_table_marked(struct hipec_cache *cache, unsigned long *slot,
				       xa_mark_t mark);
struct inode *hipec_table_hold_inode(const struct hipec_cfile *f);
void hipec_table_put_inode(struct inode *inode);
void hipec_table_add(struct hipec_cfile *f);
void hipec_table_remove(struct hipec_cfile *f);
int hipec_table_init(void);
void hipec_table_exit(void);

/* file.c */
u32 hipec_file_refusal(const struct inode *inode);
int hipec_file_attach(struct hipec_cache *cache, struct inode *inode, struct file *file,
		      struct hipec_take *a);
int hipec_file_attach_new(struct hipec_cache *cache, struct inode *inode, struct file *file);
bool hipec_file_detach(struct hipec_cache *cache, const struct inode *inode);
void hipec_file_detach_all(struct hipec_cache *cache);
void hipec_file_code(struct work_struct *work);
void hipec_file_bury(struct hipec_cache *cache);
void hipec_file_bury_work(struct work_struct *work);
int hipec_file_begin(struct hipec_cache *cache);

/* open.c */
int hipec_open_attach(struct hipec_cache *cache, struct hipec_take *a);
bool hipec_open_detach(struct hipec_cache *cache, int fd);

/* hooks.c */
void hipec_hooks_stay(void);
int hipec_hooks_set(struct inode *inode);
void hipec_hooks_restore(struct inode *inode);
bool hipec_hooks_file(struct file *file);
bool hipec_hooks_vma(struct vm_area_struct *vma);
bool hipec_hooks_copy(const struct vm_operations_struct *ops);
bool hipec_hooks_has(const struct inode *inode);

/* before.c */
void hipec_before_hook(struct hipec_cfile *f, struct file *file);
void hipec_before_hook_later(struct hipec_cfile *f);

/* bits.c */
bool hipec_bits_young(struct hipec_cache *cache, u32 h, bool reset);
void hipec_bits_spare(struct hipec_cache *cache);

/* maps.c */
u32 hipec_maps_touched(struct hipec_core *core, u32 pgno[HIPEC_HARVEST]);
void hipec_maps_forget(struct hipec_cache *cache);

/* miss.c */
void hipec_cache_read(struct hipec_cfile *f, pgoff_t idx, u32 nr, u64 context);
void hipec_cache_read_folio(struct hipec_cfile *f, struct folio *folio, u64 context);

/* policy.c */
u32 hipec_cache_find_entry(struct hipec_cache *cache, u32 pgno);
void hipec_cache_drop_entry(struct hipec_cache *cache, u32 h);
int hipec_cache_order_at(const struct hipec_cfile *f, pgoff_t idx);
u32 hipec_cache_bring(struct hipec_cache *cache, struct hipec_cfile *f, u32 pgno,
		      u32 order, long left);
void hipec_cache_settle(struct hipec_cache *cache);
bool hipec_cache_settle_unlocked(struct hipec_cache *cache);
u32 hipec_cache_give(struct hipec_cache *cache, struct hipec_payer *payer, u32 want);
void hipec_cache_touched(struct hipec_cache *cache, u32 pgno, u32 nr, enum hipec_touch how);
u32 hipec_cache_entry(struct hipec_cfile *f, u32 pgno);

/* search.c */
bool hipec_cache_search(struct hipec_cfile *f, unsigned long *end);
void hipec_cache_search_lost(struct work_struct *work);
bool hipec_cache_forget(struct hipec_cfile *f, unsigned long *end);

/* come.c */
void hipec_cache_missed(struct hipec_cache *cache, u32 pgno, u32 nr, bool again);

/* budget.c */
void hipec_cache_account(struct hipec_cache *cache);
long hipec_budget_room(const struct hipec_cache *cache);
bool hipec_budget_is_short(void);
long hipec_budget_left(struct hipec_cache *cache, long room, u32 nr);
u32 hipec_budget_limit(const struct hipec_cache *cache, long left);

/* window.c: a read() of so many bytes goes at once, whatever the budget. */
#define HIPEC_READ_AT_ONCE (32 << PAGE_SHIFT)

void hipec_window_judge(struct hipec_cache *cache, bool touched);
void hipec_window_set(struct hipec_cfile *f, struct file_ra_state *ra, pgoff_t index);
ssize_t hipec_window_read(struct kiocb *iocb, struct iov_iter *to,
			  ssize_t (*read)(struct kiocb *iocb, struct iov_iter *to));
void hipec_window_forget(struct address_space *mapping);

/* share.c */
void hipec_cache_grow(struct hipec_cache *cache, const struct hipec_demand *d);
void hipec_cache_return(struct hipec_cache *cache);

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
bool hipec_mlock_locked(struct address_space *mapping, pgoff_t idx, u32 nr, bool wait);
bool hipec_mlock_unmap(struct address_space *mapping, pgoff_t idx, u32 nr);

/* surrender.c */
unsigned long hipec_surrender_more(struct hipec_cache *cache);
void hipec_cache_lose(struct hipec_cfile *f, unsigned long ticks);
void hipec_cache_search_later(struct hipec_cfile *f, unsigned long ticks);
void hipec_cache_outgrown(struct hipec_cfile *f);
void hipec_cache_keep_away(struct hipec_cfile *f);
void hipec_cache_hand_over(struct hipec_cfile *f);

/* pressure.c: reclaim in a cgroup stops as soon as it has so many pages. */
#define HIPEC_PRESSURE_ENOUGH 128

int hipec_pressure_init(void);
void hipec_pressure_exit(void);
bool hipec_pressure_join(struct hipec_cache *cache);
bool hipec_pressure_join_owner(struct hipec_cache *cache, struct folio *folio);
void hipec_pressure_leave(struct hipec_cache *cache);

#endif /* HIPEC_CACHE_CACHE_H */
