// SPDX-License-Identifier: GPL-2.0-only
/*
 * A detector beside a simulation. The simulator sees each access, so the detector
 * does, whatever the mode.
 *
 * Interface: simfeed.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "simfeed.h"

/*
 * Recency lists go on from one period to the next: loops may be longer than these.
 * Measured on the traces of bench/ampstudy, with amp.hp against arc.hp: every 5,000
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

/* The shared array @name of @nr elements: its slot, or -1. */
static int find(const struct hipec_policy *p, const char *name, u32 nr)
{
	u32 i;

	for (i = 0; p->image && i < p->image->nr_operands; i++)
		if (p->operand[i].type == HIPEC_TYPE_INTS &&
		    p->operand[i].flags & HIPEC_OPERAND_SHARED &&
		    p->operand[i].value >= nr &&
		    !strcmp(hipec_policy_name(p, p->operand[i].name), name))
			return i;
	return -1;
}

/* Whether the policy declares all of the arrays. */
bool sim_feed_wants(const struct hipec_policy *p)
{
#define X(field, name, nr) if (find(p, name, nr) < 0) return false;
	AMP_ARRAYS(X)
#undef X
	return true;
}

/**
 * sim_feed_begin() - begin to feed a machine
 * @f:  with its job; sim_feed_free() it, also after an error
 * @vm: of a policy that wants it, before its first event
 *
 * Hints are fed at once.
 *
 * Context: any.
 * Return: 0; -ENOMEM.
 */
int sim_feed_begin(struct sim_feed *f, struct hipec_vm *vm)
{
	struct amp_params params;

	sim_feed_params(f->job->method, &params);
	f->every = f->job->every ? f->job->every : SIM_FEED_EVERY;
#define X(field, name, nr) \
	f->to.field = vm->array[vm->slot[find(vm->policy, name, nr)]].element;
	AMP_ARRAYS(X)
#undef X
	f->detector = amp_new(&params);
	f->pattern = calloc(SIM_FEED_MOST, sizeof(*f->pattern));
	f->next = f->every;
	if (!f->detector || !f->pattern)
		return -ENOMEM;
	if (f->job->nr_hints)
		amp_feed(&f->to, f->job->hints, f->job->nr_hints);
	return 0;
}

/* What a hint says stands until the detector has seen as much itself. */
static void add_hints(struct sim_feed *f)
{
	const struct sim_feed_job *job = f->job;
	size_t i, j;

	for (i = 0; i < job->nr_hints; i++) {
		const struct amp_pattern *hint = &job->hints[i];

		for (j = 0; j < f->nr; j++)
			if (f->pattern[j].context == hint->context)
				break;
		if (j == f->nr && j < SIM_FEED_MOST)
			f->pattern[f->nr++] = *hint;
		else if (j < f->nr && !f->pattern[j].known)
			f->pattern[j] = *hint;
	}
}

static void detect(struct sim_feed *f)
{
	f->nr = amp_detect(f->detector, f->pattern, SIM_FEED_MOST);
	add_hints(f);
	amp_feed(&f->to, f->pattern, f->nr);
	f->fed++;
}

/* An access, as amp_note(); the period may end with it. */
int sim_feed_note(struct sim_feed *f, u64 context, u32 pgno, u64 seq,
		  bool missed)
{
	int ret = amp_note(f->detector, context, pgno, seq, missed);

	if (seq < f->next)
		return ret;
	f->next += f->every;
	detect(f);
	return ret;
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
	*f = (struct sim_feed){ .job = f->job };
}
