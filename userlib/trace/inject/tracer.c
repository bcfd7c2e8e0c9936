// SPDX-License-Identifier: GPL-2.0-only
/*
 * The traced program's end of the channel, and what is common to all calls: which
 * file a descriptor is of, where in it the call was, and that the order of the
 * records is the order of positions.
 */
#define _GNU_SOURCE	/* statx(), RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../../../module/context/hash.h"
#include "tracer.h"

#define NO_CHANNEL ((struct tracechan_head *)-1)

static struct tracechan_head *head;	/* NO_CHANNEL: do not look again */
static struct tracechan_slot *chunk[TRACECHAN_CHUNKS];
static char path[4096];

/* Files whose names have been said, and, with bit 0, those that do not count. */
static uint64_t known[1024];

const char *tracer_path(void)
{
	return path;
}

void *tracer_real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* Not by wrappers of ours; a descriptor is gone before anybody sees it. */
static void *map_channel(off_t at, size_t bytes, bool grow)
{
	struct rlimit most = { 0 };
	void *memory = MAP_FAILED;
	int fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	/* Beyond the limit of file sizes there is a signal. */
	if (!grow || (!getrlimit(RLIMIT_FSIZE, &most) &&
		      most.rlim_cur >= (rlim_t)(at + bytes) &&
		      !syscall(SYS_fallocate, fd, 0, at, bytes)))
		memory = (void *)syscall(SYS_mmap, NULL, bytes,
					 PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);
	syscall(SYS_close, fd);
	return memory == MAP_FAILED ? NULL : memory;
}

struct tracechan_head *tracer_head(void)
{
	struct tracechan_head *h = __atomic_load_n(&head, __ATOMIC_ACQUIRE);
	const char *name;

	if (h)
		return h == NO_CHANNEL ? NULL : h;
	name = getenv(TRACECHAN_ENV);
	if (name && strlen(name) < sizeof(path)) {
		strcpy(path, name);
		h = map_channel(0, TRACECHAN_HEAD, false);
	}
	if (!h || h->magic != TRACECHAN_MAGIC)
		h = NO_CHANNEL;
	__atomic_store_n(&head, h, __ATOMIC_RELEASE);
	return h == NO_CHANNEL ? NULL : h;
}

/* The slot's memory, which another thread may be mapping too. */
static struct tracechan_slot *slot_at(uint64_t n)
{
	uint64_t i = n / TRACECHAN_PER_CHUNK;
	struct tracechan_slot *new, *old = NULL;

	if (i >= TRACECHAN_CHUNKS)
		return NULL;
	new = __atomic_load_n(&chunk[i], __ATOMIC_ACQUIRE);
	if (!new) {
		new = map_channel(TRACECHAN_HEAD + i * TRACECHAN_CHUNK,
				  TRACECHAN_CHUNK, true);
		if (!new)
			return NULL;
		if (!__atomic_compare_exchange_n(&chunk[i], &old, new, false,
						 __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE)) {
			syscall(SYS_munmap, new, TRACECHAN_CHUNK);
			new = old;
		}
	}
	return new + n % TRACECHAN_PER_CHUNK;
}

static void put(uint64_t n, const struct tracechan_slot *what)
{
	struct tracechan_slot *slot = slot_at(n);

	if (!slot)
		return;
	memcpy((char *)slot + sizeof(slot->kind),
	       (const char *)what + sizeof(what->kind),
	       sizeof(*what) - sizeof(what->kind));
	__atomic_store_n(&slot->kind, what->kind, __ATOMIC_RELEASE);
}

/**
 * tracer_say() - a record that is no access
 * @kind: of record
 * @id:   of the file, or the process
 * @text: a name
 *
 * Context: any; in signal handlers too.
 */
void tracer_say(enum tracechan_kind kind, uint64_t id, const char *text)
{
	struct tracechan_head *h = tracer_head();
	size_t length = strlen(text), parts = length / TRACECHAN_TEXT + 1, i;
	struct tracechan_slot slot = { .kind = kind, .id = id };
	uint64_t n;

	if (!h)
		return;
	n = __atomic_fetch_add(&h->nr_slots, parts, __ATOMIC_RELAXED);
	for (i = 0; i < parts; i++, text += TRACECHAN_TEXT) {
		slot.part = i;
		memset(slot.text, 0, TRACECHAN_TEXT);
		memcpy(slot.text, text, strnlen(text, TRACECHAN_TEXT));
		put(n + i, &slot);
	}
}

/*
 * Whether this process runs an interpreter, whose own files are the same in every
 * program: 1, or 0; 2: not known yet.
 */
static uint32_t is_interpreter(void)
{
	static const char *const names[] = { "python", "perl", "ruby", "node", "java" };
	static uint32_t known_to_be = 2;
	char exe[4096];
	const char *base;
	ssize_t n;
	size_t i;

	if (known_to_be < 2)
		return known_to_be;
	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	exe[n < 0 ? 0 : n] = 0;
	base = strrchr(exe, '/') ? strrchr(exe, '/') + 1 : exe;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(base, names[i], strlen(names[i])))
			break;
	known_to_be = i < sizeof(names) / sizeof(names[0]);
	return known_to_be;
}

void tracer_note(uint64_t file, uint64_t offset, uint64_t bytes, bool write,
		 uint64_t context)
{
	struct tracechan_head *h = tracer_head();
	struct tracechan_slot slot = {
		.kind = write ? TRACECHAN_WRITE : TRACECHAN_READ,
		.own = is_interpreter(),
		.id = file, .offset = offset, .bytes = bytes,
		.context = context,
	};

	put(__atomic_fetch_add(&h->nr_slots, 1, __ATOMIC_RELAXED), &slot);
}

void tracer_untraced(uint64_t file, uint64_t offset, uint64_t bytes)
{
	struct tracechan_head *h = tracer_head();
	struct tracechan_slot slot = {
		.kind = TRACECHAN_UNTRACED,
		.id = file, .offset = offset, .bytes = bytes,
	};

	if (h && bytes)
		put(__atomic_fetch_add(&h->nr_slots, 1, __ATOMIC_RELAXED), &slot);
}

/* Files that the kernel makes up have no pages in any cache. */
static bool is_made_up(int fd)
{
	static const long kinds[] = {
		PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC,
		CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, SECURITYFS_MAGIC,
	};
	struct statfs st;
	size_t i;

	if (fstatfs(fd, &st))
		return false;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (st.f_type == kinds[i])
			return true;
	return false;
}

/* Say the name of a file that is new to this process, unless it does not count. */
static bool introduce(uint64_t file, int fd)
{
	char link[32], name[4096];
	ssize_t n;

	if (is_made_up(fd))
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, sizeof(name) - 1);
	if (n > 0) {
		name[n] = 0;
		tracer_say(TRACECHAN_NAME, file, name);
	}
	return true;
}

/**
 * tracer_identify() - what file a descriptor is of
 * @fd: any number
 *
 * A file is known by device, inode and birth: a new file that gets an old one's
 * inode is another. A disk is known by its number.
 *
 * Context: any; in signal handlers too.
 * Return: a number, or 0 if it has no pages that could be cached.
 */
uint64_t tracer_identify(int fd)
{
	uint64_t file, *place, was;
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO | STATX_BTIME, &st))
		return 0;
	if (S_ISBLK(st.stx_mode)) {
		file = context_add(CONTEXT_NONE, makedev(st.stx_rdev_major,
							 st.stx_rdev_minor));
	} else if (S_ISREG(st.stx_mode)) {
		file = context_add(CONTEXT_NONE, makedev(st.stx_dev_major,
							 st.stx_dev_minor));
		file = context_add(file, st.stx_ino);
		if (st.stx_mask & STATX_BTIME)
			file = context_add(file, st.stx_btime.tv_sec * 1000000000ull +
						 st.stx_btime.tv_nsec);
	} else {
		return 0;
	}
	file = (file | 2) & ~1ull;
	place = &known[(file >> 1) % (sizeof(known) / sizeof(known[0]))];
	was = __atomic_load_n(place, __ATOMIC_RELAXED);
	if ((was & ~1ull) != file) {
		was = file | !introduce(file, fd);
		__atomic_store_n(place, was, __ATOMIC_RELAXED);
	}
	return was & 1 ? 0 : file;
}

static uint32_t number_of_lock(uint64_t file)
{
	return file / 2 % TRACECHAN_LOCKS;
}

/*
 * Those who share a position take turns, so that each can be told where it was. A
 * handler may come in between, and who holds the lock may be killed.
 */
static void lock(uint64_t file)
{
	pthread_mutex_t *m = &head->lock[number_of_lock(file)];

	if (pthread_mutex_lock(m) == EOWNERDEAD)
		pthread_mutex_consistent(m);
}

static void prepare(struct tracer_op *op)
{
	int flags;

	if (tracer_head())
		op->file = tracer_identify(op->fd);
	flags = op->file ? fcntl(op->fd, F_GETFL) : 0;
	op->direct = flags & O_DIRECT;
	/* The kernel appends even where the call says an offset. */
	if (op->write && op->offset >= 0 && flags & O_APPEND)
		op->offset = TRACER_END;
	op->locked = op->file && op->offset < 0;
}

/**
 * tracer_begin() - a call is about to read or write
 * @op:     filled; tracer_end() it
 * @fd:     of the call
 * @offset: of the call, or TRACER_POSITION
 * @write:  or read
 *
 * Context: any; in signal handlers too. Keeps errno.
 */
void tracer_begin(struct tracer_op *op, int fd, int64_t offset, bool write)
{
	int saved = errno;

	*op = (struct tracer_op){ .fd = fd, .offset = offset, .write = write };
	prepare(op);
	if (op->locked)
		lock(op->file);
	errno = saved;
}

/**
 * tracer_begin_two() - a call is about to move data between descriptors
 * @in:  its descriptor and offset are filled in; tracer_end() both
 * @out: likewise
 *
 * What waits for a pipe or a socket must not have others wait.
 *
 * Context: any; in signal handlers too. Keeps errno.
 */
void tracer_begin_two(struct tracer_op *in, struct tracer_op *out)
{
	struct tracer_op *first = in, *second = out;
	int saved = errno;

	prepare(in);
	prepare(out);
	if (!in->file || !out->file)
		in->locked = out->locked = false;
	if (number_of_lock(in->file) > number_of_lock(out->file)) {
		first = out;
		second = in;
	}
	if (first->locked)
		lock(first->file);
	if (second->locked)
		lock(second->file);
	errno = saved;
}

static int64_t end_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? -1 : st.st_size;
}

/**
 * tracer_end() - and it has
 * @op:  of tracer_begin()
 * @ret: what it returned: bytes
 *
 * Context: as there. Keeps errno.
 * Return: @ret.
 */
ssize_t tracer_end(struct tracer_op *op, ssize_t ret)
{
	int saved = errno;
	int64_t at = op->offset;

	if (op->file && ret > 0) {
		if (at == TRACER_POSITION)
			at = lseek(op->fd, 0, SEEK_CUR) - ret;
		else if (at == TRACER_END)
			at = end_of(op->fd) - ret;
		if (op->direct)
			__atomic_fetch_add(&head->direct_bytes, ret, __ATOMIC_RELAXED);
		if (at >= 0)
			tracer_note(op->file, at, ret, op->write,
				    tracer_context(head, NULL));
	}
	if (op->locked)
		pthread_mutex_unlock(&head->lock[number_of_lock(op->file)]);
	errno = saved;
	return ret;
}
