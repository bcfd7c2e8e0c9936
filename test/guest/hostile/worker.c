// SPDX-License-Identifier: GPL-2.0-only
/*
 * One process: what it holds, and the loop that draws what it does next.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "hostile.h"

struct worker w;

const char *const op_name[NR_OPS] = {
#define X(name, often) #name,
	HOSTILE_OPS(X)
#undef X
};

static const struct {
	uint32_t often;
	int (*fn)(void);
} ops[NR_OPS] = {
#define X(name, often) { often, op_##name },
	HOSTILE_OPS(X)
#undef X
};

uint32_t below(uint32_t n)
{
	return fuzz_below(&w.rng, n);
}

bool chance(uint32_t percent)
{
	return fuzz_chance(&w.rng, percent);
}

/* The module is at fault: say so, once, and end. */
void wrong(const char *format, ...)
{
	va_list args;

	if (!__atomic_test_and_set(&board->wrong, __ATOMIC_SEQ_CST)) {
		va_start(args, format);
		vsnprintf(board->text, sizeof(board->text), format, args);
		va_end(args);
	}
	_exit(3);
}

void let_go(struct hold *h)
{
	if (h->fd >= 0)
		close(h->fd);
	*h = (struct hold){ .fd = -1 };
}

/* One of NR_FDS that is open, or NULL. */
struct hold *any_hold(struct hold *h)
{
	uint32_t i, first = below(NR_FDS);

	for (i = 0; i < NR_FDS; i++)
		if (h[(first + i) % NR_FDS].fd >= 0)
			return &h[(first + i) % NR_FDS];
	return NULL;
}

/* One of NR_FDS that is not; if all are, one is closed. */
struct hold *place_for(struct hold *h)
{
	uint32_t i;

	for (i = 0; i < NR_FDS; i++)
		if (h[i].fd < 0)
			return &h[i];
	i = below(NR_FDS);
	let_go(&h[i]);
	return &h[i];
}

static uint32_t draw(void)
{
	static uint32_t all;
	uint32_t op, dice;

	if (!all)
		for (op = 0; op < NR_OPS; op++)
			all += ops[op].often;
	dice = below(all);
	for (op = 0; dice >= ops[op].often; op++)
		dice -= ops[op].often;
	return op;
}

/*
 * Before the operation, so that the one that kills the kernel is there; in the
 * kernel's log as well, which a panic prints.
 */
static struct logged *note(uint32_t op, uint64_t state)
{
	uint32_t number = board->log[w.me].nr++;
	struct logged *l = &board->log[w.me].last[number % NR_LOGGED];

	*l = (struct logged){ number, op, 1, state };
	if (kmsg >= 0)
		dprintf(kmsg, "<7>hostile: %u.%u #%u %s %016llx\n", w.me,
			w.depth, number, op_name[op],
			(unsigned long long)state);
	return l;
}

static void do_operations(uint32_t nr)
{
	uint32_t op;
	int ret;

	while (nr--) {
		uint64_t state = w.rng.state;
		struct logged *l;

		op = draw();
		l = note(op, state);
		ret = ops[op].fn();
		l->result = ret;
		__atomic_add_fetch(&board->tried[op], 1, __ATOMIC_RELAXED);
		if (ret >= 0)
			__atomic_add_fetch(&board->worked[op], 1,
					   __ATOMIC_RELAXED);
		while (w.children && waitpid(-1, NULL, WNOHANG) > 0)
			w.children--;
	}
}

/* Others of that user, and /proc, are as open to it as to any process. Return: 0; -1. */
static int be_user(void)
{
	if (setgroups(0, NULL) || setresgid(USER, USER, USER) || setresuid(USER, USER, USER))
		return -1;
	return prctl(PR_SET_DUMPABLE, 1);
}

/* Until it is killed, or an operation ends it. */
void work(uint32_t me, uint64_t seed)
{
	uint32_t i;

	setpgid(0, 0);
	if (me >= NR_ROOT && be_user())
		_exit(5);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	w.me = me;
	w.rng.state = seed;
	for (i = 0; i < NR_FDS; i++)
		w.container[i].fd = w.region[i].fd = w.file[i].fd =
			w.record[i].fd = w.place[i].fd = -1;
	start_helper();
	for (;;)
		do_operations(1000);
}

/* A child goes on from here for a while, with all that is open and mapped. */
int op_fork(void)
{
	pid_t pid;

	if (w.depth >= 2 || w.children >= 2)
		return -EAGAIN;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid) {
		w.children++;
		return 0;
	}
	w.depth++;
	w.children = 0;
	w.rng.state = fuzz_random(&w.rng) ^ 0x5bd1e995;
	if (chance(30))
		start_helper();
	do_operations(1 + below(60));
	_exit(0);
}

/* Mappings go, and what is open without close-on-exec stays. */
int op_exec(void)
{
	pid_t pid = vfork();

	if (pid < 0)
		return -errno;
	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(0);
	}
	return or_errno(waitpid(pid, NULL, 0));
}

int op_exit(void)
{
	__atomic_add_fetch(&board->tried[OP_exit], 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&board->worked[OP_exit], 1, __ATOMIC_RELAXED);
	_exit(0);
}
