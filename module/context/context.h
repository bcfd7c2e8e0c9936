/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Program contexts in the module, and what they were made of: context.c.
 */
#ifndef HIPEC_MODULE_CONTEXT_H
#define HIPEC_MODULE_CONTEXT_H

#include "stack.h"

#define HIPEC_CONTEXT_POINTS 16		/* at most */
#define HIPEC_CONTEXT_PATH 255		/* bytes of a path that are kept: its end */

/**
 * struct hipec_context_file - a file of points
 * @file:       as in struct hipec_stack_point
 * @id_bytes:   of @id; 0: it has none
 * @path_bytes: of @path
 * @id:         build id
 * @path:       when it was first met
 */
struct hipec_context_file {
	u64 file;
	u8 id_bytes;
	u8 path_bytes;
	u8 id[HIPEC_BUILD_ID_MAX];
	char path[HIPEC_CONTEXT_PATH];
};

struct vm_fault;

int hipec_context_init(void);
void hipec_context_exit(void);
u64 hipec_context(struct vm_fault *vmf);
u64 hipec_context_of_call(void);
int hipec_context_keep(void);
u32 hipec_context_points(u64 context, struct hipec_stack_point *point);
bool hipec_context_file(u64 id, struct hipec_context_file *file);

#endif /* HIPEC_MODULE_CONTEXT_H */
