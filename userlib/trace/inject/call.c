// SPDX-License-Identifier: GPL-2.0-only
/*
 * syscall(), which programs use for calls that the C library has no function for, and this
 * library for those that it stands before itself.
 */
#define _GNU_SOURCE	/* syscall() */
#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "tracer.h"

/* Hears of each call and what it returned; or NULL. Context: signal handlers too. */
void (*tracer_on_syscall)(long number, long ret);

/* As the C library's, whose callers are those that it has no function for. */
TRACER_EXPORT long syscall(long number, ...)
{
	long a[6], ret;
	va_list ap;
	int i;

	va_start(ap, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	{
		register long r10 __asm__("r10") = a[3];
		register long r8 __asm__("r8") = a[4];
		register long r9 __asm__("r9") = a[5];

		__asm__ volatile("syscall" : "=a" (ret)
				 : "a" (number), "D" (a[0]), "S" (a[1]), "d" (a[2]),
				   "r" (r10), "r" (r8), "r" (r9)
				 : "rcx", "r11", "memory");
	}
	if (ret < 0 && ret > -4096) {
		errno = -ret;
		ret = -1;
	}
	if (tracer_on_syscall)
		tracer_on_syscall(number, ret);
	return ret;
}
