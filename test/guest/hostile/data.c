// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files, and what is in them: every word is 0 or tells its file, page and
 * place, with a byte that changes. Whoever writes, writes such words only, so that
 * whatever the module does in whatever order, a reader knows what cannot be. What
 * is written to a private mapping has a byte of its own, to be seen nowhere else.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "hostile.h"

static const char *const paths[NR_BACKING] = {
	"/data/hostile-0", "/data/hostile-1", "/data/hostile-2",
	"/data/hostile-3", "/data/hostile-4", "/data/hostile-5",
	"/data/hostile-6",
	"/tmp/hostile-7",	/* tmpfs: direct I/O on newer kernels only */
	"/dev/loop0",
	PLACE_DIR "/0", PLACE_DIR "/1", PLACE_DIR "/2", PLACE_DIR "/3", PLACE_DIR "/4",
	PLACE_DIR "/5",
};

const char *backing_path(uint32_t file)
{
	return paths[file];
}

/* A word that may be in that place; its lowest byte is the writer's. */
uint64_t data_word(uint32_t file, uint32_t page, uint32_t word)
{
	uint64_t z = ((uint64_t)file << 48 | (uint64_t)page << 16 | word) + 1;

	z = (z ^ z >> 29) * 0xbf58476d1ce4e5b9ull;
	return (z ^ z >> 32) << 8;
}

bool data_ok(uint64_t got, uint32_t file, uint32_t page, uint32_t word)
{
	return !got || (got & ~0xffull) == data_word(file, page, word);
}

void fill_page(uint64_t *page, uint32_t file, uint32_t number)
{
	uint32_t i;

	for (i = 0; i < PAGE_BYTES / 8; i++)
		page[i] = data_word(file, number, i);
}

/* All may use those that are taken, and each worker has one of its own. */
static int give_file(int fd, uint32_t file)
{
	uint32_t whose = file < FIRST_PLACED ? file : file - FIRST_PLACED;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	if (fchmod(fd, file < FIRST_PLACED ? 0644 : 0666))
		return -errno;
	if (whose < NR_ROOT || whose > NR_WORKERS)
		return 0;
	return or_errno(fchown(fd, USER, USER));
}

static int make_file(uint32_t file)
{
	uint64_t page[PAGE_BYTES / 8];
	int fd = open(paths[file], O_RDWR | O_CREAT, 0600), ret;
	uint32_t i, nr = 64 + 16 * (file % FIRST_PLACED);

	if (fd < 0)
		return -errno;
	ret = give_file(fd, file);
	for (i = 0; i < nr && !ret; i++) {
		fill_page(page, file, i);
		if (pwrite(fd, page, sizeof(page), i * PAGE_BYTES) !=
		    sizeof(page))
			ret = -EIO;
	}
	if (fsync(fd))
		ret = -errno;
	close(fd);
	return ret;
}

/* Return: 0; -errno, said. */
int make_files(void)
{
	uint32_t file;
	int ret;

	for (file = 0; file < NR_BACKING; file++) {
		ret = make_file(file);
		if (ret) {
			fprintf(stderr, "%s: %s\n", paths[file],
				strerror(-ret));
			return ret;
		}
	}
	return 0;
}
