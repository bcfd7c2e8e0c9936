// SPDX-License-Identifier: GPL-2.0-only
/*
 * After a take-over a container does what its team does: graft POLICY...
 *
 * The built-in replacement runs in a container, and a team plays the same accesses with
 * the policy. Now and then the team's machine takes over, under other handles; from then
 * on both have to miss on the same accesses, until the built-in one is back.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../userlib/sim/auto.h"
#include "../../userlib/sim/host.h"

#define FRAMES 48
#define PAGES 160
#define ACCESSES 12000
#define PHASE 1500	/* accesses from one change to the next */

static u32 next_page(u64 *x, u32 i)
{
	*x ^= *x >> 12;
	*x ^= *x << 25;
	*x ^= *x >> 27;
	if (i / 300 % 3 == 0)
		return i % (FRAMES + FRAMES / 4);
	return (*x * 0x2545f4914f6cdd1dull >> 40) % (i / 300 % 3 == 1 ? PAGES : FRAMES);
}

static int fail(const char *name, u32 i, const char *what)
{
	fprintf(stderr, "%s: access %u: %s\n", name, i, what);
	return 1;
}

/* Feed @s and @t. Return: 0, or 1 where they should agree and do not. */
static int run(struct sim *s, struct hipec_candidate *t, const struct hipec_policy *builtin,
	       const char *name)
{
	u64 x = 1997, misses = 0, agreed = 0;
	bool same = false;
	u32 i, h;

	for (i = 0; i < ACCESSES; i++) {
		u32 pgno = next_page(&x, i);
		int missed = sim_access(s, pgno, false, &h);
		bool team;

		if (missed < 0)
			return fail(name, i, "there was no frame");
		if (missed)
			sim_arrive(s, h, false);
		t->now = i + 1;
		team = hipec_candidate_simulate(t, pgno, false);
		if (same && team != missed)
			return fail(name, i, team ? "only the team missed" :
						    "only the container missed");
		if (s->core.vm.exit.kind || t->core.vm.exit.kind)
			return fail(name, i, s->core.vm.exit.kind ? s->core.vm.exit.message :
				    t->core.vm.exit.message);
		misses += missed;
		agreed += same;
		if (i % PHASE != PHASE - 1)
			continue;
		if (same ? sim_swap(s, builtin) : sim_graft(s, t))
			return fail(name, i, "no take-over");
		same = !same;
	}
	printf("%s: %llu misses, %llu accesses alike\n", name, (unsigned long long)misses,
	       (unsigned long long)agreed);
	return 0;
}

static int check(const char *name)
{
	struct hipec_league l;	/* the container is told that it has one */
	struct hipec_policy builtin;
	struct policy p;
	struct sim_result r;
	struct hipec_candidate t;
	struct hipec_text why;
	struct sim s;
	void *memory, *shared;
	char line[512];
	int ret;

	hipec_text_init(&why, line, sizeof(line));
	if (policy_load(&p, name, &why)) {
		fprintf(stderr, "%s\n", line);
		return 1;
	}
	hipec_fifo2_policy(&builtin);
	hipec_league_init(&l, FRAMES, 0);
	memory = calloc(1, hipec_candidate_bytes(&p.policy, FRAMES));
	shared = calloc(1, p.policy.shared_size + 1);
	ret = sim_open(&s, &builtin, FRAMES, SIM_EXACT, &r, NULL);
	if (memory && shared && !ret) {
		s.league = &l;
		hipec_core_start(&s.core);
		hipec_candidate_start(&t, NULL, &p.policy, memory, shared, FRAMES, FRAMES, 1);
		ret = run(&s, &t, &builtin, name);
	}
	sim_close(&s);
	free(memory);
	free(shared);
	policy_close(&p);
	return ret != 0;
}

int main(int argc, char **argv)
{
	int i, ret = 0;

	for (i = 1; i < argc; i++)
		ret |= check(argv[i]);
	return ret;
}
