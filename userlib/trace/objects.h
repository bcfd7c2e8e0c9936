/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects and accesses to them, until it is known how objects are numbered: an object is a
 * page, whatever its size.
 *
 * Interface:
 * trace_object()       an access to an object
 * trace_key()          the same, by a key that is no number
 * trace_objects_end()  makes a trace of all
 * trace_objects_free()
 * trace_little()       a little-endian number
 */
#ifndef HIPEC_TRACE_OBJECTS_H
#define HIPEC_TRACE_OBJECTS_H

#include "reader.h"

struct trace_object {
	u64 id;
	u32 space;	/* ids of different spaces are different objects */
};

struct trace_objects {
	struct trace_object *object;	/* numbered from 0 as they appear */
	u32 *place;		/* a hash table: number + 1 */
	u32 nr, room;
	u32 *op;		/* number << 1 | write */
	struct trace_room op_room;
	size_t nr_ops, max_ops;
	struct trace_names keys;	/* that are no numbers, of TRACE_KEYS */
	u64 most;		/* highest id */
	bool spaces;		/* there are several, or keys */
};

#define TRACE_KEYS UINT32_MAX	/* the space of keys; with others, of one of theirs */

int trace_object(struct trace_in *r, struct trace_objects *o, u32 space, u64 id, bool write);
int trace_key(struct trace_in *r, struct trace_objects *o, u32 space, const char *key,
	      size_t length, bool write);
int trace_objects_end(struct trace_in *r, struct trace_objects *o, struct trace *t);
void trace_objects_free(struct trace_objects *o);

static inline u64 trace_little(const u8 *p, int bytes)
{
	u64 n = 0;

	while (bytes--)
		n = n << 8 | p[bytes];
	return n;
}

#endif /* HIPEC_TRACE_OBJECTS_H */
