// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the replayer may play on. Reading harms nothing. Writing destroys what is
 * there, so the user has to tell us so, and twice where it would be missed: where
 * the kernel uses the disk, or where there is a file system, a partition table, a
 * swap area or the like.
 */
#define _GNU_SOURCE	/* O_DIRECT */
#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "play.h"

static int size_of(int fd, const struct stat *st, u64 *bytes)
{
	if (S_ISBLK(st->st_mode))
		return ioctl(fd, BLKGETSIZE64, bytes) ? -errno : 0;
	*bytes = st->st_size;
	return 0;
}

/* What is recognised there goes into @what; empty if nothing is. */
static int recognise(int fd, char *what, size_t room)
{
	blkid_probe probe = blkid_new_probe();
	const char *type = NULL;
	int found = -1;

	*what = 0;
	if (!probe)
		return -ENOMEM;
	if (!blkid_probe_set_device(probe, fd, 0, 0)) {
		blkid_probe_enable_superblocks(probe, 1);
		blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE);
		blkid_probe_enable_partitions(probe, 1);
		found = blkid_do_safeprobe(probe);
	}
	if (!found && blkid_probe_lookup_value(probe, "TYPE", &type, NULL) &&
	    blkid_probe_lookup_value(probe, "PTTYPE", &type, NULL))
		type = "something that libblkid knows";
	if (!found)
		snprintf(what, room, "%s", type);
	else if (found == -2)	/* several */
		snprintf(what, room, "more than one file system");
	blkid_free_probe(probe);
	return found == -1 ? -EIO : 0;
}

/* The kernel lends a disk to nobody else that it has mounted, or parts of it. */
static bool is_used(const char *target)
{
	int fd = open(target, O_RDONLY | O_EXCL | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == EBUSY;
}

/* May it be written? @told: how often the user said so. */
static int may_write(const char *target, int fd, const struct stat *st, u32 told,
		     struct play_error *err)
{
	char what[64];
	int ret;

	if (!told)
		return play_say(err, "%s: the list has writes, which destroy what is there: say --overwrite, or --read-only",
				target);
	if (told > 1)
		return 0;
	if (S_ISBLK(st->st_mode) && is_used(target))
		return play_say(err, "%s: the kernel uses it, as for a file system that is mounted: to destroy that, say --overwrite twice",
				target);
	ret = recognise(fd, what, sizeof(what));
	if (ret)
		return play_say(err, "%s: cannot tell what is on it (%s): to write all the same, say --overwrite twice",
				target, strerror(-ret));
	if (*what)
		return play_say(err, "%s: has %s on it: to destroy that, say --overwrite twice",
				target, what);
	return 0;
}

static int check(const struct play_plan *plan, const char *target, int fd,
		 u32 told, struct play_error *err)
{
	u64 bytes = 0, needed = plan->end * TRACE_PAGE_BYTES;
	struct stat st;
	int ret;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISBLK(st.st_mode) && !S_ISREG(st.st_mode))
		return play_say(err, "%s: want a file or a disk", target);
	ret = size_of(fd, &st, &bytes);
	if (ret)
		return ret;
	if (bytes < needed)
		return play_say(err, "%s: has %llu bytes, and the list goes up to %llu: want a larger one%s",
				target, (unsigned long long)bytes,
				(unsigned long long)needed,
				S_ISREG(st.st_mode) ? ", as of fallocate -l" : "");
	return plan->written_pages ? may_write(target, fd, &st, told, err) : 0;
}

/**
 * play_open() - open what is to be played on, if it may be
 * @plan:   requests
 * @target: a file or a disk
 * @told:   how often the user said that it may be overwritten
 * @err:    filled for -EINVAL
 *
 * Return: a descriptor for direct I/O; -EINVAL, said; another errno.
 */
int play_open(const struct play_plan *plan, const char *target, u32 told,
	      struct play_error *err)
{
	/* Not for writing before it is known that it may be. */
	int fd = open(target, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret;

	if (fd < 0)
		return -errno;
	ret = check(plan, target, fd, told, err);
	close(fd);
	if (ret)
		return ret;
	fd = open(target, (plan->written_pages ? O_RDWR : O_RDONLY) | O_DIRECT |
			  O_CLOEXEC);
	if (fd < 0 && errno == EINVAL)
		return play_say(err, "%s: its file system has no direct I/O", target);
	return fd < 0 ? -errno : fd;
}
