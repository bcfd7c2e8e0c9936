// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attaching and mapping: which files, which ranges, who else.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_A DIR_DATA "attach-a"

static int attach(int container, int file, uint64_t offset, uint64_t length,
		  bool writable)
{
	return hipec_attach(container, file, offset, length, writable, NULL);
}

static void kinds_of_files(void)
{
	int c = load_policy("fifo", 8, 0);
	int dir = open("/data", O_RDONLY | O_DIRECTORY);
	int null = open("/dev/null", O_RDWR);
	int path = open("/data", O_PATH);
	int pipes[2];

	CHECK(!pipe(pipes) && dir >= 0 && null >= 0 && path >= 0);
	CHECK_EQ(attach(c, -1, 0, 0, false), -EBADF);
	CHECK_EQ(attach(c, 999, 0, 0, false), -EBADF);
	CHECK_EQ(attach(c, path, 0, 0, false), -EBADF);
	CHECK_EQ(attach(c, dir, 0, 0, false), -EISDIR);
	CHECK_EQ(attach(c, pipes[0], 0, 0, false), -ESPIPE);
	CHECK_EQ(attach(c, null, 0, 0, false), -ENODEV);
	CHECK_EQ(attach(c, c, 0, 0, false), -ENODEV);
	CHECK_EQ(get_status(c).regions, 0);
}

static void no_direct_io(void)
{
	int c = load_policy("fifo", 8, 0), fd;

	mkdir("/tmp/ramfs", 0700);
	CHECK(!mount("none", "/tmp/ramfs", "ramfs", 0, NULL));
	make_file("/tmp/ramfs/f", 4 * PAGE_BYTES);
	fd = open("/tmp/ramfs/f", O_RDWR);
	CHECK_EQ(attach(c, fd, 0, 0, false), -EOPNOTSUPP);
	close(fd);
	CHECK(!umount("/tmp/ramfs"));	/* nothing holds it */
}

static void ranges(void)
{
	int c = load_policy("fifo", 8, 0), fd, r;

	make_file(FILE_A, 10 * PAGE_BYTES + 100);
	fd = open(FILE_A, O_RDONLY);
	CHECK_EQ(attach(c, fd, 1, 0, false), -EINVAL);
	CHECK_EQ(attach(c, fd, 11 * PAGE_BYTES, 0, false), -ERANGE);
	CHECK_EQ(attach(c, fd, 0, 11 * PAGE_BYTES + 1, false), -ERANGE);
	CHECK_EQ(attach(c, fd, PAGE_BYTES, ~0ull, false), -ERANGE);
	CHECK_EQ(attach(c, fd, ~0ull << 12, PAGE_BYTES, false), -ERANGE);
	r = attach(c, fd, 10 * PAGE_BYTES, PAGE_BYTES, false);
	CHECK(r >= 0);
	CHECK(fcntl(r, F_GETFD) & FD_CLOEXEC);
	CHECK(mmap(NULL, 2 * PAGE_BYTES, PROT_READ, MAP_SHARED, r, 0) ==
	      MAP_FAILED && errno == ENXIO);
	CHECK(mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, r, PAGE_BYTES) ==
	      MAP_FAILED && errno == ENXIO);
	CHECK(mmap(NULL, 2 * PAGE_BYTES, PROT_READ, MAP_PRIVATE, r, 0) ==
	      MAP_FAILED && errno == ENXIO);
	/* An empty file has no range. */
	CHECK(!truncate(FILE_A, 0));
	CHECK_EQ(attach(c, fd, 0, 0, false), -ERANGE);
}

static void access_modes(void)
{
	int c = load_policy("fifo", 8, 0), ro, wo, r;

	make_file(FILE_A, 4 * PAGE_BYTES);
	ro = open(FILE_A, O_RDONLY);
	wo = open(FILE_A, O_WRONLY);
	CHECK_EQ(attach(c, ro, 0, 0, true), -EACCES);
	CHECK_EQ(attach(c, wo, 0, 0, true), -EACCES);
	CHECK_EQ(attach(c, wo, 0, 0, false), -EACCES);
	r = attach(c, ro, 0, 0, false);
	CHECK(r >= 0);
	CHECK(mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, r, 0) ==
	      MAP_FAILED && errno == EACCES);
	/* Nor can a read-only mapping be made writable later. */
	void *p = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, r, 0);

	CHECK(p != MAP_FAILED);
	CHECK(mprotect(p, PAGE_BYTES, PROT_READ | PROT_WRITE) &&
	      errno == EACCES);
}

static void before_load(void)
{
	int c = hipec_open(), fd;
	struct hipec_attach a = { .size = sizeof(a), .flags = 2 };

	make_file(FILE_A, 4 * PAGE_BYTES);
	fd = open(FILE_A, O_RDONLY);
	CHECK_EQ(attach(c, fd, 0, 0, false), -ENODATA);
	CHECK(ioctl(c, HIPEC_IOC_ATTACH, &a) && errno == EINVAL);
	close(c);
	/* The file is free: the attempt left no claim. */
	c = load_policy("fifo", 8, 0);
	CHECK(attach(c, fd, 0, 0, false) >= 0);
}

static void one_writer_or_many_readers(void)
{
	int a = load_policy("fifo", 8, 0), b = load_policy("fifo", 8, 0);
	int fd, r1, r2;

	make_file(FILE_A, 8 * PAGE_BYTES);
	fd = open(FILE_A, O_RDWR);
	r1 = attach(a, fd, 0, 0, true);
	CHECK(r1 >= 0);
	CHECK_EQ(attach(b, fd, 0, 0, false), -EBUSY);
	CHECK_EQ(attach(b, fd, 0, 0, true), -EBUSY);
	CHECK_EQ(attach(a, fd, PAGE_BYTES, 0, true), -EBUSY);
	close(r1);
	r1 = attach(a, fd, 0, 0, false);
	r2 = attach(b, fd, 0, 0, false);
	CHECK(r1 >= 0 && r2 >= 0);
	CHECK_EQ(attach(b, fd, 0, 0, true), -EBUSY);
	close(r1);
	close(r2);
	r1 = attach(a, fd, 0, 4 * PAGE_BYTES, true);
	r2 = attach(a, fd, 4 * PAGE_BYTES, 0, true);
	CHECK(r1 >= 0 && r2 >= 0);
	CHECK_EQ(get_status(a).regions, 2);
}

#define HUGE_BYTES (3ull << 40)	/* a hole, of which a container has room for five */

static uint64_t attach_huge(int container, int file, int *region)
{
	uint64_t address;

	*region = hipec_attach(container, file, 0, 0, false, &address);
	CHECK(*region >= 0);
	return address;
}

/* Behind all others while there is room, then where others were. */
static void addresses_come_back(void)
{
	int c = load_policy("fifo", 8, 1), fd, region[5], i;
	volatile unsigned char *p;

	fd = open(FILE_A, O_RDWR | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0 && !ftruncate(fd, HUGE_BYTES));
	for (i = 0; i < 5; i++)
		CHECK_EQ(attach_huge(c, fd, &region[i]), i * HUGE_BYTES);
	CHECK_EQ(attach(c, fd, 0, 0, false), -ENOSPC);
	p = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, region[3], 0);
	CHECK(p != MAP_FAILED && !*p);
	CHECK(!munmap((void *)p, PAGE_BYTES));
	close(region[3]);
	close(region[1]);
	for (i = 1; i <= 3; i += 2)
		CHECK_EQ(attach_huge(c, fd, &region[i]), i * HUGE_BYTES);
	CHECK_EQ(attach(c, fd, 0, 0, false), -ENOSPC);
	p = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, region[3], 0);
	CHECK(p != MAP_FAILED && !*p);
	CHECK_EQ(get_status(c).counters.faults, 2);
	/* A last one is smaller; what is behind it is too short for it. */
	CHECK(attach(c, fd, 0, HUGE_BYTES / 4, false) >= 0);
	CHECK_EQ(attach(c, fd, 0, HUGE_BYTES / 4, false), -ENOSPC);
	CHECK(!unlink(FILE_A));
}

#define USER 1000
#define MOST 64

/* A file on a file system of its own. Return: its descriptor. */
static int file_of_tmpfs(int number)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/volume-%d", number);
	CHECK(!mkdir(path, 0755) && !mount("volume", path, "tmpfs", 0, "size=1M"));
	strcat(path, "/f");
	make_file(path, PAGE_BYTES);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	return fd;
}

/*
 * Regions of files on as many file systems, which a user can mount in a namespace of his own: each has
 * threads of the kernel's. Its region's end gives one back, by a worker.
 */
static void file_systems_of_a_user(void)
{
	int c, file[MOST + 1], region[MOST], again, i;

	for (i = 0; i <= MOST; i++)
		file[i] = file_of_tmpfs(i);
	CHECK(!chmod(HIPEC_DEVICE, 0666));
	CHECK(!setresgid(USER, USER, USER) && !setresuid(USER, USER, USER));
	c = load_policy("fifo", 8, 0);
	for (i = 0; i < MOST; i++) {
		region[i] = attach(c, file[i], 0, 0, false);
		if (region[0] == -EOPNOTSUPP) {
			printf("# tmpfs has no direct I/O\n");
			return;
		}
		CHECK(region[i] >= 0);
	}
	CHECK_EQ(attach(c, file[MOST], 0, 0, false), -EDQUOT);
	again = attach(c, file[0], 0, 0, false);
	CHECK(again >= 0);
	close(region[1]);
	for (i = 0; i < 500 && attach(c, file[MOST], 0, 0, false) == -EDQUOT; i++)
		usleep(20000);
	CHECK_LE(i, 499);
}

static int delete_module(void)
{
	return syscall(SYS_delete_module, "hipec", O_NONBLOCK) ? errno : 0;
}

static void rmmod_while_mapped(void)
{
	struct map m;
	size_t i;

	make_file(FILE_A, 8 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_A, 4, 1, false);
	CHECK_EQ(delete_module(), EAGAIN);
	close(m.region);
	close(m.container);
	/* The mapping alone keeps container and module. */
	CHECK_EQ(delete_module(), EAGAIN);
	for (i = 0; i < m.pages; i++)
		touch(&m, i);
	CHECK_EQ(frames_held(), 4);
	CHECK(!munmap(m.base, m.pages * PAGE_BYTES));
	/* Unloading for good is the guest script's last step. */
}

static const struct test attach_tests[] = {
	{ "attach_refuses_what_is_no_file", kinds_of_files },
	{ "attach_refuses_a_file_system_without_direct_io", no_direct_io },
	{ "attach_refuses_ranges_past_the_end", ranges },
	{ "attach_keeps_to_the_descriptor_s_access_mode", access_modes },
	{ "attach_needs_a_policy_and_leaves_no_claim", before_load },
	{ "attach_allows_one_writer_or_many_readers", one_writer_or_many_readers },
	{ "addresses_of_regions_that_are_gone_are_used_again", addresses_come_back },
	{ "attach_bounds_the_file_systems_of_a_user", file_systems_of_a_user },
	{ "rmmod_is_refused_while_a_region_is_mapped", rmmod_while_mapped },
	{ 0 }
};
SUITE(attach_tests, 0);
