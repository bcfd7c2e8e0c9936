/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of libhipec share, and nobody else. See hipec.h.
 *
 * Interface:
 * do_ioctl()            as functions of the library return
 * empty_log()           a caller's log, before the device writes there
 * say_of_file()         what has failed with a .hpo file, in a caller's log
 * set_param()           a parameter, as its operand says
 * hipec_find_operand()  an operand by its name     libhipec.c
 */
#ifndef HIPEC_LIBHIPEC_H
#define HIPEC_LIBHIPEC_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "hipec.h"

static inline int do_ioctl(int fd, unsigned long request, void *arg)
{
	int ret = ioctl(fd, request, arg);

	return ret < 0 ? -errno : ret;
}

/* Return: its bytes, as the device is told; 0: nothing is to be written. */
static inline uint32_t empty_log(char *log, size_t size)
{
	if (!log || !size)
		return 0;
	log[0] = 0;
	return size > UINT32_MAX ? UINT32_MAX : size;
}

/* @text: the device's words, or "". Return: @ret. */
static inline int say_of_file(const char *path, int ret, const char *text, char *log,
			      size_t size)
{
	if (!log || !size)
		return ret;
	log[0] = 0;
	if (ret)
		snprintf(log, size, "%s: %s", path ?: "no policy",
			 *text ? text : strerror(-ret));
	return ret;
}

/* @low and @high: 0 to 0: it may be anything. */
static inline void set_param(struct hipec_param *param, int64_t value, int64_t low,
			     int64_t high, uint32_t flags)
{
	bool ranged = low || high;

	*param = (struct hipec_param){
		.value = value,
		.low = ranged ? low : INT64_MIN,
		.high = ranged ? high : INT64_MAX,
		.at_load = flags & HIPEC_OPERAND_CONST,
	};
}

/*
 * The operand @name that has all of @flags; @id as in hipec_operand().
 * Return: 0; -ENOENT if there is none; else as hipec_operand().
 */
int hipec_find_operand(int fd, uint64_t id, const char *name, uint32_t flags,
		       struct hipec_operand *o);

#endif /* HIPEC_LIBHIPEC_H */
