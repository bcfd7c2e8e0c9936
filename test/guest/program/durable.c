// SPDX-License-Identifier: GPL-2.0-only
/*
 * Durability (docs/user/regions.md), as far as it is seen from inside: a disk with
 * a volatile cache (null_blk) behind one whose errors come and go (dm-flakey).
 * What is on a disk after a crash: test_durable.py.
 */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/dm-ioctl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_W DIR_DATA "durable"
#define DISK_CONFIG "/sys/kernel/config/nullb/cached/"
#define DISK "/dev/cached"
#define DISK_PAGES 256	/* 1 MB, the least that null_blk makes */
#define MAPPED "hipec-cut"
#define SETTING "/sys/module/hipec/parameters/writeback_ms"

static void put_word(struct map *m, size_t page, uint64_t word)
{
	*(volatile uint64_t *)(m->base + page * PAGE_BYTES) = word;
}

void put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		FAIL("%s: %s", path, strerror(errno));
	close(fd);
}

uint64_t stored_word(const char *path, size_t page)
{
	static uint64_t buf[PAGE_BYTES / 8] __attribute__((aligned(4096)));
	int fd = open(path, O_RDONLY | __O_DIRECT);

	CHECK(fd >= 0);
	CHECK(pread(fd, buf, PAGE_BYTES, page * PAGE_BYTES) ==
	      (ssize_t)PAGE_BYTES);
	close(fd);
	return buf[0];
}

/* Ask until pages were written; the alarm ends a test that asks in vain. */
static void wait_for_writes(const struct map *m, uint64_t pages)
{
	struct hipec_status s;

	do
		s = get_status(m->container);
	while (s.counters.written_pages < pages || s.dirty);
}

static void default_writeback(void)
{
	put_text(SETTING, "30000");
}

/* What is dirty is cleaned after a while by itself, and tracked again. */
static void cleaned_in_the_background(void)
{
	uint64_t written;
	struct map m;
	size_t i;

	make_file(FILE_W, 16 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_W, 16, 1, true);
	/* Far off: nothing but a request cleans. */
	put_text(SETTING, "1000000");
	atexit(default_writeback);
	for (i = 0; i < 5; i++)
		put_word(&m, i, 10 + i);
	CHECK_EQ(get_status(m.container).dirty, 5);
	CHECK_EQ(get_status(m.container).counters.written_pages, 0);
	CHECK(!fsync(m.region));
	close_map(&m);

	put_text(SETTING, "20");
	open_map(&m, "fifo", FILE_W, 16, 1, true);
	put_word(&m, 5, 15);
	wait_for_writes(&m, 1);
	CHECK_EQ(stored_word(FILE_W, 5), 15);
	written = get_status(m.container).counters.written_pages;
	put_word(&m, 5, 25);
	wait_for_writes(&m, written + 1);
	CHECK_EQ(stored_word(FILE_W, 5), 25);
	/* Nobody gave a page up for it. */
	CHECK_EQ(get_status(m.container).counters.evictions, 0);
	close_map(&m);
}

/* sync(2) writes what all containers have dirty, and waits. */
static void sync_writes_all(void)
{
	struct map a, b;

	put_text(SETTING, "1000000");
	atexit(default_writeback);
	make_file(FILE_W, 8 * PAGE_BYTES);
	make_file(FILE_W "2", 8 * PAGE_BYTES);
	open_map(&a, "fifo", FILE_W, 8, 1, true);
	open_map(&b, "mru", FILE_W "2", 8, 1, true);
	put_word(&a, 1, 11);
	put_word(&a, 7, 17);
	put_word(&b, 2, 22);
	sync();
	CHECK_EQ(get_status(a.container).dirty, 0);
	CHECK_EQ(get_status(b.container).dirty, 0);
	CHECK_EQ(get_status(a.container).counters.written_pages, 2);
	CHECK_EQ(get_status(b.container).counters.written_pages, 1);
	CHECK_EQ(stored_word(FILE_W, 1), 11);
	CHECK_EQ(stored_word(FILE_W, 7), 17);
	CHECK_EQ(stored_word(FILE_W "2", 2), 22);
	close_map(&a);
	close_map(&b);
}

static uint64_t disk_sectors = DISK_PAGES * 8;
static const char *disk_megabytes = "1";

static void mapper(unsigned long request, const char *args, uint32_t flags)
{
	struct {
		struct dm_ioctl io;
		struct dm_target_spec spec;
		char args[96];
	} a = {
		.io = { .version = { 4, 0, 0 }, .data_size = sizeof(a),
			.data_start = offsetof(typeof(a), spec),
			.target_count = args != NULL, .flags = flags,
			.name = MAPPED },
		.spec = { .length = disk_sectors, .next = sizeof(a) },
	};
	int fd = open("/dev/mapper/control", O_RDWR);

	strcpy(a.spec.target_type, "flakey");
	strcpy(a.args, args ? args : "");
	CHECK(fd >= 0);
	if (ioctl(fd, request, &a))
		FAIL("device mapper: %s", strerror(errno));
	close(fd);
}

/* As the disk is from now on; "flakey"'s words. */
static void set_disk(const char *args)
{
	mapper(DM_TABLE_LOAD, args, 0);
	mapper(DM_DEV_SUSPEND, NULL, 0);	/* without its flag: resume */
}

static void works(void)
{
	set_disk(DISK " 0 1000000 0");
}

static void fails_writes(void)
{
	set_disk(DISK " 0 0 1000000 1 error_writes");
}

static void remove_disk(void)
{
	mapper(DM_DEV_REMOVE, NULL, 0);
	rmdir(DISK_CONFIG);
}

static void make_disk(void)
{
	uint64_t page[PAGE_BYTES / 8] = { 0 };
	size_t i;
	int fd;

	CHECK(!system("modprobe dm-flakey"));
	CHECK(!mkdir(DISK_CONFIG, 0700));
	put_text(DISK_CONFIG "size", disk_megabytes);
	put_text(DISK_CONFIG "memory_backed", "1");
	put_text(DISK_CONFIG "cache_size", "1");
	put_text(DISK_CONFIG "power", "1");
	mapper(DM_DEV_CREATE, NULL, 0);
	atexit(remove_disk);
	works();
	fd = open(CUT_DISK, O_RDWR);
	CHECK(fd >= 0);
	for (i = 0; i < DISK_PAGES; i++) {
		page[0] = page_word(i);
		CHECK(write(fd, page, sizeof(page)) > 0);
	}
	CHECK(!fsync(fd));
	close(fd);
}

static void open_disk(struct map *m, int container)
{
	m->file = open(CUT_DISK, O_RDWR);
	CHECK(m->file >= 0);
	m->pages = DISK_PAGES;
	m->container = container;
	m->region = hipec_attach(m->container, m->file, 0, 0, true, NULL);
	if (m->region < 0)
		FAIL("attach: %s", strerror(-m->region));
	m->base = mmap(NULL, m->pages * PAGE_BYTES, PROT_READ | PROT_WRITE,
		       MAP_SHARED, m->region, 0);
	CHECK(m->base != MAP_FAILED);
}

/* All pages are written and clean; it is the disk's cache that fails. */
static void flush_error(void)
{
	struct map m;

	make_disk();
	open_disk(&m, load_policy("fifo", 8, 1));
	put_word(&m, 3, 33);
	sync();
	CHECK_EQ(get_status(m.container).dirty, 0);
	fails_writes();
	CHECK(fsync(m.region) == -1 && errno == EIO);
	CHECK(msync(m.base, PAGE_BYTES, MS_SYNC) == -1 && errno == EIO);
	CHECK_EQ(get_status(m.container).counters.write_errors, 0);
	works();
	CHECK(!fsync(m.region));
	CHECK_EQ(stored_word(CUT_DISK, 3), 33);
	close_map(&m);
}

/*
 * The disk fails for a while, at a time when nobody asks: the pages stay dirty
 * and readable, are written when it works again, and the next fsync tells, once.
 */
static void background_error(void)
{
	struct map m;
	size_t i;

	make_disk();
	open_disk(&m, load_policy("fifo", 16, 1));
	for (i = 0; i < 4; i++)
		put_word(&m, i, 40 + i);
	fails_writes();
	sync();
	CHECK_EQ(get_status(m.container).counters.write_errors, 4);
	CHECK_EQ(get_status(m.container).dirty, 4);
	works();
	for (i = 0; i < 4; i++) {
		CHECK_EQ(stored_word(CUT_DISK, i), page_word(i));
		CHECK_EQ(get_word(&m, i), 40 + i);
	}
	CHECK(fsync(m.region) == -1 && errno == EIO);
	CHECK_EQ(get_status(m.container).dirty, 0);
	for (i = 0; i < 4; i++)
		CHECK_EQ(stored_word(CUT_DISK, i), 40 + i);
	CHECK(!fsync(m.region));
	close_map(&m);
}

/*
 * A disk that ends inside a page. That page goes through the page cache, which
 * would forget it when its write fails; the region does not.
 */
static void error_in_the_last_page(void)
{
	const size_t last = DISK_PAGES - 1;
	struct map m;

	disk_sectors -= 4;
	make_disk();
	open_disk(&m, load_policy("fifo", 16, 1));
	put_word(&m, last, 77);
	fails_writes();
	CHECK(fsync(m.region) == -1 && errno == EIO);
	CHECK_EQ(get_status(m.container).dirty, 1);
	CHECK_EQ(get_status(m.container).counters.write_errors, 1);
	works();
	CHECK(!fsync(m.region));
	CHECK_EQ(get_status(m.container).dirty, 0);
	CHECK_EQ(stored_word(DISK, last), 77);
	close_map(&m);
}

/* Who waits for it is not reported meanwhile. */
void cut_disk_answers(bool answers)
{
	put_text("/proc/sys/kernel/hung_task_timeout_secs", answers ? "30" : "300");
	mapper(DM_DEV_SUSPEND, NULL, answers ? 0 :
	       DM_SUSPEND_FLAG | DM_NOFLUSH_FLAG | DM_SKIP_LOCKFS_FLAG);
}

void make_cut_disk(int megabytes)
{
	static char text[16];

	snprintf(text, sizeof(text), "%d", megabytes);
	disk_megabytes = text;
	disk_sectors = (uint64_t)megabytes << 11;
	make_disk();
}

static void *fsync_region(void *arg)
{
	const struct map *m = arg;

	return (void *)(long)fsync(m->region);
}

/*
 * A disk that answers nothing holds up who syncs it, and nobody else: faults of
 * the same container that find clean pages to take go on, on another disk. Would
 * one wait, it would wait for ever.
 */
static void faults_do_not_wait(void)
{
	struct map stuck, m;
	pthread_t thread;
	struct stat st;
	void *ret;
	size_t i;

	make_disk();
	make_file(FILE_W, 64 * PAGE_BYTES);
	open_map(&m, "mru", FILE_W, 16, 1, false);
	open_disk(&stuck, m.container);
	for (i = 0; i < 4; i++)
		put_word(&stuck, i, 50 + i);
	cut_disk_answers(false);
	CHECK(!pthread_create(&thread, NULL, fsync_region, &stuck));
	/* The newest goes: never one of the four. */
	for (i = 0; i < 64; i++)
		touch(&m, i);
	CHECK_EQ(get_status(m.container).counters.faults, 4 + 64);
	CHECK_EQ(get_status(m.container).counters.evictions, 4 + 64 - 16);
	CHECK_EQ(get_status(m.container).counters.written_pages, 0);
	CHECK_EQ(get_word(&stuck, 2), 52);
	cut_disk_answers(true);
	CHECK(!pthread_join(thread, &ret));
	CHECK(!ret);
	CHECK_EQ(get_status(m.container).counters.written_pages, 4);
	for (i = 0; i < 4; i++)
		CHECK_EQ(stored_word(CUT_DISK, i), 50 + i);
	CHECK(!stat(FILE_W, &st));
	CHECK(!munmap(stuck.base, stuck.pages * PAGE_BYTES));
	CHECK(!close(stuck.region));
	CHECK(!close(stuck.file));
	close_map(&m);
}

/* A task that syncs when it is told to by @go; no region yet, which it would close. */
static pid_t sync_as(uid_t user, int *go)
{
	int pipes[2];
	pid_t pid;

	CHECK(!pipe(pipes));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		if ((user && setuid(user)) || read(pipes[0], &user, 1) != 1)
			_exit(1);
		sync();
		_exit(0);
	}
	*go = pipes[1];
	return pid;
}

void wait_until_asleep(pid_t pid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (state != 'D') {
		f = fopen(path, "r");
		CHECK(f && fscanf(f, "%*d %*s %c", &state) == 1);
		fclose(f);
	}
}

/*
 * A disk of root's answers nothing. Who else syncs has it written and does not wait;
 * root waits, and can be killed.
 */
static void sync_waits_for_own(void)
{
	int status, go_other, go_root;
	pid_t other, root;
	struct map stuck;

	other = sync_as(65534, &go_other);
	root = sync_as(0, &go_root);
	make_disk();
	open_disk(&stuck, load_policy("fifo", 8, 1));
	put_word(&stuck, 1, 61);
	cut_disk_answers(false);
	CHECK(write(go_other, "", 1) == 1);
	CHECK(waitpid(other, &status, 0) == other);
	CHECK_EQ(status, 0);
	CHECK(write(go_root, "", 1) == 1);
	wait_until_asleep(root);
	CHECK(!kill(root, SIGKILL));
	CHECK(waitpid(root, &status, 0) == root && WIFSIGNALED(status));
	CHECK_EQ(get_status(stuck.container).counters.written_pages, 0);
	cut_disk_answers(true);
	wait_for_writes(&stuck, 1);
	CHECK_EQ(stored_word(CUT_DISK, 1), 61);
	close_map(&stuck);
}

/* Whether direct I/O pins its pages so that it can be seen: since 6.3. */
static bool pins_are_seen(void)
{
	struct utsname name;
	unsigned int major, minor;

	CHECK(!uname(&name) && sscanf(name.release, "%u.%u", &major, &minor) == 2);
	return major > 6 || (major == 6 && minor >= 3);
}

/*
 * A direct read into a region that is over before the disk answers: what it brings
 * is in the file, and the file is the region's until then.
 */
static void read_outlives_region(void)
{
	struct iocb read = { .aio_lio_opcode = IOCB_CMD_PREAD }, *reads = &read;
	aio_context_t context = 0;
	struct io_event event;
	struct map m;
	int fd, c, r;

	if (!pins_are_seen()) {
		printf("# this kernel does not tell of such a read\n");
		return;
	}
	make_disk();
	make_file(FILE_W, 8 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_W, 8, 1, true);
	fd = open(CUT_DISK, O_RDONLY | __O_DIRECT);
	CHECK(fd >= 0);
	read.aio_fildes = fd;
	read.aio_buf = (uintptr_t)m.base + 2 * PAGE_BYTES;
	read.aio_nbytes = PAGE_BYTES;
	read.aio_offset = 5 * PAGE_BYTES;
	CHECK(!syscall(SYS_io_setup, 1, &context));
	cut_disk_answers(false);
	CHECK_EQ(syscall(SYS_io_submit, context, 1, &reads), 1);
	close_map(&m);
	CHECK_EQ(stored_word(FILE_W, 2), page_word(2));
	c = load_policy("fifo", 8, 1);
	m.file = open(FILE_W, O_RDWR);
	CHECK_EQ(hipec_attach(c, m.file, 0, 0, true, NULL), -EBUSY);
	cut_disk_answers(true);
	CHECK_EQ(syscall(SYS_io_getevents, context, 1, 1, &event, NULL), 1);
	CHECK_EQ(event.res, PAGE_BYTES);
	do
		r = hipec_attach(c, m.file, 0, 0, true, NULL);
	while (r == -EBUSY);
	CHECK(r >= 0);
	CHECK_EQ(stored_word(FILE_W, 2), page_word(5));
	close(r);
	close(c);
	close(m.file);
	close(fd);
}

/* Other ways than fsync to the last byte: who reads the file sees it. */
static void readers_see_what_was_written(void)
{
	unsigned char *cached;
	struct map m;
	uint64_t word;
	int fd;

	make_file(FILE_W, 8 * PAGE_BYTES + 100);
	fd = open(FILE_W, O_RDONLY);
	cached = mmap(NULL, 9 * PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(cached != MAP_FAILED);
	CHECK_EQ(*(volatile uint64_t *)(cached + 2 * PAGE_BYTES), page_word(2));
	open_map(&m, "fifo", FILE_W, 4, 1, true);
	put_word(&m, 2, 22);
	put_word(&m, 8, 88);
	/* Not before it is written back. */
	CHECK_EQ(*(volatile uint64_t *)(cached + 2 * PAGE_BYTES), page_word(2));
	CHECK(!msync(m.base, m.pages * PAGE_BYTES, MS_SYNC));
	CHECK_EQ(*(volatile uint64_t *)(cached + 2 * PAGE_BYTES), 22);
	CHECK_EQ(*(volatile uint64_t *)(cached + 8 * PAGE_BYTES), 88);
	CHECK(pread(fd, &word, 8, 2 * PAGE_BYTES) == 8);
	CHECK_EQ(word, 22);
	CHECK(!munmap(cached, 9 * PAGE_BYTES));
	close(fd);
	close_map(&m);
}

static const struct test durable_tests[] = {
	{ "dirty_pages_are_cleaned_in_the_background",
	  cleaned_in_the_background },
	{ "sync_writes_what_all_containers_have_dirty", sync_writes_all },
	{ "fsync_reports_that_the_disk_s_cache_failed", flush_error },
	{ "background_error_is_told_to_the_next_fsync", background_error },
	{ "last_page_that_cannot_be_written_stays_dirty",
	  error_in_the_last_page },
	{ "faults_do_not_wait_for_another_disk_s_writes", faults_do_not_wait },
	{ "sync_waits_for_the_caller_s_disks_and_can_be_killed", sync_waits_for_own },
	{ "direct_read_that_outlives_its_region_is_in_the_file",
	  read_outlives_region },
	{ "readers_see_what_was_written_back", readers_see_what_was_written },
	{ 0 }
};
SUITE(durable_tests, 0);
