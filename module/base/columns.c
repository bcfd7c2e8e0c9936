// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a container has of each entry of its page table: a column for each kind of data,
 * with a row for each entry. Those of the page cache begin short and grow with what is
 * used, so a load takes no longer, and a container no more memory, for a budget that is
 * not used yet.
 *
 * Nothing is copied to grow: the pages that are there are mapped anew, with more of them
 * behind, and from the next miss on the columns are in their new place. A worker maps them
 * before all rows are used; a miss that needs one sooner waits for it. It needs no lock of
 * the container's for that, as rows that were never used are zeros.
 *
 * They get shorter in the same way, once pages have moved from their end (vm/compact.c).
 *
 * Who looks a page up without the container's lock (hipec_columns_peek()) is a reader of
 * RCU: what the columns were mapped in before is unmapped after a grace period, by a worker.
 *
 * Owns c->columns, c->grown and c->grow.
 *
 * Interface:
 * hipec_columns_make(), _free(), _end()
 * hipec_columns_resize()   there are rows for more entries, or fewer
 * hipec_columns_place(), _use()  a machine finds them; and so does all of a container
 * hipec_columns_peek()     the entry of a page, without the lock
 * hipec_columns_want()     an entry is about to be used for which there may be no row yet
 * hipec_columns_hold()     nothing grows beside the caller
 * hipec_columns_cut()      rows behind the last entry that is used are given back
 * hipec_columns_work()     the worker
 */
#include <linux/jiffies.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "base.h"

/* Rows that columns which grow begin with: those of a page of buckets. */
#define BEGIN 1023

/* They grow by a part of what they have, and by so many at least. */
#define ONE_OF 64
#define LEAST 512

static u32 growth_step(u32 nr)
{
	return max_t(u32, nr / ONE_OF, LEAST);
}

/* Entries that columns are to have next. */
u32 hipec_columns_next(const struct hipec_columns *t)
{
	return min_t(u64, (u64)t->nr + growth_step(t->nr), t->most);
}

/* Pages of a column with rows of @size bytes, for @nr entries and entry 0. */
static unsigned long nr_pages(size_t size, u32 nr)
{
	return DIV_ROUND_UP_ULL((nr + 1ull) * size, PAGE_SIZE);
}

static void unmap_column(struct hipec_column *t)
{
	vunmap(t->at);
	kvfree(t->page);
	*t = (struct hipec_column){ .size = t->size };
}

/* Free what @t has behind the first @from pages, and its mapping. */
static void truncate_column(struct hipec_column *t, unsigned long from)
{
	unsigned long i;

	for (i = from; i < t->nr; i++)
		__free_page(t->page[i]);
	unmap_column(t);
}

/* As @old, without its last pages or with zeros behind them; the other pages are shared. */
static int map_anew(const struct hipec_column *old, struct hipec_column *new, u32 entries,
		    gfp_t gfp)
{
	unsigned long nr = nr_pages(old->size, entries), both = min(nr, old->nr);

	*new = (struct hipec_column){ .size = old->size };
	new->page = kvmalloc_array(nr, sizeof(*new->page), gfp);
	if (!new->page)
		return -ENOMEM;
	if (both)
		memcpy(new->page, old->page, both * sizeof(*new->page));
	for (new->nr = both; new->nr < nr; new->nr++) {
		new->page[new->nr] = alloc_page(gfp | __GFP_ZERO | __GFP_HIGHMEM);
		if (!new->page[new->nr])
			goto none;
		cond_resched();
	}
	new->at = vmap(new->page, nr, VM_MAP, PAGE_KERNEL);
	if (new->at)
		return 0;
none:
	truncate_column(new, old->nr);
	return -ENOMEM;
}

/**
 * hipec_columns_resize() - make columns for more entries, or for fewer
 * @old:     columns; not changed
 * @new:     gets them: they have the same pages and more, or the first ones
 * @entries: that they are for
 *
 * The caller puts @new in the place of @old and calls hipec_columns_replaced() for @old, or
 * calls hipec_columns_drop() for @new.
 *
 * Context: process context, may sleep; nobody else changes @old meanwhile.
 * Return: 0; -ENOMEM, and there is nothing to free.
 */
int hipec_columns_resize(const struct hipec_columns *old, struct hipec_columns *new, u32 entries)
{
	gfp_t gfp = GFP_KERNEL | (old->uncharged ? 0 : __GFP_ACCOUNT) | __GFP_RETRY_MAYFAIL |
		    __GFP_NOWARN;
	struct mem_cgroup *before = set_active_memcg(old->memcg);
	int ret = 0, i;

	*new = (struct hipec_columns){
		.nr = entries, .most = old->most, .uncharged = old->uncharged, .memcg = old->memcg,
	};
	for (i = 0; i < HIPEC_NR_COLUMNS && !ret; i++)
		if (old->column[i].size)
			ret = map_anew(&old->column[i], &new->column[i], entries, gfp);
	set_active_memcg(before);
	if (ret)
		hipec_columns_drop(new, old);
	new->mark = entries < new->most ? entries - growth_step(entries) / 2 : U32_MAX;
	return ret;
}

/* Free what @new has and @old has not. Context: may sleep. */
void hipec_columns_drop(struct hipec_columns *new, const struct hipec_columns *old)
{
	int i;

	for (i = 0; i < HIPEC_NR_COLUMNS; i++)
		truncate_column(&new->column[i], old->column[i].nr);
	new->nr = 0;
}

/* Others have its pages now. Context: may sleep. */
void hipec_columns_replaced(struct hipec_columns *old)
{
	int i;

	for (i = 0; i < HIPEC_NR_COLUMNS; i++)
		unmap_column(&old->column[i]);
	old->nr = 0;
}

/* Columns without rows, for policy @p and rows of @own bytes of the host's. */
static struct hipec_columns no_rows(const struct hipec_policy *p, size_t own, bool shares)
{
	return (struct hipec_columns){
		.column = {
			[HIPEC_COLUMN_PAGE].size = sizeof(struct hipec_page),
			[HIPEC_COLUMN_BUCKET].size = sizeof(u32),
			[HIPEC_COLUMN_FIELD].size = p->nr_fields * sizeof(s64),
			[HIPEC_COLUMN_NODE].size = p->ordered ? sizeof(struct hipec_node) : 0,
			[HIPEC_COLUMN_OWN].size = own,
			[HIPEC_COLUMN_POOL].size = shares ? sizeof(u32) : 0,
		},
	};
}

/**
 * hipec_columns_make() - the first columns
 * @t:      zeros, or with the cgroup that is charged in @t->memcg
 * @p:      policy, for its fields and ordered queues
 * @own:    bytes of a row of the host's own column
 * @shares: it has one more, of the pool's
 * @most:   entries at most
 * @least:  entries to begin with; 0: they grow
 *
 * Context: process context, may sleep.
 * Return: 0; -ENOMEM, and there is nothing to free.
 */
int hipec_columns_make(struct hipec_columns *t, const struct hipec_policy *p, size_t own,
		       bool shares, u32 most, u32 least)
{
	struct hipec_columns none = no_rows(p, own, shares);

	none.memcg = t->memcg;
	none.most = most;
	return hipec_columns_resize(&none, t, least ?: min_t(u32, most, BEGIN));
}

/* Bytes that columns for @entries take, of a container that does not share. */
u64 hipec_columns_bytes(const struct hipec_policy *p, size_t own, u32 entries)
{
	const struct hipec_columns none = no_rows(p, own, false);
	u64 bytes = 0;
	int i;

	for (i = 0; i < HIPEC_NR_COLUMNS; i++)
		bytes += (u64)nr_pages(none.column[i].size, entries) << PAGE_SHIFT;
	return bytes;
}

/* Context: process context, may sleep; nobody uses them. */
void hipec_columns_free(struct hipec_columns *t)
{
	const struct hipec_columns none = { 0 };

	hipec_columns_drop(t, &none);
}

/* Those of a container that nobody uses. Context: process context, sleeps. */
void hipec_columns_end(struct hipec_container *c)
{
	cancel_work_sync(&c->grow);
	if (c->grown.nr) {
		hipec_columns_drop(&c->grown, &c->columns);
		kfree(c->gone);
	}
	hipec_columns_free(&c->columns);
	mem_cgroup_put(c->columns.memcg);
	c->columns = (struct hipec_columns){ 0 };
}

/**
 * hipec_columns_place() - a machine finds its columns
 * @vm: of hipec_vm_init_apart(), or one whose columns have grown
 * @t:  its columns
 *
 * Context: of a container's machine, expects c->lock, and no event under way.
 */
void hipec_columns_place(struct hipec_vm *vm, const struct hipec_columns *t)
{
	vm->page = t->column[HIPEC_COLUMN_PAGE].at;
	vm->bucket = t->column[HIPEC_COLUMN_BUCKET].at;
	vm->field = t->column[HIPEC_COLUMN_FIELD].at;
	vm->node = t->column[HIPEC_COLUMN_NODE].at;
	vm->nr_there = t->nr;
}

/* Those who look without the lock find them. */
static void publish_columns(struct hipec_container *c)
{
	preempt_disable();
	raw_write_seqcount_begin(&c->placed.seq);
	WRITE_ONCE(c->placed.page, c->core.vm.page);
	WRITE_ONCE(c->placed.bucket, c->core.vm.bucket);
	WRITE_ONCE(c->placed.nr, c->columns.nr);
	raw_write_seqcount_end(&c->placed.seq);
	preempt_enable();
}

/* A container uses the columns that it has. Context: expects c->lock, and no event under way. */
void hipec_columns_use(struct hipec_container *c)
{
	hipec_columns_place(&c->core.vm, &c->columns);
	publish_columns(c);
	c->core.in_pool = c->columns.column[HIPEC_COLUMN_POOL].at;
	c->host->place(c, c->columns.column[HIPEC_COLUMN_OWN].at);
}

/* Columns that others have taken the place of, which have the first @kept pages of each. */
struct hipec_columns_gone {
	struct rcu_work work;
	struct hipec_columns columns;
	unsigned long kept[HIPEC_NR_COLUMNS];
};

static void take_away(struct work_struct *work)
{
	struct hipec_columns_gone *gone = container_of(to_rcu_work(work),
						       struct hipec_columns_gone, work);
	int i;

	for (i = 0; i < HIPEC_NR_COLUMNS; i++)
		truncate_column(&gone->columns.column[i], gone->kept[i]);
	kfree(gone);
}

/* @new is in the place of @c's columns; @gone takes these away. Context: expects c->lock. */
static void put_in_place(struct hipec_container *c, const struct hipec_columns *new,
			 struct hipec_columns_gone *gone)
{
	int i;

	gone->columns = c->columns;
	for (i = 0; i < HIPEC_NR_COLUMNS; i++)
		gone->kept[i] = min(c->columns.column[i].nr, new->column[i].nr);
	c->columns = *new;
	hipec_columns_use(c);
	queue_rcu_work(hipec_grow_wq, &gone->work);
}

/* What the worker made, if it did, is put in place. Context: as hipec_columns_use(). */
static void take_grown(struct hipec_container *c)
{
	if (!smp_load_acquire(&c->grown.nr))
		return;
	put_in_place(c, &c->grown, c->gone);
	smp_store_release(&c->grown.nr, 0);
}

/*
 * Rows for more entries, put aside in c->grown. A task that waits for them holds c->lock: so
 * this takes no lock, and does not wait for I/O.
 */
void hipec_columns_work(struct work_struct *work)
{
	struct hipec_container *c = container_of(work, struct hipec_container, grow);
	const struct hipec_columns *old = &c->columns;
	struct hipec_columns_gone *gone;
	struct hipec_columns new;
	unsigned int noio;
	u32 nr;

	/* Nobody changes c->columns before this has put something there. */
	if (smp_load_acquire(&c->grown.nr))
		return;
	noio = memalloc_noio_save();
	gone = kmalloc(sizeof(*gone), GFP_KERNEL | __GFP_NOWARN);
	if (!gone || hipec_columns_resize(old, &new, hipec_columns_next(old))) {
		kfree(gone);
		WRITE_ONCE(c->grow_again, jiffies + HIPEC_GROW_PAUSE);
	} else {
		INIT_RCU_WORK(&gone->work, take_away);
		c->gone = gone;
		nr = new.nr;
		new.nr = 0;
		c->grown = new;
		smp_store_release(&c->grown.nr, nr);
	}
	memalloc_noio_restore(noio);
}

/**
 * __hipec_columns_want() - an entry is about to be used that is among the last ones
 * @c: container
 *
 * Of hipec_columns_want().
 *
 * Context: expects c->lock, and no event under way; may sleep.
 */
void __hipec_columns_want(struct hipec_container *c)
{
	take_grown(c);
	if (hipec_page_next_unused(&c->core.vm) <= c->columns.mark)
		return;
	if (time_before(jiffies, READ_ONCE(c->grow_again)))
		return;
	queue_work(hipec_grow_wq, &c->grow);
	if (hipec_page_next_unused(&c->core.vm) <= c->columns.nr)
		return;
	flush_work(&c->grow);
	take_grown(c);
}

/**
 * hipec_columns_hold() - nothing grows beside the caller
 * @c: container; its columns may have been put in another place
 *
 * Context: expects c->lock, and no event under way; may sleep. Until it is dropped.
 */
void hipec_columns_hold(struct hipec_container *c)
{
	flush_work(&c->grow);
	take_grown(c);
}

/**
 * hipec_columns_cut() - give back what is behind the entries that are used
 * @c: container in place, for which hipec_columns_hold() was called
 *
 * But for what columns grow by. Where there is no memory for that, they stay as they are.
 *
 * Context: expects c->lock, and no event under way; may sleep.
 */
void hipec_columns_cut(struct hipec_container *c)
{
	u32 nr = max_t(u32, c->core.vm.reached, BEGIN);
	unsigned int noio = memalloc_noio_save();
	struct hipec_columns_gone *gone;
	struct hipec_columns new;

	nr += growth_step(nr);
	if (nr >= c->columns.nr)
		goto out;
	gone = kmalloc(sizeof(*gone), GFP_KERNEL | __GFP_NOWARN);
	if (!gone || hipec_columns_resize(&c->columns, &new, nr)) {
		kfree(gone);
		goto out;
	}
	INIT_RCU_WORK(&gone->work, take_away);
	put_in_place(c, &new, gone);
out:
	memalloc_noio_restore(noio);
}
