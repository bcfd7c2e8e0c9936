// SPDX-License-Identifier: GPL-2.0-only
/*
 * The default policy's directory beside a container, as shadow.h says.
 *
 * What the default would keep follows from the references, but the kernel sees
 * few of those: faults, and the referenced bits of held pages when it looks. Of
 * the sampled pages, those that are
 *
 *   kept, not held      fault when they are touched: that is seen at once.
 *   kept and held       are asked for their bit when the second chance wants to
 *                       know: when they become inactive, where it is reset, and
 *                       when they are the next victim. That is exact.
 *   held, not kept      are dropped: a touch is a fault that the default would
 *                       have had. They are looked at in turn, see look().
 *
 * So only touches of dropped pages are seen late, at the next fault at best; and
 * what the default would have done since is then made up for. See nr_unseen().
 *
 * How many sampled pages does the default keep? Of F frames, with one page in R
 * sampled, not F / R: the sample is by chance, and a loop over a few more
 * pages than frames would hit or miss altogether as the salt has it. What the
 * container holds is a sample by the same salt: it holds S sampled pages, by the
 * mean, so that many the default keeps. A loop is then scaled down as its frames
 * are, and a policy that does what the default does is found to do so.
 */
#include "shadow.h"

/* Looks at dropped pages with each sampled fault; for each that was found touched;
 * and at most. */
#define BASE 2
#define MORE 8
#define LOOKS 32

/* Next victims that are looked at with each sampled fault. */
#define WATCHED 4

/*
 * Sampled pages that can be held: of a container of LEAST frames all, of a larger
 * one those of an eighth of its frames and a quarter more, as the sample varies;
 * never more than MOST. 26 bytes for each, so less than 0.1 % of 4096 frames and
 * more; 17 KB of fewer.
 */
#define LEAST 640
#define MOST 5120

/* Of a page, in a mean. */
#define FRACTION (1 << 16)

static u32 max_for(u32 frames)
{
	u64 max = (u64)frames * 5 / 32;

	return max < LEAST ? LEAST : max > MOST ? MOST : max;
}

/**
 * hipec_shadow_bytes() - memory that a shadow needs
 * @frames: of the container; the most that it will have, if that is known
 *
 * Return: bytes.
 */
size_t hipec_shadow_bytes(u32 frames)
{
	u32 max = max_for(frames);

	return (2 * max + 1) * sizeof(struct hipec_shadow_page) +
	       max * sizeof(u16);
}

static void link_tail(struct hipec_shadow *s, u32 e, enum hipec_shadow_lists to)
{
	struct hipec_shadow_list *list = &s->list[to];
	struct hipec_shadow_page *page = &s->page[e];

	page->list = to;
	page->prev = list->tail;
	page->next = 0;
	if (list->tail)
		s->page[list->tail].next = e;
	else
		list->head = e;
	list->tail = e;
	list->count++;
}

static void move_tail(struct hipec_shadow *s, u32 e, enum hipec_shadow_lists to)
{
	struct hipec_shadow_page *page = &s->page[e];
	struct hipec_shadow_list *list = &s->list[page->list];

	if (page->prev)
		s->page[page->prev].next = page->next;
	else
		list->head = page->next;
	if (page->next)
		s->page[page->next].prev = page->prev;
	else
		list->tail = page->prev;
	list->count--;
	link_tail(s, e, to);
}

static u16 *bucket_of(struct hipec_shadow *s, u32 pgno)
{
	return &s->bucket[hipec_shadow_hash(s, pgno) >> (32 - s->bits)];
}

static u32 find(struct hipec_shadow *s, u32 pgno)
{
	u32 e = *bucket_of(s, pgno);

	while (e && s->page[e].pgno != pgno)
		e = s->page[e].chain;
	return e;
}

/* There is one: no more than max pages are held, and no more kept. */
static u32 add(struct hipec_shadow *s, u32 pgno)
{
	u32 e = s->list[HIPEC_SHADOW_UNUSED].head;
	u16 *bucket = bucket_of(s, pgno);

	s->page[e].pgno = pgno;
	s->page[e].held = false;
	s->page[e].referenced = false;
	s->page[e].watched = false;
	s->page[e].chain = *bucket;
	*bucket = e;
	return e;
}

static void del(struct hipec_shadow *s, u32 e)
{
	u16 *at = bucket_of(s, s->page[e].pgno);

	while (*at != e)
		at = &s->page[*at].chain;
	*at = s->page[e].chain;
	move_tail(s, e, HIPEC_SHADOW_UNUSED);
}

static u32 nr_kept(const struct hipec_shadow *s)
{
	return s->list[HIPEC_SHADOW_ACTIVE].count +
	       s->list[HIPEC_SHADOW_INACTIVE].count;
}

/*
 * Follow by how many pages the sample, scaled, is too large: the mean of twice as
 * many faults as there are frames, of fewer in the beginning.
 */
static void follow(struct hipec_shadow *s)
{
	s64 surplus = ((s64)s->nr_sampled << s->shift) - s->nr_held;

	if (s->weight < 8 * (u64)s->frames)
		s->weight++;
	s->surplus += (surplus * FRACTION - s->surplus) / (s->weight / 4 + 1);
}

/* Sampled pages that the default has frames for. */
static u32 room(const struct hipec_shadow *s)
{
	s64 half = 1u << s->shift >> 1;
	s64 n = (s->frames + s->surplus / FRACTION + half) >> s->shift;

	return n < 1 ? 1 : n > s->max ? s->max : n;
}

static bool is_young(struct hipec_shadow *s, u32 e)
{
	s->nr_looks++;
	return s->young(s, s->page[e].pgno);
}

/* Whether a page was touched since this was asked last, or the bit reset. */
static bool was_touched(struct hipec_shadow *s, u32 e)
{
	struct hipec_shadow_page *page = &s->page[e];
	bool touched = page->referenced;

	page->referenced = false;
	return (page->held && is_young(s, e)) || touched;
}

/* Two thirds of the pages kept wait on the inactive queue, with the bit reset. */
static void balance(struct hipec_shadow *s)
{
	while (s->list[HIPEC_SHADOW_INACTIVE].count < nr_kept(s) * 2 / 3) {
		u32 e = s->list[HIPEC_SHADOW_ACTIVE].head;

		was_touched(s, e);
		move_tail(s, e, HIPEC_SHADOW_INACTIVE);
	}
}

/*
 * Room is made for a page whose touch was seen late, and the next victim is passed
 * over, for it was touched as well: how many faults of the default were not seen?
 *
 * If the victim was not yet touched when it was watched, the default may have
 * given it up before it was. Both ways it ends up active and another page has to
 * go; but then it was a fault. For a page here and there that evens out. But if
 * all that were watched were touched since, so much went by that the order is
 * lost: then these, and all further ones, are taken for faults, in favour of the
 * policy. In a loop over a few more pages than frames all faults of the default
 * are of this kind.
 */
static u32 nr_unseen(struct hipec_shadow *s, bool watched, bool known)
{
	if (!watched)
		return s->nr_watched == WATCHED;
	if (known)
		return 0;
	s->nr_watched++;
	return s->nr_watched == WATCHED ? WATCHED : 0;
}

/* So many faults, of pages like @e. */
static void count_unseen(struct hipec_shadow *s, u32 e, u32 nr)
{
	s->window.shadow += nr;
	s->window.unseen += nr;
	s->window.class_shadow[hipec_shadow_class(s, s->page[e].pgno)] += nr;
}

/* One page less is kept, as by hipec-1997, Figure 3. @late: for a late touch. */
static void replace(struct hipec_shadow *s, bool late)
{
	/* Threads may touch pages as fast as they are looked at. */
	u32 chances = nr_kept(s), e;

	for (;;) {
		bool watched, known;

		balance(s);
		e = s->list[HIPEC_SHADOW_INACTIVE].head;
		if (!e)		/* of a single page */
			e = s->list[HIPEC_SHADOW_ACTIVE].head;
		watched = s->page[e].watched;
		known = s->page[e].referenced;
		s->page[e].watched = false;
		if (!was_touched(s, e) || !chances--)
			break;
		if (late)
			count_unseen(s, e, nr_unseen(s, watched, known));
		move_tail(s, e, HIPEC_SHADOW_ACTIVE);
	}
	if (s->page[e].held)
		move_tail(s, e, HIPEC_SHADOW_DROPPED);
	else
		del(s, e);
	balance(s);
}

/* The default faults on a page that it does not keep. */
static void keep(struct hipec_shadow *s, u32 e, bool late)
{
	s->window.shadow++;
	s->window.late += late;
	s->window.class_shadow[hipec_shadow_class(s, s->page[e].pgno)]++;
	while (nr_kept(s) >= room(s))
		replace(s, late);
	s->page[e].referenced = false;
	move_tail(s, e, HIPEC_SHADOW_ACTIVE);
}

static bool is_kept(const struct hipec_shadow *s, u32 e)
{
	return s->page[e].list == HIPEC_SHADOW_ACTIVE ||
	       s->page[e].list == HIPEC_SHADOW_INACTIVE;
}

static void touch(struct hipec_shadow *s, u32 e)
{
	if (is_kept(s, e))
		s->page[e].referenced = true;
	else
		keep(s, e, true);
}

/*
 * Look at dropped pages in turn. Each that was found touched pays for more looks,
 * so at most one of MORE finds something: a page is looked at several times in
 * the time in which it is touched once, however fast that is.
 */
static void look(struct hipec_shadow *s)
{
	u32 dropped = s->list[HIPEC_SHADOW_DROPPED].count, n;

	s->owed = s->owed + BASE < LOOKS ? s->owed + BASE : LOOKS;
	n = s->owed < dropped ? s->owed : dropped;
	for (s->owed -= n; n; n--) {
		u32 e = s->list[HIPEC_SHADOW_DROPPED].head;

		move_tail(s, e, HIPEC_SHADOW_DROPPED);
		if (!is_young(s, e))
			continue;
		keep(s, e, true);
		s->owed += MORE;
	}
}

/* Frames of sampled pages have gone to others. */
static void trim(struct hipec_shadow *s)
{
	while (nr_kept(s) > room(s))
		replace(s, true);
}

/* Note which of the next victims are touched by now. */
static void watch(struct hipec_shadow *s)
{
	u32 e = s->list[HIPEC_SHADOW_INACTIVE].head, n;

	s->nr_watched = 0;
	for (n = 0; n < WATCHED && e; n++, e = s->page[e].next) {
		struct hipec_shadow_page *page = &s->page[e];

		page->watched = true;
		if (page->held && !page->referenced)
			page->referenced = is_young(s, e);
	}
}

/* Half as many pages are sampled from now on. */
static void thin_out(struct hipec_shadow *s)
{
	u32 e;

	s->shift++;
	for (e = 1; e <= 2 * s->max; e++) {
		if (s->page[e].list == HIPEC_SHADOW_UNUSED ||
		    hipec_shadow_sampled(s, s->page[e].pgno))
			continue;
		s->nr_sampled -= s->page[e].held;
		del(s, e);
	}
	/* What was counted was of other pages. */
	memset(&s->window, 0, sizeof(s->window));
	s->weight = 0;
}

/* Whether page @pgno is sampled, with room for one more that is held. */
static bool has_room_for(struct hipec_shadow *s, u32 pgno)
{
	while (hipec_shadow_sampled(s, pgno) && s->nr_sampled == s->max)
		thin_out(s);
	return hipec_shadow_sampled(s, pgno);
}

/* The entry of a sampled page that is held from now on. */
static u32 hold(struct hipec_shadow *s, u32 pgno)
{
	u32 e = find(s, pgno);

	if (!e)
		e = add(s, pgno);
	s->nr_sampled += !s->page[e].held;
	s->page[e].held = true;
	return e;
}

static void bring_in(struct hipec_shadow *s, u32 pgno, bool wanted)
{
	u32 e;

	s->window.faults++;
	s->nr_held++;
	if (!has_room_for(s, pgno)) {
		follow(s);
		return;
	}
	s->window.sampled++;
	s->window.class_sampled[hipec_shadow_class(s, pgno)]++;
	trim(s);
	look(s);	/* what was touched was so before this page */
	e = hold(s, pgno);
	follow(s);
	if (!is_kept(s, e))
		keep(s, e, false);
	else if (wanted)
		s->page[e].referenced = true;
	watch(s);
}

/**
 * hipec_shadow_fault() - the container brought in a page that was touched
 * @s:    shadow
 * @pgno: page, which was not held and is now
 *
 * Of every page, sampled or not, behind the hipec_shadow_evicted() of its victim.
 *
 * Context: any, serialised by the host; calls young().
 * Source: ours; the default policy is hipec-1997, Figure 3.
 */
void hipec_shadow_fault(struct hipec_shadow *s, u32 pgno)
{
	bring_in(s, pgno, true);
}

/**
 * hipec_shadow_ahead() - the container brought in a page that nobody touched yet
 * @s:    shadow
 * @pgno: page, which was not held and is now
 *
 * Of a page that came in with the one that was wanted: had the default faulted,
 * it would have come in as well. So it counts as one for both sides, unless
 * the default keeps it; and what is compared is pages read, not faults. Also of
 * the pages that a container holds when it gets its shadow.
 *
 * Context: any, serialised by the host; calls young().
 */
void hipec_shadow_ahead(struct hipec_shadow *s, u32 pgno)
{
	bring_in(s, pgno, false);
}

/**
 * hipec_shadow_touch() - a sampled page was found referenced
 * @s:    shadow
 * @pgno: page that is held; if it is not sampled, this does nothing
 *
 * The host need not look for this. But who resets the referenced bit of a page
 * that had it, a policy or the harvest for Access, must not take it from the
 * shadow: tell it, or keep it for young().
 *
 * Context: any, serialised by the host; calls young().
 */
void hipec_shadow_touch(struct hipec_shadow *s, u32 pgno)
{
	u32 e = hipec_shadow_sampled(s, pgno) ? find(s, pgno) : 0;

	if (e)
		touch(s, e);
}

/**
 * hipec_shadow_evicted() - a page has given up its frame
 * @s:    shadow
 * @pgno: page, held so far; young() can still be asked for it
 *
 * Of every page, sampled or not.
 *
 * Context: any, serialised by the host; calls young().
 */
void hipec_shadow_evicted(struct hipec_shadow *s, u32 pgno)
{
	u32 e = hipec_shadow_sampled(s, pgno) ? find(s, pgno) : 0;

	s->nr_held -= !!s->nr_held;
	if (!e || !s->page[e].held)
		return;
	if (is_young(s, e))
		touch(s, e);
	s->page[e].held = false;
	s->nr_sampled--;
	if (!is_kept(s, e))
		del(s, e);
}

/**
 * hipec_shadow_back() - a page that had gone is held after all
 * @s:    shadow
 * @pgno: page, which could not give its frame up
 *
 * Nobody has read it: it is no fault of either side. Touches of it are told as ever.
 *
 * Context: any, serialised by the host.
 */
void hipec_shadow_back(struct hipec_shadow *s, u32 pgno)
{
	u32 e;

	s->nr_held++;
	if (!has_room_for(s, pgno))
		return;
	e = hold(s, pgno);
	if (!is_kept(s, e))
		move_tail(s, e, HIPEC_SHADOW_DROPPED);
}

/**
 * hipec_shadow_resize() - the container has more frames, or fewer
 * @s:      shadow
 * @frames: it has now
 *
 * A container that grows is sampled more thinly when its pages no longer fit. One
 * that shrinks is not sampled more densely: below a quarter of what it was, a new
 * shadow judges sooner.
 *
 * Context: any, serialised by the host; calls young().
 */
void hipec_shadow_resize(struct hipec_shadow *s, u32 frames)
{
	s->frames = frames;
	trim(s);
}

/**
 * hipec_shadow_init() - an empty shadow
 * @s:      filled
 * @memory: hipec_shadow_bytes() for at least as many frames, for a u32 aligned
 * @frames: of the container, 1 or more
 * @salt:   any number that the policy cannot know
 * @young:  asked for the referenced bits
 *
 * The contract is the default one until the host sets another.
 */
void hipec_shadow_init(struct hipec_shadow *s, void *memory, u32 frames,
		       u32 salt, hipec_shadow_young_fn *young)
{
	u32 max = max_for(frames), e;

	memset(s, 0, sizeof(*s));
	memset(memory, 0, hipec_shadow_bytes(frames));
	s->young = young;
	s->contract = &hipec_contract_default;
	s->max = max;
	s->frames = frames;
	s->salt = salt;
	s->page = memory;
	s->bucket = (u16 *)(s->page + 2 * max + 1);
	for (s->bits = 1; 2u << s->bits <= max; s->bits++)
		;
	if (frames > max)
		while (frames >> s->shift > max / 5 * 4)
			s->shift++;
	for (e = 1; e <= 2 * max; e++)
		link_tail(s, e, HIPEC_SHADOW_UNUSED);
}
