// SPDX-License-Identifier: GPL-2.0-only
/*
 * The keeper: makes files and containers, starts and kills processes, gives each
 * slot another policy now and then, and disturbs (disturb.c). At each change of
 * policy, and at the end, the whole file is compared with its shadow.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "inject.h"
#include "keeper.h"

struct fuzz_rng rng;
int slot_file[NR_SLOTS], slot_direct[NR_SLOTS], other_file;

const char *const slot_path[NR_SLOTS] = {
	[SLOT_OWN] = "/data/stress-own",
	[SLOT_BAD] = "/dev/stress",
	[SLOT_GOOD] = "/data/stress-good",
};

/* As a child has them at its fork; what is on the board is newer. */
static int container[NR_SLOTS] = { -1, -1, -1 };
static int region[NR_SLOTS][NR_REGIONS] = { { -1, -1 }, { -1, -1 }, { -1, -1 } };

void doing(enum act act, const char *what)
{
	snprintf(board->keeper_does, sizeof(board->keeper_does), "%s", what);
	board->acts[act]++;
	__atomic_store_n(&board->keeper_since, now_ns(), __ATOMIC_SEQ_CST);
}

static void start(uint32_t proc)
{
	uint64_t seed = fuzz_random(&rng);
	uint32_t s, i;
	pid_t pid = fork();

	if (pid < 0) {
		wrong("fork: errno %d", errno);
		return;
	}
	if (!pid) {
		/* The keeper alone says how long a container lives. */
		for (s = 0; s < NR_SLOTS; s++) {
			if (container[s] >= 0)
				close(container[s]);
			for (i = 0; i < NR_REGIONS; i++)
				if (region[s][i] >= 0)
					close(region[s][i]);
		}
		work(proc, seed);
	}
	setpgid(pid, pid);
	board->proc[proc] = pid;
	board->starts++;
}

/* What is dead holds nothing; it is started again, but for the end. */
static void reap(void)
{
	const uint32_t nr = NR_THREADS / NR_PROCS;
	uint32_t proc, i, s;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (proc = 0; proc < NR_PROCS && board->proc[proc] != pid; proc++)
			;
		if (proc == NR_PROCS)
			continue;	/* somebody's child */
		if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL &&
		    !board->inject)
			wrong("process %u was killed by signal %d", proc,
			      WTERMSIG(status));
		kill(-pid, SIGKILL);
		board->proc[proc] = 0;
		for (i = proc * nr; i < (proc + 1) * nr; i++) {
			board->thread[i].since = 0;
			for (s = 0; s < NR_SLOTS; s++)
				board->thread[i].holds[s] = 0;
		}
		if (!board->stop && !board->wrong)
			start(proc);
	}
}

void kill_one(void)
{
	uint32_t proc = fuzz_below(&rng, NR_PROCS);

	doing(ACT_kill, "kill");
	if (board->proc[proc] > 0)
		kill(-board->proc[proc], SIGKILL);
}

/* Wait until no thread has anything of slot @s. */
static void wait_for_holders(uint32_t s)
{
	uint32_t t = 0;

	while (t < NR_THREADS && !board->wrong) {
		if (!__atomic_load_n(&board->thread[t].holds[s],
				     __ATOMIC_SEQ_CST)) {
			t++;
			continue;
		}
		reap();
		usleep(500);
	}
}

static int attach(uint32_t s, uint32_t i)
{
	uint64_t first = i ? REGION_FIRST : 0;
	uint64_t nr = i ? NR_PAGES - REGION_FIRST : REGION_FIRST;
	int fd;

	/* Mappings of the dead may be there a little longer. */
	for (;;) {
		fd = hipec_attach(container[s], slot_file[s],
				  first * PAGE_BYTES, nr * PAGE_BYTES, true,
				  NULL);
		if ((fd != -EBUSY && !(fd == -ENOMEM && board->inject)) ||
		    board->wrong)
			return fd;
		reap();
		usleep(1000);
	}
}

/* A container with some policy. Nobody uses the file yet: look at all of it. */
static void open_slot(uint32_t s)
{
	struct slot *slot = &board->slot[s];
	uint32_t i, frames, tries;
	int ret = -1;

	for (tries = 0; tries < 50 && ret; tries++) {
		/* A load allocates often: where one in five fails, none may ever work. */
		if (tries == 25)
			no_injection();
		container[s] = hipec_open();
		frames = s == SLOT_OWN ? 40 + fuzz_below(&rng, 80) :
			 48 + fuzz_below(&rng, 200) + (board->roomy ? 1024 : 0);
		ret = load_any(container[s], &rng, frames, s == SLOT_OWN ? 0 : HIPEC_LOAD_SHARE);
		if (ret)
			close(container[s]);
	}
	if (ret) {
		wrong("slot %u: no policy loads: %s", s, strerror(-ret));
		return;
	}
	for (i = 0; i < NR_REGIONS; i++) {
		region[s][i] = attach(s, i);
		if (region[s][i] < 0 && !board->wrong)
			wrong("slot %u: attach: %s", s,
			      strerror(-region[s][i]));
		slot->region[i] = region[s][i];
	}
	if (board->wrong)
		return;
	check_file(s, slot_file[s], false, "page cache after close");
	check_file(s, slot_direct[s], true, "disk after close");
	__atomic_add_fetch(&slot->gen, 1, __ATOMIC_SEQ_CST);
}

static void add_counters(uint32_t s)
{
	struct hipec_status status = { 0 };
	struct hipec_counters *sum = &board->slot[s].sum;

	if (hipec_status(container[s], &status))
		return;
#define HIPEC_X(name, help) sum->name += status.counters.name;
	HIPEC_COUNTERS(HIPEC_X)
#undef HIPEC_X
	board->slot[s].exits += status.exit.kind != 0;
}

/*
 * Close a slot's container. All was written if no call says otherwise: fsync()
 * may tell of an error that was; it is gone when the next one returns 0.
 */
static void close_slot(uint32_t s, bool bad)
{
	struct slot *slot = &board->slot[s];
	bool lost = false;
	uint32_t i, tries, page;

	__atomic_add_fetch(&slot->gen, 1, __ATOMIC_SEQ_CST);
	wait_for_holders(s);
	if (!bad) {
		no_bad_blocks();
		no_injection();
		for (i = 0; i < NR_REGIONS; i++) {
			for (tries = 0; fsync(region[s][i]) && tries < 3;)
				tries++;
			if (tries > 1 || (tries && s == SLOT_GOOD &&
					  !board->inject))
				wrong("slot %u: fsync fails without a reason, errno %d",
				      s, errno);
		}
	}
	add_counters(s);
	if (fuzz_chance(&rng, 50)) {
		close(container[s]);
		container[s] = -1;
	}
	for (i = 0; i < NR_REGIONS; i++) {
		lost |= close(region[s][i]) != 0;
		region[s][i] = -1;
	}
	if (container[s] >= 0)
		close(container[s]);
	container[s] = -1;
	no_bad_blocks();
	if (lost && !bad)
		wrong("slot %u: close: errno %d without a reason", s, errno);
	for (page = 0; lost && page < NR_PAGES; page++)
		slot->page[page].cuts += 2;
	slot->errors += lost;
}

void swap(uint32_t s)
{
	bool bad = s == SLOT_BAD && fuzz_chance(&rng, 40);

	doing(ACT_swap, "swap: close");
	if (bad) {
		bad_blocks();
		board->acts[ACT_close_bad]++;
	}
	close_slot(s, bad);
	if (board->wrong)
		return;
	doing(ACT_swap, "swap: open");
	board->acts[ACT_swap]--;
	open_slot(s);
}

/* In use, and its threads do not notice; what was revoked for good begins anew. */
void swap_policy(uint32_t s)
{
	int ret;

	doing(ACT_policy, "swap of policy");
	ret = swap_any(container[s], &rng);
	if (ret && ret != -ECANCELED && ret != -EAGAIN && ret != -ENOMEM &&
	    ret != -EINVAL && !board->inject)
		wrong("slot %u: swap of policy: %s", s, strerror(-ret));
}

void revoke_policy(uint32_t s)
{
	int ret;

	doing(ACT_revoke, "revoke");
	ret = hipec_revoke(container[s], 0);
	if (ret && ret != -EALREADY && ret != -ENODATA)
		wrong("slot %u: revoke: %s", s, strerror(-ret));
}

void ask_why(uint32_t s)
{
	struct hipec_why w = {
		.offset = fuzz_below(&rng, NR_PAGES) * PAGE_BYTES,
	};
	int ret;

	doing(ACT_why, "why");
	ret = hipec_why(container[s], 0, &w);
	if (!ret && w.on && w.place >= w.nr)
		wrong("slot %u: page at place %u of %u", s, w.place, w.nr);
	if (ret && !board->inject)
		wrong("slot %u: why: %s", s, strerror(-ret));
}

/* Each word of each page has been written once. */
static int fill_file(uint32_t s, int fd)
{
	static uint64_t data[PAGE_BYTES / 8];
	uint32_t page, w, cuts, count;

	for (page = 0; page < NR_PAGES; page++) {
		for (w = 0; w < NR_WRITERS; w++) {
			count = shadow_begin(s, page, w, &cuts);
			data[WORD_OF(w)] = word_value(s, page, w, count);
			shadow_end(s, page, w, count, cuts);
		}
		if (pwrite(fd, data, PAGE_BYTES, page * PAGE_BYTES) !=
		    (ssize_t)PAGE_BYTES)
			return -errno;
	}
	return or_errno(fsync(fd));
}

static int make_other(void)
{
	uint64_t data[PAGE_BYTES / 8] = { 0 };

	other_file = open("/data/stress-other", O_RDWR | O_CREAT | O_CLOEXEC,
			  0600);
	for (data[0] = 1; data[0] <= OTHER_PAGES; data[0]++)
		if (write(other_file, data, PAGE_BYTES) != (ssize_t)PAGE_BYTES)
			return -errno;
	return or_errno(fsync(other_file));
}

static int make_files(void)
{
	uint32_t s;
	int ret;

	for (s = 0; s < NR_SLOTS; s++) {
		slot_file[s] = open(slot_path[s], O_RDWR | O_CREAT | O_CLOEXEC,
				    0600);
		slot_direct[s] = open(slot_path[s],
				      O_RDONLY | O_DIRECT | O_CLOEXEC);
		ret = slot_file[s] < 0 || slot_direct[s] < 0 ? -errno :
		      fill_file(s, slot_file[s]);
		if (ret) {
			wrong("%s: %s", slot_path[s], strerror(-ret));
			return ret;
		}
	}
	return make_other();
}

static uint64_t frames(void)
{
	struct hipec_query q = { 0 };
	unsigned long long nr = 0;
	int fd = hipec_open();
	FILE *f;

	if (fd < 0 || hipec_query(fd, &q))
		return ~0ull;
	close(fd);
	f = fopen("/sys/kernel/debug/hipec/frames", "r");
	if (f && fscanf(f, "%llu", &nr) != 1)
		nr = ~0ull;
	if (f)
		fclose(f);
	return q.frames > nr ? q.frames : nr;
}

/* All stop, all is compared, every frame comes back. */
static void finish(void)
{
	uint64_t nr;
	uint32_t s, i;

	doing(ACT_query, "end: threads");
	__atomic_store_n(&board->stop, true, __ATOMIC_SEQ_CST);
	no_injection();
	for (i = 0; i < NR_PROCS && !board->wrong;) {
		reap();
		if (!board->proc[i])
			i++;
		else
			usleep(1000);
	}
	for (s = 0; s < NR_SLOTS && !board->wrong; s++) {
		doing(ACT_query, "end: close");
		close_slot(s, false);
		doing(ACT_query, "end: open");
		if (!board->wrong)
			open_slot(s);
		doing(ACT_query, "end: close again");
		if (!board->wrong)
			close_slot(s, false);
	}
	/* The last files of the dead are put by and by: the watchdog waits. */
	doing(ACT_query, "end: frames");
	while (!board->wrong && (nr = frames())) {
		snprintf(board->keeper_does, sizeof(board->keeper_does),
			 "%llu frames are not back", (unsigned long long)nr);
		usleep(1000);
	}
}

/* Run for @seconds, or until @ops operations have begun. Return: exit status. */
int keep(uint64_t seconds, uint64_t ops)
{
	uint64_t end = seconds ? now_ns() + seconds * 1000000000ull : ~0ull;
	uint32_t i;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	board->keeper = getpid();
	rng.state = board->seed;
	doing(ACT_query, "start");
	memset(board->slot, 0, sizeof(board->slot));
	if (read_policies() || make_files())
		return 1;
	start_disturbing();
	for (i = 0; i < NR_SLOTS && !board->wrong; i++)
		open_slot(i);
	for (i = 0; i < NR_PROCS && !board->wrong; i++)
		start(i);
	while (!board->wrong && now_ns() < end &&
	       (!ops || __atomic_load_n(&board->ops, __ATOMIC_RELAXED) < ops)) {
		reap();
		doing(ACT_query, "nothing");
		board->acts[ACT_query]--;
		disturb();
		usleep(1000 + fuzz_below(&rng, 10000));
	}
	finish();
	board->keeper_since = 0;
	return board->wrong ? 1 : 0;
}
