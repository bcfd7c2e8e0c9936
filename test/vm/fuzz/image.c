// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as an image: refused with a reason, or accepted and printed. Never
 * a bad access, which the sanitizers see.
 */
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"

#define TEXT 512	/* bytes; longer than any line about a short name */

struct fuzz_stats fuzz_stats;

/* A claim that must hold of every input. */
void fuzz_check(bool holds, const char *claim)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz: this does not hold: %s\n", claim);
	abort();
}

/* What the core does not set itself shall not look like a zero. */
u8 fuzz_fill = 0xa5;

/* Memory of exactly @size bytes, so that ASan sees its end; @bytes may be NULL. */
void *fuzz_alloc(const void *bytes, size_t size)
{
	void *copy = malloc(size ? size : 1);

	if (!copy)
		exit(2);
	if (bytes)
		memcpy(copy, bytes, size);
	else
		memset(copy, fuzz_fill, size);
	return copy;
}

/* Print @what into @size bytes: cut to fit and ended, a beginning of the whole. */
static void check_cut(const char *whole, const char *cut, size_t size)
{
	size_t n = strlen(whole);

	if (!size)
		return;
	if (n > size - 1)
		n = size - 1;
	fuzz_check(strlen(cut) == n && !memcmp(whole, cut, n),
		   "a text that is cut is the beginning of the whole");
}

static void check_place(const struct hipec_policy *p,
			const struct hipec_verify_error *err)
{
	fuzz_check(err->event < HIPEC_NR_EVENTS && p->index[err->event],
		   "a refusal names an event that exists");
	fuzz_check(err->command &&
		   err->command < p->event[p->index[err->event] - 1].nr,
		   "a refusal names a command of its event");
	fuzz_check(err->operand <= 3, "a refusal names an operand a, b or c");
	if (err->kind == HIPEC_VERIFY_OPERAND ||
	    err->kind == HIPEC_VERIFY_TARGET)
		fuzz_check(err->operand, "a wrong operand is named");
}

/* A refusal has a kind, a place and a text. */
void fuzz_check_refusal(const struct hipec_policy *p,
			const struct hipec_verify_error *err)
{
	char text[TEXT], *cut;
	size_t size = err->got % 80;
	struct hipec_text out;

	fuzz_check(err->kind > HIPEC_VERIFY_OK &&
		   strcmp(hipec_vm_verify_text(err->kind), "?"),
		   "a refusal has a kind");
	if (err->kind >= HIPEC_VERIFY_OPCODE)
		check_place(p, err);
	hipec_text_init(&out, text, sizeof(text));
	hipec_verify_explain(p, err, &out);
	fuzz_check(*text && strlen(text) == out.len, "a refusal has a text");
	cut = fuzz_alloc(NULL, size);
	hipec_text_init(&out, cut, size);
	hipec_verify_explain(p, err, &out);
	check_cut(text, cut, size);
	free(cut);
}

static void check_texts(const struct hipec_policy *p)
{
	char text[TEXT], *cut;
	struct hipec_text out;
	size_t size;
	u32 i;

	for (i = 0; i < p->image->nr_words; i++) {
		hipec_text_init(&out, text, sizeof(text));
		hipec_disasm(p, p->words[i], &out);
		fuzz_check(*text && strlen(text) == out.len,
			   "every word has a text");
	}
	/* Cut to fit: one word is enough. */
	i = p->words[p->image->nr_words - 1] % p->image->nr_words;
	hipec_text_init(&out, text, sizeof(text));
	hipec_disasm(p, p->words[i], &out);
	size = out.len * 2 / 3;
	cut = fuzz_alloc(NULL, size);
	hipec_text_init(&out, cut, size);
	hipec_disasm(p, p->words[i], &out);
	check_cut(text, cut, size);
	free(cut);
	for (i = 0; i < p->image->nr_operands; i++) {
		char want[24];

		snprintf(want, sizeof(want), "%lld",
			 (long long)p->operand[i].value);
		hipec_text_init(&out, text, sizeof(text));
		hipec_text_signed(&out, p->operand[i].value);
		fuzz_check(!strcmp(text, want), "a number is printed as it is");
	}
	for (i = 0; i < HIPEC_NR_SLOTS; i++) {
		hipec_text_init(&out, text, sizeof(text));
		hipec_vm_slot_text(p, i, &out);
		fuzz_check(*text, "every slot has a text");
	}
}

/* Some slots that do not exist, which no verified command may name. */
static void check_reads(const struct hipec_policy *p)
{
	u32 slot = p->image->nr_operands, i;

	hipec_verify_reads(p, HIPEC_SLOT_FREE_COUNT);
	for (i = 0; i < 4 && slot + i < HIPEC_SLOT_SYSTEM; i++)
		fuzz_check(!hipec_verify_reads(p, slot + i),
			   "a verified policy names slots that exist");
	for (slot = HIPEC_NR_SLOTS - 4; slot < HIPEC_NR_SLOTS; slot++)
		fuzz_check(hipec_system_slots[slot - HIPEC_SLOT_SYSTEM].name ||
			   !hipec_verify_reads(p, slot),
			   "a verified policy names system slots that exist");
}

/**
 * fuzz_image() - try bytes as an image
 * @data: any bytes
 * @size: bytes
 *
 * Context: any; allocates.
 */
void fuzz_image(const u8 *data, size_t size)
{
	struct hipec_verify_error err;
	struct hipec_policy p;
	void *image = fuzz_alloc(data, size);
	int ret;

	fuzz_stats.inputs++;
	ret = hipec_image_parse(image, size, &p, &err);
	fuzz_check(!ret || ret == -EINVAL, "parsing gives 0 or -EINVAL");
	if (!ret) {
		check_texts(&p);
		ret = hipec_verify(&p, &err);
		fuzz_check(!ret || ret == -EINVAL, "verifying gives 0 or -EINVAL");
		fuzz_stats.accepted += !ret;
		fuzz_check(fuzz_sound(&p) == !ret,
			   "the verifier accepts what is sound, and only that");
		fuzz_check(p.nr_fields <= HIPEC_MAX_FIELDS &&
			   p.nr_queues <= HIPEC_MAX_QUEUES &&
			   p.nr_elements <= HIPEC_MAX_ELEMENTS,
			   "no policy has more than it may");
		if (!ret)
			check_reads(&p);
	}
	if (ret)
		fuzz_check_refusal(&p, &err);
	fuzz_check(!size || !memcmp(image, data, size),
		   "the core does not write into the image");
	free(image);
}
