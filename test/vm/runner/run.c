// SPDX-License-Identifier: GPL-2.0-only
/*
 * All ways to run a case. See run.h.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "run.h"

/**
 * hpt_run_case() - outcome of a case that was read
 * @c:   parsed, its image not refused
 * @out: gets the text
 *
 * Return: 0; -EINVAL if the case is malformed; -ENOMEM.
 */
int hpt_run_case(const struct hipec_vmcase *c, struct hipec_text *out)
{
	void *memory = calloc(1, hipec_vmcase_memory(c));
	int ret;

	if (!memory)
		return -ENOMEM;
	ret = hipec_vmcase_run(c, memory, out);
	free(memory);
	return ret;
}

/**
 * hpt_run_here() - outcome of a case by this program's own VM core
 * @bytes: the case, aligned for u64
 * @size:  bytes
 * @out:   gets the text
 *
 * Return: 0; -EINVAL if the case is malformed; -ENOMEM.
 */
int hpt_run_here(const void *bytes, size_t size, struct hipec_text *out)
{
	struct hipec_vmcase c;
	int ret = hipec_vmcase_parse(&c, bytes, size, out);

	if (ret)
		return ret < 0 ? ret : 0;
	return hpt_run_case(&c, out);
}

/**
 * hpt_run_module() - outcome of a case by the module's VM core
 * @bytes: the case
 * @size:  bytes
 * @out:   gets the text
 *
 * The device is opened once and stays open. Not thread-safe.
 *
 * Return: 0; -errno of the device.
 */
int hpt_run_module(const void *bytes, size_t size, struct hipec_text *out)
{
	static int fd = -1;
	ssize_t n;

	if (fd < 0)
		fd = open(HPT_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = write(fd, bytes, size);
	if (n != (ssize_t)size)
		return n < 0 ? -errno : -EIO;
	while (out->len + 1 < out->size) {
		n = read(fd, out->buf + out->len, out->size - 1 - out->len);
		if (n < 0)
			return -errno;
		if (!n)
			break;
		out->len += n;
	}
	out->buf[out->len] = 0;
	return 0;
}
