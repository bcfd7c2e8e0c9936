// SPDX-License-Identifier: GPL-2.0-only
/*
 * The regions of hipec run, one a file: whoever maps the file, in whichever process
 * of the program and again later, has the same frames. A file that has changed since
 * it was attached is attached anew, as a region to read does not see it change.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

#define PAGE 4096ull
#define OTHER_FDS 32	/* that the command has open beside regions */

/* File systems count time in ticks of the clock, some in seconds. */
#define TICK_NS 20000000ll
#define SECOND_NS 1000000000ll

static bool same_file(const struct stat *a, const struct stat *b)
{
	if (S_ISBLK(a->st_mode) || S_ISBLK(b->st_mode))
		return S_ISBLK(a->st_mode) && S_ISBLK(b->st_mode) &&
		       a->st_rdev == b->st_rdev;
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool unchanged(const struct stat *a, const struct stat *b)
{
	return S_ISBLK(a->st_mode) ||
	       (a->st_size == b->st_size && same_time(a->st_mtim, b->st_mtim) &&
		same_time(a->st_ctim, b->st_ctim));
}

/* Whether what is written now may leave the file's times as they are. */
static bool is_racy(const struct stat *st)
{
	const struct timespec *m = &st->st_mtim, *c = &st->st_ctim, *last;
	struct timespec clock;
	long long age;

	clock_gettime(CLOCK_REALTIME, &clock);
	last = m->tv_sec > c->tv_sec ||
	       (m->tv_sec == c->tv_sec && m->tv_nsec > c->tv_nsec) ? m : c;
	age = (clock.tv_sec - last->tv_sec) * SECOND_NS + clock.tv_nsec - last->tv_nsec;
	return S_ISREG(st->st_mode) &&
	       age < (last->tv_nsec ? TICK_NS : 2 * SECOND_NS);
}

static void drop(struct run *r, struct run_region *region)
{
	close(region->fd);
	close(region->file);
	*region = r->region[--r->nr_regions];
}

/* As many as descriptors allow; the program's own limit was set before. */
static unsigned int most_regions(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return RUN_MAX_REGIONS;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur >= 2 * RUN_MAX_REGIONS + OTHER_FDS)
		return RUN_MAX_REGIONS;
	return limit.rlim_cur > OTHER_FDS + 2 ?
	       (limit.rlim_cur - OTHER_FDS) / 2 : 1;
}

/* Room for one more: that which was asked for the longest ago, and is only read. */
static int make_room(struct run *r)
{
	struct run_region *oldest = NULL;
	unsigned int i;

	if (!r->region) {
		r->max_regions = most_regions();
		r->region = calloc(r->max_regions, sizeof(*r->region));
		if (!r->region)
			return -ENOMEM;
	}
	if (r->nr_regions < r->max_regions)
		return 0;
	for (i = 0; i < r->nr_regions; i++)
		if (!r->region[i].written &&
		    (!oldest || r->region[i].used < oldest->used))
			oldest = &r->region[i];
	if (!oldest)
		return -EMFILE;
	drop(r, oldest);
	return 0;
}

static int length_of(int file, const struct stat *st, uint64_t *length)
{
	*length = st->st_size;
	if (S_ISBLK(st->st_mode) && ioctl(file, BLKGETSIZE64, length))
		return -errno;
	*length = (*length + PAGE - 1) & -PAGE;
	return 0;
}

static int attach(struct run *r, int file, const struct stat *st, bool write,
		  struct run_region **region)
{
	struct run_region new = {
		.written = write, .st = *st, .racy = is_racy(st),
		.number = r->next_number + 1,
	};
	int ret = make_room(r) ?: length_of(file, st, &new.length);

	if (ret)
		return ret;
	new.file = fcntl(file, F_DUPFD_CLOEXEC, 0);
	if (new.file < 0)
		return -errno;
	new.fd = hipec_attach(r->device, file, 0, new.length, write, NULL);
	if (new.fd < 0) {
		close(new.file);
		return new.fd;
	}
	r->next_number++;
	*region = &r->region[r->nr_regions++];
	**region = new;
	return 0;
}

/**
 * run_region_get() - the region of a file, attached if it is not
 * @r:      run
 * @kind:   RUN_READ, RUN_WRITE or RUN_IF_WRITTEN
 * @file:   its descriptor
 * @region: gets it; good until the next call
 *
 * One that is only read makes way for one that is written, once it is mapped
 * nowhere.
 *
 * Return: 0; -ENOENT if RUN_IF_WRITTEN finds none; as hipec_attach().
 */
int run_region_get(struct run *r, enum run_kind kind, int file,
		   struct run_region **region)
{
	struct stat st;
	unsigned int i;

	if (fstat(file, &st))
		return -errno;
	for (i = 0; i < r->nr_regions; i++)
		if (same_file(&st, &r->region[i].st))
			break;
	*region = i < r->nr_regions ? &r->region[i] : NULL;
	if (*region && !(*region)->written && kind != RUN_IF_WRITTEN &&
	    (kind == RUN_WRITE || (*region)->racy ||
	     !unchanged(&st, &(*region)->st))) {
		drop(r, *region);
		*region = NULL;
	}
	if (kind == RUN_IF_WRITTEN && (!*region || !(*region)->written))
		return -ENOENT;
	if (*region)
		return 0;
	return attach(r, file, &st, kind == RUN_WRITE, region);
}

/* The region of that number, or NULL: it has been given up. */
struct run_region *run_region_again(struct run *r, uint64_t number)
{
	unsigned int i;

	for (i = 0; i < r->nr_regions; i++)
		if (r->region[i].number == number)
			return &r->region[i];
	return NULL;
}

/* As close() does it, of one descriptor more. */
void run_regions_flush(struct run *r)
{
	unsigned int i;
	int fd;

	for (i = 0; i < r->nr_regions; i++) {
		fd = r->region[i].written ? dup(r->region[i].fd) : -1;
		if (fd >= 0)
			close(fd);
	}
}

void run_regions_free(struct run *r)
{
	while (r->nr_regions)
		drop(r, &r->region[r->nr_regions - 1]);
	free(r->region);
	r->region = NULL;
}
