// SPDX-License-Identifier: GPL-2.0-only
/*
 * Disks that fail: a null_blk disk with bad blocks, as a raw backing device. And
 * one that cannot say that a read would have to wait: dm-flakey.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "guest.h"

#define DISK_CONFIG "/sys/kernel/config/nullb/bad/"
#define DISK "/dev/bad"
#define DISK_PAGES 256	/* 1 MB, the least that null_blk makes */

static void config(const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), DISK_CONFIG "%s", name);
	put_text(path, value);
}

static void set_bad(size_t page, bool bad)
{
	char text[64];

	snprintf(text, sizeof(text), "%c%zu-%zu", bad ? '+' : '-', page * 8,
		 page * 8 + 7);
	config("badblocks", text);
}

static void remove_disk(void)
{
	rmdir(DISK_CONFIG);
}

/* A test that a signal ended left its disk. */
static void configure_disk(void)
{
	remove_disk();
	CHECK(!mkdir(DISK_CONFIG, 0700));
	atexit(remove_disk);
}

static void make_disk(void)
{
	uint64_t page[PAGE_BYTES / 8] = { 0 };
	size_t i;
	int fd;

	configure_disk();
	config("size", "1");
	config("memory_backed", "1");
	config("power", "1");
	fd = open(DISK, O_RDWR);
	CHECK(fd >= 0);
	for (i = 0; i < DISK_PAGES; i++) {
		page[0] = page_word(i);
		CHECK(write(fd, page, sizeof(page)) == sizeof(page));
	}
	CHECK(!fsync(fd));
	close(fd);
}

static void open_disk(struct map *m, uint64_t frames, uint32_t cluster)
{
	m->file = open(DISK, O_RDWR);
	CHECK(m->file >= 0);
	m->pages = DISK_PAGES;
	m->container = load_policy("fifo", frames, cluster);
	m->region = hipec_attach(m->container, m->file, 0, 0, true, NULL);
	if (m->region < 0)
		FAIL("attach: %s", strerror(-m->region));
	m->base = mmap(NULL, m->pages * PAGE_BYTES, PROT_READ | PROT_WRITE,
		       MAP_SHARED, m->region, 0);
	CHECK(m->base != MAP_FAILED);
}

static uint64_t word_on_disk(size_t page)
{
	static uint64_t buf[PAGE_BYTES / 8] __attribute__((aligned(4096)));
	int fd = open(DISK, O_RDONLY | __O_DIRECT);

	CHECK(pread(fd, buf, PAGE_BYTES, page * PAGE_BYTES) == PAGE_BYTES);
	close(fd);
	return buf[0];
}

#define SLOW_READS 4

static pthread_barrier_t all_there;

static void *touch_zero(void *page)
{
	pthread_barrier_wait(&all_there);
	return *(volatile uint64_t *)page ? page : NULL;
}

/* Reads, or writes, that the disk has now. */
static int in_flight(bool writes)
{
	FILE *f = fopen("/sys/block/bad/inflight", "r");
	int nr[2];

	CHECK(f && fscanf(f, "%d %d", &nr[0], &nr[1]) == 2);
	fclose(f);
	return nr[writes];
}

/* Of zeros; all that it is asked for takes so long. */
static void make_slow_disk(const char *ns)
{
	configure_disk();
	config("size", "1");
	config("memory_backed", "1");
	config("irqmode", "2");
	config("completion_nsec", ns);
	config("power", "1");
}

/* Four threads miss on a disk that takes seconds for a read: it has all four. */
static void reads_at_once(void)
{
	pthread_t thread[SLOW_READS];
	struct map m;
	int i, now, most = 0;
	void *wrong;

	/* Below the 5 s after which null_blk calls it an error. */
	make_slow_disk("4000000000");
	open_disk(&m, 16, 1);
	/* A thread that begins wants mmap_lock, which a fault on 6.1 holds. */
	pthread_barrier_init(&all_there, NULL, SLOW_READS);
	for (i = 0; i < SLOW_READS; i++)
		CHECK(!pthread_create(&thread[i], NULL, touch_zero,
				      m.base + (10 + 20 * i) * PAGE_BYTES));
	while (most < SLOW_READS &&
	       get_status(m.container).counters.pages_in < SLOW_READS) {
		now = in_flight(false);
		most = now > most ? now : most;
	}
	CHECK_EQ(most, SLOW_READS);
	for (i = 0; i < SLOW_READS; i++) {
		CHECK(!pthread_join(thread[i], &wrong));
		CHECK(!wrong);
	}
	CHECK_EQ(get_status(m.container).counters.read_ios, SLOW_READS);
	close_map(&m);
}

/* A thread that runs @job on page @i, for which the disk has been asked. */
static pthread_t read_slowly(const struct map *m, size_t i, void *(*job)(void *page))
{
	uint64_t before = get_status(m->container).counters.pages_in;
	pthread_t thread;

	pthread_barrier_init(&all_there, NULL, 2);
	CHECK(!pthread_create(&thread, NULL, job, m->base + i * PAGE_BYTES));
	CHECK(!in_flight(false));	/* What this allocates it has from now on. */
	pthread_barrier_wait(&all_there);
	while (!in_flight(false) && get_status(m->container).counters.pages_in == before)
		;
	return thread;
}

/* While a fault of one thread reads, another maps memory: mmap_lock is not held. */
static void maps_meanwhile(void)
{
	struct hipec_counters n;
	pthread_t thread;
	struct map m;
	char *p;

	make_slow_disk("4000000000");
	open_disk(&m, 16, 1);
	thread = read_slowly(&m, 10, touch_zero);
	p = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED);
	CHECK(!munmap(p, PAGE_BYTES));
	CHECK_EQ(in_flight(false), 1);
	CHECK_EQ(get_status(m.container).counters.pages_in, 0);
	CHECK(!pthread_join(thread, NULL));
	n = get_status(m.container).counters;
	CHECK_EQ(n.read_ios, 1);
	CHECK_EQ(n.faults, 1);
	CHECK_EQ(n.soft_faults, 0);
	CHECK_EQ(n.ahead_faults, 0);
	CHECK_EQ(n.pages_in, 1);
	close_map(&m);
}

static __thread sigjmp_buf elsewhere;

static void go_elsewhere(int number)
{
	siglongjmp(elsewhere, number);
}

static void *touch_until_signal(void *page)
{
	if (!sigsetjmp(elsewhere, 1))
		touch_zero(page);
	return NULL;
}

/* A signal takes a thread that reads somewhere else. */
static void have_leave(pthread_t thread)
{
	CHECK(!pthread_kill(thread, SIGUSR1));
	CHECK(!pthread_join(thread, NULL));
}

/* What it has read is for another one that waits; and if none does, its frame is for others. */
static void reader_that_leaves(void)
{
	pthread_t reader, waiter;
	struct timespec late;
	struct map m;

	signal(SIGUSR1, go_elsewhere);
	make_slow_disk("1500000000");
	open_disk(&m, 2, 1);
	reader = read_slowly(&m, 10, touch_until_signal);
	pthread_barrier_init(&all_there, NULL, 1);
	CHECK(!pthread_create(&waiter, NULL, touch_zero, m.base + 10 * PAGE_BYTES));
	usleep(500000);
	have_leave(reader);
	clock_gettime(CLOCK_REALTIME, &late);
	late.tv_sec += 60;
	CHECK(!pthread_timedjoin_np(waiter, NULL, &late));
	CHECK_EQ(get_status(m.container).counters.read_ios, 1);
	CHECK_EQ(get_status(m.container).counters.faults, 1);
	have_leave(read_slowly(&m, 40, touch_until_signal));
	CHECK_EQ(get_word(&m, 50), 0);
	CHECK_EQ(get_word(&m, 60), 0);
	CHECK_EQ(get_status(m.container).counters.read_ios, 4);
	CHECK_EQ(get_word(&m, 40), 0);
	CHECK_EQ(get_status(m.container).counters.read_ios, 5);
	CHECK_EQ(get_status(m.container).counters.ahead_dropped, 0);
	close_map(&m);
}

static void *sleep_long(void *unused)
{
	pause();
	return unused;
}

/* Where the kernel faults for mmap(), a page that cannot be read is met, and passed over. */
static void populate_a_bad_page(void)
{
	pthread_t thread;
	struct map m;
	char *base;

	make_disk();
	set_bad(21, true);
	open_disk(&m, 64, 16);
	CHECK(!pthread_create(&thread, NULL, sleep_long, NULL));
	base = mmap(NULL, m.pages * PAGE_BYTES, PROT_READ, MAP_SHARED | MAP_POPULATE,
		    m.region, 0);
	CHECK(base != MAP_FAILED);
	CHECK(get_status(m.container).counters.read_errors > 0);
	CHECK(gets_sigbus(&m, 21));
	CHECK(!gets_sigbus(&m, 20));
	CHECK(!munmap(base, m.pages * PAGE_BYTES));
	CHECK(!pthread_cancel(thread) && !pthread_join(thread, NULL));
	close_map(&m);
}

#define SLOW_WRITES 20
#define WRITEBACK_MS "/sys/module/hipec/parameters/writeback_ms"

static void *store_one(void *page)
{
	pthread_barrier_wait(&all_there);
	*(volatile uint64_t *)page = 1;
	return NULL;
}

static void *sync_all(void *region)
{
	return fsync(*(int *)region) ? region : NULL;
}

static void age_again(void)
{
	put_text(WRITEBACK_MS, "30000");
}

/*
 * A sync writes 20 pages in one go. Meanwhile memory pressure takes those beyond the first
 * 16 frames, and the sync waits until they are clean. Pages do not age here, so nothing but
 * their own writeback cleans them.
 */
static void given_up_while_written(void)
{
	int i, drop = open("/proc/sys/vm/drop_caches", O_WRONLY);
	pthread_t thread[SLOW_WRITES], syncs;
	struct timespec late;
	struct map m;
	void *failed;

	put_text(WRITEBACK_MS, "0");
	atexit(age_again);
	make_slow_disk("2000000000");
	map_shared(&m, "fifo", DISK, 64, DISK_PAGES, true);
	pthread_barrier_init(&all_there, NULL, SLOW_WRITES);
	for (i = 0; i < SLOW_WRITES; i++)
		CHECK(!pthread_create(&thread[i], NULL, store_one, m.base + i * PAGE_BYTES));
	for (i = 0; i < SLOW_WRITES; i++)
		CHECK(!pthread_join(thread[i], NULL));
	CHECK(!pthread_create(&syncs, NULL, sync_all, &m.region));
	while (!in_flight(true))
		;
	CHECK(drop >= 0 && write(drop, "2", 1) == 1);
	CHECK_EQ(in_flight(true), 1);
	clock_gettime(CLOCK_REALTIME, &late);
	late.tv_sec += 60;
	if (pthread_timedjoin_np(syncs, &failed, &late)) {
		sync();	/* or it never ends */
		FAIL("the sync waits for ever");
	}
	CHECK(!failed);
	CHECK_LE(1, get_status(m.container).counters.given);
	CHECK_EQ(get_status(m.container).dirty, 0);
	for (i = 0; i < SLOW_WRITES; i += 7)
		CHECK_EQ(word_on_disk(i), 1);
	close(drop);
	close_map(&m);
}

static void read_error(void)
{
	struct map m;
	size_t i;

	make_disk();
	set_bad(21, true);
	open_disk(&m, 64, 16);
	for (i = 0; i < DISK_PAGES; i++)
		CHECK_EQ(gets_sigbus(&m, i), i == 21);
	CHECK(get_status(m.container).counters.read_errors > 0);
	/* Mended, the page reads. */
	set_bad(21, false);
	CHECK(!gets_sigbus(&m, 21));
	close_map(&m);
}

static void write_error(void)
{
	struct map m;

	make_disk();
	open_disk(&m, 8, 1);
	*(volatile uint64_t *)(m.base + 3 * PAGE_BYTES) = 333;
	set_bad(3, true);
	CHECK(fsync(m.region) == -1 && errno == EIO);
	/* Kept: readable, dirty, and written as soon as the disk lets it. */
	CHECK_EQ(get_word(&m, 3), 333);
	CHECK_EQ(get_status(m.container).dirty, 1);
	CHECK(msync(m.base, m.pages * PAGE_BYTES, MS_SYNC) == -1 &&
	      errno == EIO);
	set_bad(3, false);
	CHECK(!fsync(m.region));
	CHECK_EQ(word_on_disk(3), 333);
	/* Reported, it is not reported again. */
	CHECK(!fsync(m.region));
	close_map(&m);
}

/* A dirty page that cannot be written is not lost to eviction; others go. */
static void write_error_at_eviction(void)
{
	struct map m;
	size_t i;

	make_disk();
	open_disk(&m, 4, 1);
	*(volatile uint64_t *)(m.base) = 7;
	set_bad(0, true);
	for (i = 1; i < 64; i++)
		touch(&m, i);
	CHECK_EQ(get_word(&m, 0), 7);
	CHECK(get_status(m.container).counters.write_errors > 0);
	set_bad(0, false);
	/* The error that nobody has seen yet is reported once. */
	CHECK(fsync(m.region) == -1 && errno == EIO);
	CHECK(!fsync(m.region));
	CHECK_EQ(word_on_disk(0), 7);
	close_map(&m);
}

#define MAPPED "hipec-flakey"
#define MOUNTED "/tmp/flakey"

static void mapper(unsigned long request, uint32_t targets)
{
	struct {
		struct dm_ioctl io;
		struct dm_target_spec spec;
		char args[64];
	} a = {
		.io = { .version = { 4, 0, 0 }, .data_size = sizeof(a),
			.data_start = offsetof(typeof(a), spec),
			.target_count = targets, .name = MAPPED },
		.spec = { .length = DISK_PAGES * 8, .next = sizeof(a) },
		.args = DISK " 0 1000000 0",
	};
	int fd = open("/dev/mapper/control", O_RDWR);

	strcpy(a.spec.target_type, "flakey");
	CHECK(fd >= 0);
	CHECK(!ioctl(fd, request, &a));
	close(fd);
}

static void unmount_mapped(void)
{
	umount2(MOUNTED, MNT_DETACH);
	mapper(DM_DEV_REMOVE, 0);
}

/*
 * A file system on such a disk is read through the page cache, which keeps
 * nothing of it; clusters as well, and what the file has at its end.
 */
static void read_through_the_page_cache(void)
{
	struct map m;
	size_t i;

	make_disk();
	CHECK(!system("modprobe dm-flakey"));
	mapper(DM_DEV_CREATE, 0);
	atexit(unmount_mapped);
	mapper(DM_TABLE_LOAD, 1);
	mapper(DM_DEV_SUSPEND, 0);	/* without its flag: resume */
	CHECK(!system("mke2fs /dev/dm-0 >/dev/null"));
	mkdir(MOUNTED, 0700);
	CHECK(!mount("/dev/dm-0", MOUNTED, "ext4", 0, NULL));
	make_file(MOUNTED "/file", 63 * PAGE_BYTES + 100);
	CHECK(!system("echo 3 >/proc/sys/vm/drop_caches"));
	open_map(&m, "fifo", MOUNTED "/file", 16, 8, true);
	for (i = 0; i < 64; i++)
		touch(&m, i);
	CHECK_EQ(get_status(m.container).counters.read_pages, 64);
	CHECK_EQ(get_status(m.container).counters.read_errors, 0);
	for (i = 100; i < PAGE_BYTES; i++)
		CHECK_EQ(m.base[63 * PAGE_BYTES + i], 0);
	/* What is written past the page cache is not read from it. */
	*(volatile uint64_t *)(m.base + 7 * PAGE_BYTES) = 77;
	CHECK(!fsync(m.region));
	for (i = 8; i < 40; i++)
		touch(&m, i);
	CHECK_EQ(get_word(&m, 7), 77);
	close_map(&m);
}

static const struct test io_tests[] = {
	{ "faults_read_at_the_same_time", reads_at_once },
	{ "reads_do_not_keep_others_from_mapping", maps_meanwhile },
	{ "what_a_fault_read_and_left_is_for_others", reader_that_leaves },
	{ "populate_passes_over_what_cannot_be_read", populate_a_bad_page },
	{ "page_given_up_while_it_is_written_is_cleaned", given_up_while_written },
	{ "read_error_is_sigbus_for_that_page_alone", read_error },
	{ "write_error_is_reported_and_the_data_kept", write_error },
	{ "write_error_at_eviction_keeps_the_page", write_error_at_eviction },
	{ "disk_that_cannot_tell_is_read_through_the_page_cache",
	  read_through_the_page_cache },
	{ 0 }
};
SUITE(io_tests, 0);
