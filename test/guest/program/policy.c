// SPDX-License-Identifier: GPL-2.0-only
/*
 * What commands do to real pages, and what happens when a policy does not do
 * its part. The policies are in policies/, one for each claim.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "../../../module/include/uapi/hipec_ops.h"
#include "guest.h"

#define FILE_P DIR_DATA "policy"

enum {
#define X(name, code, text) EXIT_##name = code,
	HIPEC_EXIT_KINDS(X)
#undef X
};

static struct hipec_status sweep(struct map *m, size_t first, size_t last)
{
	for (; first < last; first++)
		touch(m, first);
	return get_status(m->container);
}

static void write_page(struct map *m, size_t page, uint64_t word)
{
	*(volatile uint64_t *)(m->base + page * PAGE_BYTES) = word;
}

/* Faults on page 0, touched after every other page, in a sweep of @n pages. */
static size_t faults_on_hot_page(const char *policy, size_t n)
{
	struct map m;
	size_t i, faults;

	make_file(FILE_P, (n + 1) * PAGE_BYTES);
	open_map(&m, policy, FILE_P, 16, 1, false);
	for (i = 1; i <= n; i++) {
		touch(&m, i);
		touch(&m, 0);
	}
	faults = get_status(m.container).counters.faults - n;
	close_map(&m);
	return faults;
}

/*
 * FIFO2 resets the bits of two thirds of the pages when it first runs and takes
 * the oldest of them, page 0's or its neighbour's, before anybody could touch
 * it. From then on a touched page is never taken: the bit in the page table,
 * its reset and the TLB flush work. FIFO takes page 0 every 15 pages.
 */
static void second_chance(void)
{
	CHECK_LE(faults_on_hot_page("fifo2", 150), 2);
	CHECK_EQ(faults_on_hot_page("fifo", 150), 10);
}

/* A policy that asks Mod keeps written pages and writes nothing. */
static void clean_first(void)
{
	struct map m;
	struct hipec_status s;

	make_file(FILE_P, 64 * PAGE_BYTES);
	open_map(&m, "clean-first", FILE_P, 8, 1, true);
	write_page(&m, 0, 100);
	write_page(&m, 3, 103);
	sweep(&m, 4, 64);
	s = get_status(m.container);
	CHECK_EQ(s.counters.written_pages, 0);
	CHECK_EQ(s.dirty, 2);
	CHECK_EQ(get_word(&m, 0), 100);
	CHECK_EQ(get_word(&m, 3), 103);
	CHECK_EQ(get_status(m.container).counters.faults, s.counters.faults);
	/* Reading did not mark a page modified. */
	CHECK_EQ(s.counters.refused, 0);
	close_map(&m);
}

static void set_reference(void)
{
	struct map m;
	struct hipec_status s;

	make_file(FILE_P, 64 * PAGE_BYTES);
	open_map(&m, "keep-first", FILE_P, 8, 1, false);
	s = sweep(&m, 0, 64);
	CHECK_EQ(s.counters.faults, 64);
	touch(&m, 0);
	CHECK_EQ(get_status(m.container).counters.faults, 64);
	CHECK_EQ(s.exit.kind, EXIT_NONE);
	close_map(&m);
}

/* Set(MODIFIED) makes a page be written; on a read-only region it is refused. */
static void set_modified(void)
{
	struct map m;
	struct hipec_status s;

	make_file(FILE_P, 32 * PAGE_BYTES);
	open_map(&m, "mark-modified", FILE_P, 8, 1, true);
	s = sweep(&m, 0, 32);
	CHECK_EQ(s.counters.evictions, 24);
	CHECK_EQ(s.counters.written_pages, 24);
	CHECK_EQ(s.dirty, 8);
	close_map(&m);
	open_map(&m, "mark-modified", FILE_P, 8, 1, false);
	s = sweep(&m, 0, 32);
	CHECK_EQ(s.counters.written_pages, 0);
	CHECK_EQ(s.dirty, 0);
	close_map(&m);
}

static void flush(void)
{
	struct map m;
	int i;

	make_file(FILE_P, 32 * PAGE_BYTES);
	open_map(&m, "flush-oldest", FILE_P, 8, 1, true);
	write_page(&m, 0, 7);
	touch(&m, 1);
	/* The second fault flushed page 0, which keeps its frame. */
	for (i = 0; i < 1000000; i++)
		if (get_status(m.container).counters.written_pages)
			break;
	CHECK_EQ(get_status(m.container).counters.written_pages, 1);
	CHECK_EQ(get_status(m.container).counters.evictions, 0);
	CHECK_EQ(get_word(&m, 0), 7);
	/* Written again, it is dirty again. */
	write_page(&m, 0, 8);
	CHECK_EQ(get_status(m.container).dirty, 1);
	close_map(&m);
}

static void unmap(void)
{
	struct map m;
	struct hipec_status s;

	make_file(FILE_P, 8 * PAGE_BYTES);
	open_map(&m, "unmap-previous", FILE_P, 8, 1, false);
	sweep(&m, 0, 8);
	s = sweep(&m, 0, 8);
	/* All but the last had lost their mapping, none its frame. */
	CHECK_EQ(s.counters.faults, 8);
	CHECK_EQ(s.counters.soft_faults, 7);
	CHECK_EQ(s.exit.kind, EXIT_NONE);
	close_map(&m);
}

/* Release gives frames back to the system, Request takes them again. */
static void release_and_request(void)
{
	struct map m;

	make_file(FILE_P, 32 * PAGE_BYTES);
	open_map(&m, "breathe", FILE_P, 8, 1, false);
	sweep(&m, 0, 8);
	CHECK_EQ(frames_held(), 8);
	touch(&m, 8);		/* Replace releases 4 and frees one */
	CHECK_EQ(frames_held(), 4);
	CHECK_EQ(get_status(m.container).frames, 4);
	touch(&m, 9);		/* then asks for 4: back to 8, no more */
	CHECK_EQ(frames_held(), 8);
	CHECK_EQ(get_status(m.container).exit.kind, EXIT_NONE);
	sweep(&m, 10, 32);
	CHECK_LE(frames_held(), 8);
	close_map(&m);
}

/* A policy that asks what addresses its pages have, and checks the answers. */
static void addresses(void)
{
	struct map m;
	struct hipec_status s;

	make_file(FILE_P, 32 * PAGE_BYTES);
	open_map(&m, "addresses", FILE_P, 8, 1, false);
	s = sweep(&m, 0, 32);
	CHECK_EQ(s.exit.kind, EXIT_NONE);
	CHECK_EQ(s.counters.faults, 32);
	CHECK_EQ(s.counters.helped, 0);
	close_map(&m);
}

/* The policy's death: named, readable, and the application does not notice. */
static void dies(const char *policy, uint32_t kind, uint32_t event)
{
	struct map m;
	struct hipec_status s;

	make_file(FILE_P, 32 * PAGE_BYTES);
	open_map(&m, policy, FILE_P, 8, 1, false);
	sweep(&m, 0, 32);
	s = sweep(&m, 0, 32);
	CHECK_EQ(s.exit.kind, kind);
	CHECK_EQ(s.exit.event, event);
	CHECK(s.exit.command > 0);
	CHECK(s.exit.line > 0);
	CHECK_EQ(s.resident, 8);
	/* FIFO is in charge: no hits on a sweep. */
	CHECK_EQ(s.counters.faults, 64);
	close_map(&m);
}

static void endless_page_fault(void)
{
	dies("endless-fault", EXIT_FUEL, 1);
}

static void endless_replace(void)
{
	dies("endless-replace", EXIT_FUEL, 2);
}

static void null_page(void)
{
	dies("no-page", EXIT_NO_PAGE, 2);
}

static void stale_page(void)
{
	dies("stale-page", EXIT_STALE_PAGE, 2);
}

static void division_by_zero(void)
{
	dies("div-zero", EXIT_DIV_ZERO, 1);
}

static void gives_none(void)
{
	struct map m;
	struct hipec_status s;

	make_file(FILE_P, 32 * PAGE_BYTES);
	open_map(&m, "hoard", FILE_P, 8, 1, false);
	s = sweep(&m, 0, 32);
	CHECK_EQ(s.counters.helped, 24);
	CHECK_EQ(s.counters.evictions, 24);
	CHECK_EQ(s.exit.kind, EXIT_NONE);
	close_map(&m);
}

/* The page of the fault itself cannot go before it is mapped. */
static void gives_the_faulted_page(void)
{
	struct map m;
	struct hipec_status s;

	make_file(FILE_P, 32 * PAGE_BYTES);
	open_map(&m, "decline", FILE_P, 8, 4, false);
	s = sweep(&m, 0, 32);
	CHECK(s.counters.refused >= 32);
	CHECK_EQ(s.counters.pages_in, 32);
	close_map(&m);
}

static void gives_all(void)
{
	struct map m;
	struct hipec_status s;

	make_file(FILE_P, 33 * PAGE_BYTES);
	open_map(&m, "spill", FILE_P, 8, 1, false);
	s = sweep(&m, 0, 33);
	/* Every 8 faults all pages go. */
	CHECK_EQ(s.counters.evictions, 32);
	CHECK_EQ(s.counters.faults, 33);
	CHECK_EQ(s.resident, 1);
	close_map(&m);
}

/* Two regions of one container have addresses one behind the other. */
static void two_regions(void)
{
	struct map m;
	uint64_t address = 1;
	unsigned char *p;
	int r;

	make_file(FILE_P, 16 * PAGE_BYTES);
	make_file(FILE_P "2", 16 * PAGE_BYTES);
	open_map(&m, "addresses", FILE_P, 8, 1, false);
	close(m.file);
	m.file = open(FILE_P "2", O_RDONLY);
	r = hipec_attach(m.container, m.file, 0, 0, false, &address);
	CHECK(r >= 0);
	CHECK_EQ(address, 16 * PAGE_BYTES);
	p = mmap(NULL, 16 * PAGE_BYTES, PROT_READ, MAP_SHARED, r, 0);
	CHECK(p != MAP_FAILED);
	sweep(&m, 0, 16);
	for (size_t i = 0; i < 16; i++)
		CHECK_EQ(*(volatile uint64_t *)(p + i * PAGE_BYTES),
			 page_word(i));
	CHECK_EQ(get_status(m.container).exit.kind, EXIT_NONE);
	CHECK_EQ(get_status(m.container).counters.faults, 32);
	/* One region ends, the other goes on. */
	munmap(p, 16 * PAGE_BYTES);
	close(r);
	CHECK_EQ(get_status(m.container).regions, 1);
	CHECK_EQ(get_status(m.container).resident, 0);
	sweep(&m, 0, 16);
	close_map(&m);
}

/*
 * A load needs two pages, and the policy gives up the one that came last: for the second
 * page another one goes, so each is read once.
 */
static void loads_across_pages(void)
{
	static const char *const policy[] = { "mru", "mru-touched", "mru-touch", "fifo" };
	const size_t pages = 512;
	struct hipec_status s;
	struct map m;
	size_t p, i;

	for (p = 0; p < 2 * sizeof(policy) / sizeof(*policy); p++) {
		make_file(FILE_P, pages * PAGE_BYTES);
		if (p % 2)
			map_shared(&m, policy[p / 2], FILE_P, 64, pages, false);
		else
			open_map(&m, policy[p / 2], FILE_P, 64, 1, false);
		for (i = 1; i < pages; i += 2)
			CHECK(load_across(m.base + i * PAGE_BYTES) >> 32 ==
			      (uint32_t)page_word(i));
		s = get_status(m.container);
		CHECK_EQ(s.counters.pages_in, pages);
		CHECK_LE(s.resident, 64);
		CHECK_EQ(s.exit.kind, 0);
		close_map(&m);
	}
}

static const struct test policy_tests[] = {
	{ "ref_and_set_work_on_the_hardware_bit", second_chance },
	{ "mod_tells_written_pages_from_read_ones", clean_first },
	{ "set_reference_marks_a_page", set_reference },
	{ "set_modified_marks_a_page_where_writing_is_allowed", set_modified },
	{ "flush_writes_and_keeps_the_page", flush },
	{ "unmap_keeps_the_frame", unmap },
	{ "release_and_request_change_the_reservation", release_and_request },
	{ "findva_and_findpa_agree_with_the_fault", addresses },
	{ "endless_page_fault_ends_the_policy", endless_page_fault },
	{ "endless_replace_ends_the_policy", endless_replace },
	{ "command_without_page_ends_the_policy", null_page },
	{ "command_on_a_gone_page_ends_the_policy", stale_page },
	{ "division_by_zero_ends_the_policy", division_by_zero },
	{ "replace_that_gives_none_is_helped", gives_none },
	{ "page_being_faulted_cannot_be_given_up", gives_the_faulted_page },
	{ "replace_may_give_all", gives_all },
	{ "loads_across_pages_of_regions_end_whatever_the_policy", loads_across_pages },
	{ "regions_of_a_container_share_frames_not_addresses", two_regions },
	{ 0 }
};
SUITE(policy_tests, 0);
