// SPDX-License-Identifier: GPL-2.0-only
/*
 * What callers hand to an ioctl: structs that may be older or newer than ours.
 */
#include <linux/uaccess.h>

#include "base.h"

/**
 * hipec_args_get() - the caller's struct
 * @args:        filled, zeros behind what the caller has
 * @ksize:       its bytes, as we know it; size and flags come first
 * @uargs:       the caller's
 * @usize:       gets its bytes, as the caller says
 * @known_flags: those that may be set
 *
 * Context: process context; may fault.
 * Return: 0; -EFAULT if it cannot be read; -EINVAL if it is shorter than size and
 *         flags, or has a flag that is not known; -E2BIG if there is something
 *         behind what we know, or it is longer than a page: no struct will be, and
 *         to look for zeros in 4 GB takes a second that nobody can interrupt.
 */
int hipec_args_get(void *args, size_t ksize, void __user *uargs, u32 *usize,
		   u32 known_flags)
{
	u32 flags;
	int ret;

	if (get_user(*usize, (u32 __user *)uargs))
		return -EFAULT;
	if (*usize < 2 * sizeof(u32))
		return -EINVAL;
	if (*usize > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(args, ksize, uargs, *usize);
	if (ret)
		return ret;
	flags = ((u32 *)args)[1];
	return flags & ~known_flags ? -EINVAL : 0;
}
