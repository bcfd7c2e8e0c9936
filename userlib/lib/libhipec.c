// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libhipec: one ioctl per function. See hipec.h.
 *
 * Stands on the uapi header alone and judges no image: that is the module's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libhipec.h"

/**
 * hipec_open() - get a container, empty
 *
 * Context: any thread.
 * Return: its descriptor, close-on-exec; -ENOENT if the module is not loaded,
 *         -EACCES if the caller may not use it, or what else open() says.
 */
int hipec_open(void)
{
	int fd = open(HIPEC_DEVICE, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/**
 * hipec_query() - ask about the module as a whole
 * @fd:    of hipec_open()
 * @query: filled
 *
 * Context: any thread.
 * Return: 0; -ENOTTY if @fd is not of the module; -EBADF.
 */
int hipec_query(int fd, struct hipec_query *query)
{
	memset(query, 0, sizeof(*query));
	query->size = sizeof(*query);
	return do_ioctl(fd, HIPEC_IOC_QUERY, query);
}

/**
 * hipec_load() - give the container its policy and its frames, once
 * @fd:       of hipec_open()
 * @image:    compiled policy; NULL, and @size 0: none, the built-in FIFO with a
 *            second chance is in charge
 * @size:     its bytes
 * @frames:   unit: pages of 4096 bytes, 1 or more; held until the container
 *            ends and counted like mlock()ed memory
 * @cluster:  most pages of one read; 0: the module's default
 * @log:      gets the verifier's words, one line that ends with a zero, when it
 *            refuses the image, else an empty text; may be NULL
 * @log_size: bytes of @log
 *
 * Context: any thread; may sleep.
 * Return: 0; -EINVAL if the image is refused or a number is out of its range;
 *         -EBUSY if there is a policy already; -EAGAIN if it is to share the pool
 *         and was revoked lately; -ENOMEM if RLIMIT_MEMLOCK, the
 *         memory cgroup or the system does not give the frames; -EINTR on a
 *         fatal signal; -EFAULT.
 */
int hipec_load(int fd, const void *image, size_t size, uint64_t frames,
	       uint32_t cluster, char *log, size_t log_size)
{
	struct hipec_load load = {
		.size = sizeof(load),
		.image = (uintptr_t)image,
		.image_size = size,
		.cluster = cluster,
		.frames = frames,
		.log = (uintptr_t)log,
		.log_size = empty_log(log, log_size),
	};

	if (size > UINT32_MAX)
		return -EINVAL;
	return do_ioctl(fd, HIPEC_IOC_LOAD, &load);
}

/**
 * hipec_load_args() - give a container its policy, as the device is told
 * @fd:   of hipec_open()
 * @load: all but its size; its error fields are set when an image is refused
 *
 * Context: any thread; may sleep.
 * Return: as hipec_load().
 */
int hipec_load_args(int fd, struct hipec_load *load)
{
	load->size = sizeof(*load);
	return do_ioctl(fd, HIPEC_IOC_LOAD, load);
}

/* Read to the end of a file of @size bytes, or of more. */
static int read_all(int fd, size_t size, void **image, size_t *got)
{
	char *bytes = malloc(size + 1);
	size_t n = 0;
	ssize_t ret;

	if (!bytes)
		return -ENOMEM;
	while (n <= size) {
		ret = read(fd, bytes + n, size + 1 - n);
		if (ret < 0 && errno == EINTR)
			continue;
		if (ret <= 0)
			break;
		n += ret;
	}
	ret = ret < 0 ? -errno : n > size ? -EFBIG : 0;
	if (ret) {
		free(bytes);
		return ret;
	}
	*image = bytes;
	*got = n;
	return 0;
}

/* Longest image that the module accepts, bytes. */
#define MAX_IMAGE (sizeof(struct hipec_image) +				\
		   256 * (sizeof(struct hipec_image_operand) +		\
			  sizeof(struct hipec_image_event)) +		\
		   HIPEC_MAX_WORDS * 2 * sizeof(__u32) + HIPEC_MAX_STRINGS)

/**
 * hipec_image_read() - read a .hpo file into memory
 * @path:  file
 * @image: gets the bytes, not judged; free() them
 * @size:  gets their number
 *
 * Context: any thread; may sleep.
 * Return: 0; -EFBIG if the file is larger than any compiled policy; -EISDIR;
 *         -ENOMEM; or what open() or read() say.
 */
int hipec_image_read(const char *path, void **image, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = read_all(fd, MAX_IMAGE, image, size);
	close(fd);
	return ret;
}

/**
 * hipec_load_file() - hipec_load() from a .hpo file
 * @fd:       of hipec_open()
 * @path:     compiled policy, or NULL for none, as in hipec_load()
 * @frames:   as in hipec_load()
 * @cluster:  as in hipec_load()
 * @log:      gets what went wrong, one line that names the file; may be NULL
 * @log_size: bytes of @log
 *
 * Context: any thread; may sleep.
 * Return: as hipec_load() and hipec_image_read().
 */
int hipec_load_file(int fd, const char *path, uint64_t frames,
		    uint32_t cluster, char *log, size_t log_size)
{
	char text[512] = "";
	void *image = NULL;
	size_t size = 0;
	int ret;

	ret = path ? hipec_image_read(path, &image, &size) : 0;
	if (!ret) {
		ret = hipec_load(fd, image, size, frames, cluster, text,
				 sizeof(text));
		free(image);
	}
	return say_of_file(path, ret, text, log, log_size);
}

/* Whether @name is the string at @at, which may lie outside. */
static bool is_name(const char *strings, size_t size, size_t at,
		    const char *name)
{
	size_t n = strlen(name) + 1;

	return at < size && n <= size - at && !memcmp(strings + at, name, n);
}

/*
 * The parameter @name of an image: its operand, and where that lies. -ENOENT,
 * -EPERM and -EINVAL as hipec_image_param().
 */
static int find_param(const void *image, size_t size, const char *name,
		      struct hipec_image_operand *o, size_t *at)
{
	struct hipec_image head;
	const char *strings;
	uint32_t i;

	if (size < sizeof(head))
		return -EINVAL;
	memcpy(&head, image, sizeof(head));
	if (head.magic != HIPEC_IMAGE_MAGIC ||
	    head.version != HIPEC_IMAGE_VERSION ||
	    head.header_size != sizeof(head) || head.image_size != size ||
	    head.nr_operands > (size - sizeof(head)) / sizeof(*o) ||
	    head.strings_size > size - sizeof(head) -
				head.nr_operands * sizeof(*o))
		return -EINVAL;
	strings = (const char *)image + size - head.strings_size;
	*at = sizeof(head);
	for (i = 0; i < head.nr_operands; i++, *at += sizeof(*o)) {
		memcpy(o, (const char *)image + *at, sizeof(*o));
		if (is_name(strings, head.strings_size, o->name, name))
			return o->flags & HIPEC_OPERAND_PARAM ? 0 : -EPERM;
	}
	return -ENOENT;
}

/**
 * hipec_image_param() - a parameter of a policy: its value and its range
 * @image: compiled policy, in memory
 * @size:  its bytes
 * @name:  of an integer that the policy declares `param`
 * @param: filled; without a range of the policy's it has that of an int64_t
 *
 * Context: any thread.
 * Return: 0; -ENOENT if the policy declares no such name; -EPERM if it does,
 *         but not as `param`; -EINVAL if this is no compiled policy.
 */
int hipec_image_param(const void *image, size_t size, const char *name,
		      struct hipec_param *param)
{
	struct hipec_image_operand o;
	size_t at;
	int ret = find_param(image, size, name, &o, &at);

	if (!ret)
		set_param(param, o.value, o.low, o.high, o.flags);
	return ret;
}

/**
 * hipec_image_set_param() - change a parameter of a policy before its load
 * @image: compiled policy, in memory
 * @size:  its bytes
 * @name:  of an integer that the policy declares `param`
 * @value: its new value
 *
 * Context: any thread.
 * Return: 0; -ERANGE if the policy does not allow that value, which
 *         hipec_image_param() has the range of; -ENOENT, -EPERM, -EINVAL as there.
 */
int hipec_image_set_param(void *image, size_t size, const char *name,
			  int64_t value)
{
	struct hipec_image_operand o;
	struct hipec_param param;
	size_t at;
	int ret = find_param(image, size, name, &o, &at);

	if (ret)
		return ret;
	set_param(&param, o.value, o.low, o.high, o.flags);
	if (value < param.low || value > param.high)
		return -ERANGE;
	o.value = value;
	memcpy((char *)image + at, &o, sizeof(o));
	return 0;
}

/**
 * hipec_attach() - bind a range of a file to the container
 * @fd:       of hipec_open(), with a policy
 * @file:     descriptor of a file or block device; may be closed afterwards
 * @offset:   bytes, a multiple of 4096
 * @length:   bytes; 0: to the end of the file
 * @writable: whether it may be mapped for writing; @file must be open so
 * @address:  gets where the region starts in the container, which is where
 *            FaultedAddress counts from, in bytes; may be NULL
 *
 * Context: any thread; may sleep.
 * Return: the region's descriptor, to mmap(), close-on-exec; -EBADF; -EISDIR,
 *         -ESPIPE or -ENODEV for what is neither file nor block device; -EACCES
 *         if @file is not open for reading, or for writing where that is asked;
 *         -EPERM to write an append-only or immutable file; -EOPNOTSUPP for a
 *         file system that regions are not tested on (docs/user/regions.md);
 *         -EINVAL for an offset inside a page; -ERANGE for a range past the end;
 *         -EFBIG for 2^32 pages or more; -EBUSY if another container or an
 *         overlapping region has the file and one of the two writes; -ENODATA
 *         before a policy is loaded; -ENOSPC if the container's addresses are
 *         used up; -ENOMEM; -EMFILE.
 */
int hipec_attach(int fd, int file, uint64_t offset, uint64_t length,
		 bool writable, uint64_t *address)
{
	struct hipec_attach attach = {
		.size = sizeof(attach),
		.flags = writable ? HIPEC_ATTACH_WRITE : 0,
		.fd = file,
		.region_fd = -1,
		.offset = offset,
		.length = length,
	};
	int ret = do_ioctl(fd, HIPEC_IOC_ATTACH, &attach);

	if (ret < 0)
		return ret;
	if (address)
		*address = attach.address;
	return attach.region_fd;
}

/**
 * hipec_status() - what the container did so far
 * @fd:     of hipec_open()
 * @status: filled; its counters only ever grow
 *
 * Context: any thread.
 * Return: 0, with an empty @status->policy before a policy is loaded; -EBADF,
 *         -ENOTTY.
 */
int hipec_status(int fd, struct hipec_status *status)
{
	memset(status, 0, sizeof(*status));
	status->size = sizeof(*status);
	return do_ioctl(fd, HIPEC_IOC_STATUS, status);
}

/**
 * hipec_next() - the next container that the caller may see
 * @fd:     of hipec_open()
 * @id:     the one before; 0 to start with
 * @status: filled with the container of the least id above @id
 *
 * Context: any thread.
 * Return: 0; -ENOENT if there is no further one; -EBADF, -ENOTTY.
 */
int hipec_next(int fd, uint64_t id, struct hipec_status *status)
{
	memset(status, 0, sizeof(*status));
	status->size = sizeof(*status);
	status->id = id;
	return do_ioctl(fd, HIPEC_IOC_NEXT, status);
}

/**
 * hipec_log() - the next policy or container that has ended
 * @fd:  of hipec_open()
 * @seq: number of the one before; 0 to start with
 * @log: filled with the first behind it that the caller may see
 *
 * Context: any thread.
 * Return: 0; -ENOENT if there is no further one; -EBADF; -ENOTTY if the module is
 *         older.
 */
int hipec_log(int fd, uint64_t seq, struct hipec_log *log)
{
	memset(log, 0, sizeof(*log));
	log->size = sizeof(*log);
	log->seq = seq;
	return do_ioctl(fd, HIPEC_IOC_LOG, log);
}

/**
 * hipec_operand() - one operand of a container's policy
 * @fd:      of hipec_open()
 * @id:      container; 0: @fd's own
 * @slot:    from 0 on
 * @operand: filled
 *
 * Context: any thread.
 * Return: 0; -ENOENT behind the last slot; -ENODATA if no policy is loaded;
 *         -ESRCH if there is no such container, or none that the caller may see.
 */
int hipec_operand(int fd, uint64_t id, uint32_t slot,
		  struct hipec_operand *operand)
{
	memset(operand, 0, sizeof(*operand));
	operand->size = sizeof(*operand);
	operand->id = id;
	operand->slot = slot;
	return do_ioctl(fd, HIPEC_IOC_OPERAND, operand);
}

/* See libhipec.h. */
int hipec_find_operand(int fd, uint64_t id, const char *name, uint32_t flags,
		       struct hipec_operand *o)
{
	uint32_t slot;
	int ret;

	for (slot = 0; !(ret = hipec_operand(fd, id, slot, o)); slot++)
		if ((o->operand_flags & flags) == flags && !strcmp(o->name, name))
			break;
	return ret;
}

/**
 * hipec_hint() - say something about pages of a region, for its policy to read
 * @region: of hipec_attach()
 * @offset: bytes from the region's start, a multiple of 4096
 * @length: bytes, a multiple of 4096; 0: to the region's end
 * @hint:   HIPEC_HINT_*, or any number up to HIPEC_HINT_MAX that the policy knows
 *
 * The pages have it until they get another, whether they hold frames or not.
 *
 * Context: any thread.
 * Return: 0; -EINVAL for another @hint, @offset or @length; -ERANGE past the end;
 *         -ENOMEM; -EINTR on a fatal signal; -ENOTTY if this is no region, or the
 *         module is older.
 */
int hipec_hint(int region, uint64_t offset, uint64_t length, uint32_t hint)
{
	struct hipec_hint args = {
		.size = sizeof(args),
		.offset = offset,
		.length = length,
		.hint = hint,
	};

	return do_ioctl(region, HIPEC_IOC_HINT, &args);
}

/**
 * hipec_record() - what happens in a container from now on
 * @fd:   of hipec_open()
 * @id:   container; 0: @fd's own
 * @ring: bytes that are kept until they are read, a power of two; 0: default
 *
 * Context: any thread.
 * Return: a descriptor to read and poll, close-on-exec, with the bytes that
 *         hipec_record.h describes, up to the container's end, or to a swap, behind
 *         which it goes on with the next policy's; -ESRCH if there is
 *         no such container, or none that the caller may see; -ENODATA if no
 *         policy is loaded; -EBUSY if it is being recorded; -EINVAL for another
 *         @ring; -ENOMEM; -EMFILE; -ENOTTY if the module is older.
 */
int hipec_record(int fd, uint64_t id, uint32_t ring)
{
	struct hipec_record record = {
		.size = sizeof(record),
		.id = id,
		.ring = ring,
		.record_fd = -1,
	};
	int ret = do_ioctl(fd, HIPEC_IOC_RECORD, &record);

	return ret < 0 ? ret : record.record_fd;
}

/**
 * hipec_sample() - some of a container's accesses from now on
 * @fd:        of hipec_open()
 * @id:        container; 0: @fd's own
 * @threshold: a page is sampled if hipec_sample_hash() of its number is less; up to
 *             HIPEC_SAMPLE_ALL, 2^32
 * @ring:      bytes that are kept until they are read, a power of two; 0: default
 *
 * Context: any thread.
 * Return: a descriptor to read and poll, close-on-exec, with the entries that
 *         hipec_sample.h describes, up to the container's end; -ESRCH if there is
 *         no such container, or none that the caller may see; -ENODATA if no
 *         policy is loaded; -EBUSY if it is being sampled; -EINVAL for another
 *         @threshold or @ring; -ENOMEM; -EMFILE; -ENOTTY if the module is older.
 */
int hipec_sample(int fd, uint64_t id, uint64_t threshold, uint32_t ring)
{
	struct hipec_sample sample = {
		.size = sizeof(sample),
		.id = id,
		.threshold = threshold,
		.ring = ring,
		.sample_fd = -1,
	};
	int ret = do_ioctl(fd, HIPEC_IOC_SAMPLE, &sample);

	return ret < 0 ? ret : sample.sample_fd;
}

/**
 * hipec_shared() - map an array that the policy shares with the application
 * @fd:    that the policy was loaded with
 * @name:  of the array
 * @array: gets its elements, zero at load; munmap() them, @nr * 8 bytes
 * @nr:    gets their number
 *
 * What is written there is what the policy reads next.
 *
 * Context: any thread.
 * Return: 0; -ENOENT if the policy shares no array of that name; -ENODATA if no
 *         policy is loaded; or what mmap() says.
 */
int hipec_shared(int fd, const char *name, int64_t **array, size_t *nr)
{
	struct hipec_operand o;
	void *at;
	int ret = hipec_find_operand(fd, 0, name, HIPEC_OPERAND_SHARED, &o);

	if (ret)
		return ret;
	at = mmap(NULL, o.nr * sizeof(**array), PROT_READ | PROT_WRITE,
		  MAP_SHARED, fd, o.offset);
	if (at == MAP_FAILED)
		return -errno;
	*array = at;
	*nr = o.nr;
	return 0;
}
