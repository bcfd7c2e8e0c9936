/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the rest of the module calls of the page cache's host. The files of this folder
 * have cache.h.
 */
#ifndef HIPEC_CACHE_HOST_H
#define HIPEC_CACHE_HOST_H

#include "../include/uapi/hipec_cache.h"
#include "../base/base.h"

/* Of an entry that is on a list: its neighbours' handles; 0: none. */
struct hipec_links {
	u32 next, prev;
};

int hipec_cache_init(void);
void hipec_cache_exit(void);
void hipec_cache_close(struct hipec_container *c);
void hipec_cache_abandon(struct hipec_container *c);
void hipec_cache_keep(struct hipec_container *c);
void hipec_cache_drop(struct hipec_container *c);
int hipec_cache_attach(struct hipec_container *c, struct hipec_take *a);
int hipec_cache_detach(struct hipec_container *c, int fd);
int hipec_cache_why(struct hipec_container *c, const struct file *file,
		    struct hipec_why *w, u32 *h, struct inode **inode);
const char *hipec_cache_path(struct inode *inode, char *path);
void hipec_cache_deliver_later(struct hipec_container *c);
extern const struct hipec_host hipec_cache_host;

/* Of that, what is in bits.c. */
extern const struct hipec_host_ops hipec_cache_machine;
extern const struct hipec_core_ops hipec_cache_ops, hipec_cache_shared_ops;

#endif /* HIPEC_CACHE_HOST_H */
