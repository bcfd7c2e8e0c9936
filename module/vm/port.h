/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the VM core takes from its surroundings: fixed-width types, bool, NULL,
 * memcpy and memset, errno values, counts that threads share. The only __KERNEL__ test
 * in module/vm and module/core.
 */
#ifndef HIPEC_VM_PORT_H
#define HIPEC_VM_PORT_H

#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define S64_MIN INT64_MIN
#define S64_MAX INT64_MAX
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define __annotate_jump_table	/* for the kernel's objtool */
#define noinline __attribute__((noinline))
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/* Only one thread at a time has what is counted here. */
typedef struct {
	long counter;
} atomic_long_t;

static inline long atomic_long_read(const atomic_long_t *v)
{
	return v->counter;
}

static inline void atomic_long_add(long n, atomic_long_t *v)
{
	v->counter += n;
}

static inline long atomic_long_add_return(long n, atomic_long_t *v)
{
	return v->counter += n;
}
#endif

#endif /* HIPEC_VM_PORT_H */
