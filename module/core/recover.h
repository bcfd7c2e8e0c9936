/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recovery table of a container (Figure 5): which page went by the policy's
 * wish (evicted), and which one the manager would have taken (kept, the paper's
 * select_but_resident). A fault on the first, while the second has not been
 * referenced since, says that the policy was ill-advised: the host takes the
 * second page's frame for the first, and no other member pays.
 *
 * An entry is found by either page. The host drops it when the kept page is
 * referenced or leaves, and when the evicted page comes back; when the table is
 * full the oldest entry goes.
 *
 * Memory: HIPEC_RECOVER_ENTRY bytes for each entry and 8 for each bucket. All of
 * it is serialised by the host; nothing here sleeps.
 *
 * A reversal costs the policy's owner a fault, and its neighbours the time of that fault:
 * it keeps its frames so much longer. So a policy is doubted of whose last decisions more
 * than 7 in 8 were reversed: after each further reversal the manager's choice stands for 1
 * page, then for 3, 7 and so on up to HIPEC_DOUBT_MAX; half of that behind
 * HIPEC_DOUBT_STEP decisions without one. Good policies are far from that, though not
 * always: of MRU's, beside others, half may be reversed and several dozen in a row.
 *
 * Interface:
 * hipec_recover_size(), hipec_recover_init()   its memory
 * hipec_recover_add()         a page went, another was kept
 * hipec_recover_find()        at a fault: was it so?
 * hipec_recover_drop_evicted(), hipec_recover_drop_kept(), hipec_recover_clear()
 * hipec_recover_doubt_moved(), _reversed()  a decision was taken, was reversed
 * hipec_doubt_asks()          whether the policy's next one is taken
 */
#ifndef HIPEC_CORE_RECOVER_H
#define HIPEC_CORE_RECOVER_H

#include "../vm/port.h"

#define HIPEC_RECOVER_ENTRY 24
#define HIPEC_RECOVER_PAPER_BUCKETS 64

/* The two pages of an entry, and the two chains that it is on. */
enum hipec_recover_side {
	HIPEC_RECOVER_EVICTED,
	HIPEC_RECOVER_KEPT,
	HIPEC_RECOVER_NR_SIDES,
};

/* Links are indices of entries, 0 for none. */
struct hipec_recover_entry {
	u32 page[HIPEC_RECOVER_NR_SIDES];
	u32 chain[HIPEC_RECOVER_NR_SIDES];
	u32 older, newer;	/* newer links unused entries as well */
};

struct hipec_recover {
	struct hipec_recover_entry *entry;	/* nr + 1, the first unused */
	u32 *bucket[HIPEC_RECOVER_NR_SIDES];
	u32 nr, nr_buckets;
	u32 nr_used;
	u32 nr_touched;		/* entries behind these never were used */
	u32 unused, oldest, newest;
	u32 salt;		/* of the hash; the host sets it while it is empty */
	u64 compared;		/* entries looked at so far, to find any */
};

/* Decisions that are looked at, and without which no policy is doubted. */
#define HIPEC_DOUBT_OF 512
#define HIPEC_DOUBT_FIRST 32
#define HIPEC_DOUBT_STEP 4
#define HIPEC_DOUBT_MAX 63

/* All zero: there were none. Serialised by the host. */
struct hipec_doubt {
	u32 moved, reversed;	/* of the last ones, older ones counting half */
	u32 well;		/* since the last reversal that was too many */
	u32 wait;		/* pages for which the manager's choice stood then */
	u32 passes;		/* for which it stands still */
};

void hipec_recover_doubt_moved(struct hipec_doubt *d);
void hipec_recover_doubt_reversed(struct hipec_doubt *d);

/* Whether the policy's choice of the next page is taken. */
static inline bool hipec_doubt_asks(struct hipec_doubt *d)
{
	if (!d->passes)
		return true;
	d->passes--;
	return false;
}

size_t hipec_recover_size(u32 nr, u32 nr_buckets);
void hipec_recover_init(struct hipec_recover *r, void *memory, u32 nr,
			u32 nr_buckets);
void hipec_recover_add(struct hipec_recover *r, u32 evicted, u32 kept);
bool hipec_recover_find(struct hipec_recover *r, u32 evicted, u32 *kept);
void hipec_recover_drop_evicted(struct hipec_recover *r, u32 evicted);
void hipec_recover_drop_kept(struct hipec_recover *r, u32 kept);
void hipec_recover_clear(struct hipec_recover *r);

#endif /* HIPEC_CORE_RECOVER_H */
