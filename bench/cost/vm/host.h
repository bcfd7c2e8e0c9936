/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The owner of frames that both hipec's and C's policies run over: as thin as
 * one can be, so that it does not hide what it costs to run the policy.
 * Machines are made and run here and nowhere else in bench/cost/vm.
 *
 * A frame that is given up is in the driver's hand at once, so a policy sees
 * no free frames in Replace; a dirty page was written before it got there.
 *
 * Interface:
 * bench_image_load()  a compiled policy from a file
 * bench_image_parse() the same from memory
 * bench_host_open()   a machine with a policy, and its host
 * bench_host_run()    set what the host owns, run an event
 * bench_host_fault()  the same, told of a page
 * bench_host_touch()  an access by the application
 * bench_host_bring()  a page was read
 * bench_host_take()   what was given up since it was last asked
 * bench_host_commands(), _int()  the machine's counter and integers
 * bench_evict() ..    the host's operations, for a policy in C to call
 */
#ifndef BENCH_VM_HOST_H
#define BENCH_VM_HOST_H

#include "../../../module/vm/queue.h"

#define BENCH_PAGE_SHIFT 12

#define BENCH_REF 0x1
#define BENCH_MOD 0x2

struct bench_image {
	struct hipec_policy policy;
	void *bytes;
};

struct bench_host {
	struct hipec_vm vm;	/* first, so that the ops find the rest */
	u8 *bits;		/* BENCH_*, by handle */
	u32 *given;		/* page numbers in the order they were given up */
	u32 nr_given;
	u64 nr_flushed;
	void *memory;
};

void bench_image_load(struct bench_image *im, const char *path);
void bench_image_parse(struct bench_image *im, const char *name, void *bytes,
		       size_t size);
void bench_image_free(struct bench_image *im);

struct bench_host *bench_host_open(const struct bench_image *im, u32 frames);
void bench_host_close(struct bench_host *host);
void bench_host_run(struct bench_host *host, u32 event);
void bench_host_fault(struct bench_host *host, u32 event, u32 pgno);
bool bench_host_touch(struct bench_host *host, u32 pgno, bool write);
u32 bench_host_bring(struct bench_host *host, u32 pgno, bool write);
u32 bench_host_take(struct bench_host *host, u32 *pgno);
u64 bench_host_commands(const struct bench_host *host);
s64 *bench_host_int(struct bench_host *host, u8 slot);

void bench_evict(struct hipec_vm *vm, u32 h);
bool bench_flush(struct hipec_vm *vm, u32 h);
bool bench_ref(struct hipec_vm *vm, u32 h);
bool bench_mod(struct hipec_vm *vm, u32 h);
void bench_set_ref(struct hipec_vm *vm, u32 h, bool on);

void __attribute__((noreturn, format(printf, 1, 2)))
bench_die(const char *format, ...);
void *bench_alloc(size_t size);

#endif /* BENCH_VM_HOST_H */
