// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policies to load: those that we ship, those that are bad on purpose, and
 * random ones that the verifier accepts.
 */
#define _GNU_SOURCE
#include <dirent.h>

#include "stress.h"

#define DIR_POLICIES "/hipec/policies/"
#define MAX_POLICIES 128

static struct {
	void *image;
	size_t size;
	bool shipped;
} policy[MAX_POLICIES];
static uint32_t nr_policies;

static const char *const shipped[] = { "mru", "fifo", "fifo2", "mpfifo2" };

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In an order that does not depend on the directory's. Return: 0; -errno, said. */
int read_policies(void)
{
	char *name[MAX_POLICIES], path[512];
	DIR *dir = opendir(DIR_POLICIES);
	struct dirent *e;
	size_t k;
	int ret = 0;
	uint32_t i;

	while (dir && (e = readdir(dir)) && nr_policies < MAX_POLICIES)
		if (strstr(e->d_name, ".hpo"))
			name[nr_policies++] = strdup(e->d_name);
	if (dir)
		closedir(dir);
	qsort(name, nr_policies, sizeof(*name), by_name);
	for (i = 0; i < nr_policies && !ret; i++) {
		snprintf(path, sizeof(path), DIR_POLICIES "%s", name[i]);
		ret = hipec_image_read(path, &policy[i].image, &policy[i].size);
		*strstr(name[i], ".hpo") = 0;
		for (k = 0; k < sizeof(shipped) / sizeof(*shipped); k++)
			policy[i].shipped |= !strcmp(name[i], shipped[k]);
		free(name[i]);
	}
	if (!ret && !nr_policies)
		ret = -ENOENT;
	if (ret)
		fprintf(stderr, "hipec-stress: %s: %s\n", DIR_POLICIES,
			strerror(-ret));
	return ret;
}

/* Some policy's image, valid until the thread asks again. */
static void any_image(struct fuzz_rng *rng, __u64 *image, __u32 *bytes)
{
	static __thread uint64_t random[FUZZ_MAX_IMAGE / 8];
	uint32_t i, kind = fuzz_below(rng, 10);
	size_t size;

	do
		i = fuzz_below(rng, nr_policies);
	while (kind < 4 && !policy[i].shipped);
	*image = (uintptr_t)policy[i].image;
	*bytes = policy[i].size;
	if (kind == 7 || kind == 8) {
		*image = (uintptr_t)random;
		*bytes = fuzz_generate(fuzz_random(rng), random,
				       sizeof(random));
	}
	if (kind == 9 && policy[i].size <= sizeof(random)) {
		memcpy(random, policy[i].image, policy[i].size);
		size = fuzz_mutate(fuzz_random(rng), random, policy[i].size,
				   sizeof(random));
		if (size) {
			/* Not to be taken for the policy that it was. */
			strncpy((char *)random +
				offsetof(struct hipec_image, name),
				"mutated", HIPEC_NAME_MAX);
			*image = (uintptr_t)random;
			*bytes = size;
		}
	}
}

/* Load some policy into @fd. @flags: HIPEC_LOAD_*. Return: 0; -errno. */
int load_any(int fd, struct fuzz_rng *rng, uint32_t frames, uint32_t flags)
{
	struct hipec_load a = {
		.frames = frames, .flags = flags,
		.cluster = fuzz_chance(rng, 30) ? 1 : fuzz_below(rng, 33),
		.seed = fuzz_random(rng) | 1,
	};

	if (flags & HIPEC_LOAD_IN_PLACE)
		a.cluster = 0;
	any_image(rng, &a.image, &a.image_size);
	return hipec_load_args(fd, &a);
}

/* Another policy for @fd's container, or none. Return: 0; -errno. */
int swap_any(int fd, struct fuzz_rng *rng)
{
	struct hipec_swap a = { .seed = fuzz_random(rng) | 1 };

	if (fuzz_chance(rng, 90))
		any_image(rng, &a.image, &a.image_size);
	return hipec_swap_args(fd, &a);
}

/* A policy beside that of @fd's container, or the built-in one. Return: its number; -errno. */
int join_any(int fd, struct fuzz_rng *rng)
{
	__u64 image = 0;
	__u32 size = 0;

	if (fuzz_chance(rng, 90))
		any_image(rng, &image, &size);
	return hipec_join(fd, 0, (void *)(uintptr_t)image, size, NULL, 0);
}
