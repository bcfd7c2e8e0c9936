// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel's calls on memory do to a shared mapping of a region: the table
 * in docs/user/regions.md, by values. Private mappings are in private.c; pinned pages,
 * MADV_DONTNEED, mremap and the ranges of msync in data.c.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_C DIR_DATA "calls"
#define FILE_O DIR_DATA "calls-other"
#define CORE DIR_DATA "calls-core"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

static void put_word(const struct map *m, size_t page, uint64_t word)
{
	*(volatile uint64_t *)(m->base + page * PAGE_BYTES) = word;
}

static uint64_t word_in_file(size_t page)
{
	uint64_t word;
	int fd = open(FILE_C, O_RDONLY);

	CHECK(pread(fd, &word, sizeof(word), page * PAGE_BYTES) == sizeof(word));
	close(fd);
	return word;
}

/* @pages in @frames, read one at a time; the first @touched of them touched. */
static void begin(struct map *m, size_t pages, uint64_t frames, size_t touched)
{
	size_t i;

	make_file(FILE_C, pages * PAGE_BYTES);
	open_map(m, "fifo", FILE_C, frames, 1, true);
	for (i = 0; i < touched; i++)
		touch(m, i);
}

static uint64_t soft_faults(const struct map *m)
{
	return get_status(m->container).counters.soft_faults;
}

static int advise(const struct map *m, int advice)
{
	return madvise(m->base, m->pages * PAGE_BYTES, advice) ? errno : 0;
}

/* Advice about what shall be in memory is the policy's: nothing happens. */
static void advice_without_effect(void)
{
	static const int advice[] = {
		MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED,
		MADV_COLD, MADV_PAGEOUT,
	};
	struct map m;
	size_t i, n;

	begin(&m, 8, 8, 4);
	for (i = 0; i < 4; i++)
		put_word(&m, i, i);
	n = soft_faults(&m);
	for (i = 0; i < sizeof(advice) / sizeof(*advice); i++)
		CHECK_EQ(advise(&m, advice[i]), 0);
	CHECK_EQ(get_status(m.container).resident, 4);
	for (i = 0; i < 4; i++)
		CHECK_EQ(get_word(&m, i), i);
	CHECK_EQ(nr_faults(&m), 4);
	CHECK_EQ(soft_faults(&m), n);
	CHECK_EQ(get_status(m.container).counters.written_pages, 0);
	close_map(&m);
}

/* What would throw data away, or is for memory of other kinds, is refused. */
static void advice_refused(void)
{
	struct map m;

	begin(&m, 8, 8, 8);
	put_word(&m, 3, 33);
	CHECK_EQ(advise(&m, MADV_FREE), EINVAL);
	CHECK(advise(&m, MADV_REMOVE));
	CHECK(advise(&m, MADV_COLLAPSE));
	CHECK_EQ(advise(&m, MADV_WIPEONFORK), EINVAL);
	CHECK_EQ(get_word(&m, 3), 33);
	CHECK_EQ(nr_faults(&m), 8);
	close_map(&m);
	CHECK_EQ(word_in_file(3), 33);
}

/* As touching each page does: to read, to write. */
static void populate(void)
{
	struct hipec_status s;
	struct map m;

	begin(&m, 8, 4, 0);
	CHECK_EQ(advise(&m, MADV_POPULATE_READ), 0);
	s = get_status(m.container);
	CHECK_EQ(s.counters.faults, 8);
	CHECK_EQ(s.counters.evictions, 4);
	CHECK_EQ(s.dirty, 0);
	CHECK(!madvise(m.base + 4 * PAGE_BYTES, 4 * PAGE_BYTES,
		       MADV_POPULATE_WRITE));
	s = get_status(m.container);
	CHECK_EQ(s.counters.faults, 8);
	CHECK_EQ(s.dirty, 4);
	close_map(&m);
}

/* A line of smaps of @m's mapping, in pages. */
static size_t smaps(const struct map *m, const char *field)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	unsigned long from, to, kb;
	bool here = false;
	char line[512];

	CHECK(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			here = from == (unsigned long)m->base;
		if (here && !strncmp(line, field, strlen(field)) &&
		    sscanf(line + strlen(field), ": %lu kB", &kb) == 1)
			break;
	}
	CHECK(!feof(f));
	fclose(f);
	return kb * 1024 / PAGE_BYTES;
}

/* It brings every page in once, holds none, and is no property of the mapping. */
static void mlock_holds_nothing(void)
{
	struct hipec_status s;
	struct map m;

	begin(&m, 8, 4, 0);
	CHECK(!mlock(m.base, 8 * PAGE_BYTES));
	s = get_status(m.container);
	CHECK_EQ(s.counters.faults, 8);
	CHECK_EQ(s.resident, 4);
	touch(&m, 0);
	CHECK_EQ(nr_faults(&m), 9);
	CHECK(!munlock(m.base, 8 * PAGE_BYTES));
	CHECK_EQ(nr_faults(&m), 9);
	/* 0 is there, 1 to 4 push 5 to 7 and 0 out, and those come back. */
	CHECK(!syscall(SYS_mlock2, m.base, 8 * PAGE_BYTES, 1 /* ONFAULT */));
	CHECK_EQ(nr_faults(&m), 9 + 7);
	CHECK_EQ(smaps(&m, "Locked"), 0);
	CHECK(!mlockall(MCL_CURRENT) && !munlockall());
	close_map(&m);
}

/*
 * It tells of what is mapped here, to who may write to the region; of a page that
 * has a frame and no mapping it says that it is not there.
 */
static void mincore_tells_what_is_mapped(void)
{
	unsigned char vec[8];
	struct map m;
	size_t i;

	begin(&m, 8, 4, 6);
	CHECK(!mincore(m.base, 8 * PAGE_BYTES, vec));
	for (i = 0; i < 8; i++)
		CHECK_EQ(vec[i] & 1, i >= 2 && i < 6);
	CHECK_EQ(advise(&m, MADV_DONTNEED), 0);
	CHECK(!mincore(m.base, 8 * PAGE_BYTES, vec));
	for (i = 0; i < 8; i++)
		CHECK_EQ(vec[i] & 1, 0);
	CHECK_EQ(get_status(m.container).resident, 4);
	close_map(&m);
}

/* Frames that are mapped are resident, as a file's; the rest is not. */
static void smaps_counts_what_is_mapped(void)
{
	struct map m;

	begin(&m, 8, 4, 6);
	put_word(&m, 4, 44);
	CHECK_EQ(smaps(&m, "Size"), 8);
	CHECK_EQ(smaps(&m, "Rss"), 4);
	CHECK_EQ(smaps(&m, "Pss"), 4);
	CHECK_EQ(smaps(&m, "Private_Dirty"), 1);
	CHECK_EQ(smaps(&m, "Private_Clean"), 3);
	CHECK_EQ(smaps(&m, "Anonymous"), 0);
	CHECK_EQ(smaps(&m, "Swap"), 0);
	CHECK_EQ(smaps(&m, "Locked"), 0);
	CHECK_EQ(advise(&m, MADV_DONTNEED), 0);
	CHECK_EQ(smaps(&m, "Rss"), 0);
	close_map(&m);
}

/* MS_ASYNC writes nothing now, MS_INVALIDATE takes nothing, both at once are odd. */
static void msync_flags(void)
{
	struct hipec_status s;
	struct map m;

	begin(&m, 8, 8, 8);
	put_word(&m, 1, 11);
	CHECK(!msync(m.base, 8 * PAGE_BYTES, MS_ASYNC));
	s = get_status(m.container);
	CHECK_EQ(s.counters.written_pages, 0);
	CHECK_EQ(s.dirty, 1);
	CHECK(!msync(m.base, 8 * PAGE_BYTES, MS_INVALIDATE));
	CHECK_EQ(get_word(&m, 1), 11);
	CHECK_EQ(nr_faults(&m), 8);
	CHECK(msync(m.base, 8 * PAGE_BYTES, MS_SYNC | MS_ASYNC) == -1 &&
	      errno == EINVAL);
	CHECK_EQ(get_status(m.container).dirty, 1);
	CHECK(!msync(m.base, 8 * PAGE_BYTES, MS_SYNC));
	CHECK_EQ(get_status(m.container).counters.written_pages, 1);
	CHECK_EQ(word_in_file(1), 11);
	close_map(&m);
}

/* Its pages are not anonymous: nobody else may answer their faults. */
static void userfaultfd_is_refused(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg;
	struct map m;
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK(!ioctl(fd, UFFDIO_API, &api));
	begin(&m, 8, 8, 2);
	reg = (struct uffdio_register){
		.range = { (unsigned long)m.base, 8 * PAGE_BYTES },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	CHECK(ioctl(fd, UFFDIO_REGISTER, &reg) == -1 && errno == EINVAL);
	reg.mode = UFFDIO_REGISTER_MODE_WP;
	CHECK(ioctl(fd, UFFDIO_REGISTER, &reg) == -1 && errno == EINVAL);
	touch(&m, 7);
	CHECK_EQ(nr_faults(&m), 3);
	close(fd);
	close_map(&m);
}

/* The region's descriptor is for mmap, fsync and close. */
static void descriptor(void)
{
	struct stat st;
	struct map m;
	char byte = 1;

	begin(&m, 8, 8, 1);
	CHECK(fallocate(m.region, 0, 0, 16 * PAGE_BYTES) == -1);
	CHECK(fallocate(m.region, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			PAGE_BYTES) == -1);
	CHECK(ftruncate(m.region, 0) == -1);
	CHECK(read(m.region, &byte, 1) == -1 && errno == EINVAL);
	CHECK(write(m.region, &byte, 1) == -1 && errno == EINVAL);
	CHECK(!fstat(m.region, &st) && st.st_size == 8 * PAGE_BYTES);
	CHECK(!posix_fadvise(m.region, 0, 8 * PAGE_BYTES, POSIX_FADV_WILLNEED));
	CHECK(!posix_fadvise(m.region, 0, 8 * PAGE_BYTES, POSIX_FADV_DONTNEED));
	touch(&m, 0);
	CHECK_EQ(nr_faults(&m), 1);
	close_map(&m);
}

/* A hole that is made in the file is seen by pages that are read afterwards. */
static void hole_in_the_file(void)
{
	struct map m;

	begin(&m, 8, 2, 2);
	CHECK(!fallocate(m.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			 8 * PAGE_BYTES));
	touch(&m, 1);
	CHECK_EQ(get_word(&m, 5), 0);
	CHECK_EQ(get_word(&m, 6), 0);
	CHECK_EQ(get_word(&m, 1), 0);
	close_map(&m);
}

/* Nor through a second descriptor, which has direct I/O as tmpfs does. */
static void memfd(void)
{
	int c = load_policy("fifo", 4, 1), fd = memfd_create("calls", 0), again;
	char path[32];

	CHECK(fd >= 0 && !ftruncate(fd, 8 * PAGE_BYTES));
	CHECK_EQ(hipec_attach(c, fd, 0, 0, false, NULL), -EOPNOTSUPP);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDWR);
	CHECK(again >= 0);
	CHECK_EQ(hipec_attach(c, again, 0, 0, false, NULL), -EOPNOTSUPP);
	close(again);
	close(fd);
	close(c);
}

/*
 * What the next test does, for kernels without these calls: reads and writes of
 * another's memory all the same. Return: 0.
 */
static int through_proc(const struct map *m)
{
	char path[32];
	uint64_t word;
	off_t at;
	size_t i;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", getppid());
	fd = open(path, O_RDWR);
	CHECK(fd >= 0);
	for (i = 0; i < 16; i++) {
		at = (uintptr_t)m->base + i * PAGE_BYTES;
		CHECK(pread(fd, &word, 8, at) == 8);
		CHECK_EQ(word, page_word(i));
	}
	for (i = 0; i < 16; i++) {
		at = (uintptr_t)m->base + i * PAGE_BYTES;
		word = ~page_word(i);
		CHECK(pwrite(fd, &word, 8, at) == 8);
	}
	return 0;
}

/* Another task reads and writes all pages, more than there are frames. */
static void process_vm(void)
{
	uint64_t words[16], twice[16];
	struct iovec here[16], there[16];
	struct map m;
	int status;
	pid_t pid;
	size_t i;

	begin(&m, 16, 4, 0);
	for (i = 0; i < 16; i++) {
		here[i] = (struct iovec){ words + i, 8 };
		there[i] = (struct iovec){ m.base + i * PAGE_BYTES, 8 };
	}
	pid = fork();
	if (!pid) {
		if (process_vm_readv(getppid(), here, 0, there, 0, 0) &&
		    errno == ENOSYS)
			_exit(through_proc(&m));
		CHECK_EQ(process_vm_readv(getppid(), here, 16, there, 16, 0), 128);
		for (i = 0; i < 16; i++) {
			CHECK_EQ(words[i], page_word(i));
			words[i] = ~words[i];
		}
		CHECK_EQ(process_vm_writev(getppid(), here, 16, there, 16, 0), 128);
		fflush(stdout);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK_EQ(nr_faults(&m), 32);
	for (i = 0; i < 16; i++)
		twice[i] = get_word(&m, i);
	close_map(&m);
	for (i = 0; i < 16; i++) {
		CHECK_EQ(twice[i], ~page_word(i));
		CHECK_EQ(word_in_file(i), ~page_word(i));
	}
}

/* A debugger's way: /proc/PID/mem. What may not be written to is not. */
static void debugger(void)
{
	int mem = open("/proc/self/mem", O_RDWR);
	uint64_t word = 77;
	struct map m, r;

	begin(&m, 8, 4, 0);
	CHECK(pwrite(mem, &word, 8, (off_t)(unsigned long)m.base + PAGE_BYTES) == 8);
	CHECK(pread(mem, &word, 8, (off_t)(unsigned long)m.base + 2 * PAGE_BYTES) == 8);
	CHECK_EQ(word, page_word(2));
	CHECK_EQ(get_word(&m, 1), 77);
	CHECK_EQ(get_status(m.container).dirty, 1);
	close_map(&m);
	CHECK_EQ(word_in_file(1), 77);
	open_map(&r, "fifo", FILE_C, 4, 1, false);
	CHECK(pwrite(mem, &word, 8, (off_t)(unsigned long)r.base) == -1 &&
	      errno == EIO);
	touch(&r, 0);
	close_map(&r);
	close(mem);
}

/*
 * Direct reads into the region pin the pages that they fill, all of its frames if
 * they are that long; other pages go meanwhile, these do not.
 */
static void direct_io(void)
{
	struct map m;
	size_t i;
	int fd;

	begin(&m, 32, 8, 32);
	make_file(FILE_O, 64 * PAGE_BYTES);
	fd = open(FILE_O, O_RDONLY | O_DIRECT);
	CHECK(fd >= 0);
	for (i = 0; i < 32; i += 4)
		CHECK_EQ(pread(fd, m.base + i * PAGE_BYTES, 4 * PAGE_BYTES,
			       (32 + i) * PAGE_BYTES), 4 * PAGE_BYTES);
	for (i = 0; i < 32; i++)
		CHECK_EQ(get_word(&m, i), page_word(32 + i));
	close(fd);
	/* And from it to another file. */
	fd = open(FILE_O, O_WRONLY | O_DIRECT);
	for (i = 0; i < 32; i += 4)
		CHECK_EQ(pwrite(fd, m.base + i * PAGE_BYTES, 4 * PAGE_BYTES,
				i * PAGE_BYTES), 4 * PAGE_BYTES);
	close(fd);
	close_map(&m);
	fd = open(FILE_O, O_RDONLY);
	for (i = 0; i < 32; i++) {
		uint64_t word;

		CHECK_EQ(word_in_file(i), page_word(32 + i));
		CHECK(pread(fd, &word, 8, i * PAGE_BYTES) == 8);
		CHECK_EQ(word, page_word(32 + i));
	}
	close(fd);
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

/* How often @word is in the core file where a page may begin. */
static int in_core(uint64_t word)
{
	uint64_t here;
	int fd = open(CORE, O_RDONLY), found = 0;
	off_t at;

	CHECK(fd >= 0);
	for (at = 0; pread(fd, &here, 8, at) == 8; at += PAGE_BYTES)
		found += here == word;
	close(fd);
	return found;
}

/* Dump core with @filter; the mapping has 16 pages, of which 4 have frames. */
static void dump(const char *filter)
{
	static const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	struct map m;
	int status;
	pid_t pid;

	begin(&m, 16, 4, 0);
	put_word(&m, 3, 333333);
	write_text("/proc/sys/kernel/core_pattern", CORE);
	pid = fork();
	if (!pid) {
		CHECK(!setrlimit(RLIMIT_CORE, &all));
		write_text("/proc/self/coredump_filter", filter);
		put_word(&m, 5, 555555);
		abort();
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	write_text("/proc/sys/kernel/core_pattern", "core");
	CHECK(WCOREDUMP(status));
	CHECK_EQ(get_word(&m, 3), 333333);
	close_map(&m);
	CHECK_EQ(word_in_file(5), 555555);
}

/* As of a file: left out, unless shared mappings of files are asked for. */
static void core_dump(void)
{
	size_t i;

	dump("0x33");
	CHECK_EQ(in_core(333333), 0);
	CHECK_EQ(in_core(page_word(7)), 0);
	CHECK(!unlink(CORE));
	dump("0x3b");
	CHECK_EQ(in_core(333333), 1);
	CHECK_EQ(in_core(555555), 1);
	for (i = 1; i < 16; i++)
		CHECK_EQ(in_core(page_word(i)), i != 3 && i != 5);
	CHECK(!unlink(CORE));
}

static const struct test call_tests[] = {
	{ "madvise_that_only_hints_changes_nothing", advice_without_effect },
	{ "madvise_refuses_to_throw_data_away", advice_refused },
	{ "madvise_populate_brings_pages_in", populate },
	{ "mlock_brings_pages_in_and_holds_none", mlock_holds_nothing },
	{ "mincore_tells_of_mapped_pages", mincore_tells_what_is_mapped },
	{ "smaps_counts_mapped_frames", smaps_counts_what_is_mapped },
	{ "msync_does_what_its_flags_say", msync_flags },
	{ "userfaultfd_may_not_have_a_region", userfaultfd_is_refused },
	{ "region_descriptor_is_not_read_written_or_cut", descriptor },
	{ "hole_in_the_file_is_seen_by_later_reads", hole_in_the_file },
	{ "memfd_is_refused", memfd },
	{ "process_vm_reads_and_writes_more_than_the_frames", process_vm },
	{ "debugger_reads_and_writes_what_the_mapping_may", debugger },
	{ "direct_io_into_a_region_and_out_of_it", direct_io },
	{ "core_dump_has_shared_maps_if_asked_for", core_dump },
	{ 0 }
};
SUITE(call_tests, 0);
