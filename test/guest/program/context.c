// SPDX-License-Identifier: GPL-2.0-only
/*
 * Program contexts of faults: against a walk of our own in a signal handler, where
 * the same load faults for another reason; in other runs and threads; and with
 * registers and stacks that nobody would have.
 */
#define _GNU_SOURCE	/* REG_RIP */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "../../../module/context/stack.h"
#include "paths/callpaths.h"
#include "guest.h"

#define FILE_C DIR_DATA "contexts"
#define PAGES 32
#define DEPTH 8

/* Contexts have no sign. */
static uint64_t context_of(const struct map *m, const char *name)
{
	return value_of(m, name);
}

static void open_contexts(struct map *m)
{
	make_file(FILE_C, PAGES * PAGE_BYTES);
	open_map(m, "contexts", FILE_C, PAGES / 2, 1, false);
}

/* Our own walk. The program is one file, which the kernel has mapped in parts. */

/* Not every kernel has process_vm_readv(). */
static bool read_own(uint64_t at, void *to, size_t bytes)
{
	int memory = open("/proc/self/mem", O_RDONLY);
	bool there;

	CHECK(memory >= 0);
	there = at < 1ull << 47 &&
		pread(memory, to, bytes, at) == (ssize_t)bytes;
	close(memory);
	return there;
}

static bool own_words(void *host, u64 at, u64 *words)
{
	(void)host;
	return read_own(at, words, HIPEC_STACK_BLOCK * sizeof(*words));
}

static bool own_code(void *host, u64 at, u64 *bytes)
{
	(void)host;
	return read_own(at, bytes, sizeof(*bytes));
}

static void own_map(void *host, u64 at, struct hipec_stack_map *map)
{
	char line[512], permissions[5], path[256];
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long start, end, offset;
	uint8_t id[HIPEC_BUILD_ID_MAX], page[PAGE_BYTES];
	bool found = false;

	(void)host;
	CHECK(f);
	while (!found && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %255s", &start, &end,
			   permissions, &offset, path) != 5)
			continue;
		found = at >= start && at < end && permissions[2] == 'x' &&
			path[0] == '/';
	}
	fclose(f);
	*map = (struct hipec_stack_map){ .start = at, .end = at + 1 };
	if (!found)
		return;
	f = fopen(path, "r");
	CHECK(f && fread(page, sizeof(page), 1, f) == 1);
	fclose(f);
	*map = (struct hipec_stack_map){
		.start = start, .end = end, .offset = offset, .code = true,
		.file = context_hash(CONTEXT_NONE, id,
				     hipec_buildid_find(page, sizeof(page), id)),
	};
}

static const struct hipec_stack_ops own_ops = {
	.words = own_words, .code = own_code, .map = own_map,
};

extern void *__libc_stack_end;	/* where the first stack begins */

static uint64_t own_context;
static unsigned char *closed;	/* a page that may not be touched */

static void on_segv(int sig, siginfo_t *info, void *from)
{
	const greg_t *regs = ((ucontext_t *)from)->uc_mcontext.gregs;
	struct hipec_stack_regs at = {
		regs[REG_RIP], regs[REG_RBP], regs[REG_RSP],
		(uintptr_t)__libc_stack_end,
	};
	struct hipec_stack_point point[DEPTH];
	struct hipec_stack s;

	(void)sig;
	(void)info;
	own_context = hipec_stack_context(point, hipec_stack_walk(&own_ops, NULL,
						&at, point, DEPTH, &s));
	CHECK(!mprotect(closed, PAGE_BYTES, PROT_READ));
}

static void begin_own_walks(void)
{
	static unsigned char stack[1 << 16];
	const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction a = { .sa_flags = SA_SIGINFO | SA_ONSTACK };

	a.sa_sigaction = on_segv;
	closed = mmap(NULL, PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	CHECK(closed != MAP_FAILED);
	CHECK(!sigaltstack(&other, NULL) && !sigaction(SIGSEGV, &a, NULL));
}

/* A page of ours and one that is closed, from the same call, in this order. */
static void touch_both(struct map *m, const struct calls *calls, int how,
		       size_t page, uint64_t *context)
{
	const unsigned char *at[] = { closed, m->base + page * PAGE_BYTES };
	volatile int i;

	CHECK(!mprotect(closed, PAGE_BYTES, PROT_NONE));
	own_context = 0;
	for (i = 0; i < 2; i++) {
		if (how == 0)
			calls->one(at[i]);
		else if (how == 1)
			calls->two(at[i]);
		else if (how == 2)
			calls->deep(at[i], 3);
		else if (how == 3)
			calls->deep(at[i], 20);
		else
			calls->copy(at[i]);
	}
	*context = context_of(m, "faulted");
	if (*context != own_context || !own_context)
		FAIL("call %d: context %llx, want %llx", how,
		     (unsigned long long)*context,
		     (unsigned long long)own_context);
}

/* Each call path has a context of its own, that which our own walk finds. */
static void check_calls(const struct calls *calls)
{
	uint64_t context[15];
	volatile int i;
	struct map m;
	int j;

	begin_own_walks();
	open_contexts(&m);
	for (i = 0; i < 15; i++) {
		touch_both(&m, calls, i % 5, i, &context[i]);
		for (j = 0; j < i; j++)
			CHECK((context[i] == context[j]) == (i % 5 == j % 5));
	}
	close_map(&m);
}

static void frames(void)
{
	check_calls(&calls_frames);
}

static void scans(void)
{
	check_calls(&calls_scan);
}

/* PageFault, Access and Replace have it; what nobody's access causes has none. */
static void events(void)
{
	struct map m;
	int container;
	size_t i;
	uint64_t context = 0;

	open_contexts(&m);
	for (i = 0; i < PAGES; i++) {
		calls_frames.one(m.base + i * PAGE_BYTES);
		if (i)
			CHECK(context_of(&m, "faulted") == context);
		context = context_of(&m, "faulted");
		if (i == 3) {
			CHECK(!context_of(&m, "accessed"));
			CHECK(!context_of(&m, "replaced"));
		}
	}
	CHECK(context);
	CHECK(context_of(&m, "replaced") == context);
	/* A soft fault: its mapping is gone, its frame is not. */
	CHECK(!madvise(m.base, PAGES * PAGE_BYTES, MADV_DONTNEED));
	for (i = 0; i < 2; i++) {
		calls_frames.two(m.base + (PAGES - 1 - i) * PAGE_BYTES);
		CHECK(context_of(&m, "accessed"));
		CHECK(context_of(&m, "accessed") != context);
	}
	CHECK(!value_of(&m, "removed"));
	container = dup(m.container);
	close_map(&m);
	m.container = container;
	CHECK_EQ(value_of(&m, "removed"), 1);
	close(container);
}

/* The kernel faults, for a call of the program's. */
static void system_calls(void)
{
	uint64_t context[3];
	struct map m;
	int fds[2];
	volatile int i;		/* one call, in a loop */

	open_contexts(&m);
	CHECK(!pipe(fds));
	for (i = 0; i < 3; i++) {
		CHECK(write(fds[1], m.base + i * PAGE_BYTES, 16) == 16);
		context[i] = context_of(&m, "faulted");
	}
	CHECK(context[0] && context[0] == context[1] &&
	      context[0] == context[2]);
	CHECK(write(fds[1], m.base + i * PAGE_BYTES, 16) == 16);
	CHECK(context_of(&m, "faulted") && context_of(&m, "faulted") != context[0]);
	close_map(&m);
}

/* For main.c: contexts of some calls, and where they are in memory. */
int print_contexts(const char *policy)
{
	const struct calls *calls[] = { &calls_frames, &calls_scan };
	struct map m;
	int i;

	open_map(&m, policy, FILE_C, PAGES / 2, 1, false);
	for (i = 0; i < 4; i++) {
		if (i % 2)
			calls[i / 2]->two(m.base + i * PAGE_BYTES);
		else
			calls[i / 2]->one(m.base + i * PAGE_BYTES);
		printf("%016llx ", (unsigned long long)context_of(&m, "faulted"));
	}
	printf("%p\n", (void *)print_contexts);
	return 0;
}

/* At other addresses. */
static void next_run(void)
{
	char line[4][128];
	int i, moved = 0;
	FILE *f;

	make_file(FILE_C, PAGES * PAGE_BYTES);
	for (i = 0; i < 4; i++) {
		f = popen("hipec-guest-test --contexts contexts", "r");
		CHECK(f && fgets(line[i], sizeof(line[i]), f) && !pclose(f));
		if (strncmp(line[i], line[0], 4 * 17))
			FAIL("%s in one run, %s in another", line[0], line[i]);
		moved += strcmp(line[i], line[0]) != 0;
	}
	CHECK(strncmp(line[0], "0000000000000000", 16));
	CHECK(moved);
	CHECK(strncmp(line[0], line[0] + 17, 16));
	CHECK(strncmp(line[0] + 34, line[0] + 51, 16));
}

static struct map shared;
static pthread_barrier_t barrier;
static pthread_mutex_t one_by_one = PTHREAD_MUTEX_INITIALIZER;

static void *in_thread(void *arg)
{
	size_t number = (size_t)arg;
	uint64_t context;

	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&one_by_one);
	calls_frames.one(shared.base + number * PAGE_BYTES);
	context = context_of(&shared, "faulted");
	pthread_mutex_unlock(&one_by_one);
	return (void *)context;
}

static void threads(void)
{
	void *context[4];
	pthread_t id[4];
	size_t i;

	open_contexts(&shared);
	pthread_barrier_init(&barrier, NULL, 4);
	for (i = 0; i < 4; i++)
		CHECK(!pthread_create(&id[i], NULL, in_thread, (void *)i));
	for (i = 0; i < 4; i++)
		CHECK(!pthread_join(id[i], &context[i]));
	CHECK(context[0]);
	for (i = 1; i < 4; i++)
		CHECK(context[i] == context[0]);
	close_map(&shared);
}

/* Load from @p with these registers. */
static noinline void load_with(const volatile void *p, uint64_t sp, uint64_t bp)
{
	__asm__ volatile(
		"mov %%rsp, %%r12\n\t"
		"mov %%rbp, %%r13\n\t"
		"mov %%rsi, %%rsp\n\t"
		"mov %%rdx, %%rbp\n\t"
		"movb (%%rdi), %%al\n\t"
		"mov %%r12, %%rsp\n\t"
		"mov %%r13, %%rbp"
		: : "D"(p), "S"(sp), "d"(bp) : "rax", "r12", "r13", "memory", "cc");
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/*
 * The stack ends at a page that is not there, or is one of the region; it holds
 * itself, code, or anything; registers are anything. No signal may come meanwhile.
 */
static void hostile(void)
{
	static const uint64_t odd[] = {
		0, 1, 7, 8, ~0ull, ~7ull, 1ull << 47, (1ull << 47) - 8,
		(1ull << 47) - 16, 0x7ffffffff000, 0xffff800000000000,
		0xffffffff81000000, 0xffffffffff600000, 0x8000000000000000,
	};
	uint64_t *stack = mmap(NULL, 3 * PAGE_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t x = 88172645463325252ull, sp, bp;
	size_t words = 2 * PAGE_BYTES / 8, i, j;
	int n = rounds(4000);
	struct map m;

	CHECK(stack != MAP_FAILED);
	CHECK(!munmap((char *)stack + 2 * PAGE_BYTES, PAGE_BYTES));
	open_contexts(&m);
	for (i = 0; i < (size_t)(n ?: 200); i++) {
		for (j = words - 64; j < words; j++) {
			uint64_t r = next_random(&x);

			stack[j] = r % 4 == 0 ? (uint64_t)(stack + r / 8 % words) :
				   r % 4 == 1 ? (uint64_t)hostile + r / 8 % 900 :
				   r % 4 == 2 ? (uint64_t)m.base + r / 8 % 90000 : r;
		}
		sp = (uint64_t)(stack + words - 1 - next_random(&x) % 64);
		bp = (uint64_t)(stack + words - next_random(&x) % 64);
		if (i % 5 == 1)
			sp = odd[next_random(&x) % (sizeof(odd) / 8)];
		if (i % 5 == 2)
			bp = odd[next_random(&x) % (sizeof(odd) / 8)];
		if (i % 5 == 3)
			sp = (uint64_t)m.base + next_random(&x) % 90000 / 8 * 8;
		if (i % 5 == 4)
			bp = (uint64_t)m.base + next_random(&x) % 90000 / 8 * 8;
		CHECK(!madvise(m.base, PAGES * PAGE_BYTES, MADV_DONTNEED));
		load_with(m.base + i % PAGES * PAGE_BYTES, sp, bp);
	}
	CHECK_EQ(get_status(m.container).exit.kind, 0);
	close_map(&m);
}

/* A handler on a stack of its own is one more path. */
static struct map *handlers_map;

static void on_usr1(int sig)
{
	static size_t page = 20;

	(void)sig;
	calls_frames.one(handlers_map->base + page++ * PAGE_BYTES);
}

static void handlers(void)
{
	static unsigned char stack[1 << 16];
	const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction a = { .sa_handler = on_usr1, .sa_flags = SA_ONSTACK };
	uint64_t context;
	struct map m;

	CHECK(!sigaltstack(&other, NULL) && !sigaction(SIGUSR1, &a, NULL));
	open_contexts(&m);
	handlers_map = &m;
	raise(SIGUSR1);
	context = context_of(&m, "faulted");
	CHECK(context);
	raise(SIGUSR1);
	CHECK(context_of(&m, "faulted") == context);
	close_map(&m);
}

static uint64_t context_in(int c, const char *name)
{
	return operand_of(c, name).value;
}

/*
 * In place a read() has the context of its call: at a miss PageFault and Replace, at a
 * hit Access. And so has the fault of a map.
 */
static void reads_in_place(void)
{
	static unsigned char buffer[PAGE_BYTES];
	uint64_t missed = 0, hit = 0;
	const unsigned char *base;
	volatile int i;		/* one call, in a loop */
	int c, file;

	stay_here();
	make_file(FILE_C, 8 * PAGES * PAGE_BYTES);
	c = open_cache("contexts", PAGES);
	file = take_file(c, FILE_C, O_RDONLY);
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	for (i = 0; i < 2 * PAGES; i++) {
		CHECK_EQ(calls_frames.read(file, buffer, i * PAGE_BYTES),
			 PAGE_BYTES);
		missed = context_in(c, "faulted");
		CHECK(missed && (i < PAGES + 1 ||
				 context_in(c, "replaced") == missed));
	}
	CHECK(!context_in(c, "accessed"));
	for (i = 0; i < PAGES; i++) {
		CHECK_EQ(calls_frames.read(file, buffer,
					   (PAGES + i) * PAGE_BYTES), PAGE_BYTES);
		get_status(c);
		hit = context_in(c, "accessed");
		CHECK(hit && hit != missed);
	}
	CHECK_EQ(get_status(c).counters.read_pages, 2 * PAGES);
	base = mmap(NULL, 8 * PAGES * PAGE_BYTES, PROT_READ, MAP_SHARED, file, 0);
	CHECK(base != MAP_FAILED);
	CHECK(!madvise((void *)base, 8 * PAGES * PAGE_BYTES, MADV_RANDOM));
	for (i = 2 * PAGES; i < 3 * PAGES; i++) {
		calls_frames.one(base + i * PAGE_BYTES);
		get_status(c);
		if (i > 2 * PAGES)
			CHECK_EQ(context_in(c, "faulted"), hit);
		hit = context_in(c, "faulted");
		CHECK(hit && hit != missed);
	}
	calls_frames.two(base + i * PAGE_BYTES);
	get_status(c);
	CHECK(context_in(c, "faulted") && context_in(c, "faulted") != hit);
	close(file);
	close(c);
}

/* A page that was read ahead has the context of the read() that touches it first. */
static void read_ahead_in_place(void)
{
	static unsigned char buffer[PAGE_BYTES];
	int c, file, i;

	stay_here();
	make_file(FILE_C, 4 * PAGES * PAGE_BYTES);
	c = open_cache("context-faults", 8 * PAGES);
	file = take_file(c, FILE_C, O_RDONLY);
	for (i = 0; i < 4 * PAGES; i++)
		CHECK_EQ(calls_frames.read(file, buffer, i * PAGE_BYTES), PAGE_BYTES);
	CHECK_LE(get_status(c).counters.read_ios, PAGES);
	CHECK_EQ(context_in(c, "shown"), 4 * PAGES);
	CHECK_EQ(context_in(c, "nowhere"), 0);
	close(file);
	close(c);
}

static const struct test context_tests[] = {
	{ "call_paths_have_contexts_through_frame_pointers", frames },
	{ "call_paths_have_contexts_without_frame_pointers", scans },
	{ "a_fault_brings_its_context_to_the_events_it_causes", events },
	{ "faults_of_the_kernel_have_the_programs_call_as_context", system_calls },
	{ "contexts_of_reads_in_place_are_those_of_their_calls", reads_in_place },
	{ "contexts_of_pages_read_ahead_are_those_of_their_first_touch", read_ahead_in_place },
	{ "contexts_are_the_same_in_the_next_run", next_run },
	{ "contexts_are_the_same_in_all_threads", threads },
	{ "contexts_of_hostile_stacks_do_no_harm", hostile },
	{ "signal_handlers_have_contexts_on_their_own_stack", handlers },
	{ 0 }
};
SUITE(context_tests, 0);
