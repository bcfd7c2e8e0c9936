// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thin owner of frames. See host.h.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "host.h"

static struct bench_host *host_of(struct hipec_vm *vm)
{
	static_assert(!offsetof(struct bench_host, vm), "vm comes first");
	return (struct bench_host *)vm;
}

/* Say why nothing can be measured, and end. */
void bench_die(const char *format, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "bench-vm: ");
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

/* @size zeroed bytes. */
void *bench_alloc(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		bench_die("out of memory");
	return p;
}

static bool evict_page(struct hipec_vm *vm, u32 h, bool keep)
{
	struct bench_host *host = host_of(vm);

	(void)keep;
	host->given[host->nr_given++] = vm->page[h].pgno;
	hipec_page_del(vm, h);
	return true;
}

/*
 * The same for a policy in C: one that remembers no pages need not keep what it
 * gave up until the event is over, as the machine has to.
 */
void bench_evict(struct hipec_vm *vm, u32 h)
{
	struct bench_host *host = host_of(vm);

	host->given[host->nr_given++] = vm->page[h].pgno;
	hipec_queue_del(vm, h);
	vm->page[h].flags &= ~HIPEC_PAGE_LIVE;
	vm->nr_live--;
	hipec_page_del(vm, h);
}

bool bench_flush(struct hipec_vm *vm, u32 h)
{
	struct bench_host *host = host_of(vm);

	if (!(host->bits[h] & BENCH_MOD))
		return false;
	host->bits[h] &= ~BENCH_MOD;
	host->nr_flushed++;
	return true;
}

bool bench_ref(struct hipec_vm *vm, u32 h)
{
	return host_of(vm)->bits[h] & BENCH_REF;
}

bool bench_mod(struct hipec_vm *vm, u32 h)
{
	return host_of(vm)->bits[h] & BENCH_MOD;
}

void bench_set_ref(struct hipec_vm *vm, u32 h, bool on)
{
	if (on)
		host_of(vm)->bits[h] |= BENCH_REF;
	else
		host_of(vm)->bits[h] &= ~BENCH_REF;
}

/* No policy that is measured uses the others. */
static const struct hipec_host_ops host_ops = {
	.evict = evict_page,
	.flush = bench_flush,
	.ref = bench_ref,
	.mod = bench_mod,
	.set_ref = bench_set_ref,
};

/**
 * bench_image_parse() - a policy that may run, or the end
 * @im:    filled
 * @name:  for messages
 * @bytes: the image, from malloc(); @im owns it
 * @size:  bytes
 */
void bench_image_parse(struct bench_image *im, const char *name, void *bytes,
		       size_t size)
{
	struct hipec_verify_error err;
	struct hipec_text out;
	char text[200];

	im->bytes = bytes;
	if (!hipec_image_parse(bytes, size, &im->policy, &err) &&
	    !hipec_verify(&im->policy, &err))
		return;
	hipec_text_init(&out, text, sizeof(text));
	hipec_verify_explain(&im->policy, &err, &out);
	bench_die("%s: %s", name, text);
}

/**
 * bench_image_load() - a compiled policy, or the end
 * @im:   filled
 * @path: its file
 *
 * Context: any; allocates.
 */
void bench_image_load(struct bench_image *im, const char *path)
{
	void *bytes = bench_alloc(HIPEC_MAX_IMAGE);
	FILE *f = fopen(path, "rb");
	size_t size;

	if (!f)
		bench_die("%s: %s", path, strerror(errno));
	size = fread(bytes, 1, HIPEC_MAX_IMAGE, f);
	fclose(f);
	bench_image_parse(im, path, bytes, size);
}

/* Free what bench_image_load() or _parse() took. */
void bench_image_free(struct bench_image *im)
{
	free(im->bytes);
}

/**
 * bench_host_open() - a machine without pages, its policy initialised
 * @im:     policy without shared arrays; must outlive it
 * @frames: pages that may be there at the same time
 *
 * Context: any; allocates.
 * Return: the host; bench_host_close() it.
 */
struct bench_host *bench_host_open(const struct bench_image *im, u32 frames)
{
	struct bench_host *host = bench_alloc(sizeof(*host));

	host->memory = bench_alloc(hipec_vm_size(&im->policy, frames));
	host->bits = bench_alloc(hipec_vm_nr_pages(&im->policy, frames) + 1);
	host->given = bench_alloc(frames * sizeof(*host->given));
	hipec_vm_init(&host->vm, &im->policy, &host_ops, host->memory, NULL,
		      frames);
	if (hipec_vm_has_event(&host->vm, HIPEC_EVENT_INIT))
		bench_host_run(host, HIPEC_EVENT_INIT);
	return host;
}

void bench_host_close(struct bench_host *host)
{
	free(host->given);
	free(host->bits);
	free(host->memory);
	free(host);
}

/**
 * bench_host_run() - set what the host owns, run an event, as the module does
 * @host:  host
 * @event: number of an event that the policy has
 *
 * A policy that ends is the end.
 */
void bench_host_run(struct bench_host *host, u32 event)
{
	struct hipec_vm *vm = &host->vm;

	vm->slot[HIPEC_SLOT_FREE_COUNT] = 0;
	vm->queue[HIPEC_QUEUE_FREE].count = 0;
	if (unlikely(hipec_vm_run(vm, event)))
		bench_die("the policy ended: %s in event %u, command %u",
			  hipec_vm_exit_text(vm->exit.kind), vm->exit.event,
			  vm->exit.command);
}

/* The same, told of a page. */
void bench_host_fault(struct bench_host *host, u32 event, u32 pgno)
{
	host->vm.slot[HIPEC_SLOT_FAULTED_ADDRESS] =
		(s64)pgno << BENCH_PAGE_SHIFT;
	bench_host_run(host, event);
}

/* An access by the application; whether the page is there. */
bool bench_host_touch(struct bench_host *host, u32 pgno, bool write)
{
	u32 h = hipec_page_find(&host->vm, pgno);

	if (h)
		host->bits[h] |= BENCH_REF | (write ? BENCH_MOD : 0);
	return h;
}

/* @pgno was read for an access; it is on no queue of the policy. Its handle. */
u32 bench_host_bring(struct bench_host *host, u32 pgno, bool write)
{
	u32 h = hipec_page_add(&host->vm, pgno);

	if (!h)
		bench_die("no frame is free for page %u", pgno);
	host->bits[h] = BENCH_REF | (write ? BENCH_MOD : 0);
	hipec_page_activate(&host->vm, h);
	return h;
}

/* Commands run since the machine was made. */
u64 bench_host_commands(const struct bench_host *host)
{
	return host->vm.nr_commands;
}

/* The integer in @slot. */
s64 *bench_host_int(struct bench_host *host, u8 slot)
{
	return &host->vm.slot[slot];
}

/* The pages given up since the last call, in order; how many. */
u32 bench_host_take(struct bench_host *host, u32 *pgno)
{
	u32 n = host->nr_given;

	memcpy(pgno, host->given, n * sizeof(*pgno));
	host->nr_given = 0;
	return n;
}
