// SPDX-License-Identifier: GPL-2.0-only
/*
 * All ways to run a case. See run.h.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "ebpf.h"
#include "run.h"

/**
 * hpt_run_by() - outcome of a case by this program's own VM core
 * @bytes: the case, aligned for u64
 * @size:  bytes
 * @out:   gets the text
 * @start: NULL, or gives the machine native code
 * @stop:  NULL, or takes it away
 *
 * Return: as hpt_run_here(), or as @start.
 */
int hpt_run_by(const void *bytes, size_t size, struct hipec_text *out,
	       int (*start)(struct hipec_vm *vm), void (*stop)(struct hipec_vm *vm))
{
	struct hipec_vmcase c;
	void *memory;
	int ret;

	ret = hipec_vmcase_parse(&c, bytes, size, out);
	if (ret)
		return ret < 0 ? ret : 0;
	memory = calloc(1, hipec_vmcase_memory(&c));
	if (!memory)
		return -ENOMEM;
	c.start = start;
	ret = hipec_vmcase_run(&c, memory, out);
	if (stop)
		stop(memory);
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
	return hpt_run_by(bytes, size, out, NULL, NULL);
}

/**
 * hpt_run_native() - the same, by the instructions of eBPF that module/jit writes
 * @bytes: the case, aligned for u64
 * @size:  bytes
 * @out:   gets the text
 *
 * Return: as hpt_run_here(), or as ebpf_start().
 */
int hpt_run_native(const void *bytes, size_t size, struct hipec_text *out)
{
	return hpt_run_by(bytes, size, out, ebpf_start, ebpf_stop);
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
