// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that are special: how large they are, what they may be used for, and the
 * file systems that they lie on.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "guest.h"

#define FILE_F DIR_DATA "files"
#define IMAGE "/tmp/files.img"
#define MOUNTED "/tmp/files"

static void unmount(void)
{
	umount2(MOUNTED, MNT_DETACH);
	unlink(IMAGE);
}

/* A file system of its own, made by @make of the file IMAGE, at MOUNTED. */
static void mount_image(const char *type, off_t bytes, const char *make)
{
	char command[256];
	int fd = open(IMAGE, O_RDWR | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0 && !ftruncate(fd, bytes));
	close(fd);
	atexit(unmount);
	mkdir(MOUNTED, 0700);
	snprintf(command, sizeof(command), "modprobe loop; modprobe %s; "
		 "%s " IMAGE " >/dev/null && mount -t %s -o loop " IMAGE " "
		 MOUNTED, type, make, type);
	if (system(command))
		FAIL("%s", command);
}

static void put_word(const struct map *m, size_t page, uint64_t word)
{
	*(volatile uint64_t *)(m->base + page * PAGE_BYTES) = word;
}

static uint64_t word_in(int file, size_t page)
{
	uint64_t word;

	CHECK_EQ(pread(file, &word, sizeof(word), page * PAGE_BYTES),
		 sizeof(word));
	return word;
}

/* The end of the longest file that ext4 has, and of the longest region. */
static void longest_file(void)
{
	const uint64_t bytes = (1ull << 44) - PAGE_BYTES;
	const size_t first = UINT32_MAX - 64u;
	struct map m;
	size_t i;

	mount_image("ext4", 64 << 20, "mkfs.ext4 -q -b 4096");
	m.file = open(MOUNTED "/long", O_RDWR | O_CREAT, 0600);
	CHECK(m.file >= 0 && !ftruncate(m.file, bytes));
	m.container = load_policy("fifo", 64, 8);
	CHECK_EQ(hipec_attach(m.container, m.file, 0, 0, true, NULL), -EFBIG);
	m.region = hipec_attach(m.container, m.file, PAGE_BYTES, 0, true, NULL);
	CHECK(m.region >= 0);
	m.pages = 64;
	m.base = mmap(NULL, m.pages * PAGE_BYTES, PROT_READ | PROT_WRITE,
		      MAP_SHARED, m.region, (first - 1) * PAGE_BYTES);
	CHECK(m.base != MAP_FAILED);
	/* One by one: with all of them a write would begin in front of the last 32. */
	for (i = 0; i < m.pages; i++) {
		put_word(&m, i, page_word(i));
		CHECK(!msync(m.base + i * PAGE_BYTES, PAGE_BYTES, MS_SYNC));
		CHECK_EQ(get_status(m.container).dirty, 0);
		CHECK_EQ(word_in(m.file, first + i), page_word(i));
	}
	CHECK_EQ(get_status(m.container).counters.written_pages, m.pages);
	/* And by the worker. */
	for (i = 1; i < m.pages; i += 2)
		put_word(&m, i, i);
	CHECK(!munmap(m.base, m.pages * PAGE_BYTES));
	CHECK(!close(m.region) && !close(m.container));
	for (i = 1; i < m.pages; i += 2)
		CHECK_EQ(word_in(m.file, first + i), i);
	close(m.file);
}

/*
 * What the backing file's mount or a security module would refuse cannot be asked
 * of them through a region: no page of one is executed, as on a mount with noexec.
 */
static void not_executable(void)
{
	const unsigned long implied = READ_IMPLIES_EXEC;
	struct map m;
	void *p;
	int old;

	make_file(FILE_F, 4 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_F, 4, 1, false);
	CHECK(mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_SHARED,
		   m.region, 0) == MAP_FAILED && errno == EPERM);
	CHECK(mmap(NULL, PAGE_BYTES, PROT_EXEC, MAP_PRIVATE, m.region, 0) ==
	      MAP_FAILED && errno == EPERM);
	CHECK(mprotect(m.base, PAGE_BYTES, PROT_READ | PROT_EXEC) == -1 &&
	      errno == EACCES);
	p = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE,
		 m.region, 0);
	CHECK(p != MAP_FAILED);
	CHECK(mprotect(p, PAGE_BYTES, PROT_READ | PROT_EXEC) == -1 &&
	      errno == EACCES);
	CHECK(!munmap(p, PAGE_BYTES));
	/* A program for which reading implies executing may map it, and read only. */
	old = personality(0xffffffff);
	CHECK(old >= 0 && personality(old | implied) >= 0);
	p = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, m.region, 0);
	CHECK(p != MAP_FAILED);
	CHECK_EQ(*(volatile uint64_t *)p, page_word(0));
	CHECK(personality(old) >= 0);
	CHECK(mprotect(p, PAGE_BYTES, PROT_READ | PROT_EXEC) == -1 &&
	      errno == EACCES);
	CHECK(!munmap(p, PAGE_BYTES));
	close_map(&m);
}

/* Whether the kernel's log says that regions were not tested on it. */
static bool log_names(const char *untested)
{
	static char log[1 << 20];
	char text[64];
	int n = klogctl(3, log, sizeof(log) - 1);

	CHECK(n >= 0);
	log[n] = 0;
	snprintf(text, sizeof(text), "no region: not tested on %s\n", untested);
	return strstr(log, text);
}

static void is_refused(int container, const char *path, const char *type)
{
	int fd;

	make_file(path, 4 * PAGE_BYTES + 100);
	fd = open(path, O_RDWR);
	CHECK_EQ(hipec_attach(container, fd, 0, 0, false, NULL), -EOPNOTSUPP);
	CHECK_EQ(hipec_attach(container, fd, 0, 0, true, NULL), -EOPNOTSUPP);
	close(fd);
	CHECK(log_names(type));
}

#define OVERLAY DIR_DATA "overlay/"

/*
 * On an overlay a fault on a page that is not resident waited for a lock that its
 * own task may hold, the last page could not be written, and the file below it
 * could be written by another container. That one is a file as any other.
 */
static void overlay(void)
{
	int c = load_policy("fifo", 4, 1), fd, r;

	if (system("modprobe overlay && cd /data && mkdir -p overlay/low "
		   "overlay/up overlay/work " MOUNTED " && mount -t overlay -o "
		   "lowerdir=overlay/low,upperdir=overlay/up,workdir=overlay/work "
		   "overlay " MOUNTED)) {
		printf("# no overlay here\n");
		return;
	}
	atexit(unmount);
	is_refused(c, MOUNTED "/file", "overlay");
	fd = open(OVERLAY "up/file", O_RDWR);
	r = hipec_attach(c, fd, 0, 0, true, NULL);
	CHECK(r >= 0);
	close(r);
	close(fd);
	close(c);
}

/* One that has direct I/O and no tests. */
static void vfat(void)
{
	int c = load_policy("fifo", 4, 1);

	if (system("modprobe -a vfat nls_cp437 nls_ascii")) {
		printf("# no vfat here\n");
		return;
	}
	mount_image("vfat", 4 << 20, "mkdosfs");
	is_refused(c, MOUNTED "/file", "vfat");
	close(c);
}

static void set_immutable(int fd, bool on)
{
	int flags;

	CHECK(!ioctl(fd, FS_IOC_GETFLAGS, &flags));
	flags = on ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
	CHECK(!ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

static struct map frozen;

static void mend(void)
{
	set_immutable(frozen.file, false);
}

/*
 * A file that is made immutable while it is a region: no page of it is written to
 * from then on. What was before is kept and cannot reach the file, which msync says.
 */
static void immutable(void)
{
	struct map *m = &frozen;
	int c = load_policy("fifo", 4, 1);

	make_file(FILE_F, 8 * PAGE_BYTES);
	open_map(m, "fifo", FILE_F, 8, 1, true);
	atexit(mend);
	put_word(m, 0, 1000);
	touch(m, 1);
	set_immutable(m->file, true);
	CHECK_EQ(hipec_attach(c, m->file, 0, 0, true, NULL), -EPERM);
	CHECK(store_gets_sigbus(m, 1));
	CHECK(store_gets_sigbus(m, 2));
	CHECK_EQ(get_word(m, 2), page_word(2));
	CHECK_EQ(get_word(m, 0), 1000);
	CHECK(msync(m->base, m->pages * PAGE_BYTES, MS_SYNC) && errno == EPERM);
	CHECK_EQ(get_status(m->container).dirty, 1);
	CHECK_EQ(word_in(m->file, 0), page_word(0));
	set_immutable(m->file, false);
	put_word(m, 1, 1001);
	fsync(m->region);	/* of what failed it tells once more */
	CHECK(!fsync(m->region));
	CHECK_EQ(word_in(m->file, 0), 1000);
	CHECK_EQ(word_in(m->file, 1), 1001);
	close_map(m);
	m->file = open(FILE_F, O_RDWR);	/* for mend() */
	close(c);
}

/*
 * Sockets that hold each other, and a region's last descriptor, are taken apart by a
 * kernel thread. It does not wait for the region's end, which comes all the same.
 */
static void garbage(void)
{
	char space[CMSG_SPACE(3 * sizeof(int))] = { 0 };
	struct iovec iov = { "", 1 };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1,
				  .msg_control = space,
				  .msg_controllen = sizeof(space) };
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
	int c, region, fds[3];
	struct map m;

	make_file(FILE_F, 4 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_F, 4, 1, true);
	put_word(&m, 3, 3003);
	CHECK(!socketpair(AF_UNIX, SOCK_DGRAM, 0, fds));
	fds[2] = m.region;
	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(rights), fds, sizeof(fds));
	CHECK_EQ(sendmsg(fds[0], &message, 0), 1);
	close(m.region);
	put_word(&m, 2, 3002);
	CHECK(!munmap(m.base, m.pages * PAGE_BYTES));
	close(m.container);
	c = load_policy("fifo", 4, 1);
	CHECK_EQ(hipec_attach(c, m.file, 0, 0, true, NULL), -EBUSY);
	close(fds[0]);
	close(fds[1]);	/* now nobody has any of the three */
	do {
		close(socket(AF_UNIX, SOCK_DGRAM, 0));	/* the kernel looks */
		region = hipec_attach(c, m.file, 0, 0, true, NULL);
	} while (region == -EBUSY);
	CHECK(region >= 0);
	CHECK_EQ(word_in(m.file, 3), 3003);
	CHECK_EQ(word_in(m.file, 2), 3002);
	close(region);
	close(c);
	close(m.file);
}

static const struct test file_tests[] = {
	{ "region_that_ends_in_a_kernel_thread_is_written", garbage },
	{ "overlay_is_refused_and_the_file_below_is_not", overlay },
	{ "file_systems_without_tests_are_refused_by_name", vfat },
	{ "file_made_immutable_is_not_written_to", immutable },
	{ "longest_file_is_written_to_its_end", longest_file },
	{ "region_is_not_executable", not_executable },
	{ 0 }
};
SUITE(file_tests, 0);
