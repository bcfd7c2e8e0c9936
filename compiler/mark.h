/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Work space: what is allocated between ampc_mark() and ampc_release() does not
 * live as long as the compilation. In memory.c, with the rest.
 */
#ifndef AMPC_MARK_H
#define AMPC_MARK_H

#include "ampc.h"

struct ampc_mark {
	struct ampc_chunk *chunk;
	size_t used;		/* bytes of it */
};

struct ampc_mark ampc_mark(const struct ampc *c);
void ampc_release(struct ampc *c, struct ampc_mark mark);

#endif /* AMPC_MARK_H */
