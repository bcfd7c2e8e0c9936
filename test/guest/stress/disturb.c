// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the keeper does to others: files that are cut, bad blocks, allocations
 * that fail, memory pressure, a cgroup that is full, processes that are killed, somebody who looks.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "inject.h"
#include "keeper.h"

#define BAD_BLOCKS "/sys/kernel/config/nullb/stress/badblocks"
#define DEBUGFS "/sys/kernel/debug/"
#define SECTORS (PAGE_BYTES / 512)

static uint32_t bad_first, bad_last;	/* sectors; none if equal */

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) > 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

static bool mark_blocks(char how)
{
	char text[64];

	snprintf(text, sizeof(text), "%c%u-%u", how, bad_first, bad_last);
	return put(BAD_BLOCKS, text);
}

void no_bad_blocks(void)
{
	if (bad_first != bad_last && !mark_blocks('-'))
		wrong("%s: errno %d", BAD_BLOCKS, errno);
	bad_first = bad_last = 0;
}

/* Some pages of SLOT_BAD's disk cannot be read or written. */
void bad_blocks(void)
{
	uint32_t page = fuzz_below(&rng, NR_PAGES);
	uint32_t nr = fuzz_chance(&rng, 50) ? 1 : 1 + fuzz_below(&rng, 100);

	no_bad_blocks();
	if (page + nr > NR_PAGES)
		nr = NR_PAGES - page;
	bad_first = page * SECTORS;
	bad_last = (page + nr) * SECTORS - 1;
	board->slot[SLOT_BAD].errors++;
	if (!mark_blocks('+'))
		wrong("%s: errno %d", BAD_BLOCKS, errno);
}

/* Pages from @first on may be cut from now on, or were. */
static void cutting(uint32_t first, uint32_t end)
{
	uint32_t page;

	for (page = first; page < end; page++)
		__atomic_add_fetch(&board->slot[SLOT_OWN].page[page].cuts, 1,
				   __ATOMIC_SEQ_CST);
}

static void a_while(void)
{
	if (fuzz_chance(&rng, 50))
		usleep(fuzz_below(&rng, 20000));
}

static void cut(void)
{
	uint32_t first = CUT_FIRST + fuzz_below(&rng, NR_PAGES - CUT_FIRST);
	uint64_t bytes = first * PAGE_BYTES;

	doing(ACT_cut, "cut");
	/* Between two words: half a word would be taken for a lost write. */
	if (fuzz_chance(&rng, 30))
		bytes += 8 * fuzz_below(&rng, PAGE_BYTES / 8);
	cutting(first, NR_PAGES);
	if (ftruncate(slot_file[SLOT_OWN], bytes))
		wrong("ftruncate: errno %d", errno);
	a_while();
	if (ftruncate(slot_file[SLOT_OWN], NR_PAGES * PAGE_BYTES))
		wrong("ftruncate: errno %d", errno);
	cutting(first, NR_PAGES);
}

static void punch(void)
{
	uint32_t first = CUT_FIRST + fuzz_below(&rng, NR_PAGES - CUT_FIRST);
	uint32_t nr = 1 + fuzz_below(&rng, NR_PAGES - first);

	doing(ACT_punch, "punch");
	cutting(first, first + nr);
	if (fallocate(slot_file[SLOT_OWN],
		      FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      first * PAGE_BYTES, nr * PAGE_BYTES) && !board->inject)
		wrong("fallocate: errno %d", errno);
	cutting(first, first + nr);
}

static void extend(void)
{
	doing(ACT_extend, "extend");
	if (ftruncate(slot_file[SLOT_OWN], NR_PAGES * PAGE_BYTES +
		      fuzz_below(&rng, 100000)))
		wrong("ftruncate: errno %d", errno);
	a_while();
	if (ftruncate(slot_file[SLOT_OWN], NR_PAGES * PAGE_BYTES))
		wrong("ftruncate: errno %d", errno);
}

static void read_all(const char *path)
{
	char text[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && read(fd, text, sizeof(text)) > 0)
		;
	if (fd >= 0)
		close(fd);
}

/* Whoever looks at containers that come and go. */
static void query(void)
{
	struct hipec_status status = { 0 };
	DIR *dir = opendir(DEBUGFS "hipec");
	int fd = hipec_open();
	struct dirent *e;
	char path[400];

	doing(ACT_query, "query");
	while (fd >= 0 && !hipec_next(fd, status.id, &status))
		;
	if (fd >= 0)
		close(fd);
	while (dir && (e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), DEBUGFS "hipec/%s/status",
			 e->d_name);
		read_all(path);
		snprintf(path, sizeof(path), DEBUGFS "hipec/%s/policy",
			 e->d_name);
		read_all(path);
	}
	if (dir)
		closedir(dir);
}

/* Allocations that the module asks for fail, or fail no more. */
static void inject(void)
{
	doing(ACT_inject, "inject");
	inject_faults(&rng);
}

/* In kB: two threads and their children need about 1 MB. */
static void squeeze(void)
{
	char text[32] = "max";

	doing(ACT_squeeze, "squeeze");
	if (fuzz_chance(&rng, 70))
		snprintf(text, sizeof(text), "%uK",
			 512 + fuzz_below(&rng, 6000));
	put(CGROUP "memory.max", text);
}

void start_disturbing(void)
{
	if (mkdir(CGROUP, 0755) && errno != EEXIST)
		wrong(CGROUP ": errno %d", errno);
	/*
	 * Ours, and those of what we call. Deeper down is ext4, which takes its block
	 * groups for corrupt when it cannot allocate: EUCLEAN for ever.
	 */
	if (board->inject && !can_inject(10))
		wrong("this kernel cannot inject faults");
	/* From here on it is silent. */
	put("/proc/sys/vm/drop_caches", "4");
}

static void drop_caches(void)
{
	doing(ACT_drop_caches, "drop_caches");
	put("/proc/sys/vm/drop_caches", fuzz_chance(&rng, 70) ? "2" : "3");
}

static void bad_blocks_change(void)
{
	doing(ACT_bad_blocks, "bad blocks");
	if (bad_first != bad_last)
		no_bad_blocks();
	else
		bad_blocks();
}

/* One of them, or nothing. */
void disturb(void)
{
	uint32_t dice = fuzz_below(&rng, 100);

	if (dice < 4)
		swap(fuzz_below(&rng, NR_SLOTS));
	else if (dice < 14)
		cut();
	else if (dice < 17)
		punch();
	else if (dice < 20)
		extend();
	else if (dice < 34)
		bad_blocks_change();
	else if (dice < 40)
		drop_caches();
	else if (dice < 42)
		kill_one();
	else if (dice >= 95)
		squeeze();
	else if (dice < 45)
		query();
	else if (dice < 50 && board->inject)
		inject();
	else if (dice >= 80)
		swap_policy(fuzz_below(&rng, NR_SLOTS));
	else if (dice >= 77)
		revoke_policy(fuzz_below(&rng, NR_SLOTS));
	else if (dice >= 70)
		ask_why(fuzz_below(&rng, NR_SLOTS));
}
