// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec run with a policy that is fed: the loop of cli/amp/loop.h beside the program.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../amp/loop.h"
#include "../cli.h"
#include "../amp/amp.h"
#include "run.h"
#include "../../sim/feed.h"

/**
 * run_amp_begin() - feed the container's policy, if it wants that
 * @r: with its container
 * @p: policy
 *
 * Without it the policy runs all the same, as its default.
 */
void run_amp_begin(struct run *r, const struct hipec_policy *p)
{
	struct amp_state hints;
	int ret;

	if (r->device < 0 || !sim_feed_wants(p))
		return;
	r->amp = calloc(1, sizeof(*r->amp));
	if (!r->amp) {
		cli_error("%s", strerror(ENOMEM));
		return;
	}
	if (r->no_hints) {
		free(r->hints);
		r->hints = NULL;
	} else if (!r->hints) {
		r->hints = amp_hints_name(r->program);
	}
	amp_hints_read(r->hints, &hints);
	ret = amp_loop_attach(r->amp, r->device, p, r->budget, &hints);
	amp_state_free(&hints);
	if (!ret)
		return;
	cli_error("%s: %s; it is not fed", r->policy, cli_call_failed(ret));
	amp_loop_close(r->amp);
	free(r->amp);
	r->amp = NULL;
}

/* Take what is there. A container that has ended tells nothing more. */
void run_amp_serve(struct run *r)
{
	int ret = amp_loop_serve(r->amp);

	if (!ret)
		return;
	close(r->amp->fd);
	r->amp->fd = -1;
	if (ret < 0)
		cli_error("samples: %s; the policy is fed no more",
			  strerror(-ret));
}

/* The program has ended: keep what was learnt. */
void run_amp_end(struct run *r)
{
	if (!r->amp)
		return;
	if (r->amp->fd >= 0)
		run_amp_serve(r);
	amp_hints_keep(r->hints, r->amp);
}

void run_amp_free(struct run *r)
{
	if (r->amp)
		amp_loop_close(r->amp);
	free(r->amp);
	free(r->hints);
}
