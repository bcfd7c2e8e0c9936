// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stand-in for the module, preloaded: /dev/hipec is a file, which shared arrays are
 * mapped from; what the ioctls answer is in the environment.
 *
 * STANDIN_DEVICE	the file
 * STANDIN_CONTAINERS	"ID:PID ID:PID ..."; status of any descriptor is of the first
 * STANDIN_IMAGE	of the policy of each
 * STANDIN_SAMPLES	what there is to read, a file or a pipe; without it, EBUSY
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../module/include/uapi/hipec.h"

#define MOST_FDS 16

static char image[HIPEC_MAX_IMAGE];

static int real_open(const char *path, int flags)
{
	return syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, int) : 0;
	va_end(ap);
	if (!strcmp(path, "/dev/hipec"))
		path = getenv("STANDIN_DEVICE");
	return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static int is_device(int fd)
{
	struct stat own, st;

	return !stat(getenv("STANDIN_DEVICE"), &own) && !fstat(fd, &st) &&
	       own.st_ino == st.st_ino && own.st_dev == st.st_dev;
}

static const struct hipec_image *get_image(void)
{
	int fd = real_open(getenv("STANDIN_IMAGE"), O_RDONLY);

	if (fd < 0 || read(fd, image, sizeof(image)) <= 0)
		abort();
	close(fd);
	return (const void *)image;
}

static int tell_status(struct hipec_status *s, int next)
{
	const char *from = getenv("STANDIN_CONTAINERS");
	unsigned long long id, pid;
	char *end;

	for (; *from; from = *end ? end + 1 : end) {
		id = strtoull(from, &end, 10);
		pid = strtoull(end + 1, &end, 10);
		if (next && id <= s->id)
			continue;
		s->id = id;
		s->pid = pid;
		s->limit = 1000;
		strcpy(s->comm, "standin");
		strcpy(s->policy, get_image()->name);
		return 0;
	}
	return ENOENT;
}

static int tell_operand(struct hipec_operand *o)
{
	const struct hipec_image *i = get_image();
	const struct hipec_image_operand *d;

	if (o->slot >= i->nr_operands)
		return ENOENT;
	d = (const void *)(image + i->header_size);
	d += o->slot;
	o->type = d->type;
	o->operand_flags = d->flags;
	o->value = o->nr = d->value;
	o->offset = HIPEC_SHARED_OFFSET(o->slot);
	strncpy(o->name, image + i->image_size - i->strings_size + d->name,
		sizeof(o->name) - 1);
	return 0;
}

static int tell_samples(struct hipec_sample *s)
{
	const char *from = getenv("STANDIN_SAMPLES");
	struct stat st;

	if (!from || stat(from, &st))
		return EBUSY;
	s->sample_fd = real_open(from, S_ISFIFO(st.st_mode) ? O_RDWR : O_RDONLY);
	return s->sample_fd < 0 ? errno : 0;
}

static int answer(int fd, unsigned long request, void *arg)
{
	if (!is_device(fd))
		return ENOTTY;
	switch (request) {
	case HIPEC_IOC_NEXT:
	case HIPEC_IOC_STATUS:
		return tell_status(arg, request == HIPEC_IOC_NEXT);
	case HIPEC_IOC_OPERAND:
		return tell_operand(arg);
	case HIPEC_IOC_SAMPLE:
		return tell_samples(arg);
	}
	return ENOTTY;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	errno = answer(fd, request, arg);
	return errno ? -1 : 0;
}

/* The policy does not end: the file, unlike the device, always has something to say. */
int poll(struct pollfd *fds, nfds_t nr, int timeout)
{
	struct pollfd copy[MOST_FDS];
	struct timespec t = { timeout / 1000, timeout % 1000 * 1000000l };
	nfds_t i;
	int ret;

	for (i = 0; i < nr; i++) {
		copy[i] = fds[i];
		if (copy[i].fd >= 0 && is_device(copy[i].fd))
			copy[i].fd = -1;
	}
	ret = syscall(SYS_ppoll, copy, nr, timeout < 0 ? NULL : &t, NULL, 8);
	for (i = 0; i < nr; i++)
		fds[i].revents = copy[i].revents;
	return ret;
}
