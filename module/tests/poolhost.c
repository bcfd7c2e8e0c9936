// SPDX-License-Identifier: GPL-2.0-only
/*
 * A host for module/core that owns no frames; poolhost.h says how to use it.
 */
#include "poolhost.h"

/* "a0 " */
void hipec_pool_name(struct hipec_text *out, u32 owner, u32 page)
{
	hipec_text_char(out, 'a' + owner);
	hipec_text_char(out, '0' + page);
	hipec_text_char(out, ' ');
}

static void note(struct hipec_poolhost *h, char what, u32 owner, u32 page)
{
	hipec_text_char(&h->log, what);
	hipec_pool_name(&h->log, owner, page);
}

/* Whether it came in; it may be in already, or there is no room. */
bool hipec_poolhost_add(struct hipec_poolhost *h, u32 owner, u32 page)
{
	struct hipec_pool_page *p = &h->page[owner][page];

	if (p->in || !h->manager->add(h, owner, page))
		return false;
	p->in = true;
	p->referenced = false;
	p->pinned = false;
	return true;
}

/* If it is in, it leaves. */
void hipec_poolhost_del(struct hipec_poolhost *h, u32 owner, u32 page)
{
	struct hipec_pool_page *p = &h->page[owner][page];

	if (!p->in)
		return;
	p->in = false;
	h->manager->del(h, owner, page);
}

static u32 draw(struct hipec_poolhost *h, u32 below)
{
	return hipec_kit_random(&h->seed, below);
}

/* Now and then something happens while the manager waits, to any page. */
static void meddle(struct hipec_poolhost *h)
{
	u32 owner, page;

	if (!h->seed || draw(h, 6))
		return;
	owner = draw(h, HIPEC_POOL_OWNERS);
	page = draw(h, HIPEC_POOL_PAGES);
	if (h->page[owner][page].in)
		hipec_poolhost_del(h, owner, page);
	else
		hipec_poolhost_add(h, owner, page);
}

bool hipec_poolhost_referenced(struct hipec_poolhost *h, u32 owner, u32 page)
{
	note(h, '?', owner, page);
	meddle(h);
	return h->busy[owner] || h->page[owner][page].referenced;
}

void hipec_poolhost_reset(struct hipec_poolhost *h, u32 owner, u32 page)
{
	note(h, '-', owner, page);
	h->page[owner][page].referenced = false;
}

static void evict_page(struct hipec_poolhost *h, u32 owner, u32 page)
{
	if (!h->page[owner][page].pinned)
		hipec_poolhost_del(h, owner, page);
}

static void answer_by_script(struct hipec_poolhost *h)
{
	bool add = false;
	const char *s;

	for (s = h->script; *s && *s != ';'; s++) {
		if (*s == '+') {
			add = true;
		} else if (*s == '*') {
			hipec_text_str(&h->log,
				       h->manager->reclaim(h, HIPEC_MR_NOBODY) ?
				       "*1 " : "*0 ");
		} else if (*s >= 'a') {
			if (add)
				hipec_poolhost_add(h, s[0] - 'a', s[1] - '0');
			else
				evict_page(h, s[0] - 'a', s[1] - '0');
			add = false;
			s++;
		}
	}
	h->script = *s ? s + 1 : s;
}

/* The page itself, others, all, nothing; in any order and mixture. */
static void answer_at_random(struct hipec_poolhost *h, u32 owner, u32 page)
{
	u32 kind = draw(h, 8), nr, p;

	switch (kind) {
	case 0:
		return;
	case 1:
		evict_page(h, owner, page);
		return;
	case 2:
		for (p = 0; p < HIPEC_POOL_PAGES; p++)
			evict_page(h, owner, p);
		return;
	default:
		for (nr = kind - 2; nr; nr--) {
			meddle(h);
			evict_page(h, owner, draw(h, HIPEC_POOL_PAGES));
		}
	}
}

void hipec_poolhost_ask(struct hipec_poolhost *h, u32 owner, u32 page)
{
	note(h, '!', owner, page);
	if (h->busy[owner])
		return;
	if (h->seed)
		answer_at_random(h, owner, page);
	else
		answer_by_script(h);
}

void hipec_poolhost_take(struct hipec_poolhost *h, u32 owner, u32 page)
{
	note(h, 'x', owner, page);
	meddle(h);
	if (!h->busy[owner])
		evict_page(h, owner, page);
}

void hipec_poolhost_moved(struct hipec_poolhost *h, u32 owner, u32 kept,
			  u32 gone)
{
	hipec_pool_name(&h->log, owner, kept);
	h->log.len--;
	note(h, '<', owner, gone);
}

/* Without the last blank. */
static const char *finish(struct hipec_text *t)
{
	t->buf[t->len ? t->len - 1 : 0] = 0;
	return t->buf;
}

/* What was asked since the last call. */
const char *hipec_poolhost_log(struct hipec_poolhost *h)
{
	const char *text = finish(&h->log);

	h->log.len = 0;
	return text;
}

/* From now on asked containers say this. */
void hipec_poolhost_script(struct hipec_poolhost *h, const char *script)
{
	h->script = script;
}

/* "active | inactive", each from its head; AWST: all, the oldest first. */
const char *hipec_poolhost_order(struct hipec_poolhost *h)
{
	struct hipec_text out;

	hipec_text_init(&out, h->order_bytes, sizeof(h->order_bytes));
	h->manager->order(h, &out);
	return finish(&out);
}

void hipec_poolhost_init(struct hipec_poolhost *h,
			 const struct hipec_pool_manager *manager)
{
	memset(h, 0, sizeof(*h));
	h->manager = manager;
	h->script = "";
	hipec_text_init(&h->log, h->log_bytes, sizeof(h->log_bytes));
}

/* The manager under test. */

static struct hipec_poolhost *host_of(struct hipec_mr *mr)
{
	return (struct hipec_poolhost *)mr;
}

static bool mr_referenced(struct hipec_mr *mr, u32 owner, u32 page)
{
	return hipec_poolhost_referenced(host_of(mr), owner, page);
}

static void mr_reset(struct hipec_mr *mr, u32 owner, u32 page)
{
	hipec_poolhost_reset(host_of(mr), owner, page);
}

static void mr_ask(struct hipec_mr *mr, u32 owner, u32 page)
{
	hipec_poolhost_ask(host_of(mr), owner, page);
}

static void mr_take(struct hipec_mr *mr, u32 owner, u32 page)
{
	hipec_poolhost_take(host_of(mr), owner, page);
}

static void mr_moved(struct hipec_mr *mr, u32 owner, u32 kept, u32 gone, u32 f)
{
	host_of(mr)->page[owner][kept].f = f;
	hipec_poolhost_moved(host_of(mr), owner, kept, gone);
}

static const struct hipec_mr_ops mr_ops = {
	.referenced = mr_referenced,
	.reset = mr_reset,
	.ask = mr_ask,
	.take = mr_take,
	.moved = mr_moved,
};

static bool mr_add(struct hipec_poolhost *h, u32 owner, u32 page)
{
	u32 f = hipec_fifo2mr_add(&h->mr, owner, page);

	h->page[owner][page].f = f;
	return f != HIPEC_MR_NONE;
}

static void mr_del(struct hipec_poolhost *h, u32 owner, u32 page)
{
	hipec_fifo2mr_del(&h->mr, h->page[owner][page].f);
}

static bool mr_reclaim(struct hipec_poolhost *h, u32 requester)
{
	bool gone = hipec_fifo2mr_reclaim(&h->mr, requester);

	h->moved = h->mr.moved;
	h->passed = h->mr.passed;
	return gone;
}

static bool mr_is_full(struct hipec_poolhost *h, u32 owner)
{
	return hipec_fifo2mr_is_full(&h->mr, owner);
}

static void mr_set_limits(struct hipec_poolhost *h, u32 owner, u32 min, u32 max)
{
	hipec_fifo2mr_set_limits(&h->mr, owner, min, max);
}

static void names(struct hipec_mr *mr, struct hipec_text *out, u32 f)
{
	for (; f; f = mr->frame[f].next)
		hipec_pool_name(out, mr->frame[f].owner, mr->frame[f].page);
}

static void mr_order(struct hipec_poolhost *h, struct hipec_text *out)
{
	u32 at[HIPEC_POOL_OWNERS], i, first;
	struct hipec_mr *mr = &h->mr;

	if (mr->policy == HIPEC_MR_FIFO2) {
		names(mr, out, mr->active.head);
		hipec_text_str(out, "| ");
		names(mr, out, mr->inactive.head);
		return;
	}
	for (i = 0; i < HIPEC_POOL_OWNERS; i++)
		at[i] = mr->owner[i].fifo.head;
	for (;;) {
		first = HIPEC_POOL_OWNERS;
		for (i = 0; i < HIPEC_POOL_OWNERS; i++)
			if (at[i] && (first == HIPEC_POOL_OWNERS ||
				      mr->stamp[at[i]] < mr->stamp[at[first]]))
				first = i;
		if (first == HIPEC_POOL_OWNERS)
			break;
		hipec_pool_name(out, mr->frame[at[first]].owner,
				mr->frame[at[first]].page);
		at[first] = mr->frame[at[first]].next;
	}
}

static const struct hipec_pool_manager mr_manager = {
	.add = mr_add,
	.del = mr_del,
	.reclaim = mr_reclaim,
	.is_full = mr_is_full,
	.set_limits = mr_set_limits,
	.order = mr_order,
};

struct hipec_poolhost *hipec_poolhost_new(struct kunit *test, u32 nr,
					  enum hipec_mr_policy policy)
{
	struct hipec_poolhost *h = kunit_kmalloc(test, sizeof(*h), GFP_KERNEL);
	struct hipec_mr_frame *frame =
		kunit_kmalloc(test, (nr + 1) * sizeof(*frame), GFP_KERNEL);
	struct hipec_mr_owner *owner =
		kunit_kmalloc(test, HIPEC_POOL_OWNERS * sizeof(*owner), GFP_KERNEL);
	u64 *stamp = kunit_kmalloc(test, (nr + 1) * sizeof(*stamp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, h);
	KUNIT_ASSERT_NOT_NULL(test, frame);
	KUNIT_ASSERT_NOT_NULL(test, owner);
	KUNIT_ASSERT_NOT_NULL(test, stamp);
	hipec_poolhost_init(h, &mr_manager);
	if (policy == HIPEC_MR_AWST)
		hipec_awst_init(&h->mr, &mr_ops, frame, nr, stamp, owner,
				HIPEC_POOL_OWNERS);
	else
		hipec_fifo2mr_init(&h->mr, &mr_ops, frame, nr);
	return h;
}

/* Pages on @queue, all of which must be at @place; ~0 if something is wrong. */
static u32 walk(struct hipec_poolhost *h, const struct hipec_mr_queue *queue,
		enum hipec_mr_place place)
{
	const struct hipec_mr_frame *frame = h->mr.frame;
	u32 f, prev = 0, nr = 0;

	for (f = queue->head; f; prev = f, f = frame[f].next) {
		const struct hipec_pool_page *p;

		if (f > h->mr.nr_touched || nr++ > h->mr.nr)
			return ~0u;
		p = &h->page[frame[f].owner][frame[f].page];
		if (frame[f].place != place || frame[f].prev != prev || !p->in ||
		    p->f != f)
			return ~0u;
		if (place == HIPEC_MR_OWN && prev &&
		    h->mr.stamp[prev] >= h->mr.stamp[f])
			return ~0u;
	}
	return queue->tail == prev && queue->count == nr ? nr : ~0u;
}

/* The first invariant of the manager that does not hold, or NULL. */
const char *hipec_poolhost_broken(struct hipec_poolhost *h)
{
	struct hipec_mr *mr = &h->mr;
	u32 nr = 0, in = 0, unused = 0, i, f;

	if (mr->policy == HIPEC_MR_AWST) {
		for (i = 0; i < HIPEC_POOL_OWNERS; i++) {
			u32 own = walk(h, &mr->owner[i].fifo, HIPEC_MR_OWN);

			if (own == ~0u)
				return "an owner's queue";
			nr += own;
		}
	} else {
		u32 active = walk(h, &mr->active, HIPEC_MR_ACTIVE);
		u32 inactive = walk(h, &mr->inactive, HIPEC_MR_INACTIVE);

		if (active == ~0u || inactive == ~0u)
			return "a queue";
		nr = active + inactive;
	}
	for (i = 0; i < HIPEC_POOL_ALL; i++)
		in += h->page[i / HIPEC_POOL_PAGES][i % HIPEC_POOL_PAGES].in;
	if (nr != mr->nr_frames || nr != in)
		return "the number of pages";
	for (f = mr->unused; f && unused <= mr->nr; f = mr->frame[f].next) {
		if (mr->frame[f].place != HIPEC_MR_UNUSED)
			return "an unused entry";
		unused++;
	}
	if (nr + unused != mr->nr_touched || mr->nr_touched > mr->nr)
		return "the number of entries";
	return mr->looking || mr->asking || mr->reclaiming ? "it is at work" :
							     NULL;
}

/* Reclaim answers @gone, asks @log and leaves @order, all invariants true. */
void hipec_poolhost_expect(struct kunit *test, struct hipec_poolhost *h,
			   u32 requester, bool gone, const char *log,
			   const char *order)
{
	const char *broken;

	KUNIT_EXPECT_EQ(test, hipec_fifo2mr_reclaim(&h->mr, requester), gone);
	KUNIT_EXPECT_STREQ(test, hipec_poolhost_log(h), log);
	KUNIT_EXPECT_STREQ(test, hipec_poolhost_order(h), order);
	broken = hipec_poolhost_broken(h);
	KUNIT_EXPECT_TRUE_MSG(test, !broken, "%s", broken);
}
