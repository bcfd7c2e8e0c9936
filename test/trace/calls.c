// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose file accesses are known: test_tracer.py says which. It is run
 * as CALLS VERB [ARGUMENT...], in a folder with a file "in" of 64 pages.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#define PAGE 4096

static char buf[16 * PAGE];

static int in(void)
{
	return open("in", O_RDONLY);
}

static int out(int flags)
{
	return open("out", O_RDWR | O_CREAT | flags, 0600);
}

/* Pages 0 1 2-3 8 9-10 4, then out 0 2 1-2 5 6, then 3 from the end on. */
static void plain(void)
{
	struct iovec two[2] = { { buf, PAGE }, { buf + PAGE, PAGE } };
	int from = in(), to = out(O_TRUNC), again;

	read(from, buf, PAGE);
	read(from, buf, PAGE);
	readv(from, two, 2);
	pread(from, buf, PAGE, 8 * PAGE);
	preadv(from, two, 2, 9 * PAGE);
	preadv2(from, two, 1, -1, 0);
	write(to, buf, PAGE);
	pwrite(to, buf, PAGE, 2 * PAGE);
	writev(to, two, 2);
	pwritev(to, two, 1, 5 * PAGE);
	pwritev2(to, two, 1, 6 * PAGE, 0);
	again = dup(to);
	close(to);
	to = open("out", O_RDWR | O_APPEND);
	pwrite(to, buf, 1, 0);		/* page 7 all the same */
	write(to, buf, PAGE);		/* 7 and 8 */
	lseek(again, -PAGE, SEEK_END);
	read(again, buf, 2 * PAGE);	/* 7 and 8 */
	read(again, buf, 2 * PAGE);	/* nothing */
}

/* in 0 to 3 and out 0 to 3; in 4, 5 and out 4, 5; in 8; in 4 to nothing. */
static void between(void)
{
	int from = in(), to = out(O_TRUNC), ends[2];
	off_t at = 8 * PAGE;

	copy_file_range(from, NULL, to, NULL, 4 * PAGE, 0);
	sendfile(to, from, NULL, 2 * PAGE);
	pipe(ends);
	splice(from, &at, ends[1], NULL, PAGE, 0);
	read(ends[0], buf, PAGE);
	sendfile(ends[1], from, NULL, PAGE);	/* in 6 */
}

/* What a stream's buffer of a page asks for: in 0 to 9, then out 0 to 2. */
static void streams(void)
{
	FILE *from = fopen("in", "r"), *to = fopen("out", "w");
	wchar_t wide[8];
	int i;

	fread(buf, 1, 2 * PAGE, from);			/* 0 and 1 */
	fgetc(from);					/* 2 */
	for (i = 0; i < PAGE; i++)
		getc_unlocked(from);			/* 3 */
	fseek(from, 4 * PAGE, SEEK_SET);
	fgets(buf, 4, from);				/* 4 */
	fseek(from, 5 * PAGE, SEEK_SET);
	fscanf(from, "%1s", buf);			/* 5 */
	fclose(from);
	from = fopen("in", "r");
	fgetws(wide, 4, from);				/* 0 */
	fclose(from);
	for (i = 0; i < PAGE + 1; i++)
		fputc('x', to);				/* 0 */
	fprintf(to, "%s", "yy");
	fclose(to);					/* 1 */
}

/* Page after page from one position, when all are there. */
static pthread_barrier_t *together;

static void *drain(void *arg)
{
	char page[PAGE];

	pthread_barrier_wait(together);
	while (read(*(int *)arg, page, PAGE) == PAGE)
		;
	return NULL;
}

static void gather(void)
{
	pthread_barrierattr_t shared;

	together = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(together, &shared, 4);
}

static void threads(void)
{
	pthread_t thread[4];
	int fd = in(), i;

	gather();
	for (i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, drain, &fd);
	for (i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

static void forks(void)
{
	int fd = in(), i;

	gather();
	for (i = 0; i < 4; i++)
		if (!fork()) {
			drain(&fd);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
}

static void one_page(int page)
{
	int fd = in();

	pread(fd, buf, 1, page * PAGE);
	close(fd);
}

/* Pages 1 to 9, in processes whose environment is empty. */
static void starts(const char *self)
{
	char *nothing[] = { NULL };
	char *argv[] = { (char *)self, "page", "1", NULL };
	pid_t pid;

#define IN_CHILD(number, call) do {                                           \
	argv[2] = number;                                                     \
	if (!vfork()) {                                                       \
		call;                                                         \
		_exit(9);                                                     \
	}                                                                     \
	wait(NULL);                                                           \
} while (0)
	IN_CHILD("1", execve(self, argv, nothing));
	IN_CHILD("2", execle(self, self, "page", "2", NULL, nothing));
	IN_CHILD("3", execvpe(self, argv, nothing));
	argv[2] = "4";
	posix_spawn(&pid, self, NULL, NULL, argv, nothing);
	wait(NULL);
	argv[2] = "5";
	posix_spawnp(NULL, self, NULL, NULL, argv, nothing);
	wait(NULL);
	clearenv();
	IN_CHILD("6", execl(self, self, "page", "6", NULL));
	clearenv();
	IN_CHILD("7", execv(self, argv));
	clearenv();
	snprintf(buf, sizeof(buf), "%s page 8", self);
	system(buf);
	clearenv();
	snprintf(buf, sizeof(buf), "%s page 9", self);
	pclose(popen(buf, "r"));
}

/* Nothing is open, and what is opened then has the lowest numbers. */
static void close_all(void)
{
	int fd;

	for (fd = 0; fd < 1024; fd++)
		close(fd);
	close_range(0, ~0u, 0);
	for (fd = 0; fd < 8; fd++)
		one_page(fd);
}

static void many(int n)
{
	int fd = in();

	while (n--)
		pread(fd, buf, 1, n % 64 * PAGE);
}

static void loop(int pages, int passes)
{
	int fd = in(), i;

	for (i = 0; i < pages * passes; i++)
		pread(fd, buf, PAGE, i % pages * PAGE);
}

/* A file that takes another's name is another. */
static void anew(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		write(out(0), buf, PAGE);
		unlink("out");
	}
}

static volatile char *map_in(int pages, int prot, int flags)
{
	return mmap(NULL, pages * PAGE, prot, flags, open("in", O_RDWR), 0);
}

static void sweep(volatile char *p, int pages, int passes)
{
	int i;

	for (i = 0; i < pages * passes; i++)
		(void)p[i % pages * PAGE];
}

/* Pages 0 to 39 in each pass, and then as the comments say. */
static void maps(int passes)
{
	volatile char *p = map_in(40, PROT_READ | PROT_WRITE, MAP_SHARED);
	int fd = in(), to = out(O_TRUNC);

	sweep(p, 40, passes);
	p[0] = 1;
	p[PAGE] = 1;
	pread(fd, (char *)p + 2 * PAGE, 2 * PAGE, 8 * PAGE);	/* fills mapped 2, 3 */
	write(to, (char *)p + 4 * PAGE, PAGE);			/* looks at mapped 4 */
	munmap((char *)p + 20 * PAGE, PAGE);
	p[19 * PAGE] = 1;
	p[21 * PAGE] = 1;
	munmap((char *)p, 40 * PAGE);
	p = map_in(2, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	p[PAGE] = 1;					/* reads mapped 1 */
	if (!fork()) {
		(void)*p;		/* reads mapped 0 */
		_exit(0);
	}
	wait(NULL);
}

/* Maps of 10 pages whose protection is changed, of 8 that move, of 20 as they are. */
static void moves(void)
{
	char *p = (char *)map_in(40, PROT_READ, MAP_SHARED);

	mprotect(p, 10 * PAGE, PROT_READ);
	mremap(p + 12 * PAGE, 8 * PAGE, 8 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
	       p + 32 * PAGE);
}

/* More maps at a time than are traced, of the pages up to 63 in turn. */
static void windows(int nr)
{
	int fd = in(), i;

	for (i = 0; i < nr; i++)
		mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, i % 64 * PAGE);
}

/* A map of @pages of a file that has one, and of one without a file. */
static void beyond(int pages)
{
	int fd = out(O_TRUNC);

	write(fd, buf, 100);
	mmap(NULL, (size_t)pages * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	mmap(NULL, PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void on_fault(int sig)
{
	(void)sig;
	write(STDOUT_FILENO, "handled", 7);
	_exit(5);
}

static void faults(int handle)
{
	volatile char *p = map_in(1, PROT_READ, MAP_SHARED);

	if (handle)
		signal(SIGSEGV, on_fault);
	(void)p[0];
	p[0] = 1;
}

/* Two depths, for contexts; what they call is in one place each. */
__attribute__((noinline)) static void inner(int fd, int page)
{
	pread(fd, buf, PAGE, page * PAGE);
	__asm__ volatile("");
}

__attribute__((noinline)) static void outer(int fd)
{
	inner(fd, 1);
	__asm__ volatile("");
}

__attribute__((noinline)) static void contexts(void)
{
	FILE *from = fopen("in", "r");
	int fd = in();

	fgetc(from);
	inner(fd, 0);
	outer(fd);
	outer(fd);
	printf("%p\n", (void *)inner);
}

int main(int argc, char **argv)
{
	const char *verb = argv[1];
	int a = argc > 2 ? atoi(argv[2]) : 0, b = argc > 3 ? atoi(argv[3]) : 0;

	if (!strcmp(verb, "plain"))
		plain();
	else if (!strcmp(verb, "between"))
		between();
	else if (!strcmp(verb, "streams"))
		streams();
	else if (!strcmp(verb, "threads"))
		threads();
	else if (!strcmp(verb, "forks"))
		forks();
	else if (!strcmp(verb, "page"))
		one_page(a);
	else if (!strcmp(verb, "starts"))
		starts(argv[0]);
	else if (!strcmp(verb, "close-all"))
		close_all();
	else if (!strcmp(verb, "many"))
		many(a);
	else if (!strcmp(verb, "loop"))
		loop(a, b);
	else if (!strcmp(verb, "anew"))
		anew();
	else if (!strcmp(verb, "maps"))
		maps(a);
	else if (!strcmp(verb, "moves"))
		moves();
	else if (!strcmp(verb, "windows"))
		windows(a);
	else if (!strcmp(verb, "beyond"))
		beyond(a);
	else if (!strcmp(verb, "faults"))
		faults(a);
	else if (!strcmp(verb, "contexts"))
		contexts();
	else if (!strcmp(verb, "exit"))
		exit(a);
	else if (!strcmp(verb, "die"))
		for (many(10);;)
			raise(a);
	else if (!strcmp(verb, "become"))
		execv(argv[2], argv + 2);
	return 0;
}
