/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For programs of the benchmarks that have files under a policy.
 *
 * Interface:
 * load_as()     a container has a policy
 * attach_to()   a region of it is over a file
 * take()        a file, or the files of a cgroup, is under a policy
 * take_region() a region over a file is
 * disk_pages()  pages read from a disk so far
 */
#ifndef HIPEC_BENCH_TAKE_H
#define HIPEC_BENCH_TAKE_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../userlib/lib/hipec.h"
#include "program.h"

/* A container with a policy: a .hpo, or none, the built-in one. Return: a descriptor. */
static inline int load_as(const char *policy, struct hipec_load load)
{
	int fd = hipec_open(), ret = 0;
	void *image = NULL;
	size_t size = 0;
	char log[256] = "";

	if (fd < 0)
		die("hipec");
	if (strcmp(policy, "none"))
		ret = hipec_image_read(policy, &image, &size);
	load.image = (uintptr_t)image;
	load.image_size = size;
	load.log = (uintptr_t)log;
	load.log_size = sizeof(log);
	ret = ret ?: hipec_load_args(fd, &load);
	if (ret) {
		fprintf(stderr, "%s: %s %s\n", policy, strerror(-ret), log);
		exit(1);
	}
	free(image);
	return fd;
}

/* Return: a descriptor of a region over all of the file. */
static inline int attach_to(int container, int file)
{
	int region = hipec_attach(container, file, 0, 0, false, NULL);

	errno = region < 0 ? -region : 0;
	if (errno)
		die("region");
	return region;
}

/* @flags: of the load. */
static inline int load_policy(const char *policy, const char *frames, unsigned int flags)
{
	return load_as(policy, (struct hipec_load){
		.flags = flags, .frames = strtoul(frames, NULL, 0) });
}

/* @flags: beside IN_PLACE. Return: a descriptor; @taken is under the policy while it is open. */
static inline int take(const char *policy, const char *frames, const char *taken,
		       unsigned int flags)
{
	int fd = load_policy(policy, frames, HIPEC_LOAD_IN_PLACE | flags);
	int what = open(taken, O_PATH);
	struct hipec_take args = { 0 };
	struct stat st;

	if (what < 0 || fstat(what, &st))
		die(taken);
	errno = -(S_ISDIR(st.st_mode) ? hipec_take_cgroup(fd, 0, what, 0, NULL, &args) :
					hipec_take(fd, 0, what, &args));
	if (errno)
		die(taken);
	close(what);
	return fd;
}

/* Return: as take(); @file becomes that of a region over all of the file. */
static inline int take_region(const char *policy, const char *frames, int *file)
{
	int fd = load_policy(policy, frames, 0);

	*file = attach_to(fd, *file);
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
