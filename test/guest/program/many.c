// SPDX-License-Identifier: GPL-2.0-only
/*
 * As many files and directories as a container may have. They need a disk of their own, with
 * as many inodes, so these tests run only by name, on DIR_MANY.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "guest.h"

#define DIR_MANY "/many/"
#define IN_A_FOLDER 1000

/* Files that get room to grow (docs/limits.md); and the page numbers of one beyond these. */
#define ROOMY 32768
#define LEAST_PAGES 4096

static const char *name(const char *kind, int i)
{
	static char path[64];

	snprintf(path, sizeof(path), DIR_MANY "%s%d/%d", kind, i / IN_A_FOLDER, i);
	return path;
}

static void make_folder(const char *kind, int i)
{
	char path[64];

	snprintf(path, sizeof(path), DIR_MANY "%s%d", kind, i / IN_A_FOLDER);
	if (!(i % IN_A_FOLDER))
		CHECK(!mkdir(path, 0755));
}

static int take(int c, const char *path, int flags)
{
	int fd = open(path, flags), ret;

	CHECK(fd >= 0);
	ret = hipec_take(c, 0, fd, NULL);
	close(fd);
	return ret;
}

static int take_new_file(int c, int i)
{
	make_folder("f", i);
	CHECK(!mknod(name("f", i), S_IFREG | 0644, 0));
	return take(c, name("f", i), O_PATH);
}

/*
 * There are 2^32 page numbers, and the last 4,096 are nobody's. Each of the first files gets
 * 65,536, which is half of them all; a large file gets two for each of its pages, so one of
 * 4 TiB and 8 MiB less fits beside. One more small file, and it does not: that has 4,096. What is
 * refused is so at once, or a tree with more files would never be attached.
 */
static void files_get_fewer_numbers(void)
{
	const off_t least = LEAST_PAGES / 2 * PAGE_BYTES, large = (4l << 40) - least;
	int c = open_cache("fifo", 64), i, again;

	CHECK(!mknod(DIR_MANY "large", S_IFREG | 0644, 0));
	CHECK(!truncate(DIR_MANY "large", large));
	for (i = 0; i < ROOMY; i++)
		CHECK_EQ(take_new_file(c, i), 0);
	CHECK_EQ(take(c, DIR_MANY "large", O_PATH), 0);
	CHECK_EQ(take_new_file(c, i), -ENOSPC);
	for (again = 0; again < 10000; again++)
		CHECK_EQ(take(c, name("f", i), O_PATH), -ENOSPC);
	CHECK(!unlink(DIR_MANY "large"));

	CHECK_EQ(take(c, name("f", i), O_PATH), 0);
	CHECK(!mknod(DIR_MANY "large", S_IFREG | 0644, 0));
	CHECK(!truncate(DIR_MANY "large", large));
	CHECK_EQ(take(c, DIR_MANY "large", O_PATH), -ENOSPC);
	CHECK(!truncate(DIR_MANY "large", large - least));
	CHECK_EQ(take(c, DIR_MANY "large", O_PATH), 0);
	CHECK_EQ(get_status(c).regions, ROOMY + 2);
	close(c);
}

static void directories_are_bounded(void)
{
	int c = open_cache("fifo", 64), i;

	for (i = 0; i < HIPEC_MAX_DIRS; i++) {
		make_folder("d", i);
		CHECK(!mkdir(name("d", i), 0755));
		CHECK_EQ(take(c, name("d", i), O_RDONLY | O_DIRECTORY), 0);
	}
	make_folder("d", i);
	CHECK(!mkdir(name("d", i), 0755));
	CHECK_EQ(take(c, name("d", i), O_RDONLY | O_DIRECTORY), -ENOSPC);
	CHECK(!rmdir(name("d", 0)));
	CHECK_EQ(take(c, name("d", i), O_RDONLY | O_DIRECTORY), 0);
	close(c);
}

static const struct test many_tests[] = {
	{ "many_files_get_fewer_page_numbers", files_get_fewer_numbers },
	{ "many_directories_are_bounded", directories_are_bounded },
	{ 0 }
};
SUITE(many_tests, BY_NAME);
