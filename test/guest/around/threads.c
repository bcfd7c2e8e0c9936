// SPDX-License-Identifier: GPL-2.0-only
/*
 *	threads FILE N
 *
 * Static, and without a library between it and the kernel, as a Go program is: N
 * threads open FILE, read it in their own orders, by system calls and by a map, and
 * compare.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096l

static const char *path;
static long pages;

static void *compare(void *arg)
{
	unsigned long seed = (uintptr_t)arg;
	int fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
	unsigned char buffer[PAGE], *map;
	long i, page;

	map = (void *)syscall(SYS_mmap, 0, pages * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	for (i = 0; i < pages; i++) {
		seed = seed * 6364136223846793005ul + 1442695040888963407ul;
		page = (seed >> 33) % pages;
		if (syscall(SYS_pread64, fd, buffer, PAGE, page * PAGE) != PAGE ||
		    memcmp(buffer, map + page * PAGE, PAGE))
			exit(1);
	}
	syscall(SYS_close, fd);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[16];
	long i, n = argc > 2 ? atol(argv[2]) : 0;
	int fd = argc > 2 ? open(argv[1], O_RDONLY) : -1;

	if (fd < 0 || n < 1 || n > 16)
		return 2;
	path = argv[1];
	pages = lseek(fd, 0, SEEK_END) / PAGE;
	close(fd);
	for (i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, compare, (void *)(i + 1)))
			return 1;
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
