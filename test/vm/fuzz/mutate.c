// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes to policies. Each is small; fuzz_repair() mends what it breaks, so
 * that most results get past the verifier. See mutate.h.
 */
#include "generate.h"
#include "mutate.h"

static u32 random_event(struct fuzz_program *p)
{
	return fuzz_below(&p->rng, p->head.nr_events);
}

/* A command of event @e, counted from 1. */
static u32 random_command(struct fuzz_program *p, u32 e)
{
	return 1 + fuzz_below(&p->rng, p->event[e].nr - 1);
}

static u32 *random_word(struct fuzz_program *p, u32 *e)
{
	*e = random_event(p);
	return &p->word[p->event[*e].first + random_command(p, *e)];
}

static void change_command(struct fuzz_program *p)
{
	u32 e, *w = random_word(p, &e);

	*w = fuzz_random_word(p, e, fuzz_random_op(&p->rng, 0));
}

static void change_op(struct fuzz_program *p)
{
	u32 e, *w = random_word(p, &e);

	*w = (*w & 0xffffff) | (u32)fuzz_random_op(&p->rng, 0) << 24;
}

static void change_operand(struct fuzz_program *p)
{
	u32 e, *w = random_word(p, &e), i = fuzz_below(&p->rng, 3);
	u8 kind = hipec_ops[hipec_word_op(*w)].kind[i];
	u32 shift = 16 - 8 * i, v = fuzz_pick(p, e, kind);

	if (fuzz_has_target(*w) && i)
		*w = (*w & ~0xffffu) | fuzz_pick(p, e, HIPEC_KIND_TARGET);
	else
		*w = (*w & ~(0xffu << shift)) | (v & 0xff) << shift;
}

static void insert_command(struct fuzz_program *p)
{
	u32 e = random_event(p);
	u32 w = fuzz_random_word(p, e, fuzz_random_op(&p->rng, 0));

	fuzz_insert(p, e, random_command(p, e), &w, 1);
}

/* Insert @w, whose jumps count from 1, as commands from @at on. */
static void insert_block(struct fuzz_program *p, u32 e, u32 at, u32 *w, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (fuzz_has_target(w[i]))
			w[i] = (w[i] & ~0xffffu) |
			       ((hipec_word_target(w[i]) + at - 1) & 0xffff);
	fuzz_insert(p, e, at, w, nr);
}

static void insert_statements(struct fuzz_program *p)
{
	static __thread struct fuzz_gen g;
	u32 e = random_event(p), at = random_command(p, e);

	fuzz_gen_block(&g, p, e, 1 + fuzz_below(&p->rng, 3));
	insert_block(p, e, at, g.word, g.nr);
}

static void delete_commands(struct fuzz_program *p)
{
	u32 e = random_event(p);

	fuzz_delete(p, e, random_command(p, e), 1 + fuzz_below(&p->rng, 4));
}

/* Commands @from to @from + @nr of event @e of @source, again in @p. */
static void copy_commands(struct fuzz_program *p, u32 to,
			  const struct fuzz_program *source, u32 e, u32 from,
			  u32 nr)
{
	u32 w[64], i;

	if (nr > source->event[e].nr - from)
		nr = source->event[e].nr - from;
	if (nr > ARRAY_SIZE(w))
		nr = ARRAY_SIZE(w);
	memcpy(w, &source->word[source->event[e].first + from],
	       nr * sizeof(*w));
	for (i = 0; i < nr; i++)
		if (fuzz_has_target(w[i]))
			w[i] = (w[i] & ~0xffffu) |
			       ((hipec_word_target(w[i]) - from + 1) & 0xffff);
	insert_block(p, to, random_command(p, to), w, nr);
}

static void duplicate_commands(struct fuzz_program *p)
{
	u32 e = random_event(p);

	copy_commands(p, fuzz_chance(&p->rng, 70) ? e : random_event(p), p, e,
		      random_command(p, e), 1 + fuzz_below(&p->rng, 6));
}

static void swap_commands(struct fuzz_program *p)
{
	u32 e = random_event(p), first = p->event[e].first;
	u32 i = first + random_command(p, e), j = first + random_command(p, e);
	u32 w = p->word[i];

	p->word[i] = p->word[j];
	p->word[j] = w;
}

static void add_operand(struct fuzz_program *p)
{
	if (p->head.nr_operands < HIPEC_SLOT_SYSTEM)
		fuzz_gen_operand(p, fuzz_gen_type(&p->rng));
}

/* One byte of one row, whatever it means; names and lengths are mended. */
static void change_row(struct fuzz_program *p)
{
	u32 i = fuzz_below(&p->rng, p->head.nr_operands);
	u8 *row = (u8 *)&p->operand[i];

	row[fuzz_below(&p->rng, sizeof(*p->operand))] =
		fuzz_chance(&p->rng, 70) ? fuzz_below(&p->rng, 8) :
					   fuzz_random(&p->rng);
}

static void change_type(struct fuzz_program *p)
{
	u32 nr = p->head.nr_operands, i = fuzz_below(&p->rng, nr);

	if (i < HIPEC_SLOT_POLICY || nr == HIPEC_SLOT_SYSTEM)
		return;
	fuzz_gen_operand(p, fuzz_gen_type(&p->rng));
	p->operand[i] = p->operand[--p->head.nr_operands];
}

/* What a number at load is, or how long an array. */
static void change_value(struct fuzz_program *p)
{
	struct hipec_image_operand *o;
	u32 tries;

	for (tries = 0; tries < 8; tries++) {
		o = &p->operand[fuzz_below(&p->rng, p->head.nr_operands)];
		if (!o->value && o->type != HIPEC_TYPE_INT)
			continue;
		o->value = o->type == HIPEC_TYPE_INT ?
			   fuzz_gen_value(&p->rng) :
			   1ll << fuzz_below(&p->rng,
					     fuzz_chance(&p->rng, 95) ? 6 : 24);
		return;
	}
}

static void delete_operand(struct fuzz_program *p)
{
	if (p->head.nr_operands > HIPEC_SLOT_POLICY)
		p->head.nr_operands--;
}

static void add_event(struct fuzz_program *p)
{
	static __thread struct fuzz_gen g;
	u32 e = p->head.nr_events;

	if (!fuzz_add_event(p, fuzz_gen_event(&p->rng), NULL))
		return;
	fuzz_gen_block(&g, p, e, 1 + fuzz_below(&p->rng, 6));
	fuzz_insert(p, e, 1, g.word, g.nr);
}

static void delete_event(struct fuzz_program *p)
{
	if (p->head.nr_events > 1)
		fuzz_delete_event(p, random_event(p));
}

static void change_event(struct fuzz_program *p)
{
	p->event[random_event(p)].number = fuzz_gen_event(&p->rng);
}

/* One byte of what the header says beyond the counts. */
static void change_header(struct fuzz_program *p)
{
	const struct hipec_image old = p->head;
	u8 *head = (u8 *)&p->head;

	head[fuzz_below(&p->rng, sizeof(p->head))] = fuzz_random(&p->rng);
	p->head.magic = old.magic;
	p->head.version = old.version;
	p->head.header_size = old.header_size;
	p->head.nr_operands = old.nr_operands;
	p->head.nr_events = old.nr_events;
	p->head.nr_words = old.nr_words;
	p->head.strings_size = old.strings_size;
}

static void change_ghosts(struct fuzz_program *p)
{
	p->head.ghosts = fuzz_chance(&p->rng, 80) ?
			 fuzz_below(&p->rng, 300) : HIPEC_MAX_GHOSTS;
}

static void change_lines(struct fuzz_program *p)
{
	p->head.nr_lines = !p->head.nr_lines;
}

/* Often the first ones, which change what runs. */
static void (*const changes[])(struct fuzz_program *p) = {
	change_command, change_op, change_operand, change_operand,
	insert_command, insert_statements, insert_statements, delete_commands,
	delete_commands, duplicate_commands, swap_commands, change_value,
	change_value, add_operand, change_type, change_row, delete_operand,
	add_event, delete_event, change_event, change_header, change_ghosts,
	change_lines,
};

/**
 * fuzz_mutate() - change a policy
 * @seed:  what to change
 * @image: policy, aligned for u64; one that cannot be parsed is replaced by a
 *         new one. Gets the result.
 * @size:  its bytes
 * @max:   bytes that it may have
 *
 * Return: bytes of the result; 0 if there is no room.
 */
size_t fuzz_mutate(u64 seed, void *image, size_t size, size_t max)
{
	static __thread struct fuzz_program p;
	u32 i, nr;

	p.rng.state = seed;
	if (!fuzz_decode(&p, image, size))
		return fuzz_generate(seed, image, max);
	nr = fuzz_chance(&p.rng, 60) ? 1 : 2 + fuzz_below(&p.rng, 5);
	for (i = 0; i < nr; i++)
		changes[fuzz_below(&p.rng, ARRAY_SIZE(changes))](&p);
	/* The verifier shall see what is almost right, too. */
	if (fuzz_chance(&p.rng, 5))
		return fuzz_break(seed, image, size, max);
	return fuzz_repair(&p, image, max);
}

/* A byte that is near its neighbours in meaning: off by one, or small. */
static void break_byte(struct fuzz_rng *r, u8 *byte)
{
	switch (fuzz_below(r, 3)) {
	case 0:
		*byte += fuzz_chance(r, 50) ? 1 : -1;
		break;
	case 1:
		*byte = fuzz_below(r, 32);
		break;
	default:
		*byte = fuzz_random(r);
	}
}

/**
 * fuzz_break() - change one byte of a policy and mend nothing
 * @seed:  what to change
 * @image: policy, aligned for u64; gets the result
 * @size:  its bytes
 * @max:   bytes that it may have
 *
 * Of its words, or now and then of its operands or events: the verifier's own
 * ground, and never far from what it accepts.
 *
 * Return: bytes of the result; 0 if there is no room or @image no policy.
 */
size_t fuzz_break(u64 seed, void *image, size_t size, size_t max)
{
	static __thread struct fuzz_program p;
	u32 e, *word;
	u8 *bytes;

	p.rng.state = seed;
	if (!fuzz_decode(&p, image, size))
		return 0;
	switch (fuzz_below(&p.rng, 8)) {
	case 0:
		bytes = (u8 *)&p.operand[fuzz_below(&p.rng, p.head.nr_operands)];
		break_byte(&p.rng, bytes + fuzz_below(&p.rng, sizeof(*p.operand)));
		break;
	case 1:
		bytes = (u8 *)&p.event[random_event(&p)];
		break_byte(&p.rng, bytes + fuzz_below(&p.rng, sizeof(*p.event)));
		break;
	case 2:
		/* The last command of an event, which must not fall through. */
		e = random_event(&p);
		word = &p.word[p.event[e].first + p.event[e].nr - 1];
		*word = fuzz_random_word(&p, e, fuzz_random_op(&p.rng, 0));
		break;
	case 3:
		word = random_word(&p, &e);
		*word = (u32)HIPEC_OP_CALL << 24 |
			p.event[random_event(&p)].number << 16;
		break;
	default:
		word = random_word(&p, &e);
		break_byte(&p.rng, (u8 *)word + fuzz_below(&p.rng, 4));
	}
	return fuzz_encode(&p, image, max);
}

/**
 * fuzz_cross() - a policy with commands of another
 * @seed:   what to take
 * @a:      policy, aligned for u64; if either cannot be parsed, a new one is made
 * @a_size: its bytes
 * @b:      policy that commands come from, aligned for u64
 * @b_size: its bytes
 * @image:  gets the result, aligned for u64
 * @max:    bytes that it may have
 *
 * Return: bytes of the result; 0 if there is no room.
 */
size_t fuzz_cross(u64 seed, const void *a, size_t a_size, const void *b,
		  size_t b_size, void *image, size_t max)
{
	static __thread struct fuzz_program p, from;
	u32 e, i, nr;

	p.rng.state = seed;
	if (!fuzz_decode(&p, a, a_size) || !fuzz_decode(&from, b, b_size))
		return fuzz_generate(seed, image, max);
	from.rng.state = seed + 1;
	nr = 1 + fuzz_below(&p.rng, 3);
	for (i = 0; i < nr; i++) {
		e = random_event(&from);
		copy_commands(&p, random_event(&p), &from, e,
			      random_command(&from, e),
			      1 + fuzz_below(&p.rng, 24));
	}
	return fuzz_repair(&p, image, max);
}
