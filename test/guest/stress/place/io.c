// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations of descriptors: read() and write(), direct ones, pipes, io_uring by its
 * system calls, files that are appended to, and what takes pages away.
 */
#include "place.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>

static uint32_t any_range(uint32_t *nr)
{
	*nr = 1 + below(MOST);
	return below(NR_PAGES - *nr + 1);
}

/* Likewise, for direct reads: XFS fails one with EIO whose pages are cut just then. */
static uint32_t kept_range(uint32_t f, uint32_t *nr)
{
	*nr = 1 + below(MOST);
	return below((f == FILE_CUT ? CUT_FIRST : NR_PAGES) - *nr + 1);
}

/* @bytes of what was remembered are in the buffer. */
static bool check_buffer(const struct before *b, ssize_t bytes, const char *where)
{
	uint32_t i;

	if (bytes < 0) {
		wrong("%s: file %u page %u: %s", where, b->f, b->page, strerror(errno));
		return false;
	}
	for (i = 0; i < bytes / PAGE_BYTES; i++)
		check(b, i, (uint64_t *)(buffer + i * PAGE_BYTES), where);
	if (i < b->nr && (b->f != FILE_CUT || b->page + i < CUT_FIRST))
		wrong("%s: file %u ends at page %u", where, b->f, b->page + i);
	return bytes;
}

bool op_read(void)
{
	struct before b;
	uint32_t nr, page = any_range(&nr), f = below(NR_FILES);

	remember(&b, f, page, nr);
	return check_buffer(&b, pread(file[f], buffer, nr * PAGE_BYTES,
				      page * PAGE_BYTES), "read()");
}

bool op_read_direct(void)
{
	struct before b;
	uint32_t nr, f = below(NR_FILES), page = kept_range(f, &nr);

	remember(&b, f, page, nr);
	return check_buffer(&b, pread(direct[f], buffer, nr * PAGE_BYTES,
				      page * PAGE_BYTES), "direct read");
}

static bool wrote(uint32_t f, uint32_t page, uint32_t word, uint64_t value,
		  uint32_t cuts, ssize_t bytes, ssize_t want)
{
	if (bytes != want) {
		wrong("write to file %u page %u: %zd, %s", f, page, bytes, strerror(errno));
		return false;
	}
	end_write(f, page, word, value, cuts);
	return true;
}

bool op_write(void)
{
	uint32_t page = below(NR_PAGES), f = below(NR_FILES), cuts;
	uint64_t value = begin_write(f, page, self, &cuts);

	return wrote(f, page, self, value, cuts,
		     pwrite(file[f], &value, 8, page * PAGE_BYTES + 8 * word_at(self)), 8);
}

/* A sector, which nobody else writes to. */
bool op_write_direct(void)
{
	uint32_t page = below(NR_PAGES), word = NR_PROCS + self, cuts;
	uint64_t value = begin_write(FILE_DIRECT, page, word, &cuts);

	memset(buffer, 0, 512);
	memcpy(buffer, &value, 8);
	return wrote(FILE_DIRECT, page, word, value, cuts,
		     pwrite(direct[FILE_DIRECT], buffer, 512,
			    page * PAGE_BYTES + 8 * word_at(word)), 512);
}

static ssize_t read_pipe(int from, ssize_t bytes)
{
	ssize_t done = 0, n;

	while (done < bytes && (n = read(from, buffer + done, bytes - done)) > 0)
		done += n;
	return done;
}

/* Through a pipe, which holds the pages meanwhile: as long as some reads take if @hold. */
static bool through_pipe(bool send, bool hold)
{
	uint32_t nr, page = any_range(&nr), f = below(NR_FILES), i;
	off_t at = page * PAGE_BYTES;
	loff_t lat = at;
	struct before b;
	ssize_t bytes;
	int ends[2];

	if (pipe(ends))
		return false;
	remember(&b, f, page, nr);
	bytes = send ? sendfile(ends[1], file[f], &at, nr * PAGE_BYTES) :
		splice(file[f], &lat, ends[1], NULL, nr * PAGE_BYTES, 0);
	for (i = 0; hold && i < 20; i++)
		op_read();
	if (bytes > 0) {
		/* What fits, not all that there is. */
		b.nr = bytes / PAGE_BYTES;
		bytes = read_pipe(ends[0], bytes);
	}
	close(ends[0]);
	close(ends[1]);
	if (!bytes && f == FILE_CUT && page + nr > CUT_FIRST)
		return true;
	return check_buffer(&b, bytes ? bytes : -1, send ? "sendfile()" : "splice()");
}

bool op_splice(void)
{
	return through_pipe(false, false);
}

bool op_hold(void)
{
	return through_pipe(false, true);
}

bool op_sendfile(void)
{
	return through_pipe(true, false);
}

/* A ring of one entry. */
static struct {
	int fd;
	struct io_uring_params p;
	unsigned char *rings;
	struct io_uring_sqe *sqe;
} ring = { .fd = -1 };

void ring_open(void)
{
	size_t size;

	ring.fd = syscall(SYS_io_uring_setup, 1, &ring.p);
	if (ring.fd < 0)
		return;
	size = ring.p.cq_off.cqes + ring.p.cq_entries * sizeof(struct io_uring_cqe);
	if (size < ring.p.sq_off.array + 4)
		size = ring.p.sq_off.array + 4;
	ring.rings = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			  ring.fd, IORING_OFF_SQ_RING);
	ring.sqe = mmap(NULL, sizeof(*ring.sqe), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_POPULATE, ring.fd, IORING_OFF_SQES);
	if (!(ring.p.features & IORING_FEAT_SINGLE_MMAP) || ring.rings == MAP_FAILED ||
	    ring.sqe == MAP_FAILED)
		ring.fd = -1;
}

/* One request, waited for. Return: bytes; -1, and errno. */
static ssize_t ring_do(int op, int fd, void *data, size_t bytes, off_t at)
{
	uint32_t *sq_tail = (uint32_t *)(ring.rings + ring.p.sq_off.tail);
	uint32_t *cq_head = (uint32_t *)(ring.rings + ring.p.cq_off.head);
	uint32_t *cq_tail = (uint32_t *)(ring.rings + ring.p.cq_off.tail);
	struct io_uring_cqe *cqe = (struct io_uring_cqe *)(ring.rings + ring.p.cq_off.cqes);
	int ret;

	memset(ring.sqe, 0, sizeof(*ring.sqe));
	ring.sqe->opcode = op;
	ring.sqe->fd = fd;
	ring.sqe->off = at;
	ring.sqe->addr = (uintptr_t)data;
	ring.sqe->len = bytes;
	/* By a worker of the kernel, now and then. */
	ring.sqe->flags = below(2) ? IOSQE_ASYNC : 0;
	*(uint32_t *)(ring.rings + ring.p.sq_off.array) = 0;
	__atomic_store_n(sq_tail, *sq_tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		return -1;
	while (__atomic_load_n(cq_tail, __ATOMIC_ACQUIRE) == *cq_head)
		syscall(SYS_io_uring_enter, ring.fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	ret = cqe[*cq_head & (ring.p.cq_entries - 1)].res;
	__atomic_store_n(cq_head, *cq_head + 1, __ATOMIC_RELEASE);
	errno = ret < 0 ? -ret : 0;
	return ret < 0 ? -1 : ret;
}

bool op_ring_read(void)
{
	uint32_t nr, page = any_range(&nr), f = below(NR_FILES);
	struct before b;
	ssize_t bytes;

	if (ring.fd < 0)
		return false;
	remember(&b, f, page, nr);
	bytes = ring_do(IORING_OP_READ, file[f], buffer, nr * PAGE_BYTES,
			page * PAGE_BYTES);
	/* It may be short, as any read() may. */
	if (bytes >= (ssize_t)PAGE_BYTES)
		b.nr = bytes / PAGE_BYTES;
	return check_buffer(&b, bytes, "io_uring");
}

bool op_ring_write(void)
{
	uint32_t page = below(NR_PAGES), f = below(NR_FILES), cuts;
	uint64_t value;

	if (ring.fd < 0)
		return false;
	value = begin_write(f, page, self, &cuts);
	return wrote(f, page, self, value, cuts,
		     ring_do(IORING_OP_WRITE, file[f], &value, 8,
			     page * PAGE_BYTES + 8 * word_at(self)), 8);
}

/* The process's own file: byte i of generation g is what byte_of() says. */
#define APPEND_MOST (3ul << 20)
static struct {
	int fd;
	char path[256];
	uint32_t gen;
	size_t size;
} own;

static unsigned char byte_of(size_t i)
{
	return (i * 31 + (i >> 9) + own.gen * 7 + self) & 0xff;
}

void append_open(void)
{
	snprintf(own.path, sizeof(own.path), "%s/own-%u", dir, self);
	own.fd = open(own.path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
	if (own.fd < 0)
		wrong("%s: %s", own.path, strerror(errno));
}

bool op_append(void)
{
	size_t n = 1 + below(below(2) ? 200 : MOST * PAGE_BYTES), i;

	if (own.size + n > APPEND_MOST)
		return op_append_new();
	for (i = 0; i < n; i++)
		buffer[i] = byte_of(own.size + i);
	if (write(own.fd, buffer, n) != (ssize_t)n) {
		wrong("append to %s: %s", own.path, strerror(errno));
		return false;
	}
	own.size += n;
	return true;
}

bool op_append_read(void)
{
	size_t at, n, i;

	if (!own.size)
		return false;
	at = below(own.size);
	n = own.size - at;
	if (n > MOST * PAGE_BYTES)
		n = MOST * PAGE_BYTES;
	if (pread(own.fd, buffer, n, at) != (ssize_t)n) {
		wrong("%s is short of %zu bytes at %zu", own.path, n, at);
		return false;
	}
	for (i = 0; i < n; i++)
		if (buffer[i] != byte_of(at + i)) {
			wrong("%s has %02x at %zu of %zu, not %02x", own.path, buffer[i],
			      at + i, own.size, byte_of(at + i));
			return false;
		}
	return true;
}

/* It begins again: cut to nothing, or another file, made in the directory or moved there. */
bool op_append_new(void)
{
	char other[300];
	bool ok;

	own.gen++;
	own.size = 0;
	switch (below(3)) {
	case 0:
		ok = !ftruncate(own.fd, 0);
		break;
	case 1:
		ok = !unlink(own.path);
		close(own.fd);
		append_open();
		break;
	default:
		close(own.fd);
		snprintf(other, sizeof(other), "%s/../moved-%u", dir, self);
		own.fd = open(other, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
		ok = own.fd >= 0 && !rename(other, own.path);
	}
	if (!ok)
		wrong("%s cannot begin again: %s", own.path, strerror(errno));
	return ok;
}

bool op_dontneed(void)
{
	uint32_t nr, page = any_range(&nr), f = below(NR_FILES);

	if (!below(8))
		return !posix_fadvise(file[f], 0, 0, POSIX_FADV_DONTNEED);
	return !posix_fadvise(file[f], page * PAGE_BYTES, nr * PAGE_BYTES,
			      POSIX_FADV_DONTNEED);
}

bool op_advise(void)
{
	static const int advice[] = { POSIX_FADV_NORMAL, POSIX_FADV_RANDOM,
				      POSIX_FADV_SEQUENTIAL, POSIX_FADV_WILLNEED };
	uint32_t nr, page = any_range(&nr);

	return !posix_fadvise(file[below(NR_FILES)], page * PAGE_BYTES, nr * PAGE_BYTES,
			      advice[below(4)]);
}

bool op_sync(void)
{
	uint32_t f = below(NR_FILES), page, nr;
	struct before b;

	page = kept_range(f, &nr);
	remember(&b, f, page, nr);
	if (below(2) ? fsync(file[f]) : fdatasync(file[f])) {
		wrong("fsync of file %u: %s", f, strerror(errno));
		return false;
	}
	return check_buffer(&b, pread(direct[f], buffer, nr * PAGE_BYTES,
				      page * PAGE_BYTES), "direct read after fsync()");
}

static int cut_end(uint32_t page, uint32_t nr)
{
	(void)nr;
	if (ftruncate(file[FILE_CUT], page * PAGE_BYTES))
		return -1;
	usleep(below(2000));
	return ftruncate(file[FILE_CUT], NR_PAGES * PAGE_BYTES);
}

static int cut_hole(uint32_t page, uint32_t nr)
{
	return fallocate(file[FILE_CUT], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			 page * PAGE_BYTES, nr * PAGE_BYTES);
}

/* One process cuts at a time. */
static bool try_cut(uint32_t page, uint32_t nr, int (*fn)(uint32_t page, uint32_t nr))
{
	if (__atomic_exchange_n(&board->cutting, true, __ATOMIC_SEQ_CST))
		return false;
	cut(FILE_CUT, page, nr, fn);
	__atomic_store_n(&board->cutting, false, __ATOMIC_SEQ_CST);
	return true;
}

bool op_cut(void)
{
	uint32_t page = CUT_FIRST + below(NR_PAGES - CUT_FIRST);

	return try_cut(page, NR_PAGES - page, cut_end);
}

bool op_punch(void)
{
	uint32_t nr = 1 + below(MOST);

	return try_cut(CUT_FIRST + below(NR_PAGES - CUT_FIRST - nr), nr, cut_hole);
}

/* The kernel copies from one file to another: to the process's own, at its end. */
bool op_copy(void)
{
	loff_t from = below(own.size / 2 + 1), to = own.size, at = from;
	size_t n = 1 + below(3 * PAGE_BYTES), i;
	int fd;
	ssize_t done;

	if (own.size < 2 * 3 * PAGE_BYTES || own.size + n > APPEND_MOST)
		return false;
	/* copy_file_range() does not append. */
	fd = open(own.path, O_RDWR);
	if (fd < 0)
		return false;
	done = copy_file_range(fd, &at, fd, &to, n, 0);
	close(fd);
	if (done < 0) {
		wrong("copy_file_range(): %s", strerror(errno));
		return false;
	}
	/* What was copied is what its place has; then it is what belongs there. */
	if (pread(own.fd, buffer, done, own.size) != done) {
		wrong("%s is short after copy_file_range()", own.path);
		return false;
	}
	for (i = 0; i < (size_t)done; i++)
		if (buffer[i] != byte_of(from + i)) {
			wrong("%s has a bad copy at %zu", own.path, own.size + i);
			return false;
		}
	return !ftruncate(own.fd, own.size);
}
