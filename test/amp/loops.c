// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that knows nothing of hipec, as cscope is one: for each line that it reads
 * it searches all of a mapped file, and looks at some pages of another one in between.
 *
 *	loops LARGE SMALL
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE_BYTES 4096ul
#define AT_ONCE 64		/* pages of a search between two looks */
#define HOT 16

static unsigned long sum;

static const volatile unsigned char *map_file(const char *path, size_t *pages)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	void *at;

	if (fd < 0 || fstat(fd, &st)) {
		perror(path);
		exit(1);
	}
	at = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	close(fd);
	*pages = st.st_size / PAGE_BYTES;
	return at;
}

__attribute__((noinline, noclone))
static void search(const volatile unsigned char *base, size_t from, size_t to)
{
	for (; from < to; from++)
		sum += base[from * PAGE_BYTES];
}

__attribute__((noinline, noclone))
static void look_up(const volatile unsigned char *base, size_t pages, size_t round)
{
	size_t i;

	for (i = 0; i < 4; i++)
		sum += base[(round * 7 + i * 5) % (pages < HOT ? pages : HOT) *
			    PAGE_BYTES];
}

int main(int argc, char **argv)
{
	const volatile unsigned char *large, *small;
	size_t pages, few, i;
	char line[64];

	if (argc != 3)
		return 2;
	large = map_file(argv[1], &pages);
	small = map_file(argv[2], &few);
	while (fgets(line, sizeof(line), stdin)) {
		for (i = 0; i < pages; i += AT_ONCE) {
			search(large, i, i + AT_ONCE < pages ? i + AT_ONCE : pages);
			look_up(small, few, i / AT_ONCE);
		}
		printf("%lx\n", sum);
		fflush(stdout);
	}
	return 0;
}
