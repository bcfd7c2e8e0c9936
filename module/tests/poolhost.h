/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A host for module/core that owns no frames: a few containers with a few pages
 * each, which answer by a script or at random. It runs on the manager or on a
 * plain model of it (poolmodel.c) and writes down what it was asked, so that two
 * of them that started alike can be compared.
 *
 * A page is written as a letter for its owner and a digit: a0, b3.
 *
 * The log, one word a call:
 *   ?a0       was it referenced?
 *   -a0       its bit is reset
 *   !a0       its container is asked
 *   xa0       it is to be taken
 *   a0<a3     a0 was kept, a3 goes
 *   *0        hipec_fifo2mr_reclaim() was called in between, and said no
 *
 * A script says what happens in each call of ask(), one answer up to each ';':
 *   "a3 a1;;+b2 a0"   a3 and a1 go; nothing; b2 comes in and a0 goes
 * where * calls hipec_fifo2mr_reclaim(). Without a script nothing is given up.
 *
 * Interface:
 * hipec_poolhost_new()       a host on a manager, FIFO2-MR or AWST
 * hipec_poolhost_add(), _del()        a page comes in, leaves
 * hipec_poolhost_script(), _log()     what is answered, what was asked
 * hipec_poolhost_order()     all pages as text
 * hipec_poolhost_broken()    the first invariant that does not hold, or NULL
 * hipec_poolhost_expect()    what a reclaim answers, asks and leaves
 */
#ifndef HIPEC_TESTS_POOLHOST_H
#define HIPEC_TESTS_POOLHOST_H

#include "../core/queue.h"
#include "../vm/text.h"
#include "kunit_machine.h"

#define HIPEC_POOL_OWNERS 7
#define HIPEC_POOL_PAGES 8	/* that each may have */
#define HIPEC_POOL_ALL (HIPEC_POOL_OWNERS * HIPEC_POOL_PAGES)
#define HIPEC_POOL_LOG 8192		/* bytes */
#define HIPEC_POOL_ORDER 256		/* bytes, all pages' names and more */

struct hipec_poolhost;

/* What it runs on. */
struct hipec_pool_manager {
	bool (*add)(struct hipec_poolhost *h, u32 owner, u32 page);
	void (*del)(struct hipec_poolhost *h, u32 owner, u32 page);
	bool (*reclaim)(struct hipec_poolhost *h, u32 requester);
	bool (*is_full)(struct hipec_poolhost *h, u32 owner);
	void (*set_limits)(struct hipec_poolhost *h, u32 owner, u32 min,
			   u32 max);
	void (*order)(struct hipec_poolhost *h, struct hipec_text *out);
};

struct hipec_pool_page {
	bool in, referenced, pinned;
	u32 f;			/* of the manager */
};

struct hipec_poolhost {
	struct hipec_mr mr;	/* first: its methods find their host by it */
	const struct hipec_pool_manager *manager;
	struct hipec_pool_page page[HIPEC_POOL_OWNERS][HIPEC_POOL_PAGES];
	bool busy[HIPEC_POOL_OWNERS];
	const char *script;
	u32 seed;		/* 0: by the script */
	u32 moved, passed;	/* of the last reclaim() */
	struct hipec_text log;
	char log_bytes[HIPEC_POOL_LOG], order_bytes[HIPEC_POOL_ORDER];
};

void hipec_poolhost_init(struct hipec_poolhost *h,
			 const struct hipec_pool_manager *manager);
struct hipec_poolhost *hipec_poolhost_new(struct kunit *test, u32 nr,
					  enum hipec_mr_policy policy);
bool hipec_poolhost_add(struct hipec_poolhost *h, u32 owner, u32 page);
void hipec_poolhost_del(struct hipec_poolhost *h, u32 owner, u32 page);
void hipec_poolhost_script(struct hipec_poolhost *h, const char *script);
const char *hipec_poolhost_log(struct hipec_poolhost *h);
const char *hipec_poolhost_order(struct hipec_poolhost *h);
const char *hipec_poolhost_broken(struct hipec_poolhost *h);
void hipec_poolhost_expect(struct kunit *test, struct hipec_poolhost *h,
			   u32 requester, bool gone, const char *log,
			   const char *order);
void hipec_pool_name(struct hipec_text *out, u32 owner, u32 page);

/* The manager's methods, for whatever manages. */
bool hipec_poolhost_referenced(struct hipec_poolhost *h, u32 owner, u32 page);
void hipec_poolhost_reset(struct hipec_poolhost *h, u32 owner, u32 page);
void hipec_poolhost_ask(struct hipec_poolhost *h, u32 owner, u32 page);
void hipec_poolhost_take(struct hipec_poolhost *h, u32 owner, u32 page);
void hipec_poolhost_moved(struct hipec_poolhost *h, u32 owner, u32 kept,
			  u32 gone);

#endif /* HIPEC_TESTS_POOLHOST_H */
