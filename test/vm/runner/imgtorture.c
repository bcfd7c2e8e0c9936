// SPDX-License-Identifier: GPL-2.0-only
/*
 * imgtorture: hostile images for the VM core, many in one process, to be built
 * with sanitizers. Every image is refused, or runs within its fuel and leaves
 * all invariants whole; anything else is a failure with exit code 1.
 *
 * imgtorture cut FILE.hpt...    every image cut short at every byte: refused
 * imgtorture flip FILE.hpt...   every byte of it changed in ten ways
 * imgtorture words SEED COUNT   COUNT programs of random, plausible words
 *
 * Between events pages come and go, so that pages are given up, remembered,
 * brought in again and forgotten.
 */
#include <stdio.h>
#include <stdlib.h>

#include "file.h"

/* Commands of one event; small, as many mutants never end. */
#define FUEL 500

static u64 nr_refused, nr_ran;
static char outcome[HIPEC_VMCASE_MAX_TEXT];

static int fail(const char *name, u64 n, const char *what)
{
	printf("not ok %s: mutant %llu: %s\n%s", name, (unsigned long long)n,
	       what, outcome);
	return -EINVAL;
}

/* What runs: two events, and what a host does between them. */
static const struct hipec_vmcase_step steps[] = {
	{ HIPEC_EVENT_PAGEFAULT, 0 }, { HIPEC_VMCASE_FAULT, 1 },
	{ HIPEC_EVENT_REPLACE, 0 }, { HIPEC_VMCASE_CLEAN, 0 },
	{ HIPEC_VMCASE_FAULT, 2 }, { HIPEC_EVENT_REPLACE, 0 },
	{ HIPEC_VMCASE_FORGET, 3 }, { HIPEC_VMCASE_LOSE, 4 },
	{ HIPEC_EVENT_REPLACE, 0 }, { HIPEC_VMCASE_FAULT, 9 },
	{ HIPEC_EVENT_PAGEFAULT, 0 }, { HIPEC_VMCASE_ABANDON, 0 },
	{ HIPEC_EVENT_REPLACE, 0 },
};

static bool has_queue(const struct hipec_policy *p,
		      const struct hipec_vmcase_page *page)
{
	if (!page->slot || page->slot >= p->image->nr_operands)
		return false;
	switch (p->operand[page->slot].type) {
	case HIPEC_TYPE_QUEUE:
		return true;
	case HIPEC_TYPE_QUEUES:
		return page->element < p->operand[page->slot].value;
	}
	return false;
}

/* A mutant may have lost the queue of a page, or the right to have ghosts. */
static void loosen_pages(const struct hipec_vmcase *c)
{
	struct hipec_vmcase_page *page = (void *)c->page;
	u32 frames = c->head->nr_frames, i;
	u32 ghosts = hipec_vm_nr_pages(&c->policy, frames) - frames;

	for (i = 0; i < c->head->nr_pages; i++, page++) {
		if (!has_queue(&c->policy, page))
			page->slot = 0;
		if (!(page->bits & HIPEC_FAKE_GHOST))
			continue;
		if (page->slot && ghosts)
			ghosts--;
		else
			page->bits &= ~HIPEC_FAKE_GHOST;
	}
}

/* Run what is in @bytes; it must be refused if @refuse. */
static int run(const char *name, u64 n, void *bytes, size_t size, bool refuse)
{
	struct hipec_vmcase_head *head = bytes;
	struct hipec_vmcase c;
	struct hipec_text out;
	void *memory;
	int ret;

	head->fuel = FUEL;
	head->lenient = 1;
	head->nr_runs = ARRAY_SIZE(steps);
	memcpy(head->run, steps, sizeof(steps));
	hipec_text_init(&out, outcome, sizeof(outcome));
	ret = hipec_vmcase_parse(&c, bytes, size, &out);
	if (ret < 0)
		return fail(name, n, "a malformed case");
	if (ret) {
		nr_refused++;
		return strstr(outcome, "result verify OK") ||
		       strstr(outcome, "result verify ?") ?
			fail(name, n, "refused without a reason") : 0;
	}
	if (refuse)
		return fail(name, n, "must be refused");
	nr_ran++;
	loosen_pages(&c);
	memory = malloc(hipec_vmcase_memory(&c));
	if (!memory)
		return fail(name, n, "out of memory");
	ret = hipec_vmcase_run(&c, memory, &out);
	if (!ret && ((struct hipec_fakehost *)memory)->vm.nr_commands >
		    ARRAY_SIZE(steps) * (FUEL + c.policy.image->nr_words))
		ret = fail(name, n, "ran on without fuel");
	free(memory);
	if (ret || strstr(outcome, "\nbroken "))
		return fail(name, n, "the machine is broken");
	return 0;
}

static int cut(const struct hpt *t)
{
	size_t front = t->size - t->head.image_size, n;
	u32 i;

	for (n = 0; n < t->head.image_size; n++)
		for (i = 0; i < 2; i++) {
			/* Exactly as long as it is, so that ASan sees the end. */
			char *bytes = malloc(front + n);
			const size_t at = offsetof(struct hipec_image, image_size);
			const u32 size = n;
			int ret;

			memcpy(bytes, t->bytes, front + n);
			((struct hipec_vmcase_head *)bytes)->image_size = n;
			/* The second time, with a header that knows it. */
			if (i && n >= at + sizeof(size))
				memcpy(bytes + front + at, &size, sizeof(size));
			ret = run(t->name, n, bytes, front + n, true);
			free(bytes);
			if (ret)
				return ret;
		}
	return 0;
}

static int flip(const struct hpt *t)
{
	size_t front = t->size - t->head.image_size, at;
	char *bytes = malloc(t->size);
	int i, ret = 0;

	for (at = front; !ret && at < t->size; at++)
		for (i = 0; !ret && i < 10; i++) {
			memcpy(bytes, t->bytes, t->size);
			if (i < 8)
				bytes[at] ^= 1 << i;
			else
				bytes[at] = i == 8 ? 0 : 0xff;
			ret = run(t->name, (at - front) * 10 + i, bytes,
				  t->size, false);
		}
	free(bytes);
	return ret;
}

/* xorshift64: the same programs everywhere. */
static u64 state;

static u32 rnd(u32 below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 16) % below;
}

/* A byte that often, not always, satisfies @kind. */
static u8 plausible(const struct hipec_mkimage *m, u8 kind, u32 nr)
{
	u32 i, tries;
	u8 v = 0;

	if (!rnd(2000))
		return rnd(256);
	for (tries = 0; tries < 64; tries++) {
		v = rnd(tries < 32 ? 16 : 256);
		if (hipec_vm_kind_types(kind)) {
			i = rnd(m->nr_slots);
			if (hipec_vm_kind_types(kind) >> m->slot[i].type & 1 &&
			    (i || kind != HIPEC_KIND_QUEUE_OUT || !rnd(50)) &&
			    (!m->slot[i].flags || (kind != HIPEC_KIND_INTS_W &&
			      kind != HIPEC_KIND_SKETCH)))
				return i;
		} else if (kind == HIPEC_KIND_EVENT) {
			return HIPEC_EVENT_USER + rnd(2);
		} else if (kind == HIPEC_KIND_TARGET_LO) {
			return 1 + rnd(nr - 1);
		} else if (hipec_vm_selector(kind, v)) {
			return v;
		} else if (tries == 40) {
			return 0;	/* NONE, and the high byte of a target */
		}
	}
	return v;
}

/*
 * A command. One that starts an event gives it pages, as most others would end
 * a policy that has none; in front of the others no call stands, as they are
 * called themselves.
 */
static u32 plausible_word(const struct hipec_mkimage *m, u32 nr, bool calls,
			  bool starts)
{
	static const u8 first[] = {
		HIPEC_OP_FINDPA, HIPEC_OP_PAGEAT, HIPEC_OP_PEEK,
		HIPEC_OP_DEQUEUE,
	};
	const struct hipec_op *op;
	u32 w, i, code;

	do {
		code = rnd(rnd(500) ? HIPEC_OP_RANDOM + 1 : 256);
		if (starts)
			code = first[rnd(ARRAY_SIZE(first))];
		op = &hipec_ops[code];
	} while ((!calls && op->kind[0] == HIPEC_KIND_EVENT) ||
		 (!op->word && rnd(500)));
	w = code << 24;
	for (i = 0; i < 3; i++)
		w |= (u32)plausible(m, op->kind[i], nr) << (16 - 8 * i);
	if (op->kind[1] == HIPEC_KIND_INT_OPT &&
	    hipec_vm_selector_unary(op->kind[2], hipec_word_c(w)))
		w &= ~0xff00u;
	return w;
}

#define WORDS 24	/* of one event, magic and last return included */
#define STARTS 4	/* of them that give it pages */
#define FIELD 2		/* slots of these types */
#define QUEUES 3

/* Operands of every type, most of them sound. */
static void random_operands(struct hipec_mkimage *m)
{
	static const u8 first[] = {
		HIPEC_TYPE_QUEUE, HIPEC_TYPE_INT, HIPEC_TYPE_FIELD,
		HIPEC_TYPE_QUEUES, HIPEC_TYPE_QUEUE_REF, HIPEC_TYPE_INTS,
		HIPEC_TYPE_PAGE, HIPEC_TYPE_QUEUE, HIPEC_TYPE_INT,
	};
	u32 i;

	m->nr_slots = 12 + rnd(8);
	for (i = 0; i < m->nr_slots; i++) {
		u8 type = i < ARRAY_SIZE(first) ? first[i] :
						  1 + rnd(HIPEC_TYPE_FIELD);

		m->slot[i].type = type;
		if (type == HIPEC_TYPE_INT)
			m->slot[i].value = rnd(4) ? rnd(9) << 12 : -(s64)rnd(3);
		else if (type == HIPEC_TYPE_INTS)
			m->slot[i].value = rnd(200) ? 1 + rnd(8) : rnd(2) << 21;
		else if (type == HIPEC_TYPE_QUEUES)
			m->slot[i].value = rnd(200) ? 1 + rnd(3) : 0;
		else if (type == HIPEC_TYPE_QUEUE_REF)
			m->slot[i].value = rnd(200) ? QUEUES : rnd(20);
		if (type == HIPEC_TYPE_INTS && i >= ARRAY_SIZE(first) && rnd(2))
			m->slot[i].flags = HIPEC_OPERAND_SHARED;
		if (i && (type == HIPEC_TYPE_QUEUE || i == QUEUES) && rnd(2))
			m->slot[i].key = rnd(200) ? FIELD : rnd(20);
	}
	m->ghosts = rnd(4) * 50;
}

static int random_program(u64 number)
{
	static const u32 events[] = {
		HIPEC_EVENT_PAGEFAULT, HIPEC_EVENT_REPLACE, HIPEC_EVENT_USER,
		HIPEC_EVENT_USER + 1,
	};
	u32 words[ARRAY_SIZE(events)][WORDS], i, j;
	struct hipec_mkimage m = { .name = "random" };
	struct hpt t = { .name = (char *)"words" };
	struct hipec_vmcase_page *page;
	void *image;
	size_t size;
	int ret;

	random_operands(&m);
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		words[i][0] = HIPEC_EVENT_MAGIC;
		for (j = 1; j < WORDS - 1; j++)
			words[i][j] = plausible_word(&m, WORDS, i < 2,
						     j <= STARTS);
		words[i][j] = (u32)HIPEC_OP_RETURN << 24;
		m.event[i].number = events[i];
		m.event[i].words = words[i];
		m.event[i].nr = WORDS;
	}
	m.nr_events = ARRAY_SIZE(events);
	if (hipec_mkimage(&m, &image, &size))
		return -ENOMEM;
	t.head = (struct hipec_vmcase_head){
		.magic = HIPEC_VMCASE_MAGIC, .image_size = size,
		.nr_pages = 8, .nr_frames = 8 + rnd(3), .free = rnd(3),
		.grant = rnd(5), .seed = number,
	};
	for (i = 0; i < ARRAY_SIZE(t.head.system); i++)
		t.head.system[i] = rnd(9) << 12;
	t.size = sizeof(t.head) + 8 * sizeof(*page) + size;
	t.bytes = malloc(t.size);
	memcpy(t.bytes, &t.head, sizeof(t.head));
	page = (void *)((char *)t.bytes + sizeof(t.head));
	for (i = 0; i < 8; i++, page++)
		*page = (struct hipec_vmcase_page){
			.pgno = i, .slot = rnd(m.nr_slots),
			.element = rnd(3),
			.bits = rnd(3) ? rnd(0x40) : HIPEC_FAKE_GHOST,
		};
	memcpy(page, image, size);
	free(image);
	ret = run(t.name, number, t.bytes, t.size, false);
	free(t.bytes);
	return ret;
}

static int torture_file(const char *path, int (*torture)(const struct hpt *t))
{
	struct hpt t;
	int ret = hpt_read(&t, path);

	if (!ret)
		ret = hpt_case(&t);
	if (ret)
		printf("not ok %s\n", t.error);
	else
		ret = torture(&t);
	hpt_free(&t);
	return ret;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";
	u64 i, count;
	int ret = 0;

	if (!strcmp(mode, "words") && argc == 4) {
		state = strtoull(argv[2], NULL, 0) * 2654435761u + 1;
		count = strtoull(argv[3], NULL, 0);
		for (i = 0; !ret && i < count; i++)
			ret = random_program(i);
	} else if (!strcmp(mode, "cut") || !strcmp(mode, "flip")) {
		for (i = 2; !ret && i < (u64)argc; i++)
			ret = torture_file(argv[i],
					   *mode == 'c' ? cut : flip);
	} else {
		fputs("usage: imgtorture cut|flip FILE.hpt... | words SEED COUNT\n",
		      stderr);
		return 2;
	}
	if (ret)
		return 1;
	printf("ok refused %llu ran %llu\n", (unsigned long long)nr_refused,
	       (unsigned long long)nr_ran);
	return 0;
}
