// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the program context of a fault costs: soft faults at some depth of calls, in
 * nanoseconds, which in a guest of run.py --det are instructions. Compiled with and
 * without frame pointers.
 *
 *	POLICY DEPTH again   faults from one place
 *	POLICY DEPTH first   each after everything remembered was made void
 *	POLICY DEPTH sampled each of them is sampled
 *	POLICY DEPTH passed  somebody samples, but none of these pages
 *
 * One line of name=value.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../../module/include/uapi/hipec_sample.h"
#include "../../../userlib/lib/hipec.h"
#include "../../lib/program.h"

#define PAGE_BYTES 4096ul
#define PAGES 256

static volatile unsigned char *base;
static int container, samples = -1;
static bool first;

static int sample(uint64_t threshold)
{
	int fd = hipec_sample(container, 0, threshold, 1 << 20);

	if (fd < 0)
		die("sample");
	return fd;
}

/* What was remembered before somebody sampled is not used any more. */
static void forget(void)
{
	close(sample(0));
}

/* Room for those to come. Return: how many there were. */
static unsigned int drain(void)
{
	static struct hipec_sample_entry entry[8192];
	unsigned int nr = 0, i;
	struct pollfd p = { samples, POLLIN, 0 };
	ssize_t got;

	if (samples < 0 || poll(&p, 1, 0) <= 0)
		return 0;
	got = read(samples, entry, sizeof(entry));
	for (i = 0; i < got / sizeof(*entry); i++)
		nr += entry[i].kind == HIPEC_SAMPLE_SOFT;
	return nr;
}

__attribute__((noinline)) static uint64_t touch_all(void)
{
	uint64_t since, sum = 0;
	size_t i;

	if (!first) {
		since = now();
		for (i = 0; i < PAGES; i++)
			(void)base[i * PAGE_BYTES];
		return now() - since;
	}
	for (i = 0; i < PAGES; i++) {
		forget();
		since = now();
		(void)base[i * PAGE_BYTES];
		sum += now() - since;
	}
	return sum;
}

__attribute__((noinline, noclone)) static uint64_t deep(int calls)
{
	uint64_t ns = calls > 0 ? deep(calls - 1) : touch_all();

	__asm__ volatile("" ::: "memory");
	return ns;
}

static void open_all(const char *policy)
{
	void *image;
	size_t size;
	int file = open("/dev/none", O_RDONLY), region;

	if (file < 0)
		die("/dev/none");
	container = hipec_open();
	if (container < 0 || hipec_image_read(policy, &image, &size) ||
	    hipec_load(container, image, size, PAGES, 1, NULL, 0))
		die(policy);
	region = hipec_attach(container, file, 0, PAGES * PAGE_BYTES, false, NULL);
	if (region < 0)
		die("attach");
	base = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ, MAP_SHARED, region, 0);
	if (base == MAP_FAILED)
		die("mmap");
}

int main(int argc, char **argv)
{
	struct hipec_status s;
	uint64_t ns = UINT64_MAX, each;
	unsigned int seen = 0;
	int i;

	if (argc != 4)
		return 2;
	open_all(argv[1]);
	first = !strcmp(argv[3], "first");
	for (i = 0; i < PAGES; i++)
		(void)base[i * PAGE_BYTES];
	if (!strcmp(argv[3], "sampled"))
		samples = sample(HIPEC_SAMPLE_ALL);
	else if (!strcmp(argv[3], "passed"))
		samples = sample(0);
	/* The least, as the kernel does other things at times. */
	for (i = 0; i < 6; i++) {
		if (madvise((void *)base, PAGES * PAGE_BYTES, MADV_DONTNEED))
			die("madvise");
		each = deep(atoi(argv[2]));
		seen += drain();
		ns = each < ns ? each : ns;
	}
	if (hipec_status(container, &s))
		die("status");
	printf("ns=%" PRIu64 " faults=%d soft=%" PRIu64 " samples=%u\n", ns,
	       PAGES, (uint64_t)s.counters.soft_faults, seen);
	return 0;
}
