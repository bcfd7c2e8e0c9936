// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records and samples of containers, one's own and others', with rings that are too small, read
 * in pieces and at times into what cannot be written to.
 */
#include <fcntl.h>
#include <poll.h>

#include "hostile.h"

/* A record's descriptor, as any other. */
void keep_record(int fd)
{
	fcntl(fd, F_SETFL, O_NONBLOCK);
	*place_for(w.record) = (struct hold){ .fd = fd };
}

int op_record(void)
{
	struct hold *h = any_hold(chance(60) ? w.container : w.place);
	struct hipec_status s = { 0 };
	uint64_t id = 0;
	uint32_t ring = chance(90) ? HIPEC_RECORD_MIN_RING << below(6) :
				     (uint32_t)fuzz_random(&w.rng);
	int fd;

	if (!h)
		return -EMFILE;
	if (chance(40) && !hipec_next(h->fd, below(1000), &s))
		id = s.id;
	fd = chance(50) ? hipec_record(h->fd, id, ring) :
			  hipec_sample(h->fd, id, 1ull << below(34), ring);
	if (fd >= 0)
		keep_record(fd);
	return fd < 0 ? fd : 0;
}

int op_record_read(void)
{
	static char bytes[1 << 16];
	struct hold *h = any_hold(w.record);
	struct pollfd p = { .events = POLLIN };
	void *at = chance(95) ? (void *)bytes : (void *)fuzz_random(&w.rng);

	if (!h)
		return -EBADF;
	p.fd = h->fd;
	if (chance(20))
		return or_errno(poll(&p, 1, 0));
	if (chance(10)) {
		let_go(h);
		return 0;
	}
	return or_errno(read(h->fd, at, below(sizeof(bytes) + 1)));
}
