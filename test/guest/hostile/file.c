// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations on descriptors and files, and on what the system has of both.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "hostile.h"

#define DISK "/dev/loop1"	/* takes no inode's lock for direct I/O */
#define DISK_HALF (SPOT_BYTES)	/* what lies behind is never written */

int channel[NR_WORKERS][2];

static struct hold *any_kind(struct hold **table)
{
	uint32_t dice = below(12);

	*table = dice < 3 ? w.container : dice < 7 ? w.region : dice < 10 ? w.file : w.place;
	return any_hold(*table);
}

int op_dup(void)
{
	struct hold *table, *h = any_kind(&table), copy;

	if (!h)
		return -EBADF;
	copy = *h;	/* its place may be the one that is made free */
	copy.fd = dup(h->fd);
	if (copy.fd < 0)
		return -errno;
	*place_for(table) = copy;
	return 0;
}

int op_close(void)
{
	struct hold *table, *h = any_kind(&table);

	if (!h)
		return -EBADF;
	let_go(h);
	return 0;
}

struct message {
	struct hold hold;
	uint32_t kind;	/* 0 container, 1 region, 2 file, 3 container in place */
};

static uint64_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}

/* Without sockets: say what there is, and let the other take it. */
static int offer(const struct message *m)
{
	board->offer[below(NR_WORKERS)] = (struct offer){
		getpid(), m->kind, m->hold, inode_of(m->hold.fd),
	};
	return 0;
}

static int take(struct message *m)
{
	struct offer o = board->offer[w.me];
	int pidfd, fd, ret;

	if (!o.pid)
		return -EAGAIN;
	pidfd = syscall(SYS_pidfd_open, o.pid, 0);
	if (pidfd < 0)
		return -errno;
	fd = syscall(SYS_pidfd_getfd, pidfd, o.hold.fd, 0);
	ret = or_errno(fd);
	close(pidfd);
	/* It may be another by now; a region's inode is its own. */
	if (fd >= 0 && (inode_of(fd) != o.inode ||
			(fcntl(fd, F_GETFL) & O_ACCMODE) !=
			(o.kind == 0 || o.kind == 3 || o.hold.writable ? O_RDWR : O_RDONLY))) {
		close(fd);
		return -ESTALE;
	}
	*m = (struct message){ o.hold, o.kind };
	m->hold.fd = fd;
	return ret < 0 ? ret : 0;
}

/* A descriptor to another worker, which may be dead by then. */
int op_send(void)
{
	struct hold *table, *h = any_kind(&table);
	struct message m = { .kind = table == w.container ? 0 : table == w.region ? 1 :
				     table == w.file ? 2 : 3 };
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { .head = {
		.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	} };
	struct iovec iov = { &m, sizeof(m) };
	struct msghdr head = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	if (!h)
		return -EBADF;
	m.hold = *h;
	if (channel[w.me][1] < 0)
		return offer(&m);
	memcpy(CMSG_DATA(&control.head), &h->fd, sizeof(int));
	return or_errno(sendmsg(channel[below(NR_WORKERS)][1], &head,
				MSG_DONTWAIT));
}

int op_receive(void)
{
	struct hold *tables[] = { w.container, w.region, w.file, w.place }, *h;
	char control[CMSG_SPACE(sizeof(int))];
	struct message m;
	struct iovec iov = { &m, sizeof(m) };
	struct msghdr head = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;

	if (channel[w.me][0] < 0) {
		int ret = take(&m);

		if (!ret)
			*place_for(tables[m.kind]) = m.hold;
		return ret;
	}
	if (recvmsg(channel[w.me][0], &head, MSG_DONTWAIT) != sizeof(m))
		return -EAGAIN;
	c = CMSG_FIRSTHDR(&head);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return -EBADF;
	h = place_for(tables[m.kind]);
	*h = m.hold;
	memcpy(&h->fd, CMSG_DATA(c), sizeof(int));
	return 0;
}

/* A piece of a mapped region. */
static struct spot *region_piece(unsigned char **at, size_t *bytes)
{
	uint32_t i, first = below(NR_SPOTS), page;
	struct spot *s;

	for (i = 0; i < NR_SPOTS; i++) {
		s = &w.spot[(first + i) % NR_SPOTS];
		if (s->kind != REGION)
			continue;
		page = below(s->pages);
		*at = address_of(s) + page * PAGE_BYTES;
		*bytes = (1 + below(s->pages - page)) * PAGE_BYTES;
		return s;
	}
	return NULL;
}

/* The kernel reads from a region, as for any buffer: into a pipe, or nowhere. */
int op_from_region(void)
{
	unsigned char *at;
	size_t bytes;
	int fd, ret, pipes[2];

	if (!region_piece(&at, &bytes))
		return -EFAULT;
	if (chance(50)) {
		fd = open(chance(50) ? "/tmp/hostile-scratch" :
			  "/data/hostile-scratch", O_WRONLY | O_CREAT, 0600);
		ret = or_errno(pwrite(fd, at, bytes, 0));
		close(fd);
		return ret;
	}
	if (pipe2(pipes, O_NONBLOCK))
		return -errno;
	ret = or_errno(write(pipes[1], at, bytes));
	close(pipes[0]);
	close(pipes[1]);
	return ret;
}

/* The kernel writes to a region: zeroes, which may be anywhere. */
int op_to_region(void)
{
	unsigned char *at;
	size_t bytes;
	int fd, ret;

	if (!region_piece(&at, &bytes))
		return -EFAULT;
	if (bytes > 4 * PAGE_BYTES)
		bytes = 4 * PAGE_BYTES;
	fd = open("/dev/zero", O_RDONLY);
	ret = or_errno(read(fd, at, bytes));
	close(fd);
	return ret;
}

/* Pages that a pipe holds cannot go; the pipe is closed after a while. */
int op_pin(void)
{
	static int pipes[2] = { -1, -1 };
	unsigned char *at;
	struct iovec iov;
	size_t bytes;

	if (!region_piece(&at, &bytes))
		return -EFAULT;
	if (pipes[0] < 0 || chance(40)) {
		close(pipes[0]);
		close(pipes[1]);
		pipes[0] = -1;
		if (pipe2(pipes, O_NONBLOCK | O_CLOEXEC))
			return -errno;
	}
	iov = (struct iovec){ at, bytes };
	return or_errno(vmsplice(pipes[1], &iov, 1, SPLICE_F_NONBLOCK));
}

static int direct(bool from)
{
	unsigned char *at;
	size_t bytes;
	int fd, ret;

	if (!region_piece(&at, &bytes))
		return -EFAULT;
	fd = open(DISK, O_RDWR | O_DIRECT);
	if (fd < 0)
		return -errno;
	if (from)
		ret = or_errno(pwrite(fd, at, bytes, 0));
	else	/* zeroes, which may be anywhere */
		ret = or_errno(pread(fd, at, bytes, DISK_HALF));
	close(fd);
	return ret;
}

int op_direct_from(void)
{
	return direct(true);
}

int op_direct_to(void)
{
	return direct(false);
}

/*
 * Between a region and its own file, at the same place, so that all data stays
 * what it may be; at times direct, and then back as well.
 */
int op_copy(void)
{
	bool direct = chance(40), back = chance(30);
	unsigned char *at;
	struct spot *s;
	size_t bytes;
	off_t pos;
	int fd, ret;

	s = region_piece(&at, &bytes);
	if (!s || s->file >= NR_BACKING)
		return -EFAULT;
	fd = open(backing_path(s->file), O_RDWR | (direct ? O_DIRECT : 0));
	if (fd < 0)
		return -errno;
	pos = s->first * PAGE_BYTES + (at - address_of(s));
	/* What is private stays so. */
	back = back || s->private;
	ret = or_errno(back ? pread(fd, at, bytes, pos) :
		       pwrite(fd, at, bytes, pos));
	close(fd);
	return ret;
}

int op_fsync_region(void)
{
	struct hold *r = any_hold(w.region);

	if (!r)
		return -EBADF;
	return or_errno(chance(70) ? fsync(r->fd) : fdatasync(r->fd));
}

int op_fsync_file(void)
{
	struct hold *f = any_hold(w.file);

	return f ? or_errno(fsync(f->fd)) : -EBADF;
}

/* Past the module, as another program would. */
int op_write_file(void)
{
	uint64_t page[PAGE_BYTES / 8];
	struct hold *f = any_hold(w.file);
	uint32_t number = below(64);
	struct stat st;

	if (!f || !f->writable)
		return -EBADF;
	/* Not beyond the end: the file would grow for ever. */
	if (fstat(f->fd, &st) ||
	    (S_ISREG(st.st_mode) &&
	     st.st_size < (off_t)((number + 1) * PAGE_BYTES)))
		return -ERANGE;
	fill_page(page, f->file, number);
	return or_errno(pwrite(f->fd, page, sizeof(page), number * PAGE_BYTES));
}

static int resize(off_t least, uint32_t pages)
{
	struct hold *f = any_hold(w.file);
	off_t size = least + below(pages) * PAGE_BYTES +
		     (chance(50) ? 0 : 8 * below(PAGE_BYTES / 8));

	return f ? or_errno(ftruncate(f->fd, size)) : -EBADF;
}

int op_truncate(void)
{
	return resize(0, 60);
}

int op_extend(void)
{
	return resize(64 * PAGE_BYTES, MAX_PAGES - 64);
}

int op_punch(void)
{
	struct hold *f = any_hold(w.file);

	if (!f)
		return -EBADF;
	return or_errno(fallocate(f->fd, chance(50) ?
				  FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE :
				  FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
				  8 * below(64 * 512), 8 * below(16 * 512)));
}

/* Sometimes far too short a time for an event. */
int op_quantum(void)
{
	int fd = open("/sys/module/hipec/parameters/quantum_us", O_WRONLY), ret;

	if (fd < 0)
		return -errno;
	ret = dprintf(fd, "%u", chance(30) ? below(200) : 10000) < 0 ? -errno :
								       0;
	close(fd);
	return ret;
}

static int swallow(const char *path)
{
	char text[4096];
	int fd = open(path, O_RDONLY), ret = 0;

	if (fd < 0)
		return -errno;
	while (!ret && read(fd, text, sizeof(text)) > 0)
		ret = chance(5);
	close(fd);
	return 0;
}

/* Of some container, which may be gone by then. */
int op_debugfs(void)
{
	static const char root[] = "/sys/kernel/debug/hipec";
	DIR *dir = opendir(root);
	char path[512] = "";
	uint32_t seen = 0;
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.' && strcmp(e->d_name, "frames") &&
		    !below(++seen))
			snprintf(path, sizeof(path), "%s/%s/%s", root,
				 e->d_name, chance(50) ? "status" : "policy");
	if (dir)
		closedir(dir);
	return swallow(path[0] && chance(90) ? path :
		       "/sys/kernel/debug/hipec/frames");
}

int op_smaps(void)
{
	return swallow(chance(50) ? "/proc/self/smaps" :
		       "/proc/self/numa_maps");
}
