// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations on files in place: containers that are loaded so, kept or not; files, directories and
 * what a cgroup's processes open, taken and let go of by anyone who may; and the files themselves,
 * which meanwhile are read, written, cut, extended beyond their page numbers, moved and made anew.
 *
 * What is mapped here is touched, locked and advised by memory.c as regions are, and swapped,
 * recorded and asked about by device.c.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "hostile.h"

#define MAX_READ 64		/* pages */
#define MAX_ROUNDS 200		/* containers that end_places() lets go of, at most */

static const char *const dirs[] = { PLACE_DIR, PLACE_DIR "/away" };

/* Page numbers of a small file end at 65,536; the last ones are those of the largest file. */
static const uint32_t far_pages[] = { 65536 - 16, 65536 + 64, 1 << 18, 1 << 22, (1 << 30) - 64 };

/* One of the last place now and then: a file so large has half of all page numbers. */
static uint32_t far_page(void)
{
	return far_pages[chance(95) ? below(4) : 4] + below(32);
}

/* Directories that all may write to, and a cgroup, of an ordinary user. Return: 0; -errno, said. */
int make_places(void)
{
	uint32_t i;

	for (i = 0; i < 2; i++)
		if (mkdir(dirs[i], 0700) || chmod(dirs[i], 0777) || chown(dirs[i], USER, USER)) {
			perror(dirs[i]);
			return -errno;
		}
	if (chmod(HIPEC_DEVICE, 0666)) {
		perror(HIPEC_DEVICE);
		return -errno;
	}
	if (chown(CGROUP_OPENED, USER, USER)) {
		perror(CGROUP_OPENED);
		return -errno;
	}
	return 0;
}

/* Let go of what was kept, or lives on for a moment. Return: containers that there were. */
uint32_t end_places(int fd)
{
	struct hipec_status s = { 0 };
	uint32_t nr = 0;
	uint64_t id = 0;

	while (nr < MAX_ROUNDS && !hipec_next(fd, id, &s)) {
		id = s.id;
		hipec_release(fd, id, -1);
		nr++;
	}
	return nr;
}

/* Of any container that the caller may see, or may not; 0: the caller's own. */
static uint64_t some_id(int fd)
{
	struct hipec_status s = { 0 };

	if (chance(10))
		return below(board->last_id + 2);
	return hipec_next(fd, below(board->last_id + 1), &s) ? 0 : s.id;
}

int op_place_load(void)
{
	uint32_t flags = HIPEC_LOAD_IN_PLACE | (chance(25) ? HIPEC_LOAD_KEEP : 0) |
			 (chance(30) ? HIPEC_LOAD_SHARE : 0) |
			 (chance(40) ? HIPEC_LOAD_CONTRACT : 0);
	struct hold *p = place_for(w.place);
	struct hipec_status s = { 0 };
	const void *image;
	size_t size = some_image(&image);
	int ret;

	p->fd = hipec_open();
	if (p->fd < 0)
		return -EMFILE;
	ret = load_with(p, image, size, flags);
	if (ret)
		let_go(p);
	else if (!hipec_status(p->fd, &s))
		__atomic_store_n(&board->last_id, s.id, __ATOMIC_RELAXED);
	return ret;
}

/* A container in place, and a file that may be taken: made if there are none. */
static bool have_both(struct hold **p, struct hold **f)
{
	if (!any_hold(w.place))
		op_place_load();
	if (!any_hold(w.file))
		op_place_open();
	*p = any_hold(w.place);
	*f = any_hold(w.file);
	return *p && *f;
}

int op_place_open(void)
{
	struct hold *h = place_for(w.file);
	uint32_t file = FIRST_PLACED + (chance(50) ? w.me : below(NR_PLACED));

	h->writable = chance(75);
	h->fd = open(backing_path(file), h->writable ? O_RDWR | O_CREAT : O_RDONLY, 0666);
	h->file = file;
	return h->fd < 0 ? -errno : 0;
}

/* At times the container that has what is wanted loses it. Return: whether it has. */
static bool in_the_way(const struct hold *p, int fd, int ret, const struct hipec_take *take)
{
	return ret == -EBUSY && chance(40) && !hipec_release(p->fd, take->other, fd);
}

int op_place_take(void)
{
	struct hipec_take take;
	struct hold *p, *f;
	int ret;

	if (!have_both(&p, &f))
		return -EMFILE;
	ret = hipec_take(p->fd, chance(80) ? 0 : some_id(p->fd), f->fd, &take);
	if (ret == -EBUSY && !take.other)
		wrong("take: file %u is nobody's and busy", f->file);
	return in_the_way(p, f->fd, ret, &take) ? hipec_take(p->fd, 0, f->fd, NULL) : ret;
}

/* Files come as they are made there, or moved. */
int op_place_dir(void)
{
	struct hold *p = any_hold(w.place);
	int fd = open(dirs[below(2)], O_RDONLY | O_DIRECTORY), ret;
	struct hipec_take take;

	if (!p || fd < 0) {
		ret = -EMFILE;
	} else if (chance(70)) {
		ret = hipec_take(p->fd, 0, fd, &take);
		if (in_the_way(p, fd, ret, &take))
			ret = hipec_take(p->fd, 0, fd, NULL);
	} else {
		ret = hipec_release(p->fd, 0, fd);
	}
	close(fd);
	return ret;
}

/* Files come as they are opened. */
int op_place_cgroup(void)
{
	static const char *const names[] = { NULL, "*hostile*\n", "[0-9]\n*-place/?\n", "no line" };
	struct hold *p = any_hold(w.place);
	int fd = open(CGROUP_OPENED, O_RDONLY | O_DIRECTORY), ret;
	struct hipec_take take;

	if (!p || fd < 0) {
		ret = -EMFILE;
	} else if (chance(80)) {
		ret = hipec_take_cgroup(p->fd, 0, fd, below(2) ? 0 : below(1 << 20),
					names[below(4)], &take);
		in_the_way(p, fd, ret, &take);
	} else {
		ret = hipec_release(p->fd, 0, fd);
	}
	close(fd);
	return ret;
}

int op_place_release(void)
{
	struct hold *p, *f;

	if (!have_both(&p, &f))
		return -EMFILE;
	return hipec_release(p->fd, 0, chance(80) ? f->fd : -1);
}

/* Somebody else's container, and for root another user's: one file of it, or all. */
int op_place_release_other(void)
{
	struct hold *p, *f;

	if (!have_both(&p, &f))
		return -EMFILE;
	return hipec_release(p->fd, some_id(p->fd), chance(40) ? f->fd : -1);
}

/* A copy that was made while the word was written may have bytes of both. */
static bool copy_ok(uint64_t got, uint64_t right)
{
	uint32_t byte;

	for (byte = 1; byte < 8; byte++) {
		uint8_t is = got >> 8 * byte;

		if (is && is != (uint8_t)(right >> 8 * byte))
			return false;
	}
	return (uint8_t)got != PRIVATE_BYTE;
}

/* @nr pages from @page on, judged. Return: bytes; -errno. */
static int read_pages(int fd, uint32_t file, uint32_t page, uint32_t nr)
{
	static uint64_t buffer[MAX_READ * PAGE_BYTES / 8];
	int ret = or_errno(pread(fd, buffer, nr * PAGE_BYTES - 8 * below(512),
				 page * PAGE_BYTES)), i;

	for (i = 0; i < ret / 8; i++) {
		uint64_t right = data_word(file, page + i / 512, i % 512);

		if (!copy_ok(buffer[i], right))
			wrong("worker %u: file %u page %u word %u is read as %016llx, not %016llx",
			      w.me, file, page + i / 512, i % 512,
			      (unsigned long long)buffer[i], (unsigned long long)right);
	}
	if (ret > 0)
		__atomic_add_fetch(&board->words, ret / 8, __ATOMIC_RELAXED);
	return ret;
}

/* Through the file, by little or by much; at times where it is a hole. */
int op_place_read(void)
{
	struct hold *f = any_hold(w.file);
	uint32_t page, nr = chance(50) ? 1 : 1 + below(MAX_READ), times = 1 + below(16);
	int ret = 0;

	if (!f)
		return -EBADF;
	page = chance(90) ? below(MAX_PAGES) : far_page();
	while (times-- && (ret = read_pages(f->fd, f->file, page, nr)) > 0)
		page += chance(80) ? nr : 0;
	return ret;
}

/* Return: 0; -errno. */
static int write_pages(int fd, uint32_t file, uint32_t page, uint32_t nr)
{
	uint64_t data[PAGE_BYTES / 8];

	for (; nr--; page++) {
		fill_page(data, file, page);
		if (pwrite(fd, data, PAGE_BYTES - 8 * below(512), page * PAGE_BYTES) < 0)
			return -errno;
	}
	return 0;
}

int op_place_write(void)
{
	struct hold *f = any_hold(w.file);

	if (!f || !f->writable || f->file < FIRST_PLACED)
		return -EBADF;
	return write_pages(f->fd, f->file, below(64), 1 + below(16));
}

/* Beyond its page numbers, by write() or without; and there it is read. */
int op_place_grow(void)
{
	struct hold *f = any_hold(w.file);
	uint32_t page = far_page();
	int ret;

	if (!f || !f->writable || f->file < FIRST_PLACED)
		return -EBADF;
	ret = chance(50) ? write_pages(f->fd, f->file, page, 1 + below(4)) :
			   or_errno(ftruncate(f->fd, (page + 1) * PAGE_BYTES));
	if (ret)
		return ret;
	return read_pages(f->fd, f->file, page - below(16), 1 + below(32));
}

/* Another file in its place, while the one before is open, mapped and taken. */
int op_place_anew(void)
{
	uint32_t file = FIRST_PLACED + (chance(50) ? w.me : below(NR_PLACED));
	struct hold *h = place_for(w.file);
	char other[64];
	int ret;

	snprintf(other, sizeof(other), PLACE_DIR "/new-%u-%u", file, w.me);
	if (chance(50))
		unlink(backing_path(file));
	h->fd = open(other, O_RDWR | O_CREAT | O_TRUNC, 0666);
	if (h->fd < 0)
		return -errno;
	h->file = file;
	h->writable = true;
	fchmod(h->fd, 0666);
	ret = write_pages(h->fd, file, 0, 1 + below(64));
	return ret ?: or_errno(rename(other, backing_path(file)));
}

/* Out of a directory and back, beside others who do that. */
int op_place_rename(void)
{
	uint32_t file = FIRST_PLACED + below(NR_PLACED);
	char away[64];

	snprintf(away, sizeof(away), PLACE_DIR "/away/%u", file);
	if (chance(30))
		return or_errno(renameat2(AT_FDCWD, away, AT_FDCWD, backing_path(file),
					  RENAME_EXCHANGE));
	return or_errno(chance(50) ? rename(backing_path(file), away) :
				     rename(away, backing_path(file)));
}

/* Often, since others unlink meanwhile. */
int op_place_why(void)
{
	uint32_t times = 16;
	struct hold *p, *f;
	int ret = -ENXIO;

	if (!have_both(&p, &f))
		return -EMFILE;
	while (times--) {
		struct hipec_why a = { .offset = below(MAX_PAGES) * PAGE_BYTES };

		if (chance(50)) {
			a.flags = HIPEC_WHY_BY_FILE;
			a.fd = f->fd;
		} else {
			/* A small file has 256 MB of addresses. */
			a.offset += (uint64_t)below(6) << 28;
		}
		if (hipec_why(p->fd, chance(80) ? 0 : some_id(p->fd), &a))
			continue;
		ret = 0;
		if (a.on && a.place >= a.nr)
			wrong("why: place %u of %u in place", a.place, a.nr);
	}
	return ret;
}

/* The file itself, in a place of memory.c's. */
int op_place_map(void)
{
	struct hold *f = any_hold(w.file);
	struct spot *s;
	uint32_t first = chance(90) ? below(32) : far_page();
	bool writable;
	int ret;

	if (!f || f->file < FIRST_PLACED)
		return -EBADF;
	writable = f->writable && chance(70);
	s = spot_to_use();
	ret = map_at(s, f->fd, MAX_PAGES * PAGE_BYTES,
		     PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED,
		     first * PAGE_BYTES);
	if (!ret)
		*s = (struct spot){ REGION, f->file, first, MAX_PAGES, writable, false };
	return ret;
}

int op_place_advise(void)
{
	static const int advice[] = {
		POSIX_FADV_NORMAL, POSIX_FADV_RANDOM, POSIX_FADV_SEQUENTIAL, POSIX_FADV_WILLNEED,
		POSIX_FADV_DONTNEED, POSIX_FADV_DONTNEED, POSIX_FADV_DONTNEED,
	};
	struct hold *f = any_hold(w.file);

	if (!f)
		return -EBADF;
	return -posix_fadvise(f->fd, below(MAX_PAGES) * PAGE_BYTES, below(MAX_PAGES) * PAGE_BYTES,
			      advice[below(7)]);
}

/* Rivals of any kind, some of which never end, play in the reads that follow. */
int op_place_league(void)
{
	uint32_t rivals = 1 + below(4), pages = 8 + below(56), i;
	struct hold *p, *f;
	const void *image;
	int ret = -EINVAL;
	size_t size;

	if (!have_both(&p, &f))
		return -EMFILE;
	hipec_take(p->fd, 0, f->fd, NULL);
	while (rivals--) {
		size = some_image(&image);
		if (hipec_join(p->fd, 0, image, size, NULL, 0) >= 0)
			ret = 0;
	}
	for (i = 0; !ret && i < 3 * pages; i++)
		read_pages(f->fd, f->file, i % pages, 1);
	return ret;
}

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) > 0;

	close(fd);
	return ok;
}

/*
 * Reads all that is there and wants memory of its own, in a cgroup that has too little for both.
 * One at a time: memory of several would be too much without us, too. Its end unlocks the file.
 */
static void be_short_of_memory(void)
{
	const size_t bytes = CGROUP_SMALL_BYTES / 3;
	int fd = open(CGROUP_SMALL "/cgroup.procs", O_RDONLY);
	uint32_t file, page;
	char *memory;
	size_t at;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) ||
	    !write_text(CGROUP_SMALL "/cgroup.procs", "0"))
		_exit(1);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (file = 0; file < NR_BACKING; file++) {
		fd = open(backing_path(file), O_RDONLY);
		for (page = 0; fd >= 0 && page < MAX_PAGES; page += MAX_READ)
			read_pages(fd, file, page, MAX_READ);
		for (at = file * PAGE_BYTES; at < bytes; at += NR_BACKING * PAGE_BYTES)
			memory[at] = 1;
		close(fd);
	}
	_exit(0);
}

/* Of root, who may move a process to another cgroup. */
int op_place_squeeze(void)
{
	int status;
	pid_t pid;

	if (getuid())
		return -EPERM;
	pid = fork();
	if (!pid)
		be_short_of_memory();
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -errno;
	return status ? -EIO : 0;
}

/* Also what goes through all containers. */
int op_place_drop(void)
{
	static const char *const what[] = { "1", "2", "3" };

	if (chance(30)) {
		sync();
		return 0;
	}
	return write_text("/proc/sys/vm/drop_caches", what[below(3)]) ? 0 : -EPERM;
}
