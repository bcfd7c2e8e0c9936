// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/vm/image.c: bytes that nobody vouches for. Each image lies in a block
 * of exactly its length, so that KASAN or ASan tells of a byte read beside it.
 */
#include "kunit_machine.h"

/* An image with something in every section. */
static struct hipec_kit *sample(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u8 page = hipec_kit_page(kit), q = hipec_kit_queue(kit);

	kit->lines = true;
	hipec_kit_event(kit, HIPEC_EVENT_REPLACE);
	hipec_kit_op(kit, HIPEC_OP_DEQUEUE, page, q, HIPEC_END_HEAD);
	hipec_kit_jump(kit, HIPEC_COND_IFNOT, 4);
	hipec_kit_op(kit, HIPEC_OP_ENQUEUE, page, HIPEC_SLOT_FREE_QUEUE,
		     HIPEC_END_TAIL);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	hipec_kit_image(kit);
	return kit;
}

static void expect_refused(struct hipec_kit *kit, u32 kind, const char *what)
{
	KUNIT_EXPECT_EQ_MSG(kit->test, hipec_kit_check(kit), -EINVAL,
			    "%s", what);
	KUNIT_EXPECT_EQ_MSG(kit->test, kit->error.kind, kind, "%s: %s", what,
			    hipec_vm_verify_text(kit->error.kind));
}

/* Whatever is missing, it is missed before it is read. */
static void an_image_cut_anywhere_is_refused(struct kunit *test)
{
	struct hipec_kit *kit = sample(test);
	u32 whole = kit->image->image_size, size;
	const struct hipec_image *image = kit->image;

	KUNIT_EXPECT_EQ(test, hipec_kit_check(kit), 0);
	for (size = 1; size < whole; size++) {
		kit->image = (struct hipec_image *)image;
		hipec_kit_copy(kit, size);
		KUNIT_EXPECT_EQ(test, hipec_kit_check_size(kit, size), -EINVAL);
		KUNIT_EXPECT_EQ(test, kit->error.kind, HIPEC_VERIFY_SHORT);
	}
	KUNIT_EXPECT_EQ(test, hipec_kit_check_size(kit, 0), -EINVAL);
}

/* The header says how short it is, and the sections are still looked at. */
static void a_header_that_says_less_than_its_sections_is_refused(struct kunit *test)
{
	struct hipec_kit *kit = sample(test);
	u32 whole = kit->image->image_size, size;
	struct hipec_image *image = kit->image;

	for (size = sizeof(*image); size < whole; size++) {
		kit->image = image;
		image->image_size = size;
		hipec_kit_copy(kit, size);
		expect_refused(kit, HIPEC_VERIFY_SECTION, "cut");
	}
}

/* Bytes behind the image are not part of it, and nobody should send them. */
static void an_image_with_bytes_behind_it_is_refused(struct kunit *test)
{
	struct hipec_kit *kit = sample(test);
	u32 whole = kit->image->image_size;

	hipec_kit_copy(kit, whole + 4);
	KUNIT_EXPECT_EQ(test, hipec_kit_check_size(kit, whole + 4), -EINVAL);
	KUNIT_EXPECT_EQ(test, kit->error.kind, HIPEC_VERIFY_SECTION);
	kit->image->image_size += 4;
	expect_refused(kit, HIPEC_VERIFY_SECTION, "longer");
}

/* Each number of the header has a range; one beyond either end is refused. */
static void header_fields_out_of_range_are_refused(struct kunit *test)
{
#define FIELD(name) #name, offsetof(struct hipec_image, name)
	static const struct {
		const char *name;
		size_t offset;
		u32 value, kind;
	} bad[] = {
		{ FIELD(magic), 0, HIPEC_VERIFY_MAGIC },
		{ FIELD(magic), HIPEC_EVENT_MAGIC, HIPEC_VERIFY_MAGIC },
		{ FIELD(image_size), 0xffffffff, HIPEC_VERIFY_SHORT },
		{ FIELD(image_size), 0, HIPEC_VERIFY_SECTION },
		{ FIELD(flags), 1, HIPEC_VERIFY_HEADER },
		{ FIELD(flags), 0x80000000, HIPEC_VERIFY_HEADER },
		{ FIELD(nr_operands), 0, HIPEC_VERIFY_HEADER },
		{ FIELD(nr_operands), 1, HIPEC_VERIFY_HEADER },
		{ FIELD(nr_operands), 241, HIPEC_VERIFY_HEADER },
		{ FIELD(nr_operands), 240, HIPEC_VERIFY_SECTION },
		{ FIELD(nr_operands), 0x10000004, HIPEC_VERIFY_HEADER },
		{ FIELD(nr_events), 0, HIPEC_VERIFY_HEADER },
		{ FIELD(nr_events), 65, HIPEC_VERIFY_HEADER },
		{ FIELD(nr_events), 64, HIPEC_VERIFY_SECTION },
		{ FIELD(nr_events), 0x10000002, HIPEC_VERIFY_HEADER },
		{ FIELD(nr_words), 0, HIPEC_VERIFY_HEADER },
		{ FIELD(nr_words), HIPEC_MAX_WORDS + 1, HIPEC_VERIFY_HEADER },
		{ FIELD(nr_words), 0x40000007, HIPEC_VERIFY_HEADER },
		{ FIELD(nr_lines), 1, HIPEC_VERIFY_HEADER },
		{ FIELD(nr_lines), 0, HIPEC_VERIFY_SECTION },
		{ FIELD(nr_lines), 0xffffffff, HIPEC_VERIFY_HEADER },
		{ FIELD(strings_size), 0, HIPEC_VERIFY_HEADER },
		{ FIELD(strings_size), HIPEC_MAX_STRINGS + 1, HIPEC_VERIFY_HEADER },
		{ FIELD(strings_size), 0xffffffff, HIPEC_VERIFY_HEADER },
		{ FIELD(ghosts), HIPEC_MAX_GHOSTS + 1, HIPEC_VERIFY_HEADER },
		{ FIELD(ghosts), 0xffffffff, HIPEC_VERIFY_HEADER },
		{ FIELD(timer_ms), 1000, HIPEC_VERIFY_TIMER },
		{ FIELD(needs), HIPEC_NEED_SHARED << 1, HIPEC_VERIFY_HEADER },
		{ FIELD(needs), 0x80000000, HIPEC_VERIFY_HEADER },
		{ FIELD(needs), HIPEC_NEED_HINT, HIPEC_VERIFY_OK },
		{ FIELD(source_hash), 0xffffffff, HIPEC_VERIFY_OK },
		{ FIELD(name[HIPEC_NAME_MAX - 4]), 0x41414141, HIPEC_VERIFY_HEADER },
		{ FIELD(name), 0x6d32335b, HIPEC_VERIFY_OK },	/* [32m */
		{ FIELD(name), 0x33325b1b, HIPEC_VERIFY_HEADER }, /* ESC [23 */
		{ FIELD(name), 0x0000c4c3, HIPEC_VERIFY_HEADER }, /* above 7e */
	};
#undef FIELD
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct hipec_kit *kit = sample(test);
		u32 size = kit->image->image_size;

		memcpy((char *)kit->image + bad[i].offset, &bad[i].value, 4);
		KUNIT_EXPECT_EQ_MSG(test, !hipec_kit_check_size(kit, size),
				    bad[i].kind == HIPEC_VERIFY_OK, "%s %u",
				    bad[i].name, bad[i].value);
		KUNIT_EXPECT_EQ_MSG(test, kit->error.kind, bad[i].kind,
				    "%s %u", bad[i].name, bad[i].value);
	}
}

/* Older and newer images, and headers of another length, are of no use. */
static void other_versions_are_refused(struct kunit *test)
{
	struct hipec_kit *kit = sample(test);

	kit->image->version++;
	expect_refused(kit, HIPEC_VERIFY_VERSION, "newer");
	kit->image->version = 0;
	expect_refused(kit, HIPEC_VERIFY_VERSION, "none");
	kit->image->version = HIPEC_IMAGE_VERSION;
	kit->image->header_size += 8;
	expect_refused(kit, HIPEC_VERIFY_VERSION, "longer header");
	kit->image->header_size = 0;
	expect_refused(kit, HIPEC_VERIFY_VERSION, "no header");
}

/* A name may begin at the last byte of the strings, which is its end. */
static void names_begin_inside_the_strings(struct kunit *test)
{
	struct hipec_kit *kit = sample(test);
	u32 size = kit->image->strings_size;
	struct hipec_image_operand *operand;
	struct hipec_image_event *event;
	char *strings;

	KUNIT_ASSERT_EQ(test, hipec_kit_check(kit), 0);
	operand = hipec_kit_place(kit, kit->policy.operand);
	event = hipec_kit_place(kit, kit->policy.event);
	strings = hipec_kit_place(kit, kit->policy.strings);

	operand[3].name = size - 1;
	event[1].name = size - 1;
	KUNIT_EXPECT_EQ(test, hipec_kit_check(kit), 0);
	KUNIT_EXPECT_STREQ(test, hipec_image_policy_name(&kit->policy, size - 1), "");

	operand[3].name = size;
	expect_refused(kit, HIPEC_VERIFY_STRING, "operand's");
	KUNIT_EXPECT_EQ(test, kit->error.got, 3);
	operand[3].name = 0xffffffff;
	expect_refused(kit, HIPEC_VERIFY_STRING, "operand's");
	operand[3].name = 0;
	event[1].name = size;
	expect_refused(kit, HIPEC_VERIFY_STRING, "event's");
	KUNIT_EXPECT_EQ(test, kit->error.got, 1);
	event[1].name = 0;
	strings[2] = '\n';
	expect_refused(kit, HIPEC_VERIFY_STRING, "with a control character");
	strings[2] = 'v';
	KUNIT_EXPECT_EQ(test, hipec_kit_check(kit), 0);
	strings[size - 1] = 'x';
	expect_refused(kit, HIPEC_VERIFY_STRING, "without an end");
}

/* Events share no word, leave none out, and have a number of their own. */
static void events_fill_the_words_exactly(struct kunit *test)
{
	struct hipec_kit *kit = sample(test);
	struct hipec_image_event *event, good;
	u32 *words;

	KUNIT_ASSERT_EQ(test, hipec_kit_check(kit), 0);
	event = hipec_kit_place(kit, kit->policy.event);
	words = hipec_kit_place(kit, kit->policy.words);
	good = event[1];

	event[1].first++;
	expect_refused(kit, HIPEC_VERIFY_EVENT_DECL, "a word left out");
	event[1].first -= 2;
	expect_refused(kit, HIPEC_VERIFY_EVENT_DECL, "a word shared");
	event[1] = good;
	event[1].nr--;
	expect_refused(kit, HIPEC_VERIFY_EVENT_DECL, "no command");
	event[1].nr = 0xffffffff;
	expect_refused(kit, HIPEC_VERIFY_EVENT_DECL, "a length that wraps");
	event[1] = good;
	event[1].number = event[0].number;
	expect_refused(kit, HIPEC_VERIFY_EVENT_DECL, "twice");
	event[1].number = HIPEC_NR_EVENTS;
	expect_refused(kit, HIPEC_VERIFY_EVENT_DECL, "number out of range");
	event[1].number = 0x80000001;
	expect_refused(kit, HIPEC_VERIFY_EVENT_DECL, "number out of range");
	event[1].number = HIPEC_EVENT_USER - 1;
	expect_refused(kit, HIPEC_VERIFY_EVENT_DECL, "an event that no host calls");
	event[1].number = HIPEC_EVENT_USER;
	expect_refused(kit, HIPEC_VERIFY_EVENT_MISSING, "no PageFault");
	event[1] = good;
	words[good.first] ^= 1;
	expect_refused(kit, HIPEC_VERIFY_EVENT_MAGIC, "magic");
	words[good.first] ^= 1;
	KUNIT_EXPECT_EQ(test, hipec_kit_check(kit), 0);
}

/* A Timer has a period, of the least that there may be or more. */
static void a_timer_has_a_period(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);

	hipec_kit_return_only(kit, HIPEC_EVENT_TIMER);
	hipec_kit_image(kit);
	expect_refused(kit, HIPEC_VERIFY_TIMER, "none");
	kit->image->timer_ms = HIPEC_MIN_TIMER - 1;
	expect_refused(kit, HIPEC_VERIFY_TIMER, "too short");
	kit->image->timer_ms = HIPEC_MIN_TIMER;
	KUNIT_EXPECT_EQ(test, hipec_kit_check(kit), 0);
	kit->image->timer_ms = 0xffffffff;
	KUNIT_EXPECT_EQ(test, hipec_kit_check(kit), 0);
}

/* What may follow the type of an operand; the one that is bad has slot 2. */
static const struct {
	u8 type, flags;
	u16 key;	/* slot 3 is a field, slot 4 a queue array */
	s64 value;
	u32 kind;
} declaration[] = {
	{ HIPEC_TYPE_INT, 0xb, 0, S64_MIN, HIPEC_VERIFY_OK },
	{ HIPEC_TYPE_INT, HIPEC_OPERAND_SHARED, 0, 0, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_INT, 0x10, 0, 0, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_INT, 0, 3, 0, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_PAGE, HIPEC_OPERAND_CONST, 0, 0, HIPEC_VERIFY_OK },
	{ HIPEC_TYPE_PAGE, HIPEC_OPERAND_PARAM, 0, 0, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_PAGE, 0, 0, 1, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_QUEUE, 0, 3, 0, HIPEC_VERIFY_OK },
	{ HIPEC_TYPE_QUEUE, 0, 4, 0, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_QUEUE, 0, 5, 0, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_QUEUE, 0, 0xffff, 0, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_QUEUE, 0, 0, 1, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_INTS, HIPEC_OPERAND_SHARED, 0, 1, HIPEC_VERIFY_OK },
	{ HIPEC_TYPE_INTS, 0, 0, HIPEC_MAX_ELEMENTS, HIPEC_VERIFY_OK },
	{ HIPEC_TYPE_INTS, 0, 0, HIPEC_MAX_ELEMENTS + 1ll, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_INTS, 0, 0, 0, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_INTS, 0, 0, S64_MIN, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_INTS, 0, 3, 1, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_QUEUES, 0, 3, 9, HIPEC_VERIFY_OK },
	{ HIPEC_TYPE_QUEUES, 0, 0, HIPEC_MAX_QUEUES, HIPEC_VERIFY_TOO_MUCH },
	{ HIPEC_TYPE_QUEUES, 0, 0, HIPEC_MAX_QUEUES + 1ll, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_QUEUES, 0, 0, 0x100000001ll, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_QUEUES, HIPEC_OPERAND_SHARED, 0, 1, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_QUEUE_REF, 0, 0, 4, HIPEC_VERIFY_OK },
	{ HIPEC_TYPE_QUEUE_REF, 0, 0, 3, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_QUEUE_REF, 0, 0, 5, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_QUEUE_REF, 0, 0, -1, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_FIELD, 0, 0, 0, HIPEC_VERIFY_OK },
	{ HIPEC_TYPE_FIELD, 0, 0, 1, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_FIELD, HIPEC_OPERAND_CONST, 0, 0, HIPEC_VERIFY_OPERAND_DECL },
	{ 0, 0, 0, 0, HIPEC_VERIFY_OPERAND_DECL },
	{ HIPEC_TYPE_FIELD + 1, 0, 0, 0, HIPEC_VERIFY_OPERAND_DECL },
	{ 255, 0, 0, 0, HIPEC_VERIFY_OPERAND_DECL },
};

static void declarations_say_what_their_type_allows(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(declaration); i++) {
		struct hipec_kit *kit = hipec_kit_new(test);
		u8 slot = hipec_kit_slot(kit, declaration[i].type, declaration[i].flags,
					 declaration[i].value);

		kit->operand[slot].key = declaration[i].key;
		hipec_kit_field(kit);
		hipec_kit_array(kit, HIPEC_TYPE_QUEUES, 2);
		KUNIT_EXPECT_EQ_MSG(test, !hipec_kit_check(kit),
				    declaration[i].kind == HIPEC_VERIFY_OK,
				    "row %u: %s", i,
				    hipec_vm_verify_text(kit->error.kind));
		KUNIT_EXPECT_EQ_MSG(test, kit->error.kind, declaration[i].kind,
				    "row %u: %s", i,
				    hipec_vm_verify_text(kit->error.kind));
	}
}

/* A param lies in its range; nothing else has one, and 0 to 0 is none. */
static void params_lie_in_their_ranges(struct kunit *test)
{
	static const struct {
		u8 type, flags;
		s64 value, low, high;
		bool ok;
	} row[] = {
		{ HIPEC_TYPE_INT, HIPEC_OPERAND_PARAM, 1, 1, 9, true },
		{ HIPEC_TYPE_INT, HIPEC_OPERAND_PARAM, 9, 1, 9, true },
		{ HIPEC_TYPE_INT, HIPEC_OPERAND_PARAM, 0, 1, 9, false },
		{ HIPEC_TYPE_INT, HIPEC_OPERAND_PARAM, 10, 1, 9, false },
		{ HIPEC_TYPE_INT, HIPEC_OPERAND_PARAM | HIPEC_OPERAND_CONST,
		  0, 0, 1, true },
		{ HIPEC_TYPE_INT, HIPEC_OPERAND_PARAM | HIPEC_OPERAND_COUNTER,
		  0, -1, 0, true },
		{ HIPEC_TYPE_INT, HIPEC_OPERAND_PARAM, -7, S64_MIN, S64_MAX,
		  true },
		{ HIPEC_TYPE_INT, HIPEC_OPERAND_PARAM, 7, 0, 0, true },
		{ HIPEC_TYPE_INT, HIPEC_OPERAND_PARAM, 7, 7, 7, false },
		{ HIPEC_TYPE_INT, HIPEC_OPERAND_PARAM, 7, 9, 1, false },
		{ HIPEC_TYPE_INT, 0, 1, 0, 9, false },
		{ HIPEC_TYPE_INT, HIPEC_OPERAND_CONST, 1, 0, 9, false },
		{ HIPEC_TYPE_INTS, 0, 1, 0, 9, false },
		{ HIPEC_TYPE_FIELD, 0, 0, -1, 0, false },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		struct hipec_kit *kit = hipec_kit_new(test);
		u8 slot = hipec_kit_slot(kit, row[i].type, row[i].flags,
					 row[i].value);

		kit->operand[slot].low = row[i].low;
		kit->operand[slot].high = row[i].high;
		KUNIT_EXPECT_EQ_MSG(test, !hipec_kit_check(kit), row[i].ok,
				    "row %u", i);
		if (!row[i].ok)
			KUNIT_EXPECT_EQ_MSG(test, kit->error.kind,
					    HIPEC_VERIFY_OPERAND_DECL,
					    "row %u", i);
	}
}

/* Each declaration is small, and all together ask for too much. */
static void declarations_are_counted_together(struct kunit *test)
{
	static const struct {
		u8 type;
		u32 each, most;
	} row[] = {
		{ HIPEC_TYPE_FIELD, 0, HIPEC_MAX_FIELDS },
		{ HIPEC_TYPE_QUEUES, 1000, 4 },
		{ HIPEC_TYPE_INTS, HIPEC_MAX_ELEMENTS / 8, 8 },
	};
	u32 i, n, more;

	for (i = 0; i < ARRAY_SIZE(row); i++)
		for (more = 0; more < 2; more++) {
			struct hipec_kit *kit = hipec_kit_new(test);

			for (n = 0; n < row[i].most + more; n++)
				hipec_kit_array(kit, row[i].type, row[i].each);
			if (more)
				expect_refused(kit, HIPEC_VERIFY_TOO_MUCH,
					       "one more");
			else
				KUNIT_EXPECT_EQ(test, hipec_kit_check(kit), 0);
		}
}

/* All limits at once: nothing between them overflows. */
static void the_largest_image_is_taken(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new_long(test, HIPEC_MAX_WORDS);
	u32 i;

	kit->lines = true;
	while (kit->nr_operands < HIPEC_SLOT_SYSTEM)
		hipec_kit_queue(kit);
	for (i = HIPEC_EVENT_USER; i < HIPEC_NR_EVENTS; i++)
		hipec_kit_return_only(kit, i);
	hipec_kit_return_only(kit, HIPEC_EVENT_PAGEFAULT);
	hipec_kit_event(kit, HIPEC_EVENT_REPLACE);
	while (kit->nr_words < HIPEC_MAX_WORDS)
		hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, hipec_kit_check(kit), 0);
	KUNIT_EXPECT_LE(test, kit->image->image_size, HIPEC_MAX_IMAGE);
	KUNIT_EXPECT_EQ(test, kit->policy.lines[HIPEC_MAX_WORDS - 1],
			100 + HIPEC_MAX_WORDS - 1);
}

/*
 * Any bytes are refused, or run within their fuel and leave the machine whole.
 * `imgtorture` changes every byte of every policy in user space; this is the
 * same in the kernel, at random.
 */
static void damaged_images_are_refused_or_run(struct kunit *test)
{
	const struct hipec_kit *good = sample(test);
	u32 seed = 4711, round, i, refused = 0;
	struct hipec_kit *kit = sample(test);
	u32 size = good->image->image_size;

	for (round = 0; round < 400; round++) {
		struct hipec_fakehost *fake;

		memcpy(kit->image, good->image, size);
		for (i = hipec_kit_random(&seed, 3) + 1; i; i--)
			((u8 *)kit->image)[hipec_kit_random(&seed, size)] =
				hipec_kit_random(&seed, 256);
		if (hipec_kit_check_size(kit, size)) {
			refused++;
			KUNIT_EXPECT_NE(test, kit->error.kind, HIPEC_VERIFY_OK);
			continue;
		}
		fake = hipec_kit_machine(kit, 4);
		hipec_kit_pages(fake, 3);
		if (!hipec_fakehost_run(fake, HIPEC_EVENT_PAGEFAULT))
			hipec_fakehost_run(fake, HIPEC_EVENT_REPLACE);
		HIPEC_KIT_EXPECT_WHOLE(test, &fake->vm);
	}
	KUNIT_EXPECT_GT(test, refused, 100);
	KUNIT_EXPECT_LT(test, refused, 380);
}

static struct kunit_case image_cases[] = {
	KUNIT_CASE(an_image_cut_anywhere_is_refused),
	KUNIT_CASE(a_header_that_says_less_than_its_sections_is_refused),
	KUNIT_CASE(an_image_with_bytes_behind_it_is_refused),
	KUNIT_CASE(header_fields_out_of_range_are_refused),
	KUNIT_CASE(other_versions_are_refused),
	KUNIT_CASE(names_begin_inside_the_strings),
	KUNIT_CASE(events_fill_the_words_exactly),
	KUNIT_CASE(a_timer_has_a_period),
	KUNIT_CASE(declarations_say_what_their_type_allows),
	KUNIT_CASE(params_lie_in_their_ranges),
	KUNIT_CASE(declarations_are_counted_together),
	KUNIT_CASE(the_largest_image_is_taken),
	KUNIT_CASE(damaged_images_are_refused_or_run),
	{ }
};

static struct kunit_suite image_suite = {
	.name = "hipec_image",
	.test_cases = image_cases,
};

kunit_test_suites(&image_suite);
