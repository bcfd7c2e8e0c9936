// SPDX-License-Identifier: GPL-2.0-only
/*
 * .hpt text -> sections, operands, events and their words.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "file.h"

static const struct {
	const char *name;
	enum hpt_section section;
} sections[] = {
	{ "operands", HPT_OPERANDS },
	{ "pages after", HPT_PAGES_AFTER },
	{ "pages", HPT_PAGES },
	{ "page slots", HPT_PAGE_SLOTS },
	{ "set", HPT_SET },
	{ "code", HPT_CODE },
	{ "image", HPT_IMAGE },
	{ "run", HPT_RUN },
	{ "result", HPT_RESULT },
	{ "queues", HPT_QUEUES },
	{ "ints", HPT_INTS },
	{ "arrays", HPT_ARRAYS },
	{ "fields", HPT_FIELDS },
	{ "given up", HPT_GIVEN_UP },
};

/* Note what is wrong, as path:line: message; -EINVAL. */
int hpt_wrong(struct hpt *t, u32 line, const char *format, ...)
{
	va_list ap;
	int n;

	n = snprintf(t->error, sizeof(t->error), "%s:%u: ", t->path, line);
	va_start(ap, format);
	if (n > 0 && (size_t)n < sizeof(t->error))
		vsnprintf(t->error + n, sizeof(t->error) - n, format, ap);
	va_end(ap);
	return -EINVAL;
}

/* Next word of *rest, terminated in place; an empty string at the end. */
char *hpt_word(char **rest)
{
	char *word = *rest + strspn(*rest, " \t");
	char *end = word + strcspn(word, " \t");

	*rest = *end ? end + 1 : end;
	*end = 0;
	return word;
}

/* Whether all of @word is one number. */
bool hpt_number(const char *word, s64 *n)
{
	return hipec_asm_number(word, strlen(word), n);
}

/* Without comment and surrounding space. A `#` before a digit is no comment. */
static char *bare(char *s)
{
	char *c, *end;

	for (c = s; *c; c++)
		if (*c == '#' && !isdigit((unsigned char)c[1]) &&
		    (c == s || isspace((unsigned char)c[-1])))
			break;
	*c = 0;
	s += strspn(s, " \t");
	for (end = s + strlen(s); end > s; end--)
		if (!isspace((unsigned char)end[-1]))
			break;
	*end = 0;
	return s;
}

/* The rest of a `--` line behind the section's name; NULL: no such section. */
static char *section_of(char *heading, enum hpt_section *section)
{
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(sections); i++) {
		n = strlen(sections[i].name);
		if (!strncmp(heading, sections[i].name, n) &&
		    (!heading[n] || isspace((unsigned char)heading[n]))) {
			*section = sections[i].section;
			return heading + n + strspn(heading + n, " \t");
		}
	}
	return NULL;
}

static u32 free_user_event(const struct hpt *t)
{
	u32 n = HIPEC_EVENT_USER, i;

	for (i = 0; i < t->mk.nr_events; i++)
		if (t->mk.event[i].number >= n)
			n = t->mk.event[i].number + 1;
	return n;
}

static int add_event(struct hpt *t, char *rest, u32 line)
{
	char *name = hpt_word(&rest), *number = hpt_word(&rest);
	u32 i, row = t->mk.nr_events;
	s64 n = -1;

	if (!*name || *rest)
		return hpt_wrong(t, line, "want -- code EVENT [NUMBER]");
	if (row == HIPEC_NR_EVENTS)
		return hpt_wrong(t, line, "more events than an image may have");
	if (*number && (!hpt_number(number, &n) || n < 0 ||
			n >= HIPEC_NR_EVENTS))
		return hpt_wrong(t, line, "'%s' is no event number", number);
	for (i = 0; n < 0 && i < HIPEC_EVENT_USER; i++)
		if (hipec_vm_event_text(i) && !strcmp(hipec_vm_event_text(i), name))
			n = i;
	if (n < 0)
		n = free_user_event(t);
	if (n >= HIPEC_NR_EVENTS)
		return hpt_wrong(t, line, "there is no event number left");
	t->mk.event[row].name = name;
	t->mk.event[row].number = n;
	t->mk.nr_events++;
	t->names.event[n] = name;
	return 0;
}

/* Sort the lines of the file into sections. */
static int split(struct hpt *t)
{
	enum hpt_section section = HPT_NONE;
	char *next = t->text, *s;
	bool said = false;
	u32 line = 0;
	int ret;

	while ((s = strsep(&next, "\n"))) {
		line++;
		if (*s == '#' && !strstr(s, "SPDX-License-Identifier"))
			said = true;
		s = bare(s);
		if (!*s)
			continue;
		if (!said)
			return hpt_wrong(t, line, "want a comment first that says what property is tested");
		if (!strncmp(s, "--", 2)) {
			char *rest = section_of(s + 2 + strspn(s + 2, " \t"),
						&section);

			if (!rest)
				return hpt_wrong(t, line, "'%s' is no section",
						 s);
			if (section == HPT_CODE) {
				ret = add_event(t, rest, line);
				if (ret)
					return ret;
				continue;
			}
			if (section != HPT_GIVEN_UP && !*rest)
				continue;
			s = rest;	/* an empty line: nothing given up */
		}
		if (section == HPT_NONE)
			return hpt_wrong(t, line, "want a section: -- operands, -- code EVENT, ...");
		t->line[t->nr_lines++] = (struct hpt_line){
			.section = section, .line = line, .text = s,
			.event = t->mk.nr_events - 1,
		};
	}
	return 0;
}

static u8 flag_of(const char *word)
{
	return hipec_asm_flag(word, hipec_vm_operand_flag_text);
}

/* A number, or the slot of an operand that was declared before. */
static bool value_of(const struct hpt *t, const char *word, s64 *n)
{
	u32 i;

	if (hpt_number(word, n))
		return true;
	for (i = 0; i < t->mk.nr_slots; i++)
		if (t->names.slot[i] && !strcmp(t->names.slot[i], word)) {
			*n = i;
			return true;
		}
	return false;
}

/* `[VALUE [in LOW..HIGH]] [by FIELD]` behind the type of operand @slot. */
static int read_value(struct hpt *t, u32 line, char *rest, u32 slot)
{
	char *word = hpt_word(&rest);
	s64 value = 0, low = 0, high = 0, key = 0;

	if (*word && strcmp(word, "by")) {
		if (!value_of(t, word, &value))
			return hpt_wrong(t, line, "'%s' is no number and no name", word);
		word = hpt_word(&rest);
	}
	if (!strcmp(word, "in")) {
		word = hpt_word(&rest);
		if (!hipec_asm_range(word, &low, &high))
			return hpt_wrong(t, line, "'%s' is no range", word);
		word = hpt_word(&rest);
	}
	if (!strcmp(word, "by")) {
		word = hpt_word(&rest);
		if (!value_of(t, word, &key))
			return hpt_wrong(t, line, "'%s' is no field", word);
		word = hpt_word(&rest);
	}
	t->mk.slot[slot].key = key;
	t->mk.slot[slot].value = value;
	t->mk.slot[slot].low = low;
	t->mk.slot[slot].high = high;
	return *word ? hpt_wrong(t, line, "'%s' after the value", word) : 0;
}

/* `[N:] NAME [FLAG...] TYPE [VALUE [in LOW..HIGH]] [by FIELD]` */
static int add_operand(struct hpt *t, const struct hpt_line *l)
{
	char *rest = l->text, *name = hpt_word(&rest), *word, *end;
	u32 slot = t->mk.nr_slots, type;
	s64 n;
	u8 flags = 0;

	end = name + strlen(name) - 1;
	if (*end == ':') {
		*end = 0;
		if (!hpt_number(name, &n) || n < 0 || n >= HIPEC_SLOT_SYSTEM)
			return hpt_wrong(t, l->line, "'%s' is no slot", name);
		slot = n;
		name = hpt_word(&rest);
	}
	if (slot >= HIPEC_SLOT_SYSTEM)
		return hpt_wrong(t, l->line, "no slot is left");
	for (word = hpt_word(&rest); flag_of(word); word = hpt_word(&rest))
		flags |= flag_of(word);
	for (type = 1; type < 256; type++)
		if (!strcmp(word, hipec_vm_type_text(type)))
			break;
	if (type == 256 || !strcmp(word, "?"))
		return hpt_wrong(t, l->line, "'%s' is no type; want NAME [const] [param] [counter] [shared] int, queue, page, ints, queues, queueref or field", word);
	if (read_value(t, l->line, rest, slot))
		return -EINVAL;
	/* Slots that an explicit number leaves out are nameless integers. */
	while (t->mk.nr_slots <= slot)
		t->mk.slot[t->mk.nr_slots++].type = HIPEC_TYPE_INT;
	t->names.slot[slot] = strcmp(name, "-") ? name : NULL;
	t->mk.slot[slot].name = t->names.slot[slot];
	t->mk.slot[slot].type = type;
	t->mk.slot[slot].flags = flags;
	return 0;
}

static int add_operands(struct hpt *t)
{
	struct hpt_line *l;
	int ret;

	t->mk.slot[HIPEC_SLOT_FREE_QUEUE].name = "_free_queue";
	t->mk.slot[HIPEC_SLOT_FREE_QUEUE].type = HIPEC_TYPE_QUEUE;
	t->mk.slot[HIPEC_SLOT_FREE_COUNT].name = "_free_count";
	t->mk.slot[HIPEC_SLOT_FREE_COUNT].type = HIPEC_TYPE_INT;
	t->names.slot[HIPEC_SLOT_FREE_QUEUE] = "_free_queue";
	t->names.slot[HIPEC_SLOT_FREE_COUNT] = "_free_count";
	t->mk.nr_slots = HIPEC_SLOT_POLICY;
	hpt_for_each(l, t, HPT_OPERANDS) {
		ret = add_operand(t, l);
		if (ret)
			return ret;
	}
	return 0;
}

/* An event that a policy must have and the case does not care about. */
static void add_default_event(struct hpt *t, u32 number)
{
	static const u32 bare_return[] = {
		HIPEC_EVENT_MAGIC, (u32)HIPEC_OP_RETURN << 24,
	};
	u32 i, row = t->mk.nr_events;

	for (i = 0; i < row; i++)
		if (t->mk.event[i].number == number)
			return;
	if (row == HIPEC_NR_EVENTS)
		return;
	t->mk.event[row].name = hipec_vm_event_text(number);
	t->mk.event[row].number = number;
	t->mk.event[row].words = bare_return;
	t->mk.event[row].nr = ARRAY_SIZE(bare_return);
	t->mk.nr_events++;
}

static int assemble_event(struct hpt *t, u32 row, u32 *used, size_t room)
{
	struct hipec_asm_source *src = calloc(room, sizeof(*src));
	struct hipec_asm_error err = { 0 };
	struct hpt_line *l;
	size_t n = 0;
	int ret;

	if (!src)
		return hpt_wrong(t, 0, "out of memory");
	hpt_for_each(l, t, HPT_CODE)
		if (l->event == row)
			src[n++] = (struct hipec_asm_source){ l->text, l->line };
	ret = hipec_asm_event(&t->names, src, n, t->words + *used,
			      t->lines + *used, room - *used, &err);
	free(src);
	if (ret < 0)
		return hpt_wrong(t, err.line, "%s", err.text);
	t->mk.event[row].words = t->words + *used;
	t->mk.event[row].lines = t->lines + *used;
	t->mk.event[row].nr = ret;
	*used += ret;
	return 0;
}

static int assemble(struct hpt *t)
{
	size_t room = t->nr_lines + HIPEC_NR_EVENTS + 1;
	u32 i, used = 0;
	int ret;

	t->words = calloc(room, sizeof(u32));
	t->lines = calloc(room, sizeof(u32));
	if (!t->words || !t->lines)
		return hpt_wrong(t, 0, "out of memory");
	for (i = 0; i < t->mk.nr_events; i++) {
		ret = assemble_event(t, i, &used, room);
		if (ret)
			return ret;
	}
	add_default_event(t, HIPEC_EVENT_PAGEFAULT);
	add_default_event(t, HIPEC_EVENT_REPLACE);
	return 0;
}

static char *slurp(const char *path)
{
	FILE *f = fopen(path, "rb");
	size_t n = 0, room = 4096;
	char *text = NULL, *more;

	if (!f)
		return NULL;
	for (;;) {
		more = realloc(text, room + 1);
		if (!more)
			break;
		text = more;
		n += fread(text + n, 1, room - n, f);
		if (n < room) {
			text[n] = 0;
			if (!ferror(f)) {
				fclose(f);
				return text;
			}
			break;
		}
		room *= 2;
	}
	free(text);
	fclose(f);
	return NULL;
}

static char *base_name(const char *path)
{
	const char *base = strrchr(path, '/');
	char *name = strdup(base ? base + 1 : path), *dot;

	dot = name ? strrchr(name, '.') : NULL;
	if (dot && dot != name)
		*dot = 0;
	return name;
}

/**
 * hpt_read() - read a .hpt file and assemble its image
 * @t:    filled; hpt_free() it even on failure
 * @path: must outlive @t
 *
 * Context: any; allocates.
 * Return: 0; -EINVAL with @t->error set; -ENOMEM.
 */
int hpt_read(struct hpt *t, const char *path)
{
	size_t nr = 1;
	char *c;
	int ret;

	memset(t, 0, sizeof(*t));
	t->path = path;
	t->name = base_name(path);
	if (!t->name)
		return -ENOMEM;
	hipec_asm_init(&t->names);
	t->mk.name = "hpt";
	t->text = slurp(path);
	if (!t->text)
		return hpt_wrong(t, 0, "cannot be read: %s", strerror(errno));
	for (c = t->text; *c; c++)
		nr += *c == '\n';
	t->line = calloc(nr, sizeof(*t->line));
	if (!t->line)
		return -ENOMEM;
	ret = split(t);
	if (!ret)
		ret = add_operands(t);
	if (!ret)
		ret = assemble(t);
	return ret;
}

/* Free what hpt_read() and hpt_case() allocated. */
void hpt_free(struct hpt *t)
{
	free(t->name);
	free(t->text);
	free(t->line);
	free(t->words);
	free(t->lines);
	free(t->bytes);
}
