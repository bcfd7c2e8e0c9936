// SPDX-License-Identifier: GPL-2.0-only
/*
 * HIPEC_IOC_SAMPLE: each access that is sampled, with a context that was explained
 * before, and what is lost is counted.
 */
#define _GNU_SOURCE	/* setresuid() */
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../../../module/include/uapi/hipec_sample.h"
#include "../../../module/context/stack.h"
#include "paths/callpaths.h"
#include "guest.h"

#define FILE_S DIR_DATA "samples"
#define MOST 4096

static struct hipec_sample_entry entry[MOST];

static int start_samples(struct map *m, uint64_t threshold, uint32_t ring)
{
	int fd = hipec_sample(m->container, 0, threshold, ring);

	if (fd < 0)
		FAIL("sample: %s", strerror(-fd));
	CHECK(!fcntl(fd, F_SETFL, O_NONBLOCK));
	return fd;
}

/* All that there is. Return: entries. */
static int read_all(int fd)
{
	int nr = 0;
	ssize_t n;

	while ((n = read(fd, entry + nr, sizeof(entry) - nr * sizeof(*entry))) > 0) {
		CHECK(!(n % sizeof(*entry)));
		nr += n / sizeof(*entry);
	}
	CHECK(!n || errno == EAGAIN);
	return nr;
}

static bool is_access(const struct hipec_sample_entry *e)
{
	return e->kind >= HIPEC_SAMPLE_FAULT && e->kind <= HIPEC_SAMPLE_HARVEST;
}

/* Entries of a file's text. */
static int text_entries(const struct hipec_sample_entry *e)
{
	return e->kind == HIPEC_SAMPLE_FILE ?
		(e->index + e->nr + sizeof(*e) - 1) / sizeof(*e) : 0;
}

/* Accesses, of this kind, and that no other entry is torn. */
static int count(int nr, unsigned int kind)
{
	int i, found = 0;

	for (i = 0; i < nr; i += 1 + text_entries(&entry[i])) {
		CHECK(entry[i].kind >= 1 && entry[i].kind <= HIPEC_SAMPLE_FILE);
		found += entry[i].kind == kind;
	}
	CHECK_EQ(i, nr);
	return found;
}

static void open_samples(struct map *m, const char *policy)
{
	make_file(FILE_S, 64 * PAGE_BYTES);
	open_map(m, policy, FILE_S, 16, 1, false);
}

/* Points of a context that begin at @e make it, and their files were told. */
static void check_points(int first, int nr)
{
	struct hipec_stack_point point[HIPEC_SAMPLE_MAX_POINTS];
	const struct hipec_sample_entry *e = &entry[first];
	char own[256], path[HIPEC_SAMPLE_MAX_PATH + 1];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	uint32_t i;
	int j;

	CHECK(n > 0);
	own[n] = 0;
	CHECK(e->nr && e->nr <= HIPEC_SAMPLE_MAX_POINTS &&
	      first + (int)e->nr <= nr);
	for (i = 0; i < e->nr; i++) {
		CHECK(e[i].kind == HIPEC_SAMPLE_POINT && e[i].index == i &&
		      e[i].what == e->what && e[i].nr == e->nr);
		point[i] = (struct hipec_stack_point){ e[i].more[0], e[i].more[1] };
		for (j = 0; j < first; j += 1 + text_entries(&entry[j]))
			if (entry[j].kind == HIPEC_SAMPLE_FILE &&
			    entry[j].what == point[i].file)
				break;
		CHECK(j < first);
		memcpy(path, (char *)&entry[j + 1] + entry[j].index, entry[j].nr);
		path[entry[j].nr] = 0;
		if (strcmp(path, own))
			FAIL("a point in %s, want %s", path, own);
		CHECK(entry[j].index && entry[j].what ==
		      context_hash(CONTEXT_NONE, &entry[j + 1], entry[j].index));
	}
	CHECK(hipec_stack_context(point, e->nr) == e->what);
}

/* Every access, in order, each with a context that was explained before. */
static void all_accesses(void)
{
	int fd, nr, i, j, accesses = 0;
	struct map m;

	open_samples(&m, "lru");
	fd = start_samples(&m, HIPEC_SAMPLE_ALL, 0);
	for (i = 0; i < 40; i++)
		(i % 2 ? calls_frames.one : calls_scan.two)(m.base + i * PAGE_BYTES);
	CHECK(!madvise(m.base, 64 * PAGE_BYTES, MADV_DONTNEED));
	calls_frames.one(m.base + 39 * PAGE_BYTES);
	nr = read_all(fd);
	for (i = 0; i < nr; i += 1 + text_entries(&entry[i])) {
		const struct hipec_sample_entry *e = &entry[i];

		if (!is_access(e))
			continue;
		CHECK_EQ(e->more[0], ++accesses);
		if (e->kind == HIPEC_SAMPLE_HARVEST) {
			CHECK(!e->what);
			continue;
		}
		CHECK(e->what && !e->index);
		for (j = 0; j < i; j += 1 + text_entries(&entry[j]))
			if (entry[j].kind == HIPEC_SAMPLE_POINT &&
			    entry[j].what == e->what && !entry[j].index)
				break;
		CHECK(j < i);
		check_points(j, nr);
	}
	CHECK_EQ(count(nr, HIPEC_SAMPLE_FAULT), 40);
	CHECK_EQ(count(nr, HIPEC_SAMPLE_SOFT), 1);
	CHECK_EQ(count(nr, HIPEC_SAMPLE_LOST), 0);
	/* One context a call site, each told once. */
	CHECK_LE(count(nr, HIPEC_SAMPLE_POINT), 3 * HIPEC_SAMPLE_MAX_POINTS);
	CHECK_EQ(count(nr, HIPEC_SAMPLE_FILE), 1);
	close(fd);
	close_map(&m);
}

/* Pages whose hash is below the threshold, and all that happens to these. */
static void by_hash(void)
{
	uint64_t threshold = HIPEC_SAMPLE_ALL / 4;
	int fd, nr, i, want = 0;
	struct map m;

	open_samples(&m, "fifo");
	fd = start_samples(&m, threshold, 0);
	touch_range(&m, 0, 64);
	touch_range(&m, 0, 64);
	nr = read_all(fd);
	for (i = 0; i < 64; i++)
		want += hipec_sample_hash(i) < threshold;
	CHECK(want > 4 && want < 40);
	CHECK_EQ(count(nr, HIPEC_SAMPLE_FAULT), 2 * want);
	for (i = 0; i < nr; i += 1 + text_entries(&entry[i]))
		if (is_access(&entry[i]))
			CHECK(hipec_sample_hash(entry[i].nr) < threshold);
	close(fd);
	fd = start_samples(&m, 0, 0);
	touch_range(&m, 0, 64);
	CHECK_EQ(read_all(fd), 0);
	close(fd);
	close_map(&m);
}

/* Faults do not wait for a reader; what it has missed it is told. */
static void lost(void)
{
	struct map m;
	int fd, nr, i, told = 0;

	open_samples(&m, "fifo");
	fd = start_samples(&m, HIPEC_SAMPLE_ALL, HIPEC_RECORD_MIN_RING);
	for (i = 0; i < 10; i++)
		touch_range(&m, 0, 64);
	nr = read_all(fd);
	CHECK_LE(nr * sizeof(*entry), HIPEC_RECORD_MIN_RING);
	told = count(nr, HIPEC_SAMPLE_FAULT);
	touch_range(&m, 0, 1);
	nr = read_all(fd);
	CHECK_EQ(count(nr, HIPEC_SAMPLE_LOST), 1);
	for (i = 0; i < nr; i += 1 + text_entries(&entry[i]))
		if (entry[i].kind == HIPEC_SAMPLE_LOST)
			told += entry[i].what;
	CHECK_EQ(told, 640);
	close(fd);
	close_map(&m);
}

/* It polls, and comes to an end with its container, whose frames it does not keep. */
static void ends_with_container(void)
{
	struct pollfd p = { .events = POLLIN };
	struct map m;
	char small[31];

	open_samples(&m, "lru");
	p.fd = start_samples(&m, HIPEC_SAMPLE_ALL, 0);
	CHECK_EQ(poll(&p, 1, 0), 0);
	CHECK(read(p.fd, small, sizeof(small)) < 0 && errno == EINVAL);
	touch_range(&m, 0, 3);
	CHECK_EQ(poll(&p, 1, 0), 1);
	close_map(&m);
	while (frames_held())
		;
	CHECK(!fcntl(p.fd, F_SETFL, 0));
	CHECK_EQ(count(read_all(p.fd), HIPEC_SAMPLE_FAULT), 3);
	CHECK_EQ(read(p.fd, entry, sizeof(entry)), 0);
	close(p.fd);
}

static void wants_what_is_right(void)
{
	struct hipec_sample a = { .size = sizeof(a) };
	int c = hipec_open(), other, fd, status;
	struct hipec_query q = { 0 };
	struct hipec_status s;
	pid_t pid;

	CHECK(!hipec_query(c, &q) && q.features & HIPEC_FEATURE_SAMPLE);
	CHECK_EQ(hipec_sample(c, 0, 1, 0), -ENODATA);
	CHECK_EQ(hipec_sample(c, 1ull << 60, 1, 0), -ESRCH);
	close(c);
	c = load_policy("mru", 16, 1);
	s = get_status(c);
	CHECK_EQ(hipec_sample(c, 0, HIPEC_SAMPLE_ALL + 1, 0), -EINVAL);
	CHECK_EQ(hipec_sample(c, 0, 1, 5000), -EINVAL);
	CHECK_EQ(hipec_sample(c, 0, 1, HIPEC_RECORD_MIN_RING / 2), -EINVAL);
	CHECK_EQ(hipec_sample(c, 0, 1, HIPEC_RECORD_MAX_RING * 2), -EINVAL);
	a.flags = 1;
	CHECK(ioctl(c, HIPEC_IOC_SAMPLE, &a) && errno == EINVAL);
	a.flags = 0;
	a.size = 16;	/* no place for the descriptor */
	CHECK(ioctl(c, HIPEC_IOC_SAMPLE, &a) && errno == EINVAL);

	other = hipec_open();
	fd = hipec_sample(other, s.id, 1, 0);
	CHECK(fd >= 0 && fcntl(fd, F_GETFD) & FD_CLOEXEC);
	CHECK_EQ(hipec_sample(c, 0, 1, 0), -EBUSY);
	status = hipec_record(c, 0, 0);		/* beside it */
	CHECK(status >= 0);
	close(status);
	close(fd);
	fd = hipec_sample(c, 0, 1, 0);
	CHECK(fd >= 0);
	close(fd);

	pid = fork();	/* another user sees nothing of it */
	if (!pid) {
		CHECK(!setuid(65534));
		CHECK_EQ(hipec_sample(other, s.id, 1, 0), -ESRCH);
		exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	close(other);
	close(c);
}

#define LOADER 1000
#define STRANGER 1001

/*
 * As a program of these real and effective users, with capabilities @caps. It has been root's,
 * so only @shows makes it one that others of its user may look into.
 */
static void become(uid_t real, uid_t effective, uint64_t caps, bool shows)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = caps, .permitted = caps },
		{ .effective = caps >> 32, .permitted = caps >> 32 },
	};

	CHECK(!prctl(PR_SET_KEEPCAPS, 1));
	CHECK(!setresuid(real, effective, effective));
	if (real == effective)
		CHECK(!syscall(SYS_capset, &head, data));
	CHECK(!prctl(PR_SET_DUMPABLE, shows));
}

/* A container whose loader is a user's, with capabilities @caps. */
static int load_as(uid_t uid, uint64_t caps, uint32_t flags)
{
	struct hipec_load load = { .flags = flags, .frames = 16, .cluster = 1 };
	int fd = hipec_open(), status;
	void *image;
	size_t size;
	pid_t pid;

	CHECK(fd >= 0);
	read_image("contexts", &image, &size);
	load.image = (uintptr_t)image;
	load.image_size = size;
	pid = fork();
	if (!pid) {
		become(uid, uid, caps, true);
		CHECK_EQ(hipec_load_args(fd, &load), 0);
		exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	free(image);
	return fd;
}

/* What a program of a user does; its code is this. */
struct visit {
	uid_t real, effective;
	uint64_t caps;
	bool shows;
};

static uint64_t touches_of(const struct map *m)
{
	struct hipec_status s = get_status(m->container);

	return s.counters.pages_in + s.counters.hits;
}

/* It faults on a page of @m, or reads one of its file. Return: the context of PageFault. */
static uint64_t visit(const struct map *m, const struct visit *v, size_t page)
{
	static unsigned char buffer[PAGE_BYTES];
	uint64_t before = touches_of(m);
	int status, i;
	pid_t pid = fork();

	if (!pid) {
		become(v->real, v->effective, v->caps, v->shows);
		if (m->base)
			calls_frames.one(m->base + page * PAGE_BYTES);
		else
			CHECK_EQ(calls_frames.read(m->file, buffer, page * PAGE_BYTES),
				 PAGE_BYTES);
		exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	/* Of a stranger's touch in place a worker tells. */
	for (i = 0; i < 200 && touches_of(m) == before; i++)
		usleep(10000);
	return value_of(m, "faulted");
}

/* The context of one visit, and what is told of it: all of it, or nothing at all. */
static void check_visit(struct map *m, int samples, const struct visit *v, bool told)
{
	static size_t page;
	uint64_t context = visit(m, v, page++ % 64);
	int nr = read_all(samples), i, accesses = 0;

	for (i = 0; i < nr; i += 1 + text_entries(&entry[i]))
		if (is_access(&entry[i])) {
			CHECK_EQ(!!entry[i].what, told);
			accesses++;
		}
	CHECK(accesses);
	CHECK_EQ(!!context, told);
	if (!told) {
		CHECK_EQ(count(nr, HIPEC_SAMPLE_POINT), 0);
		CHECK_EQ(count(nr, HIPEC_SAMPLE_FILE), 0);
	}
}

/* A file that all may read, in a region or in place, of a container of that loader. */
static void open_to_all(struct map *m, uid_t uid, uint64_t caps, bool in_place)
{
	make_file(FILE_S, 64 * PAGE_BYTES);
	CHECK(!chmod(FILE_S, 0644));
	*m = (struct map){
		.container = load_as(uid, caps, in_place ? HIPEC_LOAD_IN_PLACE : 0),
		.pages = 64,
	};
	if (in_place) {
		m->file = take_file(m->container, FILE_S, O_RDONLY);
		CHECK(!posix_fadvise(m->file, 0, 0, POSIX_FADV_RANDOM));
		return;
	}
	m->file = open(FILE_S, O_RDONLY);
	m->region = hipec_attach(m->container, m->file, 0, 0, false, NULL);
	CHECK(m->file >= 0 && m->region >= 0);
	m->base = mmap(NULL, m->pages * PAGE_BYTES, PROT_READ, MAP_SHARED, m->region, 0);
	CHECK(m->base != MAP_FAILED);
}

static void close_to_all(struct map *m)
{
	if (m->base)
		return close_map(m);
	close(m->file);
	close(m->container);
}

/*
 * Root's program, another user's, one with root's rights and the loader's real user, and one that
 * was root's before have no context. The loader's own have theirs, told of all others or not.
 */
static void strangers(void)
{
	static const uint64_t all = 1ull << CAP_SETUID | 1ull << CAP_SYS_PTRACE;
	static const struct visit root = { 0, 0, all, true };
	static const struct visit own = { LOADER, LOADER, 0, true };
	static const struct visit other = { STRANGER, STRANGER, 0, true };
	static const struct visit set_user_id = { LOADER, 0, 0, true };
	static const struct visit was_root = { LOADER, LOADER, 0, false };
	int in_place, samples;
	struct map m;

	stay_here();
	for (in_place = 0; in_place < 2; in_place++) {
		open_to_all(&m, LOADER, 0, in_place);
		samples = start_samples(&m, HIPEC_SAMPLE_ALL, 0);
		check_visit(&m, samples, &root, false);
		check_visit(&m, samples, &other, false);
		check_visit(&m, samples, &set_user_id, false);
		check_visit(&m, samples, &was_root, false);
		check_visit(&m, samples, &own, true);
		check_visit(&m, samples, &root, false);
		close(samples);
		close_to_all(&m);
	}
}

/* One that may trace all programs when it loads; root that may not is told of root's alone. */
static void traced(void)
{
	static const struct visit root = { 0, 0, 1ull << CAP_SETUID, true };
	static const struct visit own = { LOADER, LOADER, 0, true };
	static const struct visit other = { STRANGER, STRANGER, 0, false };
	int in_place, samples;
	struct map m;

	stay_here();
	for (in_place = 0; in_place < 2; in_place++) {
		open_to_all(&m, LOADER, 1ull << CAP_SYS_PTRACE, in_place);
		samples = start_samples(&m, HIPEC_SAMPLE_ALL, 0);
		check_visit(&m, samples, &root, true);
		check_visit(&m, samples, &other, true);
		check_visit(&m, samples, &own, true);
		close(samples);
		close_to_all(&m);

		open_to_all(&m, 0, 1ull << CAP_FOWNER | 1ull << CAP_IPC_LOCK, in_place);
		samples = start_samples(&m, HIPEC_SAMPLE_ALL, 0);
		check_visit(&m, samples, &other, false);
		check_visit(&m, samples, &own, false);
		check_visit(&m, samples, &root, true);
		close(samples);
		close_to_all(&m);
	}
}

static const struct test sample_tests[] = {
	{ "every_access_is_sampled_with_an_explained_context", all_accesses },
	{ "samples_are_of_the_pages_that_the_hash_picks", by_hash },
	{ "samples_that_do_not_fit_are_counted", lost },
	{ "samples_end_with_their_container", ends_with_container },
	{ "sampling_wants_what_is_right", wants_what_is_right },
	{ "contexts_of_strangers_are_not_told", strangers },
	{ "contexts_of_all_are_told_to_a_loader_that_may_trace_them", traced },
	{ 0 }
};
SUITE(sample_tests, 0);
