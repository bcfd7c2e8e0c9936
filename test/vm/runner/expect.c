// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a .hpt file wants, against the text of vmcase.c. Each wanted line is
 * first written as the text would have it, then looked up by its key.
 */
#include <stdio.h>
#include <stdlib.h>

#include "file.h"

/* One word; two ways to write a number are the same. */
static bool same_word(const char *a, size_t n, const char *b, size_t m)
{
	s64 x, y;

	return (n == m && !strncmp(a, b, n)) ||
	       (hipec_asm_number(a, n, &x) && hipec_asm_number(b, m, &y) &&
		x == y);
}

/* Words are equal; with @more, @got may have further words. */
static bool same_words(const char *want, const char *got, bool more)
{
	size_t n, m;

	for (;;) {
		want += strspn(want, " \t");
		got += strspn(got, " \t");
		if (!*want)
			return more || !*got || *got == '\n';
		n = strcspn(want, " \t");
		m = strcspn(got, " \t\n");
		if (!same_word(want, n, got, m))
			return false;
		want += n;
		got += m;
	}
}

/* The next line of @text, whose first words are @key; NULL if there is none. */
static const char *find_line(const char *text, const char *key)
{
	while (text && *text) {
		if (same_words(key, text, true))
			return text;
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return NULL;
}

static int mismatch(struct hpt *t, u32 line, const char *want, const char *got)
{
	return hpt_wrong(t, line, "want '%s', got '%.*s'", want,
			 got ? (int)strcspn(got, "\n") : 7,
			 got ? got : "nothing");
}

/*
 * @want must be a line of the outcome. Its first @nr_key words say which; more
 * words than wanted are accepted with @more.
 */
static int check_line(struct hpt *t, u32 line, const char *outcome,
		      const char *want, int nr_key, bool more)
{
	char key[256];
	const char *got, *s = want;

	while (nr_key--) {
		s += strspn(s, " \t");
		s += strcspn(s, " \t");
	}
	snprintf(key, sizeof(key), "%.*s", (int)(s - want), want);
	got = find_line(outcome, key);
	if (got && same_words(want, got, more))
		return 0;
	return mismatch(t, line, want, got ? got : find_line(outcome, "result"));
}

static int check_result(struct hpt *t, const struct hpt_line *l,
			const char *outcome)
{
	static const char *const facts[] = {
		"explain", "condition", "commands", "free", "late",
	};
	char want[512];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(facts); i++)
		if (same_words(facts[i], l->text, true))
			return check_line(t, l->line, outcome, l->text, 1,
					  false);
	/* A kind alone leaves the place open; a place is stated in full. */
	snprintf(want, sizeof(want), "result %s", l->text);
	return check_line(t, l->line, outcome, want, 1, !strchr(want, '+'));
}

static int check_queue(struct hpt *t, const struct hpt_line *l,
		       const char *outcome)
{
	char want[512];

	if (same_words("fallback", l->text, true))
		return check_line(t, l->line, outcome, l->text, 1, false);
	snprintf(want, sizeof(want), "queue %s", l->text);
	return check_line(t, l->line, outcome, want, 2, false);
}

static int check_page(struct hpt *t, const struct hpt_line *l,
		      const char *outcome)
{
	char want[512], pgno[64];
	const char *got;

	snprintf(pgno, sizeof(pgno), "at %.*s",
		 (int)strcspn(l->text, " \t"), l->text);
	if (same_words("gone", l->text + strcspn(l->text, " \t"), false)) {
		got = find_line(outcome, pgno);
		return got ? mismatch(t, l->line, l->text, got) : 0;
	}
	snprintf(want, sizeof(want), "at %s", l->text);
	return check_line(t, l->line, outcome, want, 2, false);
}

/* The whole list, in order. */
static int check_given(struct hpt *t, const char *outcome)
{
	const char *got = find_line(outcome, "given");
	const struct hpt_line *l, *last = NULL;
	char want[512];

	hpt_for_each(l, t, HPT_GIVEN_UP) {
		last = l;
		if (!*l->text)
			continue;
		snprintf(want, sizeof(want), "given %s", l->text);
		if (!got || !same_words(want, got, true))
			return mismatch(t, l->line, want, got);
		got = find_line(strchr(got, '\n'), "given");
	}
	if (last && got)
		return mismatch(t, last->line, "no more given up", got);
	return 0;
}

static int check(struct hpt *t, const struct hpt_line *l, const char *outcome)
{
	char want[512];

	switch (l->section) {
	case HPT_RESULT:
		return check_result(t, l, outcome);
	case HPT_QUEUES:
		return check_queue(t, l, outcome);
	case HPT_INTS:
		snprintf(want, sizeof(want), "int %s", l->text);
		return check_line(t, l->line, outcome, want, 2, false);
	case HPT_ARRAYS:
		snprintf(want, sizeof(want), "ints %s", l->text);
		return check_line(t, l->line, outcome, want, 2, true);
	case HPT_FIELDS:
		snprintf(want, sizeof(want), "field %s", l->text);
		return check_line(t, l->line, outcome, want, 3, false);
	case HPT_PAGE_SLOTS:
		snprintf(want, sizeof(want), "page %s", l->text);
		return check_line(t, l->line, outcome, want, 2, false);
	case HPT_PAGES_AFTER:
		return check_page(t, l, outcome);
	default:
		return 0;
	}
}

/**
 * hpt_compare() - hold an outcome against what the file states
 * @t:       case
 * @outcome: text of hipec_vmcase_parse() or hipec_vmcase_run()
 *
 * What the file does not state is not compared, but for the invariants, which
 * hold always.
 *
 * Return: 0 if all holds; -EINVAL with @t->error set to the first that does
 *         not.
 */
int hpt_compare(struct hpt *t, const char *outcome)
{
	const char *broken = find_line(outcome, "broken");
	const struct hpt_line *l;
	bool stated = false;
	int ret;

	for (l = t->line; l < t->line + t->nr_lines; l++) {
		stated |= l->section == HPT_RESULT;
		ret = check(t, l, outcome);
		if (ret)
			return ret;
	}
	if (!stated)
		return hpt_wrong(t, 0, "want a section -- result");
	if (broken)
		return mismatch(t, 0, "no broken invariant", broken);
	return check_given(t, outcome);
}
