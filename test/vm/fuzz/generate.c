// SPDX-License-Identifier: GPL-2.0-only
/*
 * A policy from a seed. Commands are drawn from the table by their kinds; only
 * what makes a program do something worth watching is spelled out here: loops
 * that end, loops that need not, tests that skip, and a page in hand before a
 * command that wants one.
 *
 * Interface: fuzz_generate(), see mutate.h; the fuzz_gen_*() of generate.h.
 */
#include "generate.h"
#include "mutate.h"

static u32 word(u8 op, u32 a, u32 b, u32 c)
{
	return (u32)op << 24 | a << 16 | b << 8 | c;
}

static struct fuzz_rng *rng(struct fuzz_gen *g)
{
	return &g->p->rng;
}

/* Number that the next command will have. */
static u32 here(const struct fuzz_gen *g)
{
	return g->nr + 1;
}

/* Append a command; without room it is dropped, and repair mends the jumps. */
static u32 emit(struct fuzz_gen *g, u32 w)
{
	if (g->nr < ARRAY_SIZE(g->word))
		g->word[g->nr++] = w;
	return g->nr - 1;
}

static void jump(struct fuzz_gen *g, u8 cond, u32 target)
{
	emit(g, word(HIPEC_OP_JUMP, cond, target >> 8, target & 0xff));
}

/* A jump whose target comes later: land() sets it. */
static u32 jump_ahead(struct fuzz_gen *g, u8 cond)
{
	return emit(g, word(HIPEC_OP_JUMP, cond, 0, 0));
}

static void land(struct fuzz_gen *g, u32 at)
{
	g->word[at] = (g->word[at] & ~0xffffu) | here(g);
}

static bool reads_page(u8 kind)
{
	return fuzz_kind_takes(kind, HIPEC_TYPE_PAGE) && !fuzz_kind_writes(kind);
}

static bool reads_any_page(const struct hipec_op *row)
{
	return reads_page(row->kind[0]) || reads_page(row->kind[1]) ||
	       reads_page(row->kind[2]);
}

static u32 set_operand(u32 w, u32 i, u8 slot)
{
	u32 shift = 16 - 8 * i;

	return (w & ~(0xffu << shift)) | (u32)slot << shift;
}

/* A command that brings a page into slot @slot and tells whether it did. */
static void load_page(struct fuzz_gen *g, u8 slot)
{
	const struct hipec_op *row;
	u32 i;
	u8 op;

	do {
		op = fuzz_random_op(rng(g), HIPEC_OPF_TEST);
		row = &hipec_ops[op];
		for (i = 0; i < 3; i++)
			if (fuzz_kind_takes(row->kind[i], HIPEC_TYPE_PAGE) &&
			    fuzz_kind_writes(row->kind[i]))
				break;
	} while (i == 3 || reads_any_page(row));
	if (op == HIPEC_OP_FINDPA && fuzz_chance(rng(g), 60))
		emit(g, word(op, slot, HIPEC_SLOT_FAULTED_ADDRESS, 0));
	else
		emit(g, set_operand(fuzz_random_word(g->p, g->e, op), i, slot));
}

/* An index that is in range, into what command @w wants one for. */
static u32 load_index(struct fuzz_gen *g, u32 w)
{
	const u8 *kind = hipec_ops[hipec_word_op(w)].kind;
	bool array = false;
	u32 i;

	if (hipec_word_op(w) == HIPEC_OP_RANDOM)
		return set_operand(w, 1, g->limit);
	for (i = 0; i < 3; i++) {
		if (array && fuzz_kind_takes(kind[i], HIPEC_TYPE_INT))
			break;
		array |= kind[i] != HIPEC_KIND_SKETCH &&
			 (fuzz_kind_takes(kind[i], HIPEC_TYPE_INTS) ||
			  fuzz_kind_takes(kind[i], HIPEC_TYPE_QUEUES));
	}
	if (i == 3)
		return w;
	emit(g, word(HIPEC_OP_RANDOM, g->index, g->little, 0));
	return set_operand(w, i, g->index);
}

/* Skip what needs a frame if the page in slot @slot holds none. */
static bool needs_frame(struct fuzz_gen *g, u8 op)
{
	if (!(hipec_ops[op].flags & HIPEC_OPF_HOST))
		return false;
	/* These two know what to do with a ghost. */
	return fuzz_chance(rng(g), op == HIPEC_OP_ENQUEUE ||
				   op == HIPEC_OP_RELEASE ? 40 : 100);
}

/* Any command but those that shape the flow, most often with a page in hand. */
static void plain(struct fuzz_gen *g)
{
	u32 i, w, nr = 0, skip[6];
	u8 op, slot = 0;

	do
		op = fuzz_random_op(rng(g), 0);
	while (hipec_ops[op].flags & (HIPEC_OPF_JUMP | HIPEC_OPF_STOP));
	w = fuzz_random_word(g->p, g->e, op);
	if (!fuzz_chance(rng(g), g->careless))
		w = load_index(g, w);
	for (i = 0; i < 3; i++) {
		if (!reads_page(hipec_ops[op].kind[i]) ||
		    fuzz_chance(rng(g), g->careless))
			continue;
		slot = w >> (16 - 8 * i);
		load_page(g, slot);
		skip[nr++] = jump_ahead(g, HIPEC_COND_IFNOT);
		if (!needs_frame(g, op))
			continue;
		emit(g, word(HIPEC_OP_RESIDENT, slot, 0, 0));
		skip[nr++] = jump_ahead(g, HIPEC_COND_IFNOT);
	}
	emit(g, w);
	/* A page that was given up may be remembered. */
	if ((op == HIPEC_OP_RELEASE ||
	     (op == HIPEC_OP_ENQUEUE && !hipec_word_b(w))) &&
	    fuzz_chance(rng(g), 60))
		emit(g, set_operand(fuzz_random_word(g->p, g->e,
						     HIPEC_OP_ENQUEUE),
				    0, slot));
	while (nr)
		land(g, skip[--nr]);
}

static void block(struct fuzz_gen *g, u32 depth, u32 nr);

static void branch(struct fuzz_gen *g, u32 depth)
{
	u32 skip, end;
	u8 op;

	do
		op = fuzz_random_op(rng(g), HIPEC_OPF_TEST);
	while (reads_any_page(&hipec_ops[op]));
	emit(g, fuzz_random_word(g->p, g->e, op));
	skip = jump_ahead(g, HIPEC_COND_IF + fuzz_below(rng(g), 2));
	block(g, depth + 1, 1 + fuzz_below(rng(g), 4));
	if (fuzz_chance(rng(g), 40)) {
		end = jump_ahead(g, HIPEC_COND_ALWAYS);
		land(g, skip);
		block(g, depth + 1, 1 + fuzz_below(rng(g), 3));
		land(g, end);
		return;
	}
	land(g, skip);
}

/* for (i = 0; i < limit; i++), the body may change i. */
static void counted_loop(struct fuzz_gen *g, u32 depth)
{
	u32 top;

	emit(g, word(HIPEC_OP_ARITH, g->counter, g->limit, HIPEC_ARITH_SET));
	top = here(g);
	block(g, depth + 1, 1 + fuzz_below(rng(g), 4));
	emit(g, word(HIPEC_OP_ARITH, g->counter, 0, HIPEC_ARITH_DEC));
	emit(g, word(HIPEC_OP_COMP, g->counter, g->zero, HIPEC_COMP_GT));
	jump(g, HIPEC_COND_IF, top);
}

/* Take pages while there are any; endless if the body puts them back. */
static void queue_loop(struct fuzz_gen *g, u32 depth)
{
	u32 top = here(g), out;

	emit(g, fuzz_random_word(g->p, g->e, HIPEC_OP_DEQUEUE));
	out = jump_ahead(g, HIPEC_COND_IFNOT);
	block(g, depth + 1, 1 + fuzz_below(rng(g), 4));
	jump(g, HIPEC_COND_ALWAYS, top);
	land(g, out);
}

static void block(struct fuzz_gen *g, u32 depth, u32 nr)
{
	while (nr--) {
		u32 dice = fuzz_below(rng(g), 100);

		if (depth > 3 || dice < 70)
			plain(g);
		else if (dice < 83)
			branch(g, depth);
		else if (dice < 90)
			counted_loop(g, depth);
		else if (dice < 94)
			queue_loop(g, depth);
		else if (dice < 96)
			emit(g, (u32)HIPEC_OP_RETURN << 24);
		else if (dice < 97)
			jump(g, fuzz_below(rng(g), 3),
			     1 + fuzz_below(rng(g), here(g)));
		else if (fuzz_chance(rng(g), g->careless))
			emit(g, fuzz_random_word(g->p, g->e,
						 fuzz_random_op(rng(g), 0)));
	}
}

/* Slots that loops need; whatever is there will do, repair mends the rest. */
static void find_slots(struct fuzz_gen *g)
{
	const struct fuzz_program *p = g->p;
	u32 i;

	g->counter = g->index = HIPEC_SLOT_FREE_COUNT;
	g->limit = g->little = g->zero = HIPEC_SLOT_FREE_COUNT;
	for (i = HIPEC_SLOT_POLICY; i < p->head.nr_operands; i++) {
		const struct hipec_image_operand *o = &p->operand[i];

		if (o->type != HIPEC_TYPE_INT)
			continue;
		if (!(o->flags & HIPEC_OPERAND_CONST)) {
			if (g->counter == HIPEC_SLOT_FREE_COUNT ||
			    fuzz_chance(rng(g), 30))
				g->counter = i;
			g->index = i;
		} else if (!o->value) {
			g->zero = i;
		} else if (o->value > 0 && o->value < 64) {
			g->limit = i;
			if (o->value <= FUZZ_LEAST_ARRAY)
				g->little = i;
		}
	}
}

/**
 * fuzz_gen_block() - random commands for an event
 * @g:  gets them; its careless is the caller's
 * @p:  program
 * @e:  row of the event
 * @nr: how many statements
 *
 * Jumps count as if the commands were the first of the event.
 */
void fuzz_gen_block(struct fuzz_gen *g, struct fuzz_program *p, u32 e, u32 nr)
{
	g->p = p;
	g->e = e;
	g->nr = 0;
	find_slots(g);
	block(g, 0, nr);
}

/* An integer worth having: small, a page's address, or at an edge. */
s64 fuzz_gen_value(struct fuzz_rng *r)
{
	static const s64 edge[] = {
		-1, S64_MIN, ~S64_MIN, 0xffffffff, 0x100000000, -4096,
		0xffffffff000,
	};

	switch (fuzz_below(r, 8)) {
	case 0:
		return edge[fuzz_below(r, ARRAY_SIZE(edge))];
	case 1:
		return fuzz_random(r);
	case 2:
	case 3:
		return (s64)fuzz_below(r, 24) << 12;
	default:
		return fuzz_below(r, 12);
	}
}

/* What a slot of type @type is at load, and what it refers to. */
static void finish_operand(struct fuzz_program *p, struct hipec_image_operand *o)
{
	struct fuzz_rng *r = &p->rng;
	int field = fuzz_find_slot(p, HIPEC_TYPE_FIELD);

	switch (o->type) {
	case HIPEC_TYPE_INT:
		o->flags = fuzz_chance(r, 40) ? fuzz_random(r) &
			   (HIPEC_OPERAND_PARAM | HIPEC_OPERAND_CONST |
			    HIPEC_OPERAND_COUNTER) : 0;
		o->value = fuzz_gen_value(r);
		if (o->flags & HIPEC_OPERAND_PARAM && fuzz_chance(r, 50)) {
			o->low = o->value & ~0xfll;
			o->high = o->value | 0xf;
		}
		break;
	case HIPEC_TYPE_PAGE:
		o->flags = fuzz_chance(r, 4) ? HIPEC_OPERAND_CONST : 0;
		break;
	case HIPEC_TYPE_INTS:
		o->flags = fuzz_chance(r, 30) ? HIPEC_OPERAND_SHARED : 0;
		o->value = FUZZ_LEAST_ARRAY + fuzz_below(r, 20) +
			   (fuzz_chance(r, 3) ? 600 : 0);
		break;
	case HIPEC_TYPE_QUEUES:
		o->value = FUZZ_LEAST_ARRAY + fuzz_below(r, 5);
		break;
	case HIPEC_TYPE_QUEUE_REF:
		o->value = fuzz_find_slot(p, HIPEC_TYPE_QUEUES);
		break;
	}
	if ((o->type == HIPEC_TYPE_QUEUE || o->type == HIPEC_TYPE_QUEUES) &&
	    field >= 0 && fuzz_chance(r, 40))
		o->key = field;
}

/* A slot of any type, with what belongs to it. */
void fuzz_gen_operand(struct fuzz_program *p, u8 type)
{
	struct fuzz_rng *r = &p->rng;
	struct hipec_image_operand *o;
	char name[] = "a0";

	name[0] += fuzz_below(r, 26);
	name[1] += fuzz_below(r, 10);
	o = fuzz_add_operand(p, type, 0, 0,
			     fuzz_chance(r, 30) ? name : NULL);
	if (o)
		finish_operand(p, o);
}

/* A type that exists. */
u8 fuzz_gen_type(struct fuzz_rng *r)
{
	static const u8 type[] = {
#define X(name, code, ...) code,
		HIPEC_TYPES(X)
#undef X
	};

	return type[fuzz_below(r, ARRAY_SIZE(type))];
}

static const struct {
	u8 number;
	bool needed;
} host_event[] = {
#define X(name, code, text, need, ...) { code, need },
	HIPEC_EVENTS(X)
#undef X
};

/* An event that the host calls, or one of the policy's own. */
u32 fuzz_gen_event(struct fuzz_rng *r)
{
	u32 i = fuzz_below(r, ARRAY_SIZE(host_event) * 2);

	return i < ARRAY_SIZE(host_event) ? host_event[i].number :
	       HIPEC_EVENT_USER + fuzz_below(r, 8);
}

static bool has_event(const struct fuzz_program *p, u32 number)
{
	u32 e;

	for (e = 0; e < p->head.nr_events; e++)
		if (p->event[e].number == number)
			return true;
	return false;
}

/* Every type at least once, then as chance will have it. */
static void declare(struct fuzz_program *p)
{
	static const u8 one_each[] = {
#define X(name, code, ...) code,
		HIPEC_TYPES(X)
#undef X
	};
	u32 i, nr = 2 + fuzz_below(&p->rng, 12);

	/* A field first, so that queues can be ordered by it. */
	fuzz_gen_operand(p, HIPEC_TYPE_FIELD);
	for (i = 0; i < ARRAY_SIZE(one_each); i++)
		fuzz_gen_operand(p, one_each[i]);
	fuzz_add_operand(p, HIPEC_TYPE_PAGE, 0, 0, "page");
	fuzz_add_operand(p, HIPEC_TYPE_QUEUE, 0, 0, "queue");
	fuzz_add_operand(p, HIPEC_TYPE_INT, 0, 0, "i");
	fuzz_add_operand(p, HIPEC_TYPE_INT, 0, 0, "n");
	fuzz_add_operand(p, HIPEC_TYPE_INT, HIPEC_OPERAND_CONST, 0, NULL);
	fuzz_add_operand(p, HIPEC_TYPE_INT, HIPEC_OPERAND_CONST,
			 1 + fuzz_below(&p->rng, 20), NULL);
	fuzz_add_operand(p, HIPEC_TYPE_INT, HIPEC_OPERAND_CONST,
			 FUZZ_LEAST_ARRAY, NULL);
	while (nr--)
		fuzz_gen_operand(p, fuzz_chance(&p->rng, 30) ? HIPEC_TYPE_INT :
				 fuzz_gen_type(&p->rng));
	/* As many fields as there may be; repair makes integers of the rest. */
	for (i = 0; fuzz_chance(&p->rng, 80) && i < HIPEC_MAX_FIELDS; i++)
		fuzz_gen_operand(p, HIPEC_TYPE_FIELD);
}

/**
 * fuzz_generate() - a policy that the verifier accepts
 * @seed:  the same seed gives the same policy
 * @image: gets it, aligned for u64
 * @max:   bytes that it may have; FUZZ_MAX_IMAGE is always enough
 *
 * Return: bytes of the image; 0 if @max is too small.
 */
size_t fuzz_generate(u64 seed, void *image, size_t max)
{
	static __thread struct fuzz_program p;
	static __thread struct fuzz_gen g;
	u32 e, nr;

	fuzz_program_init(&p, seed);
	p.head.nr_lines = fuzz_chance(&p.rng, 30);
	memcpy(p.head.name, "random", sizeof("random"));
	if (fuzz_chance(&p.rng, 70))
		p.head.ghosts = fuzz_below(&p.rng, 400);
	declare(&p);
	for (e = 0; e < ARRAY_SIZE(host_event); e++)
		if (host_event[e].needed)
			fuzz_add_event(&p, host_event[e].number,
				       hipec_vm_event_text(host_event[e].number));
	for (nr = fuzz_below(&p.rng, 7); nr; nr--) {
		e = fuzz_gen_event(&p.rng);
		if (!has_event(&p, e))
			fuzz_add_event(&p, e, fuzz_chance(&p.rng, 30) ? "e" :
									NULL);
	}
	/* Most live long; the others see how a policy ends. */
	g.careless = fuzz_chance(&p.rng, 70) ? 0 : 20;
	for (e = 0; e < p.head.nr_events; e++) {
		nr = fuzz_chance(&p.rng, 15) ? 30 : 12;
		fuzz_gen_block(&g, &p, e, 1 + fuzz_below(&p.rng, nr));
		fuzz_insert(&p, e, 1, g.word, g.nr);
	}
	return fuzz_repair(&p, image, max);
}
