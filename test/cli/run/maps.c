// SPDX-License-Identifier: GPL-2.0-only
/*
 * What programs do with maps of files, a verb each: maps VERB FILE. Each prints what
 * it finds, which must be the same with and without hipec run. FILE has eight pages
 * or more; the guest runs it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul
#define AT(map, page) ((unsigned char *)(map) + (page) * PAGE)

static const char *name;
static size_t size;

static void want(int ok, const char *what)
{
	if (ok)
		return;
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static int open_file(int mode)
{
	struct stat st;
	int fd = open(name, mode);

	want(fd >= 0 && !fstat(fd, &st), name);
	size = st.st_size;
	return fd;
}

static void *map(size_t bytes, int prot, int flags, int fd, off_t offset)
{
	void *memory = mmap(NULL, bytes, prot, flags, fd, offset);

	want(memory != MAP_FAILED, "mmap");
	return memory;
}

static unsigned long sum(const void *memory, size_t bytes)
{
	const unsigned char *p = memory;
	unsigned long n = 5381;

	while (bytes--)
		n = n * 33 + *p++;
	return n;
}

/* Page @page of the file as read() has it. */
static unsigned int read_byte(int fd, size_t page)
{
	unsigned char c;

	want(pread(fd, &c, 1, page * PAGE) == 1, "pread");
	return c;
}

static void *map_whole(int prot, int flags, int mode)
{
	int fd = open_file(mode);
	void *m = map(size, prot, flags, fd, 0);

	close(fd);
	return m;
}

static void shared(void)
{
	void *m = map_whole(PROT_READ, MAP_SHARED, O_RDONLY);

	printf("%lx\n", sum(m, size));
	want(!munmap(m, size), "munmap");
}

static void sweep(void)
{
	unsigned char *m = map_whole(PROT_READ, MAP_SHARED, O_RDONLY);
	unsigned long n = 0;
	size_t page;
	int pass;

	for (pass = 0; pass < 8; pass++)
		for (page = 0; page < size / PAGE; page++)
			n = n * 33 + *AT(m, page);
	printf("%lx\n", n);
}

static void private(void)
{
	int fd = open_file(O_RDONLY);
	unsigned char *m = map(size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_POPULATE, fd, 0);
	unsigned int was = *AT(m, 1);

	*AT(m, 1) = was + 1;
	printf("%d %d %lx\n", *AT(m, 1) == (unsigned char)(was + 1),
	       read_byte(fd, 1) == was, sum(m, size));
}

static void parts(void)
{
	int fd = open_file(O_RDONLY);
	unsigned char *m = map(size, PROT_READ, MAP_SHARED, fd, 0), *other;

	want(!munmap(AT(m, 2), 2 * PAGE), "munmap");
	other = mmap(AT(m, 2), PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	want(other == AT(m, 2), "mmap fixed");
	memset(other, 7, PAGE);
	printf("%lx %lx %lx\n", sum(m, 2 * PAGE), sum(AT(m, 2), PAGE),
	       sum(AT(m, 4), size - 4 * PAGE));
	want(!munmap(m, size), "munmap");
}

static void fixed(void)
{
	int fd = open_file(O_RDONLY);
	unsigned char *m = map(size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *at = mmap(AT(m, 1), 3 * PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd,
			4 * PAGE);

	want(at == AT(m, 1), "mmap fixed");
	printf("%lx ", sum(at, 3 * PAGE));
	/* Over a part of itself, from elsewhere in the file, at an offset. */
	want(mmap(AT(m, 2), PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) ==
	     AT(m, 2), "mmap fixed");
	printf("%lx %d\n", sum(at, 3 * PAGE),
	       mmap(AT(m, 1), PAGE, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE, fd,
		    0) == MAP_FAILED && errno == EEXIST);
}

/* Longer than the file, and changed by mprotect() in between. */
static void beyond(void)
{
	int fd = open_file(O_RDONLY);
	unsigned char *m = map(size + 16 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);

	want(!mprotect(AT(m, 1), PAGE, PROT_READ | PROT_WRITE), "mprotect");
	*AT(m, 1) = 9;
	want(!madvise(m, size, MADV_RANDOM), "madvise");
	printf("%lx\n", sum(m, size));
	want(!munmap(m, size + 16 * PAGE), "munmap");
}

static void grow(void)
{
	int fd = open_file(O_RDONLY);
	unsigned char *m = map(4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, PAGE);
	unsigned char *moved;

	*AT(m, 1) = 99;
	want(!mprotect(AT(m, 2), PAGE, PROT_READ), "mprotect");
	want(!mprotect(AT(m, 2), PAGE, PROT_READ | PROT_WRITE), "mprotect");
	close(fd);
	m = mremap(m, 4 * PAGE, size + 4 * PAGE, MREMAP_MAYMOVE);
	want(m != MAP_FAILED, "mremap to grow");
	printf("%u %lx ", *AT(m, 1), sum(m, size - PAGE));
	m = mremap(m, size + 4 * PAGE, 3 * PAGE, 0);
	want(m != MAP_FAILED, "mremap to shrink");
	moved = map(8 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	moved = mremap(m, 3 * PAGE, 3 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		       AT(moved, 2));
	want(moved != MAP_FAILED, "mremap to move");
	moved = mremap(moved, 3 * PAGE, 6 * PAGE, MREMAP_MAYMOVE);
	want(moved != MAP_FAILED, "mremap again");
	printf("%u %lx\n", *AT(moved, 1), sum(moved, 6 * PAGE));
}

/* Parts of a map grow: what is left of it, and what lies in its middle. */
static void split(void)
{
	int fd = open_file(O_RDONLY);
	unsigned char *m = map(size, PROT_READ, MAP_SHARED, fd, 0), *left, *middle;

	want(!munmap(m, 2 * PAGE), "munmap");
	want(!munmap(AT(m, 12), size - 12 * PAGE), "munmap");
	middle = mremap(AT(m, 6), 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE);
	want(middle != MAP_FAILED, "mremap of the middle");
	left = mremap(AT(m, 2), 4 * PAGE, 7 * PAGE, MREMAP_MAYMOVE);
	want(left != MAP_FAILED, "mremap of the start");
	m = mremap(AT(m, 8), 4 * PAGE, size - 8 * PAGE, MREMAP_MAYMOVE);
	want(m != MAP_FAILED, "mremap of the end");
	printf("%lx %lx %lx\n", sum(middle, 4 * PAGE), sum(left, 7 * PAGE),
	       sum(m, size - 8 * PAGE));
}

static void forks(void)
{
	unsigned char *m = map_whole(PROT_READ, MAP_SHARED, O_RDONLY);
	int status, i;

	for (i = 0; i < 3; i++)
		if (!fork()) {
			unsigned long a = sum(m, size);
			unsigned char *own = map_whole(PROT_READ, MAP_PRIVATE,
						       O_RDONLY);

			_exit(a != sum(own, size));
		}
	for (i = 0; i < 3; i++) {
		wait(&status);
		printf("%d ", status);
	}
	printf("%lx\n", sum(m, size));
}

static void *thread(void *arg)
{
	unsigned long *n = arg;
	int i;

	for (i = 0; i < 50; i++) {
		void *m = map_whole(PROT_READ, i & 1 ? MAP_SHARED : MAP_PRIVATE,
				    O_RDONLY);

		*n = *n * 33 + sum(m, 8 * PAGE);
		munmap(m, size);
	}
	return NULL;
}

static void threads(void)
{
	unsigned long n[4] = { 0 };
	pthread_t t[4];
	int i;

	for (i = 0; i < 4; i++)
		want(!pthread_create(&t[i], NULL, thread, &n[i]), "pthread_create");
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("%lx %d\n", n[0], n[0] == n[1] && n[1] == n[2] && n[2] == n[3]);
}

/* Who reads the file sees what was stored: by msync, fsync, munmap; the next process. */
static void writes(void)
{
	int fd = open_file(O_RDWR);
	unsigned char *m = map(size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	*AT(m, 0) = 1;
	want(!msync(m, PAGE, MS_SYNC), "msync");
	printf("%u", read_byte(fd, 0));
	*AT(m, 1) = 2;
	want(!fsync(fd), "fsync");
	printf(" %u", read_byte(fd, 1));
	*AT(m, 2) = 3;
	want(!fdatasync(fd), "fdatasync");
	printf(" %u", read_byte(fd, 2));
	*AT(m, 3) = 4;
	want(!munmap(AT(m, 3), PAGE), "munmap");
	printf(" %u", read_byte(fd, 3));
	*AT(m, 4) = 5;
	if (!fork()) {
		*AT(m, 5) = 6;
		_exit(*AT(m, 4) != 5);
	}
	wait(NULL);
	printf(" %u %u", *AT(m, 5), read_byte(fd, 5));
	*AT(m, 6) = 7;
	printf(" %u\n", *(unsigned char *)map(PAGE, PROT_READ, MAP_SHARED, fd, 6 * PAGE));
}

/* A file that grows under its map, as Python's mmap.resize() does it. */
static void resize(void)
{
	int fd = open_file(O_RDWR);
	unsigned char *m = map(size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	*AT(m, 1) = 11;
	want(!ftruncate(fd, size + 4 * PAGE), "ftruncate");
	m = mremap(m, size, size + 4 * PAGE, MREMAP_MAYMOVE);
	want(m != MAP_FAILED, "mremap");
	*AT(m, size / PAGE + 1) = 12;
	*AT(m, 2) = 13;
	want(!msync(m, size + 4 * PAGE, MS_SYNC), "msync");
	printf("%u %u %u\n", read_byte(fd, 1), read_byte(fd, size / PAGE + 1),
	       read_byte(fd, 2));
	want(!ftruncate(fd, size), "ftruncate");
}

/* A map to read of what is open for writing, and written with write(). */
static void mixed(void)
{
	int fd = open_file(O_RDWR);
	unsigned char *m = map(size, PROT_READ, MAP_SHARED, fd, 0), c = 77;
	unsigned int was = *AT(m, 3);

	want(pwrite(fd, &c, 1, 3 * PAGE) == 1, "pwrite");
	printf("%u\n", *AT(m, 3));
	c = was;
	want(pwrite(fd, &c, 1, 3 * PAGE) == 1, "pwrite");
}

/* To read, and then to write as well. */
static void both(void)
{
	unsigned char *m = map_whole(PROT_READ, MAP_SHARED, O_RDONLY);
	unsigned char *w = map_whole(PROT_READ | PROT_WRITE, MAP_SHARED, O_RDWR);

	printf("%d\n", sum(m, size) == sum(w, size));
}

/* What was written between maps is in the next. */
static void twice(void)
{
	int fd = open_file(O_WRONLY), i;
	volatile unsigned char *m = map_whole(PROT_READ, MAP_SHARED, O_RDONLY);
	unsigned char c = *AT(m, 5);

	want(!munmap((void *)m, size), "munmap");
	for (i = 0; i < 3; i++) {
		c = 100 + i;
		want(pwrite(fd, &c, 1, 5 * PAGE) == 1, "pwrite");
		m = map_whole(PROT_READ, MAP_SHARED, O_RDONLY);
		printf("%u ", *AT(m, 5));
		want(!munmap((void *)m, size), "munmap");
	}
	puts("");
}

static void close_all(void)
{
	int fd;

	for (fd = 3; fd < 1024; fd++)
		close(fd);
	shared();
	fd = open_file(O_RDONLY);
	printf("descriptor %d\n", fd);
}

static void execs(void)
{
	fflush(stdout);
	execl("/proc/self/exe", "maps", "shared", name, NULL);
	want(0, "exec");
}

static const struct {
	const char *name;
	void (*fn)(void);
} verbs[] = {
	{ "shared", shared },	{ "sweep", sweep },	{ "private", private },
	{ "parts", parts },	{ "fixed", fixed },	{ "beyond", beyond },
	{ "grow", grow },	{ "split", split },	{ "forks", forks },
	{ "threads", threads },	{ "writes", writes },	{ "resize", resize },
	{ "mixed", mixed },
	{ "both", both },
	{ "twice", twice },	{ "close-all", close_all }, { "execs", execs },
};

int main(int argc, char **argv)
{
	size_t i;

	name = argc == 3 ? argv[2] : "";
	for (i = 0; argc == 3 && i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(argv[1], verbs[i].name)) {
			verbs[i].fn();
			return 0;
		}
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		puts(verbs[i].name);
	return 2;
}
