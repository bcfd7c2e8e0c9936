/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writeback. A container writes back to a volume (base/volume.h) by one work, whatever regions it
 * has there.
 */
#ifndef HIPEC_FRAMES_WRITEBACK_H
#define HIPEC_FRAMES_WRITEBACK_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct hipec_container;
struct hipec_region;

/**
 * struct hipec_writeback - what writes a container's pages back to a volume
 * @c:      invariant
 * @volume: which its regions hold; invariant
 * @nr:     regions that it is for, under c->lock
 * @evict_pending: frames of pages that are EVICT_PENDING, which are pending, by folio->lru, likewise
 * @flush:  frames of live pages that are to be written back, likewise
 * @work:   runs hipec_writeback_work()
 */
struct hipec_writeback {
	struct hipec_container *c;
	struct hipec_volume *volume;
	u32 nr;
	struct list_head evict_pending, flush;
	struct work_struct work;
};

int hipec_writeback_get(struct hipec_region *r);
void hipec_writeback_put(struct hipec_region *r);
int hipec_writeback_page(struct hipec_container *c, u32 h);
void hipec_writeback_start(struct hipec_region *r);
void hipec_writeback_start_all(struct hipec_container *c);

#endif /* HIPEC_FRAMES_WRITEBACK_H */
