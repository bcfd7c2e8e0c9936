// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run the guest's tests: each in a child with a time limit, TAP on stdout.
 *
 *	hipec-guest-test [--list | --list-data | NAME...]
 *
 * --list-data names those that are to pass on each file system. Those of large.c run only by
 * name, as they want another module parameter, and so do those of many.c, which want another disk.
 *
 * HIPEC_SLOWER in the environment: how many times slower than a stock kernel.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>

#include "guest.h"

/* Three times as long on a slow kernel. */
#define TEST_SECONDS 400

void read_image(const char *name, void **image, size_t *size)
{
	char path[256];
	int ret;

	snprintf(path, sizeof(path), DIR_POLICIES "%s.hpo", name);
	ret = hipec_image_read(path, image, size);
	if (ret)
		FAIL("%s: %s", path, strerror(-ret));
}

int load_policy(const char *name, uint64_t frames, uint32_t cluster)
{
	int fd = hipec_open(), ret;
	char log[256] = "";
	size_t size;
	void *image;

	if (fd < 0)
		FAIL("open: %s", strerror(-fd));
	read_image(name, &image, &size);
	ret = hipec_load(fd, image, size, frames, cluster, log, sizeof(log));
	if (ret)
		FAIL("load %s: %s: %s", name, strerror(-ret), log);
	free(image);
	return fd;
}

/* A file of @bytes whose pages start with page_word(). */
void make_file(const char *path, size_t bytes)
{
	unsigned char page[PAGE_BYTES];
	size_t done, i = 0;
	uint64_t word;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0);
	for (done = 0; done < bytes; done += PAGE_BYTES, i++) {
		size_t n = bytes - done < PAGE_BYTES ? bytes - done : PAGE_BYTES;

		memset(page, i, sizeof(page));
		word = page_word(i);
		memcpy(page, &word, sizeof(word));
		CHECK(write(fd, page, n) == (ssize_t)n);
	}
	CHECK(!fsync(fd));
	/* It is to be read from the disk. */
	CHECK(!posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	close(fd);
}

void open_map(struct map *m, const char *policy, const char *path,
	      uint64_t frames, uint32_t cluster, bool writable)
{
	struct stat st;

	m->file = open(path, writable ? O_RDWR : O_RDONLY);
	CHECK(m->file >= 0 && !fstat(m->file, &st));
	m->pages = (st.st_size + PAGE_BYTES - 1) / PAGE_BYTES;
	m->container = load_policy(policy, frames, cluster);
	m->region = hipec_attach(m->container, m->file, 0, 0, writable, NULL);
	if (m->region < 0)
		FAIL("attach %s: %s", path, strerror(-m->region));
	m->base = mmap(NULL, m->pages * PAGE_BYTES,
		       PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED,
		       m->region, 0);
	CHECK(m->base != MAP_FAILED);
}

void close_map(struct map *m)
{
	CHECK(!munmap(m->base, m->pages * PAGE_BYTES));
	CHECK(!close(m->region));
	CHECK(!close(m->container));
	CHECK(!close(m->file));
}

struct hipec_status get_status(int container)
{
	struct hipec_status s = { 0 };
	int ret = hipec_status(container, &s);

	if (ret)
		FAIL("status: %s", strerror(-ret));
	return s;
}

/* Entries of a file that has gone are forgotten a while later: then so many pages are resident. */
void wait_resident(int c, uint64_t pages)
{
	int i;

	for (i = 0; i < 1000 && get_status(c).resident != pages; i++)
		usleep(10000);
	CHECK_EQ(get_status(c).resident, pages);
}

/* Of its policy, by the name that it has there. */
struct hipec_operand operand_of(int container, const char *name)
{
	struct hipec_operand o;
	uint32_t slot;

	for (slot = 0; !hipec_operand(container, 0, slot, &o); slot++)
		if (!strcmp(o.name, name))
			return o;
	FAIL("there is no '%s'", name);
}

static sigjmp_buf jump;

static void on_sigbus(int sig)
{
	siglongjmp(jump, sig);
}

/* Whether touching @page ends in SIGBUS; if not, its data is checked. */
bool gets_sigbus(const struct map *m, size_t page)
{
	signal(SIGBUS, on_sigbus);
	if (sigsetjmp(jump, 1))
		return true;
	touch(m, page);
	return false;
}

/* Whether storing to @page does. */
bool store_gets_sigbus(const struct map *m, size_t page)
{
	signal(SIGBUS, on_sigbus);
	if (sigsetjmp(jump, 1))
		return true;
	*(volatile uint64_t *)(m->base + page * PAGE_BYTES) = 0;
	return false;
}

/* The page cache has none of a file's pages. */
void drop_pages(const char *path)
{
	int file = open(path, O_RDONLY);

	CHECK(file >= 0 && !fsync(file));
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED));
	close(file);
}

/* Of @nr rounds, as many as this kernel does in the time of a stock one. */
int rounds(int nr)
{
	const char *slower = getenv("HIPEC_SLOWER");

	return nr / (slower ? atoi(slower) : 1);
}

/* The file system of DIR_DATA, as linux/magic.h calls it. */
long type_of_data(void)
{
	struct statfs fs;

	CHECK(!statfs(DIR_DATA, &fs));
	return fs.f_type;
}

/* Whether a test that wants a disk below DIR_DATA can do nothing: it is a tmpfs. */
bool data_has_no_disk(void)
{
	bool none = type_of_data() == TMPFS_MAGIC;

	if (none)
		printf("# this file system has no disk\n");
	return none;
}

/* Frames that all containers hold. */
uint64_t frames_held(void)
{
	struct hipec_query q = { 0 };
	int fd = hipec_open(), ret;

	CHECK(fd >= 0);
	ret = hipec_query(fd, &q);
	if (ret)
		FAIL("query: %s", strerror(-ret));
	close(fd);
	return q.frames;
}

/* Frames go when the last file of a dead task is put: ask until then. */
static bool all_frames_back(void)
{
	int i;

	for (i = 0; i < 100000; i++)
		if (!frames_held())
			return true;
	return false;
}

/* What was below DIR_DATA before the first test. */
static char *found[64];
static int nr_found;

static bool was_found(const char *name)
{
	int i;

	for (i = 0; i < nr_found; i++)
		if (!strcmp(found[i], name))
			return true;
	return false;
}

static void look_at_data(void)
{
	DIR *dir = opendir(DIR_DATA);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		CHECK(nr_found < (int)(sizeof(found) / sizeof(*found)));
		found[nr_found] = strdup(entry->d_name);
		CHECK(found[nr_found++]);
	}
	if (dir)
		closedir(dir);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	remove(path);	/* or it is in use, and stays */
	return 0;
}

/* What a test has left below DIR_DATA, one that failed too: the next one has the whole disk. */
static void tidy_data(void)
{
	char path[sizeof(DIR_DATA) + NAME_MAX];
	DIR *dir = opendir(DIR_DATA);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (was_found(entry->d_name))
			continue;
		snprintf(path, sizeof(path), DIR_DATA "%s", entry->d_name);
		nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	}
	if (dir)
		closedir(dir);
}

static bool run(const struct test *t)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		alarm(rounds(1) ? TEST_SECONDS : 3 * TEST_SECONDS);
		t->fn();
		fflush(stdout);
		exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	kill(-pid, SIGKILL);	/* what it left behind */
	tidy_data();
	if (WIFSIGNALED(status))
		printf("# killed by signal %d\n", WTERMSIG(status));
	if (status)
		return false;
	if (all_frames_back())
		return true;
	printf("# %llu frames were not given back\n",
	       (unsigned long long)frames_held());
	return false;
}

static bool wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	bool data = argc == 2 && !strcmp(argv[1], "--list-data");
	bool list = data || (argc == 2 && !strcmp(argv[1], "--list"));
	const struct suite *const *s;
	const struct test *t;
	int failed = 0;

	if (argc == 4 && !strcmp(argv[1], "--map"))
		return map_after_exec(atoi(argv[2]), atoi(argv[3]));
	if (argc == 6 && (!strcmp(argv[1], "--reads") || !strcmp(argv[1], "--judged")))
		return cache_reads(argv[2], atol(argv[3]), atol(argv[4]),
				   atol(argv[5]), !strcmp(argv[1], "--judged"));
	if (argc == 2 && !strcmp(argv[1], "--leave-ends"))
		return leave_ends();
	if (argc == 3 && !strcmp(argv[1], "--contexts"))
		return print_contexts(argv[2]);
	if (argc == 5 && !strcmp(argv[1], "--record"))
		return record_work(argv[2], argv[3], atoi(argv[4]));
	if (argc == 6 && !strcmp(argv[1], "--stamp"))
		return stamp(argv[2], atoi(argv[3]), atoi(argv[4]),
			     atoi(argv[5]));
	if (argc == 4 && !strcmp(argv[1], "--stamp-check"))
		return stamp_check(argv[2], atoi(argv[3]));
	if (!list)
		look_at_data();
	for (s = __start_suites; s < __stop_suites; s++) {
		for (t = (*s)->tests; t->name; t++) {
			time_t since = time(NULL);
			bool ok;

			if (list) {
				if (!data || (*s)->kind == ON_EACH_FS)
					puts(t->name);
				continue;
			}
			if (!wanted(t->name, argc, argv) ||
			    (argc < 2 && (*s)->kind == BY_NAME))
				continue;
			ok = run(t);
			printf("%sok %s # %ld s\n", ok ? "" : "not ", t->name,
			       (long)(time(NULL) - since));
			failed += !ok;
		}
	}
	return failed ? 1 : 0;
}
