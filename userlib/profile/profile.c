// SPDX-License-Identifier: GPL-2.0-only
/*
 * Note what a run does, by time and by pages. Memory does not depend on how long
 * it is: 240 bins of at most 65 bands, and the sum of faults in a sixteenth of a bin.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "../sim/mixpool.h"
#include "profile.h"

#define GAP 64	/* pages that nobody touches: worth a cut */

/* Where bands have to end: in front of a page, of a rank among those touched. */
struct cuts {
	u32 rank[PROFILE_BREAKS + 1];
	u32 weight[PROFILE_BREAKS + 1];
	u32 nr;
};

static int by_number(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* Keep the cuts of most weight, in their order. */
static void add_cut(struct cuts *c, u32 rank, u32 weight)
{
	u32 least = 0, i;

	c->rank[c->nr] = rank;
	c->weight[c->nr++] = weight;
	if (c->nr <= PROFILE_BREAKS)
		return;
	for (i = 1; i < c->nr; i++)
		if (c->weight[i] <= c->weight[least])
			least = i;
	c->nr--;
	for (i = least; i < c->nr; i++) {
		c->rank[i] = c->rank[i + 1];
		c->weight[i] = c->weight[i + 1];
	}
}

/* @page ascending: at large gaps, and rather still between files. */
static void find_cuts(struct cuts *c, const struct trace *t,
		      const u32 *page)
{
	u32 i, region = 0;

	for (i = 1; i < t->nr_pages; i++) {
		u32 gap = page[i] - page[i - 1];

		while (region < t->nr_regions &&
		       t->region[region].pgno <= page[i - 1])
			region++;
		if (region < t->nr_regions && t->region[region].pgno <= page[i])
			add_cut(c, i, UINT32_MAX);
		else if (gap > GAP)
			add_cut(c, i, gap);
	}
}

/* Pages of ranks from @rank up to @end, @width at a time. */
static void add_bands(struct profile_map *m, const u32 *page, u32 rank, u32 end,
		      u32 width)
{
	u32 nr;

	for (; rank < end; rank += nr) {
		nr = end - rank < width ? end - rank : width;
		m->band[m->nr_bands++] = (struct profile_band){
			.first = page[rank], .last = page[rank + nr - 1],
			.nr = nr,
		};
	}
}

/* The band of a page; of one that is in none the one below, or the first. */
static u32 band_of(const struct profile_map *m, u32 pgno)
{
	u32 low = 0, high = m->nr_bands;

	while (high - low > 1) {
		u32 mid = (low + high) / 2;

		if (m->band[mid].first <= pgno)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/**
 * profile_map_make() - cut a trace's time and pages up
 * @m: filled; profile_map_free() it, also after an error
 * @t: trace, of one access at least
 *
 * Return: 0; -ENOMEM.
 */
int profile_map_make(struct profile_map *m, const struct trace *t)
{
	u32 *page = malloc((size_t)t->nr_pages * sizeof(*page));
	struct cuts cuts = { .nr = 0 };
	u32 i, nr = 0, rank = 0, width = 1;

	*m = (struct profile_map){
		.t = t,
		.per_bin = (t->nr_accesses + PROFILE_BINS - 1) / PROFILE_BINS,
		.band_of = malloc(t->nr_pages),
	};
	if (!page || !m->band_of) {
		free(page);
		return -ENOMEM;
	}
	m->nr_bins = (t->nr_accesses + m->per_bin - 1) / m->per_bin;
	m->per_fine = (m->per_bin + PROFILE_FINE - 1) / PROFILE_FINE;
	m->nr_fine = (t->nr_accesses + m->per_fine - 1) / m->per_fine;
	for (i = 0; i < 1u << t->bits; i++)
		if (t->page[i].id)
			page[nr++] = t->page[i].pgno;
	qsort(page, nr, sizeof(*page), by_number);
	find_cuts(&cuts, t, page);
	while ((u64)width * PROFILE_BANDS < nr)
		width *= 2;
	for (i = 0; i < cuts.nr; i++) {
		add_bands(m, page, rank, cuts.rank[i], width);
		rank = cuts.rank[i];
	}
	add_bands(m, page, rank, nr, width);
	for (i = 0; i < nr; i++)
		m->band_of[trace_id(t, page[i])] = band_of(m, page[i]);
	free(page);
	return 0;
}

/**
 * profile_map_clock() - let time be that of a clock
 * @m:       made
 * @elapsed: ns
 */
void profile_map_clock(struct profile_map *m, u64 elapsed)
{
	m->clock = true;
	m->per_bin = elapsed / PROFILE_BINS + 1;
	m->nr_bins = elapsed / m->per_bin + 1;
	m->nr_fine = 0;
}

void profile_map_free(struct profile_map *m)
{
	free(m->band_of);
}

/* Pages of a queue, or of all queues of an array. */
static u32 queue_length(const struct hipec_vm *vm, u32 slot)
{
	const struct hipec_array *a;
	u32 i, n = 0;

	if (vm->policy->operand[slot].type == HIPEC_TYPE_QUEUE)
		return vm->queue[vm->slot[slot]].count;
	a = &vm->array[vm->slot[slot]];
	for (i = 0; i < a->nr; i++)
		n += vm->queue[a->first + i].count;
	return n;
}

static void look_at_queues(struct profile *p, const struct hipec_vm *vm)
{
	u32 i;

	p->now_length[0] = vm->queue[HIPEC_QUEUE_FALLBACK].count;
	for (i = 1; i < p->nr_queues; i++)
		p->now_length[i] = queue_length(vm, p->queue[i]);
	for (i = 0; i < p->nr_counters; i++)
		p->now_value[i] = vm->slot[p->counter[i]];
}

/* Nothing changes any more before the bins that end at access, or time, @done. */
static void close_bins(struct profile *p, u64 done)
{
	u64 per_bin = p->map->per_bin;

	for (; p->nr_closed < p->map->nr_bins &&
	       (p->nr_closed + 1) * per_bin <= done; p->nr_closed++) {
		memcpy(p->resident[p->nr_closed], p->now_resident,
		       sizeof(p->now_resident));
		memcpy(p->length[p->nr_closed], p->now_length,
		       sizeof(p->now_length));
		memcpy(p->value[p->nr_closed], p->now_value,
		       sizeof(p->now_value));
		p->held[p->nr_closed] = p->now_held;
	}
}

/* At the access behind @done others; bins before it are closed. */
static void note_fault(struct profile *p, u32 band, u64 done)
{
	p->faults[p->nr_closed][band]++;
	if (p->map->nr_fine)
		p->fine[done / p->map->per_fine]++;
}

static struct profile *profile_of(struct sim_watch *w)
{
	static_assert(!offsetof(struct profile, watch), "watch comes first");
	return (struct profile *)w;
}

/* Behind the last access nobody is called: so all that is in it is looked at. */
static void look_if_last(struct profile *p, const struct sim *s)
{
	if (!p->map->clock && s->nr_accesses == p->map->t->nr_accesses)
		look_at_queues(p, &s->core.vm);
}

static void on_access(struct sim_watch *w, const struct sim *s, u32 pgno,
		      bool write, enum sim_touch touch)
{
	struct profile *p = profile_of(w);
	u64 done = s->nr_accesses - 1;

	(void)write;
	if (!p->map->clock && done % p->map->per_bin == 0) {
		look_at_queues(p, &s->core.vm);
		close_bins(p, done);
	}
	p->fetched = touch == SIM_FIRST;
	if (touch == SIM_FAULT || touch == SIM_FIRST)
		note_fault(p, band_of(p->map, pgno), done);
	look_if_last(p, s);
}

/* It has nothing before its start and behind its end. */
static void on_moment(struct sim_watch *w, const struct sim *s, u64 at)
{
	struct profile *p = profile_of(w);

	if (s) {
		look_at_queues(p, &s->core.vm);
		p->now_held = hipec_core_held(&s->core);
	} else {
		memset(p->now_resident, 0, sizeof(p->now_resident));
		memset(p->now_length, 0, sizeof(p->now_length));
		memset(p->now_value, 0, sizeof(p->now_value));
		p->now_held = 0;
	}
	close_bins(p, at);
}

static void on_event(struct sim_watch *w, const struct sim *s, u32 event,
		     bool begins)
{
	struct profile *p = profile_of(w);

	if (begins)
		p->runs[p->policy->index[event] - 1]++;
	else
		look_if_last(p, s);
}

static void on_page(struct sim_watch *w, const struct sim *s, u32 h,
		    enum sim_fate fate)
{
	struct profile *p = profile_of(w);
	u32 *nr = &p->now_resident[band_of(p->map, s->core.vm.page[h].pgno)];

	switch (fate) {
	case SIM_PAGE_CAME:
		*nr += !p->fetched;
		look_if_last(p, s);
		break;
	case SIM_PAGE_FETCHED:
		++*nr;
		break;
	case SIM_PAGE_FREED:
	case SIM_PAGE_RELEASED:
	case SIM_PAGE_FORGOTTEN:
	case SIM_PAGE_TAKEN:
	case SIM_PAGE_DROPPED:
		--*nr;
		break;
	case SIM_PAGE_FLUSHED:
	case SIM_PAGE_WRITTEN:
		break;
	}
}

static void on_command(struct sim_watch *w, const struct sim *s,
		       const struct sim_command *c)
{
	(void)s;
	profile_of(w)->commands[c->word]++;
}

/* A reference tells of pages by their ids. */
static void on_tell(struct sim_teller *teller, u64 access, u32 id,
		    enum sim_tell what)
{
	struct profile *p = (struct profile *)((char *)teller -
					       offsetof(struct profile, teller));
	u32 band = p->map->band_of[id];

	close_bins(p, access - 1);
	if (what == SIM_TELL_FAULT)
		note_fault(p, band, access - 1);
	else
		p->now_resident[band] += what == SIM_TELL_IN ? 1 : -1;
}

static void find_queues(struct profile *p)
{
	const struct hipec_policy *policy = p->policy;
	u32 i;

	p->nr_queues = 1;
	for (i = HIPEC_SLOT_FREE_COUNT; i < policy->image->nr_operands &&
	     p->nr_queues < PROFILE_MAX_QUEUES; i++)
		if (policy->operand[i].type == HIPEC_TYPE_QUEUE ||
		    policy->operand[i].type == HIPEC_TYPE_QUEUES)
			p->queue[p->nr_queues++] = i;
}

/* Whether @name is one of @list, whose parts are cut by commas and may have a *. */
static bool is_listed(const char *list, const char *name)
{
	char part[128];
	size_t n;

	for (; *list; list += list[n] ? n + 1 : n) {
		n = strcspn(list, ",");
		if (n < sizeof(part)) {
			memcpy(part, list, n);
			part[n] = 0;
			if (!fnmatch(part, name, 0))
				return true;
		}
	}
	return false;
}

/**
 * profile_counters() - which of a policy's counters are looked at
 * @p:    of profile_begin(), before its run
 * @list: of names with commas between them; * and ? stand for what they do in a shell
 */
void profile_counters(struct profile *p, const char *list)
{
	const struct hipec_policy *policy = p->policy;
	u32 i;

	p->nr_counters = 0;
	for (i = 0; policy && i < policy->image->nr_operands &&
	     p->nr_counters < PROFILE_MAX_COUNTERS; i++)
		if (policy->operand[i].flags & HIPEC_OPERAND_COUNTER &&
		    is_listed(list, hipec_image_policy_name(policy, policy->operand[i].name)))
			p->counter[p->nr_counters++] = i;
}

/**
 * profile_begin() - be ready to watch a run
 * @p:   filled; profile_free() it, also after an error
 * @m:   of the trace; must outlive @p
 * @row: that is to run, and gets @p to watch it; must outlive @p
 *
 * Return: 0; -ENOMEM.
 */
int profile_begin(struct profile *p, const struct profile_map *m,
		  struct sim_row *row)
{
	const struct policy *policy = row->policy;

	*p = (struct profile){
		.watch = { .access = on_access, .event = on_event,
			   .page = on_page, .command = on_command,
			   .moment = on_moment },
		.teller.tell = on_tell,
		.map = m,
		.row = row,
		.policy = policy->reference ? NULL : &policy->policy,
		.faults = calloc(m->nr_bins, sizeof(*p->faults)),
		.resident = calloc(m->nr_bins, sizeof(*p->resident)),
		.fine = calloc(m->nr_fine + 1, sizeof(*p->fine)),
		.length = calloc(m->nr_bins, sizeof(*p->length)),
		.value = calloc(m->nr_bins, sizeof(*p->value)),
		.held = calloc(m->nr_bins, sizeof(*p->held)),
	};
	row->watch = &p->watch;
	row->teller = &p->teller;
	if (p->policy) {
		find_queues(p);
		profile_counters(p, PROFILE_COUNTERS);
		p->commands = calloc(p->policy->image->nr_words + 1,
				     sizeof(*p->commands));
		p->runs = calloc(p->policy->image->nr_events + 1,
				 sizeof(*p->runs));
		if (!p->commands || !p->runs)
			return -ENOMEM;
	}
	return p->faults && p->resident && p->fine && p->length && p->value &&
	       p->held ? 0 : -ENOMEM;
}

/* The run is over. */
void profile_end(struct profile *p)
{
	u64 end = p->map->nr_bins * p->map->per_bin;

	if (p->map->clock)
		on_moment(&p->watch, NULL, end);
	else
		close_bins(p, end);
}

void profile_free(struct profile *p)
{
	free(p->faults);
	free(p->resident);
	free(p->fine);
	free(p->length);
	free(p->value);
	free(p->held);
	free(p->commands);
	free(p->runs);
}
