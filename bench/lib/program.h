/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What programs of the benchmarks need that stand alone.
 *
 * Interface:
 * die()  something failed, errno says why
 * now()  the time in ns, from some moment on
 */
#ifndef HIPEC_BENCH_PROGRAM_H
#define HIPEC_BENCH_PROGRAM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline void __attribute__((noreturn)) die(const char *what)
{
	perror(what);
	exit(1);
}

static inline uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

#endif /* HIPEC_BENCH_PROGRAM_H */
