// SPDX-License-Identifier: GPL-2.0-only
/*
 * Containers without a policy: the built-in FIFO with a second chance decides as
 * policies/fifo2.hp does, touch for touch. All reads are of one page.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "guest.h"

#define FILE_A DIR_DATA "builtin-a"
#define FILE_B DIR_DATA "builtin-b"
#define PAGES 96
#define FRAMES 60
#define TOUCHES 1500

static void open_one(struct map *m, const char *policy, const char *path,
		     size_t pages, uint64_t frames, uint32_t flags)
{
	struct hipec_load load = {
		.flags = flags, .frames = frames, .cluster = 1,
	};
	void *image = NULL;
	size_t size = 0;
	int ret;

	if (policy)
		read_image(policy, &image, &size);
	load.image = (uintptr_t)image;
	load.image_size = size;
	m->pages = pages;
	m->file = open(path, O_RDONLY);
	m->container = hipec_open();
	CHECK(m->file >= 0 && m->container >= 0);
	ret = hipec_load_args(m->container, &load);
	if (ret)
		FAIL("load: %s", strerror(-ret));
	free(image);
	m->region = hipec_attach(m->container, m->file, 0, 0, false, NULL);
	CHECK(m->region >= 0);
	m->base = mmap(NULL, pages * PAGE_BYTES, PROT_READ, MAP_SHARED,
		       m->region, 0);
	CHECK(m->base != MAP_FAILED);
}

/* Round and round, anywhere, or rather low ones. */
static size_t next_page(int kind, size_t step)
{
	static uint32_t seed = 1;
	uint32_t r;

	seed = seed * 1664525 + 1013904223;
	r = seed >> 16;
	if (kind == 0)
		return step % PAGES;
	return kind == 1 ? r % PAGES : (r % PAGES) * (r / PAGES % PAGES) / PAGES;
}

/* Each touch faults in both containers or in neither. */
static void same_decisions(uint32_t flags)
{
	struct hipec_status sa, sb;
	struct map a, b;
	size_t step, page;
	int kind;

	make_file(FILE_A, PAGES * PAGE_BYTES);
	make_file(FILE_B, PAGES * PAGE_BYTES);
	for (kind = 0; kind < 3; kind++) {
		open_one(&a, "fifo2", FILE_A, PAGES, FRAMES, flags);
		open_one(&b, NULL, FILE_B, PAGES, FRAMES, flags);
		for (step = 0; step < TOUCHES; step++) {
			page = next_page(kind, step);
			touch(&a, page);
			touch(&b, page);
			sa = get_status(a.container);
			sb = get_status(b.container);
			if (sa.counters.faults != sb.counters.faults)
				FAIL("kind %d, touch %zu of page %zu: fifo2 has had %llu faults, the built-in one %llu",
				     kind, step, page,
				     (unsigned long long)sa.counters.faults,
				     (unsigned long long)sb.counters.faults);
		}
		CHECK_EQ(sb.counters.evictions, sa.counters.evictions);
		CHECK_EQ(sb.counters.faults, sb.counters.evictions + FRAMES);
		/* A second chance is worth something where pages are not equal. */
		if (kind == 0)
			CHECK_EQ(sb.counters.faults, TOUCHES);
		else
			CHECK_LE(sb.counters.faults, TOUCHES / 2);
		CHECK(!strcmp(sb.policy, "builtin"));
		CHECK_EQ(sb.exit.kind, 0);
		CHECK_EQ(sb.counters.events, 0);
		CHECK_EQ(sb.counters.helped, 0);
		CHECK_EQ(sb.counters.windows, 0);
		close_map(&a);
		close_map(&b);
	}
}

static void decides_as_fifo2(void)
{
	same_decisions(0);
}

static void decides_as_fifo2_at_its_limit(void)
{
	same_decisions(HIPEC_LOAD_SHARE);
}

/*
 * "no-page" ends at its first Replace: from there on the built-in one is in
 * charge, of pages in the order in which they came, as beside it.
 */
static void takes_over(void)
{
	struct map a, b;
	size_t step, page;

	make_file(FILE_A, PAGES * PAGE_BYTES);
	make_file(FILE_B, PAGES * PAGE_BYTES);
	open_one(&a, "no-page", FILE_A, PAGES, FRAMES, 0);
	open_one(&b, NULL, FILE_B, PAGES, FRAMES, 0);
	for (step = 0; step < TOUCHES; step++) {
		page = step < FRAMES ? step : next_page(2, step);
		touch(&a, page);
		touch(&b, page);
		CHECK_EQ(get_status(b.container).counters.faults,
			 get_status(a.container).counters.faults);
	}
	CHECK(get_status(a.container).exit.kind);
	CHECK_EQ(get_status(a.container).frames, FRAMES);
	close_map(&a);
	close_map(&b);
}

/* Both or neither of address and size; and it is one container, once. */
static void load_wants_no_image_or_a_good_one(void)
{
	struct hipec_load load = { .frames = 4 };
	struct hipec_operand o;
	struct hipec_query q;
	int fd = hipec_open();

	CHECK(fd >= 0);
	CHECK(!hipec_query(fd, &q) && q.features & HIPEC_FEATURE_BUILTIN);
	load.image = (uintptr_t)&load;
	CHECK_EQ(hipec_load_args(fd, &load), -EINVAL);
	load.image = 0;
	load.image_size = 1;
	CHECK_EQ(hipec_load_args(fd, &load), -EFAULT);
	load.image_size = 0;
	load.frames = 0;
	CHECK_EQ(hipec_load_args(fd, &load), -EINVAL);
	CHECK_EQ(hipec_load_file(fd, NULL, 4, 0, NULL, 0), 0);
	CHECK_EQ(hipec_load(fd, NULL, 0, 4, 0, NULL, 0), -EBUSY);
	CHECK(!hipec_operand(fd, 0, 2, &o) && !strcmp(o.name, "inactive_queue"));
	CHECK_EQ(hipec_operand(fd, 0, 3, &o), -ENOENT);
	CHECK_EQ(get_status(fd).limit, 4);
	close(fd);
}

/*
 * A has 300 of the pool's 512 frames, B all others and then 188 of A's: the
 * manager's choice, page for page, and A is not asked for another.
 */
static void the_pool_chooses_for_it(void)
{
	struct hipec_status s;
	struct map a, b;
	size_t i;

	make_file(FILE_A, 300 * PAGE_BYTES);
	make_file(FILE_B, 400 * PAGE_BYTES);
	open_one(&a, NULL, FILE_A, 300, 300, HIPEC_LOAD_SHARE);
	open_one(&b, NULL, FILE_B, 400, 400, HIPEC_LOAD_SHARE);
	for (i = 0; i < 300; i++)
		touch(&a, i);
	for (i = 0; i < 400; i++)
		touch(&b, i);
	s = get_status(a.container);
	CHECK_EQ(s.counters.given, 188);
	CHECK_EQ(s.counters.moved, 0);
	CHECK_EQ(s.frames, 112);
	for (i = 188; i < 300; i++)
		touch(&a, i);
	CHECK_EQ(get_status(a.container).counters.faults, 300);
	close_map(&a);
	close_map(&b);
}

#define MGLRU "/sys/kernel/mm/lru_gen/enabled"

static void set_mglru(const char *text)
{
	int fd = open(MGLRU, O_WRONLY);

	if (fd >= 0)
		CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static char mglru[16];

static void reset_mglru(void)
{
	set_mglru(mglru);
}

static bool is_referenced(const struct map *m, size_t page)
{
	struct hipec_why why = { .offset = page * PAGE_BYTES };

	CHECK_EQ(hipec_why(m->container, 0, &why), 0);
	CHECK(why.state & HIPEC_WHY_RESIDENT);
	return why.state & HIPEC_WHY_REFERENCED;
}

/* Unmapped again and again by the program, a page stays what it is. */
static void referenced_when_unmapped(void)
{
	struct map m;
	size_t i;

	make_file(FILE_A, 8 * PAGE_BYTES);
	open_one(&m, NULL, FILE_A, 8, 8, 0);
	for (i = 0; i < 5; i++) {
		touch(&m, 0);
		CHECK(is_referenced(&m, 0));
		CHECK(!madvise(m.base, PAGE_BYTES, MADV_DONTNEED));
		CHECK(is_referenced(&m, 0));
	}
	close_map(&m);
}

/* The kernel keeps PG_referenced in two ways. */
static void referenced_in_both(void)
{
	int fd = open(MGLRU, O_RDONLY);

	referenced_when_unmapped();
	if (fd < 0 || read(fd, mglru, sizeof(mglru) - 1) <= 0) {
		printf("# no MGLRU here\n");
		return;
	}
	close(fd);
	atexit(reset_mglru);
	set_mglru(strtol(mglru, NULL, 0) & 1 ? "n" : "y");
	referenced_when_unmapped();
}

static const struct test builtin_tests[] = {
	{ "builtin_decides_as_fifo2_does", decides_as_fifo2 },
	{ "builtin_decides_as_fifo2_does_at_its_limit",
	  decides_as_fifo2_at_its_limit },
	{ "builtin_takes_over_when_a_policy_ends", takes_over },
	{ "builtin_needs_no_image_or_a_good_one",
	  load_wants_no_image_or_a_good_one },
	{ "builtin_containers_lose_what_the_pool_chooses", the_pool_chooses_for_it },
	{ "referenced_pages_stay_so_when_they_are_unmapped", referenced_in_both },
	{ 0 }
};
SUITE(builtin_tests, 0);
