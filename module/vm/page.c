// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page table of a container: handles, the hash from page number to handle,
 * and the lives of its entries. The host decides when frames come and go, the
 * policy which pages it remembers. vm.h draws an entry's life.
 *
 * Interface:
 * hipec_page_add(), _activate()  a page gets a frame, the policy sees it
 * hipec_page_deactivate(), _del()  it is given up, its frame is gone
 * hipec_page_find()            the host's look-up
 * hipec_page_forget*()         the policy remembers it no more
 * hipec_page_pass()            the host does not want it now
 * hipec_page_reach()           entries are used for the first time
 * hipec_vm_end(), _abandon()   the policy has ended
 */
#include "bucket.h"
#include "queue.h"
#include "tracer.h"

/**
 * hipec_page_find() - handle of a page that holds a frame
 * @vm:   machine
 * @pgno: page number
 *
 * Context: any, serialised by the host.
 * Return: the handle, live or not; 0 if there is none.
 */
u32 hipec_page_find(const struct hipec_vm *vm, u32 pgno)
{
	return hipec_bucket_find(vm, pgno, HIPEC_PAGE_FRAME);
}

/**
 * hipec_page_find_named() - handle of a page that the policy may name
 * @vm:   machine
 * @pgno: page number
 *
 * Context: any, serialised by the host.
 * Return: the handle of a live page, of a ghost, or of a page that has gone in
 *         this event; 0 if there is none.
 */
u32 hipec_page_find_named(const struct hipec_vm *vm, u32 pgno)
{
	return hipec_bucket_find_named(vm, pgno);
}

/* Bucket @b is used from now on, and gets those of bucket @from that are its. */
static void split_bucket(struct hipec_vm *vm, u32 from, u32 b)
{
	u32 *link = &vm->bucket[from], *to = &vm->bucket[b], h;

	while ((h = *link)) {
		if ((hipec_bucket_hash(vm->key, vm->page[h].pgno) & vm->mask) == b) {
			*link = vm->page[h].chain;
			*to = h;
			to = &vm->page[h].chain;
		} else {
			link = &vm->page[h].chain;
		}
	}
	*to = 0;
}

/**
 * hipec_page_reach() - entries up to one are used for the first time
 * @vm: machine
 * @h:  entry, of those that there is memory for
 *
 * Adds the buckets for them. Adding a page does it by itself.
 *
 * Context: any, serialised by the host.
 */
void hipec_page_reach(struct hipec_vm *vm, u32 h)
{
	while (vm->reached < h) {
		u32 b = ++vm->reached;

		if (b > vm->mask)
			vm->mask = 2 * vm->mask + 1;
		split_bucket(vm, b & vm->mask >> 1, b);
	}
}

/* Take an unused entry. Return: 0 if there is none, or no memory for it. */
static u32 take_unused_entry(struct hipec_vm *vm, u32 pgno)
{
	u32 h = hipec_page_next_unused(vm), *bucket;

	if (!h || h > vm->nr_there)
		return 0;
	if (h > vm->reached)
		hipec_page_reach(vm, h);
	else
		hipec_page_unlink_unused(vm, h);
	bucket = hipec_bucket_of(vm, pgno);
	vm->page[h] = (struct hipec_page){ .chain = *bucket, .pgno = pgno };
	*bucket = h;
	if (vm->nr_fields)
		memset(&vm->field[(size_t)h * vm->nr_fields], 0,
		       vm->nr_fields * sizeof(s64));
	return h;
}

/* An entry that is on no queue and means nothing any more. */
static void free_page_entry(struct hipec_vm *vm, u32 h)
{
	u32 *link = hipec_bucket_of(vm, vm->page[h].pgno);

	while (*link != h)
		link = &vm->page[*link].chain;
	*link = vm->page[h].chain;
	vm->page[h].flags = 0;
	hipec_page_link_unused(vm, h);
}

/* As hipec_page_forget(). */
static void forget_entry(struct hipec_vm *vm, u32 h)
{
	struct hipec_page *page = &vm->page[h];

	if (!(page->flags & HIPEC_PAGE_NAMED))
		return;
	hipec_queue_del(vm, h);
	if (page->flags & HIPEC_PAGE_GHOST)
		vm->nr_ghosts--;
	page->flags &= ~HIPEC_PAGE_NAMED;
	if (!(page->flags & HIPEC_PAGE_FRAME))
		free_page_entry(vm, h);
}

/**
 * hipec_page_add() - a page without a frame gets one
 * @vm:   machine
 * @pgno: page number, which hipec_page_find() does not know
 *
 * A ghost keeps its handle, its queue and its fields. The page is not live yet:
 * hipec_page_activate() makes it so.
 *
 * Context: any, serialised by the host.
 * Return: the handle; 0 if all entries that there is memory for are in use, which cannot
 *         be while fewer pages hold frames than hipec_vm_init() was told.
 */
u32 hipec_page_add(struct hipec_vm *vm, u32 pgno)
{
	hipec_page_forget_evicted(vm);
	return hipec_page_add_in_event(vm, pgno);
}

/**
 * hipec_page_add_in_event() - a page gets a frame while an event runs
 * @vm:   machine
 * @pgno: page number, which hipec_page_find() does not know
 *
 * Like hipec_page_add(), but what the policy has let go in this event stays its
 * own to name, and keeps its entry.
 *
 * Context: any, serialised by the host.
 * Return: the handle; 0 if all entries are in use.
 */
u32 hipec_page_add_in_event(struct hipec_vm *vm, u32 pgno)
{
	u32 h;

	/* What has no frame and a name is remembered, or was just now. */
	h = vm->max_ghosts ? hipec_bucket_find(vm, pgno, HIPEC_PAGE_NAMED) : 0;
	if (!h)
		h = take_unused_entry(vm, pgno);
	vm->found = h;
	if (h)
		vm->page[h].flags |= HIPEC_PAGE_FRAME;
	hipec_tracer_note(vm, HIPEC_RECORD_ADD, pgno, h);
	return h;
}

/**
 * hipec_page_activate() - let the policy use a page's frame
 * @vm: machine
 * @h:  page that holds a frame and is not live
 *
 * A ghost stays on its queue, for InQ to find; other pages come to the fallback
 * queue.
 *
 * Context: any, serialised by the host.
 */
void hipec_page_activate(struct hipec_vm *vm, u32 h)
{
	struct hipec_page *page = &vm->page[h];

	hipec_tracer_note(vm, HIPEC_RECORD_SHOW, h, 0);
	if (page->flags & HIPEC_PAGE_EVICTED)
		forget_entry(vm, h);
	if (page->flags & HIPEC_PAGE_GHOST) {
		page->flags &= ~HIPEC_PAGE_GHOST;
		vm->nr_ghosts--;
	} else {
		hipec_queue_add(vm, HIPEC_QUEUE_FALLBACK, h, HIPEC_END_TAIL);
	}
	page->flags |= HIPEC_PAGE_LIVE;
	vm->nr_live++;
}

/* As hipec_page_deactivate(). */
static void deactivate_entry(struct hipec_vm *vm, u32 h)
{
	hipec_queue_del(vm, h);
	vm->page[h].flags &= ~HIPEC_PAGE_LIVE;
	vm->nr_live--;
	if (vm->max_ghosts) {
		hipec_queue_add(vm, HIPEC_QUEUE_EVICTED, h, HIPEC_END_TAIL);
		vm->page[h].flags |= HIPEC_PAGE_EVICTED;
	}
}

/**
 * hipec_page_deactivate() - a live page has been given up, its frame is still in use
 * @vm: machine
 * @h:  live page
 *
 * Until the event ends a policy that has ghosts may remember it; then, and at
 * once for other policies, its entry is the host's alone.
 *
 * Context: any, serialised by the host.
 */
void hipec_page_deactivate(struct hipec_vm *vm, u32 h)
{
	hipec_tracer_note(vm, HIPEC_RECORD_HIDE, h, 0);
	deactivate_entry(vm, h);
}

/**
 * hipec_page_del() - a page's frame is gone
 * @vm: machine
 * @h:  page that holds a frame, live or not
 *
 * Until the event ends a policy that has ghosts may remember a page that was
 * live.
 *
 * Context: any, serialised by the host.
 */
void hipec_page_del(struct hipec_vm *vm, u32 h)
{
	hipec_tracer_note(vm, HIPEC_RECORD_DEL, h, 0);
	if (hipec_page_live(vm, h))
		deactivate_entry(vm, h);
	vm->page[h].flags &= ~(HIPEC_PAGE_FRAME | HIPEC_PAGE_HOST);
	if (!(vm->page[h].flags & HIPEC_PAGE_USED))
		free_page_entry(vm, h);
}

/**
 * hipec_page_forget() - take a page that is not live away from the policy
 * @vm: machine
 * @h:  page
 *
 * Its entry is free, unless it holds a frame.
 *
 * Context: any, serialised by the host.
 */
void hipec_page_forget(struct hipec_vm *vm, u32 h)
{
	hipec_tracer_note(vm, HIPEC_RECORD_FORGET, h, 0);
	forget_entry(vm, h);
}

/**
 * hipec_page_forget_evicted() - forget the pages that the policy let go
 * @vm: machine, between two events
 *
 * hipec_vm_run() and hipec_page_add() do it by themselves.
 *
 * Context: any, serialised by the host.
 */
void hipec_page_forget_evicted(struct hipec_vm *vm)
{
	u32 h = vm->queue[HIPEC_QUEUE_EVICTED].head;

	if (!h)
		return;
	hipec_tracer_note(vm, HIPEC_RECORD_FORGET_GONE, 0, 0);
	for (; h; h = vm->queue[HIPEC_QUEUE_EVICTED].head)
		forget_entry(vm, h);
}

/**
 * hipec_page_forget_range() - forget the ghosts of pages that are no more
 * @vm:    machine, between two events
 * @first: page number
 * @nr:    pages
 *
 * Context: any, serialised by the host. Time is linear in @nr or the table, in what is
 * less.
 */
void hipec_page_forget_range(struct hipec_vm *vm, u32 first, u32 nr)
{
	bool few = nr < vm->reached;
	u32 most = few ? nr : vm->reached, i, h;

	hipec_tracer_note(vm, HIPEC_RECORD_FORGET_RANGE, first, nr);
	for (i = 0; vm->nr_ghosts && i < most; i++) {
		h = few ? hipec_bucket_find(vm, first + i, HIPEC_PAGE_GHOST) : i + 1;
		if (vm->page[h].flags & HIPEC_PAGE_GHOST &&
		    vm->page[h].pgno - first < nr)
			forget_entry(vm, h);
	}
}

/**
 * hipec_page_pass() - a page goes to the tail of its queue
 * @vm: machine
 * @h:  live page, on a queue that is not ordered
 *
 * For a host that looks for a page to take, and passes this one over.
 *
 * Context: any, serialised by the host.
 */
void hipec_page_pass(struct hipec_vm *vm, u32 h)
{
	hipec_tracer_note(vm, HIPEC_RECORD_PASS, h, 0);
	hipec_queue_move(vm, vm->page[h].queue, h, HIPEC_END_TAIL);
}

/**
 * hipec_vm_end() - the policy ends, for a reason that is not a command's
 * @vm:   machine whose policy has not ended, between two events
 * @kind: HIPEC_EXIT_*
 *
 * Context: any, serialised by the host.
 */
void hipec_vm_end(struct hipec_vm *vm, u32 kind)
{
	hipec_tracer_note(vm, HIPEC_RECORD_EXIT, kind, 0);
	vm->exit = (struct hipec_exit){ .kind = kind };
}

/**
 * hipec_vm_abandon() - move all live pages to the fallback queue, forget others
 * @vm: machine whose policy has ended
 *
 * Queue by queue in slot order, each from its head, so that the built-in
 * replacement that takes over starts with what the policy queued first.
 *
 * Context: any, serialised by the host.
 */
void hipec_vm_abandon(struct hipec_vm *vm)
{
	u32 q, h;

	hipec_tracer_note(vm, HIPEC_RECORD_ABANDON, 0, 0);
	hipec_page_forget_evicted(vm);
	for (q = HIPEC_QUEUE_POLICY; q < vm->nr_queues; q++) {
		while ((h = vm->queue[q].head)) {
			if (hipec_page_live(vm, h))
				hipec_queue_move(vm, HIPEC_QUEUE_FALLBACK, h,
						 HIPEC_END_TAIL);
			else
				forget_entry(vm, h);
		}
	}
}
