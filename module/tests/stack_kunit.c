// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/context/stack.c on stacks and code made by hand, and on random ones.
 *
 * The program has eight functions, F(0) calls F(1) and so on; each has its call's
 * return address at AFTER(i). The library has the same, for the program to be called
 * from and to call. Offsets are into the file, which both map from SKEW on.
 */
#include "../context/stack.h"
#include "kunit_machine.h"

#define WORDS 2048	/* of the stack */
#define CODE 4096u
#define SKEW 0x3000
#define F(i) (0x100 + 0x100 * (i))
#define AFTER(i) (F(i) + 0x40)
#define STUB 0xf00	/* jumps to the library */
#define GOT 0xff0
#define DEPTH 16

struct program {
	u64 at;
	u64 file;
	bool skip;
	u8 code[CODE];
};

struct world {
	struct program own, library;
	u64 stack_at;
	u64 *stack;
	struct hipec_stack_regs regs;
	u64 hole;	/* this page of code is not there */
	u32 words, codes, maps;
};

static bool world_words(void *host, u64 at, u64 *words)
{
	struct world *w = host;

	w->words++;
	if (at - w->own.at < CODE) {
		memcpy(words, w->own.code + (at - w->own.at),
		       8 * HIPEC_STACK_BLOCK);
		return true;
	}
	if (at - w->stack_at >= 8 * WORDS)
		return false;
	memcpy(words, &w->stack[(at - w->stack_at) / 8], 8 * HIPEC_STACK_BLOCK);
	return true;
}

static const struct program *program_at(const struct world *w, u64 at)
{
	return at - w->own.at < CODE ? &w->own :
	       at - w->library.at < CODE ? &w->library : NULL;
}

static bool world_code(void *host, u64 at, u64 *bytes)
{
	struct world *w = host;
	const struct program *p = program_at(w, at);

	w->codes++;
	if (!p || at - p->at > CODE - 8 || (w->hole && at - w->hole < CODE))
		return false;
	memcpy(bytes, p->code + (at - p->at), 8);
	return true;
}

static void world_map(void *host, u64 at, struct hipec_stack_map *map)
{
	struct world *w = host;
	const struct program *p = program_at(w, at);

	w->maps++;
	*map = (struct hipec_stack_map){ .start = at, .end = at + 1 };
	if (p)
		*map = (struct hipec_stack_map){
			p->at, p->at + CODE, SKEW, p->file, p->skip, true,
		};
}

static const struct hipec_stack_ops world_ops = {
	.words = world_words, .code = world_code, .map = world_map,
};

static void put_code(struct program *p, u32 at, u64 bytes, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		p->code[at + i] = bytes >> 8 * i;
}

/* A call of @target whose return address is @after. */
static void put_call(struct program *p, u32 after, u32 target)
{
	put_code(p, after - 5, 0xe8 | (u64)(u32)(target - after) << 8, 5);
}

static void put_program(struct program *p, u64 at, u64 file, bool skip)
{
	u32 i;

	p->at = at;
	p->file = file;
	p->skip = skip;
	memset(p->code, 0x90, CODE);
	for (i = 0; i < 8; i++)
		put_call(p, AFTER(i), F(i + 1));
}

static struct world *world_at(struct kunit *test, u64 own, u64 stack)
{
	struct world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->stack = kunit_kzalloc(test, 8 * WORDS, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w->stack);
	put_program(&w->own, own, 11, false);
	put_program(&w->library, own + 0x7f0000, 22, true);
	w->stack_at = stack;
	w->regs.sp = stack;
	w->regs.ip = own + F(7) + 9;
	return w;
}

static struct world *world(struct kunit *test)
{
	return world_at(test, 0x555555554000, 0x7ffffffd0000);
}

/* F(7) calls F(2) of the library, through the linkage table. */
static void call_library(struct world *w)
{
	put_call(&w->own, AFTER(7), STUB);
	put_code(&w->own, STUB, 0x25ff | (u64)(GOT - STUB - 6) << 16, 6);
	put_code(&w->own, GOT, w->library.at + F(2), 8);
}

/* A frame at word @i, the next at word @next, called from @address. */
static void put_frame(struct world *w, u32 i, u32 next, u64 address)
{
	w->stack[i] = w->stack_at + 8 * next;
	w->stack[i + 1] = address;
}

static u32 walk(struct world *w, struct hipec_stack_point *point,
		struct hipec_stack *s)
{
	return hipec_stack_walk(&world_ops, w, &w->regs, point, DEPTH, s);
}

/* The points are of the program, at these offsets, which 0 ends. */
static void expect_points(struct kunit *test, struct world *w,
			  const u32 *offset)
{
	struct hipec_stack_point point[DEPTH];
	struct hipec_stack s;
	u32 nr = walk(w, point, &s), i;

	for (i = 0; offset[i] && i < nr; i++) {
		KUNIT_EXPECT_EQ(test, point[i].offset, (u64)offset[i] + SKEW);
		KUNIT_EXPECT_EQ(test, point[i].file, w->own.file);
	}
	KUNIT_EXPECT_EQ(test, nr, i);
	KUNIT_EXPECT_EQ(test, offset[i], 0);
}

#define EXPECT_POINTS(test, w, ...) \
	expect_points(test, w, (const u32[]){ __VA_ARGS__, 0 })

static void put_main(struct world *w)
{
	/* main(), F(4), is called from the library, which has no frames. */
	w->stack[8] = 1;
	w->stack[9] = w->library.at + AFTER(0);
	put_code(&w->library, AFTER(0) - 2, 0xd0ff, 2);
}

static void put_three(struct world *w)
{
	put_frame(w, 2, 4, w->own.at + AFTER(6));
	put_frame(w, 4, 8, w->own.at + AFTER(5));
	put_main(w);
	w->regs.bp = w->stack_at + 8 * 2;
}

/* From where the access is to main(): the library above it ends the walk. */
static void frames_are_followed(struct kunit *test)
{
	struct hipec_stack_point point[DEPTH];
	struct world *w = world(test);
	struct hipec_stack s;

	put_three(w);
	/* What a scan would find. */
	w->stack[20] = w->own.at + AFTER(6);
	EXPECT_POINTS(test, w, F(7) + 9, AFTER(6), AFTER(5));
	walk(w, point, &s);
	KUNIT_EXPECT_EQ(test, s.frames, 3);
	KUNIT_EXPECT_EQ(test, s.lead, 0);
	KUNIT_EXPECT_EQ(test, s.tail, 0);
	w->regs.ip = 0;		/* not known */
	EXPECT_POINTS(test, w, AFTER(6), AFTER(5));
}

static void depth_ends_a_walk(struct kunit *test)
{
	struct hipec_stack_point point[2];
	struct world *w = world(test);
	struct hipec_stack s;

	put_three(w);
	KUNIT_EXPECT_EQ(test, hipec_stack_walk(&world_ops, w, &w->regs, point, 2,
					       &s), 2);
	KUNIT_EXPECT_EQ(test, s.frames, 1);
}

/* What is no frame is not taken for one, wherever it points. */
static void what_is_no_frame_is_not_followed(struct kunit *test)
{
	struct world *w = world(test);
	const u64 at = w->stack_at;
	const u64 bad[] = {
		at - 16,			/* below */
		at + 8 * 2 + 4,			/* not aligned */
		at + 8 * WORDS, at + 8 * (WORDS - 1),	/* not all there */
		at + HIPEC_STACK_FRAME + 8,	/* far */
		~0ull - 7, 1ull << 47, 0, 1,
	};
	struct hipec_stack_point point[DEPTH];
	struct hipec_stack s;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		w->regs.bp = bad[i];
		EXPECT_POINTS(test, w, F(7) + 9);
	}
	/* Within one. */
	put_three(w);
	w->regs.bp += 4;
	walk(w, point, &s);
	KUNIT_EXPECT_EQ(test, s.frames, 0);
	memset(w->stack, 0, 8 * WORDS);
	/* Called from where no call is, or data, or a call has been cut off. */
	put_frame(w, 2, 4, w->own.at + AFTER(6) + 1);
	w->regs.bp = w->stack_at + 8 * 2;
	EXPECT_POINTS(test, w, F(7) + 9);
	w->stack[3] = w->stack_at;
	EXPECT_POINTS(test, w, F(7) + 9);
	w->stack[3] = w->own.at + 1;
	EXPECT_POINTS(test, w, F(7) + 9);
}

/* A frame that leads to itself, or back, is the last; then words are tried. */
static void cycles_end(struct kunit *test)
{
	struct world *w = world(test);

	put_frame(w, 2, 2, w->own.at + AFTER(6));
	w->regs.bp = w->stack_at + 8 * 2;
	EXPECT_POINTS(test, w, F(7) + 9, AFTER(6));
	put_frame(w, 2, 4, w->own.at + AFTER(6));
	put_frame(w, 4, 2, w->own.at + AFTER(5));
	EXPECT_POINTS(test, w, F(7) + 9, AFTER(6), AFTER(5));
}

/* memcpy(), say, has no frame, and what called it has one. */
static void the_librarys_caller_is_found_below_its_frame(struct kunit *test)
{
	struct hipec_stack_point point[DEPTH];
	struct world *w = world(test);
	struct hipec_stack s;

	w->regs.ip = w->library.at + F(3) + 5;
	w->stack[1] = w->library.at + AFTER(2);
	w->stack[2] = w->own.at + AFTER(7);
	call_library(w);
	put_frame(w, 6, 8, w->own.at + AFTER(6));
	put_main(w);
	w->regs.bp = w->stack_at + 8 * 6;
	EXPECT_POINTS(test, w, AFTER(7), AFTER(6));
	walk(w, point, &s);
	KUNIT_EXPECT_EQ(test, s.lead, 3);
	KUNIT_EXPECT_EQ(test, s.frames, 2);
	KUNIT_EXPECT_EQ(test, s.tail, 0);
	/* Where it does not show, the frame does all the same. */
	w->stack[2] = 0;
	EXPECT_POINTS(test, w, AFTER(6));
}

/* F(7) to F(2), at some distance; none has a frame. */
static void put_unframed(struct world *w)
{
	u32 i;

	for (i = 0; i < 5; i++)
		w->stack[3 + 100 * i] = w->own.at + AFTER(6 - i);
	w->regs.bp = 0x1234;
}

static void words_behind_calls_are_return_addresses(struct kunit *test)
{
	struct hipec_stack_point point[DEPTH];
	struct world *w = world(test);
	struct hipec_stack s;

	put_unframed(w);
	EXPECT_POINTS(test, w, F(7) + 9, AFTER(6), AFTER(5), AFTER(4), AFTER(3),
		      AFTER(2));
	walk(w, point, &s);
	KUNIT_EXPECT_GT(test, s.tail, 403);
	KUNIT_EXPECT_EQ(test, s.frames, 0);
}

/* They end what is looked at: HIPEC_STACK_GAP words without any. */
static void a_gap_ends_a_scan(struct kunit *test)
{
	struct world *w = world(test);

	w->stack[10] = w->own.at + AFTER(6);
	w->stack[10 + HIPEC_STACK_GAP] = w->own.at + AFTER(5);
	EXPECT_POINTS(test, w, F(7) + 9, AFTER(6), AFTER(5));
	w->stack[10 + HIPEC_STACK_GAP] = 0;
	w->stack[11 + HIPEC_STACK_GAP] = w->own.at + AFTER(5);
	EXPECT_POINTS(test, w, F(7) + 9, AFTER(6));
}

/* Where the program's first stack begins nothing of it is above. */
static void the_stacks_beginning_ends_a_scan(struct kunit *test)
{
	struct world *w = world(test);

	put_unframed(w);
	w->regs.end = w->stack_at + 8 * 203;
	EXPECT_POINTS(test, w, F(7) + 9, AFTER(6), AFTER(5));
	w->regs.end = w->stack_at;	/* another stack's */
	EXPECT_POINTS(test, w, F(7) + 9, AFTER(6), AFTER(5), AFTER(4), AFTER(3),
		      AFTER(2));
}

/* A direct call that leads elsewhere has returned. */
static void what_is_left_of_calls_that_returned_is_passed_over(struct kunit *test)
{
	struct world *w = world(test);

	put_unframed(w);
	w->stack[1] = w->own.at + AFTER(2);	/* of F(3), far below, */
	w->own.code[AFTER(2) - 1] = 0x7f;	/* not in the program; */
	w->stack[2] = w->own.at + AFTER(7);	/* and of what is above us */
	w->stack[4] = w->own.at + AFTER(7);
	EXPECT_POINTS(test, w, F(7) + 9, AFTER(6), AFTER(5), AFTER(4), AFTER(3));
	/* Of the library, but that is not where we are. */
	call_library(w);
	EXPECT_POINTS(test, w, F(7) + 9, AFTER(6), AFTER(5), AFTER(4), AFTER(3));
}

/* The encodings of calls through registers and memory, and of stubs. */
static void all_calls_are_known(struct kunit *test)
{
	static const struct {
		u64 bytes;
		u32 nr;
	} calls[] = {
		{ 0xd0ff, 2 }, { 0xd3ff41, 3 }, { 0x10ff, 2 },
		{ 0x0850ff, 3 }, { 0xc814ff, 3 }, { 0x08c854ff, 4 },
		{ 0x00001015ff, 6 }, { 0x00001090ff, 6 }, { 0x000010c594ff, 7 },
		{ 0x000010c514ff, 7 },
	}, no_calls[] = {
		{ 0xe0ff, 2 }, { 0x15ff, 2 }, { 0x14ff, 2 }, { 0x0854ff, 3 },
		{ 0xc0ff, 2 },
	};
	struct world *w = world(test);
	u32 i;

	w->stack[5] = w->own.at + 0x900;
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		memset(w->own.code + 0x8f0, 0x90, 16);
		put_code(&w->own, 0x900 - calls[i].nr, calls[i].bytes, calls[i].nr);
		EXPECT_POINTS(test, w, F(7) + 9, 0x900);
	}
	for (i = 0; i < ARRAY_SIZE(no_calls); i++) {
		memset(w->own.code + 0x8f0, 0x90, 16);
		put_code(&w->own, 0x900 - no_calls[i].nr, no_calls[i].bytes,
			 no_calls[i].nr);
		EXPECT_POINTS(test, w, F(7) + 9);
	}
}

static void stubs_with_branch_tracking_are_known(struct kunit *test)
{
	struct world *w = world(test);

	w->regs.ip = w->library.at + F(3);
	w->stack[1] = w->own.at + AFTER(7);
	put_call(&w->own, AFTER(7), STUB);
	put_code(&w->own, STUB, 0xfa1e0ff3, 4);
	put_code(&w->own, STUB + 4, 0x25fff2 | (u64)(GOT - STUB - 11) << 24, 7);
	put_code(&w->own, GOT, w->library.at + F(3), 8);
	EXPECT_POINTS(test, w, AFTER(7));
	put_code(&w->own, GOT, w->own.at + F(3), 8);
	expect_points(test, w, (const u32[]){ 0 });
}

/* The instruction is on the page of its return address alone. */
static void a_page_of_code_may_be_away(struct kunit *test)
{
	struct world *w = world(test);

	put_code(&w->own, 0, 0xd0ff, 2);
	w->hole = w->own.at - CODE;
	w->stack[1] = w->own.at + 2;
	EXPECT_POINTS(test, w, F(7) + 9, 2);
	w->hole = w->own.at;
	EXPECT_POINTS(test, w, F(7) + 9);
}

/* Wherever the loader puts the program and the kernel the stack. */
static void contexts_do_not_tell_where_things_are(struct kunit *test)
{
	const u64 code[] = { 0x555555554000, 0x562000123000, 0x400000 };
	u64 context[2][3];
	u32 i, how;

	for (how = 0; how < 2; how++) {
		for (i = 0; i < 3; i++) {
			struct world *w = world_at(test, code[i],
						   0x7ff000000000 + 0x1280 * i);
			struct hipec_stack_point point[DEPTH];
			struct hipec_stack s;
			u32 nr;

			if (how)
				put_unframed(w);
			else
				put_three(w);
			nr = walk(w, point, &s);
			context[how][i] = hipec_stack_context(point, nr);
		}
		KUNIT_EXPECT_EQ(test, context[how][0], context[how][1]);
		KUNIT_EXPECT_EQ(test, context[how][0], context[how][2]);
	}
	KUNIT_EXPECT_NE(test, context[0][0], context[1][0]);
	KUNIT_EXPECT_EQ(test, hipec_stack_context(NULL, 0), 0);
}

/* Words that look like a stack, most of them, and registers likewise. */
static u64 random_word(const struct world *w, u32 *seed)
{
	u32 r = hipec_kit_random(seed, 1 << 16);

	switch (hipec_kit_random(seed, 6)) {
	case 0:
		return w->stack_at + 8 * (r % (WORDS + 4));
	case 1:
		return w->own.at + r % CODE;
	case 2:
		return w->own.at + AFTER(r % 8);
	case 3:
		return w->library.at + (r % 2 ? AFTER(r / 2 % 8) : r % CODE);
	case 4:
		return r % 3 ? r : (u64)r << 48 | r;
	default:
		return w->stack_at + r % (8 * WORDS);
	}
}

static void random_world(struct world *w, u32 *seed)
{
	u32 i, nr = hipec_kit_random(seed, 300);

	memset(w->stack, 0, 8 * WORDS);
	for (i = 0; i < nr; i++)
		put_code(&w->own, hipec_kit_random(seed, CODE - 8),
			 hipec_kit_random(seed, 2) ? 0x15ff90 : 0x25ffe8, 3);
	nr = hipec_kit_random(seed, 2) ? WORDS : 40;
	for (i = 0; i < nr; i++)
		w->stack[i] = random_word(w, seed);
	w->regs.sp = hipec_kit_random(seed, 9) ? w->stack_at +
		8 * hipec_kit_random(seed, 64) : random_word(w, seed);
	w->regs.bp = random_word(w, seed);
	w->regs.ip = hipec_kit_random(seed, 5) ? random_word(w, seed) : 0;
	w->words = w->codes = w->maps = 0;
}

static void random_stacks_are_walked_within_the_limits(struct kunit *test)
{
	struct world *w = world(test);
	u32 seed = 1, i, most = 0;

	for (i = 0; i < 3000; i++) {
		struct hipec_stack_point point[DEPTH + 1];
		struct hipec_stack s;
		u32 nr;

		random_world(w, &seed);
		point[DEPTH].file = 99;
		nr = walk(w, point, &s);
		if (nr > most)
			most = nr;
		if (nr > DEPTH || nr != s.nr || point[DEPTH].file != 99 ||
		    s.words > HIPEC_STACK_WORDS ||
		    s.reads > HIPEC_STACK_READS || w->codes != s.reads ||
		    s.steps > HIPEC_STACK_STEPS + 2 ||
		    w->words > HIPEC_STACK_WORDS + 2 * HIPEC_STACK_STEPS + 2 +
			       HIPEC_STACK_READS ||
		    s.lead > HIPEC_STACK_GAP || s.tail > s.words ||
		    w->maps > 1 + HIPEC_STACK_WORDS + HIPEC_STACK_STEPS + 1) {
			KUNIT_FAIL(test, "stack %u: %u points, %u words, %u reads, %u steps",
				   i, nr, w->words, w->codes, s.steps);
			return;
		}
	}
	KUNIT_EXPECT_EQ(test, most, DEPTH);
}

/* Words that a walk says have decided; also of what may be the next frame. */
static void mark_told(const struct world *w, const struct hipec_stack *s,
		      u8 *keep)
{
	u32 i = (w->regs.sp - w->stack_at) / 8, end = i + s->lead, j;
	u64 bp = w->regs.bp;

	memset(keep, 0, WORDS);
	memset(keep + i, 1, s->lead);
	for (j = 0; j <= s->frames && bp - w->stack_at < 8 * WORDS - 8; j++) {
		i = (bp - w->stack_at) / 8;
		keep[i] = keep[i + 1] = 1;
		if (j < s->frames)
			end = i + 2;
		bp = w->stack[i];
	}
	for (j = end; j < end + s->tail && j < WORDS; j++)
		keep[j] = 1;
}

/*
 * What a walk has not told of does not matter: module/context/context.c
 * believes so, and remembers.
 */
static void nothing_else_decides_than_a_walk_tells(struct kunit *test)
{
	struct world *w = world(test);
	const size_t size = DEPTH * sizeof(struct hipec_stack_point);
	u32 seed = 7, i, j, nr_told = 0;
	u8 *keep = kunit_kzalloc(test, WORDS, GFP_KERNEL);
	struct hipec_stack_point *a = kunit_kzalloc(test, 2 * size, GFP_KERNEL);
	struct hipec_stack_point *b = a + DEPTH;
	struct hipec_stack s, again;

	KUNIT_ASSERT_TRUE(test, keep && a);
	for (i = 0; i < 2000; i++) {
		memset(a, 0, 2 * size);
		random_world(w, &seed);
		walk(w, a, &s);
		if (!s.nr || w->regs.sp % 8 ||
		    w->regs.sp - w->stack_at >= 8 * WORDS)
			continue;
		mark_told(w, &s, keep);
		nr_told += s.frames || s.lead;
		for (j = 0; j < WORDS; j++)
			if (!keep[j])
				w->stack[j] = random_word(w, &seed);
		walk(w, b, &again);
		KUNIT_ASSERT_TRUE_MSG(test, again.nr == s.nr && !memcmp(a, b, size) &&
				      again.lead == s.lead && again.tail == s.tail &&
				      again.frames == s.frames,
				      "stack %u: %u points, then %u", i, s.nr, again.nr);
	}
	KUNIT_EXPECT_GT(test, nr_told, 100);
}

static struct kunit_case stack_cases[] = {
	KUNIT_CASE(frames_are_followed),
	KUNIT_CASE(depth_ends_a_walk),
	KUNIT_CASE(what_is_no_frame_is_not_followed),
	KUNIT_CASE(cycles_end),
	KUNIT_CASE(the_librarys_caller_is_found_below_its_frame),
	KUNIT_CASE(words_behind_calls_are_return_addresses),
	KUNIT_CASE(a_gap_ends_a_scan),
	KUNIT_CASE(the_stacks_beginning_ends_a_scan),
	KUNIT_CASE(what_is_left_of_calls_that_returned_is_passed_over),
	KUNIT_CASE(all_calls_are_known),
	KUNIT_CASE(stubs_with_branch_tracking_are_known),
	KUNIT_CASE(a_page_of_code_may_be_away),
	KUNIT_CASE(contexts_do_not_tell_where_things_are),
	KUNIT_CASE(random_stacks_are_walked_within_the_limits),
	KUNIT_CASE(nothing_else_decides_than_a_walk_tells),
	{ }
};

static struct kunit_suite stack_suite = {
	.name = "hipec_stack",
	.test_cases = stack_cases,
};

kunit_test_suites(&stack_suite);
