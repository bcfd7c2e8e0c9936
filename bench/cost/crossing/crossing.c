// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replacement decided by somebody else than the kernel: what it costs to ask.
 *
 *	crossing null N                a system call that does nothing
 *	crossing here N FRAMES         decided where it is asked
 *	crossing futex|pipe|eventfd N FRAMES
 *	                               decided by another process, one at a time
 *	crossing touch PAGES PASSES FRAMES
 *	crossing uffd PAGES PASSES FRAMES
 *	                               sweeps over anonymous memory; faults are the
 *	                               kernel's, or a thread's that is told by
 *	                               userfaultfd, decides and evicts
 *
 * The decision is FIFO2's of hipec-1997, Figure 3. A user process cannot see
 * referenced bits, so nothing gets a second chance; in a sweep nothing would.
 * Prints one line of name=value; the victims are checked.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/program.h"

#define PAGE_BYTES 4096ul
#define NONE UINT64_MAX

/* First in, first out: a ring of page numbers. */
struct queue {
	uint64_t *page, head, count, size;
};

static void queue_init(struct queue *q, uint64_t size)
{
	q->page = calloc(size, sizeof(*q->page));
	if (!q->page)
		die("calloc");
	q->head = q->count = 0;
	q->size = size;
}

static void enqueue(struct queue *q, uint64_t page)
{
	q->page[(q->head + q->count++) % q->size] = page;
}

static uint64_t dequeue(struct queue *q)
{
	uint64_t page = q->page[q->head];

	q->head = (q->head + 1) % q->size;
	q->count--;
	return page;
}

/* FIFO2 over @free frames. */
struct fifo2 {
	struct queue active, inactive;
	uint64_t free;
};

static void fifo2_init(struct fifo2 *f, uint64_t frames)
{
	queue_init(&f->active, frames);
	queue_init(&f->inactive, frames);
	f->free = frames;
}

/* Page @page comes in. Return: the page that goes, or NONE. */
static uint64_t decide(struct fifo2 *f, uint64_t page)
{
	uint64_t victim = NONE;

	if (f->free) {
		f->free--;
	} else {
		while (f->inactive.count <
		       (f->active.count + f->inactive.count) * 2 / 3)
			enqueue(&f->inactive, dequeue(&f->active));
		victim = dequeue(&f->inactive);
	}
	enqueue(&f->active, page);
	return victim;
}

static struct timespec begun;
static struct rusage used;

static void begin(void)
{
	getrusage(RUSAGE_SELF, &used);
	clock_gettime(CLOCK_MONOTONIC, &begun);
}

static void end(const char *name, uint64_t n, uint64_t evictions)
{
	struct rusage usage;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	getrusage(RUSAGE_SELF, &usage);
	printf("bench=%s n=%" PRIu64 " evictions=%" PRIu64 " minor=%ld"
	       " elapsed_ns=%" PRIu64 "\n", name, n, evictions,
	       usage.ru_minflt - used.ru_minflt,
	       (uint64_t)(now.tv_sec - begun.tv_sec) * 1000000000 +
	       now.tv_nsec - begun.tv_nsec);
}

/* What two processes tell each other; turn counts questions and answers. */
struct shared {
	uint64_t page, victim;
	uint32_t turn;
};

struct channel {
	const char *name;
	struct shared *shared;
	int ask[2], answer[2];	/* reading end, writing end */
};

static void futex(uint32_t *word, int op, uint32_t value)
{
	syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

static void channel_open(struct channel *c, const char *name)
{
	c->name = name;
	c->shared = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->shared == MAP_FAILED)
		die("mmap");
	memset(c->shared, 0, sizeof(*c->shared));
	if (!strcmp(name, "pipe")) {
		if (pipe(c->ask) || pipe(c->answer))
			die("pipe");
	} else if (!strcmp(name, "eventfd")) {
		c->ask[0] = c->ask[1] = eventfd(0, 0);
		c->answer[0] = c->answer[1] = eventfd(0, 0);
		if (c->ask[0] < 0 || c->answer[0] < 0)
			die("eventfd");
	}
}

static void send_word(struct channel *c, int fd, uint32_t turn)
{
	uint64_t word = 1;

	if (!strcmp(c->name, "futex")) {
		__atomic_store_n(&c->shared->turn, turn, __ATOMIC_RELEASE);
		futex(&c->shared->turn, FUTEX_WAKE, 1);
	} else if (write(fd, &word, sizeof(word)) != sizeof(word)) {
		die("write");
	}
}

static void await_word(struct channel *c, int fd, uint32_t turn)
{
	uint64_t word;
	uint32_t now;

	if (!strcmp(c->name, "futex")) {
		while ((now = __atomic_load_n(&c->shared->turn,
					      __ATOMIC_ACQUIRE)) != turn)
			futex(&c->shared->turn, FUTEX_WAIT, now);
	} else if (read(fd, &word, sizeof(word)) != sizeof(word)) {
		die("read");
	}
}

static void serve(struct channel *c, uint64_t n, uint64_t frames)
{
	struct fifo2 f;
	uint64_t i;

	fifo2_init(&f, frames);
	for (i = 0; i < n; i++) {
		await_word(c, c->ask[0], 2 * i + 1);
		c->shared->victim = decide(&f, c->shared->page);
		send_word(c, c->answer[1], 2 * i + 2);
	}
	exit(0);
}

/* In a sweep without an end, what came FRAMES faults before goes. */
static uint64_t check_victim(uint64_t i, uint64_t frames, uint64_t victim)
{
	if (victim == (i < frames ? NONE : i - frames))
		return victim != NONE;
	fprintf(stderr, "fault %" PRIu64 " took page %" PRIu64 "\n", i, victim);
	exit(1);
}

static void ask_other(const char *name, uint64_t n, uint64_t frames)
{
	uint64_t evictions = 0, i;
	struct channel c;
	int status;
	pid_t pid;

	channel_open(&c, name);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		serve(&c, n, frames);
	begin();
	for (i = 0; i < n; i++) {
		c.shared->page = i;
		send_word(&c, c.ask[1], 2 * i + 1);
		await_word(&c, c.answer[0], 2 * i + 2);
		evictions += check_victim(i, frames, c.shared->victim);
	}
	end(name, n, evictions);
	if (waitpid(pid, &status, 0) != pid || status)
		die("the other process");
}

static void ask_nobody(uint64_t n, uint64_t frames)
{
	uint64_t evictions = 0, i;
	struct fifo2 f;

	fifo2_init(&f, frames);
	begin();
	for (i = 0; i < n; i++)
		evictions += check_victim(i, frames, decide(&f, i));
	end("here", n, evictions);
}

static void null_calls(uint64_t n)
{
	uint64_t i;

	begin();
	for (i = 0; i < n; i++)
		syscall(SYS_getppid);
	end("null", n, 0);
}

/* A sweep over memory whose faults a thread answers. */
static struct {
	unsigned char *base;
	uint64_t pages, evictions, messages;
	int fd;
	struct fifo2 f;
} sweep;

static void evict(uint64_t page)
{
	if (madvise(sweep.base + page * PAGE_BYTES, PAGE_BYTES, MADV_DONTNEED))
		die("madvise");
	sweep.evictions++;
}

static void *answer_faults(void *unused)
{
	static unsigned char data[PAGE_BYTES] __attribute__((aligned(4096)));
	struct uffd_msg msg;

	while (read(sweep.fd, &msg, sizeof(msg)) == sizeof(msg)) {
		uint64_t at = msg.arg.pagefault.address & ~(PAGE_BYTES - 1);
		uint64_t page = (at - (uintptr_t)sweep.base) / PAGE_BYTES;
		uint64_t victim = decide(&sweep.f, page);
		struct uffdio_copy copy = {
			.dst = at, .src = (uintptr_t)data, .len = PAGE_BYTES,
		};

		sweep.messages++;
		if (victim != NONE)
			evict(victim);
		*(uint64_t *)data = page + 1;
		if (ioctl(sweep.fd, UFFDIO_COPY, &copy))
			die("UFFDIO_COPY");
	}
	return unused;
}

static void uffd_open(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range = { (uintptr_t)sweep.base, sweep.pages * PAGE_BYTES },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	pthread_t thread;

	sweep.fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (sweep.fd < 0 || ioctl(sweep.fd, UFFDIO_API, &api) ||
	    ioctl(sweep.fd, UFFDIO_REGISTER, &reg))
		die("userfaultfd");
	if (pthread_create(&thread, NULL, answer_faults, NULL))
		die("pthread_create");
}

static void do_sweep(bool uffd, uint64_t pages, uint64_t passes, uint64_t frames)
{
	uint64_t i;

	sweep.pages = pages;
	fifo2_init(&sweep.f, frames);
	sweep.base = mmap(NULL, pages * PAGE_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sweep.base == MAP_FAILED ||
	    madvise(sweep.base, pages * PAGE_BYTES, MADV_NOHUGEPAGE))
		die("mmap");
	if (uffd)
		uffd_open();
	begin();
	for (i = 0; i < pages * passes; i++) {
		uint64_t page = i % pages, victim;
		volatile uint64_t *word = (void *)(sweep.base +
						   page * PAGE_BYTES);

		if (!uffd) {
			victim = decide(&sweep.f, page);
			if (victim != NONE)
				evict(victim);
			*word = page + 1;
			sweep.messages++;
		}
		if (*word != page + 1)
			die("wrong page");
	}
	end(uffd ? "uffd" : "touch", sweep.messages, sweep.evictions);
}

static uint64_t number(const char *text)
{
	char *rest;
	uint64_t n = strtoull(text, &rest, 10);

	if (*rest || rest == text)
		die(text);
	return n;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (argc == 3 && !strcmp(what, "null")) {
		null_calls(number(argv[2]));
	} else if (argc == 4 && !strcmp(what, "here")) {
		ask_nobody(number(argv[2]), number(argv[3]));
	} else if (argc == 4 && (!strcmp(what, "futex") ||
				 !strcmp(what, "pipe") ||
				 !strcmp(what, "eventfd"))) {
		ask_other(what, number(argv[2]), number(argv[3]));
	} else if (argc == 5 && (!strcmp(what, "touch") ||
				 !strcmp(what, "uffd"))) {
		do_sweep(!strcmp(what, "uffd"), number(argv[2]),
			 number(argv[3]), number(argv[4]));
	} else {
		fprintf(stderr, "usage: see bench/cost/crossing/crossing.c\n");
		return 2;
	}
	return 0;
}
