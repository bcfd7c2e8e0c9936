// SPDX-License-Identifier: GPL-2.0-only
/* Look through a file again and again: search FILE. As any program, it maps it. */
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = open(argv[argc - 1], O_RDONLY);
	volatile const char *base;
	struct stat st;
	off_t at;

	if (fd < 0 || fstat(fd, &st))
		return 1;
	base = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (base == MAP_FAILED)
		return 1;
	for (at = 0;; at = (at + 4096) % st.st_size) {
		(void)base[at];
		if (at % (64 * 4096) == 0)
			usleep(1000);
	}
}
