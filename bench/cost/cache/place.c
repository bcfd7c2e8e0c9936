// SPDX-License-Identifier: GPL-2.0-only
/*
 * What reads, faults and opens cost where a policy chooses in place, in nanoseconds; in
 * a guest of run.py --det these are instructions.
 *
 *	hits4, hits64   read() of so many KB of resident pages, in an order of no use
 *	                to read-ahead
 *	misses, maps    4 KB by read(), touches of a map, in such an order, in more pages
 *	                than there is memory
 *	random          4 KB by read(), of pages by chance, likewise
 *	sweep, mapsweep 128 KB by read(), touches of a map, in order, likewise
 *	fresh, mapfresh the same, of a file that nobody has read
 *	writes          4 KB of resident pages by write(), likewise
 *	opens           open() and close()
 *
 * A warm-up over the file, but of fresh ones; then N of these, timed in two halves. One
 * line of name=value.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "../../../userlib/cli/league.h"
#include "../../../userlib/sim/auto.h"
#include "../../lib/take.h"

#define PAGE_BYTES 4096ul
#define STRIDE 2657ul	/* reads; odd, and none is next to the one before */

static const char usage[] =
"usage: place WHAT N DISK FILE [WATCHED | POLICY FRAMES TAKEN [contract|league|curve|share|OTHER]]\n"
"FILE has a power of two of pages. POLICY: a .hpo. TAKEN: the path that the policy is\n"
"for: FILE, another file, or the folder of a cgroup that nothing runs in. WATCHED: a\n"
"file that inotify watches, and no policy. contract: the policy is held to it. league:\n"
"those of --policy auto play beside it. curve: it plays with four other budgets. share:\n"
"the frames are of the pool. OTHER: so they are, and another container has this file, of\n"
"a power of two of pages: one of it is read behind four of FILE's.\n";

/* Of a module that counts what it does under its locks (bench/cost/serial). */
static const char serial[] = "/sys/module/hipec/parameters/serial";

struct place {
	const char *what, *path;
	int container, fd, other;	/* other -1: there is no other file */
	size_t other_pages;
	size_t pages, bytes, stride;	/* stride 0: by chance */
	bool writes;
	volatile unsigned char *base;	/* NULL: by read() */
};

static void open_file(struct place *p)
{
	bool in_order = strstr(p->what, "sweep") || strstr(p->what, "fresh");
	struct stat st;

	p->writes = !strcmp(p->what, "writes");
	p->fd = open(p->path, p->writes ? O_RDWR : O_RDONLY);
	if (p->fd < 0 || fstat(p->fd, &st))
		die(p->path);
	p->pages = st.st_size / PAGE_BYTES;
	p->stride = in_order ? 1 : strcmp(p->what, "random") ? STRIDE : 0;
	p->bytes = !strcmp(p->what, "hits64") ? 64 << 10 :
		   in_order && strncmp(p->what, "map", 3) ? 128 << 10 : PAGE_BYTES;
	if (!in_order && posix_fadvise(p->fd, 0, 0, POSIX_FADV_RANDOM))
		die("posix_fadvise");
	if (strncmp(p->what, "map", 3))
		return;
	p->base = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, p->fd, 0);
	if (p->base == MAP_FAILED || (!in_order &&
	    madvise((void *)p->base, st.st_size, MADV_RANDOM)))
		die("mmap");
}

static size_t mixed(uint64_t i)
{
	i = (i + 1) * 0x9e3779b97f4a7c15u;
	i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9u;
	return i ^ i >> 31;
}

static void read_other(const struct place *p, unsigned char *buffer, size_t i)
{
	size_t at = (i * p->stride & (p->other_pages - 1)) * PAGE_BYTES;

	if (pread(p->other, buffer, PAGE_BYTES, at) != (ssize_t)PAGE_BYTES)
		die("pread of the other file");
}

/* Do it @nr times, from the @first time on. */
static uint64_t run(const struct place *p, size_t first, size_t nr)
{
	static unsigned char buffer[128 << 10];
	size_t places = p->pages * PAGE_BYTES / p->bytes, i;
	bool opens = !strcmp(p->what, "opens");
	uint64_t begin = now();
	int fd;

	for (i = first; i < first + nr; i++) {
		size_t place = p->stride ? i * p->stride : mixed(i);
		size_t at = (place & (places - 1)) * p->bytes;

		if (opens) {
			fd = open(p->path, O_RDONLY);
			if (fd < 0)
				die(p->path);
			close(fd);
		} else if (p->base) {
			(void)p->base[at];
		} else if (p->writes) {
			if (pwrite(p->fd, buffer, p->bytes, at) != (ssize_t)p->bytes)
				die("pwrite");
		} else if (pread(p->fd, buffer, p->bytes, at) != (ssize_t)p->bytes) {
			die("pread");
		}
		if (p->other >= 0 && i % 4 == 3)
			read_other(p, buffer, i / 4);
	}
	return now() - begin;
}

/* The policies of --policy auto play as well; they are where POLICY is. */
static void join_league(int container, const char *policy)
{
	char list[] = SIM_LEAGUE, *rest = list, *name, path[256], log[256];
	void *image;
	size_t size;
	int ret;

	while ((name = strsep(&rest, ","))) {
		snprintf(path, sizeof(path), "%.*s/%s.hpo", (int)(strrchr(policy, '/') - policy),
			 policy, name);
		ret = hipec_image_read(path, &image, &size);
		if (!ret)
			ret = hipec_join(container, 0, image, size, log, sizeof(log));
		errno = -ret;
		if (ret < 0)
			die(path);
		free(image);
	}
}

static void join_curve(int container)
{
	static const uint32_t quarters[] = CLI_CURVE;
	char log[256];
	size_t i;
	int ret;

	for (i = 0; i < sizeof(quarters) / sizeof(*quarters); i++) {
		ret = hipec_join_budget(container, 0, quarters[i], log, sizeof(log));
		errno = -ret;
		if (ret < 0)
			die("a budget");
	}
}

/* Another container that shares, under the same policy. */
static void open_other(struct place *p, const char *policy, const char *frames, const char *path)
{
	struct stat st;

	take(policy, frames, path, HIPEC_LOAD_SHARE);
	p->other = open(path, O_RDONLY);
	if (p->other < 0 || fstat(p->other, &st) ||
	    posix_fadvise(p->other, 0, 0, POSIX_FADV_RANDOM))
		die(path);
	p->other_pages = st.st_size / PAGE_BYTES;
}

/* Counters begin at 0. */
static void reset_serial(void)
{
	int fd = open(serial, O_WRONLY);

	if (fd < 0)
		return;
	if (write(fd, "0", 1) != 1)
		die(serial);
	close(fd);
}

static void print_serial(void)
{
	FILE *f = fopen(serial, "r");
	char name[64];

	while (f && fscanf(f, "%63s", name) == 1)
		printf(" %s", name);
	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	struct hipec_status a = { 0 }, b = { 0 };
	struct place p = { .container = -1, .other = -1 };
	uint64_t first, second, disk, middle;
	size_t places = 0, nr, i;
	const char *how;

	if (argc < 5 || argc == 7 || argc > 9) {
		fputs(usage, stderr);
		return 2;
	}
	p.what = argv[1];
	p.path = argv[4];
	nr = strtoul(argv[2], NULL, 0) / 2;
	if (argc == 6 && inotify_add_watch(inotify_init(), argv[5], IN_DELETE_SELF) < 0)
		die(argv[5]);
	how = argc == 9 ? argv[8] : "";
	if (argc >= 8)
		p.container = take(argv[5], argv[6], argv[7],
				   !strcmp(how, "contract") ? HIPEC_LOAD_CONTRACT :
				   !strcmp(how, "share") || *how == '/' ? HIPEC_LOAD_SHARE : 0);
	if (*how == '/')
		open_other(&p, argv[5], argv[6], how);
	if (!strcmp(how, "league"))
		join_league(p.container, argv[5]);
	if (!strcmp(how, "curve"))
		join_curve(p.container);
	open_file(&p);
	if (!strstr(p.what, "fresh"))
		places = p.pages * PAGE_BYTES / p.bytes;
	/* The page cache moves pages at their second touch. */
	for (i = 0; i < (strncmp(p.what, "hits", 4) ? 1 : 3); i++)
		run(&p, 0, places);
	reset_serial();
	if (p.container >= 0)
		hipec_status(p.container, &a);
	disk = disk_pages(argv[3]);
	first = run(&p, places, nr);
	middle = disk_pages(argv[3]);
	second = run(&p, places + nr, nr);
	if (p.container >= 0)
		hipec_status(p.container, &b);
	printf("what=%s n=%zu first=%" PRIu64 " second=%" PRIu64 " first_pages=%" PRIu64
	       " second_pages=%" PRIu64, p.what, 2 * nr, first, second, middle - disk,
	       disk_pages(argv[3]) - middle);
	printf(" exit=%u resident=%llu", b.exit.kind, (unsigned long long)b.resident);
#define X(name) printf(" " #name "=%llu", b.counters.name - a.counters.name);
	X(pages_in)
	X(hits)
	X(commands)
	X(evictions)
#undef X
	print_serial();
	printf("\n");
	return 0;
}
