// SPDX-License-Identifier: GPL-2.0-only
/*
 * The assembler. See asm.h for what a line may hold.
 *
 * It knows names, not types: whether a slot is of the type that a command wants
 * is the verifier's to say, and tests need to write commands that are wrong.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "asm.h"

/* What is left of a line. */
struct cursor {
	const char *s;
};

/* A word of the line; not terminated. */
struct token {
	const char *s;
	size_t len;
};

static int __attribute__((format(printf, 2, 3)))
wrong(struct hipec_asm_error *err, const char *format, ...)
{
	va_list ap;

	err->line = 0;
	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	return -EINVAL;
}

static void skip_space(struct cursor *c)
{
	while (*c->s == ' ' || *c->s == '\t')
		c->s++;
}

/* Whether nothing but a comment is left; `#7` is a slot and no comment. */
static bool at_end(struct cursor *c)
{
	skip_space(c);
	return !*c->s || *c->s == '\n' || *c->s == '\r' ||
	       (*c->s == '#' && !isdigit((unsigned char)c->s[1]));
}

static struct token next_token(struct cursor *c)
{
	struct token t = { .s = c->s };

	while (*c->s && !isspace((unsigned char)*c->s) && *c->s != ',')
		c->s++;
	t.len = c->s - t.s;
	return t;
}

static bool token_is(const struct token *t, const char *word)
{
	return word && strlen(word) == t->len && !strncmp(t->s, word, t->len);
}

static bool token_is_word(const struct token *t, const char *word)
{
	return word && strlen(word) == t->len &&
	       !strncasecmp(t->s, word, t->len);
}

/**
 * hipec_asm_number() - read a number, decimal or 0x
 * @s:   text, not necessarily terminated
 * @len: bytes of it
 * @n:   the number
 *
 * From -2^63 to 2^64 - 1; what is above 2^63 - 1 wraps around, so that a
 * bit pattern may be written in hexadecimal.
 *
 * Return: whether all of @s is one number.
 */
bool hipec_asm_number(const char *s, size_t len, s64 *n)
{
	char buf[24], *end;
	bool minus = len && *s == '-';
	size_t i = minus;
	int base;

	if (i >= len || len >= sizeof(buf) || !isdigit((unsigned char)s[i]))
		return false;
	memcpy(buf, s, len);
	buf[len] = 0;
	base = buf[i] == '0' && (buf[i + 1] == 'x' || buf[i + 1] == 'X') ?
	       16 : 10;	/* never octal: 010 is ten */
	errno = 0;
	if (minus)
		*n = strtoll(buf, &end, base);
	else
		*n = strtoull(buf, &end, base);
	return !*end && !errno;
}

/**
 * hipec_asm_range() - read a range, `LOW..HIGH`
 * @word: text
 * @low:  its first number
 * @high: its last
 *
 * Return: whether all of @word is one range, with something in it or not.
 */
bool hipec_asm_range(const char *word, s64 *low, s64 *high)
{
	const char *dots = strstr(word, "..");

	return dots && hipec_asm_number(word, dots - word, low) &&
	       hipec_asm_number(dots + 2, strlen(dots + 2), high);
}

/**
 * hipec_asm_flag() - the flag that a word stands for
 * @word: as the table has it
 * @text: gives the word of each flag that exists, as hipec_vm_operand_flag_text()
 *
 * Return: one bit; 0 if there is no such flag.
 */
u32 hipec_asm_flag(const char *word, const char *(*text)(u32 flag))
{
	u32 flag;

	for (flag = 1; flag; flag <<= 1)
		if (text(flag) && !strcmp(text(flag), word))
			break;
	return flag;
}

static bool token_number(const struct token *t, s64 max, u32 *n)
{
	s64 v;

	if (!hipec_asm_number(t->s, t->len, &v) || v < 0 || v > max)
		return false;
	*n = v;
	return true;
}

/* `#N`: the byte itself, whatever the operand wants. */
static bool raw_number(const struct token *t, s64 max, u32 *n)
{
	struct token rest = { .s = t->s + 1, .len = t->len - 1 };

	return t->len && *t->s == '#' && token_number(&rest, max, n);
}

static bool find_name(const char *const *names, u32 nr, const struct token *t,
		      u32 *found)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (token_is(t, names[i])) {
			*found = i;
			return true;
		}
	return false;
}

/* Selectors by word, or by number as the disassembler prints unknown ones. */
static bool find_selector(u8 kind, const struct token *t, u32 *found)
{
	u32 i;

	for (i = 0; i < 256; i++)
		if (token_is_word(t, hipec_vm_selector(kind, i))) {
			*found = i;
			return true;
		}
	return token_number(t, 255, found);
}

static bool has_selectors(u8 kind)
{
	u32 i;

	for (i = 0; i < 256; i++)
		if (hipec_vm_selector(kind, i))
			return true;
	return false;
}

static bool find_target(const struct hipec_asm *as, const struct token *t,
			u32 *found)
{
	size_t i;

	for (i = 0; i < as->nr_labels; i++)
		if (as->label[i].len == t->len &&
		    !strncmp(as->label[i].name, t->s, t->len)) {
			*found = as->label[i].target;
			return true;
		}
	return token_number(t, 0xffff, found);
}

/* Byte of operand @i of @op, from its text. */
static int read_operand(const struct hipec_asm *as, const struct hipec_op *op,
			int i, const struct token *t, u32 *byte,
			struct hipec_asm_error *err)
{
	u8 kind = op->kind[i];
	bool found;

	if (raw_number(t, 255, byte))
		return 0;
	if (kind == HIPEC_KIND_EVENT) {
		found = find_name(as->event, HIPEC_NR_EVENTS, t, byte) ||
			token_number(t, 255, byte);
	} else if (has_selectors(kind)) {
		found = find_selector(kind, t, byte);
	} else {
		found = find_name(as->slot, HIPEC_NR_SLOTS, t, byte);
		if (!found && kind == HIPEC_KIND_INT_OPT && token_is(t, "-")) {
			*byte = 0;
			found = true;
		}
	}
	if (found)
		return 0;
	return wrong(err, "operand %c of %s: '%.*s' is no name here; want %s",
		     'a' + i, op->word, (int)t->len, t->s,
		     hipec_vm_kind_text(kind));
}

static int read_operands(const struct hipec_asm *as, u8 code, struct cursor *c,
			 u32 *word, struct hipec_asm_error *err)
{
	const struct hipec_op *op = &hipec_ops[code];
	const char *s = op->syntax + strcspn(op->syntax, " ");
	u32 w = (u32)code << 24, v = 0;
	struct token t;
	int ret, i;

	for (; *s; s++) {
		skip_space(c);
		if (*s == ' ')
			continue;
		if (at_end(c))
			return wrong(err, "%s ends early; want '%s'", op->word,
				     op->syntax);
		if (*s != '$') {
			if (*c->s != *s)
				return wrong(err, "%s: want '%c' before '%s'",
					     op->word, *s, c->s);
			c->s++;
			continue;
		}
		t = next_token(c);
		if (!t.len)
			return wrong(err, "%s: an operand is missing; want '%s'",
				     op->word, op->syntax);
		if (*++s == 't') {
			if (!raw_number(&t, 0xffff, &v) &&
			    !find_target(as, &t, &v))
				return wrong(err, "%s: there is no label '%.*s:'",
					     op->word, (int)t.len, t.s);
			w |= v;
			continue;
		}
		i = *s - 'a';
		ret = read_operand(as, op, i, &t, &v, err);
		if (ret)
			return ret;
		w |= v << (16 - 8 * i);
	}
	if (!at_end(c))
		return wrong(err, "'%s' after the last operand; want '%s'",
			     c->s, op->syntax);
	*word = w;
	return 0;
}

/* `name:` at the start of a line; a command's operands have no colon. */
static bool take_label(struct cursor *c, struct token *label)
{
	struct cursor at = *c;

	skip_space(&at);
	label->s = at.s;
	while (isalnum((unsigned char)*at.s) || *at.s == '_')
		at.s++;
	label->len = at.s - label->s;
	if (!label->len || *at.s != ':' ||
	    isdigit((unsigned char)*label->s))
		return false;
	c->s = at.s + 1;
	return true;
}

/**
 * hipec_asm_init() - no names but those of the machine
 * @as: filled; the caller adds the policy's slots and events
 */
void hipec_asm_init(struct hipec_asm *as)
{
	u32 i;

	memset(as, 0, sizeof(*as));
	for (i = 0; i < HIPEC_NR_SLOTS - HIPEC_SLOT_SYSTEM; i++)
		as->slot[HIPEC_SLOT_SYSTEM + i] = hipec_system_slots[i].name;
	for (i = 0; i < HIPEC_NR_EVENTS; i++)
		as->event[i] = hipec_vm_event_text(i);
}

/**
 * hipec_asm_line() - assemble one line
 * @as:   names
 * @text: the line, ended by zero or newline
 * @word: the command, if there is one
 * @err:  what is wrong, and what is wanted instead
 *
 * Return: 1 with @word set; 0 if the line holds no command; -EINVAL with @err
 *         set.
 */
int hipec_asm_line(const struct hipec_asm *as, const char *text, u32 *word,
		   struct hipec_asm_error *err)
{
	struct cursor c = { .s = text };
	struct token t;
	u32 code;
	int ret;

	take_label(&c, &t);
	if (at_end(&c))
		return 0;
	t = next_token(&c);
	if (token_is_word(&t, ".word")) {
		skip_space(&c);
		t = next_token(&c);
		if (!token_number(&t, 0xffffffff, word) || !at_end(&c))
			return wrong(err, ".word: want one number of 32 bits");
		return 1;
	}
	for (code = 0; code < 256; code++) {
		const char *s = hipec_ops[code].syntax;

		if (s && strcspn(s, " ") == t.len &&
		    !strncasecmp(s, t.s, t.len))
			break;
	}
	if (code == 256)
		return wrong(err, "'%.*s' is no command", (int)t.len, t.s);
	ret = read_operands(as, code, &c, word, err);
	return ret ? ret : 1;
}

/* Number the commands that follow labels. */
static int collect_labels(const struct hipec_asm_source *src, size_t nr_src,
			  struct hipec_asm_label *label, size_t *nr_labels,
			  struct hipec_asm_error *err)
{
	size_t i, j, n = 0;
	u32 command = 1;

	for (i = 0; i < nr_src; i++) {
		struct cursor c = { .s = src[i].text };
		struct token t;

		if (take_label(&c, &t)) {
			for (j = 0; j < n; j++) {
				if (label[j].len != t.len ||
				    strncmp(label[j].name, t.s, t.len))
					continue;
				wrong(err, "the label '%.*s' is there twice",
				      (int)t.len, t.s);
				err->line = src[i].line;
				return -EINVAL;
			}
			label[n++] = (struct hipec_asm_label){
				.name = t.s, .len = t.len, .target = command,
			};
		}
		command += !at_end(&c);
	}
	*nr_labels = n;
	return 0;
}

/**
 * hipec_asm_event() - assemble the lines of an event
 * @as:     names; labels are the event's own, not these
 * @src:    lines
 * @nr_src: number of them
 * @words:  gets the magic word and the commands
 * @lines:  gets the source line of each word, 0 for the magic
 * @max:    room in @words and @lines, 1 or more
 * @err:    what is wrong and in which line
 *
 * Context: any; allocates.
 * Return: words written, the magic included; -EINVAL with @err set; -E2BIG if
 *         there are more than @max; -ENOMEM.
 */
int hipec_asm_event(const struct hipec_asm *as,
		    const struct hipec_asm_source *src, size_t nr_src,
		    u32 *words, u32 *lines, size_t max,
		    struct hipec_asm_error *err)
{
	struct hipec_asm names = *as;
	struct hipec_asm_label *label;
	size_t i, n = 0;
	u32 word;
	int ret;

	label = calloc(nr_src + 1, sizeof(*label));
	if (!label)
		return -ENOMEM;
	ret = collect_labels(src, nr_src, label, &names.nr_labels, err);
	if (ret)
		goto out_labels;
	names.label = label;
	words[n] = HIPEC_EVENT_MAGIC;
	lines[n++] = 0;
	for (i = 0; i < nr_src; i++) {
		ret = hipec_asm_line(&names, src[i].text, &word, err);
		if (ret < 0) {
			err->line = src[i].line;
			goto out_labels;
		}
		if (!ret)
			continue;
		if (n == max) {
			ret = -E2BIG;
			goto out_labels;
		}
		words[n] = word;
		lines[n++] = src[i].line;
	}
	ret = n;
out_labels:
	free(label);
	return ret;
}
