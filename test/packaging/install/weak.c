// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program that uses hipec where it is, and does without where it is not: neither
 * library nor module, nor the right to use it. It adds up the bytes of a file.
 *
 *	cc weak.c -o weak				no library: mmap() alone
 *	cc weak.c -o weak -Wl,--no-as-needed -lhipec	with it
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hipec.h>

/* Null where nobody brings the library. */
#pragma weak hipec_open
#pragma weak hipec_load_file
#pragma weak hipec_attach

/* A region of a file under a policy, to map; or the file itself. */
static int choose(int file, const char *policy, unsigned long frames)
{
	char why[256] = "there is no libhipec";
	int fd = -1, region = -1;

	if (hipec_open) {
		fd = hipec_open();
		snprintf(why, sizeof(why), "%s", fd < 0 ? strerror(-fd) : "");
	}
	if (fd >= 0 && !hipec_load_file(fd, policy, frames, 0, why, sizeof(why))) {
		region = hipec_attach(fd, file, 0, 0, false, NULL);
		if (region < 0)
			snprintf(why, sizeof(why), "%s", strerror(-region));
	}
	if (fd >= 0)
		close(fd);	/* the region keeps the container */
	if (region >= 0)
		return region;
	fprintf(stderr, "without hipec: %s\n", why);
	return file;
}

int main(int argc, char **argv)
{
	int file = argc > 2 ? open(argv[2], O_RDONLY) : -1;
	unsigned long sum = 0;
	unsigned char *p;
	struct stat st;
	off_t i;

	if (file < 0 || fstat(file, &st))
		return 2;
	p = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED,
		 choose(file, argv[1], 4096), 0);
	if (p == MAP_FAILED)
		return 1;
	for (i = 0; i < st.st_size; i++)
		sum += p[i];
	printf("%lu\n", sum);
	return 0;
}
