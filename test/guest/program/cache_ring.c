// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in place that rings of io_uring read: the policy hears of it, and does not run while a lock
 * of a ring is held, which others wait for.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "guest.h"

#define FILE_R DIR_DATA "cache-ring"
#define PAGES 1024
#define TRACING "/sys/kernel/tracing/"

/* A ring of one entry. */
static struct {
	int fd;
	struct io_uring_params p;
	unsigned char *rings;
	struct io_uring_sqe *sqe;
} ring;

static uint32_t *in_ring(uint32_t offset)
{
	return (uint32_t *)(ring.rings + offset);
}

static void open_ring(uint32_t flags)
{
	ring.p = (struct io_uring_params){ .flags = flags, .sq_thread_idle = 1 };
	ring.fd = syscall(SYS_io_uring_setup, 1, &ring.p);
	CHECK(ring.fd >= 0 && ring.p.features & IORING_FEAT_SINGLE_MMAP);
	ring.rings = mmap(NULL, ring.p.sq_off.array + PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			  ring.fd, IORING_OFF_SQ_RING);
	ring.sqe = mmap(NULL, sizeof(*ring.sqe), PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd,
			IORING_OFF_SQES);
	CHECK(ring.rings != MAP_FAILED && ring.sqe != MAP_FAILED);
}

/* Read by the ring, wholly. */
static void ring_read(int file, void *data, uint32_t bytes, off_t at, uint8_t flags)
{
	uint32_t *tail = in_ring(ring.p.sq_off.tail), *head = in_ring(ring.p.cq_off.head);
	struct io_uring_cqe *cqe = (void *)in_ring(ring.p.cq_off.cqes);
	uint32_t how = IORING_ENTER_GETEVENTS;
	int32_t got;

	if (ring.p.flags & IORING_SETUP_SQPOLL)
		how |= IORING_ENTER_SQ_WAKEUP;
	for (; bytes; bytes -= got, data = (char *)data + got, at += got) {
		*ring.sqe = (struct io_uring_sqe){
			.opcode = IORING_OP_READ, .fd = file, .off = at, .flags = flags,
			.addr = (uintptr_t)data, .len = bytes,
		};
		*in_ring(ring.p.sq_off.array) = 0;
		__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
		CHECK(syscall(SYS_io_uring_enter, ring.fd, 1, 1, how, NULL, 0) == 1);
		CHECK(__atomic_load_n(in_ring(ring.p.cq_off.tail), __ATOMIC_ACQUIRE) != *head);
		got = cqe[*head & (ring.p.cq_entries - 1)].res;
		__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
		CHECK(got > 0);
	}
}

static void drop_pages_of(int file)
{
	CHECK(!fsync(file) && !posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED));
}

static void check_page(const uint64_t *data, size_t page)
{
	if (data[0] != page_word(page))
		FAIL("page %zu has wrong data", page);
}

/* By the task that submits, or by a worker of the ring's: as if it were read(). */
static void reads_are_told(void)
{
	static uint64_t data[PAGE_BYTES / 8];
	struct hipec_status s;
	int c, file, i;
	uint8_t flags;

	stay_here();
	for (flags = 0; flags <= IOSQE_ASYNC; flags += IOSQE_ASYNC) {
		make_file(FILE_R, PAGES * PAGE_BYTES);
		c = open_cache("lru", PAGES);
		file = take_file(c, FILE_R, O_RDONLY);
		CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
		open_ring(0);
		for (i = 0; i < 2 * PAGES; i++) {
			ring_read(file, data, PAGE_BYTES, i / 2 * PAGE_BYTES, flags);
			check_page(data, i / 2);
		}
		s = get_status(c);
		CHECK_EQ(s.counters.read_pages, PAGES);
		CHECK_EQ(s.counters.pages_in, PAGES);
		CHECK_EQ(s.counters.hits, PAGES);
		close(ring.fd);
		close(file);
		close(c);
	}
	CHECK(!unlink(FILE_R));
}

/* How often the policy was told by a task since the trace was emptied; and how often with a lock. */
static void count_tells(int *all, int *locked)
{
	FILE *trace = fopen(TRACING "trace", "r");
	bool issued = false, worker = false, polls = false;
	char line[512];

	*all = *locked = 0;
	CHECK(trace);
	while (fgets(line, sizeof(line), trace)) {
		if (strstr(line, "hipec_told:")) {
			(*all)++;
			*locked += polls || (issued && !worker);
			issued = worker = polls = false;
		}
		if (*line == '#' || !strstr(line, "=> "))
			continue;
		issued |= strstr(line, "io_issue_sqe") != NULL;
		worker |= strstr(line, "io_wq_submit_work") != NULL;
		polls |= strstr(line, "io_sq_thread") != NULL;
	}
	*locked += polls || (issued && !worker);
	fclose(trace);
}

/* Read a file again and again, which is not there at first, and see who tells the policy. */
static void read_traced(uint32_t setup, uint32_t bytes, int times, int *all, int *locked)
{
	static unsigned char data[PAGES * PAGE_BYTES];
	int c = open_cache("lru", PAGES / 2), file = take_file(c, FILE_R, O_RDONLY), round = 0;
	size_t at;

	open_ring(setup);
	close(open(TRACING "trace", O_WRONLY | O_TRUNC));
	do {
		drop_pages_of(file);
		for (at = 0; at < PAGES * PAGE_BYTES; at += bytes) {
			ring_read(file, data, bytes, at, 0);
			check_page((uint64_t *)data, at / PAGE_BYTES);
		}
	} while (++round < rounds(times));	/* once, on the slowest kernel */
	count_tells(all, locked);
	CHECK_LE(PAGES, get_status(c).counters.pages_in);
	close(ring.fd);
	close(file);
	close(c);
}

static void trace_tells(bool on)
{
	if (on)
		put_text(TRACING "kprobe_events", "p:hipec_told hipec:hipec_drain_and_evict");
	put_text(TRACING "options/stacktrace", on ? "1" : "0");
	put_text(TRACING "events/kprobes/hipec_told/enable", on ? "1" : "0");
	if (!on)
		put_text(TRACING "kprobe_events", "-:hipec_told");
}

/* A large read that goes on where the first try would have slept; and a ring that is polled. */
static void no_policy_runs_under_locks(void)
{
	int all, locked, polled, polled_locked;

	make_file(FILE_R, PAGES * PAGE_BYTES);
	trace_tells(true);
	read_traced(0, PAGES * PAGE_BYTES, 100, &all, &locked);
	read_traced(IORING_SETUP_SQPOLL, PAGE_BYTES, 4, &polled, &polled_locked);
	trace_tells(false);
	printf("# %d of %d with a lock; of a ring that is polled %d of %d\n", locked, all, polled_locked,
	       polled);
	CHECK_LE(1, all);
	CHECK_EQ(locked, 0);
	CHECK_EQ(polled_locked, 0);
	CHECK(!unlink(FILE_R));
}

static const struct test cache_ring_tests[] = {
	{ "cache_ring_s_reads_are_told_as_those_of_read", reads_are_told },
	{ "cache_ring_s_locks_are_not_held_over_a_policy", no_policy_runs_under_locks },
	{ 0 }
};
SUITE(cache_ring_tests, 0);
