// SPDX-License-Identifier: GPL-2.0-only
/*
 * Works that wait, and are more than a workqueue has workers: for a disk that answers nothing, or for
 * a lock that an event has. What has another disk, and another user, goes on.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

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
int nr_workers_asleep(void)
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
	while (!nr_workers_asleep())
		usleep(10000);
	usleep(1000000);
	printf("# %d workers wait for the disk\n", nr_workers_asleep());
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
	CHECK_LE(1, nr_workers_asleep());
	cut_disk_answers(true);
	for (i = 0; i < nr; i++)
		CHECK(!fsync(file[i]) && !close(file[i]));
	close(beside);
	close(other);
	close(ticks);
}

#define QUANTUM "/sys/module/hipec/parameters/quantum_us"
#define SLOW_GROUP "slow"

/* Somebody's fault, whose event has pages read and takes long, as his cgroup has little time. */
static void fault_slowly(int told, int go)
{
	const struct rlimit locked = { RLIM_INFINITY, RLIM_INFINITY };
	struct map m;
	char c = 0;

	CHECK(!setrlimit(RLIMIT_MEMLOCK, &locked) && !chmod(HIPEC_DEVICE, 0666));
	CHECK(!chmod(DIR_DATA, 0755) && !chmod(FILE_W, 0644));
	CHECK(!setresgid(1000, 1000, 1000) && !setresuid(1000, 1000, 1000));
	open_map(&m, "prefetch-slow", FILE_W, 4096, 1, false);
	/* What the first one does beside takes its time as well. */
	get_word(&m, 255);
	CHECK(write(told, &c, 1) == 1 && read(go, &c, 1) == 1);
	get_word(&m, 0);
	pause();
}

/* Workers of one volume at most, as in base/volume.h. */
#define VOLUME_WORKERS 64

static void let_slow_group_go_on(void)
{
	write_group(SLOW_GROUP, "cpu.max", "max");
}

#define SLOW_WORKS 16
#define SLOW_MOST(nr) ((nr) * SLOW_WORKS < VOLUME_WORKERS ? (nr) * SLOW_WORKS : VOLUME_WORKERS)

/*
 * A user's containers have an event each that goes on for seconds, as their cgroup has three thousandths
 * of a CPU, and 16 works that wait for its lock.
 */
static void begin_slowly(pid_t *pid, int nr)
{
	int told[2], go[2], i, waiting = 0;
	char c = 0;

	put_text(QUANTUM, "60000000");
	put_text(CGROUP "cgroup.subtree_control", "+cpu");
	new_group(SLOW_GROUP, 1l << 30);
	CHECK(!pipe(told) && !pipe(go));
	for (i = 0; i < nr; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			join_group(SLOW_GROUP);
			fault_slowly(told[1], go[0]);
		}
		CHECK(read(told[0], &c, 1) == 1);
	}
	atexit(let_slow_group_go_on);
	write_group(SLOW_GROUP, "cpu.max", "3000 1000000");
	for (i = 0; i < nr; i++)
		CHECK(write(go[1], &c, 1) == 1);
	for (i = 0; i < 6000 && waiting < SLOW_MOST(nr); i++) {
		usleep(10000);
		waiting = nr_workers_asleep();
	}
	printf("# %d workers wait\n", waiting);
	CHECK_LE(SLOW_MOST(nr), waiting);
}

static void end_slowly(const pid_t *pid, int nr)
{
	let_slow_group_go_on();
	while (nr--)
		CHECK(!kill(pid[nr], SIGKILL) && waitpid(pid[nr], NULL, 0) == pid[nr]);
	put_text(QUANTUM, "10000");
	CHECK(!unlink(FILE_W));
}

/*
 * Reads ahead of a user's containers wait for a lock each, and are more than a volume has workers.
 * Somebody else's on the same file system do not wait for them.
 */
static void reads_ahead_wait_for_no_event_of_others(void)
{
	enum { SLOW = 5, PAGES = 256 };
	pid_t pid[SLOW];
	struct map m;
	int i;

	make_file(FILE_W, PAGES * PAGE_BYTES);
	begin_slowly(pid, SLOW);
	open_map(&m, "fifo", FILE_W, 64, 8, false);
	for (i = 0; i < PAGES; i++)
		CHECK_EQ(get_word(&m, i), page_word(i));
	CHECK_LE(PAGES / 8, get_status(m.container).counters.ahead_pages);
	CHECK_LE(VOLUME_WORKERS, nr_workers_asleep());
	close_map(&m);
	end_slowly(pid, SLOW);
}

/* Nor does sync(2), by whomever: what is dirty in another's container is written by a worker. */
static void sync_waits_for_no_event_of_others(void)
{
	pid_t pid;

	make_file(FILE_W, 256 * PAGE_BYTES);
	begin_slowly(&pid, 1);
	sync();
	CHECK_LE(SLOW_WORKS, nr_workers_asleep());
	end_slowly(&pid, 1);
}

/* The descriptor of a region that a user has, who goes on without it. Its container stays. */
static int region_of_user(pid_t *pid)
{
	int told[2], number, fd, pidfd;
	struct map m;

	CHECK(!pipe(told));
	CHECK(!chmod(HIPEC_DEVICE, 0666) && !chmod(STUCK, 0777) && !chmod(stuck_file(0), 0666));
	*pid = fork();
	if (!*pid) {
		CHECK(!setresgid(1000, 1000, 1000) && !setresuid(1000, 1000, 1000));
		open_map(&m, "fifo", stuck_file(0), 2, 1, true);
		CHECK(!munmap(m.base, PAGE_BYTES));
		CHECK(write(told[1], &m.region, sizeof(m.region)) == sizeof(m.region));
		pause();
	}
	CHECK(read(told[0], &number, sizeof(number)) == sizeof(number));
	pidfd = syscall(SYS_pidfd_open, *pid, 0);
	fd = syscall(SYS_pidfd_getfd, pidfd, number, 0);
	CHECK(fd >= 0 && !close(pidfd));
	return fd;
}

/* A task ends that has the descriptor, whether it is the last one or not. */
static void ends_with(int fd, bool last)
{
	pid_t pid = fork();
	int status, i;

	if (!pid)
		_exit(last ? usleep(100000) : close(fd));
	if (last)
		CHECK(!close(fd));
	for (i = 0; i < 1000 && !waitpid(pid, &status, WNOHANG); i++)
		usleep(10000);
	CHECK(i < 1000 && WIFEXITED(status));
}

/*
 * Somebody who was sent a user's region stores to it, and closes it, while its disk answers nothing:
 * that is no business of his, and he goes on. What he has stored is written when the disk answers.
 */
static void sent_regions_keep_nobody(void)
{
	uint64_t *word;
	pid_t pid;
	int fd;

	make_stuck_files(1);
	fd = region_of_user(&pid);
	word = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(word != MAP_FAILED);
	*word = 9000;
	CHECK(!kill(pid, SIGSTOP));
	cut_disk_answers(false);
	ends_with(fd, false);
	CHECK(!munmap(word, PAGE_BYTES));
	ends_with(fd, true);
	cut_disk_answers(true);
	CHECK(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
	while (frames_held())
		usleep(10000);
	CHECK_EQ(stored_word(stuck_file(0), 0), 9000);
}

static const struct test disk_tests[] = {
	{ "reads_ahead_wait_for_no_event_of_others", reads_ahead_wait_for_no_event_of_others },
	{ "sync_waits_for_no_event_of_others", sync_waits_for_no_event_of_others },
	{ "region_that_was_sent_keeps_nobody", sent_regions_keep_nobody },
	{ "disks_are_written_while_another_answers_nothing", others_are_written },
	{ "regions_end_while_another_disk_answers_nothing", others_end },
	{ "cache_disks_are_written_while_another_answers_nothing", others_are_cleaned },
	{ 0 }
};
SUITE(disk_tests, 0);
