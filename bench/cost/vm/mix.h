/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fixed mixes of commands, in assembler text, and the empty policy.
 *
 * Interface:
 * bench_mixes[]      the mixes
 * bench_mix_load()   the image of a mix, or of a policy from its file
 * bench_mix_start()  pages where the mix wants them
 * bench_mix_check()  whether what came out is what must come out
 */
#ifndef BENCH_VM_MIX_H
#define BENCH_VM_MIX_H

#include "host.h"

#define BENCH_MIX_PAGES 64
/* A mix is its text this often, then Return: what enters it costs nothing. */
#define BENCH_MIX_COPIES 64

struct bench_mix {
	const char *name;
	const char *const *text;	/* lines, NULL last; `@` is the copy */
	u32 commands;			/* that one copy runs */
};

extern const struct bench_mix bench_mixes[];
extern const size_t bench_nr_mixes;

void bench_mix_load(struct bench_image *im, const char *hpo_dir,
		    const char *name);
struct bench_host *bench_mix_start(const struct bench_image *im);
void bench_mix_check(const struct bench_mix *mix, const struct bench_image *im,
		     struct bench_host *host, u64 nr_events);

#endif /* BENCH_VM_MIX_H */
