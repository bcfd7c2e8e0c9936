// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of machines in user space, and their replay.
 *
 *	record-test policies FILE.hpo...   in the simulator
 *	record-test world FILE.hpo         on a fake host
 *	record-test random FIRST COUNT     random programs on a fake host
 *	record-test damage FIRST COUNT     one byte of a record is another one
 *	record-test images DIR FIRST COUNT such programs, for a guest
 *
 * The tracer is opened in the middle of a machine's life. Exit code 1: some replay
 * did not give the record; the reason is on stdout.
 */
#include <stdarg.h>
#include <stdlib.h>

#include "../../module/tests/fakehost.h"
#include "../../userlib/record/record.h"
#include "../../userlib/sim/host.h"
#include "../../userlib/trace/trace.h"
#include "../vm/fuzz/mutate.h"
#include "../vm/fuzz/program.h"

#define FRAMES 12
#define NR_PGNOS 40
#define STEPS 160
#define LATEST 60	/* step at which the tracer is opened */

static struct {
	struct hipec_tracer tracer;
	u8 *bytes;
	size_t size, max, entries;
} record;

static void keep(struct hipec_tracer *tracer, const u8 *entry, u32 nr)
{
	(void)tracer;
	if (record.size + nr > record.max) {
		record.max = 2 * (record.size + nr);
		record.bytes = realloc(record.bytes, record.max);
	}
	memcpy(record.bytes + record.size, entry, nr);
	record.size += nr;
}

static void begin(struct hipec_vm *vm, u32 nr_frames)
{
	record.size = record.entries = hipec_tracer_snapshot_size(vm);
	record.max = record.size + (1 << 16);
	free(record.bytes);
	record.bytes = malloc(record.max);
	hipec_tracer_snapshot(vm, nr_frames, record.bytes);
	record.tracer = (struct hipec_tracer){ .put = keep };
	hipec_tracer_open(vm, &record.tracer);
}

/* Replay it. Return: whether it is the same; says so if it is not. */
static bool check(const char *name, struct record_replay *r)
{
	if (record_replay(record.bytes, record.size, r))
		abort();
	if (r->verdict == RECORD_SAME)
		return true;
	printf("%s: %s\n", name, r->why);
	return false;
}

/* Shipped policies, in the simulator; with writes, a mapped and an exact run. */

static u32 sim_frames;

static void opened(struct sim *s)
{
	begin(&s->core.vm, sim_frames);
}

static FILE *make_trace(void)
{
	FILE *f = tmpfile();
	struct fuzz_rng rng = { 1 };
	u32 i;

	for (i = 0; f && i < 3000; i++) {
		fprintf(f, "%c %u\n", fuzz_chance(&rng, 20) ? 'w' : 'r',
			i % 3 ? fuzz_below(&rng, 64) : i % 100);
	}
	rewind(f);
	return f;
}

static int run_policies(int argc, char **argv)
{
	struct trace_error where;
	struct sim_result result = { 0 };
	struct record_replay r;
	struct policy p;
	struct trace t;
	struct hipec_text why = { 0 };
	FILE *f = make_trace();
	int i, mode, failed = 0;

	if (!f || trace_read(&t, "random", f, &(struct trace_options){ 0 }, &where))
		return 2;
	sim_opened = opened;
	for (i = 0; i < argc; i++) {
		if (policy_open(&p, argv[i], &why))
			return 2;
		for (mode = SIM_MAPPED; mode <= SIM_EXACT; mode++) {
			sim_frames = 20 + 10 * mode;
			if (sim_run_policy(&p.policy, &t, sim_frames, mode,
					   &result, NULL))
				return 2;
			failed += !check(argv[i], &r);
			printf("%s mode %d events %llu of %llu decisions %llu faults %llu bytes %zu\n",
			       r.policy, mode, (unsigned long long)r.nr_events,
			       (unsigned long long)result.events,
			       (unsigned long long)r.nr_decisions,
			       (unsigned long long)result.faults,
			       record.size - record.entries);
		}
		policy_close(&p);
	}
	trace_free(&t);
	fclose(f);
	return failed;
}

/* Random programs on a fake host that does at random what a host may do. */

struct world {
	struct hipec_fakehost fake;
	struct hipec_policy policy;
	struct fuzz_rng rng;
	void *memory;
	bool gentle;	/* no event that has nothing to do */
	u64 image[FUZZ_MAX_IMAGE / sizeof(u64)];
};

static void run_event(struct world *w, u32 event)
{
	struct hipec_vm *vm = &w->fake.vm;
	u32 i;

	if (vm->exit.kind || !hipec_vm_has_event(vm, event))
		return;
	w->fake.late = fuzz_chance(&w->rng, 10);
	w->fake.nr_looks = 0;
	vm->slot[HIPEC_SLOT_FREE_COUNT] = w->fake.free;
	vm->queue[HIPEC_QUEUE_FREE].count = w->fake.free;
	for (i = HIPEC_SLOT_SYSTEM; !w->gentle && i < HIPEC_NR_SLOTS; i++)
		if (fuzz_chance(&w->rng, 20))
			vm->slot[i] = fuzz_random(&w->rng) >>
				      fuzz_below(&w->rng, 64);
	if (hipec_tracer_run(vm, event) == -ECANCELED)
		hipec_vm_abandon(vm);
}

static bool take(struct hipec_vm *vm, u32 h)
{
	struct world *w = (struct world *)vm;

	if (w->fake.bits[h] & HIPEC_FAKE_PINNED)
		return false;
	w->fake.bits[h] = 0;
	w->fake.free++;
	hipec_page_del(vm, h);
	return true;
}

static u64 nr_params;	/* that were set */

/* The application sets parameters, within their ranges or not, or what is none. */
static void set_params(struct world *w)
{
	const struct hipec_image *image = w->policy.image;
	u32 slot;

	for (slot = 0; slot <= image->nr_operands; slot++) {
		s64 value = slot < image->nr_operands ?
			    w->policy.operand[slot].value : 0;

		nr_params += !hipec_vm_set_param(&w->fake.vm, slot, (u64)value +
						 fuzz_below(&w->rng, 9) - 4);
	}
}

static void step(struct world *w)
{
	struct hipec_vm *vm = &w->fake.vm;
	u32 pgno = fuzz_below(&w->rng, NR_PGNOS);
	u32 h = hipec_page_find(vm, pgno);
	bool live = h && hipec_page_live(vm, h);

	switch (fuzz_below(&w->rng, 13)) {
	case 0:
		if (!hipec_fakehost_lose(&w->fake, pgno))
			run_event(w, HIPEC_EVENT_REMOVE);
		hipec_page_forget_evicted(vm);
		break;
	case 1:
		if (live && !vm->queue[vm->page[h].queue].key)
			hipec_page_pass(vm, h);
		break;
	case 2:
		if (live) {
			hipec_page_deactivate(vm, h);
			w->fake.bits[h] |= HIPEC_FAKE_HIDDEN;
		}
		break;
	case 3:
		hipec_fakehost_clean(&w->fake);
		break;
	case 4:
		hipec_page_forget_range(vm, pgno, fuzz_below(&w->rng, 8));
		break;
	case 5:
		if (hipec_fifo2_rules(vm) && vm->nr_live)
			hipec_fifo2_replace(vm, take, &pgno);
		else if (!w->gentle && fuzz_chance(&w->rng, 2)) {
			hipec_vm_end(vm, HIPEC_EXIT_NO_VICTIM);
			hipec_vm_abandon(vm);
		}
		break;
	case 6:
		if (w->gentle)
			break;
		run_event(w, w->policy.event[fuzz_below(&w->rng,
			w->policy.image->nr_events)].number);
		break;
	case 7:
		set_params(w);
		break;
	default:
		if (!hipec_fakehost_fault(&w->fake, pgno)) {
			h = hipec_page_find(vm, pgno);
			w->fake.bits[h] |= fuzz_below(&w->rng, 8);
			run_event(w, HIPEC_EVENT_PAGEFAULT);
		} else if (!w->gentle || vm->queue[HIPEC_QUEUE_POLICY].count) {
			run_event(w, HIPEC_EVENT_REPLACE);
		}
	}
}

static struct world w;

/* A record of the program in w.image. Return: false if it is none to run. */
static bool record_world(u64 seed, size_t size)
{
	struct hipec_verify_error error;
	u32 opened_at, i;

	w.rng.state = seed;
	if (!size || hipec_image_parse(w.image, size, &w.policy, &error) ||
	    hipec_verify(&w.policy, &error) ||
	    hipec_vm_size(&w.policy, FRAMES) > 1 << 18)
		return false;
	w.memory = malloc(hipec_fakehost_size(&w.policy, FRAMES));
	hipec_fakehost_init(&w.fake, &w.policy, w.memory, FRAMES);
	w.fake.vm.salt = fuzz_random(&w.rng);
	w.fake.free = FRAMES;
	w.fake.grant = 2;
	run_event(&w, HIPEC_EVENT_INIT);
	opened_at = fuzz_below(&w.rng, LATEST);
	for (i = 0; i < STEPS; i++) {
		if (i == opened_at)
			begin(&w.fake.vm, FRAMES);
		step(&w);
	}
	free(w.memory);
	return true;
}

/* A record of the program of @seed. Return: false if it is none to run. */
static bool make_record(u64 seed)
{
	return record_world(seed, fuzz_generate(seed, w.image, FUZZ_MAX_IMAGE));
}

/* A policy from a file in the same world, many times. */
static int run_world(const char *path)
{
	FILE *f = fopen(path, "rb");
	size_t size = f ? fread(w.image, 1, sizeof(w.image), f) : 0;
	struct record_replay r;
	u64 seed, events = 0;
	int failed = 0;

	if (f)
		fclose(f);
	w.gentle = true;
	for (seed = 1; seed <= 20; seed++) {
		if (!record_world(seed, size))
			return 2;
		failed += !check(path, &r);
		events += r.nr_events;
	}
	printf("events %llu failed %d\n", (unsigned long long)events, failed);
	return failed || !events;
}

static int run_random(u64 seed, u64 count)
{
	u64 programs = 0, events = 0, decisions = 0, ended = 0;
	struct record_replay r;
	int failed = 0;
	char name[40];

	for (; count; count--, seed++) {
		if (!make_record(seed))
			continue;
		snprintf(name, sizeof(name), "seed %llu",
			 (unsigned long long)seed);
		failed += !check(name, &r);
		programs++;
		events += r.nr_events;
		decisions += r.nr_decisions;
		ended += !r.nr_events;
	}
	printf("programs %llu events %llu decisions %llu params %llu ended %llu failed %d\n",
	       (unsigned long long)programs, (unsigned long long)events,
	       (unsigned long long)decisions, (unsigned long long)nr_params,
	       (unsigned long long)ended, failed);
	return !!failed;
}

/*
 * One byte is another one: replay says so, or gets by with another input. What a
 * policy has decided, and how events ended, is no input.
 */
static int run_damage(u64 seed, u64 count)
{
	u64 tried = 0, found = 0, of_decisions = 0, missed = 0;
	struct fuzz_rng rng = { seed };
	struct record_replay r;
	struct record_item n;
	size_t at, byte;
	bool is_cut;
	int nr, i;
	u8 old;

	for (; count; count--, seed++) {
		if (!make_record(seed))
			continue;
		for (i = 0; i < 40; i++) {	/* tables, and what is not read as entries */
			byte = fuzz_below(&rng, record.size);
			old = record.bytes[byte];
			record.bytes[byte] ^= 1 + fuzz_below(&rng, 255);
			record_replay(record.bytes, record.size, &r);
			record.bytes[byte] = old;
			tried++;
			found += r.verdict != RECORD_SAME;
		}
		for (at = record.entries; at < record.size; at += nr) {
			nr = record_entry(record.bytes + at,
					  record.bytes + record.size, &n);
			if (nr <= 0)
				return 2;
			if (n.code != HIPEC_RECORD_GIVE_UP &&
			    n.code != HIPEC_RECORD_END &&
			    n.code != HIPEC_RECORD_SET_REF)
				continue;
			byte = at + fuzz_below(&rng, nr);
			old = record.bytes[byte];
			record.bytes[byte] ^= 1 + fuzz_below(&rng, 255);
			is_cut = !record_entry(record.bytes + at, record.bytes + record.size, &n);
			record_replay(record.bytes, record.size, &r);
			record.bytes[byte] = old;
			/* As a record may be, where what comes last goes on behind its end. */
			if (is_cut)
				continue;
			of_decisions++;
			if (r.verdict == RECORD_SAME) {
				printf("seed %llu byte %zu: not found\n",
				       (unsigned long long)seed, byte);
				missed++;
			}
		}
	}
	printf("tried %llu found %llu decisions %llu missed %llu\n",
	       (unsigned long long)tried, (unsigned long long)found,
	       (unsigned long long)of_decisions, (unsigned long long)missed);
	return missed || !of_decisions;
}

/* Images of @count programs that may run, for a guest. */
static int write_images(const char *dir, u64 seed, u64 count)
{
	char path[512];
	size_t size;
	FILE *f;

	for (; count; seed++) {
		if (!make_record(seed))
			continue;
		size = ((struct hipec_record_head *)record.bytes)->image_size;
		snprintf(path, sizeof(path), "%s/random-%llu.hpo", dir,
			 (unsigned long long)seed);
		f = fopen(path, "wb");
		if (!f || fwrite(record.bytes + sizeof(struct hipec_record_head),
				 size, 1, f) != 1 || fclose(f))
			return 2;
		count--;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int ret = 2;

	if (argc > 2 && !strcmp(argv[1], "policies"))
		ret = run_policies(argc - 2, argv + 2);
	else if (argc == 4 && !strcmp(argv[1], "random"))
		ret = run_random(atoi(argv[2]), atoi(argv[3]));
	else if (argc == 4 && !strcmp(argv[1], "damage"))
		ret = run_damage(atoi(argv[2]), atoi(argv[3]));
	else if (argc == 3 && !strcmp(argv[1], "world"))
		ret = run_world(argv[2]);
	else if (argc == 5 && !strcmp(argv[1], "images"))
		ret = write_images(argv[2], atoi(argv[3]), atoi(argv[4]));
	free(record.bytes);
	return ret;
}
