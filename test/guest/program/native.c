// SPDX-License-Identifier: GPL-2.0-only
/*
 * Native code: a policy decides in it as it does interpreted, touch for touch and command
 * for command; and where there is none, policies are interpreted and say why.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "guest.h"

#define FILE_A DIR_DATA "native-a"
#define FILE_B DIR_DATA "native-b"
#define PAGES 96
#define FRAMES 32
#define TOUCHES 600

#define JIT "/sys/module/hipec/parameters/jit"
#define JIT_ENABLE "/proc/sys/net/core/bpf_jit_enable"
#define JIT_HARDEN "/proc/sys/net/core/bpf_jit_harden"
#define JIT_LIMIT "/proc/sys/net/core/bpf_jit_limit"

/* A container that runs as @jit says; all its chance is the same. */
static void open_one(struct map *m, const char *jit, const char *policy, const char *path,
		     uint32_t flags)
{
	struct hipec_load load = {
		.flags = flags, .frames = FRAMES, .cluster = 1, .seed = 7,
	};
	void *image;
	size_t size;
	int ret;

	set_switch(JIT, jit);
	read_image(policy, &image, &size);
	load.image = (uintptr_t)image;
	load.image_size = size;
	m->pages = PAGES;
	m->file = open(path, O_RDONLY);
	m->container = hipec_open();
	CHECK(m->file >= 0 && m->container >= 0);
	ret = hipec_load_args(m->container, &load);
	if (ret)
		FAIL("load of %s: %s", policy, strerror(-ret));
	free(image);
	m->region = hipec_attach(m->container, m->file, 0, 0, false, NULL);
	CHECK(m->region >= 0);
	m->base = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ, MAP_SHARED, m->region, 0);
	CHECK(m->base != MAP_FAILED);
	set_switch(JIT, "off");
}

static uint64_t engine(int container)
{
	return get_status(container).counters.engine;
}

/* Round and round, and anywhere, rather low ones. */
static size_t next_page(size_t step)
{
	static uint32_t seed = 1;
	uint32_t r;

	seed = seed * 1664525 + 1013904223;
	r = seed >> 16;
	return step / 300 % 2 ? step % PAGES : (r % PAGES) * (r / PAGES % PAGES) / PAGES;
}

/* Bytes of native code that a container has, as debugfs says. */
static unsigned long native_bytes(int container)
{
	unsigned long from, to;
	char path[64];
	FILE *f;
	int n;

	snprintf(path, sizeof(path), "/sys/kernel/debug/hipec/%llu/native",
		 (unsigned long long)get_status(container).id);
	f = fopen(path, "r");
	CHECK(f);
	n = fscanf(f, "%lx-%lx", &from, &to);
	fclose(f);
	return n == 2 ? to - from : 0;
}

/* All that both have counted, and every integer that the policy has. */
static void same_state(const char *policy, size_t step, int a, int b, bool all)
{
	struct hipec_status sa = get_status(a), sb = get_status(b);
	struct hipec_operand oa, ob;
	uint32_t slot;

	sb.counters.engine = sa.counters.engine;
#define X(name, help)								\
	if (sa.counters.name != sb.counters.name)				\
		FAIL("%s, touch %zu: %s is %llu in native code, %llu interpreted", \
		     policy, step, #name, (unsigned long long)sa.counters.name,	\
		     (unsigned long long)sb.counters.name);
	HIPEC_COUNTERS(X)
#undef X
	CHECK_EQ(sa.exit.kind, sb.exit.kind);
	CHECK_EQ(sa.exit.event, sb.exit.event);
	CHECK_EQ(sa.exit.command, sb.exit.command);
	CHECK_EQ(sa.exit.line, sb.exit.line);
	CHECK_EQ(sa.exit.word, sb.exit.word);
	CHECK_EQ(sa.exit.operand, sb.exit.operand);
	for (slot = 0; all && !hipec_operand(a, 0, slot, &oa); slot++) {
		CHECK(!hipec_operand(b, 0, slot, &ob));
		if (oa.value != ob.value || oa.nr != ob.nr)
			FAIL("%s, touch %zu: '%s' is %lld, %u in native code, %lld, %u interpreted",
			     policy, step, oa.name, (long long)oa.value, oa.nr,
			     (long long)ob.value, ob.nr);
	}
}

static void same_decisions(const char *policy, const char *jit)
{
	struct map a, b;
	size_t step, page, touches = rounds(TOUCHES);

	/* Low pages come often: so many until more have come than there are frames. */
	if (touches < 2 * PAGES)
		touches = 2 * PAGES;
	open_one(&a, jit, policy, FILE_A, 0);
	open_one(&b, "off", policy, FILE_B, 0);
	CHECK_EQ(engine(a.container), HIPEC_ENGINE_NATIVE);
	CHECK_EQ(engine(b.container), HIPEC_ENGINE_OFF);
	for (step = 0; step < touches; step++) {
		page = next_page(step);
		touch(&a, page);
		touch(&b, page);
		same_state(policy, step, a.container, b.container, step % 50 == 0);
	}
	same_state(policy, step, a.container, b.container, true);
	CHECK_LE(1, get_status(a.container).counters.evictions);
	close_map(&a);
	close_map(&b);
}

/* What the clock, a disk, a worker or an address decides is not the same for two. */
static bool differs_by_itself(const char *policy)
{
	static const char *const words[] = { "endless", "slow", "prefetch", "stride" };
	struct hipec_image *im;
	size_t size, i;
	void *image;
	bool time;

	read_image(policy, &image, &size);
	im = image;
	time = im->needs & 0x9;	/* a context, or the time */
	free(image);
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		time |= strstr(policy, words[i]) != NULL;
	return time;
}

static void all_policies(const char *jit)
{
	DIR *dir = opendir(DIR_POLICIES);
	struct dirent *d;
	char name[sizeof(d->d_name)], *dot;
	int nr = 0;

	CHECK(dir);
	make_file(FILE_A, PAGES * PAGE_BYTES);
	make_file(FILE_B, PAGES * PAGE_BYTES);
	while ((d = readdir(dir))) {
		snprintf(name, sizeof(name), "%s", d->d_name);
		dot = strrchr(name, '.');
		if (!dot || strcmp(dot, ".hpo"))
			continue;
		*dot = 0;
		if (differs_by_itself(name))
			continue;
		same_decisions(name, jit);
		nr++;
	}
	closedir(dir);
	CHECK_LE(30, nr);
	printf("# %d policies\n", nr);
}

static void decides_as_interpreted(void)
{
	all_policies("on");
}

static void decides_as_interpreted_hardened(void)
{
	set_switch(JIT_HARDEN, "2");
	same_decisions("arc", "on");
	same_decisions("w-tinylfu", "on");
	set_switch(JIT_HARDEN, "1");
	same_decisions("arc", "auto");
	set_switch(JIT_HARDEN, "0");
}

/* Load @policy as @jit says. Return: the container. */
static int load_as(const char *jit, const char *policy)
{
	int c;

	set_switch(JIT, jit);
	c = load_policy(policy, FRAMES, 1);
	set_switch(JIT, "off");
	return c;
}

static void parameter_says_which_way(void)
{
	int c;

	c = load_as("off", "fifo2");
	CHECK_EQ(engine(c), HIPEC_ENGINE_OFF);
	close(c);
	c = load_as("auto", "fifo2");
	CHECK_EQ(engine(c), HIPEC_ENGINE_NATIVE);
	close(c);
	c = load_as("on", "fifo2");
	CHECK_EQ(engine(c), HIPEC_ENGINE_NATIVE);
	close(c);
}

/* Load @image into @c as @wish says. Return: how it runs. */
static uint64_t load_with(int c, const void *image, size_t size, uint32_t wish)
{
	struct hipec_load load = {
		.flags = wish, .frames = 4, .image = (uintptr_t)image, .image_size = size,
	};
	uint64_t got;
	int ret = hipec_load_args(c, &load);

	if (ret)
		FAIL("load: %s", strerror(-ret));
	got = engine(c);
	close(c);
	return got;
}

/* Load fifo2 as @jit, the parameter, and @wish, the loader, say. Return: its engine. */
static uint64_t engine_of(const char *jit, uint32_t wish)
{
	uint64_t got;
	void *image;
	size_t size;

	set_switch(JIT, jit);
	read_image("fifo2", &image, &size);
	got = load_with(hipec_open(), image, size, wish);
	free(image);
	return got;
}

/* What it loads was opened by who may. */
static void off_holds_for_nobody(void)
{
	int a = hipec_open(), b = hipec_open();
	void *image;
	size_t size;

	read_image("fifo2", &image, &size);
	CHECK(!setuid(65534));
	CHECK_EQ(load_with(a, image, size, HIPEC_LOAD_JIT_ON), HIPEC_ENGINE_OFF);
	CHECK_EQ(load_with(b, image, size, HIPEC_LOAD_JIT_AUTO), HIPEC_ENGINE_OFF);
	exit(0);
}

/* The administrator's off holds for all others; else who loads a policy decides. */
static void container_says_which_way(void)
{
	struct hipec_query q;
	int fd = hipec_open(), status;
	pid_t pid;

	CHECK(!hipec_query(fd, &q) && q.features & HIPEC_FEATURE_JIT);
	CHECK_EQ(engine_of("off", 0), HIPEC_ENGINE_OFF);
	CHECK_EQ(engine_of("off", HIPEC_LOAD_JIT_OFF), HIPEC_ENGINE_OFF);
	CHECK_EQ(engine_of("off", HIPEC_LOAD_JIT_AUTO), HIPEC_ENGINE_NATIVE);
	CHECK_EQ(engine_of("off", HIPEC_LOAD_JIT_ON), HIPEC_ENGINE_NATIVE);
	CHECK_EQ(engine_of("auto", HIPEC_LOAD_JIT_OFF), HIPEC_ENGINE_CHOSEN);
	CHECK_EQ(engine_of("on", HIPEC_LOAD_JIT_OFF), HIPEC_ENGINE_CHOSEN);
	CHECK_EQ(engine_of("on", 0), HIPEC_ENGINE_NATIVE);
	set_switch(JIT, "off");
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		off_holds_for_nobody();
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	close(fd);
}

/* Swap to arc as @wish says. Return: the engine. */
static uint64_t swap_as(int container, uint32_t wish)
{
	struct hipec_swap swap = { .flags = wish };
	void *image;
	size_t size;
	int ret;

	read_image("arc", &image, &size);
	swap.image = (uintptr_t)image;
	swap.image_size = size;
	ret = hipec_swap_args(container, &swap);
	if (ret)
		FAIL("swap: %s", strerror(-ret));
	free(image);
	return engine(container);
}

/* A swap that says nothing leaves it as it was. */
static void swap_keeps_the_way(void)
{
	int c = load_as("off", "fifo2");

	CHECK_EQ(swap_as(c, HIPEC_LOAD_JIT_ON), HIPEC_ENGINE_NATIVE);
	CHECK_EQ(swap_as(c, 0), HIPEC_ENGINE_NATIVE);
	CHECK_EQ(swap_as(c, HIPEC_LOAD_JIT_OFF), HIPEC_ENGINE_OFF);
	CHECK_EQ(swap_as(c, 0), HIPEC_ENGINE_OFF);
	close(c);
}

/* As many bytes as it has, to be read by root. */
static void code_can_be_read(void)
{
	char path[80], bytes[65536];
	int c = load_as("on", "fifo2"), nr;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/debug/hipec/%llu/native_code",
		 (unsigned long long)get_status(c).id);
	f = fopen(path, "r");
	CHECK(f);
	nr = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	CHECK_EQ(nr, native_bytes(c));
	CHECK_LE(100, nr);
	close(c);
	c = load_as("off", "fifo2");
	snprintf(path, sizeof(path), "/sys/kernel/debug/hipec/%llu/native_code",
		 (unsigned long long)get_status(c).id);
	f = fopen(path, "r");
	CHECK(f);
	CHECK_EQ(fread(bytes, 1, sizeof(bytes), f), 0);
	fclose(f);
	close(c);
}

static void without_the_jit(void)
{
	struct map m;

	make_file(FILE_A, PAGES * PAGE_BYTES);
	set_switch(JIT_ENABLE, "0");
	open_one(&m, "on", "fifo2", FILE_A, 0);
	set_switch(JIT_ENABLE, "1");
	CHECK_EQ(engine(m.container), HIPEC_ENGINE_NO_JIT);
	CHECK_EQ(touch_range(&m, 0, PAGES).counters.faults, PAGES);
	CHECK_EQ(get_status(m.container).exit.kind, 0);
	close_map(&m);
}

static void load_as_nobody(int fd, const void *image, size_t size)
{
	int ret;

	CHECK(!setuid(65534));
	ret = hipec_load(fd, image, size, 4, 1, NULL, 0);
	if (ret)
		FAIL("load: %s", strerror(-ret));
	CHECK_EQ(engine(fd), HIPEC_ENGINE_NO_JIT);
	exit(0);
}

/* Of JIT memory there is so much for those who have no right to more. */
static void at_the_limit(void)
{
	int fd = hipec_open(), status;
	char before[32] = "";
	size_t size;
	void *image;
	FILE *f = fopen(JIT_LIMIT, "r");
	pid_t pid;

	CHECK(fd >= 0 && f && fgets(before, sizeof(before), f));
	fclose(f);
	read_image("fifo2", &image, &size);
	set_switch(JIT, "on");
	set_switch(JIT_LIMIT, "1");
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		load_as_nobody(fd, image, size);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	before[strcspn(before, "\n")] = 0;
	set_switch(JIT_LIMIT, before);
	set_switch(JIT, "off");
	free(image);
	close(fd);
	CHECK_EQ(status, 0);
}

/* The next policy's code is its own; the one before's goes. */
static void goes_with_a_swap(void)
{
	struct map m;

	make_file(FILE_A, PAGES * PAGE_BYTES);
	open_one(&m, "on", "fifo2", FILE_A, 0);
	touch_range(&m, 0, PAGES);
	set_switch(JIT, "on");
	swap_to(m.container, "lru");
	set_switch(JIT, "off");
	CHECK_EQ(engine(m.container), HIPEC_ENGINE_NATIVE);
	CHECK_LE(100, native_bytes(m.container));
	touch_range(&m, 0, PAGES);
	swap_to(m.container, "arc");
	CHECK_EQ(engine(m.container), HIPEC_ENGINE_OFF);
	CHECK_EQ(native_bytes(m.container), 0);
	touch_range(&m, 0, PAGES);
	CHECK_EQ(get_status(m.container).exit.kind, 0);
	close_map(&m);
}

/* At the same command, when its fuel is spent. */
static void endless_loop_ends(void)
{
	struct map a, b;

	make_file(FILE_A, PAGES * PAGE_BYTES);
	make_file(FILE_B, PAGES * PAGE_BYTES);
	open_one(&a, "on", "endless-fault", FILE_A, 0);
	open_one(&b, "off", "endless-fault", FILE_B, 0);
	touch(&a, 0);
	touch(&b, 0);
	CHECK_EQ(engine(a.container), HIPEC_ENGINE_NATIVE);
	CHECK_EQ(get_status(a.container).exit.kind, 0x30);
	same_state("endless-fault", 1, a.container, b.container, true);
	close_map(&a);
	close_map(&b);
}

const struct test native_tests[] = {
	{ "native_code_decides_as_the_interpreter", decides_as_interpreted },
	{ "native_code_that_is_hardened_decides_so_too", decides_as_interpreted_hardened },
	{ "native_code_is_made_where_jit_says", parameter_says_which_way },
	{ "native_code_is_made_as_its_container_says", container_says_which_way },
	{ "native_code_is_kept_by_a_swap", swap_keeps_the_way },
	{ "native_code_can_be_read", code_can_be_read },
	{ "native_code_is_not_needed_without_a_jit", without_the_jit },
	{ "native_code_is_not_needed_at_the_limit", at_the_limit },
	{ "native_code_goes_with_its_policy", goes_with_a_swap },
	{ "native_code_ends_as_the_interpreter", endless_loop_ends },
	{ NULL, NULL }
};
