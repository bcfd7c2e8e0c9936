// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in place and memory that is short: nobody is killed whom the kernel would have let live
 * without us, and no policy runs in reclaim.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_G DIR_DATA "cache-grows"
#define GROUP "hipec-memory"
#define MB (1l << 20)

/* A file that is made in a directory, or is small, has so many page numbers. */
#define NUMBERS 65536ul

static int container, file;

/* Pages [@first, @end), by read() of 64 KB. */
static void read_pages(size_t first, size_t end)
{
	char buffer[16 * PAGE_BYTES];

	for (; first < end; first += 16)
		CHECK(pread(file, buffer, sizeof(buffer), first * PAGE_BYTES) == sizeof(buffer));
}

/* Twice as much as the cgroup may have, most of it behind the page numbers. */
static void read_behind_numbers(void)
{
	read_pages(NUMBERS - 2048, NUMBERS + 10240);
	read_pages(NUMBERS - 2048, NUMBERS + 10240);
}

static void write_behind_numbers(void)
{
	static char buffer[16 * PAGE_BYTES];
	size_t page;

	for (page = NUMBERS - 1024; page < NUMBERS + 5120; page += 16)
		CHECK(pwrite(file, buffer, sizeof(buffer), page * PAGE_BYTES) == sizeof(buffer));
	CHECK(!fsync(file));
	read_pages(NUMBERS - 1024, NUMBERS + 5120);
}

static uint64_t outgrown(void)
{
	return get_status(container).counters.outgrown;
}

/* A file grows beyond its page numbers: pages behind have no entry, and the kernel reclaims them. */
static void a_file_outgrows_its_numbers(void)
{
	make_file(FILE_G, PAGE_BYTES);
	container = open_cache("fifo", 1024);
	file = take_file(container, FILE_G, O_RDWR);
	new_group(GROUP, 16 * MB);
	/* A file of holes is read as any other. */
	CHECK(!ftruncate(file, (NUMBERS + 16384) * PAGE_BYTES));
	CHECK_EQ(outgrown(), 0);
	CHECK_EQ(in_group(GROUP, read_behind_numbers), 0);
	CHECK_EQ(oom_kills(GROUP), 0);
	CHECK_EQ(outgrown(), 1);
	CHECK(!ftruncate(file, 16 * PAGE_BYTES));
	read_pages(0, 16);
	CHECK_EQ(outgrown(), 0);
	/* By write(), which is to find out itself. */
	CHECK_EQ(in_group(GROUP, write_behind_numbers), 0);
	CHECK_EQ(oom_kills(GROUP), 0);
	CHECK_EQ(outgrown(), 1);
	close(file);
	CHECK_EQ(hipec_release(container, 0, -1), 0);
	CHECK_EQ(outgrown(), 0);
	close(container);
	CHECK(!unlink(FILE_G));
}

#define FILE_R DIR_DATA "cache-reclaim"
#define PAGES 4096ul	/* 16 MB */

static void make_reclaimed(const char *policy)
{
	make_file(FILE_R, PAGES * PAGE_BYTES);
	container = open_cache(policy, PAGES);
	file = take_file(container, FILE_R, O_RDONLY);
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	new_group(GROUP, 32 * MB);
}

static void read_all_of_it(void)
{
	read_pages(0, PAGES);
	read_pages(0, PAGES);
}

/* Memory of the caller's own, that stays. */
static void fill(size_t mb)
{
	char *memory = mmap(NULL, mb * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t at;

	CHECK(memory != MAP_FAILED);
	for (at = 0; at < mb * MB; at += PAGE_BYTES)
		memory[at] = 1;
}

/* A neighbour in the cgroup wants more than the file leaves. */
static void want_memory(void)
{
	fill(24);
}

/*
 * Reclaim takes pages by the built-in choice, whatever Replace would do: an endless one costs the
 * neighbour no command.
 */
static void no_policy_runs_in_reclaim(void)
{
	uint64_t before;

	make_reclaimed("endless-replace");
	CHECK_EQ(in_group(GROUP, read_all_of_it), 0);
	CHECK_EQ(get_status(container).resident, PAGES);
	before = get_status(container).counters.commands;
	CHECK_EQ(in_group(GROUP, want_memory), 0);
	CHECK_EQ(oom_kills(GROUP), 0);
	CHECK_EQ(get_status(container).counters.commands, before);
	CHECK_LE(get_status(container).resident, PAGES - 1024);
	close(file);
	close(container);
	CHECK(!unlink(FILE_R));
}

/*
 * A reader whose policy takes its time has the container's lock for seconds. Reclaim tries it a
 * few times, and then leaves the files to the kernel: no neighbour is killed.
 */
static void a_busy_policy_kills_no_neighbour(void)
{
	int status, ready[2];
	pid_t reader;
	char c = 0;

	make_file(FILE_R, PAGES * PAGE_BYTES);
	new_group(GROUP, 32 * MB);
	file = open(FILE_R, O_RDONLY);
	CHECK(file >= 0 && !pipe(ready));
	/* What is there already gets entries, and PageFault when it is touched. */
	CHECK_EQ(in_group(GROUP, read_all_of_it), 0);
	close(file);
	container = open_cache("slow-fault", 65536);
	file = take_file(container, FILE_R, O_RDONLY);
	CHECK_EQ(get_status(container).resident, PAGES);
	reader = fork();
	CHECK(reader >= 0);
	if (!reader) {
		join_group(GROUP);
		CHECK(write(ready[1], &c, 1) == 1);
		for (;;)
			read_pages(0, PAGES);
	}
	CHECK(read(ready[0], &c, 1) == 1);
	CHECK_EQ(in_group(GROUP, want_memory), 0);
	CHECK_EQ(oom_kills(GROUP), 0);
	CHECK(!kill(reader, SIGKILL));
	CHECK(waitpid(reader, &status, 0) == reader);
	/* On a slow kernel they were the kernel's before: more was owed than the policy could hear. */
	CHECK_LE(rounds(1), get_status(container).counters.surrendered);
	CHECK_EQ(get_status(container).exit.kind, 0);
	close(file);
	close(container);
	CHECK(!unlink(FILE_R));
}

/* Others read pages up to here, and pay for them; a small cgroup's reader those behind. */
#define THEIRS 3072

/* In GROUP, with the file that others have read. Return: of their pages, how many are there. */
static size_t theirs_behind(void (*fn)(void), long limit)
{
	struct map m = { .pages = PAGES };

	make_reclaimed("fifo");
	read_pages(0, THEIRS);
	CHECK_EQ(get_status(container).resident, THEIRS);
	new_group(GROUP, limit);
	CHECK_EQ(in_group(GROUP, fn), 0);
	CHECK_EQ(oom_kills(GROUP), 0);
	m.base = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ, MAP_SHARED, file, 0);
	CHECK(m.base != MAP_FAILED);
	return nr_in_memory(&m, 0, THEIRS);
}

static void end_of_theirs(void)
{
	close(file);
	close(container);
	CHECK(!unlink(FILE_R));
}

static void read_a_few(void)
{
	fill(15);
	read_pages(THEIRS, THEIRS + 64);
}

/* A reader whose own cgroup is full gets its pages, and who paid for others keeps them. */
static void a_small_cgroup_leaves_others_theirs(void)
{
	size_t there = theirs_behind(read_a_few, 16 * MB);

	/* Victims go in batches. */
	CHECK_LE(THEIRS - 64, there);
	end_of_theirs();
}

static void read_and_fill(void)
{
	read_pages(THEIRS, PAGES);
	fill(6);
}

/* Reclaim in a cgroup takes the pages that it pays for, and no other. */
static void reclaim_takes_its_cgroup_s_pages(void)
{
	size_t there = theirs_behind(read_and_fill, 8 * MB);

	CHECK_LE(THEIRS - 64, there);
	CHECK_LE(get_status(container).resident, there + 1024);
	end_of_theirs();
}

/* Pages of others' file, which go at once. */
static void read_and_drop(void)
{
	read_pages(THEIRS, THEIRS + 16);
	CHECK(!posix_fadvise(file, THEIRS * PAGE_BYTES, 16 * PAGE_BYTES, POSIX_FADV_DONTNEED));
}

/* A cgroup that is short, and pays for nothing of a container, leaves its files alone. */
static void who_pays_nothing_gets_nothing(void)
{
	int fd, i;

	make_reclaimed("fifo");
	read_pages(0, THEIRS);
	CHECK_EQ(in_group(GROUP, read_and_drop), 0);
	set_group(GROUP, "memory.high", charged_to(GROUP));
	fd = open(CGROUP GROUP "/memory.reclaim", O_WRONLY);
	CHECK(fd >= 0);
	for (i = 0; i < 50; i++)
		CHECK(write(fd, "1G", 2) == -1 && errno == EAGAIN);
	close(fd);
	CHECK_EQ(get_status(container).counters.surrendered, 0);
	CHECK_LE(THEIRS, get_status(container).resident);
	end_of_theirs();
}

#define USER 1000
#define MOST_KEPT 16
#define FILE_S DIR_DATA "cache-sparse-"
#define LARGEST ((4l << 40) - PAGE_BYTES)	/* of ext4 with blocks of 1 KB */

/* From here on, an ordinary user who has the device. */
static void be_a_user(void)
{
	CHECK(!chmod(HIPEC_DEVICE, 0666));
	CHECK(!setresgid(USER, USER, USER) && !setresuid(USER, USER, USER));
}

/* Containers that live on without a descriptor: a user has 16 at most, and root any number. */
static void kept_containers_are_bounded(void)
{
	struct hipec_load load = {
		.flags = HIPEC_LOAD_IN_PLACE | HIPEC_LOAD_KEEP, .frames = 16,
	};
	uint64_t id[MOST_KEPT + 1];
	int fd, i;

	be_a_user();
	for (i = 0; i < MOST_KEPT; i++) {
		fd = hipec_open();
		CHECK_EQ(hipec_load_args(fd, &load), 0);
		id[i] = get_status(fd).id;
		close(fd);
	}
	fd = hipec_open();
	CHECK_EQ(hipec_load_args(fd, &load), -EDQUOT);
	/* One that ends makes room for another one. */
	CHECK_EQ(hipec_release(fd, id[0], -1), 0);
	CHECK_EQ(hipec_load_args(fd, &load), 0);
	id[0] = get_status(fd).id;
	close(fd);
	fd = hipec_open();
	for (i = 0; i < MOST_KEPT; i++)
		CHECK_EQ(hipec_release(fd, id[i], -1), 0);
	close(fd);
}

/* A file of USER's that is all hole. Return: a descriptor. */
static int make_sparse(int number, off_t bytes)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), FILE_S "%d", number);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0 && !ftruncate(fd, bytes) && !fchown(fd, USER, USER));
	return fd;
}

/* The page numbers of a user's files are bounded, in all of his containers together. */
static void a_user_s_page_numbers_are_bounded(void)
{
	int large[2], small = make_sparse(2, MB), i;
	int c[2];

	for (i = 0; i < 2; i++)
		large[i] = make_sparse(i, LARGEST);
	be_a_user();
	for (i = 0; i < 2; i++) {
		c[i] = open_cache("fifo", 16);
		CHECK_EQ(hipec_take(c[i], 0, large[i], NULL), 0);
	}
	for (i = 0; i < 2; i++)
		CHECK_EQ(hipec_take(c[i], 0, small, NULL), -EDQUOT);
	CHECK_EQ(hipec_release(c[0], 0, large[0]), 0);
	CHECK_EQ(hipec_take(c[1], 0, small, NULL), 0);
	for (i = 0; i < 2; i++)
		close(c[i]);
}

static void take_a_sparse_file(void)
{
	long before;

	container = open_cache("fifo", 16);
	before = charged_to(GROUP);
	CHECK_EQ(hipec_take(container, 0, file, NULL), 0);
	CHECK_LE(charged_to(GROUP) - before, MB / 4);
	close(container);
}

/* Half a million slots have one entry: that takes as long as one slot, and as little memory. */
static void page_numbers_have_one_entry(void)
{
	file = make_sparse(1, LARGEST);
	new_group(GROUP, 64 * MB);
	CHECK_EQ(in_group(GROUP, take_a_sparse_file), 0);
	close(file);
}

#define FILE_T DIR_DATA "cache-token-"
#define BESIDE 600	/* containers */
#define RECLAIMERS 2

/* Of GROUP, which is never enough: then all that can be asked are asked. */
static void reclaim_for_ever(void)
{
	int fd = open(CGROUP GROUP "/memory.reclaim", O_WRONLY);

	CHECK(fd >= 0);
	for (;;)
		CHECK(write(fd, "1G", 2) == 2 || errno == EAGAIN);
}

/* GROUP, in which the caller is, has no memory left: reclaim asks at any time. */
static void begin_to_reclaim(pid_t reclaimer[RECLAIMERS])
{
	int i;

	set_group(GROUP, "memory.high", charged_to(GROUP));
	for (i = 0; i < RECLAIMERS; i++) {
		reclaimer[i] = fork();
		CHECK(reclaimer[i] >= 0);
		if (!reclaimer[i]) {
			join_group("");
			reclaim_for_ever();
		}
	}
}

static void end_reclaim(const pid_t reclaimer[RECLAIMERS])
{
	int i;

	for (i = 0; i < RECLAIMERS; i++) {
		CHECK(!kill(reclaimer[i], SIGKILL));
		CHECK(waitpid(reclaimer[i], NULL, 0) == reclaimer[i]);
	}
	join_group("");
	CHECK_EQ(oom_kills(GROUP), 0);
}

/* Its file is empty: all that it has is a token, on the list of this CPU's node. */
static int open_with_token(int number)
{
	char path[64];
	int c = open_cache("fifo", 16), fd;

	snprintf(path, sizeof(path), FILE_T "%d", number);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0);
	CHECK_EQ(hipec_take(c, 0, fd, NULL), 0);
	close(fd);
	return c;
}

/*
 * Reclaim counts the pages of all containers of a cgroup, one node's list after the other. A container
 * on the first list ends while those on the second are looked at: there are many, so that this takes
 * a while. (That what was freed is used, is seen with slub_debug=P alone: test_freed.py.)
 */
static void ends_while_others_are_counted(void)
{
	pid_t reclaimer[RECLAIMERS];
	int i;

	if (access("/sys/devices/system/node/node1/cpu1", F_OK)) {
		printf("# there is one node\n");
		return;
	}
	new_group(GROUP, 256 * MB);
	join_group(GROUP);
	CHECK(go_to(1));
	for (i = 1; i <= BESIDE; i++)
		open_with_token(i);
	begin_to_reclaim(reclaimer);
	CHECK(go_to(0));
	for (i = 0; i < rounds(300); i++)
		close(open_with_token(0));
	end_reclaim(reclaimer);
}

static const struct test cache_memory_tests[] = {
	{ "cache_file_that_outgrows_its_numbers_is_the_kernel_s", a_file_outgrows_its_numbers },
	{ "cache_runs_no_policy_in_reclaim", no_policy_runs_in_reclaim },
	{ "cache_with_a_busy_policy_kills_no_neighbour", a_busy_policy_kills_no_neighbour },
	{ "cache_small_cgroup_leaves_others_theirs", a_small_cgroup_leaves_others_theirs },
	{ "cache_reclaim_takes_its_cgroup_s_pages", reclaim_takes_its_cgroup_s_pages },
	{ "cache_of_which_a_cgroup_pays_nothing_is_left_alone", who_pays_nothing_gets_nothing },
	{ "cache_kept_containers_of_a_user_are_bounded", kept_containers_are_bounded },
	{ "cache_page_numbers_of_a_user_are_bounded", a_user_s_page_numbers_are_bounded },
	{ "cache_page_numbers_of_a_file_have_one_entry", page_numbers_have_one_entry },
	{ "cache_ends_while_others_are_counted", ends_while_others_are_counted },
	{ 0 }
};
SUITE(cache_memory_tests, 0);
