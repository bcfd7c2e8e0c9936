/* SPDX-License-Identifier: GPL-2.0-only */
/* Notes of pages that were touched, or come: touch.c writes them, drain.c reads. */
#ifndef HIPEC_CACHE_TOUCH_H
#define HIPEC_CACHE_TOUCH_H

#include <linux/types.h>

struct hipec_cache;
struct inode;
struct work_struct;

/* Ranges of touched pages that a CPU keeps; a power of two. */
#define HIPEC_MAX_TOUCHES 256

/* Tasks that are to tell, of one container: what others have noted they tell as well. A power of two. */
#define HIPEC_MAX_DELIVERERS 64

/* Faults that one instruction may have one after the other: a copy of two words, and its code. */
#define HIPEC_LAST_FAULTS 4

/* Ticks until a worker does what tasks of the policy's have not. */
#define HIPEC_TELL_LATER (HZ / 5)

/**
 * enum hipec_touch - how pages were touched
 * @HIPEC_BY_READ:   by read(), or the fault of a map
 * @HIPEC_BY_WRITE:  by write(): they may be new, and have no entry
 * @HIPEC_BY_STORE:  by a fault to write
 * @HIPEC_BY_AROUND: mapped by the fault of a neighbour
 * @HIPEC_BY_KNOWN:  by read(), one page, whose entry was looked up without the lock
 * @HIPEC_BY_MISS:   not yet: they are being read, and have no entry
 * @HIPEC_BY_FILL:   not yet: they are being read, and may have one
 */
enum hipec_touch {
	HIPEC_BY_READ,
	HIPEC_BY_WRITE,
	HIPEC_BY_STORE,
	HIPEC_BY_AROUND,
	HIPEC_BY_KNOWN,
	HIPEC_BY_MISS,
	HIPEC_BY_FILL,
};

/* Which touches are noted. */
enum hipec_notify {
	HIPEC_NOTIFY_ALL,
	HIPEC_NOTIFY_BITS,	/* all; of a live page its bits are set, and nothing else */
	HIPEC_NOTIFY_SAMPLED,	/* of pages of the sample of the judge, or the league (core/) */
	HIPEC_NOTIFY_NONE,
};

/**
 * struct hipec_touches - of one CPU and one container: a ring
 * @mapped: first of the pages that the last fault mapped behind its own
 * @nr_mapped: their number
 * @fault: the last faults' pages, and 1 each, round and round
 * @nr_faults: how many there were; it wraps
 * @missed: something was read since the last note
 * @hits:   pages that were touched and not noted, as the policy is quiet, ever
 * @told:   of these, that were counted; under c->lock
 * @end:   ranges that it is being told of; under c->lock
 * @head:  ranges that were noted, ever; it wraps
 * @tail:  ranges that the policy was told of, ever; it wraps; under c->lock
 * @range: in the order in which they came
 *
 * Only its own CPU, with preemption disabled, changes what says nothing else.
 */
struct hipec_touches {
	u32 mapped, nr_mapped;
	u32 fault[HIPEC_LAST_FAULTS], nr_faults;
	bool missed;
	u64 hits, told;
	u32 end;
	u32 head;
	u32 tail;
	struct hipec_touched {
		u32 pgno;
		u32 nr : 29;	/* pages */
		u32 how : 3;	/* enum hipec_touch */
		/* of the program; 0: not known, or not asked for. BY_KNOWN: the entry */
		u64 context;
		u64 at;		/* cycles: notes of several CPUs are told in this order */
	} range[HIPEC_MAX_TOUCHES];
};

/* touch.c */
bool hipec_touch_note(struct hipec_cache *cache, u32 pgno, u32 nr,
		      enum hipec_touch how, u64 context);
void hipec_touch_missed(struct hipec_cache *cache);
bool hipec_touch_owe(struct hipec_cache *cache, u32 pgno, u32 nr, enum hipec_touch how,
		     u64 context);
bool hipec_touch_fault(struct hipec_cache *cache, u32 pgno, u32 nr, u64 context);
bool hipec_touch_may_deliver(const struct hipec_cache *cache);
bool hipec_touch_can_wait(const struct hipec_cache *cache);
bool hipec_touch_last(const struct hipec_cache *cache, u32 pgno, u32 nr);
bool hipec_touch_lock(struct hipec_cache *cache);
void hipec_touch_later(struct hipec_cache *cache);

/* drain.c */
void hipec_drain_touches(struct hipec_cache *cache);
void hipec_drain_all(struct hipec_cache *cache);
void hipec_drain_wants(struct hipec_cache *cache);
void hipec_drain_and_evict(struct hipec_cache *cache);
void hipec_drain_work(struct work_struct *work);

/* Whether pages come that may have no entry until the policy hears of them. */
static __always_inline bool hipec_is_owed(enum hipec_touch how)
{
	return how == HIPEC_BY_MISS || how == HIPEC_BY_FILL || how == HIPEC_BY_WRITE;
}

/* deliver.c */
void hipec_deliver_soon(struct hipec_cache *cache);
void hipec_deliver_missed(struct hipec_cache *cache);
void hipec_deliver_read(struct inode *inode, u64 first, u64 last, bool now);
void hipec_deliver_written(struct inode *inode, u64 first, u64 last);

#endif /* HIPEC_CACHE_TOUCH_H */
