/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which images were revoked, and how long each stays out for its user: a
 * first wait, twice as long after each further revocation, up to a bound.
 *
 * There is room for few images. When it is full, the one that was revoked longest
 * ago is forgotten and may come back at once: to use that, a user must have as
 * many others revoked meanwhile, each of which waits then. An image that was not
 * revoked again for the longest wait behind its own begins anew.
 *
 * Interface:
 * hipec_backoff_note()   an image was revoked
 * hipec_backoff_find()   what is known of one
 * hipec_backoff_wait()   how long it has to wait still
 */
#ifndef HIPEC_CORE_BACKOFF_H
#define HIPEC_CORE_BACKOFF_H

#include "../vm/port.h"

#define HIPEC_BACKOFF_IMAGES 64
#define HIPEC_BACKOFF_DOUBLINGS 10

/* One image of one user. */
struct hipec_backoff_entry {
	u64 image;	/* hash of its bytes */
	u64 last_ms;	/* when it was revoked last */
	u32 user;
	u32 kind;	/* HIPEC_EXIT_*, of the last time */
	u32 times;	/* 0: the entry is unused */
};

/* All zero: no image was revoked. Serialised by the host. */
struct hipec_backoff {
	struct hipec_backoff_entry entry[HIPEC_BACKOFF_IMAGES];
};

void hipec_backoff_note(struct hipec_backoff *r, u32 user, u64 image, u32 kind,
			u64 first_ms, u64 now_ms);
const struct hipec_backoff_entry *
hipec_backoff_find(const struct hipec_backoff *r, u32 user, u64 image);
u64 hipec_backoff_wait(const struct hipec_backoff_entry *e, u64 first_ms,
		       u64 now_ms);

#endif /* HIPEC_CORE_BACKOFF_H */
