// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects: a hash table of their ids, and the accesses in order.
 *
 * Interface: objects.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "objects.h"

static u32 *place_of(const struct trace_objects *o, const struct trace_object *object)
{
	u32 mask = o->room * 2 - 1;
	u32 i = ((object->id ^ (u64)object->space << 40) * 0x9e3779b97f4a7c15 >> 32) & mask;

	while (o->place[i] && (o->object[o->place[i] - 1].id != object->id ||
			       o->object[o->place[i] - 1].space != object->space))
		i = (i + 1) & mask;
	return &o->place[i];
}

static int grow(struct trace_objects *o)
{
	u32 room = o->room ? o->room * 2 : 1024, i;
	struct trace_object *more = reallocarray(o->object, room, sizeof(*more));
	u32 *place;

	if (!more)
		return -ENOMEM;
	o->object = more;
	place = calloc((size_t)room * 2, sizeof(*place));
	if (!place)
		return -ENOMEM;
	free(o->place);
	o->place = place;
	o->room = room;
	for (i = 0; i < o->nr; i++)
		*place_of(o, &o->object[i]) = i + 1;
	return 0;
}

static int grow_ops(struct trace_objects *o)
{
	size_t more = o->op_room.mapped ? o->max_ops / 4 : o->max_ops;
	size_t max = o->max_ops + (more ? more : 1024);
	int ret = trace_room_grow(&o->op_room, (void **)&o->op, max * sizeof(*o->op));

	if (!ret)
		o->max_ops = max;
	return ret;
}

/**
 * trace_object() - an access to an object
 * @r:     for messages
 * @o:     objects
 * @space: that the id is of
 * @id:    of the object
 * @write: or read
 *
 * Return: 0; -EINVAL, said; -ENOMEM; as trace_room_grow().
 */
int trace_object(struct trace_in *r, struct trace_objects *o, u32 space, u64 id, bool write)
{
	const struct trace_object object = { id, space };
	u64 most = r->options->most ? r->options->most : SIM_MAX_ACCESSES;
	u32 *place;
	int ret;

	if (o->nr_ops == most)
		return trace_malformed(r, "want at most %llu accesses", (unsigned long long)most);
	if (o->nr == o->room && grow(o))
		return -ENOMEM;
	ret = o->nr_ops == o->max_ops ? grow_ops(o) : 0;
	if (ret)
		return ret;
	place = place_of(o, &object);
	if (!*place) {
		if (o->nr == SIM_MAX_PAGES)
			return trace_malformed(r, "want at most %u different objects",
					       SIM_MAX_PAGES);
		o->object[o->nr] = object;
		*place = ++o->nr;
		o->most = id > o->most ? id : o->most;
		o->spaces |= space;
	}
	o->op[o->nr_ops++] = (*place - 1) << 1 | write;
	return 0;
}

/* A key is @length bytes at @key; it differs from the same key of another space. */
int trace_key(struct trace_in *r, struct trace_objects *o, u32 space, const char *key,
	      size_t length, bool write)
{
	s64 number = trace_name_number(&o->keys, key, length);

	if (number == -ERANGE)
		return trace_malformed(r, "want at most %u different objects", SIM_MAX_PAGES);
	return number < 0 ? number : trace_object(r, o, TRACE_KEYS - space, number, write);
}

/**
 * trace_objects_end() - make a trace of accesses to objects
 * @r: for messages
 * @o: objects
 * @t: filled
 *
 * Ids are page numbers where all of them can be, else the order in which they appear is.
 *
 * Return: 0; -EINVAL, said; -ENOMEM.
 */
int trace_objects_end(struct trace_in *r, struct trace_objects *o, struct trace *t)
{
	bool dense = o->spaces || o->most > UINT32_MAX;
	int ret = 0;
	size_t i;

	r->err->line = 0;
	for (i = 0; i < o->nr_ops && !ret; i++) {
		u32 n = o->op[i] >> 1;
		struct trace_run run = { dense ? n : o->object[n].id, 1, o->op[i] & 1 };

		ret = trace_add(r, t, &run, NULL);
	}
	if (ret || !dense)
		return ret;
	if (o->keys.nr)
		return trace_note(t, "keys are no numbers: pages are numbered from 0 in the order in which they appear");
	if (o->spaces)
		return trace_note(t, "objects of several spaces: pages are numbered from 0 in the order in which they appear");
	return trace_note(t, "objects have ids above %u: pages are numbered from 0 in the order in which they appear",
			  UINT32_MAX);
}

void trace_objects_free(struct trace_objects *o)
{
	free(o->object);
	free(o->place);
	trace_names_free(&o->keys);
	trace_room_free(&o->op_room, o->op);
	*o = (struct trace_objects){ 0 };
}
