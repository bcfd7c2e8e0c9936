/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The VM core: a verified policy, its operands, its queues and its table of
 * pages. Freestanding; built into hipec.ko and into user-space programs.
 *
 * Names: @vm is the machine of one container, @h a page handle (an index into
 * the page table, 0 is no page), @q a queue index, @pgno a page number counted
 * from the container's start, @slot an operand slot, @i a command.
 *
 * Interface:
 * hipec_image_parse()   bytes -> struct hipec_policy, no length trusted
 * hipec_verify()        proof that a policy is safe to run
 * hipec_needs_of()      what it asks of its host
 * hipec_vm_size(), hipec_vm_init()  a machine in memory that the host gives
 * hipec_vm_set_param()  the application sets a parameter
 * hipec_vm_run()        run one event to its end
 * hipec_page_*()        the host's side of the page table
 * hipec_compact_move(), _drop_last()  compact.c: a table uses fewer entries
 * hipec_vm_inherit(), _next_live(), _restore(), _graft()  a machine takes another's place
 * hipec_queue_*()       queue.h
 * hipec_tracer_*()         tracer.h: hear all that happens to a machine
 * hipec_fifo2_*()       fifo2.h: what replaces pages without a policy
 * hipec_disasm()        one command as text
 *
 * The core takes no lock and allocates nothing: the host serialises all calls
 * on one machine. Every frame and every bit of hardware is behind struct
 * hipec_host_ops.
 */
#ifndef HIPEC_VM_VM_H
#define HIPEC_VM_VM_H

#include "optable.h"
#include "text.h"

struct hipec_vm;
struct hipec_tracer;

/* A parsed image. Points into the image's bytes, which must outlive it. */
struct hipec_policy {
	const struct hipec_image *image;
	const struct hipec_image_operand *operand;	/* nr_operands */
	const struct hipec_image_event *event;		/* nr_events */
	const u32 *words;				/* nr_words */
	const u32 *lines;				/* nr_words, or NULL */
	const char *strings;
	u8 index[HIPEC_NR_EVENTS];	/* event number -> 1 + its row, 0: none */

	/* What its operands declare. */
	u32 nr_queues;		/* the three that every machine has included */
	u32 nr_fields;
	u32 nr_arrays;		/* of integers and of queues */
	u32 nr_elements;	/* of integer arrays, shared ones excluded */
	u32 shared_size;	/* bytes of shared arrays, each in pages of its own */
	bool ordered;		/* it has an ordered queue */
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
 * A command, decoded at load so that each operand is one load away. @run is a
 * RUN_* that decode.h lists.
 */
struct hipec_insn {
	u8 run, a, b, c;
	s32 jump;	/* bytes of code from the next command to where it goes */
};

/*
 * One page, 20 bytes. The life of its entry:
 *
 *   being read    FRAME                on no queue
 *   resident      FRAME | LIVE         on one queue, at least the fallback one
 *   given up      EVICTED              on the gone queue until the event ends,
 *                                      if the policy may have ghosts
 *                 EVICTED | FRAME      its frame is still being cleaned
 *   remembered    GHOST (| FRAME)      on a queue of the policy
 *
 * A policy may name pages that are LIVE, EVICTED or GHOST. An entry with none of
 * these and no FRAME is unused. A ghost that is taken off its queue is EVICTED.
 */
struct hipec_page {
	u32 next, prev;	/* on its queue; of an unused one: among the unused */
	u32 chain;	/* next page in the same hash bucket */
	u32 pgno;
	u16 queue;	/* HIPEC_QUEUE_FREE: it is on none */
	u16 flags;	/* HIPEC_PAGE_* */
};

#define HIPEC_PAGE_FRAME 0x1	/* it holds a frame; set and cleared by the host */
#define HIPEC_PAGE_LIVE 0x2	/* the policy may use its frame */
#define HIPEC_PAGE_EVICTED 0x4	/* forgotten when the event ends */
#define HIPEC_PAGE_GHOST 0x8	/* the policy remembers it, without a frame */
#define HIPEC_PAGE_NAMED (HIPEC_PAGE_LIVE | HIPEC_PAGE_EVICTED | HIPEC_PAGE_GHOST)
#define HIPEC_PAGE_USED (HIPEC_PAGE_NAMED | HIPEC_PAGE_FRAME)
#define HIPEC_PAGE_HOST 0xfff0	/* for the host */

struct hipec_queue {
	u32 head, tail;
	u32 count;	/* pages; of _free_queue: free frames as the policy sees them */
	u32 key;	/* 1 + the field that orders it; 0: not ordered */
	u32 root;	/* of an ordered queue's tree */
};

#define HIPEC_QUEUE_FREE 0	/* holds no pages, a free frame belongs to none */
#define HIPEC_QUEUE_FALLBACK 1	/* live pages that the policy keeps on no queue */
#define HIPEC_QUEUE_EVICTED 2	/* pages that are EVICTED */
#define HIPEC_QUEUE_POLICY 3	/* the policy's queues, in slot order */

/* A page's place in the tree of an ordered queue. */
struct hipec_node {
	s64 key;	/* the field's value when it was put there */
	u32 child[2];
	u32 parent;
};

/* What a slot of type ints or queues stands for. */
struct hipec_array {
	s64 *element;	/* of integers */
	u32 first;	/* of queues: the first one's index */
	u32 nr;
};

/**
 * struct hipec_host_ops - the owner of frames and bits
 * @evict:    the policy gives page @h up. True: the page is no longer live (the
 *            host called hipec_page_deactivate() or _del()). False: it cannot go now.
 *            @keep: the frame stays with the container.
 * @flush:    start writing @h back; true if it was dirty.
 * @ref:      whether @h was referenced since its bit was reset.
 * @mod:      whether @h is dirty.
 * @set_ref:  set or reset the referenced bit of @h.
 * @set_mod:  mark @h dirty; false if the region may not be written.
 * @map:      map @h ahead of a touch; false if the next touch must fault.
 * @unmap:    take the mappings of @h away; false if it has none.
 * @request:  grant up to @nr frames; how many were.
 * @prefetch: begin to bring in up to @nr pages from @pgno on, none of which
 *            holds a frame, into frames that are free; how many. Each is added
 *            by hipec_page_add_in_event() and is not live before it is touched.
 * @overtime: asked after each @poll commands of one event, or at the next jump backward,
 *            call, or in long events called command: true ends the event, and not
 *            the policy. May sleep. NULL: never.
 *
 * All are called from hipec_vm_run() in the context of its caller, with a live
 * @h, and must not run events on the same machine.
 */
struct hipec_host_ops {
	bool (*evict)(struct hipec_vm *vm, u32 h, bool keep);
	bool (*flush)(struct hipec_vm *vm, u32 h);
	bool (*ref)(struct hipec_vm *vm, u32 h);
	bool (*mod)(struct hipec_vm *vm, u32 h);
	void (*set_ref)(struct hipec_vm *vm, u32 h, bool on);
	bool (*set_mod)(struct hipec_vm *vm, u32 h);
	bool (*map)(struct hipec_vm *vm, u32 h);
	bool (*unmap)(struct hipec_vm *vm, u32 h);
	u64 (*request)(struct hipec_vm *vm, u64 nr);
	u32 (*prefetch)(struct hipec_vm *vm, u32 pgno, u32 nr);
	bool (*overtime)(struct hipec_vm *vm);
};

#define HIPEC_POLL 1024

/*
 * In an event of more words than these, each command that is called has the time looked at:
 * between two looks at most so many of them run in each event of a chain of calls. What
 * policies run often is shorter, and pays nothing.
 */
#define HIPEC_STRAIGHT 1024

/* Commands of one event at most, however long the page table is. */
#define HIPEC_MAX_FUEL 16777216

/* Frames of a container at most, 4 TiB, and entries of its page table. */
#define HIPEC_MAX_FRAMES 1073741824
#define HIPEC_MAX_ENTRIES 2147483647

/* Pages that a policy may have asked for, and that were not used yet. */
#define HIPEC_MAX_PREFETCH 32

struct hipec_vm {
	const struct hipec_policy *policy;
	const struct hipec_host_ops *host;
	struct hipec_tracer *tracer;	/* tracer.h; NULL: nobody listens */

	const struct hipec_insn *code;	/* decoded words of all events */
	u64 fuel;		/* commands that one event may run */
	u32 poll;		/* of these, between two looks at the clock */
	bool condition;		/* set by commands that test, read by Jump */

	s64 slot[HIPEC_NR_SLOTS]; /* integer, handle, or index of queue, array, field */

	struct hipec_queue *queue;
	struct hipec_array *array;
	struct hipec_page *page;	/* nr_pages + 1, entry 0 is no page */
	struct hipec_node *node;	/* by handle, where there are ordered queues */
	s64 *field;			/* nr_fields of each page, by handle */
	u32 *bucket;			/* nr_pages + 1; the first reached + 1 are used */
	u64 key;			/* odd; of the hash that finds a bucket (bucket.h) */
	u32 mask;			/* 2^k - 1, the least one that is not below reached */
	u32 nr_queues;			/* the last one is the built-in replacement's */
	u32 nr_fields;
	u32 nr_pages;			/* entries: frames at load and ghosts, or more */
	u32 nr_there;			/* of these, those that there is memory for */
	u32 reached;			/* and the last one that was ever used */
	u32 nr_live;			/* live pages */
	u32 nr_ghosts, max_ghosts;
	u32 unused;			/* first of these that is unused now; 0: none is */
	u32 nr_unused;			/* their number */
	u32 found;			/* entry, to be looked at first by its number */
	u32 salt;			/* shapes trees; unknown to the policy's author */
	u64 random;			/* state of Random */

	struct hipec_exit exit;		/* kind is not 0: the policy has ended */
	struct hipec_exit late;		/* of the last event that ran over its time */
	u64 nr_commands, nr_events;	/* run so far */
	u64 nr_late;			/* events that ran over their time */

	struct {
		const struct hipec_insn *pc, *base;
	} frame[HIPEC_MAX_CALL_DEPTH];
};

int hipec_image_parse(const void *bytes, size_t size, struct hipec_policy *p,
		      struct hipec_verify_error *err);
int hipec_verify(const struct hipec_policy *p, struct hipec_verify_error *err);
void hipec_verify_explain(const struct hipec_policy *p,
			  const struct hipec_verify_error *err,
			  struct hipec_text *out);
const char *hipec_image_policy_name(const struct hipec_policy *p, u32 offset);
const char *hipec_image_event_name(const struct hipec_policy *p, u32 number);
bool hipec_verify_reads(const struct hipec_policy *p, u8 slot);
bool hipec_needs_has_op(const struct hipec_policy *p, u8 op);
u32 hipec_needs_of(const struct hipec_policy *p);

size_t hipec_vm_size(const struct hipec_policy *p, u32 nr_frames);
size_t hipec_vm_table_size(const struct hipec_policy *p, u32 nr_pages);
void hipec_vm_init(struct hipec_vm *vm, const struct hipec_policy *p,
		   const struct hipec_host_ops *host, void *memory,
		   void *shared, u32 nr_frames);
void hipec_vm_init_table(struct hipec_vm *vm, const struct hipec_policy *p,
			 const struct hipec_host_ops *host, void *memory,
			 void *shared, u32 nr_frames, u32 nr_pages);
void hipec_vm_init_apart(struct hipec_vm *vm, const struct hipec_policy *p,
			 const struct hipec_host_ops *host, void *memory,
			 void *shared, u32 nr_frames, u32 nr_pages);
u32 hipec_vm_nr_pages(const struct hipec_policy *p, u32 nr_frames);
bool hipec_vm_fits(const struct hipec_policy *p, u64 nr_frames);
u32 hipec_vm_fuel(u32 nr_pages);
int hipec_vm_set_param(struct hipec_vm *vm, u32 slot, s64 value);
int hipec_vm_run(struct hipec_vm *vm, u32 event);

/*
 * Called by a run.c that is built with HIPEC_VM_STEP, and there only, before the
 * command at @pc of the event whose word 0 is @base, @depth calls below another.
 */
void hipec_vm_step(struct hipec_vm *vm, const struct hipec_insn *pc,
		   const struct hipec_insn *base, u32 depth);

u32 hipec_page_find(const struct hipec_vm *vm, u32 pgno);
u32 hipec_page_find_named(const struct hipec_vm *vm, u32 pgno);
u32 hipec_page_add(struct hipec_vm *vm, u32 pgno);
u32 hipec_page_add_in_event(struct hipec_vm *vm, u32 pgno);
void hipec_page_activate(struct hipec_vm *vm, u32 h);
void hipec_page_deactivate(struct hipec_vm *vm, u32 h);
void hipec_page_del(struct hipec_vm *vm, u32 h);
void hipec_page_forget(struct hipec_vm *vm, u32 h);
void hipec_page_forget_evicted(struct hipec_vm *vm);
void hipec_page_forget_range(struct hipec_vm *vm, u32 first, u32 nr);
void hipec_page_pass(struct hipec_vm *vm, u32 h);
void hipec_page_reach(struct hipec_vm *vm, u32 h);
void hipec_compact_move(struct hipec_vm *vm, u32 from, u32 to);
void hipec_compact_drop_last(struct hipec_vm *vm);
void hipec_vm_inherit(struct hipec_vm *vm, const struct hipec_vm *old);
u32 hipec_vm_next_live(const struct hipec_vm *vm, u32 h);
int hipec_vm_map_handles(const struct hipec_vm *from, const struct hipec_vm *old, u32 nr,
			 u32 *handle);
void hipec_vm_graft(struct hipec_vm *vm, const struct hipec_vm *from, const u32 *handle);
void hipec_vm_graft_frames(struct hipec_vm *vm, const struct hipec_vm *old);
void hipec_vm_restore(struct hipec_vm *old, const struct hipec_vm *vm);
void hipec_vm_end(struct hipec_vm *vm, u32 kind);
void hipec_vm_abandon(struct hipec_vm *vm);

void hipec_disasm(const struct hipec_policy *p, u32 word,
		  struct hipec_text *out);
void hipec_vm_slot_text(const struct hipec_policy *p, u8 slot,
			struct hipec_text *out);
void hipec_vm_explain_exit(const struct hipec_policy *p, const struct hipec_exit *e,
			   struct hipec_text *out);

static inline bool hipec_page_live(const struct hipec_vm *vm, u32 h)
{
	return vm->page[h].flags & HIPEC_PAGE_LIVE;
}

/* The entry that the next page gets, for which there may be no memory yet; 0: all are in use. */
static inline u32 hipec_page_next_unused(const struct hipec_vm *vm)
{
	return vm->unused ?: vm->reached < vm->nr_pages ? vm->reached + 1 : 0;
}

/* Put entry @h, which is nothing any more, before the other unused ones. */
static inline void hipec_page_link_unused(struct hipec_vm *vm, u32 h)
{
	vm->page[h].next = vm->unused;
	vm->page[h].prev = 0;
	if (vm->unused)
		vm->page[vm->unused].prev = h;
	vm->unused = h;
	vm->nr_unused++;
}

/* Take unused entry @h, that was used before, from among the others. */
static inline void hipec_page_unlink_unused(struct hipec_vm *vm, u32 h)
{
	u32 next = vm->page[h].next, prev = vm->page[h].prev;

	if (prev)
		vm->page[prev].next = next;
	else
		vm->unused = next;
	if (next)
		vm->page[next].prev = prev;
	vm->nr_unused--;
}

/* Whether a param may not be set to just anything. */
static inline bool hipec_operand_ranged(const struct hipec_image_operand *o)
{
	return o->low || o->high;
}

/* Whether the policy has event @event. */
static inline bool hipec_vm_has_event(const struct hipec_vm *vm, u32 event)
{
	return vm->policy->index[event];
}

/* Bytes of a shared array of @nr elements: whole pages, for mmap(). */
static inline u32 hipec_shared_bytes(u32 nr)
{
	return (nr * sizeof(s64) + 4095) & ~4095u;
}

/* Where the numbered event begins, counted in words; it exists. */
static inline u32 hipec_event_first(const struct hipec_policy *p, u32 number)
{
	return p->event[p->index[number] - 1].first;
}

/* Handlers, one per row that is called: 0, or the HIPEC_EXIT_* that ends it. */
#define X(name, fn, ...) \
	u32 hipec_op_##fn(struct hipec_vm *vm, struct hipec_insn i);
HIPEC_COMMANDS_CALLED(X)
#undef X

#endif /* HIPEC_VM_VM_H */
