// SPDX-License-Identifier: GPL-2.0-only
/*
 * Damage to a text, byte by byte and token by token: what a slip of the hand, a
 * bad merge or a hostile author makes of a source.
 */
#include <ctype.h>

#include "fuzz.h"

#define MAX_SIZE 65536	/* beyond it damage does not make a text longer, */
#define MAX_HUGE ((1u << 20) + 64)	/* but once in a while */

/* Words that the lexer, the rules or the assembler know. */
static const char *const words[] = {
	"Event", "Init", "PageFault", "Replace", "Timer", "Access", "Ghosts",
	"Int", "Queue", "Page", "Field", "param", "counter", "shared", "const",
	"by", "in", "if", "else", "while", "for", "do", "goto", "break", "continue",
	"return", "TRUE", "NONE", "HEAD", "TAIL", "REFERENCE", "RESET",
	"_free_queue", "_free_count", "FaultedAddress", "EnQueue", "DeQueue",
	"Length", "Request", "Random", "Prefetch", "Next", "Select", "Load", "InQ",
	"SketchAdd", "SketchGet",
	"(", ")", "{", "}", "[", "]", ";", ",", ":", "?", ".", "..", "->", "=", "==",
	"!=", "<=", "&&", "||", "<<", ">>", "<<=", "++", "--", "+", "-", "*",
	"/", "%", "!", "~", "/*", "*/", "//", "\"", "'", "\\", "#", "@",
	"policy", "operands", "event", "jump", "always", "ifnot", "arith",
	"comp", "select", "queueref", "queues", "ints", "; line 4294967295",
	"EF BE AD DE", "00", "0F",
};

static const char *const numbers[] = {
	"0", "1", "63", "64", "255", "256", "4093", "4094", "65535", "65536",
	"1048576", "1048577", "2147483648", "4294967295", "4294967296",
	"9223372036854775807", "9223372036854775808",
	"99999999999999999999999", "0x", "0x7fffffffffffffff",
	"0xffffffffffffffff", "010", "1e9", "-1", "-9223372036854775808",
};

/* What is repeated to nest deeply, or to make very many. */
static const char *const repeated[] = {
	"(", "{", "[", "!", "-", "~", "++", "if (1) ", "while (v0) ", "do ",
	"for (;;) ", "1 + ", "v0 = ", "1 ? 2 : ", "1 && ", "a0[", "Ref(",
	"page.", "}", ")", ";", "x;", "L: ", "else ", "v0++;", "/*", "//\n",
	"\n", " ", "\xff", "@", "Int x;", "Event A() { }\n", "Int a[1], ",
	"v0 = v1 / v2;", "if (v0 < 3) v1++; else v1--;", "page = NONE;",
	"     1  jump always, 1\n", "    00  int x\n", "event 1 PageFault\n",
	"f(1,", "1,", "9",
};

/* The token at @at: a word, a number, or one character. */
static size_t token_size(const struct text *t, size_t at)
{
	size_t end = at;

	while (end < t->size &&
	       (isalnum((u8)t->s[end]) || t->s[end] == '_'))
		end++;
	return end > at ? end - at : at < t->size;
}

/* The start of some token. */
static size_t token_at(const struct text *t, u64 *state)
{
	size_t at = below(state, t->size);
	u32 i;

	for (i = 0; i < 64 && at < t->size && isspace((u8)t->s[at]); i++)
		at++;
	while (at && at < t->size &&
	       (isalnum((u8)t->s[at - 1]) || t->s[at - 1] == '_') &&
	       (isalnum((u8)t->s[at]) || t->s[at] == '_'))
		at--;
	return at;
}

/* Some stretch of it: bytes, tokens, or lines. */
static size_t stretch(const struct text *t, size_t *at, u64 *state)
{
	size_t end;
	u32 n;

	*at = token_at(t, state);
	switch (below(state, 4)) {
	case 0:
		*at = below(state, t->size);
		end = *at + 1 + below(state, 8);
		break;
	case 1:
		end = *at + token_size(t, *at);
		break;
	case 2:
		for (end = *at, n = 1 + below(state, 12); n--; )
			end += token_size(t, end);
		break;
	default:
		while (*at && t->s[*at - 1] != '\n')
			(*at)--;
		end = *at;
		for (n = 1 + below(state, 5); n-- && end < t->size; end++)
			while (end < t->size && t->s[end] != '\n')
				end++;
	}
	return (end < t->size ? end : t->size) - *at;
}

static void insert_word(struct text *t, size_t at, const char *s)
{
	char padded[64];
	int n = snprintf(padded, sizeof(padded), " %s ", s);

	text_insert(t, at, padded, n);
}

/* A copy of a stretch of @from, which may be @t itself, goes into @t. */
static void splice(struct text *t, const struct text *from, u64 *state)
{
	static struct text copy;
	size_t at, size;

	if (!from->size)
		return;
	size = stretch(from, &at, state);
	text_set(&copy, from->s + at, size);
	text_insert(t, below(state, 2) ? token_at(t, state) :
		    below(state, t->size + 1), copy.s, copy.size);
}

static void swap(struct text *t, u64 *state)
{
	static struct text copy;
	size_t at, size = stretch(t, &at, state);

	text_set(&copy, t->s + at, size);
	text_delete(t, at, size);
	text_insert(t, token_at(t, state), copy.s, copy.size);
}

static void replace_number(struct text *t, u64 *state)
{
	size_t at = below(state, t->size), i;

	for (i = 0; i < t->size && !isdigit((u8)t->s[at]); i++)
		at = (at + 1) % t->size;
	text_delete(t, at, token_size(t, at));
	insert_word(t, at, numbers[below(state, ARRAY_SIZE(numbers))]);
}

static void rename_word(struct text *t, u64 *state)
{
	static const u32 sizes[] = { 1, 31, 32, 62, 63, 64, 65, 200, 5000 };
	u32 n = sizes[below(state, ARRAY_SIZE(sizes))];
	size_t at = token_at(t, state);

	text_delete(t, at, token_size(t, at));
	while (n--)
		text_insert(t, at, "n", 1);
}

static void nest(struct text *t, u64 *state)
{
	static const u32 times[] = { 2, 10, 100, 499, 500, 501, 3000, 20000 };
	const char *s = repeated[below(state, ARRAY_SIZE(repeated))];
	u32 n = times[below(state, ARRAY_SIZE(times))], i;
	size_t max = one_in(state, 200) ? MAX_HUGE : MAX_SIZE;
	static struct text many;

	text_set(&many, "", 0);
	for (i = 0; i < n && many.size + t->size < max; i++)
		text_insert(&many, many.size, s, strlen(s));
	text_insert(t, token_at(t, state), many.s, many.size);
}

static void change_byte(struct text *t, u64 *state)
{
	static const char bytes[] = {
		0, '\r', '\n', '\t', '\f', 0x1b, 0x7f, (char)0x80, (char)0xff,
		(char)0xc3, (char)0xe2, ' ', '"', '\'', '\\',
	};
	size_t at = below(state, t->size);

	switch (below(state, 3)) {
	case 0:
		t->s[at] ^= 1 << below(state, 8);
		break;
	case 1:
		text_insert(t, at, &bytes[below(state, sizeof(bytes))], 1);
		break;
	default:
		t->s[at] = bytes[below(state, sizeof(bytes))];
	}
}

static void line_ends(struct text *t, u64 *state)
{
	bool adds = below(state, 2);
	size_t i;

	for (i = 0; i < t->size; i++) {
		if (t->s[i] != '\n')
			continue;
		if (adds)
			text_insert(t, i++, "\r", 1);
		else if (one_in(state, 4))
			t->s[i] = '\r';
	}
}

static void damage_once(struct text *t, const struct text *other, u64 *state)
{
	size_t at, size;

	if (!t->size) {
		insert_word(t, 0, words[below(state, ARRAY_SIZE(words))]);
		return;
	}
	switch (below(state, 16)) {
	case 0:
	case 1:
		size = stretch(t, &at, state);
		text_delete(t, at, size);
		break;
	case 2:
	case 3:
		splice(t, t, state);
		break;
	case 4:
	case 5:
		splice(t, other, state);
		break;
	case 6:
		swap(t, state);
		break;
	case 7:
	case 8:
		at = token_at(t, state);
		text_delete(t, at, token_size(t, at));
		/* fall through */
	case 9:
		insert_word(t, token_at(t, state),
			    words[below(state, ARRAY_SIZE(words))]);
		break;
	case 10:
		replace_number(t, state);
		break;
	case 11:
		if (one_in(state, 3))
			rename_word(t, state);
		else
			replace_number(t, state);
		break;
	case 12:
		nest(t, state);
		break;
	case 13:
		if (one_in(state, 4))
			t->size = below(state, t->size + 1);
		break;
	case 14:
		if (one_in(state, 4))
			line_ends(t, state);
		break;
	default:
		change_byte(t, state);
	}
}

/**
 * damage() - change a text here and there
 * @t:     the text
 * @other: one that parts may come from
 * @state: of the random numbers
 */
void damage(struct text *t, const struct text *other, u64 *state)
{
	u32 n = 1 + below(state, one_in(state, 4) ? 12 : 2);

	while (n--)
		damage_once(t, other, state);
	if (t->size > MAX_HUGE)
		t->size = MAX_HUGE;
}
