// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is read before a fault asks for it: the batch behind a sequence of misses,
 * and the pages that a policy's Prefetch names. And what a fault reads without mmap_lock:
 * it comes again for that.
 *
 * What is read ahead holds frames that the policy does not see: it is told of
 * these pages when the first of them is touched. So a policy such as MRU, which
 * gives up what came in last, never gives up what was not used yet.
 *
 * A region remembers a few sequences, so that threads, or a merge of sorted runs,
 * do not take each other's for random. A miss that continues none is read alone
 * and begins one, in place of the one that was used longest ago. What continues
 * one is read in batches that double; from the third on the next batch is begun
 * before it is asked for. Pages that nobody came for make the sequence begin anew.
 *
 * Interface:
 * hipec_readahead_open(), _close()  the region can read ahead, no longer
 * hipec_readahead_window(), _note() how much a miss shall bring in, has brought in
 * hipec_readahead_start()    begin to read the next batch of a sequence
 * hipec_readahead_prefetch() the host's side of Prefetch
 * hipec_readahead_leave(), _left(), _is_left()  a fault reads, has read, what it will come for
 * hipec_readahead_find(), _take()    a fault came to it
 * hipec_readahead_drop(), _drop_stale()  nobody came, and its frames are wanted
 */
#include "../base/volume.h"
#include "frames.h"

/* Pages of the first batch that continues a miss, as in the page cache. */
#define HIPEC_FIRST_WINDOW 4

/* Batches of a sequence until it is read ahead, and until they are largest. */
#define HIPEC_LEVEL_AHEAD 3
#define HIPEC_LEVEL_MOST 4
static_assert(HIPEC_FIRST_WINDOW << (HIPEC_LEVEL_MOST - 1) >=
	      HIPEC_MAX_CLUSTER);

/*
 * A batch is read ahead into free frames at any time, but Replace is run for
 * one only when sequential misses have gone on for this many clusters: the
 * frames of a second cluster on the move are missing elsewhere, once a sweep.
 */
#define HIPEC_LONG_RUN 32

/* Of a volume's works, reads ahead of one container, on all of its volumes. */
#define HIPEC_MAX_FILLING 16

/* A fault that was interrupted may not come again: jiffies that its batch is kept. */
#define HIPEC_KEPT HZ

/* Where such a batch is dropped, or cannot be read, so many misses leave none. */
#define HIPEC_LEAVE_NONE 64

static bool is_fetched(const struct hipec_ahead *a)
{
	return a >= a->r->ahead + HIPEC_NR_STREAM_AHEAD && !hipec_readahead_is_left(a);
}

/* The batch is no more, or a fault's. */
static void clear_batch(struct hipec_ahead *a)
{
	struct hipec_container *c = a->r->c;

	c->frames.nr_ahead -= a->nr;
	c->frames.nr_fetched -= is_fetched(a) ? a->nr : 0;
	a->nr = 0;
	a->s = NULL;
}

/* The pages of @a as a batch. */
static void list_batch_pages(const struct hipec_ahead *a, struct hipec_batch *b)
{
	struct hipec_container *c = a->r->c;
	u32 i;

	b->idx = a->idx;
	b->nr = a->nr;
	for (i = 0; i < b->nr; i++) {
		b->h[i] = hipec_page_find(&c->core.vm, a->r->start + b->idx + i);
		b->folio[i] = c->frames.frame[b->h[i]];
	}
}

/*
 * Work: read a batch. On an error its pages are gone, and the fault that comes
 * reads again, each page for itself.
 */
static void read_batch_work(struct work_struct *work)
{
	struct hipec_ahead *a = container_of(work, struct hipec_ahead, work);
	struct hipec_container *c = a->r->c;
	struct hipec_batch b;
	int ret;

	mutex_lock(&c->lock);
	list_batch_pages(a, &b);
	mutex_unlock(&c->lock);
	ret = hipec_read(a->r, b.idx, b.folio, b.nr);
	mutex_lock(&c->lock);
	c->frames.nr_filling--;
	c->core.counters.read_ios++;
	if (ret) {
		c->core.counters.read_errors++;
		clear_batch(a);
		hipec_batch_cut(c, &b, 0);
	} else {
		c->core.counters.read_pages += b.nr;
		c->core.counters.ahead_pages += b.nr;
		a->read = true;
	}
	mutex_unlock(&c->lock);
	wake_up_all(&c->wait);
}

/* There is a batch, whose pages have frames. */
static void occupy_batch(struct hipec_ahead *a, struct hipec_stream *s, u32 idx, u32 nr)
{
	struct hipec_container *c = a->r->c;

	a->s = s;
	a->idx = idx;
	a->nr = nr;
	a->since = c->frames.batches;
	a->read = false;
	c->frames.nr_ahead += nr;
	c->frames.nr_fetched += is_fetched(a) ? nr : 0;
}

/* Begin to read a batch whose pages have frames. */
static void begin_batch_read(struct hipec_ahead *a, struct hipec_stream *s, u32 idx, u32 nr)
{
	occupy_batch(a, s, idx, nr);
	a->r->c->frames.nr_filling++;
	queue_work(a->r->volume->wq, &a->work);
}

/**
 * hipec_readahead_open() - the region may read ahead from now on
 * @r: region that is whole
 *
 * Page 0 counts as the second of a sequence: who begins there means to go on.
 *
 * Context: takes c->lock.
 */
void hipec_readahead_open(struct hipec_region *r)
{
	struct hipec_stream *s;
	struct hipec_ahead *a;

	for (a = r->ahead; a < r->ahead + HIPEC_NR_AHEAD; a++) {
		a->r = r;
		INIT_WORK(&a->work, read_batch_work);
	}
	for (s = r->stream; s < r->stream + HIPEC_NR_STREAMS; s++)
		s->next = U32_MAX;
	r->stream[0].next = 0;
	r->stream[0].level = 1;
	mutex_lock(&r->c->lock);
	r->open = true;
	mutex_unlock(&r->c->lock);
}

/**
 * hipec_readahead_close() - wait until nothing is being read ahead, nor will be
 * @r: region that is mapped nowhere
 *
 * Context: may sleep; takes c->lock.
 */
void hipec_readahead_close(struct hipec_region *r)
{
	struct hipec_ahead *a;

	mutex_lock(&r->c->lock);
	r->open = false;
	mutex_unlock(&r->c->lock);
	for (a = r->ahead; a < r->ahead + HIPEC_NR_AHEAD; a++)
		flush_work(&a->work);
}

/* The sequence that a miss on page @idx continues; NULL: none. */
static struct hipec_stream *find_continued_stream(const struct hipec_region *r, u32 idx)
{
	const struct hipec_stream *s;

	for (s = r->stream; s < r->stream + HIPEC_NR_STREAMS; s++)
		if (s->next == idx)
			return (struct hipec_stream *)s;
	return NULL;
}

static u32 window_of_stream(const struct hipec_stream *s)
{
	return s && s->level ? HIPEC_FIRST_WINDOW << (s->level - 1) : 1;
}

/**
 * hipec_readahead_window() - pages that a miss shall bring in
 * @r:   region
 * @idx: page that is not resident
 *
 * Context: expects c->lock.
 * Return: 1 or more.
 */
u32 hipec_readahead_window(const struct hipec_region *r, u32 idx)
{
	return window_of_stream(find_continued_stream(r, idx));
}

/* The sequence that was used longest ago; what was read ahead of it is stale. */
static struct hipec_stream *take_oldest_stream(struct hipec_region *r)
{
	struct hipec_stream *s, *old = r->stream;
	struct hipec_ahead *a;

	for (s = r->stream; s < r->stream + HIPEC_NR_STREAMS; s++)
		if (s->used <= old->used)
			old = s;
	for (a = r->ahead; a < r->ahead + HIPEC_NR_STREAM_AHEAD; a++) {
		if (a->s != old)
			continue;
		a->s = NULL;
		a->since = r->c->frames.batches - HIPEC_STALE - 1;
	}
	return old;
}

static void advance_stream(struct hipec_region *r, struct hipec_stream *s, u32 nr)
{
	s->next += nr;
	s->run += nr;
	s->level = min(s->level + 1, HIPEC_LEVEL_MOST);
	s->used = ++r->clock;
}

/**
 * hipec_readahead_note() - a miss brings pages in
 * @r:   region
 * @idx: first page
 * @nr:  pages
 *
 * Context: expects c->lock.
 * Return: the sequence that they belong to, or begin.
 */
struct hipec_stream *hipec_readahead_note(struct hipec_region *r, u32 idx, u32 nr)
{
	struct hipec_stream *s = find_continued_stream(r, idx);

	if (!s) {
		s = take_oldest_stream(r);
		*s = (struct hipec_stream){ .next = idx };
	}
	advance_stream(r, s, nr);
	return s;
}

/* A place for one batch more of @s; NULL if enough are on their way. */
static struct hipec_ahead *place_for(struct hipec_region *r,
				     const struct hipec_stream *s)
{
	struct hipec_ahead *a, *free = NULL;
	u32 nr = 0;

	for (a = r->ahead; a < r->ahead + HIPEC_NR_STREAM_AHEAD; a++) {
		if (!a->nr)
			free = a;
		else if (a->s == s)
			nr++;
	}
	return nr < HIPEC_STREAM_AHEAD && r->c->frames.nr_filling < HIPEC_MAX_FILLING ?
		free : NULL;
}

/* Frames that are free, or to be had and nobody loses them. */
static u32 frames_at_hand(struct hipec_container *c)
{
	return c->core.nr_free + (c->core.pool ? hipec_member_space(&c->core) : 0);
}

/* Pages of the batch behind @s, if it may be read now; else 0. */
static u32 ahead_size(struct hipec_region *r, const struct hipec_stream *s,
		      struct vm_area_struct *vma)
{
	struct hipec_container *c = r->c;
	u32 nr;

	/* What is copied needs no waiting: it comes when it is asked for. */
	if (c->cluster == 1 || s->level < HIPEC_LEVEL_AHEAD ||
	    vma->vm_flags & VM_RAND_READ || hipec_read_copies(r, s->next))
		return 0;
	nr = hipec_batch_size(r, vma, s->next, window_of_stream(s));
	if (nr > frames_at_hand(c) && s->run < (u64)HIPEC_LONG_RUN * c->cluster)
		return 0;
	return nr;
}

/* Free frames for pages from @idx on; nobody waits. Return: at most @nr. */
static u32 make_batch_room(struct hipec_region *r, u32 idx, bool write, u32 nr)
{
	const struct hipec_demand d = {
		.pgno = r->start + idx, .write = write, .want = nr,
		.whom = &r->c->core,
	};

	return hipec_core_try_room(&r->c->core, &d);
}

/**
 * hipec_readahead_start() - begin to read the batch behind a sequence
 * @r:     region
 * @s:     sequence that the access belongs to; NULL: none
 * @vma:   that faulted
 * @write: the access was a write
 *
 * Does nothing when there is no such batch, no frame for it, or enough on its
 * way. The policy must not have been told yet of the batch that the fault is
 * about: it could give that up for what comes next.
 *
 * Context: expects c->lock.
 */
void hipec_readahead_start(struct hipec_region *r, struct hipec_stream *s,
			   struct vm_area_struct *vma, bool write)
{
	struct hipec_ahead *a = s ? place_for(r, s) : NULL;
	u32 idx, nr, i;

	if (!a)
		return;
	nr = ahead_size(r, s, vma);
	if (nr)
		nr = make_batch_room(r, s->next, write, nr);
	if (!nr)
		return;
	idx = s->next;
	for (i = 0; i < nr; i++)
		hipec_frame_bind(r->c, r, idx + i);
	advance_stream(r, s, nr);
	begin_batch_read(a, s, idx, nr);
}

/**
 * hipec_readahead_find() - the batch of a page that was, or is being, read ahead
 * @r:   region
 * @idx: page
 *
 * Context: expects c->lock.
 * Return: the batch; NULL if there is none.
 */
struct hipec_ahead *hipec_readahead_find(struct hipec_region *r, u32 idx)
{
	struct hipec_ahead *a;

	for (a = r->ahead; a < r->ahead + HIPEC_NR_AHEAD; a++)
		if (idx - a->idx < a->nr)
			return a;
	return NULL;
}

/**
 * hipec_readahead_take() - a batch is a fault's from now on
 * @a: batch that was read
 * @b: filled
 *
 * Context: expects c->lock.
 */
void hipec_readahead_take(struct hipec_ahead *a, struct hipec_batch *b)
{
	list_batch_pages(a, b);
	clear_batch(a);
}

/**
 * hipec_readahead_is_left() - whether a fault reads a batch itself, and comes for it again
 * @a: batch, or a place for one
 *
 * Context: any.
 */
bool hipec_readahead_is_left(const struct hipec_ahead *a)
{
	return a >= a->r->ahead + HIPEC_NR_BEFORE;
}

/**
 * hipec_readahead_leave() - a place for a batch that a fault reads before it comes again
 * @r: region
 * @b: bound batch that is about to be read
 *
 * Until hipec_readahead_left() nobody drops the batch, nor takes it. Then somebody may who wants
 * its frames, and that one's batch may go likewise: so who drops one, and those behind it,
 * keep their locks and come to an end. So does who comes again for what could not be read.
 *
 * Context: expects c->lock; the caller holds the region's file.
 * Return: the place; NULL if there is none, or the batch is not to be left.
 */
struct hipec_ahead *hipec_readahead_leave(struct hipec_region *r, const struct hipec_batch *b)
{
	struct hipec_ahead *a;

	if (r->c->frames.leave_none) {
		r->c->frames.leave_none--;
		return NULL;
	}
	for (a = r->ahead + HIPEC_NR_BEFORE; a < r->ahead + HIPEC_NR_AHEAD; a++) {
		if (a->nr)
			continue;
		occupy_batch(a, NULL, b->idx, b->nr);
		return a;
	}
	return NULL;
}

/**
 * hipec_readahead_left() - it was read
 * @a: place that hipec_readahead_leave() found
 * @b: batch with the pages that were read; none, if they could not be
 *
 * The first fault that comes takes it (hipec_readahead_find()). A second later it may be dropped.
 *
 * Context: expects c->lock.
 */
void hipec_readahead_left(struct hipec_ahead *a, const struct hipec_batch *b)
{
	struct hipec_container *c = a->r->c;

	if (!b->nr)
		c->frames.leave_none = HIPEC_LEAVE_NONE;
	c->frames.nr_ahead -= a->nr - b->nr;
	a->nr = b->nr;
	a->until = jiffies + HIPEC_KEPT;
	a->read = true;
}

static bool is_stale(const struct hipec_ahead *a)
{
	const struct hipec_container *c = a->r->c;

	if (hipec_readahead_is_left(a))
		return time_after(jiffies, a->until);
	return c->frames.batches - a->since > min_t(u32, HIPEC_STALE,
					     c->core.nr_frames / 2);
}

/* Free the frames of a batch that was read. */
static void drop_read_batch(struct hipec_ahead *a)
{
	struct hipec_container *c = a->r->c;
	struct hipec_stream *s = a->s;
	struct hipec_batch b;

	hipec_readahead_take(a, &b);
	if (hipec_readahead_is_left(a))
		c->frames.leave_none = HIPEC_LEAVE_NONE;
	else
		c->core.counters.ahead_dropped += b.nr;
	if (s) {
		s->next = min(s->next, b.idx);
		s->level = 1;
		s->run = 0;
	}
	hipec_batch_cut(c, &b, 0);
}

/**
 * hipec_readahead_drop() - free the frames of what was read ahead
 * @r:     region
 * @stale: only of what nobody is expected for any more
 *
 * Context: expects c->lock.
 * Return: whether there was something to free.
 */
bool hipec_readahead_drop(struct hipec_region *r, bool stale)
{
	struct hipec_ahead *a;
	bool dropped = false;

	for (a = r->ahead; a < r->ahead + HIPEC_NR_AHEAD; a++) {
		if (!a->nr || !a->read || (stale && !is_stale(a)))
			continue;
		drop_read_batch(a);
		dropped = true;
	}
	return dropped;
}

/**
 * hipec_readahead_drop_all() - the engine's host: the same, in regions of a container
 * @core:  container
 * @stale: in all regions, what is stale; else all of the first that has any
 *
 * Context: expects the container's lock.
 * Return: whether there was something to free.
 */
bool hipec_readahead_drop_all(struct hipec_core *core, bool stale)
{
	struct hipec_container *c = hipec_of_core(core);
	struct hipec_region *r;
	bool dropped = false;

	if (!c->frames.nr_ahead)
		return false;
	list_for_each_entry(r, &c->regions, link) {
		dropped |= hipec_readahead_drop(r, stale);
		if (dropped && !stale)
			break;
	}
	return dropped;
}

static struct hipec_region *open_region_at(struct hipec_container *c, u32 pgno)
{
	struct hipec_region *r;

	list_for_each_entry(r, &c->regions, link)
		if (pgno - r->start < r->nr)
			return r->open ? r : NULL;
	return NULL;
}

/* Begin to read up to @nr pages, as there are frames and entries. */
static u32 fetch_batch(struct hipec_ahead *a, u32 idx, u32 nr)
{
	struct hipec_container *c = a->r->c;
	u32 i;

	while (c->core.nr_free < nr && c->core.pool &&
	       hipec_member_space(&c->core) &&
	       hipec_core_grow(&c->core, 1, HIPEC_EFFORT_SOME))
		;
	nr = min(nr, c->core.nr_free);
	for (i = 0; i < nr; i++)
		if (!hipec_frame_bind_in_event(c, a->r, idx + i))
			break;
	if (i)
		begin_batch_read(a, NULL, idx, i);
	return i;
}

/**
 * hipec_readahead_prefetch() - host operation: read pages that the policy names
 * @vm:   machine in an event
 * @pgno: first page
 * @nr:   pages, none of which holds a frame
 *
 * Context: expects the container's lock; may sleep.
 * Return: pages whose reading was begun.
 */
u32 hipec_readahead_prefetch(struct hipec_vm *vm, u32 pgno, u32 nr)
{
	struct hipec_container *c = hipec_of_vm(vm);
	struct hipec_region *r = hipec_core_may_fetch(&c->core) ?
		open_region_at(c, pgno) : NULL;
	u32 idx, end, n, got = 0;
	struct hipec_ahead *a;

	if (!r)
		return 0;
	idx = pgno - r->start;
	end = hipec_io_pages(r);
	nr = min(nr, idx < end ? end - idx : 0);
	if (c->frames.nr_fetched + nr > HIPEC_MAX_PREFETCH)
		hipec_readahead_drop_all(&c->core, true);
	nr = min(nr, HIPEC_MAX_PREFETCH - c->frames.nr_fetched);
	for (a = r->ahead + HIPEC_NR_STREAM_AHEAD;
	     got < nr && a < r->ahead + HIPEC_NR_BEFORE; a++) {
		if (c->frames.nr_filling >= HIPEC_MAX_FILLING)
			break;
		if (a->nr)
			continue;
		n = fetch_batch(a, idx + got, min(nr - got, c->cluster));
		if (!n)
			break;
		got += n;
	}
	return got;
}
