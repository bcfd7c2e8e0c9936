// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regions are made: of files that can be attached, and of those that cannot.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>

#include "hostile.h"

int op_open_file(void)
{
	struct hold *h = place_for(w.file);
	/* Most often its own, so that not all are in each other's way. */
	uint32_t file = chance(50) ? w.me : below(NR_BACKING);
	bool writable = chance(75);

	h->fd = open(backing_path(file), writable ? O_RDWR : O_RDONLY);
	h->file = file;
	h->writable = writable;
	return h->fd < 0 ? -errno : 0;
}

static int attach(uint64_t offset, uint64_t length)
{
	struct hold *c = container(false), *f = any_hold(w.file), *r;
	struct stat st;
	bool writable;
	int fd;

	if (!f && !op_open_file())
		f = any_hold(w.file);
	if (!c || !f)
		return -EMFILE;
	if (!c->loaded)
		load_with(c, NULL, 0, chance(50) ? HIPEC_LOAD_SHARE : 0);
	writable = f->writable && chance(70);
	fd = hipec_attach(c->fd, f->fd, offset, length, writable, NULL);
	if (fd < 0)
		return fd;
	if (!length) {
		if (fstat(f->fd, &st) || !S_ISREG(st.st_mode))
			st.st_size = MAX_PAGES * PAGE_BYTES;
		length = st.st_size > (off_t)offset ? st.st_size - offset : 1;
	}
	r = place_for(w.region);
	*r = (struct hold){
		.fd = fd, .file = f->file, .first = offset / PAGE_BYTES,
		.pages = (length + PAGE_BYTES - 1) / PAGE_BYTES,
		.writable = writable,
	};
	return 0;
}

int op_attach(void)
{
	return attach(0, 0);
}

int op_attach_part(void)
{
	return attach(below(40) * PAGE_BYTES, 1 + below(48 * PAGE_BYTES));
}

/* What is no backing file, or no range of it. */
int op_attach_odd(void)
{
	static const char *const paths[] = {
		"/data", "/dev/null", "/dev/zero", "/proc/self/maps",
		"/sys/kernel/debug/hipec/frames", "/dev/hipec", "/data/hostile-0",
	};
	struct hold *c = container(false), *r = any_hold(w.region);
	int pipes[2] = { -1, -1 }, fd, ret;

	if (!c)
		return -EMFILE;
	switch (below(6)) {
	case 0:
		fd = r ? dup(r->fd) : -1;
		break;
	case 1:
		fd = pipe(pipes) ? -1 : pipes[0];
		break;
	case 2:
		fd = dup(c->fd);
		break;
	case 3:
		fd = open("/data/hostile-1", O_WRONLY | O_APPEND);
		break;
	default:
		fd = open(paths[below(7)], chance(30) ? O_PATH : O_RDONLY);
	}
	ret = hipec_attach(c->fd, fd, chance(60) ? 0 : fuzz_random(&w.rng),
			   chance(60) ? 0 : fuzz_random(&w.rng) >> below(64),
			   chance(20), NULL);
	if (ret >= 0)
		keep_region(ret, 1);
	close(fd);
	close(pipes[1]);
	return ret;
}
