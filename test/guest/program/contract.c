// SPDX-License-Identifier: GPL-2.0-only
/*
 * The contract of revocation, and what a bad policy may cost its neighbours, in
 * a pool of 512 frames (run.sh), by arithmetic.
 */
#include "guest.h"

#define FILE_A DIR_DATA "contract-a"
#define FILE_B DIR_DATA "contract-b"
#define POOL 512
#define WINDOW 512	/* faults of one in which a policy is judged */
#define REVOCATION "/sys/module/hipec/parameters/revocation"

enum {
#define X(name, code, text) EXIT_##name = code,
	HIPEC_EXIT_KINDS(X)
#undef X
};

/*
 * 64 pages that are never used again stay for ever, and 32 that are used in turn
 * share what is left: a fault each time, where the default has 96 in all. After
 * four windows FIFO with a second chance is in charge, and each of the 32 faults
 * once more.
 */
static void ill_advised_policy_is_revoked(void)
{
	struct hipec_status s;
	struct map m;
	int i;

	open_shared(&m, "newest-first", FILE_A, 64, 200, false);
	touch_range(&m, 0, 64);
	for (i = 0; i < 100; i++)
		s = touch_range(&m, 100, 132);
	CHECK_EQ(s.exit.kind, EXIT_WORSE);
	CHECK_EQ(s.counters.windows, 4);
	CHECK_EQ(s.counters.bad_windows, 4);
	CHECK_EQ(s.counters.judged_faults, 4 * WINDOW);
	CHECK_EQ(s.counters.default_faults, 64 + 32);
	CHECK_EQ(s.frames, 64);
	CHECK_LE(s.counters.faults, 4 * WINDOW + 32 + 1);
	close_map(&m);
}

/* The same for as long as it likes: windows are counted all the same. */
static void ill_advised_policy_stays_without_revocation(void)
{
	struct hipec_status s;
	struct map m;
	int i;

	set_switch(REVOCATION, "N");
	open_shared(&m, "newest-first", FILE_A, 64, 200, false);
	touch_range(&m, 0, 64);
	for (i = 0; i < 100; i++)
		s = touch_range(&m, 100, 132);
	set_switch(REVOCATION, "Y");
	CHECK_EQ(s.exit.kind, 0);
	CHECK_EQ(s.counters.faults, 64 + 100 * 32);
	CHECK_EQ(s.counters.windows, (64 + 100 * 32) / WINDOW);
	CHECK_EQ(s.counters.bad_windows, s.counters.windows);
	close_map(&m);
}

/* MRU on a sweep: (P-1) x (N-F+1) faults beside the first N, the default P x N. */
static void good_policy_is_not_revoked(void)
{
	struct hipec_status s;
	struct map m;
	int pass;

	open_shared(&m, "mru", FILE_A, 64, 100, false);
	for (pass = 0; pass < 80; pass++)
		s = touch_range(&m, 0, 100);
	CHECK_EQ(s.counters.faults, 100 + 79 * 37);
	CHECK_EQ(s.exit.kind, 0);
	CHECK_EQ(s.counters.windows, (100 + 79 * 37) / WINDOW);
	CHECK_EQ(s.counters.bad_windows, 0);
	CHECK(s.counters.default_faults > 2 * s.counters.judged_faults);
	close_map(&m);
}

/*
 * B uses its 200 pages again and again while A sweeps over more than the pool has.
 * When the manager first resets bits it takes what it has just reset, B's as well;
 * from then on B loses nothing, whatever A's policy fails to do: a second chance is as
 * long as two thirds of the pool, and B comes round every 100 faults of A.
 */
static void neighbours_do_not_pay(void)
{
	static const char *const policy[] = {
		"fifo", "hoard", "same-page", "spill",
		"endless-replace", "no-page",
	};
	struct hipec_status s;
	uint64_t before = 0;
	struct map a, b;
	size_t i, round;

	for (i = 0; i < sizeof(policy) / sizeof(*policy); i++) {
		open_shared(&a, policy[i], FILE_A, POOL, 600, false);
		open_shared(&b, "fifo2", FILE_B, 200, 200, false);
		for (round = 0; round < 18; round++) {
			s = touch_range(&b, 0, 200);
			if (round == 6)
				before = s.counters.faults;
			touch_range(&a, round % 6 * 100, round % 6 * 100 + 100);
		}
		s = touch_range(&b, 0, 200);
		if (s.counters.faults != before)
			FAIL("%s costs its neighbour %llu faults", policy[i],
			     (unsigned long long)(s.counters.faults - before));
		CHECK_EQ(s.exit.kind, 0);
		CHECK_EQ(s.frames, 200);
		close_map(&a);
		close_map(&b);
	}
}

static const struct test contract_tests[] = {
	{ "pool_policy_that_is_ill_advised_is_revoked", ill_advised_policy_is_revoked },
	{ "pool_policy_that_is_ill_advised_stays_without_revocation",
	  ill_advised_policy_stays_without_revocation },
	{ "pool_policy_that_is_good_is_not_revoked", good_policy_is_not_revoked },
	{ "pool_lets_no_neighbour_pay_for_a_bad_policy", neighbours_do_not_pay },
	{ 0 }
};
SUITE(contract_tests, 0);
