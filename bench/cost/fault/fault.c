// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one page fault costs, in nanoseconds; in a guest of run.py --det these are
 * instructions. On a plain mapping or on a hipec region:
 *
 *	new         misses in an order that nobody reads ahead, into free memory
 *	scattered   the same, but all memory is in use: each replaces a page
 *	in-order    touches in order, all memory in use
 *	mapped      pages that are resident, in a new mapping
 *
 * One line of name=value.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>

#include "../../lib/take.h"

#define PAGE_BYTES 4096ul
#define STRIDE 2657ul	/* pages; odd, and no page is next to the one before */

static const char usage[] =
"usage: fault new|scattered|in-order|mapped DISK FILE TOUCHES\n"
"             [POLICY FRAMES CLUSTER]\n"
"FILE has a power of two of pages. POLICY: a .hpo, or none: the built-in one.\n"
"FRAMES: N, its own; limit:N, at most N of the pool's; pool:N, and another\n"
"container has some of these, so that the pool is full. Without POLICY: the page\n"
"cache.\n";

struct source {
	volatile unsigned char *base;
	size_t pages;
	int container, fd;
};

/* A container of its own, and a region over the whole file. */
static void attach(struct source *s, const char *policy, const char *frames,
		   const char *cluster)
{
	const char *number = strchr(frames, ':');

	/* Another container, which has its first frames and no more. */
	if (!strncmp(frames, "pool:", 5))
		load_as("none", (struct hipec_load){ .flags = HIPEC_LOAD_SHARE, .frames = 16 });
	s->container = load_as(policy, (struct hipec_load){
		.flags = number ? HIPEC_LOAD_SHARE : 0,
		.frames = strtoul(number ? number + 1 : frames, NULL, 0),
		.cluster = strtoul(cluster, NULL, 0) });
	s->fd = attach_to(s->container, s->fd);
}

static void map(struct source *s, bool scattered)
{
	void *at = mmap(NULL, s->pages * PAGE_BYTES, PROT_READ, MAP_SHARED,
			s->fd, 0);

	if (at == MAP_FAILED || (scattered &&
	    madvise(at, s->pages * PAGE_BYTES, MADV_RANDOM)))
		die("mmap");
	s->base = at;
}

/* Touch @nr pages from the @first touch on; all on one page if @pages is 1. */
static uint64_t touch(const struct source *s, size_t pages, size_t first,
		      size_t nr, size_t stride)
{
	uint64_t begin = now();
	size_t i;

	for (i = first; i < first + nr; i++)
		(void)s->base[(i * stride & (pages - 1)) * PAGE_BYTES];
	return now() - begin;
}

int main(int argc, char **argv)
{
	struct source s = { .container = -1 };
	struct hipec_status a = { 0 }, b = { 0 };
	bool scattered, mapped;
	struct rusage u, v;
	uint64_t ns, loop, disk;
	size_t nr, stride;
	struct stat st;

	if (argc != 5 && argc != 8) {
		fputs(usage, stderr);
		return 2;
	}
	scattered = !strcmp(argv[1], "scattered") || !strcmp(argv[1], "new");
	mapped = !strcmp(argv[1], "mapped");
	stride = scattered ? STRIDE : 1;
	nr = strtoul(argv[4], NULL, 0);
	s.fd = open(argv[3], O_RDONLY);
	if (s.fd < 0 || fstat(s.fd, &st))
		die(argv[3]);
	s.pages = st.st_size / PAGE_BYTES;
	if (argc == 8)
		attach(&s, argv[5], argv[6], argv[7]);
	map(&s, scattered);
	if (strcmp(argv[1], "new"))
		touch(&s, s.pages, 0, mapped ? nr : s.pages, stride);
	else
		(void)s.base[0];	/* for the loop */
	loop = touch(&s, 1, 0, nr, stride);
	if (mapped) {
		munmap((void *)s.base, s.pages * PAGE_BYTES);
		map(&s, false);
	}
	if (s.container >= 0)
		hipec_status(s.container, &a);
	disk = disk_pages(argv[2]);
	getrusage(RUSAGE_SELF, &u);
	ns = touch(&s, s.pages, 0, nr, stride) - loop;
	getrusage(RUSAGE_SELF, &v);
	if (s.container >= 0)
		hipec_status(s.container, &b);
	printf("touches=%zu ns=%" PRIu64 " disk_pages=%" PRIu64, nr, ns,
	       disk_pages(argv[2]) - disk);
	printf(" major=%ld minor=%ld", v.ru_majflt - u.ru_majflt,
	       v.ru_minflt - u.ru_minflt);
	printf(" exit=%u", b.exit.kind);
#define X(name) printf(" " #name "=%llu", b.counters.name - a.counters.name);
	X(pages_in)
	X(commands)
	X(evictions)
	X(soft_faults)
	X(moved)
	X(recovered)
#undef X
	printf("\n");
	return 0;
}
