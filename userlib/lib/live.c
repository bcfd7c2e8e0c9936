// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libhipec: what changes a container that is in use, or asks where it stands; one's
 * own, or another that the caller may see. See hipec.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "libhipec.h"

/**
 * hipec_swap_args() - another policy for a container, as the device is told
 * @fd:   of hipec_open()
 * @swap: all but its size; its error fields and adopted are set
 *
 * Context: any thread; may sleep.
 * Return: as hipec_swap().
 */
int hipec_swap_args(int fd, struct hipec_swap *swap)
{
	swap->size = sizeof(*swap);
	return do_ioctl(fd, HIPEC_IOC_SWAP, swap);
}

/**
 * hipec_swap() - put another policy in the place of a container's
 * @fd:       of hipec_open()
 * @id:       container; 0: @fd's own
 * @image:    compiled policy; NULL, and @size 0: the built-in FIFO with a second
 *            chance
 * @size:     its bytes
 * @log:      gets one line that ends with a zero, when the image is refused, its
 *            Init or Adopt has ended it, or it has to wait; may be NULL
 * @log_size: bytes of @log
 *
 * The container keeps its frames, and what they hold: the new policy is told of each
 * resident page by Adopt. Its counters go on. If the call fails the policy before
 * goes on as it was. docs/user/swap.md says more.
 *
 * Context: any thread; may sleep.
 * Return: 0; -EINVAL if the image is refused; -ECANCELED if its Init or Adopt ended
 *         it; -EAGAIN if the container shares the pool and the image was revoked
 *         lately; -ENODATA if no policy is loaded; -EBUSY if another swap is under
 *         way; -ESRCH if there is no such container, or none that the caller may
 *         see; -ENOMEM; -EINTR on a fatal signal; -EFAULT; -ENOTTY if the module is
 *         older.
 */
int hipec_swap(int fd, uint64_t id, const void *image, size_t size, char *log,
	       size_t log_size)
{
	struct hipec_swap swap = {
		.id = id,
		.image = (uintptr_t)image,
		.image_size = size,
		.log = (uintptr_t)log,
		.log_size = empty_log(log, log_size),
	};

	if (size > UINT32_MAX)
		return -EINVAL;
	return hipec_swap_args(fd, &swap);
}

/**
 * hipec_swap_file() - hipec_swap() from a .hpo file
 * @fd:       as in hipec_swap()
 * @id:       likewise
 * @path:     compiled policy, or NULL for none
 * @log:      gets what went wrong, one line that names the file; may be NULL
 * @log_size: bytes of @log
 *
 * Context: any thread; may sleep.
 * Return: as hipec_swap() and hipec_image_read().
 */
int hipec_swap_file(int fd, uint64_t id, const char *path, char *log,
		    size_t log_size)
{
	char text[512] = "";
	void *image = NULL;
	size_t size = 0;
	int ret = path ? hipec_image_read(path, &image, &size) : 0;

	if (!ret) {
		ret = hipec_swap(fd, id, image, size, text, sizeof(text));
		free(image);
	}
	return say_of_file(path, ret, text, log, log_size);
}

/**
 * hipec_revoke() - end a container's policy
 * @fd: of hipec_open()
 * @id: container; 0: @fd's own
 *
 * Its frames stay; the built-in FIFO with a second chance is in charge of them.
 *
 * Context: any thread.
 * Return: 0; -ENODATA if there is no policy; -EALREADY if it has ended before;
 *         -ESRCH if there is no such container, or none that the caller may see;
 *         -ENOTTY if the module is older.
 */
int hipec_revoke(int fd, uint64_t id)
{
	struct hipec_revoke revoke = { .size = sizeof(revoke), .id = id };

	return do_ioctl(fd, HIPEC_IOC_REVOKE, &revoke);
}

/**
 * hipec_join() - a policy plays beside the one that runs, and may take over
 * @fd:       of hipec_open()
 * @id:       container; 0: @fd's own
 * @image:    compiled policy; NULL, and @size 0: the built-in FIFO with a second
 *            chance
 * @size:     its bytes
 * @log:      as of hipec_swap()
 * @log_size: bytes of @log
 *
 * The first time the policy that runs becomes the first of the league, and its default.
 * docs/user/swap.md says more.
 *
 * Context: any thread; may sleep.
 * Return: the policy's number in the league; -EINVAL if the image is refused; -ECANCELED
 *         if its Init ended it; -ENODATA if no policy is loaded; -EALREADY if that has
 *         ended, or the league has, by hipec_swap(); -ENOSPC if HIPEC_MAX_TEAMS play;
 *         -EBUSY if a swap is under way; -ESRCH if there is no such container, or none that
 *         the caller may see; -ENOMEM; -EINTR on a fatal signal; -EFAULT; -ENOTTY if the
 *         module is older, -EOPNOTSUPP if it is and the container has regions, or shares.
 */
int hipec_join(int fd, uint64_t id, const void *image, size_t size, char *log,
	       size_t log_size)
{
	struct hipec_join join = {
		.size = sizeof(join),
		.id = id,
		.image = (uintptr_t)image,
		.image_size = size,
		.log = (uintptr_t)log,
		.log_size = empty_log(log, log_size),
	};
	int ret = size > UINT32_MAX ? -EINVAL : do_ioctl(fd, HIPEC_IOC_JOIN, &join);

	return ret ?: (int)join.team;
}

/**
 * hipec_join_budget() - the policy that runs plays with another budget as well
 * @fd:       of hipec_open()
 * @id:       container; 0: @fd's own
 * @quarters: of the container's budget, 1 to HIPEC_MAX_QUARTERS, but not 4
 * @log:      as of hipec_swap()
 * @log_size: bytes of @log
 *
 * It takes over from nobody; hipec_standing() tells what it misses. When another policy
 * runs, by a league, that one plays with this budget.
 *
 * Context: any thread; may sleep.
 * Return: its number; as hipec_join(); -EINVAL for other @quarters.
 */
int hipec_join_budget(int fd, uint64_t id, uint32_t quarters, char *log, size_t log_size)
{
	struct hipec_join join = {
		.size = sizeof(join),
		.id = id,
		.quarters = quarters,
		.log = (uintptr_t)log,
		.log_size = empty_log(log, log_size),
	};
	int ret = quarters ? do_ioctl(fd, HIPEC_IOC_JOIN, &join) : -EINVAL;

	return ret ?: (int)join.team;
}

/**
 * hipec_standing() - how a policy of a container's league stands
 * @fd:       of hipec_open()
 * @id:       container; 0: @fd's own
 * @team:     the policy's number, from 0
 * @standing: filled
 *
 * Context: any thread.
 * Return: 0; -ENODATA if there is no league; -ENOENT if it has no such number; -ESRCH if
 *         there is no such container, or none that the caller may see; -EINTR on a fatal
 *         signal; -ENOTTY if the module is older.
 */
int hipec_standing(int fd, uint64_t id, uint32_t team, struct hipec_standing *standing)
{
	*standing = (struct hipec_standing){
		.size = sizeof(*standing), .id = id, .team = team,
	};
	return do_ioctl(fd, HIPEC_IOC_STANDING, standing);
}

/**
 * hipec_why() - where a page of a container stands
 * @fd:  of hipec_open()
 * @id:  container; 0: @fd's own
 * @why: offset set, and for a page by its file fd and the flag HIPEC_WHY_BY_FILE;
 *       the rest is filled
 *
 * Nothing changes by it.
 *
 * Context: any thread.
 * Return: 0; -ENXIO if no file of the container has the page; -EBADF if @why->fd
 *         is no descriptor; -EINVAL for another flag; -ENODATA if nothing is loaded;
 *         -ESRCH if there is no such container, or none that the caller may see;
 *         -ENOMEM; -ENOTTY if the module is older.
 */
int hipec_why(int fd, uint64_t id, struct hipec_why *why)
{
	why->size = sizeof(*why);
	why->id = id;
	return do_ioctl(fd, HIPEC_IOC_WHY, why);
}

/**
 * hipec_take() - a container decides which pages of a file leave the page cache
 * @fd:   of hipec_open()
 * @id:   container, loaded with HIPEC_LOAD_IN_PLACE; 0: @fd's own
 * @file: descriptor, by O_PATH too; it may be closed afterwards
 * @take: filled with the answer; NULL: it is not wanted
 *
 * Programs read, write and map the file as ever. It is let go by hipec_release(), with
 * its container, when it is removed and nobody has it open, or by umount.
 *
 * Context: any thread; may sleep.
 * Return: 0; -EBADF if @file is no descriptor; -EOPNOTSUPP if it cannot be taken,
 *         @take->refused says why, HIPEC_REFUSALS has the words; -EPERM if the caller
 *         does not own it; -EBUSY if container @take->other has it; -EINVAL if the
 *         container was not loaded so; -ESRCH if there is no such container, or none
 *         that the caller may see; -ENOSPC if it has too many files; -ENOMEM;
 *         -EINTR on a fatal signal; -ENOTTY if the module is older.
 */
int hipec_take(int fd, uint64_t id, int file, struct hipec_take *take)
{
	struct hipec_take own;

	if (!take)
		take = &own;
	*take = (struct hipec_take){
		.size = sizeof(*take), .id = id, .fd = file,
	};
	return do_ioctl(fd, HIPEC_IOC_TAKE, take);
}

/**
 * hipec_take_cgroup() - a container decides about what a cgroup's processes open
 * @fd:     of hipec_open()
 * @id:     container, loaded with HIPEC_LOAD_IN_PLACE; 0: @fd's own
 * @cgroup: descriptor of its directory, of version 2; it may be closed afterwards
 * @least:  smaller files stay the kernel's, bytes
 * @names:  patterns of the shell's `case`, each with a newline behind it, up to
 *          HIPEC_MAX_NAMES bytes: others stay the kernel's, too. NULL: any name
 * @take:   filled with the answer; NULL: it is not wanted
 *
 * From now on, for processes in it and in cgroups below it; files that are open already
 * are not had. Those that were opened stay with the container when hipec_release() lets
 * go of the cgroup.
 *
 * Context: any thread; may sleep.
 * Return: as hipec_take(), and -EOPNOTSUPP if the kernel has no hooks of functions;
 *         -EPERM if the caller does not own the directory; -ENOSPC if there are
 *         HIPEC_MAX_CGROUPS of them; -E2BIG for too many names, -EINVAL for one
 *         without its newline.
 */
int hipec_take_cgroup(int fd, uint64_t id, int cgroup, uint64_t least,
		      const char *names, struct hipec_take *take)
{
	struct hipec_take own;

	if (!take)
		take = &own;
	*take = (struct hipec_take){
		.size = sizeof(*take), .flags = HIPEC_TAKE_CGROUP, .id = id,
		.fd = cgroup, .least = least, .names = (uintptr_t)names,
		.names_size = names ? strlen(names) : 0,
	};
	return do_ioctl(fd, HIPEC_IOC_TAKE, take);
}

/**
 * hipec_release() - a container lets go of a file, or of all
 * @fd:   of hipec_open()
 * @id:   container; 0: @fd's own
 * @file: descriptor, of a file, a directory or a cgroup's; -1: all, and the container
 *        is no longer kept
 *
 * Its pages stay in the page cache, where the kernel reclaims them as any other.
 *
 * Context: any thread; may sleep.
 * Return: 0; -ENOENT if the container does not have the file; -EBADF, -EINVAL,
 *         -ESRCH and -ENOTTY as hipec_take().
 */
int hipec_release(int fd, uint64_t id, int file)
{
	struct hipec_release release = {
		.size = sizeof(release), .id = id, .fd = file,
	};

	return do_ioctl(fd, HIPEC_IOC_RELEASE, &release);
}

/**
 * hipec_param() - a parameter of a policy that runs: its value now, and its range
 * @fd:    that the policy was loaded with
 * @name:  of an integer that the policy declares `param`; up to 31 bytes
 * @param: filled
 *
 * Context: any thread.
 * Return: 0; -ENOENT if the policy has no parameter of that name; -ENODATA if no
 *         policy is loaded; -EBADF, -ENOTTY.
 */
int hipec_param(int fd, const char *name, struct hipec_param *param)
{
	return hipec_param_of(fd, 0, name, param);
}

/**
 * hipec_set_param() - change a parameter of a policy that runs
 * @fd:    that the policy was loaded with
 * @name:  as in hipec_param()
 * @value: what events that begin from now on read
 *
 * Context: any thread.
 * Return: 0; -ERANGE if the policy does not allow that value: hipec_param() has its
 *         range; -EACCES if it is a `const param`, which hipec_image_set_param() sets
 *         before the load; -ENOTTY if the module is older; else as hipec_param().
 */
int hipec_set_param(int fd, const char *name, int64_t value)
{
	return hipec_set_param_of(fd, 0, name, value);
}

/**
 * hipec_param_of() - hipec_param() of any container
 * @fd:    of hipec_open()
 * @id:    container; 0: @fd's own
 * @name:  as in hipec_param()
 * @param: filled
 *
 * Context: any thread.
 * Return: as hipec_param(); -ESRCH if there is no such container, or none that the
 *         caller may see.
 */
int hipec_param_of(int fd, uint64_t id, const char *name,
		   struct hipec_param *param)
{
	struct hipec_operand o;
	int ret = hipec_find_operand(fd, id, name, HIPEC_OPERAND_PARAM, &o);

	if (!ret)
		set_param(param, o.value, o.low, o.high, o.operand_flags);
	return ret;
}

/**
 * hipec_set_param_of() - hipec_set_param() of any container
 * @fd:    of hipec_open()
 * @id:    container; 0: @fd's own
 * @name:  as in hipec_param()
 * @value: what events that begin from now on read
 *
 * Context: any thread.
 * Return: as hipec_set_param(); -ESRCH as hipec_param_of().
 */
int hipec_set_param_of(int fd, uint64_t id, const char *name, int64_t value)
{
	struct hipec_set_param set = {
		.size = sizeof(set), .id = id, .value = value,
	};
	struct hipec_operand o;
	int ret = hipec_find_operand(fd, id, name, HIPEC_OPERAND_PARAM, &o);

	if (ret)
		return ret;
	set.slot = o.slot;
	return do_ioctl(fd, HIPEC_IOC_SET_PARAM, &set);
}
