/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names, numbered from 0 in the order in which they first appear: of files, of keys that
 * are no numbers.
 *
 * Interface:
 * trace_name_number()  the number of a name, a new one if need be
 * trace_name_text()    the name of a number
 * trace_names_free()
 */
#ifndef HIPEC_TRACE_NAMES_H
#define HIPEC_TRACE_NAMES_H

#include <stddef.h>

#include "../../module/vm/port.h"

struct trace_names {
	char *text;		/* one behind the other, each with its 0 */
	size_t used, max;	/* bytes of it */
	size_t *at;		/* where each begins */
	u32 *place;		/* a hash table of twice @room places: number + 1 */
	u32 nr, room;
};

s64 trace_name_number(struct trace_names *names, const char *name, size_t length);
const char *trace_name_text(const struct trace_names *names, u32 number);
void trace_names_free(struct trace_names *names);

#endif /* HIPEC_TRACE_NAMES_H */
