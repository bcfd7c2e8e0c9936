// SPDX-License-Identifier: GPL-2.0-only
/* The processes: threads that read and write files at random; and what a page has to hold. */
#include "crowd.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static __thread struct thread *me;
static __thread struct fuzz_rng rng;
static __thread uint64_t data[MOST_PAGES * PAGE_WORDS] __attribute__((aligned(PAGE_BYTES)));

static uint32_t below(uint32_t n)
{
	return fuzz_below(&rng, n);
}

static uint32_t hash(uint32_t n)
{
	return (n + 1) * 0x9e3779b1u;
}

/* 1 to MOST_PAGES. */
uint32_t pages_of(uint32_t f)
{
	return 1 + (hash(f) >> 16) % MOST_PAGES;
}

void file_path(char *path, size_t size, uint32_t f)
{
	snprintf(path, size, "%s/%u/%u", dir, f / IN_A_FOLDER, f % IN_A_FOLDER);
}

/* Never 0, which is a page that was never written to. */
static uint32_t stamp(uint32_t f, uint32_t page)
{
	return hash(f * MOST_PAGES + page) | 1;
}

void fill_page(uint64_t *words, uint32_t f, uint32_t page, uint32_t version)
{
	uint32_t i;

	for (i = 0; i < PAGE_WORDS; i++)
		words[i] = (uint64_t)stamp(f, page) << 32 | version;
}

static struct page_shadow *shadow(uint32_t f, uint32_t page)
{
	return &board->page[f * MOST_PAGES + page];
}

static uint32_t lo_of(uint32_t f, uint32_t page)
{
	return __atomic_load_n(&shadow(f, page)->lo, __ATOMIC_SEQ_CST);
}

/*
 * A page was @words: @lo is from before it was read. Return: whether it may be so. Of one
 * that was read while it was written, even a word may have bytes of two versions.
 */
static bool check_page(uint32_t f, uint32_t page, const uint64_t *words, uint32_t lo,
		       struct thread *t, const char *where)
{
	uint32_t hi = __atomic_load_n(&shadow(f, page)->hi, __ATOMIC_SEQ_CST), i, version;
	bool torn = lo != hi && memcmp(words, words + 1, PAGE_BYTES - sizeof(*words));

	t->checks++;
	t->torn += torn;
	for (i = 0; i < PAGE_WORDS; i++) {
		version = words[i];
		if (words[i] >> 32 != stamp(f, page)) {
			wrong("%s: file %u page %u word %u is another's: %llx", where, f,
			      page, i, (unsigned long long)words[i]);
			return false;
		}
		if (!torn && (version < lo || version > hi)) {
			wrong("%s: file %u page %u word %u is version %u, not %u to %u",
			      where, f, page, i, version, lo, hi);
			return false;
		}
	}
	return true;
}

/* Return: whether all of a file is as it may be. */
bool check_file(uint32_t f, struct thread *t, const char *where)
{
	uint32_t lo[MOST_PAGES], nr = pages_of(f), page;
	char path[256];
	bool good;
	int fd;

	file_path(path, sizeof(path), f);
	for (page = 0; page < nr; page++)
		lo[page] = lo_of(f, page);
	fd = open(path, O_RDONLY);
	good = fd >= 0 && pread(fd, data, sizeof(data), 0) == (ssize_t)(nr * PAGE_BYTES);
	if (!good)
		wrong("%s: %s is short: %s", where, path, strerror(errno));
	for (page = 0; good && page < nr; page++)
		good = check_page(f, page, data + page * PAGE_WORDS, lo[page], t, where);
	close(fd);
	return good;
}

static void count_time(uint64_t ns)
{
	uint32_t power = 63 - __builtin_clzll(ns | STEPS);
	uint32_t step = (power - 4) * STEPS + (ns >> (power - 4));

	me->took[step < NR_STEPS ? step : NR_STEPS - 1]++;
	if (ns > me->slowest)
		me->slowest = ns;
}

static void read_page(int fd, uint32_t f, uint32_t page)
{
	uint32_t lo = lo_of(f, page);
	uint64_t begin = now_ns();
	ssize_t got = pread(fd, data, PAGE_BYTES, page * PAGE_BYTES);

	count_time(now_ns() - begin);
	me->reads++;
	if (got != (ssize_t)PAGE_BYTES)
		wrong("pread of file %u page %u is %zd: %s", f, page, got, strerror(errno));
	else
		check_page(f, page, data, lo, me, "pread");
}

static void read_map(int fd, uint32_t f)
{
	uint32_t nr = pages_of(f), i, page, lo;
	uint64_t *map = mmap(NULL, nr * PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED) {
		wrong("mmap of file %u: %s", f, strerror(errno));
		return;
	}
	for (i = 1 + below(3); i; i--) {
		page = below(nr);
		lo = lo_of(f, page);
		memcpy(data, map + page * PAGE_WORDS, PAGE_BYTES);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		me->maps++;
		check_page(f, page, data, lo, me, "map");
	}
	munmap(map, nr * PAGE_BYTES);
}

static void write_page(int fd, uint32_t f, uint32_t page)
{
	struct page_shadow *p = shadow(f, page);
	uint32_t version = __atomic_add_fetch(&p->hi, 1, __ATOMIC_SEQ_CST);
	ssize_t put;

	fill_page(data, f, page, version);
	put = pwrite(fd, data, PAGE_BYTES, page * PAGE_BYTES);
	me->writes++;
	if (put != (ssize_t)PAGE_BYTES)
		wrong("pwrite of file %u page %u is %zd: %s", f, page, put, strerror(errno));
	__atomic_store_n(&p->lo, version, __ATOMIC_SEQ_CST);
}

/* Half of the time one of those that are used often, or the next of all in turn. */
static uint32_t pick(uint32_t *next)
{
	uint32_t dice = below(10);

	if (dice < 5)
		return below(below(board->files) + 1);
	return dice < 8 ? below(board->files) : (*next)++ % board->files;
}

static void use_file(uint32_t f, bool writes)
{
	uint32_t i;
	char path[256];
	int fd;

	me->file = f;
	file_path(path, sizeof(path), f);
	fd = open(path, writes ? O_RDWR : O_RDONLY);
	if (fd < 0) {
		wrong("%s: %s", path, strerror(errno));
		return;
	}
	for (i = 1 + below(4); i; i--) {
		if (writes && below(10) < 6)
			write_page(fd, f, below(pages_of(f)));
		else if (below(20))
			read_page(fd, f, below(pages_of(f)));
		else
			read_map(fd, f);
	}
	if (writes && !below(25) && fsync(fd))
		wrong("fsync of file %u: %s", f, strerror(errno));
	if (!below(25))
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
}

static void on_sigbus(int sig)
{
	wrong("SIGBUS in file %u", me->file);
	_exit(sig);
}

static void *run(void *arg)
{
	uint32_t self = (uintptr_t)arg, next, f;
	bool writes;

	me = &board->thread[self];
	me->tid = syscall(SYS_gettid);
	rng = (struct fuzz_rng){ board->seed * MAX_THREADS + self };
	next = below(board->files);
	while (!board->stop && !board->wrong) {
		f = pick(&next);
		writes = !below(4);
		if (writes) {
			f = f / board->threads * board->threads + self;
			if (f >= board->files)
				f = self;
		}
		use_file(f, writes);
		__atomic_add_fetch(&me->done, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

void work(uint32_t process)
{
	uint32_t nr = board->threads / board->processes, i;
	pthread_t thread[MAX_THREADS];

	signal(SIGBUS, on_sigbus);
	for (i = 0; i < nr; i++)
		if (pthread_create(&thread[i], NULL, run,
				   (void *)(uintptr_t)(process * nr + i))) {
			wrong("no thread");
			_exit(1);
		}
	for (i = 0; i < nr; i++)
		pthread_join(thread[i], NULL);
	_exit(0);
}
