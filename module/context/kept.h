/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From context.c, which walks stacks, to kept.c, which keeps what it found.
 */
#ifndef HIPEC_CONTEXT_KEPT_H
#define HIPEC_CONTEXT_KEPT_H

#include "context.h"

struct file;

/**
 * struct hipec_kept_id - what a file is in contexts
 * @file:  as in struct hipec_stack_point
 * @skip:  its points are left out
 * @bytes: of @id; 0: it has none
 * @id:    build id
 */
struct hipec_kept_id {
	u64 file;
	bool skip;
	u8 bytes;
	u8 id[HIPEC_BUILD_ID_MAX];
};

void hipec_kept_points(struct hipec_context_kept *kept, u64 context,
		       const struct hipec_stack_point *point, u32 nr);
void hipec_kept_file(struct hipec_context_kept *kept, struct file *file,
		     const struct hipec_kept_id *id);

#endif /* HIPEC_CONTEXT_KEPT_H */
