// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/vm/text.h, optable.c and disasm.c: words for people. They read bytes
 * that no verifier has seen (hipec dis, debugfs), so any byte must do.
 */
#include "kunit_machine.h"

/* A NULL buffer, or one without room, is left alone. */
static void text_without_room_writes_nothing(struct kunit *test)
{
	struct hipec_text out;
	char c = 'x';

	hipec_text_init(&out, NULL, 10);
	hipec_text_str(&out, "abc");
	KUNIT_EXPECT_EQ(test, out.len, 0);
	hipec_text_init(&out, &c, 0);
	hipec_text_num(&out, 1);
	KUNIT_EXPECT_EQ(test, c, 'x');
	hipec_text_init(&out, &c, 1);
	hipec_text_hex(&out, 0xabc, 3);
	KUNIT_EXPECT_EQ(test, c, 0);
}

static void numbers_print_at_their_limits(struct kunit *test)
{
	struct hipec_text out;
	char buf[64];

	hipec_text_init(&out, buf, sizeof(buf));
	hipec_text_num(&out, 0);
	hipec_text_char(&out, ' ');
	hipec_text_num(&out, 0xffffffff);
	hipec_text_char(&out, ' ');
	hipec_text_hex(&out, 0xdeadbeef, 8);
	KUNIT_EXPECT_STREQ(test, buf, "0 4294967295 0xdeadbeef");
}

/* Any word has a text, with any operands; an unknown one is shown as it is. */
static void every_word_prints(struct kunit *test)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u32 op, i, seed = 99;
	struct hipec_text out;
	char buf[128];

	hipec_kit_page(kit);
	KUNIT_ASSERT_EQ(test, hipec_kit_check(kit), 0);
	for (op = 0; op < 256; op++) {
		for (i = 0; i < 32; i++) {
			u32 word = op << 24 | hipec_kit_random(&seed, 1 << 24);

			hipec_text_init(&out, buf, sizeof(buf));
			hipec_disasm(&kit->policy, word, &out);
			KUNIT_EXPECT_GT(test, out.len, 0);
			KUNIT_EXPECT_LT(test, out.len, sizeof(buf) - 1);
			KUNIT_EXPECT_EQ(test, !strncmp(buf, ".word 0x", 8),
					!hipec_ops[op].word);
		}
	}
}

/* Codes that are in no table have no word, and no read beyond it. */
static void unknown_codes_have_no_word(struct kunit *test)
{
	u32 code;

	for (code = 8; code < 256; code++)
		KUNIT_EXPECT_NULL(test, hipec_vm_selector(HIPEC_KIND_COMP, code));
	for (code = 0; code < 256; code++)
		KUNIT_EXPECT_NULL(test, hipec_vm_selector(HIPEC_KIND_INT, code));
	KUNIT_EXPECT_STREQ(test, hipec_vm_type_text(255), "?");
	KUNIT_EXPECT_STREQ(test, hipec_vm_type_text(0), "?");
	KUNIT_EXPECT_NULL(test, hipec_vm_event_text(0xffffffff));
	KUNIT_EXPECT_NULL(test, hipec_vm_event_text(HIPEC_EVENT_USER));
	KUNIT_EXPECT_STREQ(test, hipec_vm_verify_text(0xffffffff), "?");
	KUNIT_EXPECT_STREQ(test, hipec_vm_exit_text(0xffffffff), "?");
	KUNIT_EXPECT_STREQ(test, hipec_vm_exit_text(HIPEC_EXIT_DIV_ZERO),
			   "division by zero");
}

static struct kunit_case text_cases[] = {
	KUNIT_CASE(text_without_room_writes_nothing),
	KUNIT_CASE(numbers_print_at_their_limits),
	KUNIT_CASE(every_word_prints),
	KUNIT_CASE(unknown_codes_have_no_word),
	{ }
};

static struct kunit_suite text_suite = {
	.name = "hipec_text",
	.test_cases = text_cases,
};

kunit_test_suites(&text_suite);
