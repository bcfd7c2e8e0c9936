// SPDX-License-Identifier: GPL-2.0-only
/*
 * A detector beside a simulation. The simulator sees each access, so the detector
 * does, whatever the mode.
 *
 * Interface: feed.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "trial.h"
#include "feed.h"

/*
 * Recency lists go on from one period to the next: loops may be longer than these.
 * Measured on the traces of bench/amp/programs, with amp.hp against arc.hp: every 5,000
 * accesses and ripe after 5,000 was best; every 20,000 was 6 % worse, without
 * ripeness 4 %; @horizon and @least hardly matter.
 */
void sim_feed_params(enum amp_method method, struct amp_params *p)
{
	amp_params_init(p);
	p->method = method;
	p->form = AMP_EXPONENTIAL;
	p->merge = true;
	p->most = 2048;
	p->least = 32;
	p->ripe = SIM_FEED_EVERY;
	p->contexts = SIM_FEED_MOST;
}

/* Whether what is found must prove itself: the paper's own is compared without. */
static bool is_guarded(const struct sim_feed_job *job)
{
	return job->method == AMP_BY_AMP && !job->unguarded;
}

static void feed(struct sim_feed *f, const struct amp_pattern *p, size_t nr)
{
	f->fed++;
	if (f->trial)
		amp_trial_feed(f->trial, p, nr);
	else
		amp_feed(&f->to, p, nr);
}

/**
 * sim_feed_begin() - begin to feed a machine
 * @f:  with its job; sim_feed_free() it, also after an error
 * @vm: of a policy that wants it, before its first event
 * @frames: of the machine
 *
 * Hints are fed at once.
 *
 * Return: 0; -ENOMEM.
 */
int sim_feed_begin(struct sim_feed *f, struct hipec_vm *vm, u32 frames)
{
	struct amp_params params;

	sim_feed_params(f->job->method, &params);
	f->every = f->job->every ? f->job->every : SIM_FEED_EVERY;
	sim_feed_arrays(&f->to, vm);
	f->detector = amp_new(&params);
	f->pattern = calloc(SIM_FEED_MOST, sizeof(*f->pattern));
	f->next = f->every;
	if (!f->detector || !f->pattern)
		return -ENOMEM;
	if (is_guarded(f->job)) {
		f->trial = malloc(sizeof(*f->trial));
		if (!f->trial ||
		    amp_trial_open(f->trial, vm->policy, frames, &f->to,
				   f->job->nr_hints, sim_of(vm)->mode))
			return -ENOMEM;
	}
	if (f->job->nr_hints)
		feed(f, f->job->hints, f->job->nr_hints);
	return 0;
}

/*
 * Whether a hint knows better than the detector: until that has seen as much. A loop's
 * first round looks as if there were no other.
 */
static bool knows_better(const struct amp_pattern *hint,
			 const struct amp_pattern *p)
{
	return !p->known || (hint->kind == AMP_LOOPING &&
			     p->kind == AMP_ONE_SHOT &&
			     p->accesses <= 2 * hint->loop_size);
}

/*
 * sim_feed_hints() - what was known before -> patterns, where these know less
 * @p: SIM_FEED_MOST, *@n of them used
 */
void sim_feed_hints(const struct amp_pattern *hint, size_t nr,
		    struct amp_pattern *p, size_t *n)
{
	size_t j;

	for (; nr--; hint++) {
		for (j = 0; j < *n; j++)
			if (p[j].context == hint->context)
				break;
		if (j == SIM_FEED_MOST || (j < *n && !knows_better(hint, &p[j])))
			continue;
		p[j] = *hint;
		*n += j == *n;
	}
}

static void add_hints(struct sim_feed *f)
{
	sim_feed_hints(f->job->hints, f->job->nr_hints, f->pattern, &f->nr);
}

static void detect(struct sim_feed *f)
{
	f->nr = amp_detect(f->detector, f->pattern, SIM_FEED_MOST);
	add_hints(f);
	feed(f, f->pattern, f->nr);
}

/* An access, as amp_note(); the period may end with it. */
int sim_feed_note(struct sim_feed *f, u64 context, u32 pgno, u64 seq,
		  bool missed)
{
	int ret = amp_note(f->detector, context, pgno, seq, missed);

	if (ret)
		return ret;
	if (f->trial)
		amp_trial_note(f->trial, context, pgno, missed);
	if (seq >= f->next) {
		f->next += f->every;
		detect(f);
	}
	return 0;
}

/* The run is over: its patterns stay, for who asks. */
void sim_feed_end(struct sim_feed *f)
{
	f->nr = amp_detect(f->detector, f->pattern, SIM_FEED_MOST);
	add_hints(f);
	amp_free(f->detector);
	f->detector = NULL;
}

void sim_feed_free(struct sim_feed *f)
{
	amp_free(f->detector);
	free(f->pattern);
	if (f->trial)
		amp_trial_close(f->trial);
	free(f->trial);
	*f = (struct sim_feed){ .job = f->job };
}
