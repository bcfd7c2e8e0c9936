// SPDX-License-Identifier: GPL-2.0-only
/*
 * Assembler text -> image: what -S and `hipec dis` print, and what is written by
 * hand in its place. Numbers and words in hex in front of a command are for the
 * reader; the text behind them says what the command is.
 *
 *	policy NAME
 *	source SHA-256
 *	needs NEED[, NEED]...
 *	ghosts N %
 *	timer N ms
 *	operands
 *	    SLOT  TYPE  NAME [= VALUE [in LOW..HIGH]] [[N]] [= ARRAY[0]] [by FIELD]
 *						      [, FLAG]...
 *	event NUMBER NAME [; line N]
 *	    [NUMBER] [WORD] COMMAND [; line N]
 *
 * A ';' starts a comment, and so does a '#' in front of a line. One that starts
 * with `line N` says where the event or command comes from, and those that follow
 * in the event until the next; `line N` behind the command does as well. Without
 * any, a command comes from its line of this text. Without `source` the image has
 * none, without `needs` it needs what its commands and declarations use.
 *
 * Interface:
 * ampc_assemble()  a text in memory -> an image that the verifier accepts
 */
#include <ctype.h>
#include <stdlib.h>

#include "ampc.h"
#include "../userlib/image/asm.h"
#include "../userlib/image/mkimage.h"

/* One line: its text without comment, and what the comment says. */
struct line {
	u32 number;		/* in this text, from 1 */
	char *text;
	u32 from;		/* `line N`, or 0 */
};

struct assembly {
	struct ampc *c;
	struct hipec_mkimage image;
	struct hipec_asm names;
	struct {
		const char *key, *array;	/* names, or NULL */
		u32 line;
	} slot[HIPEC_SLOT_SYSTEM];
	struct {
		struct hipec_asm_source *source;
		u32 nr, max;
		u32 line;			/* of the event itself */
		u32 *words, *lines;
		u32 *at;			/* line of this text of each word */
	} event[HIPEC_NR_EVENTS];
	u32 *from;		/* of each line of this text */
	u32 last_from;
	bool in_operands;
};

/* All of a line but its comment. */
static struct ampc_loc place(const struct assembly *as, u32 number)
{
	struct ampc_loc loc = { .line = number, .end_line = number, .col = 1 };
	size_t len;
	const char *s = ampc_source_line(as->c, number, &len);

	if (!s)
		return (struct ampc_loc){ 0 };
	if (memchr(s, ';', len))
		len = (const char *)memchr(s, ';', len) - s;
	while (len && isspace((unsigned char)s[len - 1]))
		len--;
	while (loc.col <= len && isspace((unsigned char)s[loc.col - 1]))
		loc.col++;
	loc.end_col = len + 1;
	return loc;
}

static void expected(struct assembly *as, u32 line, const char *what,
		     const char *found)
{
	const char *text = *found ? ampc_printf(as->c, "'%s'", found) :
				    "the end of the line";

	ampc_report(as->c, place(as, line), EXPECTED, what, text);
}

/* Words of a line */

static char *skip_space(char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

/* Cut the word off the front of @s, up to a space or a character of @stop. */
static char *take_word(struct ampc *c, char **s, const char *stop)
{
	char *word = skip_space(*s), *end = word;

	while (*end && !isspace((unsigned char)*end) && !strchr(stop, *end))
		end++;
	*s = skip_space(end);
	return ampc_strndup(c, word, end - word);
}

/* Take the text @what off the front of @s, if it is there. */
static bool take(char **s, const char *what)
{
	size_t len = strlen(what);

	if (strncmp(*s, what, len))
		return false;
	*s = skip_space(*s + len);
	return true;
}

static bool number(const char *word, s64 max, s64 *n)
{
	return hipec_asm_number(word, strlen(word), n) && *n >= 0 && *n <= max;
}

/* `line N` at @s, and nothing or a ':' behind it. */
static u32 line_number(const char *s)
{
	unsigned long n;
	char *end;

	if (strncmp(s, "line ", 5) || !isdigit((unsigned char)s[5]))
		return 0;
	n = strtoul(s + 5, &end, 10);
	return (!*end || *end == ':') && n <= UINT32_MAX ? n : 0;
}

/* The last two words, if they are `line N` behind something else. */
static u32 cut_line_number(char *text)
{
	char *s = strrchr(text, ' ');
	u32 n;

	while (s && s > text && s[-1] != ' ')
		s--;
	if (!s || s == text)
		return 0;
	n = line_number(s);
	if (n)
		*s = 0;
	return n;
}

static void read_line(struct assembly *as, u32 nr, struct line *l)
{
	size_t len, n;
	const char *s = ampc_source_line(as->c, nr, &len);
	char *comment;

	for (n = len; n && isspace((unsigned char)s[n - 1]); n--)
		;
	l->number = nr;
	l->text = ampc_strndup(as->c, s, n);
	comment = strchr(l->text, ';');
	if (comment) {
		*comment = 0;
		l->from = line_number(skip_space(comment + 1));
	} else {
		l->from = cut_line_number(l->text);
	}
	n = strlen(l->text);
	while (n && isspace((unsigned char)l->text[n - 1]))
		l->text[--n] = 0;
}

/* Declarations */

static bool find_slot(const struct assembly *as, const char *name, u32 *slot)
{
	for (*slot = 0; *slot < as->image.nr_slots; (*slot)++)
		if (!strcmp(as->image.slot[*slot].name, name))
			return true;
	return false;
}

static bool read_flags(struct assembly *as, u32 line, char *s, u8 *flags)
{
	char *word;
	u32 flag;

	while (take(&s, ",")) {
		word = take_word(as->c, &s, ",");
		flag = hipec_asm_flag(word, hipec_vm_operand_flag_text);
		if (!flag) {
			expected(as, line, "a flag", word);
			return false;
		}
		*flags |= flag;
	}
	if (*s)
		expected(as, line, "','", s);
	return !*s;
}

/* `LOW..HIGH` */
static bool read_range(struct assembly *as, u32 line, u32 slot, char **s)
{
	char *word = take_word(as->c, s, ",");

	if (hipec_asm_range(word, &as->image.slot[slot].low,
			    &as->image.slot[slot].high))
		return true;
	expected(as, line, "a range", word);
	return false;
}

/* `= VALUE in LOW..HIGH`, `= ARRAY[0]`, `[N]`, `by FIELD` */
static bool read_value(struct assembly *as, u32 line, u32 slot, char **s)
{
	struct ampc *c = as->c;
	char *word;

	if (take(s, "=")) {
		word = take_word(c, s, ",[");
		if (as->image.slot[slot].type == HIPEC_TYPE_QUEUE_REF) {
			as->slot[slot].array = word;
			take(s, "[0]");
		} else if (!hipec_asm_number(word, strlen(word),
					     &as->image.slot[slot].value)) {
			expected(as, line, "a number", word);
			return false;
		}
		if (take(s, "in ") && !read_range(as, line, slot, s))
			return false;
	} else if (take(s, "[")) {
		word = take_word(c, s, "]");
		if (!number(word, UINT32_MAX, &as->image.slot[slot].value) ||
		    !take(s, "]")) {
			expected(as, line, "a number of elements", word);
			return false;
		}
	}
	if (take(s, "by "))
		as->slot[slot].key = take_word(c, s, ",");
	return true;
}

/* A name may be as long as in a source; a listing has room for no more. */
static void limit_name(struct assembly *as, u32 line, const char *name)
{
	if (strlen(name) > AMPC_MAX_NAME)
		ampc_report(as->c, place(as, line), NAME_LONG, AMPC_MAX_NAME);
}

static void read_operand(struct assembly *as, const struct line *l)
{
	u32 slot = as->image.nr_slots, type;
	char *s = l->text, *word = take_word(as->c, &s, ""), *end;
	unsigned long nr = strtoul(word, &end, 16);

	if (!*word || *end || nr != slot || slot == HIPEC_SLOT_SYSTEM) {
		expected(as, l->number,
			 slot == HIPEC_SLOT_SYSTEM ? "an event" :
			 ampc_printf(as->c, "slot %02X", slot), word);
		return;
	}
	word = take_word(as->c, &s, "");
	for (type = HIPEC_TYPE_INT; type <= HIPEC_TYPE_FIELD; type++)
		if (!strcmp(hipec_vm_type_text(type), word))
			break;
	if (type > HIPEC_TYPE_FIELD) {
		expected(as, l->number, "a type", word);
		return;
	}
	word = take_word(as->c, &s, ",[");
	if (!*word) {
		expected(as, l->number, "a name", s);
		return;
	}
	limit_name(as, l->number, word);
	as->image.nr_slots++;
	as->image.slot[slot].type = type;
	as->image.slot[slot].name = word;
	as->names.slot[slot] = word;
	as->slot[slot].line = l->number;
	if (read_value(as, l->number, slot, &s))
		read_flags(as, l->number, s, &as->image.slot[slot].flags);
}

/* Fields and arrays may be declared behind what mentions them. */
static void resolve_names(struct assembly *as)
{
	u32 i, slot;

	for (i = 0; i < as->image.nr_slots; i++) {
		if (as->slot[i].key && find_slot(as, as->slot[i].key, &slot))
			as->image.slot[i].key = slot;
		else if (as->slot[i].key)
			expected(as, as->slot[i].line, "a page field",
				 as->slot[i].key);
		if (as->slot[i].array && find_slot(as, as->slot[i].array, &slot))
			as->image.slot[i].value = slot;
		else if (as->slot[i].array)
			expected(as, as->slot[i].line, "a queue array",
				 as->slot[i].array);
	}
}

/* Events */

static void read_event(struct assembly *as, const struct line *l, char *s)
{
	u32 row = as->image.nr_events;
	char *word = take_word(as->c, &s, "");
	s64 nr;

	if (!number(word, HIPEC_NR_EVENTS - 1, &nr) ||
	    row == HIPEC_NR_EVENTS) {
		expected(as, l->number, "the number of an event", word);
		return;
	}
	word = take_word(as->c, &s, "");
	if (!*word || *s) {
		expected(as, l->number, "a name", *word ? s : word);
		return;
	}
	limit_name(as, l->number, word);
	as->image.event[row].number = nr;
	as->image.event[row].name = word;
	as->image.nr_events++;
	as->names.event[nr] = word;
	as->event[row].line = l->number;
	as->last_from = l->from;
	as->from[l->number] = l->from ? l->from : l->number;
	as->in_operands = false;
}

/* Skip the number of a command and its word in hex, where they are. */
static char *skip_word(char *s)
{
	char *at = skip_space(s), *end = at;
	u32 i;

	while (isdigit((unsigned char)*end))
		end++;
	if (end > at && isspace((unsigned char)*end))
		at = skip_space(end);
	for (i = 0, end = at; i < 4; i++, end += 3)
		if (!isxdigit((unsigned char)end[0]) ||
		    !isxdigit((unsigned char)end[1]) || end[2] != ' ')
			return at;
	return skip_space(end);
}

static void read_command(struct assembly *as, const struct line *l)
{
	u32 row = as->image.nr_events - 1;

	as->event[row].source =
		ampc_grow(as->c, as->event[row].source, as->event[row].nr,
			  &as->event[row].max,
			  sizeof(*as->event[row].source));
	as->event[row].source[as->event[row].nr++] = (struct hipec_asm_source){
		.text = skip_word(l->text), .line = l->number,
	};
	if (l->from)
		as->last_from = l->from;
	as->from[l->number] = as->last_from ? as->last_from : l->number;
}

/* `ghosts N %`, `timer N ms` */
static void read_setting(struct assembly *as, const struct line *l, char *s,
			 const char *unit, u32 *setting)
{
	char *word = take_word(as->c, &s, "%");
	s64 n;

	if (!number(word, UINT32_MAX, &n))
		expected(as, l->number, "a number", word);
	else if (strcmp(s, unit))
		expected(as, l->number, ampc_printf(as->c, "'%s'", unit), s);
	else
		*setting = n;
}

/* What a host must have: `needs context, hint`. */
static void read_needs(struct assembly *as, const struct line *l, char *s)
{
	char *word;
	u32 need;

	do {
		word = take_word(as->c, &s, ",");
		need = hipec_asm_flag(word, hipec_vm_need_text);
		if (!need) {
			expected(as, l->number, "a need", word);
			return;
		}
		as->image.needs |= need;
	} while (take(&s, ","));
	if (*s)
		expected(as, l->number, "','", s);
	as->image.says_needs = true;
}

/* 64 digits: the hash of the text that was compiled. */
static void read_hash(struct assembly *as, const struct line *l, const char *s)
{
	u8 *hash = as->image.source_hash;
	char byte[3] = "", *end;
	u32 i;

	for (i = 0; i < HIPEC_HASH_SIZE && strlen(s) >= 2 * (i + 1); i++) {
		memcpy(byte, s + 2 * i, 2);
		if (!isxdigit((unsigned char)byte[0]))
			break;
		hash[i] = strtoul(byte, &end, 16);
		if (*end)
			break;
	}
	if (i < HIPEC_HASH_SIZE || s[2 * i])
		expected(as, l->number,
			 ampc_printf(as->c, "%u hexadecimal digits",
				     2 * HIPEC_HASH_SIZE), s);
}

static void read_name(struct assembly *as, const struct line *l, char *s)
{
	if (strlen(s) >= HIPEC_NAME_MAX)
		ampc_report(as->c, place(as, l->number), POLICY_NAME_LONG, s,
			    HIPEC_NAME_MAX - 1);
	else
		snprintf(as->c->policy, sizeof(as->c->policy), "%s", s);
}

static void read_text(struct assembly *as, const struct line *l)
{
	char *s = skip_space(l->text);

	if (!*s || *s == '#')
		return;
	if (take(&s, "event "))
		read_event(as, l, s);
	else if (as->image.nr_events)
		read_command(as, l);
	else if (take(&s, "policy "))
		read_name(as, l, s);
	else if (take(&s, "ghosts "))
		read_setting(as, l, s, "%", &as->image.ghosts);
	else if (take(&s, "source "))
		read_hash(as, l, s);
	else if (take(&s, "needs "))
		read_needs(as, l, s);
	else if (take(&s, "timer "))
		read_setting(as, l, s, "ms", &as->image.timer_ms);
	else if (!strcmp(s, "operands"))
		as->in_operands = true;
	else if (as->in_operands)
		read_operand(as, l);
	else
		expected(as, l->number, "'operands' or 'event'", s);
}

static void assemble_event(struct assembly *as, u32 row)
{
	u32 nr = as->event[row].nr, i;
	struct hipec_asm_error err;
	u32 *words = ampc_alloc(as->c, (nr + 1) * sizeof(u32));
	u32 *at = ampc_alloc(as->c, (nr + 1) * sizeof(u32));
	u32 *lines = ampc_alloc(as->c, (nr + 1) * sizeof(u32));
	int ret;

	ret = hipec_asm_event(&as->names, as->event[row].source, nr, words, at,
			      nr + 1, &err);
	if (ret == -EINVAL)
		ampc_report(as->c, place(as, err.line), ASSEMBLER, err.text);
	if (ret < 0)
		return;
	at[0] = as->event[row].line;
	for (i = 0; i < (u32)ret; i++)
		lines[i] = as->from[at[i]];
	as->event[row].at = at;
	as->image.event[row].words = words;
	as->image.event[row].lines = lines;
	as->image.event[row].nr = ret;
}

static void limit_words(struct assembly *as)
{
	u32 row, words = 0;

	for (row = 0; row < as->image.nr_events; row++) {
		words += as->image.event[row].nr;
		if (words <= HIPEC_MAX_WORDS)
			continue;
		ampc_report(as->c, place(as, as->event[row].line), EVENT_LONG,
			    as->image.event[row].name, HIPEC_MAX_WORDS);
		return;
	}
}

/* The line of this text that the verifier speaks of. */
static u32 refused_line(const struct assembly *as,
			const struct hipec_verify_error *err)
{
	u32 i;

	if (err->kind <= HIPEC_VERIFY_TOO_MUCH ||
	    err->kind == HIPEC_VERIFY_EVENT_MISSING ||
	    err->kind == HIPEC_VERIFY_TIMER ||
	    err->kind == HIPEC_VERIFY_NEEDS)
		return 0;
	for (i = 0; i < as->image.nr_events; i++)
		if (as->image.event[i].number == err->event &&
		    err->command < as->image.event[i].nr)
			return as->event[i].at[err->command];
	return 0;
}

static void make_image(struct assembly *as, struct hipec_policy *p)
{
	struct hipec_verify_error err;
	struct ampc *c = as->c;
	struct hipec_text t;
	char text[512];
	void *bytes;

	as->image.name = c->policy;
	as->image.with_lines = true;
	as->image.is_dense = true;
	if (hipec_mkimage(&as->image, &bytes, &c->image_size)) {
		perror("ampc");
		exit(1);
	}
	c->image = ampc_alloc(c, c->image_size);
	memcpy(c->image, bytes, c->image_size);
	free(bytes);
	if (!hipec_image_parse(c->image, c->image_size, p, &err) &&
	    !hipec_verify(p, &err))
		return;
	hipec_text_init(&t, text, sizeof(text));
	hipec_verify_explain(p, &err, &t);
	ampc_report(c, place(as, refused_line(as, &err)), ASSEMBLER, text);
}

/**
 * ampc_assemble() - make an image of assembler text
 * @c: compilation with the text for a source; gets the image
 * @p: gets the image, parsed
 *
 * Return: 0; -EINVAL if the text has errors, which are reported.
 */
int ampc_assemble(struct ampc *c, struct hipec_policy *p)
{
	struct assembly *as = ampc_alloc(c, sizeof(*as));
	struct line l;
	u32 i;

	as->c = c;
	c->is_assembler = true;
	as->from = ampc_alloc(c, (c->source.nr_lines + 1) * sizeof(u32));
	hipec_asm_init(&as->names);
	for (i = 1; i <= c->source.nr_lines; i++) {
		l = (struct line){ 0 };
		read_line(as, i, &l);
		read_text(as, &l);
	}
	resolve_names(as);
	for (i = 0; i < as->image.nr_events; i++)
		assemble_event(as, i);
	limit_words(as);
	if (!c->nr_errors)
		make_image(as, p);
	return c->nr_errors ? -EINVAL : 0;
}
