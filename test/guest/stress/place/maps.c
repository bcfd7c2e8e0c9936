// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations of maps. A page that was cut may be gone: SIGBUS there, and nowhere else,
 * is no error.
 */
#include "place.h"

#include <sys/mman.h>
#include <sys/wait.h>

#ifndef MADV_COLD
#define MADV_COLD 20
#define MADV_PAGEOUT 21
#endif

static struct before b;
static const char *where;

static void check_map(void)
{
	uint32_t i;

	for (i = 0; i < b.nr; i++)
		check(&b, i, (uint64_t *)(map[b.f] + (b.page + i) * PAGE_BYTES), where);
}

static bool look(uint32_t f, uint32_t page, uint32_t nr, const char *how)
{
	where = how;
	remember(&b, f, page, nr);
	if (guarded(check_map))
		return true;
	if (f != FILE_CUT || page + nr <= CUT_FIRST)
		wrong("%s: SIGBUS in file %u page %u", how, f, page);
	return false;
}

bool op_read_map(void)
{
	uint32_t nr = below(4) ? 1 : 1 + below(MOST), f = below(NR_FILES);

	return look(f, below(NR_PAGES - nr + 1), nr, "map");
}

static uint64_t to_write;

static void write_one(void)
{
	*(volatile uint64_t *)(map[b.f] + b.page * PAGE_BYTES + 8 * word_at(self)) =
		to_write;
}

bool op_write_map(void)
{
	uint32_t cuts;

	b.f = below(2) ? FILE_MAPPED : FILE_CUT;
	b.page = below(NR_PAGES);
	to_write = begin_write(b.f, b.page, self, &cuts);
	if (guarded(write_one)) {
		end_write(b.f, b.page, self, to_write, cuts);
		return true;
	}
	if (b.f != FILE_CUT || b.page < CUT_FIRST)
		wrong("SIGBUS in a write to file %u page %u", b.f, b.page);
	return false;
}

bool op_madvise(void)
{
	static const int advice[] = { MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL,
				      MADV_WILLNEED, MADV_DONTNEED, MADV_COLD, MADV_PAGEOUT };
	uint32_t nr = 1 + below(MOST), f = below(NR_FILES);

	return !madvise(map[f] + below(NR_PAGES - nr + 1) * PAGE_BYTES, nr * PAGE_BYTES,
			advice[below(7)]);
}

/* Pages that are locked stay: of the file that nothing else takes pages from. */
static uint32_t locked, nr_locked;

/* Of one file, the others' maps are as they were: with functions of ours, or without. */
bool op_remap(void)
{
	uint32_t f = below(NR_FILES);

	if (f == FILE_MAPPED)
		nr_locked = 0;
	munmap(map[f], NR_PAGES * PAGE_BYTES);
	map[f] = mmap(NULL, NR_PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		      file[f], 0);
	if (map[f] == MAP_FAILED)
		wrong("mmap: %s", strerror(errno));
	return true;
}

/* Return: the first of them that is not in memory; nr_locked: all are. */
static uint32_t missing(void)
{
	unsigned char in[MOST] = { 0 };
	uint32_t i = 0;

	if (mincore(map[FILE_MAPPED] + locked * PAGE_BYTES, nr_locked * PAGE_BYTES, in))
		return 0;
	while (i < nr_locked && in[i] & 1)
		i++;
	return i;
}

/* One that was locked while it was being evicted is brought back within a moment. */
static bool still_there(void)
{
	int tries;

	for (tries = 0; missing() < nr_locked; tries++) {
		if (tries == 1000) {
			wrong("page %u, locked, is gone", locked + missing());
			return false;
		}
		usleep(10000);
	}
	return true;
}

bool op_unlock(void)
{
	bool ok;

	if (!nr_locked)
		return false;
	ok = still_there() && look(FILE_MAPPED, locked, nr_locked, "locked map");
	munlock(map[FILE_MAPPED] + locked * PAGE_BYTES, nr_locked * PAGE_BYTES);
	nr_locked = 0;
	return ok;
}

bool op_lock(void)
{
	uint32_t nr = 1 + below(MOST / 2), page = below(NR_PAGES - nr + 1);

	if (nr_locked)
		op_unlock();
	if (mlock(map[FILE_MAPPED] + page * PAGE_BYTES, nr * PAGE_BYTES))
		return false;
	locked = page;
	nr_locked = nr;
	return true;
}

bool op_msync(void)
{
	uint32_t nr = 1 + below(MOST), f = below(NR_FILES);

	if (msync(map[f] + below(NR_PAGES - nr + 1) * PAGE_BYTES, nr * PAGE_BYTES,
		  below(2) ? MS_SYNC : MS_ASYNC))
		wrong("msync of file %u: %s", f, strerror(errno));
	return true;
}

/* A copy is nobody else's. */
bool op_private(void)
{
	uint32_t page = below(NR_PAGES), i;
	volatile uint64_t *mine;

	mine = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE,
		    file[FILE_MAPPED], page * PAGE_BYTES);
	if (mine == MAP_FAILED)
		return false;
	remember(&b, FILE_MAPPED, page, 1);
	check(&b, 0, mine, "private map");
	mine[511] = page + 1;
	for (i = 0; i < 10; i++)
		op_read_map();
	if (mine[511] != page + 1)
		wrong("a private copy of page %u has changed", page);
	munmap((void *)mine, PAGE_BYTES);
	return true;
}

/* A child has the maps, and reads them and the files. */
bool op_fork(void)
{
	pid_t pid = fork();
	int status, i;

	if (!pid) {
		for (i = 0; i < 10; i++) {
			op_read_map();
			op_read();
		}
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return false;
	if (status)
		wrong("a child ended with status %x", status);
	return true;
}
