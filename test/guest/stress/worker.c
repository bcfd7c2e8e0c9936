// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process with its threads: what they hold, and which operation comes next.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "stress.h"

#define X(name, often) { op_##name, often },
static const struct {
	int (*fn)(void);
	uint32_t often;
} ops[] = { STRESS_OPS(X) };
#undef X

__thread struct self me;
static __thread sigjmp_buf jump;
static __thread bool guard;
static pthread_barrier_t all_there;	/* with stacks */

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

uint32_t below(uint32_t n)
{
	return fuzz_below(&me.rng, n);
}

bool chance(uint32_t percent)
{
	return fuzz_chance(&me.rng, percent);
}

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (guard && sig == SIGBUS)
		siglongjmp(jump, 1);
	/* No memory for a SIGBUS's frame, on a stack that fork() has shared. */
	if (sig == SIGSEGV && info->si_code == SI_KERNEL && me.fails)
		_exit(0);	/* the keeper starts the process once more */
	wrong("thread %u: signal %d, code %d, in %s, address %p, arena %p",
	      me.t, sig, info->si_code, op_name[board->thread[me.t].op],
	      info->si_addr, me.arena);
	_exit(1);
}

/* Return: whether @fn came to its end; false: SIGBUS. */
bool guarded(void (*fn)(void *), void *arg)
{
	guard = true;
	if (sigsetjmp(jump, 0)) {
		guard = false;
		return false;
	}
	fn(arg);
	guard = false;
	return true;
}

unsigned char *address_of(const struct spot *sp, uint32_t page)
{
	return me.arena + (sp - me.spot) * SPOT_BYTES +
	       (page - sp->first) * PAGE_BYTES;
}

void free_spot(struct spot *sp)
{
	if (sp->kind != FREE && munmap(address_of(sp, sp->first), SPOT_BYTES))
		wrong("munmap: errno %d", errno);
	memset(sp, 0, sizeof(*sp));
}

/* Give up all that is the thread's of slot @s. */
void let_go(uint32_t s)
{
	uint32_t i;

	for (i = 0; i < NR_SPOTS; i++)
		if (me.spot[i].kind != FREE && me.spot[i].s == s)
			free_spot(&me.spot[i]);
	for (i = 0; i < NR_REGIONS; i++) {
		if (me.region[s][i] >= 0)
			close(me.region[s][i]);
		me.region[s][i] = -1;
	}
	me.gen[s] = 0;
	__atomic_store_n(&board->thread[me.t].holds[s], 0, __ATOMIC_SEQ_CST);
}

/* Have the regions of slot @s. Return: false if it is closed just now. */
bool hold(uint32_t s)
{
	struct slot *slot = &board->slot[s];
	uint32_t gen = __atomic_load_n(&slot->gen, __ATOMIC_SEQ_CST), i;

	if (me.gen[s])
		return true;
	if (!(gen & 1))
		return false;
	__atomic_store_n(&board->thread[me.t].holds[s], gen, __ATOMIC_SEQ_CST);
	for (i = 0; i < NR_REGIONS; i++)
		me.region[s][i] = syscall(SYS_pidfd_getfd, me.keeper,
					  slot->region[i], 0);
	me.gen[s] = gen;
	/* It was closed meanwhile: who knows what these are. */
	if (me.region[s][0] < 0 || me.region[s][1] < 0 ||
	    __atomic_load_n(&slot->gen, __ATOMIC_SEQ_CST) != gen) {
		let_go(s);
		return false;
	}
	return true;
}

static uint32_t draw(void)
{
	uint32_t op, all = 0, dice;

	for (op = 0; op < NR_OPS; op++)
		all += ops[op].often;
	dice = below(all);
	for (op = 0; dice >= ops[op].often; op++)
		dice -= ops[op].often;
	return op;
}

/* The @n-th allocation from now on fails, or what else can; 0: none. */
static void fail_nth(uint32_t n)
{
	char text[16];
	int fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	snprintf(text, sizeof(text), "%u", n);
	if (write(fd, text, strlen(text)) > 0 && n)
		__atomic_add_fetch(&board->injected, 1, __ATOMIC_RELAXED);
	close(fd);
}

static void do_operation(void)
{
	struct thread_board *b = &board->thread[me.t];
	uint32_t op = draw(), s;
	bool inject = board->inject && chance(10);
	int ret;

	for (s = 0; s < NR_SLOTS; s++)
		if (me.gen[s] && __atomic_load_n(&board->slot[s].gen,
						 __ATOMIC_SEQ_CST) != me.gen[s])
			let_go(s);
	__atomic_store_n(&b->op, op, __ATOMIC_RELAXED);
	__atomic_store_n(&b->since, now_ns(), __ATOMIC_RELAXED);
	__atomic_add_fetch(&b->nr, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&board->ops, 1, __ATOMIC_RELAXED);
	me.fails = inject;
	if (inject)
		fail_nth(1 + below(120));
	ret = ops[op].fn();
	if (inject)
		fail_nth(0);
	me.fails = false;
	__atomic_add_fetch(&board->tried[op], 1, __ATOMIC_RELAXED);
	if (ret >= 0)
		__atomic_add_fetch(&board->worked[op], 1, __ATOMIC_RELAXED);
}

static int open_scratch(uint32_t t)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/data/stress-scratch-%u", t);
	fd = open(path, O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);
	return fd < 0 || ftruncate(fd, PAGE_BYTES) ? -1 : fd;
}

/* Without memory: the keeper starts the process once more. */
static void cannot_start(void)
{
	if (errno != ENOMEM && errno != EAGAIN)
		wrong("thread %u: start: errno %d", me.t, errno);
	_exit(0);
}

struct start {
	uint32_t t;
	uint64_t seed;
	int keeper;
	unsigned char *arena;
};

static void *run(void *arg)
{
	struct start *start = arg;
	struct thread_board *b;
	uint32_t i, s;

	me.t = me.w = start->t;
	me.rng.state = start->seed;
	me.keeper = start->keeper;
	b = &board->thread[me.t];
	b->op = NR_OPS;
	b->tid = syscall(SYS_gettid);
	__atomic_store_n(&b->since, now_ns(), __ATOMIC_SEQ_CST);
	for (s = 0; s < NR_SLOTS; s++)
		for (i = 0; i < NR_REGIONS; i++)
			me.region[s][i] = -1;
	me.arena = start->arena;
	me.buffer = me.arena + (NR_SPOTS + 1) * SPOT_BYTES;
	me.scratch = open_scratch(me.t);
	me.memory = memfd_create("stress", MFD_CLOEXEC);
	if (me.memory < 0 || me.scratch < 0 || pipe2(me.pipe, O_CLOEXEC) ||
	    mprotect(me.buffer, PAGE_BYTES, PROT_READ | PROT_WRITE))
		cannot_start();
	pthread_barrier_wait(&all_there);
	while (!__atomic_load_n(&board->stop, __ATOMIC_RELAXED) && !board->wrong)
		do_operation();
	for (s = 0; s < NR_SLOTS; s++)
		let_go(s);
	__atomic_store_n(&b->since, 0, __ATOMIC_SEQ_CST);
	return NULL;
}

/* Process @proc, until it is killed or all shall stop. */
void work(uint32_t proc, uint64_t seed)
{
	const uint32_t nr = NR_THREADS / NR_PROCS;
	struct sigaction act = { .sa_sigaction = on_sigbus,
				 .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct start start[NR_THREADS / NR_PROCS];
	pthread_t thread[NR_THREADS / NR_PROCS];
	uint32_t i;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (proc == SQUEEZED) {
		int fd = open(CGROUP "cgroup.procs", O_WRONLY | O_CLOEXEC);

		if (fd < 0 || write(fd, "0", 1) != 1)
			wrong(CGROUP "cgroup.procs: errno %d", errno);
		close(fd);
	}
	sigaction(SIGBUS, &act, NULL);
	sigaction(SIGSEGV, &act, NULL);
	pthread_barrier_init(&all_there, NULL, nr);
	/* All of them first: what a thread unmaps is free for its own only. */
	for (i = 0; i < nr; i++)
		start[i].arena = mmap(NULL, (NR_SPOTS + 1) * SPOT_BYTES +
				      PAGE_BYTES, PROT_NONE, MAP_PRIVATE |
				      MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	for (i = 0; i < nr; i++) {
		start[i].t = proc * nr + i;
		start[i].seed = seed + i * 0x632be59bd9b4e019ull;
		start[i].keeper = syscall(SYS_pidfd_open, board->keeper, 0);
		if (start[i].keeper < 0 || start[i].arena == MAP_FAILED ||
		    (errno = pthread_create(&thread[i], NULL, run, &start[i])))
			cannot_start();
	}
	for (i = 0; i < nr && !board->wrong; i++)
		pthread_join(thread[i], NULL);
	_exit(0);
}
