// SPDX-License-Identifier: GPL-2.0-only
/*
 * FIFO2-MR and AWST on plain arrays; poolmodel.h says how it is written. The
 * page that is looked at is in the manager's hand, as in Figure 4, and on no
 * queue.
 */
#include "poolmodel.h"

struct entry {
	u32 owner, number;
};

struct list {
	struct entry page[HIPEC_POOL_ALL];
	u32 nr;
};

struct poolmodel {
	struct hipec_poolhost host;	/* first */
	bool awst;
	u32 capacity;
	struct list active, inactive;	/* AWST: all pages are active */
	u32 min[HIPEC_POOL_OWNERS], max[HIPEC_POOL_OWNERS];

	struct entry hand;
	bool in_hand;
	struct list *from;	/* where the hand took it, to put it back */
	u32 from_at;
	bool looking, asking;
	u32 left;		/* pages of the hand's owner */
};

static struct poolmodel *model(struct hipec_poolhost *h)
{
	return (struct poolmodel *)h;
}

static void insert(struct list *l, u32 at, struct entry p)
{
	u32 i;

	for (i = l->nr++; i > at; i--)
		l->page[i] = l->page[i - 1];
	l->page[at] = p;
}

static struct entry remove_at(struct list *l, u32 at)
{
	struct entry p = l->page[at];

	for (l->nr--; at < l->nr; at++)
		l->page[at] = l->page[at + 1];
	return p;
}

static void enqueue(struct list *l, struct entry p)
{
	insert(l, l->nr, p);
}

/* Where the page is on @l; l->nr: nowhere. */
static u32 place_of(const struct list *l, u32 owner, u32 number)
{
	u32 i;

	for (i = 0; i < l->nr; i++)
		if (l->page[i].owner == owner && l->page[i].number == number)
			break;
	return i;
}

static bool model_add(struct hipec_poolhost *h, u32 owner, u32 number)
{
	struct poolmodel *m = model(h);

	if (m->active.nr + m->inactive.nr + m->in_hand == m->capacity)
		return false;
	enqueue(&m->active, (struct entry){ owner, number });
	return true;
}

static void model_del(struct hipec_poolhost *h, u32 owner, u32 number)
{
	bool asked = false, first = false;
	struct poolmodel *m = model(h);
	struct list *l = &m->active;
	u32 at;

	if (m->looking && owner == m->hand.owner) {
		first = !m->left++;
		asked = m->asking;
	}
	if (m->in_hand && owner == m->hand.owner && number == m->hand.number) {
		m->in_hand = false;
		return;
	}
	at = place_of(l, owner, number);
	if (at == l->nr) {
		l = &m->inactive;
		at = place_of(l, owner, number);
	}
	if (asked && first) {
		l->page[at] = m->hand;
		m->in_hand = false;
		hipec_poolhost_moved(h, owner, m->hand.number, number);
		h->moved++;
		return;
	}
	remove_at(l, at);
	if (l == m->from && at < m->from_at)
		m->from_at--;
}

/* Take the page there in the hand, and try to be rid of it or of another. */
static bool try(struct poolmodel *m, struct list *l, u32 at)
{
	struct hipec_poolhost *h = &m->host;
	struct entry p = remove_at(l, at);
	bool passed = false;

	m->hand = p;
	m->in_hand = true;
	m->from = l;
	m->from_at = at;
	m->left = 0;
	m->looking = true;
	if (!m->awst)
		passed = hipec_poolhost_referenced(h, p.owner, p.number);
	if (!passed && !m->left) {
		m->asking = true;
		hipec_poolhost_ask(h, p.owner, p.number);
		m->asking = false;
		if (!m->left)
			hipec_poolhost_take(h, p.owner, p.number);
	}
	m->looking = false;
	m->from = NULL;
	if (m->in_hand && m->left)
		insert(l, m->from_at, p);
	if (!m->left) {
		enqueue(&m->active, p);
		h->passed++;
	}
	m->in_hand = false;
	return m->left;
}

static void fill(struct poolmodel *m)
{
	u32 both = m->active.nr + m->inactive.nr, target = both * 2 / 3;

	if (both == 1)
		target = 1;
	while (m->inactive.nr < target && m->active.nr) {
		struct entry p = remove_at(&m->active, 0);

		enqueue(&m->inactive, p);
		hipec_poolhost_reset(&m->host, p.owner, p.number);
	}
}

static bool figure_4(struct poolmodel *m)
{
	u32 looks = 2 * (m->active.nr + m->inactive.nr);
	bool freed = false;

	while (!freed && looks--) {
		if (m->inactive.nr == 0)
			fill(m);
		if (m->inactive.nr == 0)
			break;
		freed = try(m, &m->inactive, 0);
	}
	fill(m);
	return freed;
}

static u32 holds(const struct poolmodel *m, u32 owner)
{
	u32 i, nr = 0;

	for (i = 0; i < m->active.nr; i++)
		nr += m->active.page[i].owner == owner;
	return nr;
}

static bool model_is_full(struct hipec_poolhost *h, u32 owner)
{
	struct poolmodel *m = model(h);

	return m->awst && owner < HIPEC_POOL_OWNERS &&
	       holds(m, owner) >= m->max[owner];
}

/* The oldest page that may go; active.nr: there is none. */
static u32 first_that_may(const struct poolmodel *m, bool own, u32 requester)
{
	u32 i;

	for (i = 0; i < m->active.nr; i++) {
		u32 owner = m->active.page[i].owner;

		if (own ? owner == requester : holds(m, owner) > m->min[owner])
			break;
	}
	return i;
}

static bool awst(struct poolmodel *m, u32 requester)
{
	bool own = model_is_full(&m->host, requester);
	u32 looks = own ? holds(m, requester) : m->active.nr;
	u32 at;

	while (looks--) {
		at = first_that_may(m, own, requester);
		if (at == m->active.nr)
			return false;
		if (try(m, &m->active, at))
			return true;
	}
	return false;
}

static bool model_reclaim(struct hipec_poolhost *h, u32 requester)
{
	struct poolmodel *m = model(h);

	h->moved = 0;
	h->passed = 0;
	return m->awst ? awst(m, requester) : figure_4(m);
}

static void model_set_limits(struct hipec_poolhost *h, u32 owner, u32 min,
			     u32 max)
{
	model(h)->min[owner] = min;
	model(h)->max[owner] = max;
}

static void names(const struct list *l, struct hipec_text *out)
{
	u32 i;

	for (i = 0; i < l->nr; i++)
		hipec_pool_name(out, l->page[i].owner, l->page[i].number);
}

static void model_order(struct hipec_poolhost *h, struct hipec_text *out)
{
	struct poolmodel *m = model(h);

	names(&m->active, out);
	if (m->awst)
		return;
	hipec_text_str(out, "| ");
	names(&m->inactive, out);
}

static const struct hipec_pool_manager model_manager = {
	.add = model_add,
	.del = model_del,
	.reclaim = model_reclaim,
	.is_full = model_is_full,
	.set_limits = model_set_limits,
	.order = model_order,
};

struct hipec_poolhost *hipec_poolmodel_new(struct kunit *test, u32 nr,
					   enum hipec_mr_policy policy)
{
	struct poolmodel *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, m);
	hipec_poolhost_init(&m->host, &model_manager);
	m->awst = policy == HIPEC_MR_AWST;
	m->capacity = nr;
	for (i = 0; i < HIPEC_POOL_OWNERS; i++)
		m->max[i] = ~0u;
	return &m->host;
}
