// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel does for the machine: shared arrays, ghosts, ordered queues,
 * events beside PageFault and Replace, time, and the one way in which a policy
 * ends. The policies are in policies/.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../../../module/include/uapi/hipec_ops.h"
#include "guest.h"

#define FILE_M DIR_DATA "machine"
#define TRACING "/sys/kernel/tracing/"
#define QUANTUM "/sys/module/hipec/parameters/quantum_us"

enum {
#define X(name, code, text) EXIT_##name = code,
	HIPEC_EXIT_KINDS(X)
#undef X
};

static void sweep(const struct map *m, int passes)
{
	size_t i;

	while (passes--)
		for (i = 0; i < m->pages; i++)
			touch(m, i);
}

static void shared_array(void)
{
	struct hipec_operand o;
	int64_t *level;
	struct map m;
	size_t nr;

	make_file(FILE_M, 700 * PAGE_BYTES);
	open_map(&m, "shared", FILE_M, 8, 1, false);
	CHECK_EQ(hipec_shared(m.container, "seen", &level, &nr), -ENOENT);
	CHECK_EQ(hipec_shared(m.container, "level", &level, &nr), 0);
	CHECK_EQ(nr, 1024);
	CHECK_EQ(level[5], 0);
	level[5] = 77;
	level[650] = -9;
	touch(&m, 5);
	CHECK_EQ(value_of(&m, "seen"), 77);
	touch(&m, 650);
	CHECK_EQ(value_of(&m, "seen"), -9);

	o = operand_of(m.container, "level");
	CHECK(mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, m.container,
		   o.offset) == MAP_FAILED && errno == EINVAL);
	CHECK(mmap(NULL, 8193, PROT_READ, MAP_SHARED, m.container,
		   o.offset) == MAP_FAILED && errno == ENXIO);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, m.container,
		   o.offset + 4096) == MAP_FAILED && errno == ENXIO);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, m.container,
		   HIPEC_SHARED_OFFSET(1)) == MAP_FAILED && errno == ENXIO);

	/* The mapping outlives the descriptors. */
	close_map(&m);
	level[1023] = 1;
	CHECK_EQ(level[650], -9);
	munmap(level, nr * sizeof(*level));
	CHECK_EQ(frames_held(), 0);
}

/*
 * Figure 9 on a tree: its root, 4 pages below it and 35 leaves, each leaf looked
 * up once, in 8 frames. Once told of the levels, only leaves go: each page is
 * read once. Not told, and with the same policy, inner pages are read again.
 */
static uint64_t faults_of_lookups(bool tell)
{
	int64_t *level;
	uint64_t faults;
	struct map m;
	size_t i, nr;

	make_file(FILE_M, 40 * PAGE_BYTES);
	open_map(&m, "mpfifo2", FILE_M, 8, 1, false);
	CHECK_EQ(hipec_shared(m.container, "IndexLevel", &level, &nr), 0);
	for (i = 0; i < 40 && tell; i++)
		level[i] = i == 0 ? 0 : i < 5 ? 1 : 2;
	for (i = 5; i < 40; i++) {
		touch(&m, 0);
		touch(&m, 1 + i % 4);
		touch(&m, i);
	}
	faults = get_status(m.container).counters.faults;
	munmap(level, nr * sizeof(*level));
	close_map(&m);
	return faults;
}

static void index_levels(void)
{
	CHECK_EQ(faults_of_lookups(true), 40);
	CHECK(faults_of_lookups(false) > 40);
}

/* Before a policy is loaded there is nothing to map or to ask for. */
static void nothing_loaded(void)
{
	struct hipec_operand o;
	int fd = hipec_open();

	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED &&
	      errno == ENODATA);
	CHECK_EQ(hipec_operand(fd, 0, 0, &o), -ENODATA);
	CHECK_EQ(hipec_operand(fd, 1ull << 60, 0, &o), -ESRCH);
	close(fd);
}

/*
 * 16 pages in 8 frames, FIFO: each page leaves 8 faults before it comes again,
 * and there is room for 16 ghosts: every fault after the first pass finds one.
 */
static void ghosts(void)
{
	struct hipec_status s;
	struct map m;

	make_file(FILE_M, 16 * PAGE_BYTES);
	open_map(&m, "ghosts", FILE_M, 8, 1, false);
	sweep(&m, 3);
	s = get_status(m.container);
	CHECK_EQ(s.exit.kind, EXIT_NONE);
	CHECK_EQ(s.counters.faults, 48);
	CHECK_EQ(s.ghosts, 8);
	CHECK_EQ(s.resident, 8);
	CHECK_EQ(value_of(&m, "hits"), 32);
	CHECK_EQ(value_of(&m, "most"), 2);
	close_map(&m);
	CHECK_EQ(frames_held(), 0);
}

/* The ghosts of dirty pages: their frames are written while they are ghosts. */
static void dirty_ghosts(void)
{
	struct hipec_status s;
	struct map m;
	size_t i, pass;

	make_file(FILE_M, 16 * PAGE_BYTES);
	open_map(&m, "ghosts", FILE_M, 8, 1, true);
	for (pass = 0; pass < 8; pass++)
		for (i = 0; i < 16; i++) {
			volatile uint64_t *w = (void *)(m.base + i * PAGE_BYTES);

			CHECK_EQ(*w, page_word(i) + pass);
			++*w;
		}
	s = get_status(m.container);
	CHECK_EQ(s.exit.kind, EXIT_NONE);
	CHECK_EQ(s.counters.faults, 128);
	CHECK_EQ(value_of(&m, "hits"), 112);
	close_map(&m);
	CHECK_EQ(frames_held(), 0);
}

/* MRU by address: the first sweep brings all, each later one 16 - 8 + 1. */
static void ordered(void)
{
	struct map m;

	make_file(FILE_M, 16 * PAGE_BYTES);
	open_map(&m, "highest-first", FILE_M, 8, 1, false);
	sweep(&m, 3);
	CHECK_EQ(get_status(m.container).counters.faults, 16 + 2 * 9);
	close_map(&m);
}

static void events(void)
{
	struct hipec_status s;
	struct map m;
	int i;

	make_file(FILE_M, 16 * PAGE_BYTES);
	open_map(&m, "events", FILE_M, 8, 1, false);
	for (i = 0; i < 4; i++)
		touch(&m, i);
	CHECK_EQ(value_of(&m, "accessed"), 0);
	/* Page 0 was unmapped when page 1 came: a soft fault, an Access. */
	touch(&m, 0);
	CHECK_EQ(get_status(m.container).counters.soft_faults, 1);
	CHECK_EQ(value_of(&m, "accessed"), 1);
	CHECK_EQ(value_of(&m, "removed"), 0);
	sweep(&m, 1);
	s = get_status(m.container);
	CHECK_EQ(s.exit.kind, EXIT_NONE);
	CHECK_EQ(s.counters.helped, s.counters.evictions);
	CHECK_EQ(value_of(&m, "removed"), s.counters.helped);
	CHECK_EQ(s.counters.helped, 8);
	/* The page that faulted last is mapped, and found when Replace is near. */
	CHECK(value_of(&m, "accessed") > 1);
	while (value_of(&m, "ticks") < 3)
		;
	close_map(&m);
}

/* An end is a record, words, and an event for poll(); frames and data stay. */
static void exit_is_told(void)
{
	struct pollfd p = { .events = POLLIN };
	struct hipec_status s;
	struct map m;
	size_t i;

	make_file(FILE_M, 32 * PAGE_BYTES);
	open_map(&m, "div-zero", FILE_M, 8, 1, false);
	p.fd = m.container;
	CHECK_EQ(poll(&p, 1, 0), 0);
	for (i = 0; i < 32 && !get_status(m.container).exit.kind; i++)
		touch(&m, i);
	CHECK_EQ(poll(&p, 1, 0), 1);
	CHECK(p.revents & POLLIN);
	s = get_status(m.container);
	CHECK_EQ(s.exit.kind, EXIT_DIV_ZERO);
	CHECK(strstr(s.exit.message, "division by zero in "));
	CHECK(strstr(s.exit.message, ", line "));
	CHECK(strstr(s.exit.message, "arith "));
	sweep(&m, 2);
	CHECK_EQ(get_status(m.container).frames, 8);
	close_map(&m);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	CHECK(fd >= 0);
	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void set_quantum(const char *us)
{
	write_file(QUANTUM, us);
}

/* Tracepoint hipec_@event writes what comes from now on, and nothing that was, or no more. */
void trace_event(const char *event, bool on)
{
	char path[128];

	if (on)
		write_file(TRACING "trace", "");
	snprintf(path, sizeof(path), TRACING "events/hipec/hipec_%s/enable", event);
	write_file(path, on ? "1" : "0");
}

/* What was traced. */
void trace_text(char *text, size_t size)
{
	int fd = open(TRACING "trace", O_RDONLY);
	ssize_t n;

	CHECK(fd >= 0);
	n = read(fd, text, size - 1);
	CHECK(n > 0);
	text[n] = '\0';
	close(fd);
}

/* The tracepoint has the record's numbers; closing is an end as well. */
static void exit_is_traced(void)
{
	char text[4096], *line;
	struct map m;
	size_t i;

	trace_event("exit", true);
	make_file(FILE_M, 32 * PAGE_BYTES);
	open_map(&m, "div-zero", FILE_M, 8, 1, false);
	for (i = 0; i < 32; i++)
		touch(&m, i);
	close_map(&m);
	close(load_policy("fifo", 8, 1));
	trace_event("exit", false);
	trace_text(text, sizeof(text));
	line = strstr(text, "hipec_exit: ");
	CHECK(line && strstr(line, "policy=div-zero kind=0x22 event="));
	line = strstr(line + 1, "hipec_exit: ");
	CHECK(line && strstr(line, "policy=fifo kind=0x10 event=0 "));
	CHECK(!strstr(line + 1, "hipec_exit: "));
}

/*
 * With a quantum of nothing an endless Replace is given up at the second
 * look at the clock: the kernel takes a victim of its own and says so. After 16
 * in a row the policy is revoked.
 */
static void late_replace(void)
{
	struct hipec_status s;
	struct map m;
	size_t i;

	make_file(FILE_M, 32 * PAGE_BYTES);
	open_map(&m, "endless-replace", FILE_M, 8, 1, false);
	set_quantum("0");
	for (i = 0; i < 9; i++)
		touch(&m, i);
	s = get_status(m.container);
	CHECK_EQ(s.exit.kind, EXIT_NONE);
	CHECK_EQ(s.counters.late, 1);
	CHECK_EQ(s.counters.helped, 1);
	CHECK_EQ(s.late.kind, EXIT_OVERTIME);
	CHECK_EQ(s.late.event, 2);
	CHECK(s.late.line > 0);
	CHECK(strstr(s.late.message, "in Replace+"));
	for (; i < 8 + 15; i++)
		touch(&m, i);
	CHECK_EQ(get_status(m.container).exit.kind, EXIT_NONE);
	touch(&m, i);
	s = get_status(m.container);
	CHECK_EQ(s.exit.kind, EXIT_LATE);
	CHECK_EQ(s.counters.late, 16);
	sweep(&m, 1);
	CHECK_EQ(get_status(m.container).counters.late, 16);
	set_quantum("10000");
	close_map(&m);
}

/* PageFault is not given up for its time: its task pays, to its fuel's end. */
static void late_fault(void)
{
	struct hipec_status s;
	struct map m;

	make_file(FILE_M, 32 * PAGE_BYTES);
	open_map(&m, "endless-fault", FILE_M, 8, 1, false);
	set_quantum("0");
	touch(&m, 0);
	set_quantum("10000");
	s = get_status(m.container);
	CHECK_EQ(s.exit.kind, EXIT_FUEL);
	CHECK_EQ(s.counters.late, 0);
	sweep(&m, 1);
	close_map(&m);
}

/*
 * Kill a task @ms after it was let go, in an endless PageFault with much fuel.
 * Return: whether that is where it died: the event was given up, its fuel unspent.
 */
static bool dies_in_event(unsigned int ms)
{
	struct hipec_status s;
	struct map m;
	pid_t pid;

	open_map(&m, "endless-fault", FILE_M, 16384, 1, false);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		touch(&m, 0);
		_exit(0);
	}
	usleep(ms * 1000);
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	s = get_status(m.container);
	close_map(&m);
	return s.counters.late == 1 && s.exit.kind == EXIT_NONE;
}

/* Whatever the policy does, its task can be killed: some delay will hit. */
static void killed_in_event(void)
{
	unsigned int ms;

	make_file(FILE_M, 32 * PAGE_BYTES);
	set_quantum("0");
	for (ms = 1; !dies_in_event(ms); ms++)
		CHECK(ms < 200);
	set_quantum("10000");
	CHECK_EQ(frames_held(), 0);
}

/* Replace that gives nothing is helped, and at the 1024th time revoked. */
static void no_victim(void)
{
	struct hipec_status s;
	struct map m;
	size_t i;

	make_file(FILE_M, 1100 * PAGE_BYTES);
	open_map(&m, "events", FILE_M, 8, 1, false);
	for (i = 0; i < 8 + 1023; i++)
		touch(&m, i);
	s = get_status(m.container);
	CHECK_EQ(s.exit.kind, EXIT_NONE);
	CHECK_EQ(s.counters.helped, 1023);
	touch(&m, i);
	s = get_status(m.container);
	CHECK_EQ(s.exit.kind, EXIT_NO_VICTIM);
	CHECK_EQ(s.counters.helped, 1024);
	sweep(&m, 1);
	close_map(&m);
}

static long cgroup_bytes(const char *file)
{
	char path[128], text[64] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/fs/cgroup/hipec-test/%s", file);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return atol(text);
}

static void join_cgroup(const char *group)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/sys/fs/cgroup/%scgroup.procs", group);
	fd = open(path, O_WRONLY);
	CHECK(fd >= 0);
	CHECK(write(fd, "0", 1) == 1);
	close(fd);
}

/*
 * Frames and what is kept about them are the owner's cgroup's: for each entry of
 * the page table 32 bytes, and 8 for its field; two ghosts a frame make three
 * entries. The cgroup counts in batches, of each CPU's.
 */
static void charged(void)
{
	const long frames = 16384, batches = 512 << 10;
	const long want = frames * (PAGE_BYTES + 3 * (32 + 8));
	long before, after;
	int fd;

	CHECK(!mkdir("/sys/fs/cgroup/hipec-test", 0755) || errno == EEXIST);
	join_cgroup("hipec-test/");
	before = cgroup_bytes("memory.current");
	fd = load_policy("ghosts", frames, 1);
	after = cgroup_bytes("memory.current");
	CHECK_LE(want - batches, after - before);
	CHECK_LE(after - before, want + batches);
	close(fd);
	join_cgroup("");
}

static const struct test machine_tests[] = {
	{ "shared_array_is_read_by_the_policy", shared_array },
	{ "levels_of_a_shared_array_keep_an_index_resident", index_levels },
	{ "nothing_to_map_before_the_load", nothing_loaded },
	{ "ghosts_are_found_by_later_faults", ghosts },
	{ "ghosts_of_dirty_pages_lose_no_write", dirty_ghosts },
	{ "ordered_queue_gives_the_highest_key", ordered },
	{ "access_remove_and_timer_run", events },
	{ "end_of_a_policy_is_told", exit_is_told },
	{ "end_of_a_policy_is_traced", exit_is_traced },
	{ "late_replace_is_given_up_then_revoked", late_replace },
	{ "late_page_fault_goes_on_to_its_fuel", late_fault },
	{ "a_task_in_an_endless_page_fault_can_be_killed", killed_in_event },
	{ "replace_without_victims_is_revoked", no_victim },
	{ "frames_and_metadata_are_charged", charged },
	{ 0 }
};
SUITE(machine_tests, 0);
