/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An owner of frames that has none: the bits of each page are in an array, and
 * every answer follows from them. For tests and fuzzers, in the kernel and in
 * user space; nothing is allocated, nothing depends on time or order.
 *
 * Interface:
 * hipec_fakehost_size()  memory that it needs beside the struct
 * hipec_fakehost_init()  a machine without pages, and its host
 * hipec_fakehost_add()   give it a page
 * hipec_fakehost_run()   set what the host owns, run an event
 * hipec_fakehost_fault() a page is brought in between two events
 * hipec_fakehost_lose()  a page loses its frame between two events
 * hipec_fakehost_clean() what was given up dirty has been written
 */
#ifndef HIPEC_TESTS_FAKEHOST_H
#define HIPEC_TESTS_FAKEHOST_H

#include "../vm/queue.h"

/*
 * Bits of a page. The last column is the word in test files.
 *
 * HIDDEN pages are in the table but not live: being read, or given up dirty
 * and not clean yet. FLUSHED counts for nothing; it shows that Flush came.
 */
#define HIPEC_FAKE_BITS(X)                                                   \
	X(REF,      0x01, "ref")                                             \
	X(MOD,      0x02, "mod")                                             \
	X(PINNED,   0x04, "pinned")	/* cannot be given up */             \
	X(MAPPED,   0x08, "mapped")                                          \
	X(NOMAP,    0x10, "nomap")	/* cannot be mapped ahead */         \
	X(READONLY, 0x20, "readonly")	/* its region may not be written */  \
	X(HIDDEN,   0x40, "hidden")                                          \
	X(FLUSHED,  0x80, "flushed")                                         \
	X(GHOST,    0x100, "ghost")	/* of a test file: it has no frame */

enum hipec_fake_bit {
#define X(name, code, word) HIPEC_FAKE_##name = code,
	HIPEC_FAKE_BITS(X)
#undef X
	HIPEC_FAKE_KEPT = 0x200, /* a HIDDEN page's frame stays when it is clean */
};

/* A page that the policy gave up. */
struct hipec_fake_given {
	u32 pgno;
	bool keep;	/* its frame stays with the container */
	bool dirty;	/* and is free only when it was written */
};

struct hipec_fakehost {
	struct hipec_vm vm;		/* first, so that the ops find the rest */
	int (*run)(struct hipec_vm *vm, u32 event); /* native code; NULL: it is interpreted */
	u16 *bits;			/* by handle */
	struct hipec_fake_given *given;	/* in order; more than max are dropped */
	u32 nr_given, max_given;
	s64 free;			/* frames that hold nothing */
	s64 grant;			/* frames that Request may still have */
	u32 late;			/* the look at which an event is late; 0: none */
	u32 nr_looks;			/* in this event */
	u32 nr_ahead;			/* pages that Prefetch brought in */
};

size_t hipec_fakehost_size(const struct hipec_policy *p, u32 nr_frames);
void hipec_fakehost_init(struct hipec_fakehost *fake,
			 const struct hipec_policy *p, void *memory,
			 u32 nr_frames);
u32 hipec_fakehost_add(struct hipec_fakehost *fake, u32 pgno, u16 bits);
int hipec_fakehost_run(struct hipec_fakehost *fake, u32 event);
int hipec_fakehost_fault(struct hipec_fakehost *fake, u32 pgno);
int hipec_fakehost_lose(struct hipec_fakehost *fake, u32 pgno);
void hipec_fakehost_clean(struct hipec_fakehost *fake);

#endif /* HIPEC_TESTS_FAKEHOST_H */
