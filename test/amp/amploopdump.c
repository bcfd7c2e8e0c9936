// SPDX-License-Identifier: GPL-2.0-only
/*
 * For the tests: samples on standard input through the loop of cli/amp/loop.h, in the place
 * of a container's.
 *
 *	amploopdump POLICY FRAMES BYTES [HINTS]
 *
 * Takes BYTES at a time. Prints the state file, then a line of what was counted, and
 * one for each context in the policy's table.
 */
#include <stdlib.h>

#include "../../userlib/cli/amp/loop.h"
#include "../../userlib/sim/sim.h"

static s64 context[AMP_TABLE], part[AMP_TABLE], size[AMP_PARTS], sweep[AMP_PARTS];
static s64 keep[AMP_KEEP];

static const struct amp_arrays arrays = { context, part, size, sweep, keep };

static int read_hints(const char *name, struct amp_state *state)
{
	FILE *in = fopen(name, "re");
	struct amp_error err;
	int ret = in ? amp_state_read(in, state, &err) : -1;

	if (in)
		fclose(in);
	return ret;
}

static void print_table(const struct amp_loop *l, const char *when)
{
	u32 i;

	printf("%s: samples %llu lost %llu restarts %llu used %d\n", when,
	       (unsigned long long)l->samples, (unsigned long long)l->lost,
	       (unsigned long long)l->restarts, l->trial.used);
	for (i = 0; i < AMP_TABLE; i++)
		if (context[i])
			printf("%llx in %lld\n", (unsigned long long)context[i],
			       (long long)part[i]);
}

int main(int argc, char **argv)
{
	struct amp_state hints = { 0 };
	struct policy policy;
	struct hipec_text why;
	struct amp_loop l;
	char line[256], bytes[4096];
	size_t at_once, n;
	int ret;

	if (argc < 4)
		return 2;
	hipec_text_init(&why, line, sizeof(line));
	at_once = atoi(argv[3]);
	if (!at_once || at_once > sizeof(bytes) ||
	    policy_load(&policy, argv[1], &why) ||
	    (argc > 4 && read_hints(argv[4], &hints)))
		return 2;
	ret = amp_loop_open(&l, &policy.policy, atoi(argv[2]), &arrays, &hints);
	amp_state_free(&hints);
	print_table(&l, "begin");
	while (!ret && (n = fread(bytes, 1, at_once, stdin)))
		ret = amp_loop_take(&l, bytes, n);
	if (!ret)
		ret = amp_loop_state(&l);
	print_table(&l, "end");
	if (!ret)
		ret = amp_state_write(stdout, &l.state);
	amp_loop_close(&l);
	policy_close(&policy);
	if (ret)
		printf("error %d\n", ret);
	return 0;
}
