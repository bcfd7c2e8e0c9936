/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For programs of the benchmarks that have files in place under a policy.
 *
 * Interface:
 * take()        a file, or the files of a cgroup, is under a policy
 * disk_pages()  pages read from a disk so far
 */
#ifndef HIPEC_BENCH_TAKE_H
#define HIPEC_BENCH_TAKE_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../userlib/lib/hipec.h"
#include "program.h"

/* @policy: a .hpo. Return: a descriptor; @taken is under the policy while it is open. */
static inline int take(const char *policy, const char *frames, const char *taken)
{
	struct hipec_load load = {
		.flags = HIPEC_LOAD_IN_PLACE, .frames = strtoul(frames, NULL, 0),
	};
	int fd = hipec_open(), what = open(taken, O_PATH), ret;
	struct hipec_take args = { 0 };
	void *image = NULL;
	size_t size = 0;
	struct stat st;

	if (fd < 0 || what < 0 || fstat(what, &st))
		die(taken);
	ret = hipec_image_read(policy, &image, &size);
	load.image = (uintptr_t)image;
	load.image_size = size;
	if (!ret)
		ret = hipec_load_args(fd, &load);
	if (!ret)
		ret = S_ISDIR(st.st_mode) ?
			hipec_take_cgroup(fd, 0, what, 0, NULL, &args) :
			hipec_take(fd, 0, what, &args);
	errno = -ret;
	if (ret)
		die(policy);
	free(image);
	close(what);
	return fd;
}

static inline uint64_t disk_pages(const char *disk)
{
	uint64_t sectors;
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/block/%s/stat", disk);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*u %*u %" SCNu64, &sectors) != 1)
		die(path);
	fclose(f);
	return sectors / 8;
}

#endif /* HIPEC_BENCH_TAKE_H */
