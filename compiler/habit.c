// SPDX-License-Identifier: GPL-2.0-only
/*
 * Habits of C and of other languages: what is written here in the place of
 * words, lines and forms that this language does not have.
 *
 * Interface:
 * ampc_habit_name()       a name, of a value or of a command
 * ampc_habit_number()     a number that is no integer
 * ampc_habit_directive()  a line for a preprocessor
 * ampc_habit_syntax()     a form: an error of the parser
 */
#include <strings.h>

#include "parser.h"

static const struct {
	const char *name, *meant;
} habits[] = {
	{ "NULL", "NONE" }, { "nil", "NONE" }, { "nullptr", "NONE" },
	{ "EMPTY", "EmptyQ(queue)" }, { "IsEmpty", "EmptyQ(queue)" },
	{ "Count", "Length(queue)" }, { "Size", "Length(queue)" },
	{ "Len", "Length(queue)" },
	{ "Push", "EnQueue(page, queue, TAIL)" },
	{ "Append", "EnQueue(page, queue, TAIL)" },
	{ "Insert", "EnQueue(page, queue, TAIL)" },
	{ "Add", "EnQueue(page, queue, TAIL)" },
	{ "Pop", "DeQueue(queue, HEAD)" }, { "Head", "Peek(queue, HEAD)" },
	{ "First", "Peek(queue, HEAD)" }, { "Last", "Peek(queue, TAIL)" },
	{ "Evict", "EnQueue(page, _free_queue, TAIL)" },
	{ "Free", "EnQueue(page, _free_queue, TAIL)" },
	{ "Referenced", "Ref(page)" }, { "Reference", "Ref(page)" }, { "Ref", "Ref(page)" },
	{ "Accessed", "Ref(page)" }, { "Young", "Ref(page)" }, { "Used", "Ref(page)" },
	{ "Dirty", "Mod(page)" }, { "Modified", "Mod(page)" }, { "Modify", "Mod(page)" },
	{ "Mod", "Mod(page)" },
	{ "max", "if (a < b) a = b" }, { "min", "if (a > b) a = b" },
	{ "abs", "if (a < 0) a = -a" },
};

/* Whether a name is @habit, or "is_habit", "habit_bit" and so on. */
static bool is_habit(const char *name, const char *habit)
{
	size_t n = strlen(habit);

	name += strncasecmp(name, "is", 2) || !strncasecmp(habit, "is", 2) ? 0 : 2;
	name += *name == '_';
	if (strncasecmp(name, habit, n))
		return false;
	name += n + (name[n] == '_');
	return !*name || !strcasecmp(name, "bit") || !strcasecmp(name, "flag");
}

/* Note what @name is called here; false if it is no habit. */
bool ampc_habit_name(struct ampc *c, const char *name, struct ampc_loc loc)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(habits); i++) {
		if (!is_habit(name, habits[i].name))
			continue;
		ampc_report(c, loc, DID_YOU_MEAN, habits[i].meant);
		return true;
	}
	return false;
}

static u64 common_divisor(u64 a, u64 b)
{
	while (b) {
		u64 rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* "1.5" is 3 / 2: what 'n * 1.5' is with integers. */
static void note_fraction(struct ampc *c, const char *text, struct ampc_loc loc)
{
	const u64 most = INT32_MAX;
	u64 above = 0, below = 1, divisor;
	bool is_behind = false;
	const char *s;

	for (s = text; *s; s++) {
		if (*s == '.') {
			is_behind = true;
			continue;
		}
		above = above * 10 + *s - '0';
		below *= is_behind ? 10 : 1;
		if (*s < '0' || *s > '9' || above > most || below > most)
			return;
	}
	divisor = common_divisor(above, below);
	if (divisor)
		ampc_report(c, loc, FRACTION, text,
			    (long long)(above / divisor),
			    (long long)(below / divisor));
}

/**
 * ampc_habit_number() - note what to write for a number that is refused
 * @c:    compilation; the error is its last one
 * @text: number
 * @rest: what of it is no digit, or digits behind those
 * @loc:  place
 */
void ampc_habit_number(struct ampc *c, const char *text, const char *rest,
		       struct ampc_loc loc)
{
	if (*rest == '.')
		note_fraction(c, text, loc);
	else if (rest > text && !rest[strspn(rest, "uUlL")])
		ampc_report(c, loc, DID_YOU_MEAN,
			    ampc_strndup(c, text, rest - text));
}

static bool is_word(char c)
{
	return c == '_' || (c >= '0' && c <= '9') ||
	       ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static char *word_of(struct ampc *c, const char *text)
{
	size_t len = 0;

	while (is_word(text[len]))
		len++;
	return ampc_strndup(c, text, len);
}

/* What a macro stands for: to the end of its line, or to a comment. */
static char *value_of(struct ampc *c, const char *text)
{
	size_t len;

	text += strspn(text, " \t");
	for (len = 0; text[len]; len++)
		if (text[len] == '\\' || (text[len] == '/' &&
		    (text[len + 1] == '/' || text[len + 1] == '*')))
			break;
	while (len && strchr(" \t\r", text[len - 1]))
		len--;
	return ampc_strndup(c, text, len);
}

/**
 * ampc_habit_directive() - report a line for a preprocessor
 * @c:    compilation
 * @text: line, from its '#' on
 * @loc:  place
 */
void ampc_habit_directive(struct ampc *c, const char *text, struct ampc_loc loc)
{
	char *directive, *name, *value;

	c->has_lost_decl = true;	/* perhaps */
	text += 1 + strspn(text + 1, " \t");
	directive = word_of(c, text);
	text += strlen(directive);
	text += strspn(text, " \t");
	name = word_of(c, text);
	text += strlen(name);
	ampc_report(c, loc, NO_PREPROCESSOR, directive);
	if (!strcmp(directive, "include")) {
		ampc_report(c, loc, ONE_FILE);
	} else if (!strcmp(directive, "define") && *name) {
		value = value_of(c, text);
		if (*text == '(')
			ampc_report(c, loc, EVENT_INSTEAD, name);
		else
			ampc_report(c, loc, CONST_INSTEAD, name,
				    *value ? value : "1");
	}
}

/* Words that types of C begin with. */
static bool is_c_type(const char *name)
{
	static const char *const types[] = {
		"void", "bool", "_Bool", "char", "short", "long", "signed", "unsigned", "float",
		"double", "size_t", "uint32_t", "uint64_t", "int32_t", "int64_t", "u8", "u16",
		"u32", "u64", "static", "inline", "extern", "struct", "union", "enum", "typedef",
		"auto", "volatile", "def", "fn", "func", "function",
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(name, types[i]))
			return true;
	return false;
}

/* The name of a function that a line declares; or NULL. */
static char *function_at(struct ampc *c, struct ampc_loc loc)
{
	const char *s, *end, *name;
	size_t len;

	s = ampc_source_line(c, loc.line, &len);
	for (end = s; s && end < s + len && (is_word(*end) || strchr(" \t*", *end)); end++)
		;
	if (!s || end == s + len || *end != '(')
		return NULL;
	while (end > s && end[-1] == ' ')
		end--;
	for (name = end; name > s && is_word(name[-1]); name--)
		;
	return name < end ? ampc_strndup(c, name, end - name) : NULL;
}

/* A type of C: in front of a function, or of a variable. False: it is none. */
static bool note_c_type(struct ampc_parser *p)
{
	const char *type = p->prev_name, *name = NULL;
	char *function;

	if (p->given != TOK_NAME)
		return false;
	if (is_c_type(p->value.word.name) && !(p->prev_token == TOK_NAME && type)) {
		type = p->value.word.name;
		function = function_at(p->c, p->look);
		if (function) {
			ampc_report(p->c, p->look, C_FUNCTION, function);
			return true;
		}
	} else if (type && p->prev_token == TOK_NAME && is_c_type(type)) {
		name = p->value.word.name;
	} else {
		return false;
	}
	if (!name || is_c_type(name))
		name = "n";
	ampc_report(p->c, p->look, C_TYPE, type,
		    ampc_printf(p->c, "%s %s;", strcmp(type, "struct") ? "Int" : "Page", name));
	return true;
}

/**
 * ampc_habit_syntax() - note what to write for a form that C has
 * @p:   parser, at the token that it cannot take; its error is the last one
 * @loc: place of the error
 *
 * Return: false if no habit is known by what was read.
 */
bool ampc_habit_syntax(struct ampc_parser *p, struct ampc_loc loc)
{
	const char *type = ampc_source_quote(p->c, p->prev);

	if (p->given == '{' && p->prev_token == ')' && p->first_word &&
	    !strcmp(p->first_word, "switch"))
		ampc_report(p->c, loc, SWITCH);
	else if (p->in_for && p->prev_token == TOK_TYPE && p->given == TOK_NAME)
		ampc_report(p->c, loc, DECLARE, ampc_printf(p->c, "%s %s", type,
							    p->value.word.name));
	else if (p->in_head && p->prev_token == '(')
		ampc_report(p->c, loc, NO_PARAMETERS);
	else if (p->prev_token == TOK_RETURN)
		ampc_report(p->c, loc, NO_RESULT);
	else
		return note_c_type(p);
	return true;
}
