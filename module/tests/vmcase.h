/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One test case for the VM core as bytes, and its outcome as text. `hpt` runs
 * the same bytes in user space and, through hipec_vmtest.ko, in the kernel;
 * both must give the same text.
 *
 * Bytes: struct hipec_vmcase_head, nr_pages rows of struct hipec_vmcase_page,
 * the image. Native byte order; no ABI, both sides are built from one tree.
 *
 * Text, one fact a line, in this order:
 *
 *   result ok | exit KIND EVENT+N [operand a] [line L]
 *             | verify KIND [EVENT+N [operand a]]
 *   explain TEXT            the verifier's words; nothing follows
 *   condition 0|1
 *   commands N
 *   free N                  frames that hold nothing
 *   late EVENT+N [line L]   an event ran over its time
 *   queue NAME [PGNO...]    in slot order, from head to tail; NAME[I] of arrays
 *   fallback [PGNO...]
 *   int NAME N              in slot order
 *   ints NAME N...          of an array, the first HIPEC_VMCASE_MAX_INTS
 *   page NAME PGNO|none|stale
 *   at PGNO QUEUE|fallback|none [BIT...]  every page there is
 *   field NAME PGNO N       of each of them
 *   given PGNO kept|released [dirty]      in order
 *   broken TEXT             an invariant that does not hold
 *
 * Interface:
 * hipec_vmcase_parse()   bytes -> a case, or the text of a refusal
 * hipec_vmcase_memory()  what it takes to run it
 * hipec_vmcase_run()     run it, write the text
 */
#ifndef HIPEC_TESTS_VMCASE_H
#define HIPEC_TESTS_VMCASE_H

#include "../vm/vm.h"

#define HIPEC_VMCASE_MAGIC 0x54504948u /* "HIPT" */
#define HIPEC_VMCASE_MAX_RUNS 64
#define HIPEC_VMCASE_MAX_PAGES 1024
#define HIPEC_VMCASE_MAX_FUEL (1 << 20)	/* the kernel cannot be interrupted */
#define HIPEC_VMCASE_MAX_SIZE (1 << 20)		/* bytes of a case */
#define HIPEC_VMCASE_MAX_INTS 64
#define HIPEC_VMCASE_MAX_TEXT (256 << 10)	/* bytes of its text */

/*
 * What the host does between two events; the last column: whether it does it
 * to a page. Codes follow those of events. The words are those of test files.
 */
#define HIPEC_VMCASE_STEPS(X)                                                \
	X(FAULT,   HIPEC_NR_EVENTS,     "fault", 1)  /* brings it in */      \
	X(LOSE,    HIPEC_NR_EVENTS + 1, "lose", 1)   /* takes its frame */   \
	X(FORGET,  HIPEC_NR_EVENTS + 2, "forget", 1) /* the ghost of it */   \
	X(CLEAN,   HIPEC_NR_EVENTS + 3, "clean", 0)  /* what is hidden */    \
	X(ABANDON, HIPEC_NR_EVENTS + 4, "abandon", 0) /* all queues */

enum hipec_vmcase_step_code {
#define X(name, code, word, page) HIPEC_VMCASE_##name = code,
	HIPEC_VMCASE_STEPS(X)
#undef X
};

struct hipec_vmcase_step {
	u32 what;	/* number of an event, or HIPEC_VMCASE_<step> */
	u32 pgno;	/* of a step that has one */
};

struct hipec_vmcase_head {
	u32 magic;
	u32 nr_pages;	/* rows that follow */
	u32 nr_frames;	/* pages that may hold one, nr_pages or more */
	u32 image_size;	/* bytes */
	u32 nr_runs;
	u32 late;	/* the look at which an event is late; 0: none */
	u32 lenient;	/* 1: steps that the host cannot do are left out */
	struct hipec_vmcase_step run[HIPEC_VMCASE_MAX_RUNS]; /* in order */
	u64 fuel;	/* commands of one event; 0: as hipec_vm_init() set it */
	s64 free;	/* frames that hold nothing */
	s64 grant;	/* frames that Request may have */
	u64 seed;	/* of Random; 0: as hipec_vm_init() set it */
	s64 system[HIPEC_NR_SLOTS - HIPEC_SLOT_SYSTEM];
};

struct hipec_vmcase_page {
	u32 pgno;
	u16 slot;	/* of its queue or queue array; 0: the fallback queue */
	u16 element;	/* of the array */
	u32 bits;	/* HIPEC_FAKE_* */
	u32 reserved;	/* 0; what follows is aligned for u64 */
};

struct hipec_vmcase {
	const struct hipec_vmcase_head *head;
	const struct hipec_vmcase_page *page;
	struct hipec_policy policy;
	int (*run)(struct hipec_vm *vm, u32 event); /* native code; NULL: it is interpreted */
};

int hipec_vmcase_parse(struct hipec_vmcase *c, const void *bytes, size_t size,
		       struct hipec_text *out);
size_t hipec_vmcase_memory(const struct hipec_vmcase *c);
int hipec_vmcase_run(const struct hipec_vmcase *c, void *memory,
		     struct hipec_text *out);

const char *hipec_vmcase_exit_name(u32 kind);
const char *hipec_vmcase_verify_name(u32 kind);

#endif /* HIPEC_TESTS_VMCASE_H */
