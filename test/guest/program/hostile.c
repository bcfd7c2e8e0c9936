// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clients that die, lie and scribble.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_H DIR_DATA "hostile"

/* kill -9 at any moment of a fault: all frames come back (main.c looks). */
static void killed_while_faulting(void)
{
	int round;

	make_file(FILE_H, 256 * PAGE_BYTES);
	for (round = 0; round < 20; round++) {
		int started[2], status;
		pid_t pid;
		char c;

		CHECK(!pipe(started));
		pid = fork();
		if (!pid) {
			struct map m;
			size_t i;

			open_map(&m, round % 2 ? "mru" : "fifo", FILE_H, 16,
				 round % 4 + 1, true);
			CHECK(write(started[1], "x", 1) == 1);
			for (i = 0;; i = (i + 7) % 256)
				m.base[i * PAGE_BYTES + 8]++;
		}
		CHECK(read(started[0], &c, 1) == 1);
		usleep(round * 1000);
		CHECK(!kill(pid, SIGKILL));
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(WIFSIGNALED(status));
		close(started[0]);
		close(started[1]);
	}
	/* The pages that were killed half-written are readable as ever. */
	struct map m;

	open_map(&m, "fifo", FILE_H, 16, 4, false);
	for (size_t i = 0; i < m.pages; i++)
		touch(&m, i);
	close_map(&m);
}

static uint32_t random_state = 12345;

static uint32_t random32(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state;
}

/* Any bytes as arguments, at any time: an errno, nothing worse. */
static void random_ioctls(void)
{
	unsigned char arg[2048];	/* longer than any struct */
	int fd = hipec_open(), i;
	size_t k;

	for (i = 0; i < 20000; i++) {
		unsigned int nr = 0x7e + random32() % 12;

		for (k = 0; k < sizeof(arg); k++)
			arg[k] = random32() & random32() & random32();
		if (random32() & 1) {
			uint32_t size = random32() % 1200;

			memcpy(arg, &size, sizeof(size));
			memset(arg + 4, 0, 4);
		}
		ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, 'h', nr,
			       random32() % 256), arg);
		if (!(random32() % 64)) {
			close(fd);
			fd = hipec_open();
			CHECK(fd >= 0);
		}
	}
	/* Whatever descriptors that made are closed when this process ends. */
}

/* Images with bytes changed: refused, or run without harm. */
static void mutated_images(void)
{
	int accepted = 0, i;
	void *image, *copy;
	size_t size;

	make_file(FILE_H, 16 * PAGE_BYTES);
	read_image("fifo2", &image, &size);
	copy = malloc(size);
	for (i = 0; i < rounds(400); i++) {
		int fd = hipec_open(), file, region, k, changes;
		unsigned char *p;

		memcpy(copy, image, size);
		changes = 1 + random32() % 3;
		for (k = 0; k < changes; k++)
			((unsigned char *)copy)[random32() % size] =
				random32() & 1 ? random32() : random32() % 16;
		if (hipec_load(fd, copy, size, 4, 1, NULL, 0)) {
			close(fd);
			continue;
		}
		accepted++;
		file = open(FILE_H, O_RDONLY);
		region = hipec_attach(fd, file, 0, 0, false, NULL);
		CHECK(region >= 0);
		p = mmap(NULL, 16 * PAGE_BYTES, PROT_READ, MAP_SHARED, region,
			 0);
		CHECK(p != MAP_FAILED);
		for (size_t page = 0; page < 16; page++)
			CHECK_EQ(*(volatile uint64_t *)(p + page * PAGE_BYTES),
				 page_word(page));
		munmap(p, 16 * PAGE_BYTES);
		close(region);
		close(file);
		close(fd);
	}
	printf("# %d of %d images were accepted\n", accepted, i);
	CHECK(accepted > i / 20);
	free(copy);
	free(image);
}

/* Descriptors passed on, closed in any order: frames go with the last one. */
static void closed_in_any_order(void)
{
	int order;

	make_file(FILE_H, 16 * PAGE_BYTES);
	for (order = 0; order < 6; order++) {
		const char *steps[] = { "crm", "cmr", "rcm", "rmc", "mcr",
					"mrc" };
		struct map m;
		const char *s;

		open_map(&m, "fifo", FILE_H, 8, 1, true);
		m.base[0]++;
		for (s = steps[order]; *s; s++) {
			CHECK_EQ(frames_held(), 8);
			if (*s == 'c')
				close(m.container);
			else if (*s == 'r')
				close(m.region);
			else
				munmap(m.base, m.pages * PAGE_BYTES);
		}
		CHECK_EQ(frames_held(), 0);
		close(m.file);
	}
}

static const struct test hostile_tests[] = {
	{ "kill_9_while_faulting_gives_all_frames_back", killed_while_faulting },
	{ "random_ioctls_do_no_harm", random_ioctls },
	{ "mutated_images_are_refused_or_harmless", mutated_images },
	{ "frames_go_with_the_last_descriptor_or_mapping", closed_in_any_order },
	{ 0 }
};
SUITE(hostile_tests, 0);
