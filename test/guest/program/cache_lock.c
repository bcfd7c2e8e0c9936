// SPDX-License-Identifier: GPL-2.0-only
/* Files in place: what mlock() holds stays, whatever the policy says. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_A DIR_DATA "cache-lock"

/* What this CPU's batches hold is put on its lists: mlock() begins with that. */
static void drain_this_cpu(void)
{
	static unsigned char page[PAGE_BYTES] __attribute__((aligned(4096)));

	CHECK(!mlock(page, sizeof(page)));
	CHECK(!munlock(page, sizeof(page)));
}

/*
 * The kernel counts no lock of a folio that is in another CPU's batch, so that its mark
 * goes with the second lock that is undone, while the first one holds.
 */
static void locked_by_two(void)
{
	const size_t pages = 512, locked = 8;
	unsigned char *base[2], page[PAGE_BYTES];
	struct map m;
	size_t i;

	make_file(FILE_A, pages * PAGE_BYTES);
	m.container = open_cache("fifo", 64);
	m.file = take_file(m.container, FILE_A, O_RDONLY);
	for (i = 0; i < 2; i++) {
		base[i] = mmap(NULL, pages * PAGE_BYTES, PROT_READ, MAP_SHARED, m.file, 0);
		CHECK(base[i] != MAP_FAILED);
	}
	m.base = base[0];
	CHECK(!posix_fadvise(m.file, 0, 0, POSIX_FADV_RANDOM));
	go_to(1);
	drain_this_cpu();
	for (i = 0; i < locked; i++)
		CHECK(pread(m.file, page, sizeof(page), i * PAGE_BYTES) == PAGE_BYTES);
	CHECK(go_to(0));
	CHECK(!mlock(base[0], locked * PAGE_BYTES));
	drain_this_cpu();
	if (go_to(1))
		drain_this_cpu();
	CHECK(!mlock(base[1], locked * PAGE_BYTES));
	CHECK(!munlock(base[1], locked * PAGE_BYTES));
	for (i = 0; i < 4; i++)
		sweep_read(m.file, pages);
	CHECK_EQ(nr_in_memory(&m, 0, locked), locked);
	CHECK_LE(get_status(m.container).resident, 64 + 2 * 32);

	CHECK(!munlock(base[0], locked * PAGE_BYTES));
	for (i = 0; i < 4; i++)
		sweep_read(m.file, pages);
	CHECK_LE(nr_in_memory(&m, 0, locked), locked - 1);
	for (i = 0; i < 2; i++)
		CHECK(!munmap(base[i], pages * PAGE_BYTES));
	close(m.file);
	close(m.container);
}

/*
 * A child that evicts. It has the file mapped so often that to look at all its maps, or to
 * unmap a page, takes a while; the parent's map, which begins behind them, comes last.
 */
static pid_t evictor(int file, size_t pages)
{
	struct map m = { .file = file, .pages = pages };
	pid_t pid = fork();
	int maps = 2000;
	size_t i;

	CHECK(pid >= 0);
	if (pid)
		return pid;
	while (maps--) {
		m.base = mmap(NULL, pages * PAGE_BYTES, PROT_READ, MAP_SHARED, file, 0);
		CHECK(m.base != MAP_FAILED);
	}
	CHECK(!madvise(m.base, pages * PAGE_BYTES, MADV_RANDOM));
	for (i = 0; ; i++)
		touch(&m, i % pages);
}

/*
 * An mlock() comes between the look at the maps and the unmapping of a victim: it finds
 * its pages mapped, and then they are not. They stay in memory all the same.
 */
static void locked_as_it_goes(void)
{
	const size_t pages = 96, first = 40, locked = 16;
	unsigned char *mine;
	int gone = 0, round;
	struct map m;
	pid_t child;
	size_t i;

	make_file(FILE_A, pages * PAGE_BYTES);
	m.container = open_cache("fifo", 64);
	m.file = take_file(m.container, FILE_A, O_RDONLY);
	child = evictor(m.file, pages);
	mine = mmap(NULL, locked * PAGE_BYTES, PROT_READ, MAP_SHARED, m.file,
		    first * PAGE_BYTES);
	CHECK(mine != MAP_FAILED);
	CHECK(!madvise(mine, locked * PAGE_BYTES, MADV_RANDOM));
	m.base = mine - first * PAGE_BYTES;
	for (round = 0; round < rounds(100); round++) {
		for (i = 0; i < locked; i++)
			touch(&m, first + i);
		CHECK(!mlock(mine, locked * PAGE_BYTES));
		/* The child, which would bring in what is gone, ends what it is about. */
		CHECK(!kill(child, SIGSTOP));
		usleep(20000);
		gone += nr_in_memory(&m, first, locked) != locked;
		CHECK(!kill(child, SIGCONT));
		CHECK(!munlock(mine, locked * PAGE_BYTES));
		usleep(round % 13 * 1000);
	}
	kill(child, SIGKILL);
	CHECK(waitpid(child, NULL, 0) == child);
	CHECK_EQ(gone, 0);
	CHECK(!munmap(mine, locked * PAGE_BYTES));
	close(m.file);
	close(m.container);
}

static const struct test cache_lock_tests[] = {
	{ "cache_keeps_what_one_of_two_has_locked", locked_by_two },
	{ "cache_keeps_what_was_locked_as_it_went", locked_as_it_goes },
	{ 0 }
};
SUITE(cache_lock_tests, 0);
