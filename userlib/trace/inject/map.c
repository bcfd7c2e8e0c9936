// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mapped files, if hipec trace was told --mmap: their pages may not be touched until
 * a fault has shown who does; then a number of them may, and when there are more,
 * that which was opened first is closed again. Which touches are seen depends on
 * nothing but the program: there is no clock in it.
 *
 * The kernel takes no faults of its own here: a call that is handed closed memory
 * fails with EFAULT. The calls of io.c open it beforehand.
 */
#define _GNU_SOURCE	/* mremap(), REG_ERR */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "tracer.h"

#define PAGE 4096ul
#define MAX_AREAS 1024
#define MAX_OPEN (1u << 14)	/* of what one call is handed */

/* A part of a file at its place in memory. */
struct area {
	uintptr_t start, end;
	uint64_t file, offset;
	int prot;
	bool private;	/* writes do not come to the file */
};

struct open_page {
	uintptr_t at;
	int prot;
};

static struct area area[MAX_AREAS];
static unsigned int nr_areas;
static struct open_page opened[MAX_OPEN];	/* a ring, the oldest first */
static unsigned int oldest, nr_open;
static bool busy;		/* somebody looks at all this */
static bool active;
static struct sigaction theirs;	/* what the program has for SIGSEGV */

/* Not by a handler while it is held: that might touch what is closed. */
static void hold(sigset_t *old)
{
	sigset_t all;

	sigfillset(&all);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, old, _NSIG / 8);
	while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE))
		;
}

static void release(const sigset_t *old)
{
	__atomic_clear(&busy, __ATOMIC_RELEASE);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, old, NULL, _NSIG / 8);
}

static void protect(uintptr_t at, size_t bytes, int prot)
{
	syscall(SYS_mprotect, at, bytes, prot);
}

static struct area *find(uintptr_t address)
{
	unsigned int i;

	for (i = 0; i < nr_areas; i++)
		if (address >= area[i].start && address < area[i].end)
			return &area[i];
	return NULL;
}

static struct open_page *find_open(uintptr_t at)
{
	unsigned int i;

	for (i = 0; i < nr_open; i++)
		if (opened[(oldest + i) % MAX_OPEN].at == at)
			return &opened[(oldest + i) % MAX_OPEN];
	return NULL;
}

static void close_oldest(void)
{
	struct open_page *page = &opened[oldest];

	/* 0: it is no area's any more. */
	if (page->at && find(page->at))
		protect(page->at, PAGE, PROT_NONE);
	oldest = (oldest + 1) % MAX_OPEN;
	nr_open--;
}

/* Let page @at of @a be touched. Return: false if it could be already. */
static bool open_page(const struct area *a, uintptr_t at, bool write)
{
	struct open_page *page = find_open(at);
	int prot = write || a->private ? a->prot : a->prot & ~PROT_WRITE;

	if (page && (page->prot & prot) == prot)
		return false;
	if (!page) {
		if (nr_open == MAX_OPEN)
			close_oldest();
		page = &opened[(oldest + nr_open++) % MAX_OPEN];
		page->at = at;
	}
	page->prot = prot;
	protect(at, PAGE, prot);
	return true;
}

static void note(const struct area *a, uintptr_t at, bool write,
		 const void *from)
{
	const struct tracechan_head *head = tracer_head();

	tracer_note(a->file, a->offset + (at - a->start), 1,
		    write && !a->private, tracer_context(head, from));
}

/* A touch. Return: whether it is one of ours. */
static bool take_fault(uintptr_t address, bool write, const void *from)
{
	uintptr_t at = address & -PAGE;
	struct area *a = find(address);

	if (!a || (write && !(a->prot & PROT_WRITE)))
		return false;
	if (open_page(a, at, write))
		note(a, at, write, from);
	while (nr_open > tracer_head()->map_pages)
		close_oldest();
	return true;
}

/* What the signal does to a program without a handler. */
static void pass_to_default(int sig, const siginfo_t *info)
{
	const struct { void *fn; unsigned long rest[3]; } nothing = { 0 };

	if (info->si_code <= 0 && theirs.sa_handler == SIG_IGN)
		return;
	syscall(SYS_rt_sigaction, sig, &nothing, NULL, _NSIG / 8);
	/* A fault comes again, and ends the program; what somebody sent does not. */
	if (info->si_code <= 0)
		syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), sig);
}

static void pass_on(int sig, siginfo_t *info, void *context)
{
	if (theirs.sa_flags & SA_SIGINFO) {
		theirs.sa_sigaction(sig, info, context);
	} else if (theirs.sa_handler != SIG_DFL && theirs.sa_handler != SIG_IGN) {
		theirs.sa_handler(sig);
	} else {
		pass_to_default(sig, info);
	}
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	const mcontext_t *m = &((ucontext_t *)context)->uc_mcontext;
	sigset_t old;
	bool ours = false;

	if (info->si_code == SEGV_ACCERR) {
		hold(&old);
		ours = take_fault((uintptr_t)info->si_addr,
				  m->gregs[REG_ERR] & 2,
				  context);
		release(&old);
	}
	if (!ours)
		pass_on(sig, info, context);
}

static void say_untraced(const struct area *a, uintptr_t from, uintptr_t to)
{
	tracer_untraced(a->file, a->offset + (from - a->start), to - from);
}

/* Forget what is known of a range; what was closed in it is opened if @open. */
static void cut(uintptr_t start, uintptr_t end, bool open)
{
	unsigned int i;

	for (i = 0; i < nr_areas; i++) {
		struct area *a = &area[i], rest = *a;
		uintptr_t from = start > a->start ? start : a->start;
		uintptr_t to = end < a->end ? end : a->end;

		if (from >= to)
			continue;
		if (open)
			protect(from, to - from, a->prot);
		a->end = from;
		rest.offset += to - rest.start;
		rest.start = to;
		if (rest.start < rest.end && nr_areas < MAX_AREAS)
			area[nr_areas++] = rest;
		else if (rest.start < rest.end) {
			protect(rest.start, rest.end - rest.start, rest.prot);
			say_untraced(&rest, rest.start, rest.end);
		}
		if (a->start == a->end)
			area[i--] = area[--nr_areas];
	}
	for (i = 0; i < nr_open; i++) {
		struct open_page *page = &opened[(oldest + i) % MAX_OPEN];

		if (page->at >= start && page->at < end)
			page->at = 0;
	}
}

/* And what is mapped there will be touched unseen. */
static void lose(uintptr_t start, uintptr_t end)
{
	unsigned int i;

	for (i = 0; i < nr_areas; i++) {
		const struct area *a = &area[i];
		uintptr_t from = start > a->start ? start : a->start;
		uintptr_t to = end < a->end ? end : a->end;

		if (from < to)
			say_untraced(a, from, to);
	}
	cut(start, end, true);
}

static uintptr_t up(uintptr_t n)
{
	return (n + PAGE - 1) & -PAGE;
}

/* So much of a map is of the file; what is behind its end cannot be touched. */
static size_t within(int fd, off_t offset, size_t bytes)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    st.st_size - offset >= (off_t)bytes)
		return bytes;
	return st.st_size > offset ? st.st_size - offset : 0;
}

static bool is_of_file(int prot, int flags)
{
	return !(flags & MAP_ANONYMOUS) && !(prot & PROT_EXEC) &&
	       prot & (PROT_READ | PROT_WRITE);
}

static void *map_untraced(void *at, size_t bytes, int prot, int flags, int fd,
			  off_t offset)
{
	void *memory = (void *)syscall(SYS_mmap, at, bytes, prot, flags, fd, offset);
	int saved = errno;
	uint64_t file;

	if (memory != MAP_FAILED && is_of_file(prot, flags) && tracer_head()) {
		file = tracer_identify(fd);
		if (file)
			tracer_untraced(file, offset, within(fd, offset, bytes));
	}
	errno = saved;
	return memory;
}

static void *map(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	void *memory = MAP_FAILED;
	uint64_t file = 0;
	uintptr_t start;
	sigset_t old;

	tracer_look_at_ring(fd, offset);
	if (!active)
		return map_untraced(at, bytes, prot, flags, fd, offset);
	if (is_of_file(prot, flags))
		file = tracer_identify(fd);
	hold(&old);
	memory = (void *)syscall(SYS_mmap, at, bytes, prot, flags, fd, offset);
	start = (uintptr_t)memory;
	if (memory != MAP_FAILED)
		cut(start, up(start + bytes), false);
	if (memory != MAP_FAILED && file && nr_areas == MAX_AREAS) {
		tracer_untraced(file, offset, within(fd, offset, bytes));
	} else if (memory != MAP_FAILED && file) {
		area[nr_areas++] = (struct area){
			.start = start, .end = up(start + bytes), .file = file,
			.offset = offset, .prot = prot,
			.private = (flags & MAP_TYPE) == MAP_PRIVATE,
		};
		protect(start, up(bytes), PROT_NONE);
	}
	release(&old);
	return memory;
}

TRACER_EXPORT void *mmap(void *at, size_t bytes, int prot, int flags, int fd,
			 off_t offset)
{
	return map(at, bytes, prot, flags, fd, offset);
}

TRACER_EXPORT void *mmap64(void *at, size_t bytes, int prot, int flags, int fd,
			   off64_t offset)
{
	return map(at, bytes, prot, flags, fd, offset);
}

TRACER_EXPORT int munmap(void *at, size_t bytes)
{
	uintptr_t start = (uintptr_t)at;
	sigset_t old;
	int ret;

	if (!active)
		return syscall(SYS_munmap, at, bytes);
	hold(&old);
	ret = syscall(SYS_munmap, at, bytes);
	if (!ret)
		cut(start, up(start + bytes), false);
	release(&old);
	return ret;
}

/* What a program moves or protects itself is not seen from then on. */
TRACER_EXPORT void *mremap(void *at, size_t bytes, size_t new_bytes, int flags, ...)
{
	uintptr_t start = (uintptr_t)at;
	void *to = NULL;
	sigset_t old;
	va_list ap;

	va_start(ap, flags);
	if (flags & MREMAP_FIXED)
		to = va_arg(ap, void *);
	va_end(ap);
	if (active) {
		hold(&old);
		lose(start, up(start + bytes));
		if (to)
			cut((uintptr_t)to, up((uintptr_t)to + new_bytes), true);
		release(&old);
	}
	return (void *)syscall(SYS_mremap, at, bytes, new_bytes, flags, to);
}

TRACER_EXPORT int mprotect(void *at, size_t bytes, int prot)
{
	uintptr_t start = (uintptr_t)at;
	sigset_t old;

	if (active) {
		hold(&old);
		lose(start, up(start + bytes));
		release(&old);
	}
	return syscall(SYS_mprotect, at, bytes, prot);
}

/**
 * tracer_touch() - memory that the kernel is about to be handed
 * @memory: anything
 * @bytes:  of it
 * @write:  the kernel fills it
 *
 * Pages of mapped files in it are open afterwards, and noted.
 *
 * Context: any; in signal handlers too.
 */
void tracer_touch(const void *memory, size_t bytes, bool write)
{
	uintptr_t at = (uintptr_t)memory & -PAGE, end;
	struct area *a;
	sigset_t old;

	if (!active || !nr_areas || !memory || !bytes ||
	    __builtin_add_overflow((uintptr_t)memory, bytes, &end))
		return;
	hold(&old);
	for (; at < end; at += PAGE) {
		a = find(at);
		if (a && (!write || a->prot & PROT_WRITE) &&
		    open_page(a, at, write))
			note(a, at, write, NULL);
	}
	release(&old);
}

TRACER_EXPORT int sigaction(int sig, const struct sigaction *new,
			    struct sigaction *old)
{
	struct sigaction was = theirs;
	TRACER_REAL(real, sigaction);

	if (!active || sig != SIGSEGV)
		return real(sig, new, old);
	if (new)
		theirs = *new;
	if (old)
		*old = was;
	return 0;
}

TRACER_EXPORT sighandler_t signal(int sig, sighandler_t handler)
{
	sighandler_t was = theirs.sa_handler;
	TRACER_REAL(real, signal);

	if (!active || sig != SIGSEGV)
		return real(sig, handler);
	theirs = (struct sigaction){ .sa_handler = handler };
	return was;
}

/* A fault that is blocked would end the program. */
static const sigset_t *without_ours(int how, const sigset_t *set, sigset_t *copy)
{
	if (!active || !set || how == SIG_UNBLOCK)
		return set;
	*copy = *set;
	sigdelset(copy, SIGSEGV);
	return copy;
}

TRACER_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t copy;
	TRACER_REAL(real, sigprocmask);

	return real(how, without_ours(how, set, &copy), old);
}

TRACER_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t copy;
	TRACER_REAL(real, pthread_sigmask);

	return real(how, without_ours(how, set, &copy), old);
}

/* A child has one thread, which must not find the table held by another. */
static sigset_t before_fork;

static void begin_fork(void)
{
	hold(&before_fork);
}

static void end_fork(void)
{
	release(&before_fork);
}

/**
 * tracer_begin_maps() - have touches of mapped files seen, if that was asked for
 * @head: says so
 *
 * Context: once, before main().
 */
void tracer_begin_maps(const struct tracechan_head *head)
{
	struct sigaction ours = {
		.sa_sigaction = on_fault,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
	};

	if (!head->map_pages || sysconf(_SC_PAGESIZE) != PAGE)
		return;
	if (!sigaction(SIGSEGV, &ours, &theirs) &&
	    !pthread_atfork(begin_fork, end_fork, end_fork))
		active = true;
}
