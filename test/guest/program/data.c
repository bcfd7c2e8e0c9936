// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data: what is read is what the file holds, what is written gets there.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_D DIR_DATA "data"

static uint64_t word_in_file(size_t page)
{
	uint64_t word;
	int fd = open(FILE_D, O_RDONLY);

	CHECK(pread(fd, &word, sizeof(word), page * PAGE_BYTES) == sizeof(word));
	close(fd);
	return word;
}

static void put_word(struct map *m, size_t page, uint64_t word)
{
	*(volatile uint64_t *)(m->base + page * PAGE_BYTES) = word;
}

/* Twice the frames, two passes: every page is evicted dirty and read again. */
static void written_data_survives_eviction(void)
{
	struct map m;
	size_t i;

	make_file(FILE_D, 32 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_D, 16, 1, true);
	for (i = 0; i < 32; i++)
		put_word(&m, i, 1000 + i);
	for (i = 0; i < 32; i++)
		CHECK_EQ(get_word(&m, i), 1000 + i);
	CHECK_EQ(get_status(m.container).counters.faults, 64);
	CHECK_EQ(get_status(m.container).counters.evictions, 48);
	/* The 32 written once; none dirty again, none written twice. */
	CHECK_EQ(get_status(m.container).counters.written_pages, 32);
	close_map(&m);
	for (i = 0; i < 32; i++)
		CHECK_EQ(word_in_file(i), 1000 + i);
}

static void msync_and_fsync(void)
{
	struct map m;

	make_file(FILE_D, 8 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_D, 8, 1, true);
	put_word(&m, 1, 11);
	put_word(&m, 2, 22);
	CHECK_EQ(get_status(m.container).dirty, 2);
	CHECK(!msync(m.base + PAGE_BYTES, PAGE_BYTES, MS_SYNC));
	CHECK_EQ(word_in_file(1), 11);
	CHECK_EQ(word_in_file(2), page_word(2));	/* not asked for */
	CHECK(!fsync(m.region));
	CHECK_EQ(word_in_file(2), 22);
	CHECK_EQ(get_status(m.container).dirty, 0);
	CHECK_EQ(get_status(m.container).counters.written_pages, 2);
	/* A page that was written back is tracked again. */
	put_word(&m, 1, 111);
	CHECK_EQ(get_status(m.container).dirty, 1);
	CHECK(!fsync(m.region));
	CHECK_EQ(word_in_file(1), 111);
	close_map(&m);
}

/*
 * A write has 32 pages at most, that follow each other: 40 take two, three with
 * gaps take three, the last whole page and the end of the file one each.
 */
static void neighbours_in_one_write(void)
{
	const size_t alone[] = { 50, 52, 54, 59, 60 };
	struct hipec_status s;
	struct map m;
	size_t i;

	make_file(FILE_D, 60 * PAGE_BYTES + 100);
	open_map(&m, "fifo", FILE_D, 61, 1, true);
	for (i = 0; i < 40; i++)
		put_word(&m, i, 1000 + i);
	for (i = 0; i < sizeof(alone) / sizeof(*alone); i++)
		put_word(&m, alone[i], 1000 + alone[i]);
	CHECK(!fsync(m.region));
	s = get_status(m.container);
	CHECK_EQ(s.counters.written_pages, 45);
	CHECK_EQ(s.counters.write_ios, 7);
	for (i = 0; i < 40; i++)
		CHECK_EQ(word_in_file(i), 1000 + i);
	for (i = 0; i < sizeof(alone) / sizeof(*alone); i++)
		CHECK_EQ(word_in_file(alone[i]), 1000 + alone[i]);
	/* From behind: the page that is asked for is the last of its write. */
	put_word(&m, 31, 1);
	for (i = 30; i < 31; i--)
		put_word(&m, i, 1);
	CHECK(!fsync(m.region));
	CHECK_EQ(get_status(m.container).counters.write_ios, 8);
	close_map(&m);
}

static void munmap_writes_back(void)
{
	struct map m;
	int i;

	make_file(FILE_D, 8 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_D, 8, 1, true);
	put_word(&m, 3, 33);
	CHECK(!munmap(m.base, m.pages * PAGE_BYTES));
	/* In the background: munmap cannot wait for a disk. */
	for (i = 0; i < 1000000; i++)
		if (get_status(m.container).counters.written_pages)
			break;
	CHECK_EQ(word_in_file(3), 33);
	m.base = mmap(NULL, m.pages * PAGE_BYTES, PROT_READ | PROT_WRITE,
		      MAP_SHARED, m.region, 0);
	CHECK_EQ(get_word(&m, 3), 33);
	close_map(&m);
}

static void close_writes_back(void)
{
	struct map m;

	make_file(FILE_D, 8 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_D, 8, 1, true);
	put_word(&m, 3, 33);
	CHECK(!close(m.region));
	CHECK_EQ(word_in_file(3), 33);
	/* The mapping still works; its end writes the rest. */
	put_word(&m, 4, 44);
	CHECK(!close(m.container));
	CHECK(!munmap(m.base, m.pages * PAGE_BYTES));
	CHECK_EQ(word_in_file(4), 44);
	/* Re-opened, through a region again. */
	open_map(&m, "mru", FILE_D, 2, 1, false);
	CHECK_EQ(get_word(&m, 3), 33);
	CHECK_EQ(get_word(&m, 4), 44);
	close_map(&m);
}

/* A file that ends inside a page keeps its length, and the rest reads zero. */
static void last_page(void)
{
	struct map m;
	struct stat st;
	size_t i;

	make_file(FILE_D, 3 * PAGE_BYTES + 1000);
	open_map(&m, "fifo", FILE_D, 4, 4, true);
	touch(&m, 3);
	for (i = 1000; i < PAGE_BYTES; i++)
		CHECK_EQ(m.base[3 * PAGE_BYTES + i], 0);
	put_word(&m, 3, 5);
	m.base[3 * PAGE_BYTES + 999] = 7;
	m.base[3 * PAGE_BYTES + 1000] = 9;	/* past the end: goes nowhere */
	CHECK(!fsync(m.region));
	CHECK(!stat(FILE_D, &st));
	CHECK_EQ(st.st_size, 3 * PAGE_BYTES + 1000);
	close_map(&m);
	CHECK(!stat(FILE_D, &st));
	CHECK_EQ(st.st_size, 3 * PAGE_BYTES + 1000);
	CHECK_EQ(word_in_file(3), 5);
}

static void truncate_below(void)
{
	struct map m;
	struct stat st;

	make_file(FILE_D, 8 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_D, 4, 1, true);
	put_word(&m, 5, 55);
	CHECK(!truncate(FILE_D, 4 * PAGE_BYTES));
	CHECK(gets_sigbus(&m, 6));
	CHECK(!gets_sigbus(&m, 2));
	/* Page 5 is behind the end: it is not written, the file not extended. */
	CHECK(!fsync(m.region));
	CHECK(!stat(FILE_D, &st));
	CHECK_EQ(st.st_size, 4 * PAGE_BYTES);
	close_map(&m);
}

/* Child and parent share frames, and both lose a page that is evicted. */
static void fork_shares(void)
{
	struct map m;
	int status, to_child[2], to_parent[2];
	pid_t pid;
	char c;

	make_file(FILE_D, 8 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_D, 2, 1, true);
	put_word(&m, 0, 42);
	CHECK(!pipe(to_child) && !pipe(to_parent));
	pid = fork();
	if (!pid) {
		CHECK_EQ(get_word(&m, 0), 42);
		put_word(&m, 0, 43);
		touch(&m, 1);
		touch(&m, 2);		/* page 0 goes, dirty */
		CHECK(write(to_parent[1], "x", 1) == 1);
		CHECK(read(to_child[0], &c, 1) == 1);
		exit(0);
	}
	CHECK(read(to_parent[0], &c, 1) == 1);
	CHECK_EQ(word_in_file(0), 43);
	CHECK_EQ(get_word(&m, 0), 43);
	CHECK(write(to_child[1], "x", 1) == 1);
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	close_map(&m);
}

/* MADV_DONTNEED takes mappings, not frames: soft faults, no reads. */
static void madvise_dontneed(void)
{
	struct map m;
	struct hipec_status s;
	size_t i;

	make_file(FILE_D, 8 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_D, 8, 1, true);
	for (i = 0; i < 8; i++)
		put_word(&m, i, i);
	CHECK(!madvise(m.base, 8 * PAGE_BYTES, MADV_DONTNEED));
	for (i = 0; i < 8; i++)
		CHECK_EQ(get_word(&m, i), i);
	s = get_status(m.container);
	CHECK_EQ(s.counters.faults, 8);
	CHECK_EQ(s.counters.soft_faults, 8);
	CHECK_EQ(s.counters.read_pages, 8);
	close_map(&m);
}

static void mremap_and_mlock(void)
{
	struct map m;
	void *p;

	make_file(FILE_D, 8 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_D, 4, 1, true);
	put_word(&m, 1, 77);
	CHECK(mremap(m.base, 8 * PAGE_BYTES, 16 * PAGE_BYTES, MREMAP_MAYMOVE) ==
	      MAP_FAILED && errno == EFAULT);
	CHECK(!mlock(m.base, 8 * PAGE_BYTES));
	p = mmap(NULL, 8 * PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		 -1, 0);
	m.base = mremap(m.base, 8 * PAGE_BYTES, 8 * PAGE_BYTES,
			MREMAP_MAYMOVE | MREMAP_FIXED, p);
	CHECK(m.base == p);
	CHECK_EQ(get_word(&m, 1), 77);
	touch(&m, 5);
	close_map(&m);
}

/* A page in a pipe is pinned: it is not evicted, and what was sent is right. */
static void pinned_page(void)
{
	struct iovec iov;
	struct map m;
	uint64_t word;
	int pipes[2];
	size_t i;

	make_file(FILE_D, 16 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_D, 2, 1, true);
	CHECK(!pipe(pipes));
	put_word(&m, 0, 99);
	iov = (struct iovec){ m.base, sizeof(word) };
	CHECK(vmsplice(pipes[1], &iov, 1, 0) == sizeof(word));
	for (i = 1; i < 16; i++)
		touch(&m, i);
	CHECK(get_status(m.container).counters.refused > 0);
	CHECK(read(pipes[0], &word, sizeof(word)) == sizeof(word));
	CHECK_EQ(word, 99);
	CHECK_EQ(get_word(&m, 0), 99);
	CHECK_EQ(get_status(m.container).counters.faults, 16);
	for (i = 1; i < 16; i++)
		touch(&m, i);
	CHECK_EQ(get_status(m.container).counters.forgotten, 1);
	CHECK_EQ(word_in_file(0), 99);		/* unpinned, it went */
	close_map(&m);
}

static int pipe_to_empty;

static void *empty_soon(void *arg)
{
	uint64_t word;

	usleep(20000);
	CHECK(read(pipe_to_empty, &word, sizeof(word)) == sizeof(word));
	return arg;
}

/*
 * With every frame in a pipe there is none for another page. A policy that has
 * tried all it knows of is not asked any more, so it is not given no page. A fault waits
 * for a pipe that somebody is about to empty, though another one just waited in vain.
 */
static void all_pinned(void)
{
	struct iovec iov;
	struct map m;
	pthread_t thread;
	int pipes[2];
	size_t i;

	make_file(FILE_D, 4 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_D, 2, 1, true);
	CHECK(!pipe(pipes));
	for (i = 0; i < 2; i++) {
		iov = (struct iovec){ m.base + i * PAGE_BYTES, sizeof(uint64_t) };
		CHECK(vmsplice(pipes[1], &iov, 1, 0) == sizeof(uint64_t));
	}
	CHECK(gets_sigbus(&m, 2));
	CHECK(!gets_sigbus(&m, 0));
	CHECK(gets_sigbus(&m, 2));
	pipe_to_empty = pipes[0];
	CHECK(!pthread_create(&thread, NULL, empty_soon, NULL));
	CHECK(!gets_sigbus(&m, 2));
	CHECK(!pthread_join(thread, NULL));
	CHECK(!gets_sigbus(&m, 3));
	CHECK_EQ(get_status(m.container).exit.kind, 0);
	close_map(&m);
}

#define THREADS 4
#define STRESS_PAGES 64
#define STRESS_STEPS 1000

static struct map stress_map;

/* Each thread has a word of its own on every page and a shadow copy of it. */
static void *stress(void *arg)
{
	uint64_t shadow[STRESS_PAGES] = { 0 };
	size_t id = (size_t)arg, i;
	uint32_t seed = id + 1;

	for (i = 0; i < (size_t)rounds(STRESS_STEPS); i++) {
		volatile uint64_t *word;
		size_t page;

		seed = seed * 1664525 + 1013904223;
		page = seed >> 16 & (STRESS_PAGES - 1);
		word = (void *)(stress_map.base + page * PAGE_BYTES +
				8 + 8 * id);
		if (*word != shadow[page])
			return (void *)1;
		*word = ++shadow[page];
		if (!(seed >> 28))
			msync(stress_map.base + page * PAGE_BYTES, PAGE_BYTES,
			      MS_SYNC);
	}
	return NULL;
}

static void threads_lose_nothing(void)
{
	pthread_t thread[THREADS];
	unsigned char zero[STRESS_PAGES * PAGE_BYTES] = { 0 };
	size_t i;
	void *lost;
	int fd = open(FILE_D, O_RDWR | O_CREAT | O_TRUNC, 0600);

	CHECK(write(fd, zero, sizeof(zero)) == sizeof(zero));
	close(fd);
	open_map(&stress_map, "fifo2", FILE_D, 16, 4, true);
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, stress, (void *)i));
	for (i = 0; i < THREADS; i++) {
		CHECK(!pthread_join(thread[i], &lost));
		CHECK(!lost);
	}
	CHECK(get_status(stress_map.container).counters.evictions > 100);
	close_map(&stress_map);
}

/* Threads that fault on one page at once cause one read. */
static void *touch_all(void *arg)
{
	size_t i;

	for (i = 0; i < STRESS_PAGES; i++)
		if (get_word(arg, i) != page_word(i))
			return (void *)1;
	return NULL;
}

static void one_read_for_many(void)
{
	pthread_t thread[THREADS];
	struct map m;
	size_t i;
	void *wrong;

	make_file(FILE_D, STRESS_PAGES * PAGE_BYTES);
	open_map(&m, "fifo", FILE_D, STRESS_PAGES, 1, false);
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, touch_all, &m));
	for (i = 0; i < THREADS; i++) {
		CHECK(!pthread_join(thread[i], &wrong));
		CHECK(!wrong);
	}
	CHECK_EQ(get_status(m.container).counters.read_pages, STRESS_PAGES);
	close_map(&m);
}

/* Pages that all disks have read. */
static uint64_t pages_from_disks(void)
{
	FILE *f = fopen("/proc/vmstat", "r");
	uint64_t kb = 0;
	char line[80];

	CHECK(f);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, "pgpgin ", 7))
			kb = strtoull(line + 7, NULL, 10);
	fclose(f);
	CHECK(kb);
	return kb / 4;
}

/* Map it anew and read it all. Return: pages that the disk had to read. */
static uint64_t sweep_new(bool writable)
{
	struct map m;
	uint64_t before, pages;

	open_map(&m, "fifo", FILE_D, 64, 8, writable);
	before = pages_from_disks();
	touch_range(&m, 0, m.pages);
	pages = pages_from_disks() - before;
	CHECK_EQ(get_status(m.container).counters.read_pages, m.pages);
	close_map(&m);
	return pages;
}

/* The page cache has the file, or a part. A region that is written to goes past it. */
static void copies_of_the_page_cache(void)
{
	char bytes[64 * PAGE_BYTES];
	int fd;

	if (data_has_no_disk())
		return;
	make_file(FILE_D, sizeof(bytes));
	CHECK_EQ(sweep_new(false), 64);
	fd = open(FILE_D, O_RDONLY);
	CHECK_EQ(read(fd, bytes, sizeof(bytes)), sizeof(bytes));
	CHECK_EQ(sweep_new(false), 0);
	if (type_of_data() != BTRFS_SUPER_MAGIC)
		CHECK_EQ(sweep_new(true), 64);
	CHECK_EQ(pread(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	CHECK(!posix_fadvise(fd, 32 * PAGE_BYTES, 0, POSIX_FADV_DONTNEED));
	CHECK_EQ(sweep_new(false), 64 - 32);
	close(fd);
}

/* What others store behind the file's end the page cache keeps for a while. */
static void copy_of_a_last_page(void)
{
	struct map m;
	size_t i;
	char *all;
	int fd;

	make_file(FILE_D, 3 * PAGE_BYTES + 100);
	fd = open(FILE_D, O_RDWR);
	all = mmap(NULL, 4 * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(all != MAP_FAILED);
	memset(all + 3 * PAGE_BYTES + 50, 7, 100);
	open_map(&m, "fifo", FILE_D, 8, 8, false);
	for (i = 50; i < PAGE_BYTES; i++)
		CHECK_EQ(m.base[3 * PAGE_BYTES + i], i < 100 ? 7 : 0);
	close_map(&m);
	munmap(all, 4 * PAGE_BYTES);
	close(fd);
}

static const struct test data_tests[] = {
	{ "data_survives_eviction_of_dirty_pages", written_data_survives_eviction },
	{ "msync_and_fsync_write_what_is_asked_for", msync_and_fsync },
	{ "neighbours_are_written_in_one_go", neighbours_in_one_write },
	{ "munmap_writes_back", munmap_writes_back },
	{ "close_writes_back_and_reopening_reads_it", close_writes_back },
	{ "last_page_keeps_the_file_s_length", last_page },
	{ "truncate_gives_sigbus_and_no_growth", truncate_below },
	{ "fork_shares_frames_and_evictions", fork_shares },
	{ "madvise_dontneed_keeps_frames", madvise_dontneed },
	{ "mremap_moves_but_does_not_grow", mremap_and_mlock },
	{ "pinned_pages_are_not_evicted", pinned_page },
	{ "a_fault_ends_in_sigbus_when_all_is_pinned", all_pinned },
	{ "threads_lose_no_write", threads_lose_nothing },
	{ "threads_on_one_page_cause_one_read", one_read_for_many },
	{ "what_the_page_cache_has_is_copied", copies_of_the_page_cache },
	{ "a_copy_of_the_page_cache_ends_where_the_file_ends",
	  copy_of_a_last_page },
	{ 0 }
};
SUITE(data_tests, ON_EACH_FS);
