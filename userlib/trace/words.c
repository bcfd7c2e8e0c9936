// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether an operation reads or writes: the words of caches, disks and web servers, and
 * what --ops says of words and numbers that mean something else elsewhere.
 *
 * Interface: table.h.
 */
#include <strings.h>

#include "table.h"

#define SKIP '-'	/* neither reads nor writes */

/* Words, in lower case; SCSI's commands in hexadecimal too. */
static const struct {
	const char *words;
	char kind;
} operations[] = {
	{ " r read rd get gets get_lease scan load l i readahead 08 8 28 88 a8 ", 'r' },
	{ " w write wr set set_lease put add cas replace append prepend incr decr update insert"
	  " post patch store s m modify 0a a 2a 8a aa ", 'w' },
	{ " d delete del nop trim discard unmap flush sync fsync head touch ", SKIP },
};

static bool is_listed(const char *words, const char *text, u32 length)
{
	const char *c;

	for (c = words; (c = strchr(c, ' ')) && c[1]; c++)
		if (!strncasecmp(c + 1, text, length) && c[1 + length] == ' ')
			return true;
	return false;
}

static char listed(const char *text, u32 length)
{
	size_t i;

	for (i = 0; length && i < ARRAY_SIZE(operations); i++)
		if (is_listed(operations[i].words, text, length))
			return operations[i].kind;
	return 0;
}

/* What blktrace writes of a request: letters, each of which means something. */
static char of_letters(const char *text, u32 length)
{
	u32 i;
	char kind = 0;

	for (i = 0; i < length; i++)
		if (!strchr("RWDFNASMEZU", text[i]))
			return 0;
	if (memchr(text, 'W', length))
		kind = 'w';
	else if (memchr(text, 'R', length) && !memchr(text, 'Z', length))
		kind = 'r';
	return kind ? kind : SKIP;
}

/* "REST.GET.OBJECT", "getChunkData.Permanent": by their parts. */
static char of_parts(const char *text, u32 length)
{
	static const struct {
		const char *begins;
		char kind;
	} verbs[] = {
		{ "get", 'r' }, { "read", 'r' }, { "put", 'w' }, { "write", 'w' },
		{ "set", 'w' }, { "post", 'w' }, { "delete", SKIP }, { "head", SKIP },
		{ "copy", SKIP },
	};
	const char *part = text, *end = text + length;
	size_t i;

	if (!memchr(text, '.', length))
		return 0;
	if (length > 5 && !strncasecmp(part, "REST.", 5))
		part += 5;
	for (i = 0; i < ARRAY_SIZE(verbs); i++) {
		size_t n = strlen(verbs[i].begins);

		if ((size_t)(end - part) > n && !strncasecmp(part, verbs[i].begins, n))
			return verbs[i].kind;
	}
	return 0;
}

/**
 * trace_operation() - what a word of a trace means
 * @text:   the word
 * @length: bytes
 *
 * Return: 'r'; 'w'; '-': it neither reads nor writes; 0: not known.
 */
char trace_operation(const char *text, u32 length)
{
	char kind = listed(text, length);

	if (!kind && length && length <= 8)
		kind = of_letters(text, length);
	return kind ? kind : of_parts(text, length);
}

static int bad_ops(struct trace_in *r, const char *text)
{
	return trace_malformed(r, "--ops: want which words or numbers read, write or do neither, as r=0,w=1,skip=2, not '%s'",
			       trace_quote(r, text));
}

/**
 * trace_ops_read() - read --ops
 * @r:    for messages
 * @ops:  words are added
 * @text: "r=0,w=1+2,skip=*": * is any other word
 *
 * Return: 0; -EINVAL, said.
 */
int trace_ops_read(struct trace_in *r, struct trace_ops *ops, const char *text)
{
	const char *c = text;
	size_t n;
	char kind;

	while (*c) {
		n = strcspn(c, "=");
		kind = n == 1 && (*c == 'r' || *c == 'w') ? *c :
		       n == 4 && !strncmp(c, "skip", 4) ? SKIP : 0;
		if (!kind || c[n] != '=')
			return bad_ops(r, c);
		for (c += n; *c == '=' || *c == '+'; c += n) {
			n = strcspn(++c, "+,");
			if (!n || n >= sizeof(ops->op->word) || ops->nr == TRACE_MAX_OPS)
				return bad_ops(r, c);
			memcpy(ops->op[ops->nr].word, c, n);
			ops->op[ops->nr].word[n] = 0;
			ops->op[ops->nr++].kind = kind;
		}
		c += *c == ',';
	}
	return 0;
}

/* As trace_operation(), with what --ops says before. */
char trace_ops_kind(const struct trace_ops *ops, const char *text, u32 length)
{
	u32 i;

	for (i = 0; i < ops->nr; i++)
		if (!strncasecmp(ops->op[i].word, text, length) && !ops->op[i].word[length])
			return ops->op[i].kind;
	for (i = 0; i < ops->nr; i++)
		if (!strcmp(ops->op[i].word, "*"))
			return ops->op[i].kind;
	return trace_operation(text, length);
}
