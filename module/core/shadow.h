/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Revocation's measuring instrument: what the default policy, FIFO with a second
 * chance (policies/fifo2.hp), would have done with the frames of a container that
 * has a policy of its own. A directory of pages without frames, sampled by a hash
 * of the page number; and the contract that its counts are held against.
 *
 * Names: @s is the shadow of one container, @pgno a page number counted from the
 * container's start, @e an entry of the directory (0 is none). A page is held if
 * the container has a frame for it, kept if the default policy would have one.
 *
 * Interface:
 * hipec_shadow_bytes(), _init()  a shadow in memory that the host gives
 * hipec_shadow_fault(), _ahead(), _gone()  pages come and go; all of them
 * hipec_shadow_back()     a page that had gone is held after all
 * hipec_shadow_touch()    a sampled page was found referenced
 * hipec_shadow_sampled()  whether _touch() wants to know
 * hipec_shadow_resize()   the container has more frames, or fewer
 * hipec_shadow_verdict()  at the end of a window: whether to revoke
 *
 * Nothing here takes a lock, allocates or sleeps by itself; the host serialises
 * all calls on one shadow.
 */
#ifndef HIPEC_POOL_SHADOW_H
#define HIPEC_POOL_SHADOW_H

#include "../vm/port.h"

/*
 * A policy that in each of @windows successive windows of @frames faults for each
 * frame, and of @faults at least, costs its owner more than @excess percent more
 * faults than the default is revoked.
 */
struct hipec_contract {
	u32 excess;
	u32 windows;
	u32 frames;
	u32 faults;
};

extern const struct hipec_contract hipec_contract_default;

/*
 * Sampled pages fall into so many classes by their hash, each of which is a sample
 * as well: how much they differ says how far off all together may be (estimate.c).
 */
#define HIPEC_SHADOW_CLASSES 16

/* Of one window. */
struct hipec_shadow_window {
	u32 faults;	/* pages that came in */
	u32 sampled;	/* those of them that are sampled */
	u32 shadow;	/* sampled pages that the default would have brought in */
	u32 shift;	/* each of which stands for 2^shift pages */
	u32 late;	/* of the shadow's, those that were seen late */
	u32 unseen;	/* and those that were not seen, but made up for */
	u32 class_sampled[HIPEC_SHADOW_CLASSES];	/* sampled, by class of the page */
	u32 class_shadow[HIPEC_SHADOW_CLASSES];	/* shadow, likewise */
};

enum hipec_shadow_verdict {
	HIPEC_SHADOW_NONE,	/* the window goes on */
	HIPEC_SHADOW_GOOD,
	HIPEC_SHADOW_BAD,	/* but not for long enough */
	HIPEC_SHADOW_REVOKE,
};

/* A page that is kept or held, 12 bytes. */
struct hipec_shadow_page {
	u32 pgno;
	u16 prev, next;	/* on its list */
	u16 chain;	/* next in its bucket */
	u8 list;	/* enum hipec_shadow_lists */
	bool held : 1, referenced : 1, watched : 1;
};

enum hipec_shadow_lists {
	HIPEC_SHADOW_ACTIVE,
	HIPEC_SHADOW_INACTIVE,
	HIPEC_SHADOW_DROPPED,	/* held, but not kept */
	HIPEC_SHADOW_UNUSED,
	HIPEC_SHADOW_NR_LISTS,
};

struct hipec_shadow_list {
	u16 head, tail;
	u32 count;
};

struct hipec_shadow;

/**
 * hipec_shadow_young_fn - whether a held page was touched, as the hardware noted
 * @s:    shadow
 * @pgno: sampled page that is held
 *
 * Reset what it tells, but keep it for others who read the referenced bit: the
 * policy must not notice.
 *
 * Context: called by hipec_shadow_fault(), _ahead(), _touch(), _gone() and
 * _resize(), under the locks that their caller holds.
 * Return: whether it was touched since the last call for it that said so, or since
 *         the last hipec_shadow_touch().
 */
typedef bool hipec_shadow_young_fn(struct hipec_shadow *s, u32 pgno);

struct hipec_shadow {
	hipec_shadow_young_fn *young;
	const struct hipec_contract *contract;
	struct hipec_shadow_page *page;	/* 1 + 2 * max; 0 is none */
	u16 *bucket;			/* max, of which 1 << bits are used */
	u32 bits;
	u32 max;		/* sampled pages held, and kept */
	u32 salt;
	u32 shift;		/* one of 2^shift pages is sampled */
	u32 frames;		/* of the container */
	u32 nr_held;		/* pages that it holds, sampled or not */
	u32 nr_sampled;		/* sampled ones of them */
	u32 owed;		/* looks at dropped pages */
	u32 weight;		/* faults, as far as the mean cares */
	s64 surplus;		/* mean of sampled pages held, scaled, over those held */
	u64 nr_looks;		/* calls of young(), ever: what all this costs */
	u32 nr_watched;		/* pages touched since they were watched */
	struct hipec_shadow_list list[HIPEC_SHADOW_NR_LISTS];
	struct hipec_shadow_window window, last;	/* open; closed */
	u32 nr_bad;		/* the last so many closed ones in a row */
};

/* Scattered enough that pages in any pattern are sampled as if by chance. */
static inline u32 hipec_shadow_hash(const struct hipec_shadow *s, u32 pgno)
{
	u32 x = (pgno ^ s->salt) * 2654435761u;

	x = (x ^ x >> 15) * 2246822519u;
	x = (x ^ x >> 13) * 3266489917u;
	return x ^ x >> 16;
}

/* The class of a sampled page. */
static inline u32 hipec_shadow_class(const struct hipec_shadow *s, u32 pgno)
{
	return hipec_shadow_hash(s, pgno) >> 28;
}

/**
 * hipec_shadow_sampled() - whether the shadow knows of a page
 * @s:    shadow
 * @pgno: page
 *
 * Context: any, serialised by the host.
 */
static inline bool hipec_shadow_sampled(const struct hipec_shadow *s, u32 pgno)
{
	return !(hipec_shadow_hash(s, pgno) & ((1u << s->shift) - 1));
}

size_t hipec_shadow_bytes(u32 frames);
void hipec_shadow_init(struct hipec_shadow *s, void *memory, u32 frames,
		       u32 salt, hipec_shadow_young_fn *young);
void hipec_shadow_fault(struct hipec_shadow *s, u32 pgno);
void hipec_shadow_ahead(struct hipec_shadow *s, u32 pgno);
void hipec_shadow_touch(struct hipec_shadow *s, u32 pgno);
void hipec_shadow_evicted(struct hipec_shadow *s, u32 pgno);
void hipec_shadow_back(struct hipec_shadow *s, u32 pgno);
void hipec_shadow_resize(struct hipec_shadow *s, u32 frames);
enum hipec_shadow_verdict hipec_shadow_verdict(struct hipec_shadow *s);
u64 hipec_contract_window(const struct hipec_contract *c, u32 frames);

#endif /* HIPEC_POOL_SHADOW_H */
