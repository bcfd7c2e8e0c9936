// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policies and machines for the KUnit suites. See kunit_machine.h.
 */
#include "kunit_machine.h"

#define KIT_WORDS 1024

/* Operands have no name, events are all called "event". */
static const char kit_strings[] = "\0event";
#define KIT_EVENT_NAME 1

#define KIT_FIRST_LINE 100

/* A policy with room for @max_words words. */
struct hipec_kit *hipec_kit_new_long(struct kunit *test, u32 max_words)
{
	struct hipec_kit *kit = kunit_kzalloc(test, sizeof(*kit), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, kit);
	kit->test = test;
	kit->max_words = max_words;
	kit->words = kunit_kmalloc(test, max_words * sizeof(u32), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, kit->words);
	hipec_kit_queue(kit);	/* _free_queue */
	hipec_kit_int(kit, 0);	/* _free_count */
	return kit;
}

/* A policy without events; the operands that every policy has are declared. */
struct hipec_kit *hipec_kit_new(struct kunit *test)
{
	return hipec_kit_new_long(test, KIT_WORDS);
}

/* Declare an operand; its slot. */
u8 hipec_kit_slot(struct hipec_kit *kit, u8 type, u8 flags, s64 value)
{
	KUNIT_ASSERT_TRUE(kit->test, kit->nr_operands < HIPEC_SLOT_SYSTEM);
	kit->operand[kit->nr_operands] = (struct hipec_image_operand){
		.type = type, .flags = flags, .value = value,
	};
	return kit->nr_operands++;
}

static void append(struct hipec_kit *kit, u32 word)
{
	KUNIT_ASSERT_TRUE(kit->test, kit->nr_words < kit->max_words);
	kit->words[kit->nr_words++] = word;
	kit->event[kit->nr_events - 1].nr++;
}

/* Begin event @number; what is appended from here on is its. */
void hipec_kit_event(struct hipec_kit *kit, u32 number)
{
	KUNIT_ASSERT_TRUE(kit->test, kit->nr_events < HIPEC_NR_EVENTS);
	kit->event[kit->nr_events++] = (struct hipec_image_event){
		.number = number, .name = KIT_EVENT_NAME,
		.first = kit->nr_words,
	};
	append(kit, HIPEC_EVENT_MAGIC);
}

/* Append any command, right or wrong; its number in its event. */
u32 hipec_kit_op(struct hipec_kit *kit, u8 op, u8 a, u8 b, u8 c)
{
	append(kit, (u32)op << 24 | a << 16 | b << 8 | c);
	return kit->event[kit->nr_events - 1].nr - 1;
}

/* Append a Jump; its number in its event. */
u32 hipec_kit_jump(struct hipec_kit *kit, u8 cond, u16 target)
{
	return hipec_kit_op(kit, HIPEC_OP_JUMP, cond, target >> 8, target);
}

/* An event that does nothing. */
void hipec_kit_return_only(struct hipec_kit *kit, u32 number)
{
	hipec_kit_event(kit, number);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
}

static bool has_event(const struct hipec_kit *kit, u32 number)
{
	u32 i;

	for (i = 0; i < kit->nr_events; i++)
		if (kit->event[i].number == number)
			return true;
	return false;
}

/* Bytes from @p on; the place behind them. */
static void *put(void *p, const void *bytes, size_t size)
{
	memcpy(p, bytes, size);
	return p + size;
}

/**
 * hipec_kit_image() - the image of what was declared and appended up to here
 * @kit: policy
 *
 * A PageFault and a Replace that do nothing are added if there are none.
 *
 * Return: the image, exactly as long as its image_size, to be spoiled at will.
 */
struct hipec_image *hipec_kit_image(struct hipec_kit *kit)
{
	struct hipec_image head = {
		.magic = HIPEC_IMAGE_MAGIC, .version = HIPEC_IMAGE_VERSION,
		.header_size = sizeof(head), .name = "kit",
		.strings_size = sizeof(kit_strings), .ghosts = kit->ghosts,
	};
	const struct hipec_policy policy = {
		.image = &head, .operand = kit->operand, .event = kit->event,
		.words = kit->words,
	};
	u32 i, line;
	void *p;

	if (kit->image)
		return kit->image;
	if (!has_event(kit, HIPEC_EVENT_PAGEFAULT))
		hipec_kit_return_only(kit, HIPEC_EVENT_PAGEFAULT);
	if (!has_event(kit, HIPEC_EVENT_REPLACE))
		hipec_kit_return_only(kit, HIPEC_EVENT_REPLACE);
	head.nr_operands = kit->nr_operands;
	head.nr_events = kit->nr_events;
	head.nr_words = kit->nr_words;
	head.nr_lines = kit->lines ? kit->nr_words : 0;
	head.image_size = sizeof(head) +
			  head.nr_operands * sizeof(kit->operand[0]) +
			  head.nr_events * sizeof(kit->event[0]) +
			  (head.nr_words + head.nr_lines) * sizeof(u32) +
			  sizeof(kit_strings);
	head.needs = hipec_needs_of(&policy);
	kit->image = kunit_kmalloc(kit->test, head.image_size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(kit->test, kit->image);
	p = put(kit->image, &head, sizeof(head));
	p = put(p, kit->operand, head.nr_operands * sizeof(kit->operand[0]));
	p = put(p, kit->event, head.nr_events * sizeof(kit->event[0]));
	p = put(p, kit->words, head.nr_words * sizeof(u32));
	for (i = 0; i < head.nr_lines; i++) {
		line = KIT_FIRST_LINE + i;
		p = put(p, &line, sizeof(line));
	}
	put(p, kit_strings, sizeof(kit_strings));
	return kit->image;
}

/**
 * hipec_kit_copy() - move the image to a block of @size bytes
 * @kit:  policy whose image was taken
 * @size: bytes; what is longer than the image is zeroes
 */
void hipec_kit_copy(struct hipec_kit *kit, size_t size)
{
	size_t kept = kit->image->image_size;
	void *copy = kunit_kzalloc(kit->test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(kit->test, copy);
	memcpy(copy, kit->image, size < kept ? size : kept);
	kit->image = copy;
}

/* Parse and verify @size bytes of the image: 0, or -EINVAL with kit->error. */
int hipec_kit_check_size(struct hipec_kit *kit, size_t size)
{
	int ret = hipec_image_parse(kit->image, size, &kit->policy,
				    &kit->error);

	return ret ? ret : hipec_verify(&kit->policy, &kit->error);
}

/* Parse and verify the image: 0, or -EINVAL with kit->error. */
int hipec_kit_check(struct hipec_kit *kit)
{
	return hipec_kit_check_size(kit, hipec_kit_image(kit)->image_size);
}

/* A section of a parsed image (kit->policy.words, ...), to be spoiled. */
void *hipec_kit_place(struct hipec_kit *kit, const void *section)
{
	return (char *)kit->image + ((const char *)section - (char *)kit->image);
}

/**
 * hipec_kit_machine() - a machine without pages, on a fake host
 * @kit:       policy, which must be a good one
 * @nr_frames: pages that may hold a frame at the same time
 */
struct hipec_fakehost *hipec_kit_machine(struct hipec_kit *kit, u32 nr_frames)
{
	struct kunit *test = kit->test;
	struct hipec_fakehost *fake;
	void *memory;
	int ret = hipec_kit_check(kit);

	KUNIT_ASSERT_EQ_MSG(test, ret, 0,
			    "%s: event %u command %u operand %u got %u",
			    hipec_vm_verify_text(kit->error.kind),
			    kit->error.event, kit->error.command,
			    kit->error.operand, kit->error.got);
	fake = kunit_kmalloc(test, sizeof(*fake), GFP_KERNEL);
	memory = kunit_kmalloc(test, hipec_fakehost_size(&kit->policy, nr_frames),
			       GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fake);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	hipec_fakehost_init(fake, &kit->policy, memory, nr_frames);
	return fake;
}

/* Give a machine pages 0 to @nr - 1, live, on the fallback queue. */
void hipec_kit_pages(struct hipec_fakehost *fake, u32 nr)
{
	u32 pgno;

	for (pgno = 0; pgno < nr; pgno++)
		hipec_fakehost_add(fake, pgno, 0);
}

/**
 * hipec_kit_random() - a number that looks random and is the same each time
 * @seed:  state, not 0
 * @below: limit
 *
 * Marsaglia's xorshift. Return: 0 to @below - 1.
 */
u32 hipec_kit_random(u32 *seed, u32 below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed % below;
}
