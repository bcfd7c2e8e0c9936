// SPDX-License-Identifier: GPL-2.0-only
/*
 * A policy that can be edited. See program.h. What an operand may be follows
 * from its kind in the command table; what is still wrong is mended where the
 * verifier says, so a new row of the table needs nothing here.
 */
#include "program.h"

#define MAX_REPAIRS 4096	/* of one program; far more than any needs */

/* Whether operand kind @kind takes slots of type @type. */
bool fuzz_kind_takes(u8 kind, u8 type)
{
	return type < 32 && hipec_vm_kind_types(kind) >> type & 1;
}

/* Whether a command writes the slot in an operand of kind @kind. */
bool fuzz_kind_writes(u8 kind)
{
	return hipec_vm_kind_flags(kind) & HIPEC_KINDF_WRITE;
}

/* A program without events: _free_queue, _free_count, the empty name. */
void fuzz_program_init(struct fuzz_program *p, u64 seed)
{
	memset(p, 0, sizeof(*p));
	p->rng.state = seed;
	p->head = (struct hipec_image){
		.magic = HIPEC_IMAGE_MAGIC, .version = HIPEC_IMAGE_VERSION,
		.header_size = sizeof(p->head), .strings_size = 1,
	};
	fuzz_add_operand(p, HIPEC_TYPE_QUEUE, 0, 0, "_free_queue");
	fuzz_add_operand(p, HIPEC_TYPE_INT, 0, 0, "_free_count");
}

/**
 * fuzz_decode() - image -> program
 * @p:     filled but for its rng
 * @image: any bytes, aligned for u64
 * @size:  bytes
 *
 * Return: false if it cannot be parsed or is larger than a program may be.
 */
bool fuzz_decode(struct fuzz_program *p, const void *image, size_t size)
{
	struct hipec_verify_error err;
	struct hipec_policy from;

	if (hipec_image_parse(image, size, &from, &err) ||
	    from.image->nr_words > FUZZ_MAX_WORDS ||
	    from.image->strings_size > FUZZ_MAX_STRINGS)
		return false;
	p->head = *from.image;
	memcpy(p->operand, from.operand,
	       p->head.nr_operands * sizeof(*p->operand));
	memcpy(p->event, from.event, p->head.nr_events * sizeof(*p->event));
	memcpy(p->word, from.words, p->head.nr_words * sizeof(*p->word));
	memcpy(p->strings, from.strings, p->head.strings_size);
	return true;
}

/* Append @n bytes if there is room; the place is advanced in any case. */
static void *append(void *image, size_t max, size_t *size, const void *bytes,
		    size_t n)
{
	void *to = (char *)image + *size;

	*size += n;
	if (*size <= max && bytes)
		memcpy(to, bytes, n);
	return *size <= max ? to : NULL;
}

/**
 * fuzz_encode() - program -> image
 * @p:     program, sound or not
 * @image: gets the image, aligned for u64
 * @max:   bytes that it may have
 *
 * With a line table, line i of it is i + 1.
 *
 * Return: bytes; 0 if there is no room.
 */
size_t fuzz_encode(const struct fuzz_program *p, void *image, size_t max)
{
	const struct hipec_image *head = &p->head;
	struct hipec_image *im;
	size_t size = 0;
	u32 *lines, i;

	im = append(image, max, &size, head, sizeof(*head));
	append(image, max, &size, p->operand,
	       head->nr_operands * sizeof(*p->operand));
	append(image, max, &size, p->event,
	       head->nr_events * sizeof(*p->event));
	append(image, max, &size, p->word, head->nr_words * sizeof(u32));
	if (head->nr_lines) {
		lines = append(image, max, &size, NULL,
			       head->nr_words * sizeof(u32));
		for (i = 0; lines && i < head->nr_words; i++)
			lines[i] = i + 1;
	}
	append(image, max, &size, p->strings, head->strings_size);
	if (size > max)
		return 0;
	im->image_size = size;
	im->nr_lines = head->nr_lines ? head->nr_words : 0;
	return size;
}

/* Offset of name @s, which is added; 0, the empty name, if there is no room. */
static u32 add_string(struct fuzz_program *p, const char *s)
{
	u32 at = p->head.strings_size, n = s ? strlen(s) + 1 : 0;

	if (n < 2 || at + n > FUZZ_MAX_STRINGS)
		return 0;
	memcpy(p->strings + at, s, n);
	p->head.strings_size += n;
	return at;
}

/* Add a slot; NULL if there are as many as there may be. */
struct hipec_image_operand *fuzz_add_operand(struct fuzz_program *p, u8 type,
					     u8 flags, s64 value,
					     const char *name)
{
	struct hipec_image_operand *o = &p->operand[p->head.nr_operands];

	if (p->head.nr_operands == HIPEC_SLOT_SYSTEM)
		return NULL;
	p->head.nr_operands++;
	*o = (struct hipec_image_operand){
		.type = type, .flags = flags, .value = value,
		.name = add_string(p, name),
	};
	return o;
}

/* A slot of type @type, -1 if there is none. */
int fuzz_find_slot(struct fuzz_program *p, u8 type)
{
	u8 slot[HIPEC_SLOT_SYSTEM];
	u32 i, nr = 0;

	for (i = HIPEC_SLOT_POLICY; i < p->head.nr_operands; i++)
		if (p->operand[i].type == type)
			slot[nr++] = i;
	return nr ? slot[fuzz_below(&p->rng, nr)] : -1;
}

/* Add an event that only returns, behind the others. */
bool fuzz_add_event(struct fuzz_program *p, u32 number, const char *name)
{
	u32 first = p->head.nr_words;

	if (p->head.nr_events == HIPEC_NR_EVENTS || first + 2 > FUZZ_MAX_WORDS)
		return false;
	p->event[p->head.nr_events++] = (struct hipec_image_event){
		.number = number, .name = add_string(p, name),
		.first = first, .nr = 2,
	};
	p->word[first] = HIPEC_EVENT_MAGIC;
	p->word[first + 1] = (u32)HIPEC_OP_RETURN << 24;
	p->head.nr_words += 2;
	return true;
}

/* Move the words of events behind row @e, and the rows with them. */
static void move_words(struct fuzz_program *p, u32 e, u32 from, u32 to)
{
	u32 i;

	memmove(p->word + to, p->word + from,
		(p->head.nr_words - from) * sizeof(u32));
	p->head.nr_words += to - from;
	for (i = e + 1; i < p->head.nr_events; i++)
		p->event[i].first += to - from;
}

void fuzz_delete_event(struct fuzz_program *p, u32 e)
{
	u32 first = p->event[e].first;

	move_words(p, e, first + p->event[e].nr, first);
	p->head.nr_events--;
	memmove(p->event + e, p->event + e + 1,
		(p->head.nr_events - e) * sizeof(*p->event));
}

bool fuzz_has_target(u32 word)
{
	return hipec_ops[hipec_word_op(word)].flags & HIPEC_OPF_JUMP;
}

/* Jumps of event @e to a command behind @at go @by further. */
static void shift_targets(struct fuzz_program *p, u32 e, u32 at, int by)
{
	u32 *w = p->word + p->event[e].first, i, target;

	for (i = 1; i < p->event[e].nr; i++) {
		target = hipec_word_target(w[i]);
		if (!fuzz_has_target(w[i]) || target <= at)
			continue;
		/* A target that was deleted becomes what follows it. */
		target = (int)target + by < (int)at ? at : target + by;
		w[i] = (w[i] & ~0xffffu) | (target & 0xffff);
	}
}

/* Put @nr commands before command @at; jumps to @at reach the new ones. */
bool fuzz_insert(struct fuzz_program *p, u32 e, u32 at, const u32 *words,
		 u32 nr)
{
	u32 from = p->event[e].first + at;

	if (p->head.nr_words + nr > FUZZ_MAX_WORDS)
		return false;
	shift_targets(p, e, at, nr);
	move_words(p, e, from, from + nr);
	p->event[e].nr += nr;
	memcpy(p->word + from, words, nr * sizeof(u32));
	return true;
}

/* Delete @nr commands from command @at, but never all of an event. */
void fuzz_delete(struct fuzz_program *p, u32 e, u32 at, u32 nr)
{
	u32 from = p->event[e].first + at;

	if (at + nr > p->event[e].nr)
		nr = p->event[e].nr - at;
	if (nr + 2 > p->event[e].nr)
		nr = p->event[e].nr - 2;
	move_words(p, e, from + nr, from);
	p->event[e].nr -= nr;
	shift_targets(p, e, at, -(int)nr);
}

/* A row of the table that has all of @flags; there is one. */
u8 fuzz_random_op(struct fuzz_rng *r, u8 flags)
{
	u8 op;

	do
		op = fuzz_random(r) >> 56;
	while (!hipec_ops[op].word || (hipec_ops[op].flags & flags) != flags);
	return op;
}

/* A selector of @kind; -1 if it has none. */
static int pick_selector(struct fuzz_rng *r, u8 kind)
{
	u8 code[256];
	u32 i, nr = 0;

	for (i = 0; i < 64; i++)
		if (hipec_vm_selector(kind, i))
			code[nr++] = i;
	return nr ? code[fuzz_below(r, nr)] : -1;
}

/* A slot that @kind takes; -1 if there is none. */
static int pick_slot(struct fuzz_program *p, u8 kind)
{
	const u8 fixed = HIPEC_OPERAND_CONST | HIPEC_OPERAND_SHARED;
	bool writes = fuzz_kind_writes(kind);
	u8 slot[HIPEC_NR_SLOTS];
	u32 i, nr = 0;

	for (i = 0; i < p->head.nr_operands; i++)
		if (fuzz_kind_takes(kind, p->operand[i].type) &&
		    !(writes && p->operand[i].flags & fixed))
			slot[nr++] = i;
	if (fuzz_kind_takes(kind, HIPEC_TYPE_INT) && !writes &&
	    fuzz_chance(&p->rng, 20))
		for (i = HIPEC_SLOT_SYSTEM; i < HIPEC_NR_SLOTS; i++)
			if (hipec_system_slots[i - HIPEC_SLOT_SYSTEM].name)
				slot[nr++] = i;
	return nr ? slot[fuzz_below(&p->rng, nr)] : -1;
}

/**
 * fuzz_pick() - what an operand may be
 * @p:    program
 * @e:    its event; a call goes to a later row, so that calls form no cycle
 * @kind: operand kind
 *
 * Return: a byte, or 16 bits for TARGET; most often the verifier accepts it.
 */
u32 fuzz_pick(struct fuzz_program *p, u32 e, u8 kind)
{
	u32 nr_events = p->head.nr_events;
	int v;

	switch (kind) {
	case HIPEC_KIND_NONE:
		return 0;
	case HIPEC_KIND_TARGET:
		return 1 + fuzz_below(&p->rng, p->event[e].nr - 1);
	case HIPEC_KIND_EVENT:
		if (e + 1 < nr_events)
			e += 1 + fuzz_below(&p->rng, nr_events - e - 1);
		return p->event[e].number;
	}
	v = pick_selector(&p->rng, kind);
	if (v < 0)
		v = pick_slot(p, kind);
	return v < 0 ? 0 : v;
}

/* A command @op of event @e, its operands by their kinds. */
u32 fuzz_random_word(struct fuzz_program *p, u32 e, u8 op)
{
	const u8 *kind = hipec_ops[op].kind;
	u32 i, w = (u32)op << 24;
	bool unary = false;

	/* Last operand first: a selector there may leave out the one before. */
	for (i = 3; i--;) {
		if (kind[i] == HIPEC_KIND_TARGET_LO ||
		    (unary && kind[i] == HIPEC_KIND_INT_OPT))
			continue;
		if (kind[i] == HIPEC_KIND_TARGET) {
			w |= fuzz_pick(p, e, kind[i]);
			continue;
		}
		w |= fuzz_pick(p, e, kind[i]) << (16 - 8 * i);
		unary |= hipec_vm_selector_unary(kind[i], w >> (16 - 8 * i));
	}
	return w;
}

static u32 row_of(const struct fuzz_program *p, u32 number)
{
	u32 e;

	for (e = 0; e + 1 < p->head.nr_events; e++)
		if (p->event[e].number == number)
			break;
	return e;
}

/* Another operand where the verifier says that it is wrong. */
static void repair_operand(struct fuzz_program *p, u32 e, u32 *w, u32 operand,
			   u32 tries)
{
	u8 kind = hipec_ops[hipec_word_op(*w)].kind[(operand - 1) % 3];
	u32 shift = 24 - 8 * operand;
	u32 v;

	if (kind == HIPEC_KIND_TARGET) {
		*w = (*w & ~0xffffu) | fuzz_pick(p, e, kind);
		return;
	}
	/* The kind may want more than its type; a zero or chance finds it. */
	v = tries % 4 < 2 ? fuzz_pick(p, e, kind) :
	    tries % 4 == 2 ? 0 : fuzz_below(&p->rng, 256);
	*w = (*w & ~(0xffu << shift)) | (v & 0xff) << shift;
}

static void repair_command(struct fuzz_program *p,
			   const struct hipec_verify_error *err, u32 tries)
{
	static const u32 stop = (u32)HIPEC_OP_RETURN << 24;
	u32 e = row_of(p, err->event);
	u32 *w = &p->word[p->event[e].first + err->command];

	switch (err->kind) {
	case HIPEC_VERIFY_FALL:
		if (tries || !fuzz_insert(p, e, p->event[e].nr, &stop, 1))
			*w = stop;
		return;
	case HIPEC_VERIFY_OPERAND:
	case HIPEC_VERIFY_TARGET:
		if (tries % 16 < 12 && err->operand)
			repair_operand(p, e, w, err->operand, tries);
		else
			*w = fuzz_random_word(p, e, fuzz_random_op(&p->rng, 0));
		return;
	case HIPEC_VERIFY_OPCODE:
		*w = (*w & 0xffffff) | (u32)fuzz_random_op(&p->rng, 0) << 24;
		return;
	case HIPEC_VERIFY_CALL_CYCLE:
	case HIPEC_VERIFY_CALL_DEPTH:
		do
			*w = fuzz_random_word(p, e, fuzz_random_op(&p->rng, 0));
		while (hipec_ops[hipec_word_op(*w)].kind[0] == HIPEC_KIND_EVENT);
		return;
	default:
		*w = stop;
	}
}

/* What is wrong with the image as a whole. */
static bool repair_image(struct fuzz_program *p,
			 const struct hipec_verify_error *err)
{
	struct hipec_image old = p->head;

	switch (err->kind) {
	case HIPEC_VERIFY_OPERAND_DECL:
	case HIPEC_VERIFY_STRING:
	case HIPEC_VERIFY_TOO_MUCH:
		if (err->got >= p->head.nr_operands)
			return false;
		p->operand[err->got] = (struct hipec_image_operand){
			.type = HIPEC_TYPE_INT,
		};
		p->operand[0].type = HIPEC_TYPE_QUEUE;
		return true;
	case HIPEC_VERIFY_EVENT_DECL:
		if (err->got >= p->head.nr_events || p->head.nr_events == 1)
			return false;
		fuzz_delete_event(p, err->got);
		return true;
	case HIPEC_VERIFY_EVENT_MISSING:
		return fuzz_add_event(p, err->got, NULL);
	case HIPEC_VERIFY_TIMER:
		p->head.timer_ms = err->got ? 0 : HIPEC_MIN_TIMER;
		return true;
	case HIPEC_VERIFY_NEEDS:
		p->head.needs |= err->got;
		return true;
	case HIPEC_VERIFY_HEADER:
		p->head = (struct hipec_image){
			.magic = old.magic, .version = old.version,
			.header_size = old.header_size,
			.nr_operands = old.nr_operands,
			.nr_events = old.nr_events, .nr_words = old.nr_words,
			.strings_size = old.strings_size,
		};
		return memcmp(&old, &p->head, sizeof(old));
	default:
		return false;
	}
}

/**
 * fuzz_repair() - make the verifier accept a program
 * @p:     program
 * @image: gets its image, aligned for u64
 * @max:   bytes that it may have
 *
 * Return: bytes of the image; 0 if there is no room or it cannot be mended.
 */
size_t fuzz_repair(struct fuzz_program *p, void *image, size_t max)
{
	struct hipec_verify_error err, last = { 0 };
	struct hipec_policy policy;
	u32 i, tries = 0;
	size_t size;

	for (i = 0; i < MAX_REPAIRS; i++) {
		size = fuzz_encode(p, image, max);
		if (!size)
			return 0;
		if (!hipec_image_parse(image, size, &policy, &err) &&
		    !hipec_verify(&policy, &err))
			return size;
		tries = err.kind == last.kind && err.event == last.event &&
			err.command == last.command &&
			err.operand == last.operand ? tries + 1 : 0;
		last = err;
		if (err.kind >= HIPEC_VERIFY_OPCODE)
			repair_command(p, &err, tries);
		else if (!repair_image(p, &err))
			return 0;
	}
	return 0;
}
