// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults on a file in the page cache: faults hits|misses ROUNDS FILE. Each round maps
 * the file, touches each of its pages, and unmaps it; before a round of misses the
 * cache drops the file. Prints the time, and faults.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "../../lib/program.h"

#define PAGE_BYTES 4096

static void round_over(int fd, size_t bytes, int drop)
{
	volatile const char *base;
	size_t at;

	if (drop && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		die("posix_fadvise");
	base = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		die("mmap");
	for (at = 0; at < bytes; at += PAGE_BYTES)
		(void)base[at];
	munmap((void *)base, bytes);
}

int main(int argc, char **argv)
{
	struct rusage before, after;
	int fd, drop, rounds, i;
	struct stat st;
	uint64_t start;

	if (argc != 4 || (strcmp(argv[1], "hits") && strcmp(argv[1], "misses")))
		return 2;
	drop = !strcmp(argv[1], "misses");
	rounds = atoi(argv[2]);
	fd = open(argv[3], O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		die(argv[3]);
	round_over(fd, st.st_size, 0);
	getrusage(RUSAGE_SELF, &before);
	start = now();
	for (i = 0; i < rounds; i++)
		round_over(fd, st.st_size, drop);
	start = now() - start;
	getrusage(RUSAGE_SELF, &after);
	printf("what=%s rounds=%d elapsed_ns=%" PRIu64 " minor=%ld major=%ld\n", argv[1], rounds,
	       start, after.ru_minflt - before.ru_minflt, after.ru_majflt - before.ru_majflt);
	return 0;
}
