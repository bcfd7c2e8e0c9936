// SPDX-License-Identifier: GPL-2.0-only
/*
 * Live containers from outside: who may change them, revoked by hand, where a page
 * stands. By arithmetic: all reads are of one page.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_L DIR_DATA "live"
#define PAGES 64
#define FRAMES 16

enum {
#define X(name, code, text) EXIT_##name = code,
	HIPEC_EXIT_KINDS(X)
#undef X
};

static int swap_raw(int fd, struct hipec_swap *a)
{
	return ioctl(fd, HIPEC_IOC_SWAP, a) ? errno : 0;
}

/* As another user, in a child: what it gets. */
static int as_nobody(int (*fn)(uint64_t id), uint64_t id)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid)
		_exit(setgid(65534) || setuid(65534) ? 255 : fn(id));
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int other;	/* a descriptor that a child may use */

static int try_all(uint64_t id)
{
	struct hipec_why why = { .offset = 0 };

	return hipec_swap(other, id, NULL, 0, NULL, 0) == -ESRCH &&
	       hipec_revoke(other, id) == -ESRCH &&
	       hipec_why(other, id, &why) == -ESRCH &&
	       hipec_set_param_of(other, id, "youngest", 1) == -ESRCH ? 7 : 8;
}

static void arguments(void)
{
	struct { struct hipec_swap a; uint64_t more; } longer = { 0 };
	struct hipec_swap a = { .size = sizeof(a) };
	struct hipec_query q;
	struct hipec_param p;
	struct map m;
	uint64_t id;

	other = hipec_open();
	CHECK(other >= 0 && !hipec_query(other, &q));
	CHECK(q.features & HIPEC_FEATURE_SWAP);
	CHECK_EQ(swap_raw(other, &a), ENODATA);
	CHECK_EQ(hipec_revoke(other, 0), -ENODATA);
	make_file(FILE_L, 32 * PAGE_BYTES);
	open_map(&m, "ends", FILE_L, 8, 1, false);
	id = get_status(m.container).id;
	a.flags = 1;
	CHECK_EQ(swap_raw(m.container, &a), EINVAL);
	a.flags = 0;
	a.size = 4;
	CHECK_EQ(swap_raw(m.container, &a), EINVAL);
	a.size = sizeof(a);
	a.id = 1ull << 60;
	CHECK_EQ(swap_raw(m.container, &a), ESRCH);
	a.id = 0;
	a.image = 8;
	a.image_size = 100;
	CHECK_EQ(swap_raw(m.container, &a), EFAULT);
	a.image_size = HIPEC_MAX_IMAGE + 1;
	CHECK_EQ(swap_raw(m.container, &a), EINVAL);
	longer.a.size = sizeof(longer);
	longer.more = 1;
	CHECK_EQ(swap_raw(m.container, &longer.a), E2BIG);
	CHECK_EQ(swap_raw(m.region, &a), ENOTTY);
	CHECK(!strcmp(get_status(m.container).policy, "ends"));

	/* By its number, from another descriptor: its owner, and nobody else. */
	CHECK_EQ(as_nobody(try_all, id), 7);
	CHECK_EQ(hipec_param_of(other, id, "youngest", &p), 0);
	CHECK(p.value == 0 && p.high == 1);
	CHECK_EQ(hipec_set_param_of(other, id, "youngest", 1), 0);
	CHECK_EQ(hipec_set_param_of(other, id, "youngest", 2), -ERANGE);
	CHECK_EQ(operand_of(m.container, "youngest").value, 1);
	CHECK_EQ(pass_faults(&m, 0, 8), 8);
	longer.a.id = id;
	longer.more = 0;
	CHECK_EQ(swap_raw(other, &longer.a), 0);
	CHECK_EQ(longer.a.adopted, 8);
	CHECK(!strcmp(get_status(m.container).policy, "builtin"));
	close(other);
	close_map(&m);
}

static void revoked_by_hand(void)
{
	struct pollfd p = { .events = POLLIN };
	struct hipec_status s;
	struct map m;

	make_file(FILE_L, PAGES * PAGE_BYTES);
	open_map(&m, "mru", FILE_L, FRAMES, 1, false);
	CHECK_EQ(pass_faults(&m, 0, PAGES), PAGES);	/* 0 to 14, and 63, stay */
	p.fd = m.container;
	CHECK_EQ(poll(&p, 1, 0), 0);
	CHECK_EQ(hipec_revoke(m.container, 1ull << 60), -ESRCH);
	CHECK_EQ(hipec_revoke(m.container, 0), 0);
	CHECK_EQ(poll(&p, 1, 0), 1);
	s = get_status(m.container);
	CHECK_EQ(s.exit.kind, EXIT_BY_HAND);
	CHECK(strstr(s.exit.message, "revoked by hand"));
	CHECK_EQ(s.resident, FRAMES);
	CHECK_EQ(pass_faults(&m, 0, 15) + pass_faults(&m, 63, 64), 0);
	/* FIFO is in charge: no hits on a sweep. */
	pass_faults(&m, 0, PAGES);
	CHECK_EQ(pass_faults(&m, 0, PAGES), PAGES);
	CHECK_EQ(hipec_revoke(m.container, 0), -EALREADY);
	/* And another policy may come. */
	swap_to(m.container, "mru");
	CHECK_EQ(get_status(m.container).exit.kind, EXIT_NONE);
	pass_faults(&m, 0, PAGES);
	CHECK_EQ(pass_faults(&m, 0, PAGES), PAGES - FRAMES + 1);
	swap_to(m.container, NULL);
	CHECK_EQ(hipec_revoke(m.container, 0), -ENODATA);
	close_map(&m);
}

static struct hipec_why why(const struct map *m, size_t page)
{
	struct hipec_why w = { .offset = page * PAGE_BYTES };
	int ret = hipec_why(m->container, 0, &w);

	if (ret)
		FAIL("why %zu: %s", page, strerror(-ret));
	CHECK_EQ(w.address, page * PAGE_BYTES);
	return w;
}

/* Where a page is, to the policy; and that asking changes nothing. */
static void why_page(void)
{
	struct hipec_why w;
	struct map m;
	int i;

	make_file(FILE_L, PAGES * PAGE_BYTES);
	open_map(&m, "fifo", FILE_L, FRAMES, 1, true);
	pass_faults(&m, 0, 20);	/* 4 to 19 stay */
	w = why(&m, 3);
	CHECK_EQ(w.state, 0);
	CHECK_EQ(w.on, HIPEC_WHY_ON_NONE);
	w = why(&m, 4);
	CHECK_EQ(w.state, HIPEC_WHY_RESIDENT | HIPEC_WHY_MAPPED |
		 HIPEC_WHY_REFERENCED);
	CHECK_EQ(w.on, HIPEC_WHY_ON_POLICY);
	CHECK(!strcmp(w.queue, "fifo"));
	CHECK_EQ(w.slot, operand_of(m.container, "fifo").slot);
	CHECK(w.place == 0 && w.nr == FRAMES);
	CHECK(!w.start && w.length == PAGES * PAGE_BYTES);
	CHECK_EQ(w.file_offset, 4 * PAGE_BYTES);
	CHECK(!strcmp(w.file, FILE_L));
	CHECK_EQ(why(&m, 19).place, FRAMES - 1);
	*(volatile uint64_t *)(m.base + 7 * PAGE_BYTES) = 1;
	for (i = 0; i < 3; i++)
		CHECK(why(&m, 7).state & HIPEC_WHY_DIRTY);
	w = (struct hipec_why){ .offset = 9 * PAGE_BYTES + 5, .fd = m.file,
				.flags = HIPEC_WHY_BY_FILE };
	CHECK_EQ(hipec_why(m.container, 0, &w), 0);
	CHECK_EQ(w.address, 9 * PAGE_BYTES);
	CHECK_EQ(w.place, 5);
	w.fd = -1;
	CHECK_EQ(hipec_why(m.container, 0, &w), -EBADF);
	w.fd = m.container;
	CHECK_EQ(hipec_why(m.container, 0, &w), -ENXIO);
	w.fd = m.file;
	w.offset = PAGES * PAGE_BYTES;
	CHECK_EQ(hipec_why(m.container, 0, &w), -ENXIO);
	w.flags = 2;
	CHECK_EQ(hipec_why(m.container, 0, &w), -EINVAL);
	w.flags = 0;
	w.offset = UINT64_MAX;
	CHECK_EQ(hipec_why(m.container, 0, &w), -ENXIO);

	swap_to(m.container, NULL);	/* all on the active queue */
	CHECK_EQ(why(&m, 4).on, HIPEC_WHY_ON_FALLBACK);
	touch(&m, 20);
	CHECK_EQ(why(&m, 8).on, HIPEC_WHY_ON_BUILTIN);
	CHECK(!ftruncate(m.file, 30 * PAGE_BYTES));
	CHECK(why(&m, 31).state & HIPEC_WHY_BEHIND);
	close_map(&m);
}

/* A ghost, where it is remembered; and an element of a queue array. */
static void why_ghost(void)
{
	struct hipec_why w;
	struct map m;

	make_file(FILE_L, 16 * PAGE_BYTES);
	open_map(&m, "ghosts", FILE_L, 8, 1, false);
	pass_faults(&m, 0, 16);
	w = why(&m, 2);
	CHECK_EQ(w.state, HIPEC_WHY_GHOST);
	CHECK(!strcmp(w.queue, "past"));
	CHECK(w.place == 2 && w.nr == 8);
	close_map(&m);
}

static const struct test live_tests[] = {
	{ "swap_refuses_what_is_wrong", arguments },
	{ "revoke_ends_a_policy_by_hand", revoked_by_hand },
	{ "why_tells_where_a_page_is", why_page },
	{ "why_tells_what_is_remembered", why_ghost },
	{ 0 }
};
SUITE(live_tests, 0);
