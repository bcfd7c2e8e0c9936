/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libhipec: application-chosen page replacement, from C and C++.
 *
 *	int fd = hipec_open();
 *	hipec_load_file(fd, "mru.hpo", frames, 0, log, sizeof(log));
 *	int region = hipec_attach(fd, file, 0, 0, false, NULL);
 *	char *p = mmap(NULL, length, PROT_READ, MAP_SHARED, region, 0);
 *
 * or MAP_PRIVATE: what is written is a copy then, and reading is all that the
 * region need be attached for.
 *
 * One open is one container. It ends when its last descriptor, region
 * descriptor and mapping are gone, so @fd may be closed once it is attached.
 *
 * Without the module hipec_open() returns -ENOENT; every other function that takes a
 * descriptor returns -EBADF for that, and does nothing. So a program may go on as if
 * all were well, and map its file when there is no region.
 *
 * Every function returns 0 or a descriptor, or -errno; errno itself is not to
 * be relied on. The library keeps no state: functions may be called from any
 * thread, and what one descriptor's calls exclude is the module's to say. The
 * structs are those of the device, <linux/hipec.h>; the library sets `size`.
 *
 * Interface:
 * hipec_open()            a container, empty
 * hipec_query()           the module: versions, features
 * hipec_load()            policy, or none, and frames for the container
 * hipec_load_file()       the same, from a .hpo file
 * hipec_load_args()       the same, with all that the device can be told
 * hipec_image_read()      a .hpo file into memory
 * hipec_image_param()     a parameter: its value and its range
 * hipec_image_set_param() change it, before the load
 * hipec_attach()          a range of a file -> region to mmap
 * hipec_status()          what the container did so far
 * hipec_operand()         one operand of a policy: a counter's value
 * hipec_record()          what happens in a container, to read
 * hipec_sample()          some of its accesses, with their program contexts, to read
 * hipec_shared()          map an array that the policy shares
 * hipec_param()           a parameter of a policy that runs: its value, its range
 * hipec_set_param()       change it
 * hipec_hint()            say something about pages of a region
 * hipec_swap()            another policy, in which the pages stay
 * hipec_swap_file()       the same, from a .hpo file
 * hipec_swap_args()       the same, with all that the device can be told
 * hipec_revoke()          end a policy
 * hipec_join()            a policy plays beside the one that runs, and may take over
 * hipec_join_budget()     the one that runs plays with another budget
 * hipec_standing()        how one of them stands
 * hipec_why()             where a page stands
 * hipec_take()            a file's pages in the page cache, under a container's policy
 * hipec_take_cgroup()     of files that a cgroup's processes open, likewise
 * hipec_release()         let go of a file, or of all
 * hipec_param_of(), hipec_set_param_of()  a parameter of any container
 * hipec_next()            the next container that the caller may see
 * hipec_log()             the next of those that are gone
 */
#ifndef HIPEC_H
#define HIPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The device's header, in its source tree or as installed. */
#if defined(__has_include) && __has_include("../../module/include/uapi/hipec.h")
#include "../../module/include/uapi/hipec.h"
#include "../../module/include/uapi/hipec_cache.h"
#else
#include <linux/hipec.h>
#include <linux/hipec_cache.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define HIPEC_DEVICE "/dev/hipec"

/* A parameter of a policy. */
struct hipec_param {
	int64_t value;
	int64_t low, high;	/* what it may be; both included */
	bool at_load;		/* `const param`: once loaded it stays as it is */
};

int hipec_open(void);
int hipec_query(int fd, struct hipec_query *query);
int hipec_load(int fd, const void *image, size_t size, uint64_t frames,
	       uint32_t cluster, char *log, size_t log_size);
int hipec_load_args(int fd, struct hipec_load *load);
int hipec_load_file(int fd, const char *path, uint64_t frames,
		    uint32_t cluster, char *log, size_t log_size);
int hipec_image_read(const char *path, void **image, size_t *size);
int hipec_image_param(const void *image, size_t size, const char *name,
		      struct hipec_param *param);
int hipec_image_set_param(void *image, size_t size, const char *name,
			  int64_t value);
int hipec_attach(int fd, int file, uint64_t offset, uint64_t length,
		 bool writable, uint64_t *address);
int hipec_status(int fd, struct hipec_status *status);
int hipec_next(int fd, uint64_t id, struct hipec_status *status);
int hipec_log(int fd, uint64_t seq, struct hipec_log *log);
int hipec_operand(int fd, uint64_t id, uint32_t slot,
		  struct hipec_operand *operand);
int hipec_record(int fd, uint64_t id, uint32_t ring);
int hipec_sample(int fd, uint64_t id, uint64_t threshold, uint32_t ring);
int hipec_shared(int fd, const char *name, int64_t **array, size_t *nr);
int hipec_param(int fd, const char *name, struct hipec_param *param);
int hipec_set_param(int fd, const char *name, int64_t value);
int hipec_param_of(int fd, uint64_t id, const char *name,
		   struct hipec_param *param);
int hipec_set_param_of(int fd, uint64_t id, const char *name, int64_t value);
int hipec_swap(int fd, uint64_t id, const void *image, size_t size, char *log,
	       size_t log_size);
int hipec_swap_args(int fd, struct hipec_swap *swap);
int hipec_swap_file(int fd, uint64_t id, const char *path, char *log,
		    size_t log_size);
int hipec_revoke(int fd, uint64_t id);
int hipec_join(int fd, uint64_t id, const void *image, size_t size, char *log,
	       size_t log_size);
int hipec_join_budget(int fd, uint64_t id, uint32_t quarters, char *log, size_t log_size);
int hipec_standing(int fd, uint64_t id, uint32_t team, struct hipec_standing *standing);
int hipec_why(int fd, uint64_t id, struct hipec_why *why);
int hipec_take(int fd, uint64_t id, int file, struct hipec_take *take);
int hipec_take_cgroup(int fd, uint64_t id, int cgroup, uint64_t least,
		      const char *names, struct hipec_take *take);
int hipec_release(int fd, uint64_t id, int file);
int hipec_hint(int region, uint64_t offset, uint64_t length, uint32_t hint);

#ifdef __cplusplus
}
#endif

#endif /* HIPEC_H */
