// SPDX-License-Identifier: GPL-2.0-only
/*
 * Private mappings: what is read is the region's frames, what is written is a
 * copy, which is the process's own and which no policy can take.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_V DIR_DATA "private"

/* @m with its region attached read-only, and mapped privately. */
static void open_private(struct map *m, const char *policy, uint64_t frames,
			 uint32_t cluster, int prot)
{
	open_map(m, policy, FILE_V, frames, cluster, false);
	CHECK(!munmap(m->base, m->pages * PAGE_BYTES));
	m->base = mmap(NULL, m->pages * PAGE_BYTES, prot, MAP_PRIVATE,
		       m->region, 0);
	CHECK(m->base != MAP_FAILED);
}

static void put_word(const struct map *m, size_t page, uint64_t word)
{
	*(volatile uint64_t *)(m->base + page * PAGE_BYTES) = word;
}

/* All of a page but its first word is as in the file. */
static void check_rest(const struct map *m, size_t page)
{
	size_t i;

	for (i = sizeof(uint64_t); i < PAGE_BYTES; i++)
		CHECK_EQ(m->base[page * PAGE_BYTES + i], page & 0xff);
}

static void file_is_as_made(size_t pages)
{
	unsigned char page[PAGE_BYTES], want[PAGE_BYTES];
	int fd = open(FILE_V, O_RDONLY);
	struct stat st;
	uint64_t word;
	size_t i;

	CHECK(!fstat(fd, &st));
	CHECK_EQ(st.st_size, pages * PAGE_BYTES);
	for (i = 0; i < pages; i++) {
		memset(want, i, sizeof(want));
		word = page_word(i);
		memcpy(want, &word, sizeof(word));
		CHECK(read(fd, page, sizeof(page)) == sizeof(page));
		CHECK(!memcmp(page, want, sizeof(page)));
	}
	close(fd);
}

/* A line of smaps, summed over the mappings that @m has now: pages. */
static size_t smaps(const struct map *m, const char *field)
{
	unsigned long low, high, kb, base = (unsigned long)m->base;
	FILE *f = fopen("/proc/self/smaps", "r");
	size_t len = strlen(field), sum = 0;
	bool ours = false;
	char line[512];

	CHECK(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &low, &high) == 2)
			ours = low < base + m->pages * PAGE_BYTES &&
			       high > base;
		else if (ours && !strncmp(line, field, len) &&
			 sscanf(line + len, ": %lu kB", &kb) == 1)
			sum += kb / 4;
	}
	fclose(f);
	return sum;
}

static size_t copies(const struct map *m)
{
	return smaps(m, "Anonymous");
}

static struct hipec_counters sweeps(const char *policy, bool private,
				    uint64_t frames, uint32_t cluster,
				    int passes)
{
	struct hipec_counters got;
	struct map m;
	size_t i;

	if (private)
		open_private(&m, policy, frames, cluster,
			     PROT_READ | PROT_WRITE);
	else
		open_map(&m, policy, FILE_V, frames, cluster, false);
	while (passes--)
		for (i = 0; i < m.pages; i++)
			touch(&m, i);
	got = get_status(m.container).counters;
	if (private)
		CHECK_EQ(copies(&m), 0);
	close_map(&m);
	return got;
}

/*
 * Three sweeps over 64 pages with 16 frames. FIFO hits nothing: 192. MRU brings
 * in 64 + 2 * (64 - 16 + 1) = 162. With clusters of 8 in 64 frames the faults map
 * 4 pages, 7 times 8, and 4, and nothing faults twice.
 */
static void same_faults(void)
{
	struct hipec_counters got;
	int private;

	make_file(FILE_V, 64 * PAGE_BYTES);
	for (private = 0; private < 2; private++) {
		got = sweeps("fifo", private, 16, 1, 3);
		CHECK_EQ(got.faults, 192);
		CHECK_EQ(got.evictions, 192 - 16);
		got = sweeps("mru", private, 16, 1, 3);
		CHECK_EQ(got.faults, 162);
		CHECK_EQ(got.read_pages, 162);
		got = sweeps("fifo", private, 64, 8, 3);
		CHECK_EQ(got.faults, 9);
		CHECK_EQ(got.soft_faults, 0);
		CHECK_EQ(got.pages_in, 64);
	}
}

/*
 * 32 pages, 4 frames, the even pages written: 16 faults, each for one page. Two
 * sweeps then miss each odd page, as FIFO does: 32 more. The even ones are the
 * process's own and cost nothing.
 */
static void copies_survive(void)
{
	struct hipec_status s;
	struct map m;
	size_t i;
	int pass;

	make_file(FILE_V, 32 * PAGE_BYTES);
	open_private(&m, "fifo", 4, 1, PROT_READ | PROT_WRITE);
	for (i = 0; i < 32; i += 2)
		put_word(&m, i, 500 + i);
	CHECK_EQ(get_status(m.container).counters.faults, 16);
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < 32; i++) {
			CHECK_EQ(get_word(&m, i), i & 1 ? page_word(i) : 500 + i);
			check_rest(&m, i);
		}
	s = get_status(m.container);
	CHECK_EQ(s.counters.faults, 48);
	CHECK_EQ(s.counters.soft_faults, 0);
	CHECK_EQ(s.counters.evictions, 44);
	CHECK_EQ(s.counters.refused, 0);
	CHECK_EQ(s.counters.written_pages, 0);
	CHECK_EQ(s.dirty, 0);
	CHECK_EQ(copies(&m), 16);
	close_map(&m);
	file_is_as_made(32);
}

/* The same with clusters, which map pages around what is a copy already. */
static void copies_among_clusters(void)
{
	struct map m;
	size_t i, pass;

	make_file(FILE_V, 64 * PAGE_BYTES);
	open_private(&m, "fifo", 8, 8, PROT_READ | PROT_WRITE);
	for (i = 0; i < 64; i++) {
		if (i % 3 == 0)
			put_word(&m, i, 900 + i);
		else
			touch(&m, i);
	}
	for (pass = 0; pass < 3; pass++)
		for (i = 0; i < 64; i++) {
			CHECK_EQ(get_word(&m, i), i % 3 ? page_word(i) : 900 + i);
			check_rest(&m, i);
		}
	CHECK_EQ(copies(&m), 22);
	CHECK_EQ(get_status(m.container).counters.written_pages, 0);
	close_map(&m);
	file_is_as_made(64);
}

/* A page that is mapped is copied without us; the frame keeps what it had. */
static void read_then_write(void)
{
	struct hipec_status s;
	struct map m;

	make_file(FILE_V, 4 * PAGE_BYTES);
	open_private(&m, "fifo", 4, 1, PROT_READ | PROT_WRITE);
	touch(&m, 2);
	put_word(&m, 2, 22);
	s = get_status(m.container);
	CHECK_EQ(s.counters.faults, 1);
	CHECK_EQ(s.counters.soft_faults, 0);
	CHECK_EQ(s.dirty, 0);
	CHECK_EQ(copies(&m), 1);
	/* Dropped, the copy leaves the page to be seen again: no read. */
	CHECK(!madvise(m.base, 4 * PAGE_BYTES, MADV_DONTNEED));
	touch(&m, 2);
	CHECK_EQ(copies(&m), 0);
	s = get_status(m.container);
	CHECK_EQ(s.counters.soft_faults, 1);
	CHECK_EQ(s.counters.read_pages, 1);
	close_map(&m);
	file_is_as_made(4);
}

/* 4 misses, 2 of them with Replace, and a hit: all of them writes. */
static void write_all(struct map *m, const char *path, bool private)
{
	if (private)
		open_private(m, "kinds", 2, 1, PROT_READ | PROT_WRITE);
	else
		open_map(m, "kinds", path, 2, 1, true);
	put_word(m, 0, 1);
	put_word(m, 1, 1);
	put_word(m, 2, 1);
	put_word(m, 3, 1);
	CHECK(!madvise(m->base, 4 * PAGE_BYTES, MADV_DONTNEED));
	put_word(m, 3, 2);
}

static void policy_sees_reads(void)
{
	struct map m;

	make_file(FILE_V, 4 * PAGE_BYTES);
	write_all(&m, FILE_V, true);
	CHECK_EQ(get_status(m.container).counters.faults, 4);
	CHECK_EQ(value_of(&m, "accesses"), 1);
	CHECK_EQ(value_of(&m, "fault_writes"), 0);
	CHECK_EQ(value_of(&m, "replace_writes"), 0);
	CHECK_EQ(value_of(&m, "access_writes"), 0);
	close_map(&m);
	file_is_as_made(4);
	/* A shared mapping, to know that the policy counts. */
	write_all(&m, FILE_V, false);
	CHECK_EQ(value_of(&m, "fault_writes"), 4);
	CHECK_EQ(value_of(&m, "replace_writes"), 2);
	CHECK_EQ(value_of(&m, "access_writes"), 1);
	close_map(&m);
}

/* What another writes is seen until the page is copied, and never after. */
static void shared_and_private(void)
{
	struct map m, p;

	make_file(FILE_V, 8 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_V, 4, 1, true);
	p = m;
	p.base = mmap(NULL, 8 * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE,
		      m.region, 0);
	put_word(&m, 0, 10);
	CHECK_EQ(get_word(&p, 0), 10);
	put_word(&p, 0, 20);
	put_word(&m, 0, 30);
	put_word(&m, 1, 31);
	CHECK_EQ(get_word(&p, 0), 20);
	CHECK_EQ(get_word(&p, 1), 31);
	CHECK_EQ(get_word(&m, 0), 30);
	/* Page 0 goes, dirty, and comes back. */
	touch(&p, 2);
	touch(&p, 3);
	touch(&p, 4);
	touch(&p, 5);
	CHECK_EQ(get_word(&m, 0), 30);
	CHECK_EQ(get_word(&p, 0), 20);
	CHECK_EQ(copies(&p), 1);
	/* Nothing that is private is written back. */
	CHECK(!msync(p.base, 8 * PAGE_BYTES, MS_SYNC));
	CHECK(!munmap(p.base, 8 * PAGE_BYTES));
	CHECK(!fsync(m.region));
	CHECK_EQ(get_status(m.container).dirty, 0);
	CHECK_EQ(get_word(&m, 0), 30);
	close_map(&m);
}

/*
 * Page 0 is mapped twice: as it is, touched once, and as a copy that is in use
 * all the time. The copy's referenced bit is not the page's, which FIFO2 gives
 * up like the others: 64 misses, and one more for page 0.
 */
static void copies_keep_no_frame(void)
{
	struct map m, p;
	size_t i;

	make_file(FILE_V, 64 * PAGE_BYTES);
	open_map(&m, "fifo2", FILE_V, 8, 1, false);
	p = m;
	p.base = mmap(NULL, 64 * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE,
		      m.region, 0);
	/* Not first: that one FIFO2 takes before anybody could touch it again. */
	touch(&m, 1);
	touch(&m, 2);
	touch(&m, 0);
	put_word(&p, 0, 1);
	for (i = 3; i < 64; i++) {
		touch(&m, i);
		CHECK_EQ(get_word(&p, 0), 1);
	}
	touch(&m, 0);
	CHECK_EQ(get_status(m.container).counters.faults, 65);
	CHECK(!munmap(p.base, 64 * PAGE_BYTES));
	close_map(&m);
}

/* A region for reading gives writable memory, but no way to the file. */
static void reading_is_enough(void)
{
	struct map m;
	void *p;

	make_file(FILE_V, 4 * PAGE_BYTES);
	open_private(&m, "fifo", 2, 1, PROT_READ);
	CHECK(mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		   m.region, 0) == MAP_FAILED && errno == EACCES);
	touch(&m, 0);
	CHECK(!mprotect(m.base, 4 * PAGE_BYTES, PROT_READ | PROT_WRITE));
	put_word(&m, 0, 5);
	put_word(&m, 1, 6);
	CHECK(!mprotect(m.base, 4 * PAGE_BYTES, PROT_READ));
	CHECK(!mprotect(m.base, 4 * PAGE_BYTES, PROT_READ | PROT_WRITE));
	CHECK_EQ(get_word(&m, 0), 5);
	put_word(&m, 1, 7);
	/* It moves with its copies, but does not grow, nor multiply. */
	CHECK(mremap(m.base, 4 * PAGE_BYTES, 8 * PAGE_BYTES, MREMAP_MAYMOVE) ==
	      MAP_FAILED && errno == EFAULT);
	p = mmap(NULL, 4 * PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		 -1, 0);
	CHECK(mremap(m.base, 0, 4 * PAGE_BYTES, MREMAP_MAYMOVE) == MAP_FAILED &&
	      errno == EINVAL);
	m.base = mremap(m.base, 4 * PAGE_BYTES, 4 * PAGE_BYTES,
			MREMAP_MAYMOVE | MREMAP_FIXED, p);
	CHECK(m.base == p);
	CHECK_EQ(get_word(&m, 0), 5);
	CHECK_EQ(get_word(&m, 1), 7);
	touch(&m, 2);
	touch(&m, 3);
	CHECK_EQ(copies(&m), 2);
	close_map(&m);
	file_is_as_made(4);
}

/* As a debugger does: into a mapping that may not be written to. */
static void forced_write(void)
{
	uint64_t word = 77;
	struct map m;
	int fd = open("/proc/self/mem", O_RDWR);

	make_file(FILE_V, 4 * PAGE_BYTES);
	open_private(&m, "fifo", 2, 1, PROT_READ);
	touch(&m, 1);
	CHECK(pwrite(fd, &word, sizeof(word), (off_t)m.base + PAGE_BYTES) == 8);
	CHECK(pwrite(fd, &word, sizeof(word), (off_t)m.base) == 8);
	touch(&m, 2);
	touch(&m, 3);
	CHECK_EQ(get_word(&m, 0), 77);
	CHECK_EQ(get_word(&m, 1), 77);
	CHECK_EQ(copies(&m), 2);
	CHECK_EQ(get_status(m.container).dirty, 0);
	CHECK_EQ(get_status(m.container).counters.faults, 4);
	close_map(&m);
	/* A shared one of a region for reading stays what it is. */
	open_map(&m, "fifo", FILE_V, 2, 1, false);
	CHECK(pwrite(fd, &word, sizeof(word), (off_t)m.base) == -1 &&
	      errno == EIO);
	close_map(&m);
	close(fd);
	file_is_as_made(4);
}

/* mlock() makes copies of what may be written, and holds no frame. */
static void mlock_copies(void)
{
	struct map m;

	make_file(FILE_V, 8 * PAGE_BYTES);
	open_private(&m, "fifo", 4, 1, PROT_READ);
	CHECK(!mlock(m.base, 8 * PAGE_BYTES));
	CHECK_EQ(copies(&m), 0);
	CHECK_EQ(get_status(m.container).counters.evictions, 4);
	CHECK(!mprotect(m.base, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE));
	CHECK(!mlock(m.base, 2 * PAGE_BYTES));
	CHECK_EQ(copies(&m), 2);
	close_map(&m);
}

/* A page in a pipe is the frame, pinned; a write leaves it alone. */
static void pinned_then_copied(void)
{
	struct iovec iov;
	struct map m;
	uint64_t word;
	int pipes[2];
	size_t i;

	make_file(FILE_V, 8 * PAGE_BYTES);
	open_private(&m, "fifo", 2, 1, PROT_READ | PROT_WRITE);
	CHECK(!pipe(pipes));
	touch(&m, 0);
	iov = (struct iovec){ m.base, sizeof(word) };
	CHECK(vmsplice(pipes[1], &iov, 1, 0) == sizeof(word));
	put_word(&m, 0, 9);
	for (i = 1; i < 8; i++)
		touch(&m, i);
	CHECK(get_status(m.container).counters.refused > 0);
	CHECK(read(pipes[0], &word, sizeof(word)) == sizeof(word));
	CHECK_EQ(word, page_word(0));
	CHECK_EQ(get_word(&m, 0), 9);
	close_map(&m);
}

/* Copies outlive the file's end; pages that are none end in SIGBUS. */
static void truncated(void)
{
	struct stat st;
	struct map m;

	make_file(FILE_V, 8 * PAGE_BYTES);
	open_private(&m, "fifo", 2, 1, PROT_READ | PROT_WRITE);
	put_word(&m, 6, page_word(6));
	m.base[6 * PAGE_BYTES + 8] = 1;
	CHECK(!truncate(FILE_V, 4 * PAGE_BYTES));
	CHECK(gets_sigbus(&m, 5));
	CHECK(!gets_sigbus(&m, 6));
	CHECK(!gets_sigbus(&m, 3));
	CHECK_EQ(m.base[6 * PAGE_BYTES + 8], 1);
	CHECK(madvise(m.base + 5 * PAGE_BYTES, PAGE_BYTES,
		      MADV_POPULATE_WRITE) && errno == EFAULT);
	CHECK(!madvise(m.base, m.pages * PAGE_BYTES, MADV_DONTNEED));
	CHECK(gets_sigbus(&m, 6));
	close_map(&m);
	CHECK(!stat(FILE_V, &st));
	CHECK_EQ(st.st_size, 4 * PAGE_BYTES);
}

/* Copies go to swap, as all anonymous memory, and come back. */
static void swapped(void)
{
	static const char swap[] = DIR_DATA "swap";
	unsigned char page[PAGE_BYTES] = { 0 };
	struct { uint32_t version, last; } head = { 1, 255 };
	int fd = open(swap, O_RDWR | O_CREAT | O_TRUNC, 0600);
	cpu_set_t one;
	struct map m;
	size_t i;

	/* MADV_PAGEOUT does not see what is on another CPU's way to the LRU. */
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	CHECK(!sched_setaffinity(0, sizeof(one), &one));
	memcpy(page + 1024, &head, sizeof(head));
	memcpy(page + PAGE_BYTES - 10, "SWAPSPACE2", 10);
	for (i = 0; i < 256; i++) {
		CHECK(write(fd, page, sizeof(page)) == sizeof(page));
		memset(page, 0, sizeof(page));
	}
	CHECK(!fsync(fd));
	CHECK(!swapon(swap, 0));
	make_file(FILE_V, 32 * PAGE_BYTES);
	open_private(&m, "fifo", 8, 8, PROT_READ | PROT_WRITE);
	for (i = 0; i < 32; i += 4)
		put_word(&m, i, 600 + i);
	CHECK(!madvise(m.base, 32 * PAGE_BYTES, MADV_PAGEOUT));
	CHECK_EQ(smaps(&m, "Swap"), 8);
	/* Clusters are mapped around what is not there. */
	for (i = 0; i < 32; i++)
		if (i % 4)
			touch(&m, i);
	CHECK_EQ(smaps(&m, "Swap"), 8);
	for (i = 0; i < 32; i++) {
		CHECK_EQ(get_word(&m, i), i % 4 ? page_word(i) : 600 + i);
		check_rest(&m, i);
	}
	CHECK_EQ(copies(&m), 8);
	CHECK(!swapoff(swap));
	CHECK(!unlink(swap));
	close(fd);
	close_map(&m);
	file_is_as_made(32);
}

#define CORE DIR_DATA "core"
#define CORE_PATTERN "/proc/sys/kernel/core_pattern"

static void set_core_pattern(const char *text)
{
	int fd = open(CORE_PATTERN, O_WRONLY);

	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

/* How often @word begins a page of the core file. */
static int in_core(uint64_t word)
{
	uint64_t page[PAGE_BYTES / 8];
	int fd = open(CORE, O_RDONLY), n = 0;

	CHECK(fd >= 0);
	while (read(fd, page, sizeof(page)) == sizeof(page))
		n += page[0] == word;
	close(fd);
	return n;
}

/* With one copy in it the core has all of the mapping: copies and pages. */
static void core_dump(void)
{
	static const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	struct map m;
	int status;
	pid_t pid;
	size_t i;

	make_file(FILE_V, 16 * PAGE_BYTES);
	open_private(&m, "fifo", 4, 1, PROT_READ | PROT_WRITE);
	set_core_pattern(CORE);
	pid = fork();
	if (!pid) {
		CHECK(!setrlimit(RLIMIT_CORE, &all));
		put_word(&m, 3, 333333);
		abort();
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	set_core_pattern("core");
	CHECK(WCOREDUMP(status));
	CHECK_EQ(in_core(333333), 1);
	for (i = 1; i < 16; i++)
		CHECK_EQ(in_core(page_word(i)), i != 3);
	CHECK(!unlink(CORE));
	close_map(&m);
	file_is_as_made(16);
}

static const struct test private_tests[] = {
	{ "private_sweeps_cost_the_faults_of_shared_ones", same_faults },
	{ "private_copies_survive_eviction", copies_survive },
	{ "private_copies_stay_among_clusters", copies_among_clusters },
	{ "private_page_is_copied_when_it_is_written_to", read_then_write },
	{ "private_writes_are_reads_to_the_policy", policy_sees_reads },
	{ "private_copies_do_not_see_shared_writes", shared_and_private },
	{ "private_copies_in_use_do_not_keep_a_frame", copies_keep_no_frame },
	{ "private_maps_of_regions_for_reading_are_writable", reading_is_enough },
	{ "private_maps_take_a_debugger_s_writes", forced_write },
	{ "private_maps_are_copied_by_mlock", mlock_copies },
	{ "private_writes_leave_a_pinned_frame_alone", pinned_then_copied },
	{ "private_copies_outlive_the_file_s_end", truncated },
	{ "private_copies_come_back_from_swap", swapped },
	{ "private_maps_are_whole_in_a_core_dump", core_dump },
	{ 0 }
};
SUITE(private_tests, 0);
