// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count a trace's accesses by page, and its reuse distances by time. Both are exact.
 */
#include <errno.h>
#include <stdlib.h>

#include "../trace/reuse.h"
#include "zipf.h"

#define NEXT_RANK(rank) ((rank) + (rank) / 16 + 1)

/* A bit that is drawn for each access. */
static u32 draw_half(u64 access)
{
	u64 z = (access + 1) * 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z >> 63;
}

/* Class of an access whose page lru has with so many frames: the least power of two. */
static u32 class_of(u32 frames)
{
	u32 class = 1;

	while (class < PROFILE_CLASSES - 1 && 1u << (class - 1) < frames)
		class++;
	return class;
}

static void count_accesses(struct profile_pattern *p, const struct profile_map *m,
			   struct trace_stack *stack, struct zipf_page *page)
{
	u64 access = 0;
	size_t n;
	u32 i;

	for (n = 0; n < m->t->nr_runs; n++)
		for (i = 0; i < m->t->run[n].nr; i++, access++) {
			u32 id = trace_id(m->t, m->t->run[n].pgno + i), d = 0, class = 0;

			if (trace_stack_distance(stack, id, &d))
				class = class_of(d + 1);
			p->reuse[access / m->per_bin][class]++;
			if (class >= p->nr_classes)
				p->nr_classes = class + 1;
			page[id].half[draw_half(access)]++;
		}
}

/* @page: most accesses first. */
static void note_ranks(struct profile_pattern *p, const struct zipf_page *page, u32 nr)
{
	u32 i, next = 1;
	u64 sum = 0;

	for (i = 0; i < nr; i++) {
		u32 accesses = page[i].half[0] + page[i].half[1];

		sum += accesses;
		if (i + 1 < next && i + 1 < nr)
			continue;
		p->rank[p->nr_ranks++] = (struct profile_rank){ i + 1, accesses, sum };
		next = NEXT_RANK(i + 1);
	}
}

/**
 * profile_pattern_make() - what a trace does
 * @p: filled; profile_pattern_free() it, also after an error
 * @m: the trace, and its bins, which are of accesses
 *
 * Return: 0; -ENOMEM.
 */
int profile_pattern_make(struct profile_pattern *p, const struct profile_map *m)
{
	struct zipf_page *page = calloc(m->t->nr_pages, sizeof(*page));
	struct trace_stack stack;
	int ret = trace_stack_open(&stack, m->t->nr_pages);

	*p = (struct profile_pattern){ .reuse = calloc(m->nr_bins, sizeof(*p->reuse)) };
	if (!page || !p->reuse)
		ret = -ENOMEM;
	if (!ret) {
		count_accesses(p, m, &stack, page);
		zipf_fit(&p->zipf, page, m->t->nr_pages);
		note_ranks(p, page, m->t->nr_pages);
	}
	trace_stack_close(&stack);
	free(page);
	return ret;
}

void profile_pattern_free(struct profile_pattern *p)
{
	free(p->reuse);
}
