// SPDX-License-Identifier: GPL-2.0-only
/*
 * One region in several processes, several regions in one container, and who
 * may have which file.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_S DIR_DATA "share"

static void put_word(const struct map *m, size_t page, uint64_t word)
{
	*(volatile uint64_t *)(m->base + page * PAGE_BYTES) = word;
}

static uint64_t word_in_file(size_t page)
{
	uint64_t word;
	int fd = open(FILE_S, O_RDONLY);

	CHECK(pread(fd, &word, sizeof(word), page * PAGE_BYTES) == sizeof(word));
	close(fd);
	return word;
}

static unsigned char *map_region(int region, size_t pages, int prot, int flags)
{
	unsigned char *p = mmap(NULL, pages * PAGE_BYTES, prot, flags, region, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

/* A process that inherits nothing but pipes and a socket, if there are any. */
struct peer {
	int go[2], done[2], channel[2];
	pid_t pid;
};

static void begin(struct peer *p)
{
	CHECK(!pipe(p->go) && !pipe(p->done));
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, p->channel))
		p->channel[0] = p->channel[1] = -1;
	p->pid = fork();
	CHECK(p->pid >= 0);
}

/* Let the other go on with a number, and wait until it has done so. */
static void say(int fd, int number)
{
	CHECK(write(fd, &number, sizeof(number)) == sizeof(number));
}

static int hear(int fd)
{
	int number;

	CHECK(read(fd, &number, sizeof(number)) == sizeof(number));
	return number;
}

static void ask(struct peer *p, int number)
{
	say(p->go[1], number);
	CHECK_EQ(hear(p->done[0]), number);
}

union control {
	struct cmsghdr head;
	char space[CMSG_SPACE(sizeof(int))];
};

static void send_fd(struct peer *p, int fd)
{
	union control control = { .head = {
		.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	} };
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr head = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	if (p->channel[0] >= 0)
		CHECK(sendmsg(p->channel[0], &head, 0) == 1);
	say(p->go[1], getpid());
	ask(p, fd);
}

/* In the peer. A kernel without sockets: take it from the other's table. */
static int receive_fd(struct peer *p)
{
	union control control;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr head = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	int pid = hear(p->go[0]), number = hear(p->go[0]), fd, pidfd;

	if (p->channel[1] >= 0) {
		CHECK(recvmsg(p->channel[1], &head, MSG_CMSG_CLOEXEC) == 1);
		memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	} else {
		pidfd = syscall(SYS_pidfd_open, pid, 0);
		fd = syscall(SYS_pidfd_getfd, pidfd, number, 0);
		close(pidfd);
	}
	CHECK(fd >= 0);
	say(p->done[1], number);
	return fd;
}

static void end(struct peer *p)
{
	int status;

	CHECK(waitpid(p->pid, &status, 0) == p->pid && !status);
}

static void peer_of_one_region(struct peer *p)
{
	struct map m = { .region = receive_fd(p), .pages = 8 }, own = m;
	int step;
	size_t i;

	m.base = map_region(m.region, 8, PROT_READ | PROT_WRITE, MAP_SHARED);
	own.base = map_region(m.region, 8, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	CHECK_EQ(hear(p->go[0]), step = 1);
	for (i = 0; i < 4; i++)
		touch(&m, i);
	say(p->done[1], step);
	CHECK_EQ(hear(p->go[0]), step = 2);
	CHECK_EQ(get_word(&m, 1), 11);
	put_word(&m, 2, 22);
	put_word(&own, 3, 33);
	say(p->done[1], step);
	CHECK_EQ(hear(p->go[0]), step = 3);
	CHECK_EQ(get_word(&m, 3), 44);
	CHECK_EQ(get_word(&own, 3), 33);
	for (i = 4; i < 8; i++)
		touch(&m, i);
	say(p->done[1], step);
	CHECK_EQ(hear(p->go[0]), step = 4);
	CHECK_EQ(get_word(&own, 3), 33);
	CHECK_EQ(get_word(&m, 3), 44);
	exit(0);
}

/* Neither is the other's child: one policy, one budget, the same frames. */
static void one_region_two_processes(void)
{
	struct hipec_status s;
	struct peer p;
	struct map m;
	size_t i;

	begin(&p);
	if (!p.pid)
		peer_of_one_region(&p);
	make_file(FILE_S, 8 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_S, 4, 1, true);
	send_fd(&p, m.region);
	for (i = 0; i < 4; i++)
		touch(&m, i);
	/* The other maps what is there. */
	ask(&p, 1);
	s = get_status(m.container);
	CHECK_EQ(s.counters.faults, 4);
	CHECK_EQ(s.counters.soft_faults, 4);
	/* Both see what either writes, and neither what is private. */
	put_word(&m, 1, 11);
	ask(&p, 2);
	CHECK_EQ(get_word(&m, 2), 22);
	CHECK_EQ(get_word(&m, 3), page_word(3));
	put_word(&m, 3, 44);
	CHECK_EQ(get_status(m.container).dirty, 3);
	/* One private write was a hit; what the other misses, all lose. */
	ask(&p, 3);
	s = get_status(m.container);
	CHECK_EQ(s.counters.faults, 8);
	CHECK_EQ(s.counters.soft_faults, 5);
	CHECK_EQ(s.counters.written_pages, 3);
	CHECK_EQ(get_word(&m, 1), 11);
	CHECK_EQ(get_word(&m, 2), 22);
	CHECK_EQ(get_status(m.container).counters.faults, 10);
	close_map(&m);
	say(p.go[1], 4);
	end(&p);
	CHECK_EQ(word_in_file(3), 44);
}

static void peer_that_stays(struct peer *p)
{
	struct map m = { .region = receive_fd(p), .pages = 16 };
	size_t i;
	int pass;

	m.base = map_region(m.region, 16, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	put_word(&m, 5, 55);
	say(p->done[1], hear(p->go[0]));
	/* End of file: the one who attached is gone. */
	close(p->go[1]);
	CHECK(!read(p->go[0], &i, 1));
	CHECK(!close(m.region));
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < 16; i++)
			CHECK_EQ(get_word(&m, i), i == 5 ? 55 : page_word(i));
	CHECK_EQ(frames_held(), 4);
	exit(0);
}

/* A mapping is enough to keep container, policy and frames. */
static void owner_exits_first(void)
{
	struct peer p;
	struct map m;
	int status;
	pid_t owner;

	begin(&p);
	if (!p.pid)
		peer_that_stays(&p);
	make_file(FILE_S, 16 * PAGE_BYTES);
	owner = fork();
	if (!owner) {
		open_map(&m, "mru", FILE_S, 4, 1, false);
		send_fd(&p, m.region);
		ask(&p, 0);
		_exit(0);
	}
	close(p.go[1]);
	CHECK(waitpid(owner, &status, 0) == owner && !status);
	end(&p);
}

/* Copies at fork are the parent's and the child's, each for itself. */
static void fork_with_copies(void)
{
	int to_test[2], to_child[2], status, ok = 0;
	struct map m;
	pid_t parent;
	size_t i;

	make_file(FILE_S, 16 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_S, 4, 2, false);
	m.base = map_region(m.region, 16, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	CHECK(!pipe(to_test) && !pipe(to_child));
	parent = fork();
	if (!parent) {
		put_word(&m, 0, 10);
		put_word(&m, 1, 11);
		touch(&m, 2);
		if (!fork()) {
			CHECK_EQ(get_word(&m, 0), 10);
			put_word(&m, 0, 20);
			put_word(&m, 3, 23);
			say(to_test[1], 1);
			close(to_child[1]);
			CHECK(!read(to_child[0], &i, 1));
			/* The parent is gone, and 4 frames serve 16 pages. */
			for (i = 4; i < 16; i++)
				touch(&m, i);
			CHECK_EQ(get_word(&m, 0), 20);
			CHECK_EQ(get_word(&m, 1), 11);
			CHECK_EQ(get_word(&m, 3), 23);
			touch(&m, 2);
			say(to_test[1], 2);
			_exit(0);
		}
		CHECK_EQ(hear(to_test[0]), 1);
		CHECK_EQ(get_word(&m, 0), 10);
		CHECK_EQ(get_word(&m, 1), 11);
		touch(&m, 3);
		_exit(0);
	}
	CHECK(waitpid(parent, &status, 0) == parent && !status);
	close(to_child[1]);
	close(to_test[1]);
	CHECK(read(to_test[0], &ok, sizeof(ok)) == sizeof(ok));
	CHECK_EQ(ok, 2);
	CHECK_EQ(get_status(m.container).dirty, 0);
	for (i = 0; i < 16; i++)
		CHECK_EQ(word_in_file(i), page_word(i));
}

/* What the program does that one_that_execs() becomes: hipec-guest-test --map. */
int map_after_exec(int region, size_t pages)
{
	struct map m = { .region = region, .pages = pages };
	size_t i;

	m.base = map_region(region, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	put_word(&m, 1, 111);
	for (i = 2; i < pages; i++)
		touch(&m, i);
	CHECK_EQ(get_word(&m, 1), 111);
	CHECK_EQ(frames_held(), 4);
	return 0;
}

static void across_exec(void)
{
	char fd[16], pages[] = "16";
	struct hipec_status s;
	struct map m;
	int status;
	pid_t pid;

	make_file(FILE_S, 16 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_S, 4, 1, false);
	snprintf(fd, sizeof(fd), "%d", m.region);
	pid = fork();
	if (!pid) {
		CHECK(!fcntl(m.region, F_SETFD, 0));
		touch(&m, 0);
		execl("/proc/self/exe", "hipec-guest-test", "--map", fd, pages,
		      NULL);
		exit(1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	/* One page before, 15 behind it; the mapping before went with exec. */
	s = get_status(m.container);
	CHECK_EQ(s.counters.faults, 16);
	CHECK_EQ(s.counters.evictions, 12);
	close_map(&m);
}

/*
 * Two regions of 6 pages, 8 frames, FIFO: the first's 6 and the second's 2 fill
 * them; the second's other 4 take the first's 0 to 3. Then 4 and 5 are hits, and
 * 0 to 3 are misses that take the first's 4 and 5 and the second's 0 and 1.
 */
static void regions_share_a_budget(void)
{
	struct hipec_status s;
	struct map a, b;
	size_t i;

	make_file(FILE_S, 12 * PAGE_BYTES);
	a.container = b.container = load_policy("fifo", 8, 1);
	a.file = open(FILE_S, O_RDONLY);
	a.region = hipec_attach(a.container, a.file, 0, 6 * PAGE_BYTES, false,
				NULL);
	b.region = hipec_attach(b.container, a.file, 6 * PAGE_BYTES, 0, false,
				NULL);
	CHECK(a.region >= 0 && b.region >= 0);
	a.pages = b.pages = 6;
	a.base = map_region(a.region, 6, PROT_READ, MAP_SHARED);
	b.base = map_region(b.region, 6, PROT_READ, MAP_PRIVATE);
	for (i = 0; i < 6; i++)
		touch(&a, i);
	for (i = 0; i < 6; i++)
		CHECK_EQ(get_word(&b, i), page_word(6 + i));
	s = get_status(a.container);
	CHECK_EQ(s.regions, 2);
	CHECK_EQ(s.counters.faults, 12);
	CHECK_EQ(s.counters.evictions, 4);
	touch(&a, 4);
	touch(&a, 5);
	CHECK_EQ(get_status(a.container).counters.faults, 12);
	for (i = 0; i < 4; i++)
		touch(&a, i);
	CHECK_EQ(get_status(a.container).counters.faults, 16);
	for (i = 2; i < 6; i++)
		CHECK_EQ(get_word(&b, i), page_word(6 + i));
	CHECK_EQ(get_status(a.container).counters.faults, 16);
	/* One that goes leaves its 4 frames to the other: all 6 fit, and stay. */
	CHECK(!munmap(a.base, 6 * PAGE_BYTES) && !close(a.region));
	CHECK_EQ(get_status(b.container).free_frames, 4);
	for (i = 0; i < 6; i++)
		CHECK_EQ(get_word(&b, i), page_word(6 + i));
	s = get_status(b.container);
	CHECK_EQ(s.counters.faults, 18);
	CHECK_EQ(s.counters.evictions, 8);
	CHECK_EQ(s.resident, 6);
}

static int attach(int container, int file, bool writable)
{
	return hipec_attach(container, file, 0, 0, writable, NULL);
}

/*
 * Attaching says who reads and who writes; how the region is mapped does not
 * change it, and the last mapping ends it.
 */
static void claims(void)
{
	int a = load_policy("fifo", 8, 0), b = load_policy("fifo", 8, 0);
	int fd, r1, r2;
	unsigned char *p1, *p2;

	make_file(FILE_S, 4 * PAGE_BYTES);
	fd = open(FILE_S, O_RDWR);
	r1 = attach(a, fd, false);
	r2 = attach(b, fd, false);
	CHECK(r1 >= 0 && r2 >= 0);
	/* Two that write to copies of theirs are two readers. */
	p1 = map_region(r1, 4, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	p2 = map_region(r2, 4, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	p1[0] = 5;
	p2[0] = 6;
	CHECK_EQ(p1[0], 5);
	CHECK(!close(r1) && !close(r2));
	CHECK_EQ(attach(a, fd, true), -EBUSY);
	CHECK(!munmap(p1, 4 * PAGE_BYTES));
	CHECK_EQ(attach(a, fd, true), -EBUSY);
	CHECK(!munmap(p2, 4 * PAGE_BYTES));
	/* One that may write is a writer, though it never does. */
	r1 = attach(a, fd, true);
	CHECK(r1 >= 0);
	p1 = map_region(r1, 4, PROT_READ, MAP_PRIVATE);
	CHECK(!close(r1));
	CHECK_EQ(attach(b, fd, false), -EBUSY);
	CHECK(!munmap(p1, 4 * PAGE_BYTES));
	CHECK(attach(b, fd, false) >= 0);
}

/*
 * As git does: map a file privately, close it at once, read here and there,
 * change what was read in memory; put another in its place under the same name.
 */
static void as_git_does(void)
{
	int c = load_policy("fifo2", 8, 4), round, r, fd;
	struct map m = { .pages = 32 };
	uint32_t seed;
	size_t i;

	make_file(FILE_S, 32 * PAGE_BYTES);
	for (round = 0; round < 3; round++) {
		fd = open(FILE_S, O_RDONLY);
		r = attach(c, fd, false);
		CHECK(fd >= 0 && r >= 0);
		m.base = map_region(r, 32, PROT_READ | PROT_WRITE, MAP_PRIVATE);
		CHECK(!close(fd) && !close(r));
		for (i = 0, seed = 1; i < 200; i++) {
			seed = seed * 1664525 + 1013904223;
			touch(&m, seed >> 16 & 31);
		}
		CHECK_EQ(m.base[7 * PAGE_BYTES + 100], round ? 7 + 7 : 7);
		m.base[7 * PAGE_BYTES + 100] = 99;
		make_file(FILE_S ".lock", 32 * PAGE_BYTES);
		fd = open(FILE_S ".lock", O_WRONLY);
		CHECK(pwrite(fd, &(char){ 14 }, 1, 7 * PAGE_BYTES + 100) == 1);
		CHECK(!fsync(fd) && !close(fd));
		CHECK(!rename(FILE_S ".lock", FILE_S));
		/* The old file is there while it is mapped. */
		for (i = 0; i < 32; i++)
			touch(&m, i);
		CHECK_EQ(m.base[7 * PAGE_BYTES + 100], 99);
		CHECK(!munmap(m.base, 32 * PAGE_BYTES));
	}
	CHECK_EQ(get_status(c).regions, 0);
	/* Figure 3 counts its pages itself, and most have left without it. */
	CHECK_EQ(get_status(c).exit.kind, 0);
	CHECK_EQ(get_status(c).counters.written_pages, 0);
}

#define THREADS 4
#define STRESS_PAGES 64

static int stress_region, stress_steps;

/*
 * Each thread has a private mapping of its own and a shadow copy of its words;
 * now and then it drops a page, copy and all.
 */
static void *stress(void *arg)
{
	uint64_t shadow[STRESS_PAGES];
	uint32_t seed = (size_t)arg + 1;
	struct map m = { .pages = STRESS_PAGES };
	size_t i, page;

	m.base = map_region(stress_region, STRESS_PAGES,
			    PROT_READ | PROT_WRITE, MAP_PRIVATE);
	for (page = 0; page < STRESS_PAGES; page++)
		shadow[page] = page_word(page);
	for (i = 0; i < (size_t)rounds(stress_steps); i++) {
		seed = seed * 1664525 + 1013904223;
		page = seed >> 16 & (STRESS_PAGES - 1);
		if (get_word(&m, page) != shadow[page])
			return (void *)1;
		if (seed >> 30 == 0) {
			shadow[page] = seed | (uint64_t)(size_t)arg << 32;
			put_word(&m, page, shadow[page]);
		} else if (seed >> 29 == 2) {
			CHECK(!madvise(m.base + page * PAGE_BYTES, PAGE_BYTES,
				       MADV_DONTNEED));
			shadow[page] = page_word(page);
		}
	}
	munmap(m.base, STRESS_PAGES * PAGE_BYTES);
	return NULL;
}

static void stress_with(const char *policy, uint64_t frames, uint32_t cluster,
			int steps)
{
	pthread_t thread[THREADS];
	struct map m;
	size_t i;
	void *bad;

	make_file(FILE_S, STRESS_PAGES * PAGE_BYTES);
	open_map(&m, policy, FILE_S, frames, cluster, true);
	stress_region = m.region;
	stress_steps = steps;
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, stress, (void *)i));
	for (i = 0; i < THREADS; i++) {
		CHECK(!pthread_join(thread[i], &bad));
		CHECK(!bad);
	}
	CHECK(get_status(m.container).counters.evictions > 30);
	CHECK_EQ(get_status(m.container).counters.written_pages, 0);
	close_map(&m);
	for (i = 0; i < STRESS_PAGES; i++)
		CHECK_EQ(word_in_file(i), page_word(i));
}

static void threads_keep_copies(void)
{
	stress_with("fifo2", 16, 4, 3000);
}

/* Each fault pins a page until it is mapped or copied: nobody gets SIGBUS. */
static void more_threads_than_frames(void)
{
	stress_with("fifo", 2, 1, 500);
}

static const struct test share_tests[] = {
	{ "a_region_s_descriptor_serves_another_process", one_region_two_processes },
	{ "a_region_outlives_the_process_that_attached_it", owner_exits_first },
	{ "fork_with_copies_shares_frames_only", fork_with_copies },
	{ "a_region_s_descriptor_serves_another_program", across_exec },
	{ "regions_of_a_container_share_its_frames", regions_share_a_budget },
	{ "attach_and_not_mmap_decides_who_writes", claims },
	{ "private_maps_do_for_git", as_git_does },
	{ "private_copies_of_many_threads_are_kept", threads_keep_copies },
	{ "more_threads_than_frames_wait_for_each_other", more_threads_than_frames },
	{ 0 }
};
SUITE(share_tests, 0);
