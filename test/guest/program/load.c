// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading: what is refused, with which errno and which words, and that nothing
 * is left behind.
 */
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../../../module/include/uapi/hipec_ops.h"
#include "guest.h"

enum {
#define X(name, text) V_##name,
	HIPEC_VERIFY_KINDS(X)
#undef X
};

/* An image that can be changed: the shipped FIFO. */
struct editable {
	struct hipec_image *im;
	struct hipec_image_operand *operand;
	struct hipec_image_event *event;
	__u32 *words;
	size_t size;
};

static struct editable edit_fifo(void)
{
	struct editable e;
	void *image;

	read_image("fifo", &image, &e.size);
	e.im = image;
	e.operand = (void *)(e.im + 1);
	e.event = (void *)(e.operand + e.im->nr_operands);
	e.words = (void *)(e.event + e.im->nr_events);
	return e;
}

/* Words of the event with that number. */
static __u32 *words_of(struct editable *e, __u32 number)
{
	__u32 i;

	for (i = 0; i < e->im->nr_events; i++)
		if (e->event[i].number == number)
			return e->words + e->event[i].first;
	FAIL("the image has no event %u", number);
}

/* Load with the raw ioctl, for the error fields. */
static int load(const void *image, size_t size, struct hipec_load *a, char *log,
		size_t log_size)
{
	int fd = hipec_open(), ret;

	CHECK(fd >= 0);
	*a = (struct hipec_load){
		.size = sizeof(*a), .image = (uintptr_t)image,
		.image_size = size, .frames = 8, .log = (uintptr_t)log,
		.log_size = log_size,
	};
	ret = ioctl(fd, HIPEC_IOC_LOAD, a) ? errno : 0;
	close(fd);
	return ret;
}

static void refused(struct editable *e, __u32 kind, __u32 event, __u32 command,
		    __u32 operand, const char *words)
{
	struct hipec_load a;
	char log[256] = "";

	CHECK_EQ(load(e->im, e->size, &a, log, sizeof(log)), EINVAL);
	CHECK_EQ(a.error_kind, kind);
	CHECK_EQ(a.error_event, event);
	CHECK_EQ(a.error_command, command);
	CHECK_EQ(a.error_operand, operand);
	if (!strstr(log, words))
		FAIL("log says '%s', want '%s' in it", log, words);
	free(e->im);
}

static void cut_short(void)
{
	struct editable e = edit_fifo();
	struct hipec_load a;
	char log[256];
	size_t n;

	for (n = 0; n < e.size; n++) {
		CHECK_EQ(load(e.im, n, &a, log, sizeof(log)), EINVAL);
		CHECK_EQ(a.error_kind, V_SHORT);
		CHECK(strstr(log, "cut short"));
	}
	free(e.im);
}

static void wrong_magic(void)
{
	struct editable e = edit_fifo();

	e.im->magic ^= 1;
	refused(&e, V_MAGIC, 0, 0, 0, "no compiled policy");
}

static void wrong_version(void)
{
	struct editable e = edit_fifo();

	e.im->version++;
	refused(&e, V_VERSION, 0, 0, 0, "version");
}

static void operand_out_of_range(void)
{
	struct editable e = edit_fifo();

	words_of(&e, 1)[1] = 0x10ee0000 | HIPEC_SLOT_SYSTEM << 8;
	refused(&e, V_OPERAND, 1, 1, 1, "PageFault+1: FindPA operand a: slot 238 does not exist, want a page");
}

static void operand_of_wrong_type(void)
{
	struct editable e = edit_fifo();

	words_of(&e, 2)[1] = 0x07030301; /* DeQueue from a page */
	refused(&e, V_OPERAND, 2, 1, 2, "Replace+1: DeQueue operand b: slot 3 is page 'page', want a queue");
}

static void jump_outside_event(void)
{
	struct editable e = edit_fifo();

	words_of(&e, 1)[1] = 0x06000100;
	refused(&e, V_TARGET, 1, 1, 2, "PageFault+1: Jump operand b: the jump leaves its event: 256");
}

static void event_falls_off(void)
{
	struct editable e = edit_fifo();
	__u32 last = e.event[0].nr - 1;

	e.words[e.event[0].first + last] = 0x04020000; /* EmptyQ */
	refused(&e, V_FALL, e.event[0].number, last, 0, "falls off its end");
}

static void call_cycle(void)
{
	struct editable e = edit_fifo();

	words_of(&e, 1)[1] = 0x13020000; /* PageFault calls Replace */
	words_of(&e, 2)[1] = 0x13010000; /* and the other way round */
	refused(&e, V_CALL_CYCLE, 1, 1, 1, "PageFault+1: Call operand a: the calls form a cycle");
}

static void unknown_command(void)
{
	struct editable e = edit_fifo();

	words_of(&e, 1)[1] = 0x1f000000;
	refused(&e, V_OPCODE, 1, 1, 0, "PageFault+1: there is no such command: 31");
}

/* The log is cut to the buffer, ends with a zero, and writes nothing behind. */
static void log_is_cut(void)
{
	struct editable e = edit_fifo();
	struct hipec_load a;
	char log[16];

	memset(log, 'x', sizeof(log));
	e.im->magic = 0;
	CHECK_EQ(load(e.im, e.size, &a, log, 8), EINVAL);
	CHECK(!strcmp(log, "image: "));
	CHECK_EQ(log[8], 'x');
	CHECK_EQ(load(e.im, e.size, &a, NULL, 8), EINVAL);
	CHECK_EQ(load(e.im, e.size, &a, log, 0), EINVAL);
	CHECK_EQ(load(e.im, e.size, &a, (char *)8, 8), EFAULT);
	free(e.im);
}

static void budget_too_large(void)
{
	long long total = (long long)sysconf(_SC_PHYS_PAGES);
	const __u64 frames[] = { total + 1, 1ull << 31, 1ull << 40, ~0ull };
	struct editable e = edit_fifo();
	int fd = hipec_open();
	size_t i;

	for (i = 0; i < sizeof(frames) / sizeof(*frames); i++)
		CHECK_EQ(hipec_load(fd, e.im, e.size, frames[i], 0, NULL, 0),
			 -ENOMEM);
	/* More than is free, but not than there is: no OOM kill either. */
	CHECK_EQ(hipec_load(fd, e.im, e.size, total - 100, 0, NULL, 0),
		 -ENOMEM);
	CHECK_EQ(frames_held(), 0);
	/* Nothing was lost: the same container takes a budget that fits. */
	CHECK_EQ(hipec_load(fd, e.im, e.size, 64, 0, NULL, 0), 0);
	CHECK_EQ(frames_held(), 64);
	CHECK_EQ(get_status(fd).free_frames, 64);
	free(e.im);
}

static void memlock_limit(void)
{
	struct rlimit limit = { 32 * PAGE_BYTES, 32 * PAGE_BYTES };
	struct editable e = edit_fifo();
	int fd = hipec_open();

	/* Only a caller without CAP_IPC_LOCK is held to it. */
	CHECK(!setrlimit(RLIMIT_MEMLOCK, &limit));
	CHECK(!setuid(65534));
	CHECK_EQ(hipec_load(fd, e.im, e.size, 33, 0, NULL, 0), -ENOMEM);
	CHECK_EQ(hipec_load(fd, e.im, e.size, 32, 0, NULL, 0), 0);
	free(e.im);
}

static void bad_arguments(void)
{
	struct editable e = edit_fifo();
	struct hipec_load a = {
		.size = sizeof(a), .image = (uintptr_t)e.im,
		.image_size = e.size, .frames = 8,
	};
	struct {
		struct hipec_load a;
		__u32 more;
	} longer = { .a = a };
	int fd = hipec_open();

	longer.a.size = sizeof(longer);
#define LOAD_FAILS(want, args) \
	CHECK_EQ(ioctl(fd, HIPEC_IOC_LOAD, args) ? errno : 0, want)
	a.flags = HIPEC_LOAD_CONTRACT << 1;	/* the first that means nothing */
	LOAD_FAILS(EINVAL, &a);
	a.flags = 0;
	a.reserved = 1;
	LOAD_FAILS(EINVAL, &a);
	a.reserved = 0;
	a.frames = 0;
	LOAD_FAILS(EINVAL, &a);
	a.frames = 8;
	a.cluster = HIPEC_MAX_CLUSTER + 1;
	LOAD_FAILS(EINVAL, &a);
	a.cluster = 0;
	a.image_size = ~0u;
	LOAD_FAILS(EINVAL, &a);
	a.image_size = e.size;
	a.image = 8;
	LOAD_FAILS(EFAULT, &a);
	a.image = (uintptr_t)e.im;
	a.size = 4;
	LOAD_FAILS(EINVAL, &a);
	LOAD_FAILS(EFAULT, (void *)8);
	longer.more = 1;
	LOAD_FAILS(E2BIG, &longer);
	longer.more = 0;
	LOAD_FAILS(0, &longer);		/* and the container is loaded */
	a.size = sizeof(a);
	LOAD_FAILS(EBUSY, &a);
	CHECK_EQ(ioctl(fd, _IO('h', 0x81)) ? errno : 0, ENOTTY);
	CHECK_EQ(ioctl(fd, _IOWR('h', 0x7f, a), &a) ? errno : 0, ENOTTY);
	CHECK_EQ(ioctl(fd, _IOWR('x', 0x81, a), &a) ? errno : 0, ENOTTY);
	free(e.im);
}

static void status_of_others(void)
{
	struct hipec_status s = { 0 };
	int fd, other = hipec_open();

	/* Workers may be about to end containers of tests before. */
	while (!hipec_next(other, 0, &s))
		usleep(10000);
	fd = load_policy("mru", 16, 0);
	CHECK_EQ(hipec_next(other, 0, &s), 0);
	CHECK(!strcmp(s.policy, "mru"));
	CHECK_EQ(s.pid, getpid());
	CHECK_EQ(s.frames, 16);
	CHECK_EQ(hipec_next(other, s.id, &s), -ENOENT);
	/* Another user does not see it. */
	CHECK(!setuid(65534));
	CHECK_EQ(hipec_next(other, 0, &s), -ENOENT);
	close(fd);
}

#define LEFT 100

/*
 * What the program does for unload.sh: of containers that share, another user is the last to close
 * each, and ends. Workers end them behind that.
 */
int leave_ends(void)
{
	int fd[LEFT], ends[2], i;
	char byte;
	pid_t pid;

	for (i = 0; i < LEFT; i++)
		fd[i] = open_cache_with("fifo", 4, HIPEC_LOAD_SHARE);
	CHECK(!pipe(ends));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		CHECK(!setuid(65534) && read(ends[0], &byte, 1) == 1);
		_exit(0);
	}
	for (i = 0; i < LEFT; i++)
		close(fd[i]);
	CHECK(write(ends[1], "", 1) == 1);
	CHECK(waitpid(pid, NULL, 0) == pid);
	return 0;
}

static void wait_containers(int fd, uint64_t nr)
{
	struct hipec_query q;
	int i;

	for (i = 0; i < 1000; i++) {
		CHECK(!hipec_query(fd, &q));
		if (q.containers == nr)
			return;
		usleep(10000);
	}
	CHECK_EQ(q.containers, nr);
}

/* All descriptors of the device, those without a policy as well; a worker may still end one. */
static void number_of_containers(void)
{
	int fd = hipec_open(), empty, loaded;
	struct hipec_query q;

	wait_containers(fd, 1);
	empty = hipec_open();
	loaded = load_policy("fifo", 1, 1);
	CHECK(!hipec_query(fd, &q));
	CHECK_EQ(q.containers, 3);
	close(empty);
	wait_containers(fd, 2);
	close(loaded);
	wait_containers(fd, 1);
	close(fd);
}

static const struct test load_tests[] = {
	{ "load_refuses_an_image_cut_short_at_every_byte", cut_short },
	{ "load_refuses_a_wrong_magic", wrong_magic },
	{ "load_refuses_a_wrong_version", wrong_version },
	{ "load_refuses_an_operand_out_of_range", operand_out_of_range },
	{ "load_refuses_an_operand_of_the_wrong_type", operand_of_wrong_type },
	{ "load_refuses_a_jump_outside_its_event", jump_outside_event },
	{ "load_refuses_an_event_that_falls_off_its_end", event_falls_off },
	{ "load_refuses_a_call_cycle", call_cycle },
	{ "load_refuses_an_unknown_command", unknown_command },
	{ "load_cuts_its_log_to_the_buffer", log_is_cut },
	{ "load_refuses_a_budget_beyond_memory_and_loses_nothing", budget_too_large },
	{ "load_keeps_to_rlimit_memlock", memlock_limit },
	{ "load_refuses_bad_arguments", bad_arguments },
	{ "status_shows_only_own_containers", status_of_others },
	{ "query_tells_how_many_containers_there_are", number_of_containers },
	{ 0 }
};
SUITE(load_tests, 0);
