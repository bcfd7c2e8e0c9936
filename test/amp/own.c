// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that loads its policy itself, and nothing feeds that: for each line that
 * it reads it searches all of a file, which is a region of its container.
 *
 *	own POLICY.hpo FRAMES FILE
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "../../userlib/lib/hipec.h"

#define PAGE_BYTES 4096ul

static int check(int ret, const char *what)
{
	if (ret >= 0)
		return ret;
	fprintf(stderr, "%s: %s\n", what, strerror(-ret));
	exit(1);
}

__attribute__((noinline, noclone))
static unsigned long search(const volatile unsigned char *base, size_t pages)
{
	unsigned long sum = 0;
	size_t i;

	for (i = 0; i < pages; i++)
		sum += base[i * PAGE_BYTES];
	return sum;
}

int main(int argc, char **argv)
{
	int device, file, region;
	char line[64], log[512];
	struct stat st;
	void *at;

	if (argc != 4)
		return 2;
	device = check(hipec_open(), "open");
	check(hipec_load_file(device, argv[1], atol(argv[2]), 0, log, sizeof(log)),
	      argv[1]);
	file = open(argv[3], O_RDONLY);
	if (file < 0 || fstat(file, &st)) {
		perror(argv[3]);
		return 1;
	}
	region = check(hipec_attach(device, file, 0, 0, false, NULL), "attach");
	at = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, region, 0);
	if (at == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		printf("%lx\n", search(at, st.st_size / PAGE_BYTES));
		fflush(stdout);
	}
	return 0;
}
