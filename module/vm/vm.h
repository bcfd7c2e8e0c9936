/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The VM core: a verified policy, its operands, its queues and its table of
 * pages. Freestanding; built into hipec.ko and into user-space programs.
 *
 * Names: @vm is the machine of one container, @h a page handle (an index into
 * the page table, 0 is no page), @q a queue index, @pgno a page number counted
 * from the container's start, @slot an operand slot, @w a command word.
 *
 * Interface:
 * hipec_image_parse()   bytes -> struct hipec_policy, no length trusted
 * hipec_verify()        proof that a policy is safe to run
 * hipec_vm_size(), hipec_vm_init()  a machine in memory that the host gives
 * hipec_vm_run()        run one event to its end
 * hipec_page_*()        the host's side of the page table
 * hipec_queue_*()       queue.h
 * hipec_disasm()        one command as text
 *
 * The core takes no lock and allocates nothing: the host serialises all calls
 * on one machine. Every frame and every bit of hardware is behind struct
 * hipec_host_ops.
 */
#ifndef HIPEC_VM_H
#define HIPEC_VM_H

#include "optable.h"
#include "text.h"

struct hipec_vm;

/* A parsed image. Points into the image's bytes, which must outlive it. */
struct hipec_policy {
	const struct hipec_image *image;
	const struct hipec_image_operand *operand;	/* nr_operands */
	const struct hipec_image_event *event;		/* nr_events */
	const u32 *words;				/* nr_words */
	const u32 *lines;				/* nr_words, or NULL */
	const char *strings;
	u8 index[HIPEC_NR_EVENTS];	/* event number -> 1 + its row, 0: none */
};

/* Where and why an image was refused. */
struct hipec_verify_error {
	u32 kind;	/* HIPEC_VERIFY_* */
	u32 event;	/* number; meaningless for errors of the image itself */
	u32 command;	/* counted from 1; 0: the event as a whole */
	u32 operand;	/* 1 to 3: a, b, c; 0: the command as a whole */
	u32 got;	/* the offending value */
};

/*
 * One page, 20 bytes. A live page is always on exactly one queue, at least on
 * the fallback queue, so the host can reclaim what a policy forgets.
 */
struct hipec_page {
	u32 next, prev;	/* on its queue; next also links unused entries */
	u32 chain;	/* next page in the same hash bucket */
	u32 pgno;
	u16 queue;
	u16 flags;	/* HIPEC_PAGE_* */
};

#define HIPEC_PAGE_LIVE 0x1	/* the policy may name it */
#define HIPEC_PAGE_USED 0x2	/* the entry holds a page at all */
#define HIPEC_PAGE_HOST 0xff00	/* for the host */

struct hipec_queue {
	u32 head, tail;
	u32 count;	/* pages; of _free_queue: free frames as the policy sees them */
};

#define HIPEC_QUEUE_FREE 0	/* holds no pages, a free frame belongs to none */
#define HIPEC_QUEUE_FALLBACK 1	/* pages that the policy keeps on no queue */
#define HIPEC_QUEUE_HOST 2	/* pages that are not live and that the host keeps */
#define HIPEC_QUEUE_POLICY 3	/* the policy's queues, in slot order */

/**
 * struct hipec_host_ops - the owner of frames and bits
 * @give_up:  the policy gives page @h up. True: the page is no longer live (the
 *            host called hipec_page_hide() or _del()). False: it cannot go now.
 *            @keep: the frame stays with the container.
 * @flush:    start writing @h back; true if it was dirty.
 * @ref:      whether @h was referenced since its bit was reset.
 * @mod:      whether @h is dirty.
 * @set_ref:  set or reset the referenced bit of @h.
 * @set_mod:  mark @h dirty; false if the region may not be written.
 * @map:      map @h ahead of a touch; false if the next touch must fault.
 * @unmap:    take the mappings of @h away; false if it has none.
 * @request:  grant up to @nr frames; how many were.
 *
 * All are called from hipec_vm_run() in the context of its caller, with a live
 * @h, and must not run events on the same machine.
 */
struct hipec_host_ops {
	bool (*give_up)(struct hipec_vm *vm, u32 h, bool keep);
	bool (*flush)(struct hipec_vm *vm, u32 h);
	bool (*ref)(struct hipec_vm *vm, u32 h);
	bool (*mod)(struct hipec_vm *vm, u32 h);
	void (*set_ref)(struct hipec_vm *vm, u32 h, bool on);
	bool (*set_mod)(struct hipec_vm *vm, u32 h);
	bool (*map)(struct hipec_vm *vm, u32 h);
	bool (*unmap)(struct hipec_vm *vm, u32 h);
	u64 (*request)(struct hipec_vm *vm, u64 nr);
};

struct hipec_vm {
	const struct hipec_policy *policy;
	const struct hipec_host_ops *host;

	const u32 *pc;		/* next command */
	const u32 *base;	/* word 0 of the event that runs */
	u32 event;		/* its number */
	u32 depth;		/* calls below it */
	struct {
		const u32 *pc, *base;
		u32 event;
	} frame[HIPEC_MAX_CALL_DEPTH];
	bool condition;		/* set by commands that test, read by Jump */
	u64 fuel;		/* commands that one event may run */

	s64 slot[HIPEC_NR_SLOTS];	/* integer, page handle or queue index */

	struct hipec_queue *queue;
	u32 nr_queues;
	struct hipec_page *page;	/* nr_pages + 1, entry 0 is no page */
	u32 nr_pages;
	u32 nr_live;			/* live pages */
	u32 unused;			/* first unused entry */
	u32 *bucket;
	u32 bucket_mask;

	struct hipec_exit exit;		/* kind is not 0: the policy has ended */
	u64 nr_commands, nr_events;	/* run so far */
};

int hipec_image_parse(const void *bytes, size_t size, struct hipec_policy *p,
		      struct hipec_verify_error *err);
int hipec_verify(const struct hipec_policy *p, struct hipec_verify_error *err);
void hipec_verify_explain(const struct hipec_policy *p,
			  const struct hipec_verify_error *err,
			  struct hipec_text *out);
const char *hipec_policy_name(const struct hipec_policy *p, u32 offset);
const char *hipec_policy_event_name(const struct hipec_policy *p, u32 number);

size_t hipec_vm_size(const struct hipec_policy *p, u32 nr_pages);
void hipec_vm_init(struct hipec_vm *vm, const struct hipec_policy *p,
		   const struct hipec_host_ops *host, void *memory,
		   u32 nr_pages);
bool hipec_vm_has_event(const struct hipec_vm *vm, u32 event);
int hipec_vm_run(struct hipec_vm *vm, u32 event);

u32 hipec_page_find(const struct hipec_vm *vm, u32 pgno);
u32 hipec_page_add(struct hipec_vm *vm, u32 pgno);
void hipec_page_show(struct hipec_vm *vm, u32 h);
void hipec_page_hide(struct hipec_vm *vm, u32 h);
void hipec_page_del(struct hipec_vm *vm, u32 h);
void hipec_vm_abandon(struct hipec_vm *vm);

void hipec_disasm(const struct hipec_policy *p, u32 word,
		  struct hipec_text *out);
void hipec_slot_text(const struct hipec_policy *p, u8 slot,
		     struct hipec_text *out);

static inline bool hipec_page_live(const struct hipec_vm *vm, u32 h)
{
	return vm->page[h].flags & HIPEC_PAGE_LIVE;
}

/* Handlers, one per row of the table: 0, or the HIPEC_EXIT_* that ends it. */
#define X(name, fn, ...) u32 hipec_op_##fn(struct hipec_vm *vm, u32 w);
HIPEC_COMMANDS(X)
#undef X

#endif /* HIPEC_VM_H */
