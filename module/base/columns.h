/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Columns: tables with a row for each entry of a container's page table, which get longer, and
 * shorter, while they are used.
 */
#ifndef HIPEC_BASE_COLUMNS_H
#define HIPEC_BASE_COLUMNS_H

#include <linux/seqlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "../vm/vm.h"

struct hipec_container;
struct mem_cgroup;
struct page;

/* Data with a row for each entry of the page table, and for entry 0. */
enum hipec_column_of {
	HIPEC_COLUMN_PAGE,
	HIPEC_COLUMN_BUCKET,
	HIPEC_COLUMN_FIELD,
	HIPEC_COLUMN_NODE,
	HIPEC_COLUMN_OWN,	/* the host's own */
	HIPEC_COLUMN_POOL,	/* the pool's numbers of pages */
	HIPEC_NR_COLUMNS,
};

/* One of them: @size bytes a row, 0 if there is none; @nr pages, mapped at @at. */
struct hipec_column {
	size_t size;
	unsigned long nr;
	struct page **page;
	void *at;
};

/**
 * struct hipec_columns - the columns, which have as many rows
 * @nr:    entries that there are rows for
 * @most:  entries that there may be
 * @mark:  when an entry behind this one is used, it is time to have more
 * @uncharged: no cgroup is charged
 * @memcg: the one that is
 * @column: each
 */
struct hipec_columns {
	u32 nr, most, mark;
	bool uncharged;
	struct mem_cgroup *memcg;
	struct hipec_column column[HIPEC_NR_COLUMNS];
};

/**
 * struct hipec_placed - where the page table is, for those who look without the lock
 * @seq:    it changes
 * @page:   entries
 * @bucket: buckets
 * @nr:     entries that there are rows for
 *
 * Rows that were placed stay for a grace period of RCU after they were replaced.
 */
struct hipec_placed {
	seqcount_t seq;
	const struct hipec_page *page;
	const u32 *bucket;
	u32 nr;
};

struct hipec_columns_gone;

/* Ticks for which memory that there was not is not asked for again. */
#define HIPEC_GROW_PAUSE (HZ / 10)
u32 hipec_columns_next(const struct hipec_columns *t);
int hipec_columns_make(struct hipec_columns *t, const struct hipec_policy *p, size_t own,
		       bool shares, u32 most, u32 least);
u64 hipec_columns_bytes(const struct hipec_policy *p, size_t own, u32 entries);
int hipec_columns_resize(const struct hipec_columns *old, struct hipec_columns *new, u32 entries);
void hipec_columns_drop(struct hipec_columns *new, const struct hipec_columns *old);
void hipec_columns_replaced(struct hipec_columns *old);
void hipec_columns_free(struct hipec_columns *t);
void hipec_columns_end(struct hipec_container *c);
void hipec_columns_place(struct hipec_vm *vm, const struct hipec_columns *t);
void hipec_columns_use(struct hipec_container *c);
void hipec_columns_work(struct work_struct *work);
void hipec_columns_hold(struct hipec_container *c);
void hipec_columns_cut(struct hipec_container *c);
void __hipec_columns_want(struct hipec_container *c);

#endif /* HIPEC_BASE_COLUMNS_H */
