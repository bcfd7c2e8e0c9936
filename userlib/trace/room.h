/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Room for an array that may be larger than memory: from some size on it is in a file that
 * nobody sees, on the disk, and the kernel keeps in memory what is used of it.
 *
 * Interface:
 * trace_room_grow()    more bytes
 * trace_room_free()    none
 * trace_room_left()    bytes that the machine, and the limits of this process, have left
 * trace_room_folder()  where the files are
 */
#ifndef HIPEC_TRACE_ROOM_H
#define HIPEC_TRACE_ROOM_H

#include <stdbool.h>
#include <stddef.h>

#include "../../module/vm/port.h"

struct trace_room {
	size_t bytes;
	bool mapped;	/* of a file */
	int fd;
};

int trace_room_grow(struct trace_room *room, void **at, size_t bytes);
void trace_room_free(struct trace_room *room, void *at);
u64 trace_room_left(void);
const char *trace_room_folder(void);

#endif /* HIPEC_TRACE_ROOM_H */
