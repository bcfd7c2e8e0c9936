// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that are special: how large they are, what they may be used for, and the
 * file systems that they lie on.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "guest.h"

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

const struct test file_tests[] = {
	{ "longest_file_is_written_to_its_end", longest_file },
	{ 0 }
};
