// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mixes. What they compute is computed once more in C, so that a machine
 * that is fast because it is wrong is found out.
 *
 * Each is the event PageFault of a policy of its own; its Replace puts one page
 * where the mix wants it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../../userlib/image/asm.h"
#include "../../../userlib/image/mkimage.h"
#include "mix.h"

static const struct {
	const char *name;
	u8 type;
	s64 value;
} slots[] = {
	[HIPEC_SLOT_FREE_QUEUE] = { "_free_queue", HIPEC_TYPE_QUEUE, 0 },
	[HIPEC_SLOT_FREE_COUNT] = { "_free_count", HIPEC_TYPE_INT, 0 },
	{ "a", HIPEC_TYPE_INT, 3000 },
	{ "b", HIPEC_TYPE_INT, 1000 },
	{ "c", HIPEC_TYPE_INT, 0 },
	{ "d", HIPEC_TYPE_INT, 7 },
	{ "wrong", HIPEC_TYPE_INT, 0 },
	{ "t", HIPEC_TYPE_INT, 0 },
	{ "two", HIPEC_TYPE_INT, 2 },
	{ "three", HIPEC_TYPE_INT, 3 },
	{ "odd", HIPEC_TYPE_INT, 0 },
	{ "p", HIPEC_TYPE_PAGE, 0 },
	{ "r", HIPEC_TYPE_PAGE, 0 },
	{ "q", HIPEC_TYPE_QUEUE, 0 },
	{ "s", HIPEC_TYPE_QUEUE, 0 },
};

/* Of these slots: what is looked at when a mix has run. */
enum { SLOT_A = HIPEC_SLOT_POLICY, SLOT_B, SLOT_C, SLOT_D, SLOT_WRONG };
enum { QUEUE_Q = HIPEC_QUEUE_POLICY, QUEUE_S };

/* Figure 3's arithmetic (a share of a sum, counters up and down), and sums. */
static const char *const arith_text[] = {
	"arith t, a, set",
	"arith t, b, add",
	"arith t, two, mul",
	"arith t, three, div",
	"arith c, t, set",
	"arith a, -, dec",
	"arith b, -, inc",
	"arith d, c, add",
	"arith t, a, set",
	"arith t, b, sub",
	"arith d, t, sub",
	"arith c, d, add",
	"arith b, two, add",
	"arith a, two, sub",
	"arith c, -, inc",
	"arith d, -, dec",
	NULL
};

/* The same in C. */
static void arith_expect(struct bench_host *host)
{
	s64 *a = bench_host_int(host, SLOT_A), *b = bench_host_int(host, SLOT_B);
	s64 *c = bench_host_int(host, SLOT_C), *d = bench_host_int(host, SLOT_D);
	u64 t = ((u64)*a + *b) * 2;

	*c = (s64)t / 3;
	*a = (u64)*a - 1;
	*b = (u64)*b + 1;
	*d = (u64)*d + *c;
	*d = (u64)*d - ((u64)*a - *b);
	*c = (u64)*c + *d;
	*b = (u64)*b + 2;
	*a = (u64)*a - 2;
	*c = (u64)*c + 1;
	*d = (u64)*d - 1;
}

/* Every test with a jump behind it, half of them taken; and jumps alone. */
static const char *const jump_text[] = {
	"	comp b, a, lt",
	"	jump ifnot, wrong@",
	"	comp a, b, le",
	"	jump ifnot, one@",
	"wrong@: arith wrong, -, inc",
	"one@:	emptyq q",
	"	jump if, wrong@",
	"	inq p, q",
	"	jump if, two@",
	"	arith wrong, -, inc",
	"two@:	jump always, three@",
	"	arith wrong, -, inc",
	"three@: comp two, three, eq",
	"	jump if, wrong@",
	"	logic c, two, and",
	"	jump ifnot, four@",
	"	arith wrong, -, inc",
	"four@:	comp two, three, ne",
	"	jump if, five@",
	"	arith wrong, -, inc",
	"five@:	jump always, six@",
	"	arith wrong, -, inc",
	"six@:",
	NULL
};

/* Pages go round between two queues, to both ends and from both. */
static const char *const queue_text[] = {
	"dequeue p, q, head",
	"enqueue p, s, tail",
	"dequeue r, s, head",
	"enqueue r, q, tail",
	"dequeue p, q, head",
	"enqueue p, s, head",
	"dequeue r, s, tail",
	"enqueue r, q, tail",
	NULL
};

static void queue_expect(struct hipec_vm *vm)
{
	u32 p, r;

	p = vm->queue[QUEUE_Q].head;
	hipec_queue_move(vm, QUEUE_S, p, HIPEC_END_TAIL);
	r = vm->queue[QUEUE_S].head;
	hipec_queue_move(vm, QUEUE_Q, r, HIPEC_END_TAIL);
	p = vm->queue[QUEUE_Q].head;
	hipec_queue_move(vm, QUEUE_S, p, HIPEC_END_HEAD);
	r = vm->queue[QUEUE_S].tail;
	hipec_queue_move(vm, QUEUE_Q, r, HIPEC_END_TAIL);
}

const struct bench_mix bench_mixes[] = {
	{ "arithmetic", arith_text, 16 },
	{ "tests and jumps", jump_text, 16 },
	{ "queue moves", queue_text, 8 },
};

const size_t bench_nr_mixes = ARRAY_SIZE(bench_mixes);

static const char *const empty_text[] = { NULL };

/* Pages go to the two queues in turn; the last one is on q, and in p. */
static const char *const start_text[] = {
	"	findpa p, FaultedAddress",
	"	logic odd, -, not",
	"	jump if, odd",
	"	enqueue p, q, tail",
	"	return",
	"odd:	enqueue p, s, tail",
	NULL
};

/* @line with the copy's number for each `@`. */
static char *copy_line(const char *line, u32 copy)
{
	size_t size = 128, n = 0;
	char *text = bench_alloc(size);

	for (; *line; line++)
		if (*line == '@')
			n += snprintf(text + n, size - n, "%u", copy);
		else
			n += snprintf(text + n, size - n, "%c", *line);
	return text;
}

/* @copies of @text, then Return. */
static struct hipec_asm_source *repeat(const char *const *text, u32 copies,
				       u32 *nr_lines)
{
	struct hipec_asm_source *src;
	u32 nr = 0, i;

	while (text[nr])
		nr++;
	*nr_lines = nr * copies + 1;
	src = bench_alloc(*nr_lines * sizeof(*src));
	for (i = 0; i < nr * copies; i++) {
		src[i].text = copy_line(text[i % nr], i / nr);
		src[i].line = i % nr + 1;
	}
	src[i].text = copy_line("return", 0);
	return src;
}

/* The words of an event; the caller frees them. */
static u32 *assemble(const char *name, const char *const *text, u32 copies,
		     u32 *nr_words)
{
	struct hipec_asm_source *src;
	struct hipec_asm_error err;
	u32 *words, *lines, nr, i;
	struct hipec_asm as;
	int ret;

	src = repeat(text, copies, &nr);
	words = bench_alloc((nr + 1) * sizeof(*words));
	lines = bench_alloc((nr + 1) * sizeof(*lines));
	hipec_asm_init(&as);
	for (i = 0; i < ARRAY_SIZE(slots); i++)
		as.slot[i] = slots[i].name;
	ret = hipec_asm_event(&as, src, nr, words, lines, nr + 1, &err);
	if (ret < 0)
		bench_die("mix '%s', line %u: %s", name, err.line, err.text);
	*nr_words = ret;
	for (i = 0; i < nr; i++)
		free((void *)src[i].text);
	free(src);
	free(lines);
	return words;
}

static void make_image(struct bench_image *im, const char *name,
		       const char *const *text, u32 copies)
{
	struct hipec_mkimage *mk = bench_alloc(sizeof(*mk));
	u32 *mix, *start, i;
	size_t size;
	void *bytes;

	mk->name = name;
	mk->nr_slots = ARRAY_SIZE(slots);
	for (i = 0; i < mk->nr_slots; i++) {
		mk->slot[i].name = slots[i].name;
		mk->slot[i].type = slots[i].type;
		mk->slot[i].value = slots[i].value;
	}
	mk->nr_events = 2;
	mix = assemble(name, text, copies, &mk->event[0].nr);
	mk->event[0].number = HIPEC_EVENT_PAGEFAULT;
	mk->event[0].words = mix;
	start = assemble(name, start_text, 1, &mk->event[1].nr);
	mk->event[1].number = HIPEC_EVENT_REPLACE;
	mk->event[1].words = start;
	if (hipec_mkimage(mk, &bytes, &size))
		bench_die("out of memory");
	bench_image_parse(im, name, bytes, size);
	free(start);
	free(mix);
	free(mk);
}

/**
 * bench_mix_load() - the image of a mix, or of a policy
 * @im:      filled
 * @hpo_dir: where compiled policies are
 * @name:    a mix; "empty", whose PageFault does nothing; or a policy
 *
 * Context: any; allocates.
 */
void bench_mix_load(struct bench_image *im, const char *hpo_dir,
		    const char *name)
{
	char path[4096];
	size_t i;

	for (i = 0; i < bench_nr_mixes; i++)
		if (!strcmp(bench_mixes[i].name, name)) {
			make_image(im, name, bench_mixes[i].text,
				   BENCH_MIX_COPIES);
			return;
		}
	if (!strcmp(name, "empty")) {
		make_image(im, name, empty_text, 0);
		return;
	}
	snprintf(path, sizeof(path), "%s/%s.hpo", hpo_dir, name);
	bench_image_load(im, path);
}

/* A machine with BENCH_MIX_PAGES pages where mixes want them. */
struct bench_host *bench_mix_start(const struct bench_image *im)
{
	struct bench_host *host = bench_host_open(im, BENCH_MIX_PAGES);
	u32 pgno;

	for (pgno = 0; pgno < BENCH_MIX_PAGES; pgno++) {
		bench_host_bring(host, pgno, false);
		bench_host_fault(host, HIPEC_EVENT_REPLACE, pgno);
	}
	return host;
}

static bool same_queue(const struct bench_host *a, const struct bench_host *b,
		       u32 q)
{
	u32 h = a->vm.queue[q].head, k = b->vm.queue[q].head;

	for (; h && h == k; h = a->vm.page[h].next, k = b->vm.page[k].next)
		;
	return h == k;
}

/**
 * bench_mix_check() - whether a mix computed what it should, or the end
 * @mix:       that ran
 * @im:        its image
 * @host:      from bench_mix_start()
 * @nr_events: how often it ran since
 *
 * Context: any; allocates.
 */
void bench_mix_check(const struct bench_mix *mix, const struct bench_image *im,
		     struct bench_host *host, u64 nr_events)
{
	struct bench_host *fresh = bench_mix_start(im);
	u64 i;

	for (i = 0; i < nr_events * BENCH_MIX_COPIES; i++) {
		if (mix->text == arith_text)
			arith_expect(fresh);
		else if (mix->text == queue_text)
			queue_expect(&fresh->vm);
	}
	for (i = SLOT_A; i <= SLOT_WRONG; i++) {
		s64 is = *bench_host_int(host, i);
		s64 want = *bench_host_int(fresh, i);

		if (is != want)
			bench_die("mix '%s': %s is %lld, not %lld", mix->name,
				  slots[i].name, (long long)is,
				  (long long)want);
	}
	if (!same_queue(host, fresh, QUEUE_Q) ||
	    !same_queue(host, fresh, QUEUE_S))
		bench_die("mix '%s': pages are not where they should be",
			  mix->name);
	bench_host_close(fresh);
}
