// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of live containers. Replay has its own tests in user space; here it
 * says whether the kernel has told everything.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../../../userlib/record/record.h"
#include "guest.h"

#define FILE_R DIR_DATA "record"
#define THREADS 4

struct bytes {
	u8 *at;
	size_t nr, max;
};

/* Read some of a record. Return: whether there was any. */
static bool read_some(int fd, struct bytes *b)
{
	ssize_t n;

	if (b->nr == b->max) {
		b->max = 2 * b->max + (1 << 16);
		b->at = realloc(b->at, b->max);
		CHECK(b->at);
	}
	n = read(fd, b->at + b->nr, b->max - b->nr);
	CHECK(n >= 0 || errno == EAGAIN);
	b->nr += n > 0 ? n : 0;
	return n > 0;
}

/* Read it to its end, or until nothing more is there. */
static void read_all(int fd, struct bytes *b)
{
	while (read_some(fd, b))
		;
}

static int start_record(int container, uint32_t ring)
{
	int fd = hipec_record(container, 0, ring);

	if (fd < 0)
		FAIL("record: %s", strerror(-fd));
	CHECK(!fcntl(fd, F_SETFL, O_NONBLOCK));
	return fd;
}

/* Entries of a record with @code, 0: all; and how many it says were lost. */
static uint64_t count_entries(const struct bytes *b, u8 code, uint64_t *lost)
{
	struct hipec_record_head head;
	struct record_item n;
	struct hipec_text why = { 0 };
	int64_t at = record_head(b->at, b->nr, &head, &why);
	uint64_t nr = 0;
	int bytes;

	CHECK(at > 0);
	for (*lost = 0; (bytes = record_entry(b->at + at, b->at + b->nr, &n)) > 0;
	     at += bytes) {
		if (n.code == HIPEC_RECORD_LOST)
			*lost += n.number[0];
		else
			nr += !code || n.code == code;
	}
	CHECK_EQ(at, b->nr);
	return nr;
}

/* Replay what was read, and forget it. */
static void check_replay(struct bytes *b, enum record_verdict want)
{
	struct record_replay r;

	CHECK(!record_replay(b->at, b->nr, &r));
	if (r.verdict != want)
		FAIL("%s: verdict %d, want %d: %s", r.policy, r.verdict, want,
		     r.why);
	free(b->at);
	*b = (struct bytes){ 0 };
}

/*
 * A miss of mru: ADD, TOUCH, SHOW, and RUN and END of PageFault; where no frame is
 * free also RUN, GIVE_UP, DEL, ANSWER, END of Replace. And one REGION.
 */
#define SWEPT 400
#define HELD 16
#define ENTRIES (1 + HELD * 5 + (SWEPT - HELD) * 10)

static void full_ring(void)
{
	struct bytes b = { 0 };
	uint64_t lost, nr;
	uint32_t ring;
	struct map m;
	int fd;

	make_file(FILE_R, SWEPT * PAGE_BYTES);
	for (ring = 0; ring <= HIPEC_RECORD_MIN_RING;
	     ring += HIPEC_RECORD_MIN_RING) {
		open_map(&m, "mru", FILE_R, HELD, 1, false);
		fd = start_record(m.container, ring);
		CHECK_EQ(touch_range(&m, 0, SWEPT).counters.faults, SWEPT);
		close(m.region);	/* the mapping holds the container */
		read_all(fd, &b);
		if (ring)
			touch(&m, SWEPT - 2);	/* gone: it has to tell again */
		read_all(fd, &b);
		nr = count_entries(&b, 0, &lost);
		if (!ring) {
			CHECK_EQ(nr, ENTRIES);
			CHECK_EQ(lost, 0);
		} else {
			CHECK_EQ(nr + lost, ENTRIES + 10);
			CHECK(lost);
			CHECK_LE(b.nr, 100000);
		}
		check_replay(&b, ring ? RECORD_LOST : RECORD_SAME);
		close(fd);
		CHECK(!munmap(m.base, m.pages * PAGE_BYTES));
		close(m.container);
		close(m.file);
	}
}

/* The end is told although the ring was full to it. */
static void full_ring_at_end(void)
{
	struct bytes b = { 0 };
	uint64_t lost;
	struct map m;
	int fd;

	make_file(FILE_R, SWEPT * PAGE_BYTES);
	open_map(&m, "mru", FILE_R, HELD, 1, false);
	fd = start_record(m.container, HIPEC_RECORD_MIN_RING);
	touch_range(&m, 0, SWEPT);
	close_map(&m);
	read_all(fd, &b);
	count_entries(&b, 0, &lost);
	CHECK(lost);
	check_replay(&b, RECORD_LOST);
	close(fd);
}

static void ends_with_container(void)
{
	struct pollfd p = { .events = POLLIN };
	struct bytes b = { 0 };
	struct map m;

	make_file(FILE_R, 64 * PAGE_BYTES);
	open_map(&m, "lru", FILE_R, 16, 1, false);
	p.fd = start_record(m.container, 0);
	CHECK_EQ(poll(&p, 1, 0), 1);
	read_all(p.fd, &b);
	CHECK_EQ(poll(&p, 1, 0), 0);
	touch_range(&m, 0, 64);
	CHECK_EQ(poll(&p, 1, 0), 1);
	close_map(&m);
	/* The descriptor keeps no frame. */
	while (frames_held())
		;
	CHECK(!fcntl(p.fd, F_SETFL, 0));
	read_all(p.fd, &b);	/* waits, and comes to an end */
	check_replay(&b, RECORD_SAME);
	CHECK_EQ(read(p.fd, &m, sizeof(m)), 0);
	close(p.fd);
}

static void wants_what_is_right(void)
{
	struct hipec_record r = { .size = sizeof(r) };
	int c = hipec_open(), other, fd, status;
	struct hipec_status s;
	pid_t pid;

	CHECK_EQ(hipec_record(c, 0, 0), -ENODATA);
	CHECK_EQ(hipec_record(c, 1ull << 60, 0), -ESRCH);
	close(c);
	c = load_policy("mru", 16, 1);
	s = get_status(c);
	CHECK_EQ(hipec_record(c, 0, 5000), -EINVAL);
	CHECK_EQ(hipec_record(c, 0, HIPEC_RECORD_MIN_RING / 2), -EINVAL);
	CHECK_EQ(hipec_record(c, 0, HIPEC_RECORD_MAX_RING * 2), -EINVAL);
	r.flags = 1;
	CHECK(ioctl(c, HIPEC_IOC_RECORD, &r) && errno == EINVAL);
	r.flags = 0;
	r.size = 16;	/* no place for the descriptor */
	CHECK(ioctl(c, HIPEC_IOC_RECORD, &r) && errno == EINVAL);

	other = hipec_open();
	fd = hipec_record(other, s.id, 0);
	CHECK(fd >= 0);
	CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	CHECK_EQ(hipec_record(c, 0, 0), -EBUSY);
	CHECK_EQ(hipec_record(other, s.id, 0), -EBUSY);
	close(fd);
	fd = hipec_record(c, 0, 0);
	CHECK(fd >= 0);
	close(fd);

	pid = fork();	/* another user sees nothing of it */
	if (!pid) {
		CHECK(!setuid(65534));
		CHECK_EQ(hipec_record(other, s.id, 0), -ESRCH);
		exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	close(other);
	close(c);
}

static volatile int done;

static void *touch_for_long(void *arg)
{
	const struct map *m = arg;
	uint32_t x = 1;

	while (!done) {
		volatile unsigned char *at;

		x = x * 1664525 + 1013904223;
		at = m->base + 2000 + (x >> 8) % m->pages * PAGE_BYTES;
		if (x >> 28)
			*at;
		else
			*at += 1;
	}
	return NULL;
}

/* Begins and ends at any time, and what it has is the same again. */
static void while_threads_fault(void)
{
	static const char *const policies[] = { "fifo2", "ghosts", "mru-touch" };
	pthread_t thread[THREADS];
	struct bytes b = { 0 };
	struct map m;
	int i, n, fd;

	make_file(FILE_R, 96 * PAGE_BYTES);
	for (n = 0; n < 3; n++) {
		done = 0;
		open_map(&m, policies[n], FILE_R, 32, 4, true);
		for (i = 0; i < THREADS; i++)
			CHECK(!pthread_create(&thread[i], NULL, touch_for_long,
					      &m));
		for (i = 0; i < rounds(2); i++) {
			struct pollfd p = { .events = POLLIN };

			p.fd = fd = start_record(m.container,
						 HIPEC_RECORD_MAX_RING);
			while (b.nr < 10000) {
				poll(&p, 1, -1);
				read_some(fd, &b);
			}
			close(fd);
			check_replay(&b, RECORD_SAME);
		}
		done = 1;
		for (i = 0; i < THREADS; i++)
			CHECK(!pthread_join(thread[i], NULL));
		close_map(&m);
	}
}

/* What the program says meanwhile is in the record: replay decides the same. */
static void hints_and_params(void)
{
	struct bytes b = { 0 };
	struct map m;
	int fd, i;

	make_file(FILE_R, 64 * PAGE_BYTES);
	open_map(&m, "ends", FILE_R, 16, 1, false);
	touch_range(&m, 0, 40);
	CHECK_EQ(hipec_set_param(m.container, "youngest", 1), 0);
	fd = start_record(m.container, HIPEC_RECORD_MAX_RING);
	for (i = 0; i < 6; i++) {
		touch_range(&m, 0, 64);
		CHECK_EQ(hipec_set_param(m.container, "youngest", i % 2), 0);
		CHECK_EQ(hipec_set_param(m.container, "any", -(1ll << i * 10)), 0);
	}
	close_map(&m);
	read_all(fd, &b);
	close(fd);
	check_replay(&b, RECORD_SAME);

	open_map(&m, "hinted-first", FILE_R, 16, 1, false);
	fd = start_record(m.container, HIPEC_RECORD_MAX_RING);
	for (i = 0; i < 6; i++) {
		CHECK_EQ(hipec_hint(m.region, i * 8 * PAGE_BYTES,
				    16 * PAGE_BYTES, i % 3), 0);
		touch_range(&m, 0, 64);
	}
	close_map(&m);
	read_all(fd, &b);
	close(fd);
	check_replay(&b, RECORD_SAME);
}

/* Each policy has a record of its own, and no access is missing between two. */
static void follows_swaps(void)
{
	static const char *const policies[] = { "fifo", "mru", "lru", "ghosts" };
	uint64_t faults = 0, lost;
	struct bytes b = { 0 };
	struct map m;
	int fd, i;

	make_file(FILE_R, 64 * PAGE_BYTES);
	open_map(&m, policies[0], FILE_R, 16, 1, false);
	fd = start_record(m.container, HIPEC_RECORD_MAX_RING);
	for (i = 0; i < 4; i++) {
		if (i)
			swap_to(m.container, policies[i]);
		read_all(fd, &b);
		if (i) {
			faults += count_entries(&b, HIPEC_RECORD_ADD, &lost);
			check_replay(&b, RECORD_SAME);
			read_all(fd, &b);
		}
		touch_range(&m, 0, 64);
	}
	read_all(fd, &b);
	faults += count_entries(&b, HIPEC_RECORD_ADD, &lost);
	CHECK_EQ(faults, get_status(m.container).counters.pages_in);
	check_replay(&b, RECORD_SAME);

	/* Two in a row: the second ends it, and all up to there is told. */
	swap_to(m.container, "fifo");
	touch_range(&m, 0, 64);
	swap_to(m.container, "mru");
	read_all(fd, &b);
	CHECK(!b.nr);
	read_all(fd, &b);
	CHECK_EQ(count_entries(&b, HIPEC_RECORD_ADD, &lost), 64);
	check_replay(&b, RECORD_SAME);
	CHECK_EQ(read(fd, &m.pages, sizeof(m.pages)), 0);
	i = start_record(m.container, 0);
	close(i);
	close(fd);
	close_map(&m);
}

static const struct test record_tests[] = {
	{ "record_drops_what_does_not_fit_and_counts_it", full_ring },
	{ "record_tells_at_its_end_what_was_lost", full_ring_at_end },
	{ "record_ends_with_its_container_and_holds_no_frame",
	  ends_with_container },
	{ "record_refuses_what_is_wrong_and_other_users", wants_what_is_right },
	{ "record_has_the_parameters_and_hints_of_the_program", hints_and_params },
	{ "record_begins_and_ends_while_threads_fault", while_threads_fault },
	{ "record_has_a_part_for_each_policy_of_a_swap", follows_swaps },
	{ }
};
SUITE(record_tests, 0);

/* Whatever may be set: half of it to @value, or to what @value is within 4. */
static void set_params(int container, uint32_t value)
{
	struct hipec_set_param a = { .size = sizeof(a) };

	for (; a.slot < HIPEC_SLOT_SYSTEM; a.slot++) {
		a.value = a.slot & 1 ? value : value & 3;
		ioctl(container, HIPEC_IOC_SET_PARAM, &a);
	}
}

/*
 * Record a policy at work on random pages, some written to, some soft faults;
 * into a file for the host.
 *
 *	hipec-guest-test --record IMAGE OUT SEED
 */
int record_work(const char *image, const char *out, uint32_t seed)
{
	FILE *f = fopen(out, "wb");
	struct bytes b = { 0 };
	char log[256] = "";
	struct map m;
	uint32_t x = seed, i;
	size_t done_bytes, nr;
	int fd, ret;

	CHECK(f);
	make_file(FILE_R, 128 * PAGE_BYTES);
	m.container = hipec_open();
	ret = hipec_load_file(m.container, image, 48, 1 + seed % 8, log,
			      sizeof(log));
	if (ret)
		FAIL("%s: %s %s", image, strerror(-ret), log);
	m.file = open(FILE_R, O_RDWR);
	m.region = hipec_attach(m.container, m.file, 0, 0, true, NULL);
	m.base = mmap(NULL, 128 * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		      m.region, 0);
	CHECK(m.base != MAP_FAILED);
	fd = start_record(m.container, HIPEC_RECORD_MAX_RING);
	for (i = 0; i < 1500; i++) {
		volatile unsigned char *at;

		x = x * 1664525 + 1013904223;
		at = m.base + (i % 2 ? (x >> 8) % 128 : i / 2 % 100) * PAGE_BYTES;
		if (x >> 28 < 4)
			*at = x >> 16;
		else
			*at;
		if (i % 16 == 15)
			CHECK_EQ(hipec_hint(m.region, (x >> 8) % 96 * PAGE_BYTES,
					    32 * PAGE_BYTES, x >> 30), 0);
		if (i % 64 == 63)
			set_params(m.container, x >> 16);
		if (i % 400 == 399)
			CHECK(!msync(m.base, 128 * PAGE_BYTES, MS_SYNC));
	}
	CHECK(!munmap(m.base, 128 * PAGE_BYTES));
	close(m.region);
	close(m.container);
	CHECK(!fcntl(fd, F_SETFL, 0));
	read_all(fd, &b);
	CHECK(!record_file_begin(f));
	for (done_bytes = 0; done_bytes < b.nr; done_bytes += nr) {
		nr = b.nr - done_bytes < 65536 ? b.nr - done_bytes : 65536;
		CHECK(!record_file_block(f, 1, false, b.at + done_bytes, nr));
	}
	CHECK(!fclose(f));
	return 0;
}
