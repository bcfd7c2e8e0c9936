// SPDX-License-Identifier: GPL-2.0-only
/*
 * What containers, files and processes cost one by one, when there are many; in a guest of
 * run.py --det nanoseconds are instructions. One line of name=value: the time of each,
 * and the memory that it takes beside the page cache.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../../lib/take.h"

#define PAGE_BYTES 4096ul
#define READS 1000ul	/* pages, of a budget; or files, once all are there */
#define IN_A_FOLDER 1000ul
#define FILL_PAGES 32ul	/* of one read */

static const char usage[] =
"usage: scale make DIR N                         N files of one page\n"
"       scale holes DIR N                        the same, which take no disk\n"
"       scale run PROGRAM ARGUMENT...            a program\n"
"       scale budget POLICY FRAMES FILE          a container, misses, and so many pages\n"
"       scale shared POLICY FRAMES FILE          the same, of frames of the pool\n"
"       scale files POLICY FRAMES DIR N          a container with N of these files\n"
"       scale containers POLICY FRAMES DIR N     so many, each with one of them\n"
"       scale processes POLICY FRAMES FILE N     so many read a file of a container\n"
"POLICY: a .hpo; - for none. The program is in the cgroup run.\n";

static void *image;
static size_t image_size;
static uint64_t frames;
static bool plain, shares;

/* Bytes of the kernel's that the cgroup of this program is charged for. */
static int64_t in_use(void)
{
	FILE *f = fopen("/sys/fs/cgroup/run/memory.stat", "r");
	int64_t bytes;
	char name[64];

	while (f && fscanf(f, "%63s %" SCNd64, name, &bytes) == 2)
		if (!strcmp(name, "kernel"))
			break;
	if (!f || strcmp(name, "kernel"))
		die("/sys/fs/cgroup/run/memory.stat");
	fclose(f);
	return bytes;
}

static void check(int ret, const char *what)
{
	errno = -ret;
	if (ret)
		die(what);
}

static int load(void)
{
	struct hipec_load args = {
		.flags = HIPEC_LOAD_IN_PLACE | (shares ? HIPEC_LOAD_SHARE : 0),
		.frames = frames,
		.image = (uintptr_t)image,
		.image_size = image_size,
	};
	int fd = hipec_open();

	if (fd < 0)
		die("hipec_open");
	check(hipec_load_args(fd, &args), "a policy");
	return fd;
}

/* Take a file; or plainly, look at it as much. */
static void have(int container, const char *path)
{
	struct hipec_take args = { 0 };
	int fd = open(path, O_PATH);

	if (fd < 0)
		die(path);
	if (!plain)
		check(hipec_take(container, 0, fd, &args), path);
	close(fd);
}

static const char *name(const char *dir, size_t i)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%zu/%zu", dir, i / IN_A_FOLDER, i % IN_A_FOLDER);
	return path;
}

static void read_page(int fd, uint64_t page)
{
	static unsigned char buffer[PAGE_BYTES];

	if (pread(fd, buffer, PAGE_BYTES, page * PAGE_BYTES) != (ssize_t)PAGE_BYTES)
		die("pread");
}

static int open_to_read(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM))
		die(path);
	return fd;
}

static void say(const char *what, int64_t value)
{
	printf(" %s=%" PRId64, what, value);
}

/* A program that is new to the kernel costs more. */
static void warm_up(const char *path)
{
	int container = plain ? -1 : load(), fd;

	have(container, path);
	fd = open_to_read(path);
	read_page(fd, 0);
	close(fd);
	if (!plain)
		close(container);
}

static void make(const char *dir, size_t n, bool holes)
{
	static const unsigned char page[PAGE_BYTES];
	size_t i;

	for (i = 0; i < n; i++) {
		const char *path = name(dir, i);
		int fd;

		if (i % IN_A_FOLDER == 0) {
			char *end = strrchr(path, '/');

			*end = 0;
			if (mkdir(path, 0755))
				die(path);
			*end = '/';
		}
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
		if (fd < 0 || (holes ? ftruncate(fd, sizeof(page)) :
				       write(fd, page, sizeof(page)) != sizeof(page)))
			die(path);
		close(fd);
	}
}

/* Read on, in order, until @frames pages were read. */
static void fill(int fd)
{
	static unsigned char buffer[FILL_PAGES * PAGE_BYTES];
	uint64_t page;
	size_t nr;

	for (page = READS; page < frames; page += nr) {
		nr = frames - page < FILL_PAGES ? frames - page : FILL_PAGES;
		if (pread(fd, buffer, nr * PAGE_BYTES, page * PAGE_BYTES) !=
		    (ssize_t)(nr * PAGE_BYTES))
			die("pread");
	}
}

static void budget(const char *path)
{
	int64_t before = in_use();
	uint64_t begin = now(), i, pages, loaded, ended;
	struct stat st;
	int c = plain ? -1 : load(), fd;

	loaded = now() - begin;
	have(c, path);
	fd = open_to_read(path);
	if (fstat(fd, &st))
		die(path);
	pages = st.st_size / PAGE_BYTES;
	begin = now();
	for (i = 0; i < READS; i++)
		read_page(fd, i * (pages / READS) + pages / READS - 1);
	say("read", (now() - begin) / READS);
	say("some", in_use() - before);
	fill(fd);
	say("all", in_use() - before);
	close(fd);
	begin = now();
	if (!plain)
		close(c);
	ended = now() - begin;
	say("load", loaded);
	say("end", ended);
}

static void files(const char *dir, size_t n)
{
	int64_t before;
	uint64_t begin;
	size_t i;
	int c = plain ? -1 : load();

	before = in_use();
	begin = now();
	for (i = 0; i < n; i++)
		have(c, name(dir, i));
	say("each", (now() - begin) / n);
	say("bytes", (in_use() - before) / (int64_t)n);
	begin = now();
	for (i = 0; i < READS; i++) {
		int fd = open_to_read(name(dir, i * (n - 1) / (READS - 1)));

		read_page(fd, 0);
		close(fd);
	}
	say("read", (now() - begin) / READS);
	begin = now();
	if (!plain)
		close(c);
	say("end", (now() - begin) / n);
}

static void containers(const char *dir, size_t n)
{
	struct rlimit limit = { n + 64, n + 64 };
	struct hipec_status status;
	int64_t before = in_use();
	uint64_t begin = now(), id, seen = 0;
	int *fd = calloc(n, sizeof(*fd));
	size_t i;

	if (!fd || setrlimit(RLIMIT_NOFILE, &limit))
		die("descriptors");
	for (i = 0; i < n; i++) {
		fd[i] = load();
		have(fd[i], name(dir, i));
	}
	say("each", (now() - begin) / n);
	say("bytes", (in_use() - before) / (int64_t)n);
	begin = now();
	for (i = 0; i < n; i++) {
		int file = open_to_read(name(dir, i));

		read_page(file, 0);
		close(file);
	}
	say("read", (now() - begin) / n);
	begin = now();
	for (id = 0; !hipec_next(fd[0], id, &status); id = status.id)
		seen++;
	if (seen != n)
		die("hipec_next");
	say("next", (now() - begin) / n);
	begin = now();
	for (i = 0; i < n; i++)
		close(fd[i]);
	say("end", (now() - begin) / n);
}

static void process(const char *path, size_t nr, int ready, int stay)
{
	unsigned char byte = 0;
	struct stat st;
	int fd = open_to_read(path);
	size_t i;

	if (fstat(fd, &st))
		die(path);
	for (i = 0; i < 4; i++)
		read_page(fd, (nr * 4 + i) * 2657 % (st.st_size / PAGE_BYTES));
	if (write(ready, &byte, 1) != 1)
		die("a pipe");
	_exit(read(stay, &byte, 1) != 0);
}

static void processes(const char *path, size_t n)
{
	int c = plain ? -1 : load(), ready[2], stay[2], status;
	uint64_t begin;
	size_t i;

	have(c, path);
	if (pipe(ready) || pipe(stay))
		die("a pipe");
	begin = now();
	for (i = 0; i < n; i++) {
		unsigned char byte;
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid) {
			close(stay[1]);
			process(path, i, ready[1], stay[0]);
		}
		if (read(ready[0], &byte, 1) != 1)
			die("a process");
	}
	say("each", (now() - begin) / n);
	begin = now();
	close(stay[1]);
	for (i = 0; i < n; i++)
		if (wait(&status) < 0 || status)
			die("a process");
	say("end", (now() - begin) / n);
}

/* Its output is ours; with its time, and what it leaves of the kernel's memory. */
static void run(char **arguments)
{
	int64_t before = in_use();
	uint64_t begin = now();
	int status;
	pid_t pid = fork();

	if (!pid) {
		execvp(arguments[0], arguments);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		die(arguments[0]);
	printf("what=run");
	say("each", now() - begin);
	say("bytes", in_use() - before);
	printf("\n");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	size_t n = argc > 1 ? strtoul(argv[argc - 1], NULL, 0) : 0;

	if (argc == 4 && (!strcmp(what, "make") || !strcmp(what, "holes"))) {
		make(argv[2], n, !strcmp(what, "holes"));
		return 0;
	}
	if (argc > 2 && !strcmp(what, "run")) {
		run(argv + 2);
		return 0;
	}
	shares = !strcmp(what, "shared");
	if (argc != (shares || !strcmp(what, "budget") ? 5 : 6)) {
		fputs(usage, stderr);
		return 2;
	}
	plain = !strcmp(argv[2], "-");
	if (!plain)
		check(hipec_image_read(argv[2], &image, &image_size), argv[2]);
	frames = strtoull(argv[3], NULL, 0);
	printf("what=%s", what);
	if (shares || !strcmp(what, "budget")) {
		budget(argv[4]);
	} else if (!strcmp(what, "files")) {
		warm_up(name(argv[4], 0));
		files(argv[4], n);
	} else if (!strcmp(what, "containers")) {
		warm_up(name(argv[4], 0));
		containers(argv[4], n);
	} else if (!strcmp(what, "processes")) {
		warm_up(argv[4]);
		processes(argv[4], n);
	} else {
		fputs(usage, stderr);
		return 2;
	}
	printf("\n");
	return 0;
}
