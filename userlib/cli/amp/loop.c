// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples of a container, and what they teach its policy.
 *
 * Interface: loop.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loop.h"
#include "../../lib/hipec.h"
#include "../../sim/feed.h"

#define SEEN_BITS 12		/* pages at first, as a power of two */
#define MOST_SEEN_BITS 22	/* with more of them all are forgotten */
#define LEAST_EVERY 500		/* events of a period */
#define READ_BYTES (64u << 10)

/* Who used a page last. */
struct amp_seen {
	u64 context;
	u32 page;		/* and one; 0: nobody's */
	bool fresh;		/* it came since a bit of it was seen */
};

static struct amp_seen *place_of(struct amp_seen *seen, u32 bits, u32 page)
{
	u32 mask = (1u << bits) - 1, i = amp_hash(page) & mask;

	while (seen[i].page && seen[i].page != page + 1)
		i = (i + 1) & mask;
	return &seen[i];
}

/* Room for twice as many pages, or for all anew. */
static int grow(struct amp_loop *l)
{
	u32 bits = l->seen_bits + 1, i;
	struct amp_seen *seen;

	if (bits > MOST_SEEN_BITS) {
		memset(l->seen, 0, sizeof(*l->seen) << l->seen_bits);
		l->nr_seen = 0;
		return 0;
	}
	seen = calloc((size_t)1 << bits, sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	for (i = 0; i < 1u << l->seen_bits; i++)
		if (l->seen[i].page)
			*place_of(seen, bits, l->seen[i].page - 1) = l->seen[i];
	free(l->seen);
	l->seen = seen;
	l->seen_bits = bits;
	return 0;
}

/* What is known of a page. NULL: there is no memory. */
static struct amp_seen *seen_of(struct amp_loop *l, u32 page)
{
	struct amp_seen *s;

	if (l->nr_seen * 2 >= 1u << l->seen_bits && grow(l))
		return NULL;
	s = place_of(l->seen, l->seen_bits, page);
	l->nr_seen += !s->page;
	s->page = page + 1;
	return s;
}

/*
 * Patterns of the detector, and what was known before where that knows more. Several
 * to a loop that is larger than the memory: it is to be found within its second round.
 */
static void detect(struct amp_loop *l)
{
	l->nr = amp_detect(l->detector, l->pattern, SIM_FEED_MOST);
	sim_feed_hints(l->state.pattern, l->state.nr, l->pattern, &l->nr);
}

static void feed(struct amp_loop *l)
{
	detect(l);
	l->feeds++;
	l->next = l->seq + l->every;
	amp_trial_feed(&l->trial, l->pattern, l->nr);
}

/* What was found is what was known before, from now on. */
static int keep_patterns(struct amp_loop *l)
{
	size_t nr = l->nr < AMP_STATE_MOST ? l->nr : AMP_STATE_MOST;
	struct amp_pattern *p = malloc((nr + 1) * sizeof(*p));

	if (!p)
		return -ENOMEM;
	memcpy(p, l->pattern, nr * sizeof(*p));
	free(l->state.pattern);
	l->state.pattern = p;
	l->state.nr = nr;
	return 0;
}

/* There is a hole in what came: recencies across it are none. */
static int restart(struct amp_loop *l, u64 lost)
{
	struct amp_detector *d;

	l->lost += lost;
	detect(l);
	d = keep_patterns(l) ? NULL : amp_new(&l->params);
	if (!d)
		return -ENOMEM;
	amp_free(l->detector);
	l->detector = d;
	l->restarts++;
	return 0;
}

static int take_access(struct amp_loop *l, const struct hipec_sample_entry *e)
{
	struct amp_seen *s = seen_of(l, e->nr);
	bool missed = e->kind == HIPEC_SAMPLE_FAULT;
	u64 context = e->what;
	int ret;

	if (!s)
		return -ENOMEM;
	l->samples++;
	l->seq = e->more[0] > l->seq ? e->more[0] : l->seq;
	if (e->kind == HIPEC_SAMPLE_HARVEST) {
		context = s->context;
		if (s->fresh) {
			s->fresh = false;
			return 0;
		}
	} else {
		s->context = context;
		s->fresh = true;
	}
	ret = amp_note(l->detector, context, e->nr, l->seq, missed);
	if (ret)
		return ret;
	amp_trial_note(&l->trial, context, e->nr, missed);
	if (l->seq >= l->next)
		feed(l);
	return 0;
}

static int take_point(struct amp_loop *l, const struct hipec_sample_entry *e)
{
	struct amp_story *a;

	if (e->index >= AMP_STATE_POINTS || e->index >= e->nr)
		return 0;
	a = amp_state_story(&l->state, e->what, true);
	if (!a)
		return 0;	/* there is no more room to tell of it */
	a->point[e->index] = (struct amp_point){ e->more[0], e->more[1] };
	if (a->nr <= e->index)
		a->nr = e->index + 1;
	return 0;
}

/* A file, whose text is behind the entry. */
static int take_file(struct amp_loop *l)
{
	const struct hipec_sample_entry *e = l->group;
	const char *text = (const char *)(e + 1);
	struct amp_file *f = amp_state_file(&l->state, e->what, true);

	if (!f)
		return 0;
	f->id_bytes = e->index;
	memcpy(f->id, text, e->index);
	memcpy(f->path, text + e->index, e->nr);
	f->path[e->nr] = 0;
	return 0;
}

static int take_group(struct amp_loop *l)
{
	const struct hipec_sample_entry *e = l->group;

	switch (e->kind) {
	case HIPEC_SAMPLE_FAULT:
	case HIPEC_SAMPLE_SOFT:
	case HIPEC_SAMPLE_HARVEST:
		return take_access(l, e);
	case HIPEC_SAMPLE_LOST:
		return restart(l, e->what);
	case HIPEC_SAMPLE_POINT:
		return take_point(l, e);
	case HIPEC_SAMPLE_FILE:
		return take_file(l);
	}
	return -EINVAL;
}

/* The first entry is there: how many belong to it. 0: it is malformed. */
static u32 entries_of(const struct hipec_sample_entry *e)
{
	if (e->kind != HIPEC_SAMPLE_FILE)
		return 1;
	if (e->index > HIPEC_SAMPLE_MAX_ID || e->nr > HIPEC_SAMPLE_MAX_PATH)
		return 0;
	return 1 + (e->index + e->nr + sizeof(*e) - 1) / sizeof(*e);
}

/**
 * amp_loop_take() - samples
 * @l:     loop
 * @bytes: as a container's descriptor gave them, in their order, cut anywhere
 * @nr:    of them
 *
 * Return: 0; -EINVAL if these are no samples; -ENOMEM.
 */
int amp_loop_take(struct amp_loop *l, const void *bytes, size_t nr)
{
	const char *from = bytes;
	int ret = 0;

	while (nr && !ret) {
		size_t all = (size_t)l->in_group * sizeof(*l->group);
		size_t n = all - l->bytes < nr ? all - l->bytes : nr;

		memcpy((char *)l->group + l->bytes, from, n);
		l->bytes += n;
		from += n;
		nr -= n;
		if (l->bytes < all)
			break;
		if (l->in_group == 1)
			l->in_group = entries_of(l->group);
		if (!l->in_group)
			return -EINVAL;
		if (l->bytes < l->in_group * sizeof(*l->group))
			continue;
		ret = take_group(l);
		l->in_group = 1;
		l->bytes = 0;
	}
	return ret;
}

/* Patterns of another size of memory were not tried in this one. */
static bool is_about(u32 frames, u32 other)
{
	return frames / 4 * 3 <= other && other / 4 * 3 <= frames;
}

static void set_rate(struct amp_loop *l)
{
	l->rate = l->frames > AMP_LOOP_FRAMES ?
		  (double)AMP_LOOP_FRAMES / l->frames : 1;
	l->every = l->frames / 8;
	if (l->every < LEAST_EVERY)
		l->every = LEAST_EVERY;
	if (l->every > SIM_FEED_EVERY && l->rate == 1)
		l->every = SIM_FEED_EVERY;
	else if (l->every > SIM_FEED_EVERY / l->rate)
		l->every = SIM_FEED_EVERY / l->rate;
}

/* At once: all that are on trial, or those that the run before had in use. */
static void feed_hints(struct amp_loop *l, bool used)
{
	const struct amp_story *story;
	size_t i;

	for (i = l->nr = 0; i < l->state.nr; i++) {
		story = amp_state_story(&l->state, l->state.pattern[i].context,
					false);
		if (!used || (story && story->kept))
			l->pattern[l->nr++] = l->state.pattern[i];
	}
	amp_trial_feed(&l->trial, l->pattern, l->nr);
}

/**
 * amp_loop_open() - begin
 * @l:      filled; amp_loop_close() it, also after an error
 * @p:      policy that wants to be fed; it stays
 * @frames: of the container
 * @to:     its arrays
 * @hints:  what the run before has left, or NULL; taken over
 *
 * Hints are fed at once; they are on trial if they did not pay the run before, or if
 * that had another number of frames.
 *
 * Return: 0; -ENOMEM.
 */
int amp_loop_open(struct amp_loop *l, const struct hipec_policy *p, u32 frames,
		  const struct amp_arrays *to, struct amp_state *hints)
{
	struct amp_arrays real = *to;
	bool used;

	*l = (struct amp_loop){ .frames = frames, .to = *to, .fd = -1,
				.seen_bits = SEEN_BITS, .in_group = 1 };
	if (hints) {
		l->state = *hints;
		*hints = (struct amp_state){ 0 };
	}
	used = l->state.used && is_about(l->state.frames, frames);
	set_rate(l);
	l->next = l->every;
	sim_feed_params(AMP_BY_AMP, &l->params);
	l->params.given = l->rate;
	l->detector = amp_new(&l->params);
	l->pattern = calloc(SIM_FEED_MOST, sizeof(*l->pattern));
	l->seen = calloc(1u << SEEN_BITS, sizeof(*l->seen));
	frames = frames * l->rate;
	if (l->rate < 1)
		real.keep = NULL;
	if (amp_trial_open(&l->trial, p, frames ? frames : 1, &real, used,
			   SIM_EXACT) ||
	    !l->detector || !l->pattern || !l->seen)
		return -ENOMEM;
	if (l->state.nr)
		feed_hints(l, used);
	return 0;
}

static int map_arrays(struct amp_loop *l, int device)
{
	int ret = 0, i = 0;

#define X(field, name, n) \
	if (!ret) \
		ret = hipec_shared(device, name, (int64_t **)&l->shared[i].at, \
				   &l->shared[i].nr); \
	l->to.field = l->shared[i++].at;
	AMP_ARRAYS(X)
#undef X
	return ret;
}

static void unmap_arrays(struct amp_loop *l)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(l->shared); i++)
		if (l->shared[i].at)
			munmap(l->shared[i].at, l->shared[i].nr * sizeof(s64));
}

/**
 * amp_loop_attach() - begin with a live container
 * @l:      filled; amp_loop_close() it, also after an error
 * @device: that the policy was loaded with
 * @p:      the policy
 * @frames: of the container
 * @hints:  as amp_loop_open()
 *
 * Return: 0: wait for l->fd; what hipec_sample() and hipec_shared() return; -ENOMEM.
 */
int amp_loop_attach(struct amp_loop *l, int device, const struct hipec_policy *p,
		    u32 frames, struct amp_state *hints)
{
	struct amp_loop arrays = { .fd = -1 };
	int ret = map_arrays(&arrays, device);

	if (ret) {
		unmap_arrays(&arrays);
		*l = (struct amp_loop){ .fd = -1 };
		return ret;
	}
	ret = amp_loop_open(l, p, frames, &arrays.to, hints);
	memcpy(l->shared, arrays.shared, sizeof(l->shared));
	if (ret)
		return ret;
	l->fd = hipec_sample(device, 0, (u64)(l->rate * HIPEC_SAMPLE_ALL), 0);
	if (l->fd < 0)
		return l->fd;
	fcntl(l->fd, F_SETFL, fcntl(l->fd, F_GETFL) | O_NONBLOCK);
	return 0;
}

/**
 * amp_loop_serve() - take what is there
 * @l: attached
 *
 * Context: any; waits for nobody.
 * Return: 0: that is all for now; 1: the container has ended; what read() or
 *         amp_loop_take() said.
 */
int amp_loop_serve(struct amp_loop *l)
{
	static _Thread_local char bytes[READ_BYTES];
	ssize_t n;
	int ret;

	while ((n = read(l->fd, bytes, sizeof(bytes))) > 0) {
		ret = amp_loop_take(l, bytes, n);
		if (ret)
			return ret;
	}
	if (!n)
		return 1;
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

/**
 * amp_loop_state() - what was learnt, in l->state
 * @l: loop, open
 *
 * Return: 0; -ENOMEM.
 */
int amp_loop_state(struct amp_loop *l)
{
	const struct amp_account *account;
	struct amp_story *story;
	size_t i;
	int ret;

	detect(l);
	ret = keep_patterns(l);
	l->state.frames = l->frames;
	l->state.used = l->trial.used;
	for (i = 0; !ret && i < l->state.nr; i++) {
		account = amp_trial_account(&l->trial,
					    l->state.pattern[i].context);
		story = account ? amp_state_story(&l->state, account->context,
						  true) : NULL;
		if (!story)
			continue;
		story->judged = true;
		story->kept = l->trial.used &&
			      amp_feed_part(&l->trial.to, account->context);
		story->faults = account->faults / l->rate;
		story->default_faults = account->default_faults / l->rate;
	}
	return ret;
}

void amp_loop_close(struct amp_loop *l)
{
	if (l->fd >= 0)
		close(l->fd);
	if (l->trial.account)
		amp_trial_close(&l->trial);
	amp_free(l->detector);
	amp_state_free(&l->state);
	free(l->pattern);
	free(l->seen);
	unmap_arrays(l);
}
