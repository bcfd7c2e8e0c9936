// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the header of a policy says, as text. See headtext.h.
 */
#include "../../module/vm/optable.h"
#include "headtext.h"

static void print_hash(const __u8 *hash, FILE *out)
{
	static const __u8 none[HIPEC_HASH_SIZE];
	unsigned int i;

	if (!memcmp(hash, none, sizeof(none)))
		return;
	fprintf(out, "source ");
	for (i = 0; i < HIPEC_HASH_SIZE; i++)
		fprintf(out, "%02x", hash[i]);
	fputc('\n', out);
}

static void print_needs(__u32 needs, FILE *out)
{
	const char *before = "needs ";
	__u32 need;

	for (need = 1; need && need <= needs; need <<= 1) {
		if (!(needs & need))
			continue;
		fprintf(out, "%s%s", before, hipec_vm_need_text(need));
		before = ", ";
	}
	if (needs)
		fputc('\n', out);
}

/**
 * hipec_print_header() - print the header of a policy
 * @im:  of a policy that was parsed
 * @out: where to
 */
void hipec_print_header(const struct hipec_image *im, FILE *out)
{
	fprintf(out, "policy %s\n", im->name);
	print_hash(im->source_hash, out);
	print_needs(im->needs, out);
	if (im->ghosts)
		fprintf(out, "ghosts %u %%\n", im->ghosts);
	if (im->timer_ms)
		fprintf(out, "timer %u ms\n", im->timer_ms);
}
