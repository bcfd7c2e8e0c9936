/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The ABI of /dev/hipec for files in place: containers that were loaded with
 * HIPEC_LOAD_IN_PLACE. The rules are those of hipec.h.
 */
#ifndef _UAPI_HIPEC_CACHE_H
#define _UAPI_HIPEC_CACHE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Why a file is not taken. */
#define HIPEC_REFUSALS(X)                                                    \
	X(NOT,         0, "it can be taken")                                 \
	X(KIND,        1, "it is no regular file and no directory")                           \
	X(DAX,         2, "its file system keeps no copy of it in memory (DAX)") \
	X(SWAP,        3, "it is a swap file")                               \
	X(TMPFS,       4, "it is in memory alone (tmpfs)")                   \
	X(OVERLAY,     5, "it is an overlay's, without a file below")        \
	X(FILE_SYSTEM, 6, "its file system is none of ext4, XFS and btrfs")  \
	X(CACHE,       7, "it does not use the page cache as others do")

enum hipec_refusal {
#define HIPEC_X(name, number, text) HIPEC_REFUSED_##name = number,
	HIPEC_REFUSALS(HIPEC_X)
#undef HIPEC_X
};

/*
 * HIPEC_IOC_TAKE: the policy of this container, or of container `id` if the caller may
 * see it, decides from now on which pages of a file leave the page cache. The file is
 * not held open: it is let go when it is removed and closed, or its file system is
 * unmounted. The caller has to own it, or have CAP_FOWNER. O_PATH will do; of a file on
 * an overlay the one below is taken. Programs that have it open already go on, and
 * their hits by read() are not heard.
 *
 * Of a directory: files that are made in it or moved there from now on are taken as they
 * come, if they are the caller's or the caller has CAP_FOWNER, and so are directories.
 * The caller takes what is there already one by one, afterwards. A container has
 * HIPEC_MAX_DIRS directories and 557,055 small files at most; what comes then is the
 * kernel's.
 *
 * With HIPEC_TAKE_CGROUP, `fd` is of the directory of a cgroup of version 2, which the
 * caller owns: files of `least` bytes and more are taken as processes in it open them,
 * or in cgroups below it, with the same rule of owners; and, with `names`, only those
 * whose path or its last part a pattern describes, with `*`, `?` and `[...]`, of
 * HIPEC_MAX_NAMES bytes in all. What is code stays the
 * kernel's: it is not opened to be executed, does not begin as a program or a library,
 * and is let go once it is mapped to execute. There are HIPEC_MAX_CGROUPS at most.
 *
 * EINVAL: a flag, `reserved`, a pattern that does not end its line, or the container was not loaded with HIPEC_LOAD_IN_PLACE;
 * ESRCH: no such container; EBADF: no such descriptor, or not of a cgroup; EOPNOTSUPP:
 * `refused` says why, of a cgroup: this kernel has no hooks of functions (ftrace);
 * EPERM: the caller does not own it; E2BIG: the names; EBUSY: container `other` has it;
 * ENOSPC: the
 * container has no page numbers left, or too many directories; ENOMEM; EINTR on a fatal
 * signal.
 */
#define HIPEC_MAX_DIRS 65536
#define HIPEC_MAX_CGROUPS 64
#define HIPEC_MAX_NAMES 16384

#define HIPEC_TAKE_CGROUP 0x1

struct hipec_take {
	__u32 size;
	__u32 flags;		/* in: HIPEC_TAKE_CGROUP */
	__u64 id;		/* in: 0: this container */
	__s32 fd;		/* in: of the file */
	__u32 refused;		/* out: HIPEC_REFUSED_* */
	__u64 address;		/* out: where the file starts in the container, bytes */
	__u64 other;		/* out: container that has the file; 0: none */
	__u64 least;		/* in: with CGROUP, bytes */
	__u64 names;		/* in: with CGROUP, address of patterns, a line each */
	__u32 names_size;	/* in: bytes of these; 0: any name */
	__u32 reserved;		/* in: 0 */
};

/*
 * HIPEC_IOC_RELEASE: this container, or container `id`, lets go of a file: its pages
 * stay, and are the kernel's to reclaim. Without a file, fd -1, it lets go of all, and
 * is kept no longer. EINVAL and ESRCH as of HIPEC_IOC_TAKE; EBADF; ENOENT: it does not
 * have the file.
 */
struct hipec_release {
	__u32 size;
	__u32 flags;		/* in: 0 */
	__u64 id;		/* in: 0: this container */
	__s32 fd;		/* in: of the file; -1: all */
	__u32 reserved;		/* in: 0 */
};

/*
 * HIPEC_IOC_JOIN: a policy joins the league of this container, or of container `id` if the
 * caller may see it: it plays a sample of the accesses beside the policy that runs, with
 * as many counted frames in proportion, and takes over when it has read less than that by
 * more than chance. The first call makes the league; the policy that runs is its first
 * then, and its default. A HIPEC_IOC_SWAP ends the league.
 *
 * With `quarters` the policy that runs plays with so many quarters of the budget, 1 to
 * HIPEC_MAX_QUARTERS, and takes over from nobody. When another policy runs, that one plays
 * so.
 *
 * EINVAL: a flag, `quarters`, an image beside them, the image, for which log and error
 * fields are as in HIPEC_IOC_LOAD; ECANCELED: Init ended it, the log says how; ENODATA:
 * nothing is loaded; EALREADY: the policy that ran has ended, or the league; ENOSPC:
 * HIPEC_MAX_TEAMS play; EBUSY: a swap is under way; ESRCH, ENOMEM; EINTR on a fatal signal.
 */
#define HIPEC_MAX_TEAMS 16
#define HIPEC_MAX_QUARTERS 16	/* four times the budget */
#define HIPEC_STANDING_NAME 32	/* as HIPEC_NAME_MAX */

struct hipec_join {
	__u32 size;
	__u32 flags;		/* in: 0 */
	__u64 id;		/* in: 0: this container */
	__u64 image;		/* in: address of the image, or 0: the built-in replacement */
	__u32 image_size;	/* in: bytes; 0 if there is none */
	__u32 log_size;		/* in: bytes, as in HIPEC_IOC_LOAD */
	__u64 log;		/* in: address of a text buffer, or 0 */
	__u32 error_kind;	/* out: HIPEC_VERIFY_* */
	__u32 error_event;	/* out: event number */
	__u32 error_command;	/* out: counted from 1; 0: the event as a whole */
	__u32 error_operand;	/* out: 1 to 3, 0 the command as a whole */
	__u32 team;		/* out: its number */
	__u32 quarters;		/* in: 0: a rival; else of the budget, but not 4 */
};

/*
 * HIPEC_IOC_STANDING: how a policy of the league stands. Pages are those of the sample:
 * one in 2^shift. One with another budget is held against the policy that runs with the
 * container's, since it began or another one took over, which it is about to play while
 * `out` is set and `sampled` is 0; all others against the container,
 * since the league began. ENODATA: there is no league; ENOENT: it has no such team; ESRCH;
 * EINTR.
 */
struct hipec_standing {
	__u32 size;
	__u32 flags;		/* in: 0 */
	__u64 id;		/* in: 0: this container */
	__u32 team;		/* in: number, from 0 */
	__u32 nr;		/* out: teams */
	__u32 runs;		/* out: the one whose policy runs */
	__u32 shift;		/* out: one page in 2^shift is in the sample */
	__u64 switches;		/* out: policies that took over, so far */
	__u32 out;		/* out: 1: it plays no more; or not yet, see above */
	__u32 rehearses;	/* out: 1: it is tried with all frames, before it takes over */
	__u64 sampled;		/* out: accesses */
	__u64 missed;		/* out: of these, that were missed by what it is held against */
	__u64 misses;		/* out: of these, that this one missed */
	__s64 saves;		/* out: missed less misses */
	__u64 variance;		/* out: of saves, by the chance of the sample */
	char policy[HIPEC_STANDING_NAME];	/* out: its name */
	__u32 quarters;		/* out: of the budget that it plays with; 4: all of it */
	__u32 reserved;		/* out: 0 */
};

#define HIPEC_IOC_TAKE _IOWR('h', 0x90, struct hipec_take)
#define HIPEC_IOC_RELEASE _IOWR('h', 0x91, struct hipec_release)
#define HIPEC_IOC_JOIN _IOWR('h', 0x92, struct hipec_join)
#define HIPEC_IOC_STANDING _IOWR('h', 0x93, struct hipec_standing)

#endif /* _UAPI_HIPEC_CACHE_H */
