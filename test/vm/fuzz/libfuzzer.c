// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer's side: compiled twice, with -DFUZZ_RUN=1 for fuzz_run and without
 * for fuzz_image. Mostly policies are changed as policies; sometimes bytes as
 * bytes, so that the parser sees what no policy is.
 */
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"
#include "mutate.h"
#include "program.h"

#ifndef FUZZ_RUN
#define FUZZ_RUN 0
#endif

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const u8 *a, size_t a_size, const u8 *b,
				 size_t b_size, u8 *out, size_t max,
				 unsigned int seed);
size_t LLVMFuzzerMutate(u8 *data, size_t size, size_t max);

static u64 buffer[(FUZZ_MAX_IMAGE + 7) / 8], other[ARRAY_SIZE(buffer)];

static void report(void)
{
	const struct fuzz_stats *s = &fuzz_stats;

	fprintf(stderr,
		"fuzz: %llu inputs, %llu accepted; %llu events, %llu exits, %llu commands\n",
		(unsigned long long)s->inputs, (unsigned long long)s->accepted,
		(unsigned long long)s->events, (unsigned long long)s->exits,
		(unsigned long long)s->commands);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return atexit(report);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	if (FUZZ_RUN)
		fuzz_run(data, size, NULL);
	else
		fuzz_image(data, size);
	return 0;
}

static size_t image_bytes(const u8 *data, size_t size)
{
	return FUZZ_RUN ? fuzz_image_size(data, size) : size;
}

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max,
			       unsigned int seed)
{
	struct fuzz_rng rng = { .state = seed };
	size_t image = image_bytes(data, size), script = size - image, n;

	if (fuzz_chance(&rng, 8))
		return LLVMFuzzerMutate(data, size, max);
	if (script && fuzz_chance(&rng, 35))
		return image + LLVMFuzzerMutate(data + image, script,
						max - image);
	if (FUZZ_RUN && !script && image < max && fuzz_chance(&rng, 50)) {
		for (n = image; n < max && n < image + 40; n++)
			data[n] = fuzz_random(&rng);
		return n;
	}
	if (image > sizeof(buffer) || max < script)
		return LLVMFuzzerMutate(data, size, max);
	memcpy(buffer, data, image);
	n = max - script < sizeof(buffer) ? max - script : sizeof(buffer);
	n = fuzz_mutate(seed, buffer, image, n);
	if (!n)
		return LLVMFuzzerMutate(data, size, max);
	memmove(data + n, data + image, script);
	memcpy(data, buffer, n);
	return n + script;
}

size_t LLVMFuzzerCustomCrossOver(const u8 *a, size_t a_size, const u8 *b,
				 size_t b_size, u8 *out, size_t max,
				 unsigned int seed)
{
	static u64 result[ARRAY_SIZE(buffer)];
	size_t a_image = image_bytes(a, a_size), b_image = image_bytes(b, b_size);
	const u8 *script = seed & 1 ? a + a_image : b + b_image;
	size_t nr_script = seed & 1 ? a_size - a_image : b_size - b_image;
	size_t n;

	if (a_image > sizeof(buffer) || b_image > sizeof(other) ||
	    nr_script > max)
		return 0;
	memcpy(buffer, a, a_image);
	memcpy(other, b, b_image);
	n = max - nr_script < sizeof(result) ? max - nr_script : sizeof(result);
	n = fuzz_cross(seed, buffer, a_image, other, b_image, result, n);
	if (!n)
		return 0;
	memcpy(out, result, n);
	memcpy(out + n, script, nr_script);
	return n + nr_script;
}
