// SPDX-License-Identifier: GPL-2.0-only
/*
 * A disk that answers nothing, for more works than a workqueue has workers: what has another disk
 * goes on.
 */
#include <fcntl.h>
#include <glob.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "guest.h"

#define MANY 300
#define STUCK "/tmp/stuck"
#define FILE_W DIR_DATA "disks"
#define WRITEBACK "/proc/sys/vm/dirty_writeback_centisecs"

static void put_word(struct map *m, size_t page, uint64_t word)
{
	*(volatile uint64_t *)(m->base + page * PAGE_BYTES) = word;
}

static const char *stuck_file(size_t i)
{
	static char path[64];

	snprintf(path, sizeof(path), STUCK "/%zu", i);
	return path;
}

static void answers(void)
{
	cut_disk_answers(true);
}

static void unmount_stuck(void)
{
	umount2(STUCK, MNT_DETACH);
}

/* The blocks that are free are not known before they are asked for. */
static void mount_stuck(void)
{
	CHECK(!mount(CUT_DISK, STUCK, "ext4", 0, "no_prefetch_block_bitmaps"));
}

/* A file system on a disk that answers until it is told not to; files of @pages pages each. */
static void make_stuck_files(size_t pages)
{
	const struct rlimit files = { 8 * MANY, 8 * MANY };
	size_t i;

	CHECK(!setrlimit(RLIMIT_NOFILE, &files));
	make_cut_disk(32);
	CHECK(!system("mke2fs -q " CUT_DISK " >/dev/null"));
	mkdir(STUCK, 0700);
	mount_stuck();
	atexit(unmount_stuck);
	for (i = 0; i < MANY; i++)
		make_file(stuck_file(i), pages * PAGE_BYTES);
	atexit(answers);
}

/* Containers write to it: one with another disk has its pages written. */
static void others_are_written(void)
{
	static struct map stuck[MANY], m;
	size_t i;

	make_stuck_files(1);
	for (i = 0; i < MANY; i++) {
		open_map(&stuck[i], "fifo", stuck_file(i), 2, 1, true);
		put_word(&stuck[i], 0, 7000 + i);
	}
	cut_disk_answers(false);
	for (i = 0; i < MANY; i++)
		CHECK(!munmap(stuck[i].base, PAGE_BYTES));
	make_file(FILE_W, 64 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_W, 4, 1, true);
	for (i = 0; i < 64; i++)
		put_word(&m, i, 80 + i);
	CHECK_LE(60, get_status(m.container).counters.written_pages);
	close_map(&m);
	for (i = 0; i < 64; i++)
		CHECK_EQ(stored_word(FILE_W, i), 80 + i);
	cut_disk_answers(true);
	for (i = 0; i < MANY; i++) {
		CHECK(!close(stuck[i].region) && !close(stuck[i].container));
		CHECK(!close(stuck[i].file));
		CHECK_EQ(stored_word(stuck_file(i), 0), 7000 + i);
	}
}

/*
 * A ring of io_uring that has descriptors of regions: when it ends, a thread of the kernel puts them.
 * Whoever closed one would have it written.
 */
static int ring_of(int *regions, unsigned int nr)
{
	struct io_uring_params p = { 0 };
	int ring = syscall(SYS_io_uring_setup, 1, &p);
	unsigned int i;

	CHECK(ring >= 0);
	CHECK(!syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, regions, nr));
	for (i = 0; i < nr; i++)
		CHECK(!close(regions[i]));
	return ring;
}

/* Regions of it end: one with another disk ends, too, and is written. */
static void others_end(void)
{
	static int region[MANY + 1];
	static struct map m[MANY + 1];
	int ring, other, c;
	size_t i;

	make_stuck_files(1);
	make_file(FILE_W, PAGE_BYTES);
	for (i = 0; i <= MANY; i++) {
		open_map(&m[i], "fifo", i < MANY ? stuck_file(i) : FILE_W, 2, 1, true);
		CHECK(!close(m[i].file) && !close(m[i].container));
		region[i] = m[i].region;
	}
	ring = ring_of(region, MANY);
	other = ring_of(&region[MANY], 1);
	for (i = 0; i <= MANY; i++)
		put_word(&m[i], 0, 8000 + i);
	cut_disk_answers(false);
	for (i = 0; i <= MANY; i++)
		CHECK(!munmap(m[i].base, PAGE_BYTES));
	CHECK(!close(ring));
	usleep(1000000);
	CHECK(!close(other));
	c = load_policy("fifo", 2, 1);
	m[MANY].file = open(FILE_W, O_RDWR);
	do
		region[MANY] = hipec_attach(c, m[MANY].file, 0, 0, true, NULL);
	while (region[MANY] == -EBUSY);
	CHECK(region[MANY] >= 0 && !close(region[MANY]) && !close(m[MANY].file) && !close(c));
	CHECK_EQ(stored_word(FILE_W, 0), 8000 + MANY);
	CHECK_LE(MANY, frames_held());
	cut_disk_answers(true);
	while (frames_held())
		usleep(10000);
	for (i = 0; i < MANY; i++)
		CHECK_EQ(stored_word(stuck_file(i), 0), 8000 + i);
}

static void default_writeback(void)
{
	put_text(WRITEBACK, "500");
}

/* Threads of the kernel that wait for a disk. */
static int nr_asleep(void)
{
	char comm[64], state;
	int nr = 0;
	glob_t all;
	size_t i;

	CHECK(!glob("/proc/[0-9]*/stat", 0, NULL, &all));
	for (i = 0; i < all.gl_pathc; i++) {
		FILE *f = fopen(all.gl_pathv[i], "r");

		if (!f)
			continue;
		if (fscanf(f, "%*d (%63[^)]) %c", comm, &state) == 2)
			nr += state == 'D' && !strncmp(comm, "kworker", 7);
		fclose(f);
	}
	globfree(&all);
	return nr;
}

/* Writes two pages; flush-oldest has the first written when it hears of the second. */
static void write_two(int file)
{
	static const char pages[2 * PAGE_BYTES] = { 1 };

	CHECK(pwrite(file, pages, sizeof(pages), 0) == sizeof(pages));
}

static bool is_dirty(int c, int file)
{
	struct hipec_why w = { .flags = HIPEC_WHY_BY_FILE, .fd = file };

	CHECK_EQ(hipec_why(c, 0, &w), 0);
	return w.state & HIPEC_WHY_DIRTY;
}

/*
 * Files in place on it are to be written, by containers that end: others' Timers run, their files
 * are written, and those containers end, of which one is enough on a slow kernel.
 */
static void others_are_cleaned(void)
{
	static int c[MANY], file[MANY];
	int ticks, other, beside, nr = rounds(MANY) ?: 1, i;
	struct hipec_query q;

	put_text(WRITEBACK, "0");
	atexit(default_writeback);
	make_stuck_files(0);
	make_file(FILE_W, PAGE_BYTES);
	CHECK(!umount(STUCK));
	mount_stuck();
	for (i = 0; i < nr; i++) {
		c[i] = open_cache("flush-oldest", 8);
		file[i] = take_file(c[i], stuck_file(i), O_RDWR);
	}
	cut_disk_answers(false);
	for (i = 0; i < nr; i++)
		write_two(file[i]);
	while (!nr_asleep())
		usleep(10000);
	usleep(1000000);
	printf("# %d workers wait for the disk\n", nr_asleep());
	ticks = open_cache("newest-ticks", 8);
	while (operand_of(ticks, "ticks").value < 3)
		usleep(10000);
	other = open_cache("flush-oldest", 8);
	beside = take_file(other, FILE_W, O_RDWR);
	write_two(beside);
	while (is_dirty(other, beside))
		usleep(10000);
	for (i = 0; i < nr; i++)
		CHECK(is_dirty(c[i], file[i]) && !close(c[i]));
	do
		CHECK(!hipec_query(other, &q));
	while (q.containers > 2);
	CHECK_LE(1, nr_asleep());
	cut_disk_answers(true);
	for (i = 0; i < nr; i++)
		CHECK(!fsync(file[i]) && !close(file[i]));
	close(beside);
	close(other);
	close(ticks);
}

static const struct test disk_tests[] = {
	{ "disks_are_written_while_another_answers_nothing", others_are_written },
	{ "regions_end_while_another_disk_answers_nothing", others_end },
	{ "cache_disks_are_written_while_another_answers_nothing", others_are_cleaned },
	{ 0 }
};
SUITE(disk_tests, 0);
