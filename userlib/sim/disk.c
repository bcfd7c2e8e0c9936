// SPDX-License-Identifier: GPL-2.0-only
/*
 * The disk that simulators share.
 */
#include "mixpool.h"

/**
 * mix_disk_io() - have a page read or written, behind what was asked for before
 * @d:     disk, with the time
 * @s:     whose page it is
 * @pgno:  page
 * @write: it is written
 *
 * Return: when it is done, ns.
 */
u64 mix_disk_io(struct mix_disk *d, const struct sim *s, u32 pgno, bool write)
{
	bool next = d->last == s && d->last_pgno + 1 == pgno;
	u64 ns = write ? d->write_ns[next] : d->read_ns[next];

	if (d->free_at < d->now)
		d->free_at = d->now;
	d->free_at += ns;
	d->busy += ns;
	d->reads += !write;
	d->writes += write;
	d->sequential += next;
	d->last = s;
	d->last_pgno = pgno;
	return d->free_at;
}
