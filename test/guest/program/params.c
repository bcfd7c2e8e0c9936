// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an application tells a policy that runs: parameters, and hints about pages.
 * By counts: all reads are of one page, and none is ahead.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "../../../module/include/uapi/hipec_ops.h"
#include "guest.h"

#define FILE_P DIR_DATA "params"
#define FILE_Q DIR_DATA "params-other"

static void open_ends(struct map *m)
{
	make_file(FILE_P, 32 * PAGE_BYTES);
	open_map(m, "ends", FILE_P, 8, 1, false);
}

/*
 * 32 pages in 8 frames. While the oldest goes, each pass misses each page. When the
 * youngest goes, pages 24 to 30 stay from the first pass on, and each pass misses
 * the 25 others. Then the oldest goes again, and with it what was kept.
 */
static void param_at_work(void)
{
	struct map m;

	open_ends(&m);
	CHECK_EQ(pass_faults(&m, 0, 32), 32);
	CHECK_EQ(pass_faults(&m, 0, 32), 32);
	CHECK_EQ(hipec_set_param(m.container, "youngest", 1), 0);
	CHECK_EQ(pass_faults(&m, 0, 32), 25);
	CHECK_EQ(pass_faults(&m, 0, 32), 25);
	CHECK_EQ(hipec_set_param(m.container, "youngest", 0), 0);
	CHECK_EQ(pass_faults(&m, 0, 32), 32);
	CHECK_EQ(get_status(m.container).exit.kind, 0);
	close_map(&m);
}

static int set_raw(int fd, const struct hipec_set_param *a)
{
	return ioctl(fd, HIPEC_IOC_SET_PARAM, a) ? errno : 0;
}

/* The struct of the ioctl, of a size, flags or a container that are wrong. */
static void struct_is_checked(int c, struct hipec_set_param a)
{
	struct { struct hipec_set_param a; uint64_t more; } longer = { 0 };

	a.id = 1ull << 60;
	CHECK_EQ(set_raw(c, &a), ESRCH);
	a.id = 0;
	a.flags = 1;
	CHECK_EQ(set_raw(c, &a), EINVAL);
	a.flags = 0;
	a.reserved = 1;
	CHECK_EQ(set_raw(c, &a), EINVAL);
	a.reserved = 0;
	a.size = 4;
	CHECK_EQ(set_raw(c, &a), EINVAL);
	longer.a = a;
	longer.a.size = sizeof(longer);
	CHECK_EQ(set_raw(c, &longer.a), 0);
	longer.more = 1;
	CHECK_EQ(set_raw(c, &longer.a), E2BIG);
}

static void param_refused(void)
{
	struct hipec_set_param a = { .size = sizeof(a) };
	int empty = hipec_open(), c;
	struct hipec_param p;
	struct hipec_query q;
	struct map m;

	CHECK(empty >= 0 && !hipec_query(empty, &q));
	CHECK(q.features & HIPEC_FEATURE_SET_PARAM);
	CHECK_EQ(hipec_set_param(empty, "youngest", 1), -ENODATA);
	CHECK_EQ(set_raw(empty, &a), ENODATA);
	open_ends(&m);
	c = m.container;
	CHECK_EQ(hipec_param(c, "youngest", &p), 0);
	CHECK(!p.value && !p.low && p.high == 1 && !p.at_load);
	CHECK_EQ(hipec_param(c, "fixed", &p), 0);
	CHECK(p.value == 3 && p.low == 1 && p.high == 9 && p.at_load);
	CHECK_EQ(hipec_param(c, "any", &p), 0);
	CHECK(p.value == -4 && p.low == INT64_MIN && p.high == INT64_MAX);
	CHECK_EQ(hipec_set_param(c, "youngest", 2), -ERANGE);
	CHECK_EQ(hipec_set_param(c, "youngest", -1), -ERANGE);
	CHECK_EQ(hipec_set_param(c, "fixed", 3), -EACCES);
	CHECK_EQ(hipec_set_param(c, "q", 0), -ENOENT);
	CHECK_EQ(hipec_set_param(c, "nothing", 0), -ENOENT);
	CHECK_EQ(hipec_set_param(c, "any", INT64_MIN), 0);
	CHECK_EQ(value_of(&m, "any"), INT64_MIN);
	CHECK_EQ(value_of(&m, "youngest"), 0);
	CHECK_EQ(value_of(&m, "fixed"), 3);

	a.slot = operand_of(c, "any").slot;
	a.value = 77;
	a.id = get_status(c).id;
	CHECK_EQ(set_raw(empty, &a), 0);	/* from another descriptor */
	CHECK_EQ(value_of(&m, "any"), 77);
	struct_is_checked(c, a);
	a.id = 0;
	a.slot = operand_of(c, "q").slot;
	CHECK_EQ(set_raw(c, &a), EPERM);
	a.slot = 1;		/* _free_count */
	CHECK_EQ(set_raw(c, &a), EPERM);
	a.slot = HIPEC_SLOT_SYSTEM;
	CHECK_EQ(set_raw(c, &a), ENOENT);
	a.slot = UINT32_MAX;
	CHECK_EQ(set_raw(c, &a), ENOENT);
	CHECK_EQ(set_raw(m.region, &a), ENOTTY);
	CHECK_EQ(value_of(&m, "any"), 77);
	close_map(&m);
	close(empty);
}

static volatile bool over;

/* One end, the other, a value that is refused, again and again. */
static void *turn(void *arg)
{
	int container = *(int *)arg, i;

	for (i = 0; !over; i++)
		CHECK_EQ(hipec_set_param(container, "youngest", i % 3),
			 i % 3 == 2 ? -ERANGE : 0);
	return NULL;
}

static void param_while_faulting(void)
{
	pthread_t thread;
	struct map m;
	int i;

	open_ends(&m);
	CHECK(!pthread_create(&thread, NULL, turn, &m.container));
	for (i = 0; i < rounds(20); i++)
		pass_faults(&m, 0, 32);
	over = true;
	CHECK(!pthread_join(thread, NULL));
	CHECK_EQ(get_status(m.container).exit.kind, 0);
	CHECK_EQ(get_status(m.container).counters.helped, 0);
	close_map(&m);
}

/*
 * 8 frames. Pages 0 to 3 come in, then 16 that the program says it gives up itself:
 * these go through the other four frames, and the first are still there. Without
 * hints none of them is. Of 20 faults all but 8 want a frame that is taken.
 */
static void hints_at_work(void)
{
	struct map m;

	make_file(FILE_P, 32 * PAGE_BYTES);
	open_map(&m, "hinted-first", FILE_P, 8, 1, false);
	CHECK_EQ(hipec_hint(m.region, 16 * PAGE_BYTES, 0, HIPEC_HINT_REPLACE), 0);
	CHECK_EQ(pass_faults(&m, 0, 4), 4);
	CHECK_EQ(pass_faults(&m, 16, 32), 16);
	CHECK_EQ(pass_faults(&m, 0, 4), 0);
	CHECK_EQ(value_of(&m, "wanted"), 12 * HIPEC_HINT_REPLACE);
	close_map(&m);

	open_map(&m, "hinted-first", FILE_P, 8, 1, false);
	CHECK_EQ(pass_faults(&m, 0, 4), 4);
	CHECK_EQ(pass_faults(&m, 16, 32), 16);
	CHECK_EQ(pass_faults(&m, 0, 4), 4);
	CHECK_EQ(value_of(&m, "wanted"), 0);
	close_map(&m);
}

static int hint_pages(const struct map *m, uint64_t first, uint64_t nr, uint32_t hint)
{
	return hipec_hint(m->region, first * PAGE_BYTES, nr * PAGE_BYTES, hint);
}

/* Each page's last hint is what each of its events has; there is no Remove's. */
static void hints_in_events(void)
{
	struct map m;
	size_t i;
	int c;

	make_file(FILE_P, 8 * PAGE_BYTES);
	open_map(&m, "hint-digits", FILE_P, 8, 1, false);
	CHECK_EQ(hint_pages(&m, 1, 1, HIPEC_HINT_SYNCH), 0);
	CHECK_EQ(hint_pages(&m, 2, 6, HIPEC_HINT_REPLACE), 0);
	CHECK_EQ(hint_pages(&m, 3, 1, HIPEC_HINT_RECOV), 0);
	CHECK_EQ(hint_pages(&m, 5, 1, HIPEC_HINT_NONE), 0);
	CHECK_EQ(hint_pages(&m, 7, 1, HIPEC_HINT_MAX), 0);
	for (i = 0; i < 8; i++)
		touch(&m, i);
	CHECK_EQ(value_of(&m, "faulted"), 0x00010203020002ffull);
	CHECK_EQ(value_of(&m, "accessed"), 0);
	/* All but the last have lost their mapping, and none its frame. */
	CHECK_EQ(hint_pages(&m, 0, 2, HIPEC_HINT_RECOV), 0);
	for (i = 0; i < 7; i++)
		touch(&m, i);
	CHECK_EQ(value_of(&m, "accessed"), 0x03030203020002ull);
	CHECK_EQ(get_status(m.container).counters.soft_faults, 7);
	CHECK_EQ(get_status(m.container).counters.faults, 8);
	c = m.container;
	m.container = dup(c);
	close_map(&m);
	CHECK_EQ(operand_of(c, "removed").value, 0x0101010101010101ull);
	close(c);
}

/* Pages 4094 to 4097, on both sides of what one piece of memory holds. */
static void hints_far_apart(void)
{
	struct map m;
	size_t i;
	int fd = open(FILE_P, O_RDWR | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0 && !ftruncate(fd, 3 * 4096 * PAGE_BYTES));
	close(fd);
	open_map(&m, "hint-digits", FILE_P, 16, 1, false);
	CHECK_EQ(hint_pages(&m, 4094, 4, 7), 0);
	CHECK_EQ(hint_pages(&m, 12287, 1, 9), 0);
	for (i = 4093; i < 4099; i++)
		get_word(&m, i);
	get_word(&m, 12286);
	get_word(&m, 12287);
	CHECK_EQ(value_of(&m, "faulted"), 0x0007070707000009ull);
	/* To all, and to none again. */
	CHECK_EQ(hipec_hint(m.region, 0, 0, 5), 0);
	get_word(&m, 0);
	get_word(&m, 8000);
	CHECK_EQ(hipec_hint(m.region, 0, 0, HIPEC_HINT_NONE), 0);
	get_word(&m, 2);
	CHECK_EQ(value_of(&m, "faulted") & 0xffffff, 0x050500);
	close_map(&m);
}

/* The second region's page 0 is not the first one's, though both are hinted. */
static void hints_of_two_regions(void)
{
	unsigned char *p;
	struct map m;
	int r;

	make_file(FILE_P, 8 * PAGE_BYTES);
	make_file(FILE_Q, 8 * PAGE_BYTES);
	open_map(&m, "hint-digits", FILE_P, 16, 1, false);
	close(m.file);
	m.file = open(FILE_Q, O_RDONLY);
	r = hipec_attach(m.container, m.file, 0, 0, false, NULL);
	CHECK(r >= 0);
	p = mmap(NULL, 8 * PAGE_BYTES, PROT_READ, MAP_SHARED, r, 0);
	CHECK(p != MAP_FAILED);
	CHECK_EQ(hipec_hint(m.region, 7 * PAGE_BYTES, PAGE_BYTES, 1), 0);
	CHECK_EQ(hipec_hint(r, 0, PAGE_BYTES, 2), 0);
	CHECK_EQ(*(volatile uint64_t *)p, page_word(0));
	touch(&m, 0);
	touch(&m, 7);
	CHECK_EQ(*(volatile uint64_t *)(p + 7 * PAGE_BYTES), page_word(7));
	CHECK_EQ(value_of(&m, "faulted"), 0x02000100);
	munmap(p, 8 * PAGE_BYTES);
	close(r);
	close_map(&m);
}

static int hint_raw(int fd, const struct hipec_hint *a)
{
	return ioctl(fd, HIPEC_IOC_HINT, a) ? errno : 0;
}

static void hint_refused(void)
{
	struct hipec_hint a = { .size = sizeof(a) };
	struct hipec_query q;
	struct map m;

	make_file(FILE_P, 8 * PAGE_BYTES);
	open_map(&m, "fifo", FILE_P, 8, 1, false);
	CHECK(!hipec_query(m.container, &q));
	CHECK(q.features & HIPEC_FEATURE_HINT);
	CHECK_EQ(hipec_hint(m.region, 0, 0, HIPEC_HINT_MAX + 1), -EINVAL);
	CHECK_EQ(hipec_hint(m.region, 100, PAGE_BYTES, 1), -EINVAL);
	CHECK_EQ(hipec_hint(m.region, 0, 100, 1), -EINVAL);
	CHECK_EQ(hint_pages(&m, 8, 0, 1), -ERANGE);
	CHECK_EQ(hint_pages(&m, 0, 9, 1), -ERANGE);
	CHECK_EQ(hint_pages(&m, 7, 2, 1), -ERANGE);
	CHECK_EQ(hipec_hint(m.region, -PAGE_BYTES, 2 * PAGE_BYTES, 1), -ERANGE);
	CHECK_EQ(hipec_hint(m.region, PAGE_BYTES, -PAGE_BYTES, 1), -ERANGE);
	CHECK_EQ(hint_pages(&m, 7, 1, 1), 0);
	CHECK_EQ(hipec_hint(m.container, 0, 0, 1), -ENOTTY);
	CHECK_EQ(hipec_hint(m.file, 0, 0, 1), -ENOTTY);
	a.flags = 1;
	CHECK_EQ(hint_raw(m.region, &a), EINVAL);
	a.flags = 0;
	a.reserved = 1;
	CHECK_EQ(hint_raw(m.region, &a), EINVAL);
	a.reserved = 0;
	a.size = 7;
	CHECK_EQ(hint_raw(m.region, &a), EINVAL);
	a.size = 8;		/* all of it, to NONE */
	CHECK_EQ(hint_raw(m.region, &a), 0);
	CHECK_EQ(ioctl(m.region, HIPEC_IOC_QUERY, &q) ? errno : 0, ENOTTY);
	CHECK_EQ(ioctl(m.region, _IO('h', 0x88)) ? errno : 0, ENOTTY);
	/* It is the policy that does something with hints, and this one does not. */
	CHECK_EQ(pass_faults(&m, 0, 8), 8);
	close_map(&m);
}

/* Threads hint and fault at once; what comes out is somebody's hint. */
static void *hint_all(void *arg)
{
	const struct map *m = arg;
	uint32_t i;

	for (i = 0; !over; i++)
		CHECK_EQ(hint_pages(m, i % 16, 16, i % 2 ? 0x11 : 0x22), 0);
	return NULL;
}

static void hint_while_faulting(void)
{
	pthread_t thread[2];
	uint64_t digits;
	struct map m;
	int i;

	make_file(FILE_P, 32 * PAGE_BYTES);
	open_map(&m, "hint-digits", FILE_P, 8, 1, false);
	CHECK_EQ(hint_pages(&m, 0, 32, 0x11), 0);
	for (i = 0; i < 2; i++)
		CHECK(!pthread_create(&thread[i], NULL, hint_all, &m));
	for (i = 0; i < rounds(20); i++)
		pass_faults(&m, 0, 32);
	over = true;
	for (i = 0; i < 2; i++)
		CHECK(!pthread_join(thread[i], NULL));
	for (digits = value_of(&m, "faulted"); digits; digits >>= 8)
		CHECK((digits & 0xff) == 0x11 || (digits & 0xff) == 0x22);
	close_map(&m);
}

static const struct test param_tests[] = {
	{ "param_says_from_then_on_which_page_goes", param_at_work },
	{ "param_is_set_within_its_range_or_not_at_all", param_refused },
	{ "param_may_be_set_while_faults_are_served", param_while_faulting },
	{ "hints_say_which_pages_go_first", hints_at_work },
	{ "hint_of_a_page_is_in_its_events", hints_in_events },
	{ "hints_are_kept_for_large_regions", hints_far_apart },
	{ "hints_are_of_one_region", hints_of_two_regions },
	{ "hint_refuses_what_is_wrong", hint_refused },
	{ "hints_may_change_while_faults_are_served", hint_while_faulting },
	{ }
};
SUITE(param_tests, 0);
