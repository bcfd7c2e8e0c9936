// SPDX-License-Identifier: GPL-2.0-only
/*
 * What must hold of ampc, whatever the text:
 *
 *  - it is compiled or refused with an error; there are 20 errors at most, and
 *    every diagnostic has its place in the file;
 *  - what is compiled the verifier accepts;
 *  - -O0 and -O1 say the same, but that -O1 may get below a limit of the image;
 *  - the same text gives the same bytes and the same words again;
 *  - the listing is assembler text for the same bytes;
 *  - memory is given back, and there was not too much of it.
 *
 * That nothing crashes or hangs is main.c's to find out.
 */
#include <stdlib.h>

#include "fuzz.h"

/* ASan's; gcc's packages do not all have the header. */
size_t __sanitizer_get_current_allocated_bytes(void);

/* Of a compilation, beside what a source takes by its bytes. */
#define MAX_MEMORY (64u << 20)
#define MEMORY_OF_BYTE 20000

/* What became of a text. */
struct outcome {
	int ret;
	u32 nr_errors;
	bool is_limit;		/* all errors are limits of the image */
	char *image;
	size_t image_size;
	char *said, *listing;
	size_t said_size, listing_size;
	size_t memory;
	const char *wrong;	/* what does not hold, or NULL */
};

static void outcome_free(struct outcome *o)
{
	free(o->image);
	free(o->said);
	free(o->listing);
}

static bool is_in_file(const struct ampc *c, u32 line, u32 col)
{
	size_t len;
	const char *s;

	if (!line || !col)
		return false;
	/* Behind the last line end is a place as well. */
	if (line == c->source.nr_lines + 1)
		return col == 1;
	s = ampc_source_line(c, line, &len);
	if (!s)
		return false;
	/* Line ends count: the end of a place may be behind them. */
	while (s + len < c->source.text + c->source.size &&
	       (s[len] == '\n' || s[len] == '\r'))
		len++;
	return col <= len + 1;
}

static bool is_place(const struct ampc *c, const struct ampc_loc *loc)
{
	if (!loc->line)
		return !loc->col && !loc->end_line && !loc->end_col;
	if (loc->line > loc->end_line ||
	    (loc->line == loc->end_line && loc->col > loc->end_col))
		return false;
	if (!is_in_file(c, loc->line, loc->col))
		return false;
	/* What is missing at the end of a file is shown in a column behind it. */
	return is_in_file(c, loc->end_line, loc->end_col) ||
	       (loc->line == loc->end_line && loc->end_col == loc->col + 1);
}

static const char *check_diags(const struct ampc *c, struct outcome *o)
{
	const struct ampc_diag *d, *note;
	u32 errors = 0, limits = 0;

	for (d = c->diags; d; d = d->next) {
		errors += d->level == AMPC_ERROR;
		limits += d->level == AMPC_ERROR &&
			  (d->id == AMPC_TOO_MANY_OPERANDS ||
			   d->id == AMPC_EVENT_LONG);
		if (d->level == AMPC_NOTE || !is_place(c, &d->loc))
			return "a diagnostic has no place in the file";
		for (note = d->notes; note; note = note->next)
			if (note->level != AMPC_NOTE ||
			    !is_place(c, &note->loc))
				return "a note has no place in the file";
	}
	o->is_limit = limits && limits == errors;
	if (errors > AMPC_MAX_ERRORS)
		return "there are too many errors";
	return errors == c->nr_errors ? NULL : "the number of errors is wrong";
}

static const char *check_image(const struct outcome *o)
{
	struct hipec_verify_error err;
	struct hipec_policy p;

	if (hipec_image_parse(o->image, o->image_size, &p, &err))
		return "the image cannot be parsed";
	return hipec_verify(&p, &err) ? "the verifier refuses the image" : NULL;
}

static void print(const struct ampc *c, struct outcome *o)
{
	FILE *out = open_memstream(&o->said, &o->said_size);

	ampc_diag_print(c, out, false);
	ampc_diag_json(c, out);
	fclose(out);
}

static void list(struct ampc *c, const struct hipec_policy *p,
		 struct outcome *o)
{
	FILE *out = open_memstream(&o->listing, &o->listing_size);
	FILE *null = fopen("/dev/null", "w");

	ampc_list(c, p, out);
	ampc_cost(c, p, null);
	ampc_c_array(c, null);
	fclose(null);
	fclose(out);
}

static void compile(const struct text *t, bool is_assembler, u32 level,
		    struct outcome *o)
{
	size_t before = __sanitizer_get_current_allocated_bytes();
	char *copy = malloc(t->size + 1);
	struct hipec_policy p;
	struct ampc c;

	*o = (struct outcome){ 0 };
	ampc_init(&c, is_assembler ? "fuzz.hps" : "fuzz.hp");
	strcpy(c.policy, "fuzz");
	c.level = level;
	c.warn_all = AMPC_ON;
	c.is_assembler = is_assembler;
	if (t->size)
		memcpy(copy, t->s, t->size);
	o->ret = ampc_source_set(&c, copy, t->size);
	if (!o->ret)
		o->ret = is_assembler ? ampc_assemble(&c, &p) :
					ampc_compile(&c, &p);
	o->nr_errors = c.nr_errors;
	o->wrong = check_diags(&c, o);
	if (!o->ret && c.nr_errors)
		o->wrong = "it is compiled, with errors";
	else if (o->ret && !c.nr_errors)
		o->wrong = o->ret == -EFAULT ? "the verifier refuses it" :
					       "it is refused without an error";
	print(&c, o);
	if (!o->ret) {
		o->image_size = c.image_size;
		o->image = malloc(c.image_size);
		memcpy(o->image, c.image, c.image_size);
		if (!o->wrong)
			o->wrong = check_image(o);
		list(&c, &p, o);
	}
	o->memory = __sanitizer_get_current_allocated_bytes() - before;
	ampc_free(&c);
	free(copy);
}

static bool same_bytes(const struct outcome *a, const struct outcome *b)
{
	return a->ret == b->ret && a->image_size == b->image_size &&
	       (!a->image_size ||
		!memcmp(a->image, b->image, a->image_size));
}

static bool same_words(const struct outcome *a, const struct outcome *b)
{
	return a->said_size == b->said_size &&
	       !memcmp(a->said, b->said, a->said_size);
}

/* @a once more, from the same text. */
static const char *judge_again(const struct text *t, bool is_assembler,
			       u32 level, const struct outcome *a)
{
	const char *wrong = NULL;
	struct outcome b;

	compile(t, is_assembler, level, &b);
	if (!same_bytes(a, &b))
		wrong = "the bytes are others the second time";
	else if (!same_words(a, &b))
		wrong = "the words are others the second time";
	outcome_free(&b);
	return wrong;
}

/* @a once more, from its listing. */
static const char *judge_listing(const struct outcome *a, struct verdict *v)
{
	const struct text t = { a->listing, a->listing_size, 0 };
	const char *wrong = NULL;
	struct outcome b;

	if (a->ret)
		return NULL;
	if (a->listing_size > AMPC_MAX_LISTING) {
		v->is_unread = true;
		return NULL;
	}
	compile(&t, true, 1, &b);
	if (b.wrong)
		wrong = b.wrong;
	else if (b.ret)
		wrong = "the assembler refuses the listing";
	else if (!same_bytes(a, &b))
		wrong = "the listing gives other bytes";
	if (wrong)
		fprintf(stderr, "%s\n%.*s\n", b.said ? b.said : "",
			(int)a->listing_size, a->listing);
	outcome_free(&b);
	return wrong;
}

/* The same text at -O0 and at -O1. */
static const char *judge_levels(const struct outcome *o0,
				const struct outcome *o1)
{
	if (o0->ret && !o1->ret)
		return o0->is_limit ? NULL : "-O0 alone refuses it";
	if (!o0->ret && o1->ret)
		return "-O1 alone refuses it";
	if (!same_words(o0, o1) && !(o0->is_limit && o1->is_limit))
		return "-O0 and -O1 say different things";
	return NULL;
}

static const char *judge_outcomes(const struct text *t, bool is_assembler,
				  bool is_thorough, const struct outcome *o,
				  struct verdict *v)
{
	const char *wrong = NULL;
	u32 i;

	for (i = 0; i < 2 && !wrong; i++) {
		wrong = o[i].wrong;
		if (!wrong && is_thorough)
			wrong = judge_again(t, is_assembler, i, &o[i]);
		if (!wrong)
			wrong = judge_listing(&o[i], v);
		if (!wrong && o[i].memory > MAX_MEMORY +
					    t->size * MEMORY_OF_BYTE)
			wrong = "it takes too much memory";
	}
	return wrong ? wrong : judge_levels(&o[0], &o[1]);
}

/**
 * judge() - compile a text and see whether all holds that must
 * @t:            the text
 * @is_assembler: what it is
 * @is_thorough:  compile it a second time as well
 * @v:            gets what became of it
 *
 * Return: what does not hold, or NULL.
 */
const char *judge(const struct text *t, bool is_assembler, bool is_thorough,
		  struct verdict *v)
{
	size_t before = __sanitizer_get_current_allocated_bytes(), after;
	struct outcome o[2];
	const char *wrong;
	u32 i;

	*v = (struct verdict){ 0 };
	for (i = 0; i < 2; i++) {
		compile(t, is_assembler, i, &o[i]);
		if (o[i].memory > v->memory)
			v->memory = o[i].memory;
	}
	v->is_accepted = !o[1].ret;
	v->is_too_large = o[1].ret && o[1].is_limit;
	wrong = judge_outcomes(t, is_assembler, is_thorough, o, v);
	for (i = 0; i < 2; i++)
		outcome_free(&o[i]);
	after = __sanitizer_get_current_allocated_bytes();
	return wrong || after <= before ? wrong : "memory is not given back";
}
