// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes -> struct hipec_policy. Trusts no length, offset or name; looks at the
 * declarations but not at commands, which are verify.c's.
 */
#include "vm.h"

#define NEED_BIT(name, bit, ...) | (bit)
#define KNOWN_NEEDS (0u HIPEC_NEEDS(NEED_BIT))

static int refuse_image(struct hipec_verify_error *err, u32 kind, u32 got)
{
	*err = (struct hipec_verify_error){ .kind = kind, .got = got };
	return -EINVAL;
}

static bool string_ok(const struct hipec_policy *p, u32 offset)
{
	/* The section ends with a zero, so any offset inside it will do. */
	return offset < p->image->strings_size;
}

/* Names go to logs and terminals: no control characters, no bytes above 7e. */
static bool is_printable(const char *bytes, u32 size)
{
	while (size--) {
		u8 c = *bytes++;

		if (c && (c < 0x20 || c > 0x7e))
			return false;
	}
	return true;
}

static int parse_header(const struct hipec_image *im, size_t size,
			struct hipec_verify_error *err)
{
	u64 want;

	if (size < sizeof(*im))
		return refuse_image(err, HIPEC_VERIFY_SHORT, size);
	if (im->magic != HIPEC_IMAGE_MAGIC)
		return refuse_image(err, HIPEC_VERIFY_MAGIC, im->magic);
	if (im->version != HIPEC_IMAGE_VERSION ||
	    im->header_size != sizeof(*im))
		return refuse_image(err, HIPEC_VERIFY_VERSION, im->version);
	if (size < im->image_size)
		return refuse_image(err, HIPEC_VERIFY_SHORT, size);
	if (im->flags || im->needs & ~KNOWN_NEEDS ||
	    im->ghosts > HIPEC_MAX_GHOSTS ||
	    im->nr_operands < HIPEC_SLOT_POLICY ||
	    im->nr_operands > HIPEC_SLOT_SYSTEM ||
	    !im->nr_events || im->nr_events > HIPEC_NR_EVENTS ||
	    !im->nr_words || im->nr_words > HIPEC_MAX_WORDS ||
	    !im->strings_size || im->strings_size > HIPEC_MAX_STRINGS ||
	    (im->nr_lines && im->nr_lines != im->nr_words) ||
	    im->name[HIPEC_NAME_MAX - 1] ||
	    !is_printable(im->name, sizeof(im->name)))
		return refuse_image(err, HIPEC_VERIFY_HEADER, 0);
	want = sizeof(*im) +
	       (u64)im->nr_operands * sizeof(struct hipec_image_operand) +
	       (u64)im->nr_events * sizeof(struct hipec_image_event) +
	       ((u64)im->nr_words + im->nr_lines) * sizeof(u32) +
	       im->strings_size;
	if (want != im->image_size || size != im->image_size)
		return refuse_image(err, HIPEC_VERIFY_SECTION, size);
	return 0;
}

static bool is_type(const struct hipec_policy *p, s64 slot, u8 type)
{
	return slot >= 0 && slot < p->image->nr_operands &&
	       p->operand[slot].type == type;
}

/* Flags that an operand of a type may have. */
static u8 flags_of(u8 type)
{
	switch (type) {
	case HIPEC_TYPE_INT:
		return HIPEC_OPERAND_PARAM | HIPEC_OPERAND_CONST |
		       HIPEC_OPERAND_COUNTER;
	case HIPEC_TYPE_PAGE:
		return HIPEC_OPERAND_CONST;
	case HIPEC_TYPE_INTS:
		return HIPEC_OPERAND_SHARED;
	}
	return 0;
}

static bool value_ok(const struct hipec_policy *p,
		     const struct hipec_image_operand *o)
{
	switch (o->type) {
	case HIPEC_TYPE_INT:
		return true;
	case HIPEC_TYPE_INTS:
		return o->value > 0 && o->value <= HIPEC_MAX_ELEMENTS;
	case HIPEC_TYPE_QUEUES:
		return o->value > 0 && o->value <= HIPEC_MAX_QUEUES;
	case HIPEC_TYPE_QUEUE_REF:
		return is_type(p, o->value, HIPEC_TYPE_QUEUES);
	}
	return !o->value;
}

/* A param in its range, if it has one; what has none says 0 to 0. */
static bool range_ok(const struct hipec_image_operand *o)
{
	if (!hipec_operand_ranged(o))
		return true;
	return o->flags & HIPEC_OPERAND_PARAM && o->low < o->high &&
	       o->value >= o->low && o->value <= o->high;
}

static bool declaration_ok(const struct hipec_policy *p,
			   const struct hipec_image_operand *o)
{
	bool queue = o->type == HIPEC_TYPE_QUEUE ||
		     o->type == HIPEC_TYPE_QUEUES;

	if (o->type < HIPEC_TYPE_INT || o->type > HIPEC_TYPE_FIELD ||
	    o->flags & ~flags_of(o->type))
		return false;
	if (o->key && !(queue && is_type(p, o->key, HIPEC_TYPE_FIELD)))
		return false;
	return value_ok(p, o) && range_ok(o);
}

/* Add what operand @o, a good one, asks for. */
static void count_operand(struct hipec_policy *p, const struct hipec_image_operand *o,
			  u64 *elements)
{
	switch (o->type) {
	case HIPEC_TYPE_QUEUE:
		p->nr_queues++;
		break;
	case HIPEC_TYPE_QUEUES:
		p->nr_queues += o->value;
		p->nr_arrays++;
		break;
	case HIPEC_TYPE_INTS:
		*elements += o->value;
		p->nr_arrays++;
		if (o->flags & HIPEC_OPERAND_SHARED)
			p->shared_size += hipec_shared_bytes(o->value);
		else
			p->nr_elements += o->value;
		break;
	case HIPEC_TYPE_FIELD:
		p->nr_fields++;
		break;
	}
	p->ordered |= o->key;
}

static int parse_operands(struct hipec_policy *p,
			  struct hipec_verify_error *err)
{
	const struct hipec_image_operand *o = p->operand;
	u64 elements = 0;
	u32 i;

	if (o[HIPEC_SLOT_FREE_QUEUE].type != HIPEC_TYPE_QUEUE ||
	    o[HIPEC_SLOT_FREE_QUEUE].key ||
	    o[HIPEC_SLOT_FREE_COUNT].type != HIPEC_TYPE_INT)
		return refuse_image(err, HIPEC_VERIFY_OPERAND_DECL, 0);
	p->nr_queues = HIPEC_QUEUE_POLICY - 1; /* _free_queue is declared */
	for (i = 0; i < p->image->nr_operands; i++, o++) {
		if (!string_ok(p, o->name))
			return refuse_image(err, HIPEC_VERIFY_STRING, i);
		if (!declaration_ok(p, o))
			return refuse_image(err, HIPEC_VERIFY_OPERAND_DECL, i);
		count_operand(p, o, &elements);
		if (p->nr_queues > HIPEC_MAX_QUEUES ||
		    p->nr_fields > HIPEC_MAX_FIELDS ||
		    elements > HIPEC_MAX_ELEMENTS)
			return refuse_image(err, HIPEC_VERIFY_TOO_MUCH, i);
	}
	return 0;
}

static int parse_events(struct hipec_policy *p, struct hipec_verify_error *err)
{
	const struct hipec_image_event *e = p->event;
	u32 i, end = 0;

	/* Each event's words begin where the last one's ended. */
	for (i = 0; i < p->image->nr_events; i++, e++) {
		bool known = e->number < HIPEC_NR_EVENTS &&
			     (e->number >= HIPEC_EVENT_USER ||
			      hipec_vm_event_text(e->number));

		if (!string_ok(p, e->name))
			return refuse_image(err, HIPEC_VERIFY_STRING, i);
		if (!known || p->index[e->number] ||
		    e->first != end || e->nr < 2 ||
		    e->nr > p->image->nr_words - end)
			return refuse_image(err, HIPEC_VERIFY_EVENT_DECL, i);
		end += e->nr;
		if (p->words[e->first] != HIPEC_EVENT_MAGIC)
			return refuse_image(err, HIPEC_VERIFY_EVENT_MAGIC, i);
		p->index[e->number] = i + 1;
	}
	if (end != p->image->nr_words)
		return refuse_image(err, HIPEC_VERIFY_EVENT_DECL, i);
#define X(name, code, text, need, when)                                 \
	if ((need) && !p->index[code])                                  \
		return refuse_image(err, HIPEC_VERIFY_EVENT_MISSING, code);
	HIPEC_EVENTS(X)
#undef X
	if (p->index[HIPEC_EVENT_TIMER] ?
	    p->image->timer_ms < HIPEC_MIN_TIMER : p->image->timer_ms)
		return refuse_image(err, HIPEC_VERIFY_TIMER, p->image->timer_ms);
	return 0;
}

/**
 * hipec_image_parse() - find the sections of an image and check declarations
 * @bytes: the image, aligned for u64; must outlive @p
 * @size:  bytes
 * @p:     filled
 * @err:   filled on refusal
 *
 * Return: 0; -EINVAL with @err set.
 */
int hipec_image_parse(const void *bytes, size_t size, struct hipec_policy *p,
		      struct hipec_verify_error *err)
{
	const struct hipec_image *im = bytes;
	int ret;

	memset(p, 0, sizeof(*p));
	memset(err, 0, sizeof(*err));
	ret = parse_header(im, size, err);
	if (ret)
		return ret;
	p->image = im;
	p->operand = (const void *)(im + 1);
	p->event = (const void *)(p->operand + im->nr_operands);
	p->words = (const void *)(p->event + im->nr_events);
	p->lines = im->nr_lines ? p->words + im->nr_words : NULL;
	p->strings = (const char *)(p->words + im->nr_words + im->nr_lines);
	if (p->strings[im->strings_size - 1] ||
	    !is_printable(p->strings, im->strings_size))
		return refuse_image(err, HIPEC_VERIFY_STRING, 0);
	ret = parse_operands(p, err);
	if (ret)
		return ret;
	return parse_events(p, err);
}

/* A name of a parsed image, by its offset. */
const char *hipec_image_policy_name(const struct hipec_policy *p, u32 offset)
{
	return p->strings + offset;
}

/* Name of event @number, which exists. */
const char *hipec_image_event_name(const struct hipec_policy *p, u32 number)
{
	return p->strings + p->event[p->index[number] - 1].name;
}
