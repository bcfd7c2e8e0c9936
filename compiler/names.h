/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names and what they stand for, so that finding one takes no longer the more
 * there are. A table that is all zero is an empty one.
 */
#ifndef AMPC_NAMES_H
#define AMPC_NAMES_H

struct ampc;

struct ampc_names {
	struct ampc_name **bucket;
	u32 nr, nr_buckets;
};

void ampc_names_add(struct ampc *c, struct ampc_names *names, const char *name,
		    void *what);
void *ampc_names_find(const struct ampc_names *names, const char *name);

#endif /* AMPC_NAMES_H */
