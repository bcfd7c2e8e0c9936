// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast a file is written that is larger than the memory that there is.
 *
 *	sequential  write() of 64 KB, of a file that grows
 *	large       the same of 4 MB
 *	random      write() of 4 KB, each page of the file once, in no order
 *	mmap        each page of a map, in order
 *
 * HOG pages of other memory are wanted meanwhile, as far as the writer is. With OTHER, a
 * thread reads 4 KB of it each millisecond, at random. Measured is until all is on the
 * disk. One line of name=value.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "../../lib/take.h"

#define PAGE_BYTES 4096ul
#define STRIDE 2657ul	/* pages, odd, and prime to what is written */

static const char usage[] =
"usage: writers WHAT PAGES HOG FILE OTHER|- [POLICY FRAMES]\n"
"POLICY: a .hpo.\n";

struct writer {
	const char *what;
	size_t pages, each, hog;	/* pages: of the file, of one call, wanted */
	int file;
	unsigned char *base, *hogged;
	char *buffer;
};

struct reader {
	int file;
	size_t pages;
	uint64_t longest, reads;
	atomic_bool ends;
};

static void *read_on(void *arg)
{
	uint64_t x = 0x9e3779b97f4a7c15u, begin, took;
	struct reader *r = arg;
	char buffer[PAGE_BYTES];

	while (!atomic_load(&r->ends)) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		begin = now();
		if (pread(r->file, buffer, PAGE_BYTES, (x >> 20) % r->pages * PAGE_BYTES) !=
		    PAGE_BYTES)
			die("pread");
		took = now() - begin;
		r->longest = took > r->longest ? took : r->longest;
		r->reads++;
		usleep(1000);
	}
	return NULL;
}

static void prepare(struct writer *w, const char *path)
{
	size_t bytes = w->pages * PAGE_BYTES;

	w->each = !strcmp(w->what, "large") ? 1024 : !strcmp(w->what, "sequential") ? 16 : 1;
	w->buffer = malloc(w->each * PAGE_BYTES);
	w->hogged = mmap(NULL, (w->hog + 1) * PAGE_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	w->file = open(path, O_RDWR | (w->each > 1 ? O_TRUNC : 0));
	if (w->file < 0 || !w->buffer || w->hogged == MAP_FAILED)
		die(path);
	memset(w->buffer, 'w', w->each * PAGE_BYTES);
	if (strcmp(w->what, "mmap"))
		return;
	w->base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, w->file, 0);
	if (w->base == MAP_FAILED)
		die("mmap");
}

static void write_all(struct writer *w)
{
	size_t page, i, hogged = 0, bytes = w->each * PAGE_BYTES;

	for (i = 0; i < w->pages; i += w->each) {
		page = strcmp(w->what, "random") ? i : i * STRIDE % w->pages;
		if (w->base)
			w->base[page * PAGE_BYTES] = 'w';
		else if (pwrite(w->file, w->buffer, bytes, page * PAGE_BYTES) != (ssize_t)bytes)
			die("pwrite");
		for (; hogged * w->pages < i * w->hog; hogged++)
			w->hogged[hogged * PAGE_BYTES] = 'h';
	}
	if (fsync(w->file))
		die("fsync");
}

int main(int argc, char **argv)
{
	struct hipec_take also = { 0 };
	struct hipec_status s = { 0 };
	struct reader r = { 0 };
	struct writer w = { 0 };
	int container = -1;
	uint64_t took;
	pthread_t id;
	bool reads;
	int ret;

	if (argc != 6 && argc != 8) {
		fputs(usage, stderr);
		return 2;
	}
	w.what = argv[1];
	w.pages = strtoul(argv[2], NULL, 0);
	w.hog = strtoul(argv[3], NULL, 0);
	reads = strcmp(argv[5], "-");
	if (argc == 8)
		container = take(argv[6], argv[7], argv[4]);
	if (reads) {
		r.file = open(argv[5], O_RDONLY);
		if (r.file < 0 || posix_fadvise(r.file, 0, 0, POSIX_FADV_RANDOM))
			die(argv[5]);
		r.pages = lseek(r.file, 0, SEEK_END) / PAGE_BYTES;
		ret = argc == 8 ? hipec_take(container, 0, r.file, &also) : 0;
		errno = -ret;
		/* Its descriptor is of before: another. */
		close(r.file);
		r.file = open(argv[5], O_RDONLY);
		if (ret || r.file < 0 || posix_fadvise(r.file, 0, 0, POSIX_FADV_RANDOM) ||
		    pthread_create(&id, NULL, read_on, &r))
			die(argv[5]);
	}
	prepare(&w, argv[4]);
	took = now();
	write_all(&w);
	took = now() - took;
	atomic_store(&r.ends, true);
	if (reads)
		pthread_join(id, NULL);
	if (container >= 0)
		hipec_status(container, &s);
	printf("what=%s pages=%zu hog=%zu elapsed=%" PRIu64 " longest=%" PRIu64 " reads=%" PRIu64
	       " exit=%u evictions=%llu", w.what, w.pages, w.hog, took, r.longest, r.reads,
	       s.exit.kind, (unsigned long long)s.counters.evictions);
	return 0;
}
