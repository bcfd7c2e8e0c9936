// SPDX-License-Identifier: GPL-2.0-only
/* One of the processes: operations at random. */
#include "place.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

struct fuzz_rng rng;
uint32_t self;
int file[NR_FILES], direct[NR_FILES];
unsigned char *map[NR_FILES], *buffer;

static const struct {
	bool (*fn)(void);
	uint32_t often;
} ops[NR_OPS] = {
#define X(name, often) { op_##name, often },
	PLACE_OPS(X)
#undef X
};

const char *const op_name[NR_OPS] = {
#define X(name, often) #name,
	PLACE_OPS(X)
#undef X
};

uint32_t below(uint32_t n)
{
	return fuzz_below(&rng, n);
}

static sigjmp_buf jump;
static volatile sig_atomic_t may_jump;

static void on_sigbus(int sig)
{
	if (may_jump)
		siglongjmp(jump, 1);
	wrong("SIGBUS in process %u", self);
	_exit(sig);
}

/* Return: whether @fn came to its end without SIGBUS. */
bool guarded(void (*fn)(void))
{
	if (sigsetjmp(jump, 1)) {
		may_jump = false;
		return false;
	}
	may_jump = true;
	fn();
	may_jump = false;
	return true;
}

static void open_files(void)
{
	char path[256];
	uint32_t f;

	for (f = 0; f < NR_FILES; f++) {
		file_path(path, sizeof(path), f);
		file[f] = open(path, O_RDWR);
		direct[f] = open(path, O_RDWR | O_DIRECT);
		map[f] = mmap(NULL, NR_PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
			      MAP_SHARED, file[f], 0);
		if (file[f] < 0 || direct[f] < 0 || map[f] == MAP_FAILED)
			wrong("%s: %s", path, strerror(errno));
	}
}

/* Another descriptor, which has the operations that the file has now. */
static void reopen(void)
{
	char path[256];
	uint32_t f = below(NR_FILES);

	close(file[f]);
	file_path(path, sizeof(path), f);
	file[f] = open(path, O_RDWR);
	if (file[f] < 0)
		wrong("%s: %s", path, strerror(errno));
}

static uint32_t choose(void)
{
	static uint32_t total;
	uint32_t op, n;

	if (!total)
		for (op = 0; op < NR_OPS; op++)
			total += ops[op].often;
	n = below(total);
	for (op = 0; n >= ops[op].often; op++)
		n -= ops[op].often;
	return op;
}

void work(uint32_t proc)
{
	self = proc;
	rng = (struct fuzz_rng){ board->seed * 64 + proc };
	signal(SIGBUS, on_sigbus);
	buffer = mmap(NULL, MOST * PAGE_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	open_files();
	ring_open();
	append_open();
	while (!board->stop && !board->wrong) {
		uint32_t op = choose();

		board->doing[proc] = op;
		__atomic_add_fetch(&board->tried[op], 1, __ATOMIC_RELAXED);
		if (ops[op].fn())
			__atomic_add_fetch(&board->worked[op], 1, __ATOMIC_RELAXED);
		__atomic_add_fetch(&board->done[proc], 1, __ATOMIC_RELAXED);
		__atomic_add_fetch(&board->ops, 1, __ATOMIC_RELAXED);
		if (!below(100))
			reopen();
	}
	_exit(0);
}
