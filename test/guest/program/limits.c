// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory cgroups: containers in a cgroup that is too small for them, pressure
 * there, and owners that the OOM killer takes. The pool has 512 frames (run.sh),
 * and there is no swap.
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_A DIR_DATA "limits-a"
#define FILE_B DIR_DATA "limits-b"
#define PAGES 400
#define FIRST 16	/* frames of a container that nobody takes */
#define MB (1l << 20)

static volatile uint64_t *second_word(const struct map *m, size_t page)
{
	return (void *)(m->base + page * PAGE_BYTES + 8);
}

static const char *policy;
static bool writes;

/* Three passes over all pages; what is written is counted up. */
static void sweep(void)
{
	struct map m;
	size_t pass, i;

	map_shared(&m, policy, FILE_A, PAGES, PAGES, writes);
	for (pass = 0; pass < 3; pass++) {
		for (i = 0; i < PAGES; i++) {
			touch(&m, i);
			if (writes && pass)
				CHECK_EQ(*second_word(&m, i), 1000 * i + pass);
			if (writes)
				*second_word(&m, i) = 1000 * i + pass + 1;
		}
	}
	CHECK_LE(get_status(m.container).frames, PAGES);
	close_map(&m);
}

static void check_file(size_t pages, uint64_t plus)
{
	uint64_t words[2];
	size_t i;
	int fd = open(FILE_A, O_RDONLY);

	CHECK(fd >= 0);
	for (i = 0; i < pages; i++) {
		CHECK(pread(fd, words, 16, i * PAGE_BYTES) == 16);
		CHECK_EQ(words[0], page_word(i));
		CHECK_EQ(words[1], 1000 * i + plus);
	}
	close(fd);
}

static void sweep_in(const char *by, long mb, bool write)
{
	policy = by;
	writes = write;
	new_group("hipec-a", mb * MB);
	make_file(FILE_A, PAGES * PAGE_BYTES);
	if (in_group("hipec-a", sweep))
		FAIL("%s fails in %ld MB, %s", by, mb,
		     write ? "writing" : "reading");
	CHECK_EQ(oom_kills("hipec-a"), 0);
	CHECK_EQ(frames_held(), 0);
	if (write)
		check_file(PAGES, 3);
}

/*
 * 400 frames are 1.6 MB, beside which there are page tables and a process. A slow
 * kernel does what is hardest.
 */
static void larger_than_its_cgroup(void)
{
	long mb;

	for (mb = 1; rounds(1) && mb <= 4; mb++) {
		sweep_in("fifo", mb, false);
		sweep_in("fifo", mb, true);
	}
	sweep_in("mru", 1, true);
	sweep_in("hoard", 1, true);
}

/* Anonymous memory, all of it used twice. Return: whether it was there still. */
static bool hog(size_t pages)
{
	unsigned char *p = mmap(NULL, pages * PAGE_BYTES, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	CHECK(p != MAP_FAILED);
	madvise(p, pages * PAGE_BYTES, MADV_NOHUGEPAGE);
	for (i = 0; i < pages; i++)
		p[i * PAGE_BYTES] = i;
	for (i = 0; i < pages; i++)
		if (p[i * PAGE_BYTES] != (unsigned char)i)
			return false;
	return !munmap(p, pages * PAGE_BYTES);
}

static void hog_700(void)
{
	CHECK(hog(700));
}

static void touch_pages(const struct map *m, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		touch(m, i);
}

/*
 * 1,024 pages for 300 frames that are shared, 100 that are reserved, and 700 of
 * a hog: over 76 of the 300 have to go, and 16 may not. What the other cgroup
 * has is of the same pool, and older.
 */
static void pressure(bool write)
{
	struct map a, b, reserved;
	struct hipec_status s;
	size_t i;

	new_group("hipec-a", 4 * MB);
	new_group("hipec-b", 64 * MB);
	make_file(DIR_DATA "limits-c", 100 * PAGE_BYTES);
	join_group("hipec-b");
	open_shared(&b, "fifo", FILE_B, 100, 100, false);
	touch_pages(&b, 100);
	join_group("hipec-a");
	open_map(&reserved, "fifo", DIR_DATA "limits-c", 100, 1, false);
	touch_pages(&reserved, 100);
	open_shared(&a, "fifo", FILE_A, 300, 300, write);
	touch_pages(&a, 300);
	for (i = 0; write && i < 300; i++)
		*second_word(&a, i) = 1000 * i + 7;
	CHECK_EQ(get_status(a.container).frames, 300);
	CHECK_EQ(in_group("hipec-a", hog_700), 0);
	CHECK_EQ(oom_kills("hipec-a"), 0);
	s = get_status(a.container);
	CHECK_LE(s.frames, 300 - 76);
	CHECK_LE(FIRST + 1, s.frames);
	CHECK_EQ(s.counters.given, 300 - s.frames);
	CHECK_EQ(s.counters.helped, 0);
	CHECK_EQ(s.exit.kind, 0);
	s = get_status(b.container);
	CHECK_EQ(s.counters.given, 0);
	CHECK_EQ(s.frames, 100);
	s = get_status(reserved.container);
	CHECK_EQ(s.counters.evictions, 0);
	CHECK_EQ(s.frames, 100);
	touch_pages(&a, 300);
	touch_pages(&b, 100);
	CHECK_EQ(get_status(b.container).counters.faults, 100);
	touch_pages(&reserved, 100);
	CHECK_EQ(get_status(reserved.container).counters.faults, 100);
	close_map(&a);
	if (write)
		check_file(300, 7);
	close_map(&b);
	close_map(&reserved);
	join_group("");
}

static void pressure_reading(void)
{
	pressure(false);
}

static void pressure_writing(void)
{
	pressure(true);
}

/*
 * 400 pages of a cgroup of 1,024, in three containers that share, beside 700 of a hog: the
 * container that has most gives. The other two keep their 50, unless the cgroup's kernel
 * memory is such that nobody has more.
 */
static void largest_gives(void)
{
	struct map large, small[2];
	unsigned int most;
	int i;

	new_group("hipec-a", 4 * MB);
	join_group("hipec-a");
	open_shared(&large, "mru", FILE_A, 300, 300, false);
	touch_pages(&large, 300);
	for (i = 0; i < 2; i++) {
		open_shared(&small[i], "fifo", FILE_B, 50, 50, false);
		touch_pages(&small[i], 50);
	}
	CHECK_EQ(in_group("hipec-a", hog_700), 0);
	CHECK_EQ(oom_kills("hipec-a"), 0);
	most = get_status(large.container).frames;
	CHECK_LE(most, 300 - 76);
	for (i = 0; i < 2; i++) {
		CHECK_LE(most < 50 ? most - 1 : 50, get_status(small[i].container).frames);
		close_map(&small[i]);
	}
	close_map(&large);
	join_group("");
}

static int region_of_other;

static void touch_other_s(void)
{
	struct map m = { .region = region_of_other, .pages = PAGES };

	m.base = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ, MAP_SHARED, m.region, 0);
	CHECK(m.base != MAP_FAILED);
	touch_pages(&m, PAGES);
}

/*
 * Another's faults are charged to who loaded: 384 pages more, here and not there, more
 * or less what two CPUs have in store.
 */
static void owner_pays(void)
{
	long before, after;
	struct map m;

	new_group("hipec-a", 64 * MB);
	new_group("hipec-b", 64 * MB);
	make_file(FILE_A, PAGES * PAGE_BYTES);
	join_group("hipec-a");
	open_shared(&m, "fifo", FILE_A, PAGES, PAGES, false);
	join_group("");
	before = charged_to("hipec-a");
	region_of_other = m.region;
	CHECK_EQ(in_group("hipec-b", touch_other_s), 0);
	CHECK_EQ(get_status(m.container).frames, PAGES);
	after = of_group("hipec-a", "memory.current", "");
	CHECK_LE(before + (PAGES - FIRST - 64) * PAGE_BYTES, after);
	CHECK_LE(after, before + (PAGES - FIRST + 128) * PAGE_BYTES);
	CHECK_LE(charged_to("hipec-b"), 64 * PAGE_BYTES);
	close_map(&m);
}

static void one_sweep(void)
{
	struct map m;

	open_shared(&m, "fifo2", FILE_A, PAGES, PAGES, true);
	touch_pages(&m, PAGES);
	close_map(&m);
	open_map(&m, "fifo2", FILE_A, PAGES, 1, true);
	touch_pages(&m, PAGES);
	close_map(&m);
}

/* What the first time leaves (a slab, a directory) the next ones do not add to. */
static void charge_returns(void)
{
	long first;
	int i;

	new_group("hipec-a", 64 * MB);
	CHECK_EQ(in_group("hipec-a", one_sweep), 0);
	first = charged_to("hipec-a");
	for (i = 0; i < (rounds(1) ? 8 : 2); i++)
		CHECK_EQ(in_group("hipec-a", one_sweep), 0);
	CHECK_LE(charged_to("hipec-a"), first + 4 * PAGE_BYTES);
}

static void load_once(void)
{
	struct map m;

	open_shared(&m, "fifo", FILE_B, 16, 16, false);
	touch_pages(&m, 16);
	close_map(&m);
}

/*
 * A cgroup that was removed is gone when nobody has a reference to it any more:
 * of eight no more than some, for what else the kernel charges to them and keeps.
 */
static void reference_returns(void)
{
	long before = of_group("", "cgroup.stat", "nr_dying_descendants ");
	int i;

	for (i = 0; i < 8; i++) {
		new_group("hipec-d", 64 * MB);
		CHECK_EQ(in_group("hipec-d", load_once), 0);
		CHECK(!rmdir(CGROUP "hipec-d"));
	}
	for (i = 0; i < 10000; i++)
		if (of_group("", "cgroup.stat", "nr_dying_descendants ") <=
		    before + 4)
			return;
	FAIL("%s", "cgroups that were removed are not gone");
}

static void reserve_600(void)
{
	size_t size;
	void *image;
	int fd = hipec_open();

	CHECK(fd >= 0);
	read_image("fifo", &image, &size);
	CHECK_EQ(hipec_load(fd, image, size, 600, 1, NULL, 0), -ENOMEM);
	/* The container is none the worse for it. */
	CHECK_EQ(hipec_load(fd, image, size, 60, 1, NULL, 0), 0);
	CHECK_EQ(get_status(fd).frames, 60);
}

/* 600 frames of 512. */
static void reservation_too_large(void)
{
	new_group("hipec-a", 2 * MB);
	CHECK_EQ(in_group("hipec-a", reserve_600), 0);
	CHECK_EQ(oom_kills("hipec-a"), 0);
	CHECK_EQ(of_group("hipec-a", "memory.events", "oom "), 0);
	CHECK_EQ(frames_held(), 0);
}

#define REFUSED 2

/* As many as sweep() has, in the group that is too small for them and a process. */
static void reserve_400(void)
{
	struct map m = { .pages = PAGES };
	char log[256] = "";
	size_t size, i;
	void *image;
	int pass, ret;

	m.container = hipec_open();
	CHECK(m.container >= 0);
	read_image("fifo", &image, &size);
	ret = hipec_load(m.container, image, size, PAGES, 1, log, sizeof(log));
	if (ret) {
		CHECK_EQ(ret, -ENOMEM);
		CHECK(strstr(log, "400 frames, "));
		CHECK(strstr(log, " are more than the memory cgroup, or the machine, has"));
		_exit(REFUSED);
	}
	m.file = open(FILE_A, O_RDONLY);
	m.region = hipec_attach(m.container, m.file, 0, 0, false, NULL);
	CHECK(m.file >= 0 && m.region >= 0);
	m.base = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ, MAP_SHARED, m.region, 0);
	CHECK(m.base != MAP_FAILED);
	for (pass = 0; pass < 3; pass++)
		for (i = 0; i < PAGES; i++)
			touch(&m, i);
	CHECK(hog(64));
}

/*
 * 1.6 MB of frames in a cgroup with that, or little more: refused, with words, or
 * served, and nobody is killed, neither at the load nor by the process's own needs.
 */
static void reservation_beside_a_process(void)
{
	int status = 0;
	long kb;

	make_file(FILE_A, PAGES * PAGE_BYTES);
	for (kb = 1600; kb <= 2800; kb += rounds(100)) {
		new_group("hipec-a", kb * 1024);
		status = in_group("hipec-a", reserve_400);
		if (oom_kills("hipec-a"))
			FAIL("killed in %ld kB", kb);
		CHECK(!status || WEXITSTATUS(status) == REFUSED);
		CHECK(kb > 2048 || status);
	}
	CHECK_EQ(status, 0);
}

/* What an open container of 512 frames costs, its first ones included. */
static long cost(const char *name)
{
	long before = charged_to("hipec-a"), after;
	struct map m;

	join_group("hipec-a");
	map_shared(&m, name, FILE_A, 512, 1, false);
	join_group("");
	after = charged_to("hipec-a");
	CHECK_EQ(get_status(m.container).frames, FIRST);
	close_map(&m);
	return after - before;
}

/*
 * At load a container that shares is charged for its first frames and for its tables: 36
 * bytes for each entry (docs/policy/machine.md), which are 512 with fifo, and eleven times
 * as many where a policy may have ten ghosts a frame. There are four tables, and each may
 * fill its last page or not; what slabs take beside differs by as many pages.
 */
static void metadata(void)
{
	const long tables = 10 * 512 * 36;
	long few, many;

	new_group("hipec-a", 64 * MB);
	make_file(FILE_A, PAGE_BYTES);
	cost("fifo");
	few = cost("fifo");
	many = cost("remembers");
	CHECK_LE(FIRST * PAGE_BYTES, few);
	CHECK_LE(tables - 8 * PAGE_BYTES, many - few);
	CHECK_LE(many - few, tables + 8 * PAGE_BYTES);
}

/* A process that has all 300 pages dirty, and then wants more than there is. */
static void hog_with_a_region(void)
{
	struct map m;
	size_t i;

	open_shared(&m, "fifo", FILE_A, 300, 300, true);
	touch_pages(&m, 300);
	for (i = 0; i < 300; i++)
		*second_word(&m, i) = 1000 * i + 9;
	hog(2000);
}

static void owner_killed(void)
{
	int status;

	new_group("hipec-a", 4 * MB);
	status = in_group("hipec-a", hog_with_a_region);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	CHECK_EQ(oom_kills("hipec-a"), 1);
	CHECK_EQ(frames_held(), 0);
	check_file(300, 9);
}

/* Sweep over another's region until told to end; the data is always right. */
static void peer(int region, volatile bool *end, volatile long *passes)
{
	struct map m = { .region = region, .pages = 300 };

	m.base = mmap(NULL, 300 * PAGE_BYTES, PROT_READ, MAP_SHARED, region, 0);
	CHECK(m.base != MAP_FAILED);
	while (!*end) {
		touch_pages(&m, 300);
		++*passes;
	}
}

/*
 * The owner dies while two others fault on its region: it goes on for them, in
 * what the cgroup has left.
 */
static void owner_killed_among_peers(void)
{
	volatile long *passes = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	volatile bool *end = (void *)(passes + 8);
	int status, i;
	pid_t pid, peers[2];
	struct map m;
	long before;
	size_t page;

	new_group("hipec-a", 4 * MB);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		join_group("hipec-a");
		open_shared(&m, "fifo", FILE_A, 200, 300, true);
		for (i = 0; i < 2; i++) {
			peers[i] = fork();
			CHECK(peers[i] >= 0);
			if (peers[i])
				continue;
			join_group("");
			CHECK(!munmap(m.base, 300 * PAGE_BYTES));
			close(m.container);
			peer(m.region, end, passes + i);
			_exit(passes[2 + i] = 0);
		}
		for (page = 0; page < 300; page++)
			*second_word(&m, page) = 1000 * page + 9;
		while (!passes[0] || !passes[1])
			sched_yield();
		hog(2000);
		_exit(0);
	}
	passes[2] = passes[3] = -1;
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	CHECK_EQ(oom_kills("hipec-a"), 1);
	for (i = 0; i < 2; i++) {
		before = passes[i];
		while (passes[i] < before + 2)
			sched_yield();
	}
	*end = true;
	while (passes[2] || passes[3])
		sched_yield();
	while (frames_held())
		sched_yield();
	check_file(300, 9);
}

static const struct test limit_tests[] = {
	{ "cgroup_smaller_than_its_container_kills_nobody",
	  larger_than_its_cgroup },
	{ "cgroup_pressure_takes_its_own_shared_frames_alone", pressure_reading },
	{ "cgroup_pressure_takes_dirty_frames_when_they_are_written",
	  pressure_writing },
	{ "cgroup_pressure_takes_from_who_has_most", largest_gives },
	{ "cgroup_of_the_owner_pays_for_others_faults", owner_pays },
	{ "cgroup_has_its_charges_back_after_close", charge_returns },
	{ "cgroup_is_gone_after_its_removal", reference_returns },
	{ "cgroup_too_small_for_a_reservation_refuses_it", reservation_too_large },
	{ "cgroup_of_a_reservation_holds_its_process", reservation_beside_a_process },
	{ "cgroup_is_charged_for_tables_of_a_container_that_shares", metadata },
	{ "oom_kill_of_the_owner_gives_all_back_and_loses_no_write", owner_killed },
	{ "oom_kill_of_the_owner_leaves_its_region_to_others",
	  owner_killed_among_peers },
	{ 0 }
};
SUITE(limit_tests, 0);
