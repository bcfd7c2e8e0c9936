// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of names: chains of names whose hashes have the same low bits, as many
 * chains as there are names. Names are compared exactly.
 *
 * Interface:
 * ampc_names_add(), ampc_names_find()
 */
#include "ampc.h"

struct ampc_name {
	struct ampc_name *next;
	const char *name;
	u32 hash;
	void *what;
};

/* FNV-1a */
static u32 hash_of(const char *s)
{
	u32 hash = 2166136261u;

	for (; *s; s++)
		hash = (hash ^ (u8)*s) * 16777619u;
	return hash;
}

static struct ampc_name *find(const struct ampc_names *names, const char *name,
			      u32 hash)
{
	struct ampc_name *n;

	if (!names->nr_buckets)
		return NULL;
	n = names->bucket[hash & (names->nr_buckets - 1)];
	while (n && (n->hash != hash || strcmp(n->name, name)))
		n = n->next;
	return n;
}

static void link(struct ampc_names *names, struct ampc_name *n)
{
	struct ampc_name **head =
		&names->bucket[n->hash & (names->nr_buckets - 1)];

	n->next = *head;
	*head = n;
}

/* Twice as many chains. */
static void grow(struct ampc *c, struct ampc_names *names)
{
	struct ampc_names old = *names;
	struct ampc_name *n, *next;
	u32 i;

	names->nr_buckets = old.nr_buckets ? 2 * old.nr_buckets : 64;
	names->bucket = ampc_alloc(c, names->nr_buckets *
				   sizeof(*names->bucket));
	for (i = 0; i < old.nr_buckets; i++) {
		for (n = old.bucket[i]; n; n = next) {
			next = n->next;
			link(names, n);
		}
	}
}

/**
 * ampc_names_add() - enter a name
 * @c:     compilation
 * @names: table
 * @name:  the name, which must outlive @c
 * @what:  what it stands for; of a name that is there already, the old one stays
 */
void ampc_names_add(struct ampc *c, struct ampc_names *names, const char *name,
		    void *what)
{
	u32 hash = hash_of(name);
	struct ampc_name *n;

	if (find(names, name, hash))
		return;
	if (names->nr == names->nr_buckets)
		grow(c, names);
	n = ampc_alloc(c, sizeof(*n));
	n->name = name;
	n->hash = hash;
	n->what = what;
	link(names, n);
	names->nr++;
}

/* What @name stands for; NULL if it is not there. */
void *ampc_names_find(const struct ampc_names *names, const char *name)
{
	struct ampc_name *n = find(names, name, hash_of(name));

	return n ? n->what : NULL;
}
