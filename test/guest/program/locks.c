// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks in a circle: write() and direct I/O fault on a region while they hold a
 * file's lock, writeback waits for such a lock, others for mmap_lock. Nothing
 * of this may hang; each test has TEST_SECONDS.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_L DIR_DATA "locks"
#define FILE_M DIR_DATA "locks-other"
#define PAGES 64ul

static void fill(const char *path)
{
	make_file(path, PAGES * PAGE_BYTES);
}

static uint64_t word_of_file(const struct map *m, size_t page)
{
	uint64_t word;

	CHECK(pread(m->file, &word, sizeof(word), page * PAGE_BYTES) ==
	      sizeof(word));
	return word;
}

/*
 * write(file, its own region), pages not resident: each is read although the
 * write has the file's lock.
 */
static void write_to_own_backing(void)
{
	struct map m;
	size_t i;

	fill(FILE_L);
	open_map(&m, "fifo", FILE_L, 4, 1, true);
	for (i = 0; i < PAGES / 2; i++)
		CHECK_EQ(pwrite(m.file, m.base + (PAGES / 2 + i) * PAGE_BYTES,
				PAGE_BYTES, i * PAGE_BYTES), PAGE_BYTES);
	CHECK_EQ(get_status(m.container).counters.faults, PAGES / 2);
	for (i = 0; i < PAGES; i++)
		CHECK_EQ(word_of_file(&m, i), page_word(PAGES / 2 + i % (PAGES / 2)));
	close_map(&m);
}

/* And all frames dirty: writeback would wait for the write. */
static void write_without_a_clean_frame(void)
{
	struct map m;
	size_t i;

	fill(FILE_L);
	open_map(&m, "fifo", FILE_L, 4, 1, true);
	for (i = 0; i < 4; i++)
		*(volatile uint64_t *)(m.base + i * PAGE_BYTES + 8) = i;
	CHECK(pwrite(m.file, m.base + 9 * PAGE_BYTES, PAGE_BYTES,
		     20 * PAGE_BYTES) == -1 && errno == EFAULT);
	touch(&m, 9);
	CHECK(!fsync(m.region));
	CHECK_EQ(pwrite(m.file, m.base + 10 * PAGE_BYTES, PAGE_BYTES,
			20 * PAGE_BYTES), PAGE_BYTES);
	CHECK_EQ(word_of_file(&m, 20), page_word(10));
	close_map(&m);
}

/* The data that a read through the page cache brings is the file's, to its end. */
static void own_backing_with_a_last_page(void)
{
	struct map m;
	size_t i;

	make_file(FILE_L, 3 * PAGE_BYTES + 100);
	open_map(&m, "fifo", FILE_L, 8, 8, true);
	CHECK_EQ(pwrite(m.file, m.base + 3 * PAGE_BYTES, 8, 8), 8);
	touch(&m, 3);
	for (i = 100; i < PAGE_BYTES; i++)
		CHECK_EQ(m.base[3 * PAGE_BYTES + i], 0);
	CHECK_EQ(get_status(m.container).counters.read_pages, 1);
	close_map(&m);
}

static void on_alarm(int sig)
{
	_exit(sig == SIGALRM ? 0 : 1);
}

/* A child that does @fn again and again for some seconds. */
static pid_t again_and_again(void (*fn)(void), int seconds)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		signal(SIGALRM, on_alarm);
		alarm(seconds);
		for (;;)
			fn();
	}
	return pid;
}

static void ends(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 0);
}

static struct map one, other;

static void dirty_all(const struct map *m)
{
	size_t i;

	for (i = 0; i < PAGES; i++)
		*(volatile uint64_t *)(m->base + i * PAGE_BYTES + 8) = i;
}

/* Whole or in part; EFAULT is an answer, waiting for ever is none. */
static void copy(const struct map *from, const struct map *to)
{
	dirty_all(from);
	if (pwrite(to->file, from->base, PAGES * PAGE_BYTES, 0) < 0)
		CHECK_EQ(errno, EFAULT);
}

static void copy_there(void)
{
	copy(&one, &other);
}

static void copy_back(void)
{
	copy(&other, &one);
}

/* Two tasks write crosswise, each from a region of the file the other writes. */
static void crosswise_writes(void)
{
	pid_t there, back;

	fill(FILE_L);
	fill(FILE_M);
	open_map(&one, "fifo", FILE_L, 6, 4, true);
	open_map(&other, "fifo", FILE_M, 6, 4, true);
	there = again_and_again(copy_there, 4);
	back = again_and_again(copy_back, 4);
	ends(there);
	ends(back);
	CHECK(get_status(one.container).counters.faults > 0);
	CHECK(get_status(other.container).counters.faults > 0);
	close_map(&one);
	close_map(&other);
}

/*
 * A direct read of a file into a region of it, dirty pages going out meanwhile. Each waits
 * until the module gives up, for two seconds, or ten on btrfs.
 */
static void direct_read_of_own_backing(void)
{
	int fd, i;

	fill(FILE_L);
	open_map(&one, "fifo", FILE_L, 8, 4, true);
	fd = open(FILE_L, O_RDONLY | O_DIRECT);
	CHECK(fd >= 0);
	for (i = 0; i < 8; i += 3) {
		dirty_all(&one);
		if (pread(fd, one.base + i * PAGE_BYTES, 32 * PAGE_BYTES,
			  32 * PAGE_BYTES) < 0)
			CHECK_EQ(errno, EFAULT);
	}
	close(fd);
	close_map(&one);
}

static bool over;

static void *map_and_unmap(void *arg)
{
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		void *p = mmap(NULL, PAGE_BYTES, PROT_READ,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		munmap(p, PAGE_BYTES);
	}
	return arg;
}

static void *sweep_dirty(void *arg)
{
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
		dirty_all(&one);
	return arg;
}

/*
 * One thread faults, one writes to the same file from memory that comes and
 * goes, one wants mmap_lock for itself.
 */
static void threads_in_a_circle(void)
{
	unsigned char *buf = mmap(NULL, PAGES * PAGE_BYTES,
				  PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread[3];
	int i;

	fill(FILE_L);
	open_map(&one, "fifo", FILE_L, 8, 1, true);
	CHECK(!pthread_create(&thread[0], NULL, map_and_unmap, NULL));
	CHECK(!pthread_create(&thread[1], NULL, sweep_dirty, NULL));
	CHECK(!pthread_create(&thread[2], NULL, sweep_dirty, NULL));
	for (i = 0; i < rounds(100); i++) {
		madvise(buf, PAGES * PAGE_BYTES, MADV_DONTNEED);
		CHECK_EQ(pwrite(one.file, buf, PAGES * PAGE_BYTES, 0),
			 PAGES * PAGE_BYTES);
	}
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (i = 0; i < 3; i++)
		CHECK(!pthread_join(thread[i], NULL));
	close_map(&one);
}

static void *sync_again_and_again(void *arg)
{
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		dirty_all(&one);
		fsync(one.region);
	}
	return arg;
}

static void *unmap_again_and_again(void *arg)
{
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		madvise(one.base, PAGES * PAGE_BYTES, MADV_DONTNEED);
		usleep(100);
	}
	return arg;
}

/* write() wants a page that writeback has, and writeback the file. */
static void write_to_own_backing_while_synced(void)
{
	pthread_t thread[2];
	int i;

	fill(FILE_L);
	open_map(&one, "fifo", FILE_L, 72, 1, true);
	CHECK(!pthread_create(&thread[0], NULL, sync_again_and_again, NULL));
	CHECK(!pthread_create(&thread[1], NULL, unmap_again_and_again, NULL));
	for (i = 0; i < rounds(200); i++)
		if (pwrite(one.file, one.base, PAGES * PAGE_BYTES, 0) < 0)
			CHECK_EQ(errno, EFAULT);
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (i = 0; i < 2; i++)
		CHECK(!pthread_join(thread[i], NULL));
	close_map(&one);
}

static void *msync_first(void *arg)
{
	CHECK(!msync(one.base, PAGE_BYTES, MS_SYNC));
	return arg;
}

static void *store_first(void *arg)
{
	*(volatile uint64_t *)(one.base + 8) = 4711;
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	return arg;
}

/*
 * A disk that does not answer: who stores to a page that is being written waits,
 * as long as it takes; the kernel's own store gives up, as it may hold locks.
 */
static void write_that_takes_long(void)
{
	pthread_t thread[2];
	int memory = memfd_create("word", 0), i;
	uint64_t word = 4712, read = 0;

	if (data_has_no_disk())
		return;
	fill(FILE_L);
	open_map(&one, "fifo", FILE_L, 4, 1, true);
	CHECK_EQ(pwrite(memory, &word, sizeof(word), 0), sizeof(word));
	*(volatile uint64_t *)(one.base + 16) = 1;
	CHECK(!ioctl(one.file, FIFREEZE, 0));
	over = false;
	CHECK(!pthread_create(&thread[0], NULL, msync_first, NULL));
	usleep(200000);
	CHECK(!pthread_create(&thread[1], NULL, store_first, NULL));
	usleep(200000);
	if (pread(memory, one.base + 24, sizeof(word), 0) != -1)
		read = 1;
	else
		read = errno;
	i = __atomic_load_n(&over, __ATOMIC_RELAXED);
	CHECK(!ioctl(one.file, FITHAW, 0));
	CHECK_EQ(read, EFAULT);
	CHECK_EQ(i, 0);
	for (i = 0; i < 2; i++)
		CHECK(!pthread_join(thread[i], NULL));
	CHECK(!fsync(one.region));
	CHECK(pread(one.file, &word, sizeof(word), 8) == sizeof(word));
	CHECK_EQ(word, 4711);
	close(memory);
	close_map(&one);
}

static const struct test lock_tests[] = {
	{ "write_to_the_own_backing_file_reads_what_it_needs", write_to_own_backing },
	{ "write_to_the_own_backing_file_without_a_clean_frame_fails",
	  write_without_a_clean_frame },
	{ "write_to_the_own_backing_file_reads_its_last_page",
	  own_backing_with_a_last_page },
	{ "write_of_a_region_to_its_file_ends_while_it_is_synced",
	  write_to_own_backing_while_synced },
	{ "stores_to_a_page_being_written_wait_for_the_disk",
	  write_that_takes_long },
	{ "crosswise_writes_end", crosswise_writes },
	{ "direct_read_of_the_own_backing_file_ends", direct_read_of_own_backing },
	{ "threads_that_fault_write_and_map_end", threads_in_a_circle },
	{ 0 }
};
SUITE(lock_tests, ON_EACH_FS);
