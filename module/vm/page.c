// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page table of a container: handles, the hash from page number to handle,
 * and the lives of its entries. The host decides when frames come and go, the
 * policy which pages it remembers. vm.h draws an entry's life.
 *
 * Interface:
 * hipec_page_add(), _show()    a page gets a frame, the policy sees it
 * hipec_page_hide(), _del()    it is given up, its frame is gone
 * hipec_page_find()            the host's look-up
 * hipec_page_forget*()         the policy remembers it no more
 * hipec_vm_abandon()           the policy has ended
 */
#include "queue.h"

static u32 *bucket_of(const struct hipec_vm *vm, u32 pgno)
{
	/* Knuth's multiplicative hash, folded so that low bits see high ones. */
	u32 hash = pgno * 2654435761u;

	hash ^= hash >> 16;
	hash *= 2246822519u;
	return &vm->bucket[(u64)hash * vm->nr_pages >> 32];
}

static u32 find(const struct hipec_vm *vm, u32 pgno, u16 flags)
{
	u32 h;

	if (!vm->nr_pages)
		return 0;
	for (h = *bucket_of(vm, pgno); h; h = vm->page[h].chain)
		if (vm->page[h].pgno == pgno)
			return vm->page[h].flags & flags ? h : 0;
	return 0;
}

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
	return find(vm, pgno, HIPEC_PAGE_FRAME);
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
	return find(vm, pgno, HIPEC_PAGE_NAMED);
}

/* Take an unused entry. Return: 0 if there is none. */
static u32 take_entry(struct hipec_vm *vm, u32 pgno)
{
	u32 h = vm->unused, *bucket;

	if (!h)
		return 0;
	bucket = bucket_of(vm, pgno);
	vm->unused = vm->page[h].next;
	vm->page[h] = (struct hipec_page){ .chain = *bucket, .pgno = pgno };
	*bucket = h;
	if (vm->nr_fields)
		memset(&vm->field[(size_t)h * vm->nr_fields], 0,
		       vm->nr_fields * sizeof(s64));
	return h;
}

/* An entry that is on no queue and means nothing any more. */
static void free_entry(struct hipec_vm *vm, u32 h)
{
	u32 *link = bucket_of(vm, vm->page[h].pgno);

	while (*link != h)
		link = &vm->page[*link].chain;
	*link = vm->page[h].chain;
	vm->page[h].flags = 0;
	vm->page[h].next = vm->unused;
	vm->unused = h;
}

/**
 * hipec_page_add() - a page without a frame gets one
 * @vm:   machine
 * @pgno: page number, which hipec_page_find() does not know
 *
 * A ghost keeps its handle, its queue and its fields. The page is not live yet:
 * hipec_page_show() makes it so.
 *
 * Context: any, serialised by the host.
 * Return: the handle; 0 if all entries are in use, which cannot be while fewer
 *         pages hold frames than hipec_vm_init() was told.
 */
u32 hipec_page_add(struct hipec_vm *vm, u32 pgno)
{
	u32 h;

	hipec_page_forget_gone(vm);
	h = find(vm, pgno, HIPEC_PAGE_NAMED);
	if (!h)
		h = take_entry(vm, pgno);
	if (h)
		vm->page[h].flags |= HIPEC_PAGE_FRAME;
	return h;
}

/**
 * hipec_page_show() - let the policy use a page's frame
 * @vm: machine
 * @h:  page that holds a frame and is not live
 *
 * A ghost stays on its queue, for InQ to find; other pages come to the fallback
 * queue.
 *
 * Context: any, serialised by the host.
 */
void hipec_page_show(struct hipec_vm *vm, u32 h)
{
	struct hipec_page *page = &vm->page[h];

	if (page->flags & HIPEC_PAGE_GONE)
		hipec_page_forget(vm, h);
	if (page->flags & HIPEC_PAGE_GHOST) {
		page->flags &= ~HIPEC_PAGE_GHOST;
		vm->nr_ghosts--;
	} else {
		hipec_queue_add(vm, HIPEC_QUEUE_FALLBACK, h, HIPEC_END_TAIL);
	}
	page->flags |= HIPEC_PAGE_LIVE;
	vm->nr_live++;
}

/**
 * hipec_page_hide() - a live page has been given up, its frame is still in use
 * @vm: machine
 * @h:  live page
 *
 * Until the event ends a policy that has ghosts may remember it; then, and at
 * once for other policies, its entry is the host's alone.
 *
 * Context: any, serialised by the host.
 */
void hipec_page_hide(struct hipec_vm *vm, u32 h)
{
	hipec_queue_del(vm, h);
	vm->page[h].flags &= ~HIPEC_PAGE_LIVE;
	vm->nr_live--;
	if (vm->max_ghosts) {
		hipec_queue_add(vm, HIPEC_QUEUE_GONE, h, HIPEC_END_TAIL);
		vm->page[h].flags |= HIPEC_PAGE_GONE;
	}
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
	if (hipec_page_live(vm, h))
		hipec_page_hide(vm, h);
	vm->page[h].flags &= ~(HIPEC_PAGE_FRAME | HIPEC_PAGE_HOST);
	if (!(vm->page[h].flags & HIPEC_PAGE_USED))
		free_entry(vm, h);
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
	struct hipec_page *page = &vm->page[h];

	if (!(page->flags & HIPEC_PAGE_NAMED))
		return;
	hipec_queue_del(vm, h);
	if (page->flags & HIPEC_PAGE_GHOST)
		vm->nr_ghosts--;
	page->flags &= ~HIPEC_PAGE_NAMED;
	if (!(page->flags & HIPEC_PAGE_FRAME))
		free_entry(vm, h);
}

/**
 * hipec_page_forget_gone() - forget the pages that the policy let go
 * @vm: machine, between two events
 *
 * hipec_vm_run() and hipec_page_add() do it by themselves.
 *
 * Context: any, serialised by the host.
 */
void hipec_page_forget_gone(struct hipec_vm *vm)
{
	u32 h;

	while ((h = vm->queue[HIPEC_QUEUE_GONE].head))
		hipec_page_forget(vm, h);
}

/**
 * hipec_page_forget_range() - forget the ghosts of pages that are no more
 * @vm:    machine, between two events
 * @first: page number
 * @nr:    pages
 *
 * Context: any, serialised by the host. Time is linear in the table.
 */
void hipec_page_forget_range(struct hipec_vm *vm, u32 first, u32 nr)
{
	u32 h;

	for (h = 1; vm->nr_ghosts && h <= vm->nr_pages; h++)
		if (vm->page[h].flags & HIPEC_PAGE_GHOST &&
		    vm->page[h].pgno - first < nr)
			hipec_page_forget(vm, h);
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

	hipec_page_forget_gone(vm);
	for (q = HIPEC_QUEUE_POLICY; q < vm->nr_queues; q++) {
		while ((h = vm->queue[q].head)) {
			if (hipec_page_live(vm, h))
				hipec_queue_move(vm, HIPEC_QUEUE_FALLBACK, h,
						 HIPEC_END_TAIL);
			else
				hipec_page_forget(vm, h);
		}
	}
}
