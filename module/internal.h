/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of this folder call of each other: those that know both hosts, and
 * what users ask for.
 */
#ifndef HIPEC_INTERNAL_H
#define HIPEC_INTERNAL_H

#include "base/base.h"
#include "frames/frames.h"
#include "share.h"

/* Whether policy @p of a container is held to the contract. */
static inline bool hipec_container_judges(const struct hipec_container *c,
					  const struct hipec_policy *p)
{
	return c->contract && !hipec_fifo2_is(p);
}

/* container.c */
struct hipec_container *hipec_container_new(void);
int hipec_container_columns(const struct hipec_container *c, const struct hipec_policy *p,
			    u32 nr, struct hipec_columns *t, u32 least);
u32 hipec_container_entries(const struct hipec_container *c,
			    const struct hipec_policy *p, u32 nr);
int hipec_container_parse(struct hipec_policy *p, const void *image,
			  size_t size, struct hipec_verify_error *error,
			  struct hipec_text *log);
void hipec_container_draw(struct hipec_vm *vm, u64 seed);
int hipec_container_load(struct hipec_container *c, struct hipec_load *args,
			 void *image, struct hipec_text *log);

/* status.c */
int hipec_status_get(struct hipec_container *c, struct hipec_status *s);
int hipec_status_operand(struct hipec_container *c, struct hipec_operand *o);
int hipec_status_set_param(struct hipec_container *c, u32 slot, s64 value);

/* timer.c */
void hipec_timer_run(struct work_struct *work);
void hipec_timer_start(struct hipec_container *c);

/* shared.c: arrays that the application writes */
int hipec_shared_alloc(const struct hipec_policy *p,
		       const struct hipec_policy *old,
		       struct hipec_shared **old_array,
		       struct hipec_shared ***array);
void hipec_shared_free(struct hipec_shared **array, u32 nr);
void hipec_shared_place(struct hipec_vm *vm, struct hipec_shared **array);
extern spinlock_t hipec_shared_lock;
int hipec_shared_mmap(struct hipec_container *c, struct vm_area_struct *vma);

/* swap.c: another policy, and the pages stay */
int hipec_swap_policy(struct hipec_container *c, struct hipec_swap *args,
		      void *image, struct hipec_text *log);
int hipec_swap_candidate(struct hipec_container *c, void *image, u32 size, u32 next);
int hipec_swap_begin(struct hipec_container *c);
void hipec_swap_end(struct hipec_container *c);

struct hipec_join;
struct hipec_standing;

/* league.c: policies beside the one that runs */
int hipec_league_join(struct hipec_container *c, struct hipec_join *args, void *image,
		      struct hipec_text *log);
int hipec_league_standing(struct hipec_container *c, struct hipec_standing *a);

/* why.c: where a page stands */
int hipec_why_page(struct hipec_container *c, struct hipec_why *w);

/* dev.c */
extern const struct file_operations hipec_dev_fops;

/* debugfs.c */
void hipec_debugfs_init(void);
void hipec_debugfs_exit(void);
void hipec_debugfs_add(struct hipec_container *c);
void hipec_debugfs_del(struct hipec_container *c);

#endif /* HIPEC_INTERNAL_H */
