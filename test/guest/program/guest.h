/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests that run in the guest against the module. Each test is a function in a
 * table, each table a SUITE(); main.c runs each in a child of its own and afterwards checks that no
 * frame is held: a leak fails the test that caused it.
 */
#ifndef HIPEC_TEST_GUEST_H
#define HIPEC_TEST_GUEST_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../userlib/lib/hipec.h"

#define PAGE_BYTES 4096ul
#define DIR_POLICIES "/hipec/policies/"
#define DIR_DATA "/data/"	/* ext4 on the virtio disk */

struct test {
	const char *name;	/* a claim */
	void (*fn)(void);
};

/* Tests of a file. */
struct suite {
	const struct test *tests;	/* up to one without a name */
	enum {
		ON_EACH_FS = 1,		/* they are to pass on each file system */
		BY_NAME = 2,		/* they run only by name */
	} kind;
};

/*
 * SUITE() puts @tests where main.c finds them: a file needs no other line to have its tests run.
 * The linker makes the bounds from the section's name; suites stand in the order of their files.
 */
#define SUITE(tests, kind)						\
	static const struct suite suite_of_##tests = { tests, kind };	\
	static const struct suite *const pointer_to_##tests		\
		__attribute__((used, section("suites"))) = &suite_of_##tests

extern const struct suite *const __start_suites[], *const __stop_suites[];

/* A failed check ends the test, with its place and what was found. */
#define FAIL(...) do {						\
	printf("# %s:%d: ", __FILE__, __LINE__);		\
	printf(__VA_ARGS__);					\
	printf("\n");						\
	exit(1);						\
} while (0)

#define CHECK(cond) do {					\
	if (!(cond))						\
		FAIL("%s (errno %d)", #cond, errno);		\
} while (0)

#define CHECK_EQ(got, want) do {				\
	long long g_ = (got), w_ = (want);			\
	if (g_ != w_)						\
		FAIL("%s is %lld, want %lld (errno %d)", #got, g_, w_, errno); \
} while (0)

#define CHECK_LE(got, limit) do {				\
	long long g_ = (got), l_ = (limit);			\
	if (g_ > l_)						\
		FAIL("%s is %lld, over %lld", #got, g_, l_);	\
} while (0)

/* A container with one region over a whole file, mapped. */
struct map {
	int container, region, file;
	unsigned char *base;
	size_t pages;
};

void read_image(const char *name, void **image, size_t *size);
int load_policy(const char *name, uint64_t frames, uint32_t cluster);
void make_file(const char *path, size_t bytes);
void drop_pages(const char *path);
void open_map(struct map *m, const char *policy, const char *path,
	      uint64_t frames, uint32_t cluster, bool writable);
void close_map(struct map *m);
/*
 * durable.c: write a text to a file of the kernel's; wait until a process is in state D; what a file
 * has on its disk. A disk that goes with the program, and can be told to answer nothing.
 */
#define CUT_DISK "/dev/dm-0"
void put_text(const char *path, const char *text);
void wait_until_asleep(pid_t pid);
uint64_t stored_word(const char *path, size_t page);
void make_cut_disk(int megabytes);
void cut_disk_answers(bool answers);
/* pool.c: a container that shares, clusters of 1; open_shared() makes the file. */
int load_shared(const char *name, uint64_t frames, char *log, size_t log_size);
void map_shared(struct map *m, const char *policy, const char *path,
		uint64_t frames, size_t pages, bool writable);
void open_shared(struct map *m, const char *policy, const char *path,
		 uint64_t frames, size_t pages, bool writable);
struct hipec_status touch_range(struct map *m, size_t first, size_t end);
struct hipec_status touch_beside(struct map *m, size_t first, size_t end,
				 const struct map *other);
void wait_named(int container);
uint64_t pool_frames(uint64_t max);
void oldest_frames_go(uint64_t pool, size_t pages);
void set_switch(const char *path, const char *value);

/* cache_maps.c: a load of the last bytes of a page, and the first of the next. */
uint64_t load_across(const unsigned char *end_of_page);
/* cache_league.c: policies beside the one that runs. */
int join(int c, const char *policy);
struct hipec_standing standing_of(int c, uint32_t team);
bool runs_soon(int c, uint32_t team);

/* cache.c: files in place. */
int open_cache(const char *policy, uint64_t frames);
int take_file(int container, const char *path, int flags);
void stay_here(void);
bool go_to(int cpu);
void sweep_read(int file, size_t pages);
size_t nr_in_memory(const struct map *m, size_t first, size_t nr);
int open_cache_with(const char *policy, uint64_t frames, uint32_t flags);
int cache_reads(const char *policy, long pages, long frames, long reads, bool judged);

/* disks.c */
int nr_workers_asleep(void);

/* cgroup.c: a memory cgroup is named as its folder is. */
#define CGROUP "/sys/fs/cgroup/"
void write_group(const char *group, const char *file, const char *text);
void set_group(const char *group, const char *file, long value);
void new_group(const char *group, long limit);
void join_group(const char *group);
long of_group(const char *group, const char *file, const char *key);
long oom_kills(const char *group);
long charged_to(const char *group);
int in_group(const char *group, void (*fn)(void));

struct hipec_status get_status(int container);
void wait_resident(int c, uint64_t pages);
struct hipec_operand operand_of(int container, const char *name);
uint64_t frames_held(void);
long type_of_data(void);
bool data_has_no_disk(void);
int rounds(int nr);

/* What make_file() puts first on page @page. */
static inline uint64_t page_word(size_t page)
{
	return page * 0x9e3779b97f4a7c15u + 1;
}

static inline uint64_t get_word(const struct map *m, size_t page)
{
	return *(volatile uint64_t *)(m->base + page * PAGE_BYTES);
}

static inline void touch(const struct map *m, size_t page)
{
	if (get_word(m, page) != page_word(page))
		FAIL("page %zu has wrong data", page);
}

static inline int64_t value_of(const struct map *m, const char *name)
{
	return operand_of(m->container, name).value;
}

static inline uint64_t nr_faults(const struct map *m)
{
	return get_status(m->container).counters.faults;
}

/* Faults of one pass over pages [first, end). */
static inline uint64_t pass_faults(const struct map *m, size_t first, size_t end)
{
	uint64_t before = nr_faults(m);

	for (; first < end; first++)
		touch(m, first);
	return nr_faults(m) - before;
}

bool gets_sigbus(const struct map *m, size_t page);
bool store_gets_sigbus(const struct map *m, size_t page);

/* swap.c: NULL: the built-in replacement */
int swap_id(int fd, uint64_t id, const char *policy, char *log, size_t size);
void swap_to(int container, const char *policy);

/* machine.c: tracepoints of the module */
void trace_event(const char *event, bool on);
void trace_text(char *text, size_t size);

/* share.c: what the program does when it was started by a test of its own. */
int map_after_exec(int region, size_t pages);

/* record.c: what the program does for the host, which replays it. */
int record_work(const char *image, const char *out, uint32_t seed);

/* context.c: contexts of known calls, and what the program does in another run. */
int print_contexts(const char *policy);

/* load.c: what the program does before the module is unloaded. */
int leave_ends(void);

/* stamp.c: what the program does in a crash, and after it. */
int stamp(const char *path, int number, int rounds_wanted, uint32_t seed);
int stamp_check(const char *path, int number);

#endif /* HIPEC_TEST_GUEST_H */
