// SPDX-License-Identifier: GPL-2.0-only
/*
 * Directories in place: files that come into them are a policy's from their first
 * access on.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "guest.h"

#define DIR DIR_DATA "cache-dir"

static int take_dir(int container, const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY), ret;
	struct hipec_take take;

	CHECK(dir >= 0);
	ret = hipec_take(container, 0, dir, &take);
	close(dir);
	return ret;
}

static void read_all(const char *path, size_t pages)
{
	int file = open(path, O_RDONLY);
	uint64_t word;
	size_t i;

	CHECK(file >= 0 && !posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	for (i = 0; i < pages; i++) {
		CHECK(pread(file, &word, sizeof(word), i * PAGE_BYTES) == sizeof(word));
		CHECK(word == page_word(i));
	}
	close(file);
}

/* Made, moved, in a directory that was made: all are taken; afterwards none is. */
static void what_comes_is_taken(void)
{
	int c = open_cache("lru", 64), dir;

	make_file(DIR_DATA "cache-moved", 32 * PAGE_BYTES);
	make_file(DIR_DATA "cache-before", PAGE_BYTES);
	CHECK(!mkdir(DIR, 0755));
	make_file(DIR "/before", PAGE_BYTES);
	CHECK_EQ(take_dir(c, DIR), 0);
	CHECK_EQ(get_status(c).regions, 0);

	make_file(DIR "/made", 128 * PAGE_BYTES);
	CHECK_EQ(get_status(c).regions, 1);
	read_all(DIR "/made", 128);
	CHECK_LE(get_status(c).resident, 64 + 16);
	CHECK(get_status(c).counters.evictions >= 128 - 64);

	CHECK(!mkdir(DIR "/sub", 0755));
	make_file(DIR "/sub/made", PAGE_BYTES);
	CHECK_EQ(get_status(c).regions, 2);
	CHECK(!rename(DIR_DATA "cache-moved", DIR "/moved"));
	CHECK_EQ(get_status(c).regions, 3);
	CHECK(!symlink("made", DIR "/link") && !mkfifo(DIR "/fifo", 0600));
	CHECK_EQ(get_status(c).regions, 3);
	CHECK(!link(DIR "/made", DIR "/sub/again"));	/* it is taken already */
	CHECK_EQ(get_status(c).regions, 3);
	read_all(DIR "/moved", 32);

	/* A file that goes is let go, a directory too. */
	CHECK(!unlink(DIR "/sub/made") && !unlink(DIR "/sub/again"));
	CHECK(!rmdir(DIR "/sub"));
	CHECK_EQ(get_status(c).regions, 2);

	dir = open(DIR, O_RDONLY);
	CHECK_EQ(hipec_release(c, 0, dir), 0);
	CHECK_EQ(hipec_release(c, 0, dir), -ENOENT);
	close(dir);
	make_file(DIR "/after", PAGE_BYTES);
	CHECK_EQ(get_status(c).regions, 2);
	CHECK_EQ(take_dir(c, DIR), 0);
	close(c);
	make_file(DIR "/later", PAGE_BYTES);
	read_all(DIR "/made", 128);
	CHECK(!system("rm -r " DIR));
}

/* Each directory has one container, and a user's has no files of others. */
static void files_of_others_stay_theirs(void)
{
	int a = open_cache("lru", 64), b = open_cache("lru", 64), dir, status;
	struct hipec_take take;
	pid_t pid;

	CHECK(!mkdir(DIR, 0777) && !chown(DIR, 65534, 65534));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		CHECK(!setuid(65534));
		CHECK_EQ(take_dir(a, DIR_DATA), -EPERM);
		CHECK_EQ(take_dir(a, DIR), 0);
		make_file(DIR "/own", PAGE_BYTES);
		CHECK_EQ(get_status(a).regions, 1);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	make_file(DIR "/roots", PAGE_BYTES);
	CHECK_EQ(get_status(a).regions, 1);
	dir = open(DIR, O_RDONLY);
	CHECK_EQ(hipec_take(b, 0, dir, &take), -EBUSY);
	CHECK_EQ(take.other, get_status(a).id);
	close(a);
	CHECK_EQ(hipec_take(b, 0, dir, &take), 0);
	CHECK(!unlink(DIR "/roots"));
	make_file(DIR "/roots", PAGE_BYTES);
	CHECK_EQ(get_status(b).regions, 1);
	CHECK(!system("rm -r " DIR));
	CHECK_EQ(get_status(b).regions, 0);
	close(dir);
	close(b);
}

#define MOVED DIR_DATA "cache-open"

/* A descriptor that a file had before it came is heard of where the loader brings it, and not else. */
static void what_is_open_is_heard_of(void)
{
	int c = open_cache("lru", 64), file[2], status, i;
	pid_t pid;

	CHECK(!mkdir(DIR, 0755));
	CHECK_EQ(take_dir(c, DIR), 0);
	for (i = 0; i < 2; i++) {
		make_file(MOVED, 8 * PAGE_BYTES);
		file[i] = open(MOVED, O_RDONLY);
		pid = i ? fork() : 0;
		CHECK(file[i] >= 0 && pid >= 0);
		if (!pid) {
			CHECK(!i || (!chmod(DIR, 0777) && !chmod(DIR_DATA, 0777) && !setuid(65534)));
			CHECK(!rename(MOVED, i ? DIR "/second" : DIR "/first"));
			if (i)
				_exit(0);
		} else {
			CHECK(waitpid(pid, &status, 0) == pid && !status);
		}
		CHECK_EQ(get_status(c).regions, i + 1);
		CHECK_EQ(get_status(c).counters.open_before, 1);
		close(file[i]);
	}
	CHECK(!chmod(DIR_DATA, 0755));
	close(c);
	CHECK(!system("rm -r " DIR));
}

/* Files come and go in several tasks while the directory is taken and let go. */
static void comes_and_goes_under_load(void)
{
	char path[64];
	int c, nr, i, status;
	pid_t pid;

	CHECK(!mkdir(DIR, 0755));
	for (nr = 0; nr < 3; nr++) {
		pid = fork();
		CHECK(pid >= 0);
		if (pid)
			continue;
		for (i = 0; i < rounds(60); i++) {
			snprintf(path, sizeof(path), DIR "/%d", nr);
			make_file(path, 8 * PAGE_BYTES);
			read_all(path, 8);
			CHECK(!unlink(path));
		}
		_exit(0);
	}
	for (i = 0; i < rounds(60); i++) {
		c = open_cache("lru", 64);
		CHECK_EQ(take_dir(c, DIR), 0);
		get_status(c);
		close(c);
	}
	for (nr = 0; nr < 3; nr++)
		CHECK(wait(&status) > 0 && !status);
	CHECK(!rmdir(DIR));
}

static const struct test cache_dir_tests[] = {
	{ "cache_takes_what_comes_into_a_directory", what_comes_is_taken },
	{ "cache_of_a_directory_leaves_files_of_others", files_of_others_stay_theirs },
	{ "cache_hears_what_is_open_as_it_comes_into_a_directory", what_is_open_is_heard_of },
	{ "cache_of_a_directory_comes_and_goes_under_load", comes_and_goes_under_load },
	{ 0 }
};
SUITE(cache_dir_tests, 0);
