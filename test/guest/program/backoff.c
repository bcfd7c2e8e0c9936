// SPDX-License-Identifier: GPL-2.0-only
/*
 * A policy that was revoked may not share the pool again at once. The parameter
 * says how long: 1 ms and 1000 s stand for "over soon" and "not over in this
 * test". run.sh loads the module without any wait, for all other tests.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_A DIR_DATA "backoff-a"
#define FRAMES 64
#define PARAMETER "/sys/module/hipec/parameters/backoff_ms"

/* Each test has an image of its own, since the module does not forget. */
static void *image;
static size_t size;

static void make_image(const char *policy, const char *name)
{
	read_image(policy, &image, &size);
	strcpy(((struct hipec_image *)image)->name, name);
}

static void set_wait(const char *ms)
{
	int fd = open(PARAMETER, O_WRONLY);

	CHECK(fd >= 0 && write(fd, ms, strlen(ms)) == (ssize_t)strlen(ms));
	close(fd);
}

static int load(uint32_t flags, int *container, char *log, size_t log_size)
{
	struct hipec_load load = {
		.flags = flags, .frames = FRAMES, .cluster = 1,
		.image = (uintptr_t)image, .image_size = size,
		.log = (uintptr_t)log, .log_size = log_size,
	};
	int fd = hipec_open(), ret;

	CHECK(fd >= 0);
	ret = hipec_load_args(fd, &load);
	if (!ret && container)
		*container = fd;
	else
		close(fd);
	return ret;
}

/* Load the image and use it until it is revoked, or for @nr faults. */
static uint32_t use(size_t nr)
{
	struct map m = { .pages = 200 };
	uint32_t kind = 0;
	size_t i;

	make_file(FILE_A, m.pages * PAGE_BYTES);
	m.file = open(FILE_A, O_RDONLY);
	CHECK(m.file >= 0);
	CHECK_EQ(load(HIPEC_LOAD_SHARE, &m.container, NULL, 0), 0);
	m.region = hipec_attach(m.container, m.file, 0, 0, false, NULL);
	CHECK(m.region >= 0);
	m.base = mmap(NULL, m.pages * PAGE_BYTES, PROT_READ, MAP_SHARED,
		      m.region, 0);
	CHECK(m.base != MAP_FAILED);
	for (i = 0; i < nr && !kind; i++) {
		touch(&m, i % m.pages);
		kind = get_status(m.container).exit.kind;
	}
	close_map(&m);
	return kind;
}

/* "hoard" gives no frame: revoked at its 1,024th Replace. */
#define NO_VICTIM 0x40

static void refused_until_the_wait_is_over(void)
{
	char log[512] = "";
	int i;

	make_image("hoard", "wait-1");
	set_wait("1000000");
	CHECK_EQ(use(3000), NO_VICTIM);
	CHECK_EQ(load(HIPEC_LOAD_SHARE, NULL, log, sizeof(log)), -EAGAIN);
	CHECK(strstr(log, "policy 'wait-1' was revoked once: Replace put no page on _free_queue too many times in a row; it may share the pool again in "));
	CHECK(strstr(log, " s (module parameter backoff_ms)"));
	/* It has its own frames to try again with. */
	CHECK_EQ(load(0, NULL, NULL, 0), 0);
	set_wait("1");
	for (i = 0; i < 1000000; i++)
		if (load(HIPEC_LOAD_SHARE, NULL, NULL, 0) != -EAGAIN)
			break;
	CHECK_EQ(load(HIPEC_LOAD_SHARE, NULL, NULL, 0), 0);
	set_wait("0");
}

/* 1000 s, 2000 s, 4000 s, less what went by; never a second more. */
static void waits_double(void)
{
	long most = 1000, seconds;
	char log[512];
	const char *at;
	int i;

	make_image("hoard", "wait-2");
	for (i = 0; i < 3; i++, most *= 2) {
		set_wait("0");
		CHECK_EQ(use(3000), NO_VICTIM);
		set_wait("1000000");
		CHECK_EQ(load(HIPEC_LOAD_SHARE, NULL, log, sizeof(log)),
			 -EAGAIN);
		at = strstr(log, "again in ");
		CHECK(at);
		seconds = atol(at + strlen("again in "));
		CHECK_LE(seconds, most);
		CHECK(seconds > most / 2);
	}
	CHECK(strstr(log, "was revoked 3 times, last: Replace put no page"));
	set_wait("0");
}

/* Another image, another user, none, and one that was not revoked: all may. */
static void others_may(void)
{
	int status;
	pid_t pid;

	make_image("hoard", "wait-3");
	CHECK_EQ(use(3000), NO_VICTIM);
	set_wait("1000000");
	CHECK_EQ(load(HIPEC_LOAD_SHARE, NULL, NULL, 0), -EAGAIN);
	CHECK(!chmod(HIPEC_DEVICE, 0666));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		CHECK(!setuid(1000));
		CHECK_EQ(load(HIPEC_LOAD_SHARE, NULL, NULL, 0), 0);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK(!chmod(HIPEC_DEVICE, 0600));
	make_image("hoard", "wait-4");
	CHECK_EQ(load(HIPEC_LOAD_SHARE, NULL, NULL, 0), 0);
	/* It ends, but by a mistake of its own: nothing was revoked. */
	make_image("no-page", "wait-5");
	CHECK(use(3000));
	CHECK_EQ(load(HIPEC_LOAD_SHARE, NULL, NULL, 0), 0);
	image = NULL;
	size = 0;
	CHECK_EQ(load(HIPEC_LOAD_SHARE, NULL, NULL, 0), 0);
	set_wait("0");
}

/* What is revoked in a container of its own cost nobody else anything. */
static void own_frames_are_not_asked_about(void)
{
	struct map m = { .pages = 200 };
	size_t i;

	make_image("hoard", "wait-6");
	make_file(FILE_A, m.pages * PAGE_BYTES);
	m.file = open(FILE_A, O_RDONLY);
	CHECK_EQ(load(0, &m.container, NULL, 0), 0);
	m.region = hipec_attach(m.container, m.file, 0, 0, false, NULL);
	m.base = mmap(NULL, m.pages * PAGE_BYTES, PROT_READ, MAP_SHARED,
		      m.region, 0);
	CHECK(m.region >= 0 && m.base != MAP_FAILED);
	for (i = 0; i < 3000 && !get_status(m.container).exit.kind; i++)
		touch(&m, i % m.pages);
	CHECK_EQ(get_status(m.container).exit.kind, NO_VICTIM);
	close_map(&m);
	set_wait("1000000");
	CHECK_EQ(load(HIPEC_LOAD_SHARE, NULL, NULL, 0), 0);
	set_wait("0");
}

static const struct test backoff_tests[] = {
	{ "backoff_refuses_until_the_wait_is_over",
	  refused_until_the_wait_is_over },
	{ "backoff_waits_double", waits_double },
	{ "backoff_lets_others_in", others_may },
	{ "backoff_does_not_ask_who_has_its_own_frames",
	  own_frames_are_not_asked_about },
	{ 0 }
};
SUITE(backoff_tests, 0);
