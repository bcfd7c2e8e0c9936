// SPDX-License-Identifier: GPL-2.0-only
/*
 * Look through a file again and again, as a region under a policy, in a share:
 * search POLICY.hpo FRAMES FILE.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include "../../../userlib/lib/hipec.h"

static int check(int ret, const char *what)
{
	if (ret >= 0)
		return ret;
	fprintf(stderr, "search: %s: %s\n", what, strerror(-ret));
	exit(1);
}

int main(int argc, char **argv)
{
	struct hipec_load load = { .flags = HIPEC_LOAD_SHARE };
	volatile const char *base;
	int device, file, region;
	struct stat st;
	void *image;
	size_t size;
	off_t at;

	if (argc != 4)
		return 2;
	device = check(hipec_open(), "open");
	check(hipec_image_read(argv[1], &image, &size), argv[1]);
	load.image = (uintptr_t)image;
	load.image_size = size;
	load.frames = atol(argv[2]);
	check(hipec_load_args(device, &load), argv[1]);
	file = open(argv[3], O_RDONLY);
	if (file < 0 || fstat(file, &st))
		return 1;
	region = check(hipec_attach(device, file, 0, 0, false, NULL), argv[3]);
	base = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, region, 0);
	if (base == MAP_FAILED)
		return 1;
	for (at = 0;; at = (at + 4096) % st.st_size) {
		(void)base[at];
		if (at % (64 * 4096) == 0)
			usleep(1000);
	}
}
