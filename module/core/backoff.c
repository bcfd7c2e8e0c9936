// SPDX-License-Identifier: GPL-2.0-only
/*
 * The waits of revoked images. backoff.h says what it is.
 *
 * Source: ours; hipec-1997 leaves revocation open.
 */
#include "backoff.h"

/* Its wait in all, counted from the last revocation; ms. */
static u64 wait_of(const struct hipec_backoff_entry *e, u64 first_ms)
{
	u32 doublings = e->times - 1;

	if (doublings > HIPEC_BACKOFF_DOUBLINGS)
		doublings = HIPEC_BACKOFF_DOUBLINGS;
	return first_ms << doublings;
}

static bool is_old(const struct hipec_backoff_entry *e, u64 first_ms, u64 now_ms)
{
	u64 longest = first_ms << HIPEC_BACKOFF_DOUBLINGS;

	return longest && now_ms - e->last_ms > wait_of(e, first_ms) + longest;
}

/**
 * hipec_backoff_find() - what is known of an image
 * @r:     table
 * @user:  its owner
 * @image: hash of its bytes
 *
 * Context: any, serialised by the host.
 * Return: its entry; NULL if it was not revoked, or that is forgotten.
 */
const struct hipec_backoff_entry *
hipec_backoff_find(const struct hipec_backoff *r, u32 user, u64 image)
{
	const struct hipec_backoff_entry *e;

	for (e = r->entry; e < r->entry + HIPEC_BACKOFF_IMAGES; e++)
		if (e->times && e->user == user && e->image == image)
			return e;
	return NULL;
}

/* An unused entry, or the one that was revoked longest ago. */
static struct hipec_backoff_entry *take_backoff_entry(struct hipec_backoff *r)
{
	struct hipec_backoff_entry *e, *oldest = r->entry;

	for (e = r->entry; e < r->entry + HIPEC_BACKOFF_IMAGES; e++) {
		if (!e->times)
			return e;
		if (e->last_ms < oldest->last_ms)
			oldest = e;
	}
	return oldest;
}

/**
 * hipec_backoff_note() - an image was revoked
 * @r:        table
 * @user:     its owner
 * @image:    hash of its bytes
 * @kind:     why, HIPEC_EXIT_*
 * @first_ms: the first wait; 0: no image waits, but revocations are counted
 * @now_ms:   time, which never goes back
 *
 * Context: any, serialised by the host.
 */
void hipec_backoff_note(struct hipec_backoff *r, u32 user, u64 image, u32 kind,
			u64 first_ms, u64 now_ms)
{
	struct hipec_backoff_entry *e =
		(struct hipec_backoff_entry *)hipec_backoff_find(r, user, image);
	u32 times = e && !is_old(e, first_ms, now_ms) ? e->times : 0;

	if (!e)
		e = take_backoff_entry(r);
	*e = (struct hipec_backoff_entry){
		.image = image, .last_ms = now_ms, .user = user, .kind = kind,
		.times = times + 1,
	};
}

/**
 * hipec_backoff_wait() - how long an image has to wait still
 * @e:        its entry
 * @first_ms: the first wait; 0: no image waits
 * @now_ms:   time
 *
 * Context: any, serialised by the host.
 * Return: ms; 0 if it may come back.
 */
u64 hipec_backoff_wait(const struct hipec_backoff_entry *e, u64 first_ms,
		       u64 now_ms)
{
	u64 all = wait_of(e, first_ms), gone = now_ms - e->last_ms;

	return gone < all ? all - gone : 0;
}
