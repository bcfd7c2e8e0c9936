// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is written through a region, and what was promised of it, in an order
 * that a log of the disk shows: test/guest/test_durable.py.
 *
 *	hipec-guest-test --stamp FILE PHASE ROUNDS SEED
 *	hipec-guest-test --stamp-check FILE PHASE
 *
 * Two threads fill pages of FILE (a file, or the disk itself from RAW_OFFSET on)
 * with rising stamps, more pages than there are frames. Meanwhile the program
 * syncs in one way or another, ROUNDS times (0: for ever), and when that has
 * returned 0 it writes a record of what each page held at least before, past all
 * caches, to the disk's record area, and says so on the console.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "guest.h"

#define LOGGED "/dev/vda"
#define RAW_OFFSET (16ul << 20)
#define RECORDS_OFFSET (18ul << 20)
#define RECORD_SLOTS 16
#define MAGIC 0x64726f6365726870ull

#define STAMPED 256
#define STAMP_FRAMES 64
#define STAMPERS 2
#define WORDS (PAGE_BYTES / 8)

/* One page of the disk. test_durable.py knows it as well. */
struct record {
	uint64_t magic, phase, seq, promised[STAMPED];
} __attribute__((aligned(PAGE_BYTES)));

static struct map stamped;
static uint64_t phase;
static _Atomic uint64_t stored[STAMPED];	/* what a page holds at least */
static atomic_bool over;

static uint64_t stamp_word(uint64_t stamp, size_t page)
{
	return stamp ? stamp << 16 | phase << 12 | page : 0;
}

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Word after word: a page is seen as two stamps at most, the newer first. */
static void *stamper(void *arg)
{
	size_t id = (size_t)arg, i;
	uint32_t seed = id + 1;

	while (!over) {
		size_t page = next(&seed) % (STAMPED / STAMPERS) * STAMPERS + id;
		volatile uint64_t *word = (void *)(stamped.base +
						   page * PAGE_BYTES);
		uint64_t stamp = stored[page] + 1;

		for (i = 0; i < WORDS; i++)
			word[i] = stamp_word(stamp, page);
		stored[page] = stamp;
	}
	return NULL;
}

/* Until each thread has filled a page: syncs before that could promise nothing. */
static void wait_for_stamps(void)
{
	size_t id, page;

	for (id = 0; id < STAMPERS; id++)
		for (page = id; !stored[page]; page = (page + STAMPERS) % STAMPED)
			sched_yield();
}

/* One of the ways in which a program asks for durability. */
static void sync_somehow(uint32_t *seed, struct record *r)
{
	size_t first = 0, nr = STAMPED, i;
	uint32_t how = next(seed) % 4;

	if (how == 3) {
		first = next(seed) % STAMPED;
		nr = 1 + next(seed) % (STAMPED - first);
	}
	memset(r->promised, 0, sizeof(r->promised));
	for (i = first; i < first + nr; i++)
		r->promised[i] = stored[i];
	if (how == 0)
		CHECK(!fsync(stamped.region));
	else if (how == 1)
		CHECK(!fdatasync(stamped.region));
	else
		CHECK(!msync(stamped.base + first * PAGE_BYTES, nr * PAGE_BYTES,
			     MS_SYNC));
}

static void open_stamped(const char *path)
{
	bool raw = !strcmp(path, LOGGED);

	stamped.file = open(path, O_RDWR | (raw ? 0 : O_CREAT), 0600);
	CHECK(stamped.file >= 0);
	stamped.pages = STAMPED;
	/* A hole: its blocks are allocated as pages are written. */
	if (!raw)
		CHECK(!ftruncate(stamped.file, STAMPED * PAGE_BYTES) &&
		      !fsync(stamped.file));
	stamped.container = load_policy("fifo2", STAMP_FRAMES, 1);
	stamped.region = hipec_attach(stamped.container, stamped.file,
				      raw ? RAW_OFFSET : 0,
				      STAMPED * PAGE_BYTES, true, NULL);
	if (stamped.region < 0)
		FAIL("attach %s: %s", path, strerror(-stamped.region));
	stamped.base = mmap(NULL, STAMPED * PAGE_BYTES, PROT_READ | PROT_WRITE,
			    MAP_SHARED, stamped.region, 0);
	CHECK(stamped.base != MAP_FAILED);
}

static int open_records(void)
{
	int fd = open(LOGGED, O_RDWR | __O_DIRECT);

	CHECK(fd >= 0);
	return fd;
}

static off_t slot_of(uint64_t seq)
{
	return RECORDS_OFFSET + seq % RECORD_SLOTS * PAGE_BYTES;
}

/* Exits at the end, or when a sync fails. */
int stamp(const char *path, int number, int rounds_wanted, uint32_t seed)
{
	static struct record r = { .magic = MAGIC };
	pthread_t thread[STAMPERS];
	int fd = open_records();
	size_t i;

	r.phase = phase = number;
	open_stamped(path);
	for (i = 0; i < STAMPERS; i++)
		CHECK(!pthread_create(&thread[i], NULL, stamper, (void *)i));
	wait_for_stamps();
	while (!rounds_wanted || r.seq < (uint64_t)rounds_wanted) {
		r.seq++;
		sync_somehow(&seed, &r);
		CHECK(pwrite(fd, &r, sizeof(r), slot_of(r.seq)) == sizeof(r));
		printf("record %d %llu\n", number, (unsigned long long)r.seq);
		fflush(stdout);
	}
	over = true;
	for (i = 0; i < STAMPERS; i++)
		CHECK(!pthread_join(thread[i], NULL));
	close_map(&stamped);
	close(fd);
	return 0;
}

/* Whether @word says that page @page holds @stamp at least. */
static void check_page(const uint64_t *word, size_t page, uint64_t least)
{
	uint64_t newest = word[0] >> 16;
	size_t i = 0;

	while (i < WORDS && word[i] == stamp_word(newest, page))
		i++;
	if (i < WORDS)
		newest--;
	while (i < WORDS && word[i] == stamp_word(newest, page))
		i++;
	if (i < WORDS || newest < least)
		FAIL("page %zu, word %zu: %#llx; %llu was promised", page, i,
		     (unsigned long long)word[i % WORDS],
		     (unsigned long long)least);
}

/* After a crash: what the newest record of the disk promised is in the file. */
int stamp_check(const char *path, int number)
{
	static uint64_t word[WORDS] __attribute__((aligned(PAGE_BYTES)));
	static struct record r, newest;
	uint64_t promised = 0;
	int fd = open_records();
	size_t i;

	phase = number;
	for (i = 0; i < RECORD_SLOTS; i++) {
		CHECK(pread(fd, &r, sizeof(r), slot_of(i)) == sizeof(r));
		if (r.magic == MAGIC && r.phase == phase && r.seq > newest.seq)
			newest = r;
	}
	CHECK(newest.seq);
	close(fd);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	for (i = 0; i < STAMPED; i++) {
		CHECK(pread(fd, word, PAGE_BYTES, i * PAGE_BYTES) ==
		      (ssize_t)PAGE_BYTES);
		check_page(word, i, newest.promised[i]);
		promised += newest.promised[i] != 0;
	}
	close(fd);
	printf("record %llu: %llu pages hold what was promised\n",
	       (unsigned long long)newest.seq, (unsigned long long)promised);
	return 0;
}
