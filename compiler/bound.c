// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of terms that are never too small. Where two ways meet, the larger factor
 * of each term is taken: no term is below 0, so the sum is not below either way.
 * What does not fit into 64 bits is the largest number that does.
 */
#include "cost.h"

static u64 plus(u64 a, u64 b)
{
	u64 sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static u64 times(u64 a, u64 b)
{
	u64 product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Add @b to @sum. */
void cost_add(struct cost_terms *t, struct cost_bound *sum,
	      const struct cost_bound *b)
{
	u32 i;

	for (i = 0; i < t->nr; i++)
		sum->of[i] = plus(sum->of[i], b->of[i]);
}

/* One command more. */
void cost_add_one(struct cost_bound *sum)
{
	sum->of[0] = plus(sum->of[0], 1);
}

/* Make @best as long as @b as well. */
void cost_longer(struct cost_terms *t, struct cost_bound *best,
		 const struct cost_bound *b)
{
	u32 i;

	for (i = 0; i < t->nr; i++)
		if (b->of[i] > best->of[i])
			best->of[i] = b->of[i];
}

/* Number of these rounds, from 1; 0 if there are too many. */
static u32 find_rounds(struct cost_terms *t, const struct cost_rounds *r)
{
	u32 i;

	for (i = 0; i < t->nr_rounds; i++) {
		const struct cost_rounds *old = &t->rounds[i];

		if (old->slot == r->slot && old->is_minus == r->is_minus &&
		    old->is_exact == r->is_exact &&
		    old->offset == r->offset && old->step == r->step)
			return i + 1;
	}
	if (i == COST_MAX_TERMS)
		return 0;
	t->rounds[i] = *r;
	return ++t->nr_rounds;
}

/* Factors of a term stand by slot, so that each product is there once. */
static bool comes_before(const struct cost_terms *t, u8 a, u8 b)
{
	u32 slot = t->rounds[a - 1].slot, other = t->rounds[b - 1].slot;

	return slot < other || (slot == other && a < b);
}

/* Number of term @from with one more factor; 0 if there are too many. */
static u32 find_term(struct cost_terms *t, u32 from, u8 rounds)
{
	u8 factor[COST_MAX_FACTORS], last = rounds;
	u32 i;

	/* Insert it in order; what falls off the end was no factor, or too much. */
	for (i = 0; i < ARRAY_SIZE(factor); i++) {
		u8 f = t->term[from].rounds[i];

		if (last && (!f || comes_before(t, last, f))) {
			factor[i] = last;
			last = f;
		} else {
			factor[i] = f;
		}
	}
	if (last)
		return 0;
	for (i = 1; i < t->nr; i++)
		if (!memcmp(t->term[i].rounds, factor, sizeof(factor)))
			return i;
	if (i == COST_MAX_TERMS)
		return 0;
	memcpy(t->term[i].rounds, factor, sizeof(factor));
	t->nr = i + 1;
	return i;
}

/**
 * cost_times() - multiply by how often a loop goes round
 * @t:      terms, may get more
 * @b:      multiplied
 * @rounds: how often
 *
 * Return: false if there are more terms than there may be.
 */
bool cost_times(struct cost_terms *t, struct cost_bound *b,
		const struct cost_rounds *rounds)
{
	struct cost_bound product = { 0 };
	u32 i, nr = t->nr, number, term;

	if (!rounds->slot) {
		for (i = 0; i < nr; i++)
			b->of[i] = times(b->of[i], rounds->now);
		return true;
	}
	number = find_rounds(t, rounds);
	for (i = 0; i < nr && number; i++) {
		if (!b->of[i])
			continue;
		term = find_term(t, i, number);
		if (!term)
			return false;
		product.of[term] = b->of[i];
	}
	*b = product;
	return number;
}

/* Text */

static const char *name_of(const struct hipec_policy *p, u32 slot)
{
	return hipec_image_policy_name(p, p->operand[slot].name);
}

/* Whether term @i has a loop that depends on parameter @slot. */
static bool has_param(const struct cost_terms *t, u32 i, u32 slot)
{
	u32 j;

	for (j = 0; j < COST_MAX_FACTORS && t->term[i].rounds[j]; j++)
		if (t->rounds[t->term[i].rounds[j] - 1].slot == slot)
			return true;
	return false;
}

static u64 value_now(const struct cost_terms *t, const struct cost_bound *b)
{
	u64 sum = 0, product;
	u32 i, j;

	for (i = 0; i < t->nr; i++) {
		product = b->of[i];
		for (j = 0; j < COST_MAX_FACTORS && t->term[i].rounds[j]; j++)
			product = times(product,
					t->rounds[t->term[i].rounds[j] - 1].now);
		sum = plus(sum, product);
	}
	return sum;
}

/* "depth", "(depth + 2)", "(9 - depth)", "((depth + 1) / 2)" */
static void print_rounds(const struct cost_rounds *r,
			 const struct hipec_policy *p, FILE *out)
{
	const char *name = name_of(p, r->slot);
	/* Rounded up is rounded down of a little more. */
	s64 offset = r->offset + r->step - 1;
	bool is_bare = !r->is_minus && !offset;

	if (r->step != 1)
		fputc('(', out);
	if (r->is_minus)
		fprintf(out, "(%lld - %s)", (long long)offset, name);
	else if (is_bare)
		fputs(name, out);
	else
		fprintf(out, "(%s %c %llu)", name, offset < 0 ? '-' : '+',
			(unsigned long long)(offset < 0 ? -(u64)offset :
							  (u64)offset));
	if (r->step != 1)
		fprintf(out, " / %lld)", (long long)r->step);
}

/* " with depth = 9, width = 2" */
static void print_params(const struct cost_terms *t,
			 const struct hipec_policy *p,
			 const struct cost_bound *b, FILE *out)
{
	const char *before = " with";
	u32 slot, i;

	for (slot = 0; slot < p->image->nr_operands; slot++) {
		for (i = 1; i < t->nr; i++)
			if (b->of[i] && has_param(t, i, slot))
				break;
		if (i == t->nr)
			continue;
		fprintf(out, "%s %s = %lld", before, name_of(p, slot),
			(long long)p->operand[slot].value);
		before = ",";
	}
}

static void print_sum(const struct cost_terms *t, const struct hipec_policy *p,
		      const struct cost_bound *b, FILE *out)
{
	u32 i, j;

	fprintf(out, ": %llu", (unsigned long long)b->of[0]);
	for (i = 1; i < t->nr; i++) {
		if (!b->of[i])
			continue;
		fprintf(out, " + %llu", (unsigned long long)b->of[i]);
		for (j = 0; j < COST_MAX_FACTORS && t->term[i].rounds[j]; j++) {
			fprintf(out, " * ");
			print_rounds(&t->rounds[t->term[i].rounds[j] - 1], p,
				     out);
		}
	}
}

/* What has to hold so that loops that wait for one value get there. */
static void print_conditions(const struct cost_terms *t,
			     const struct hipec_policy *p,
			     const struct cost_bound *b, FILE *out)
{
	const char *before = ", if ";
	u32 r, i, j;

	for (r = 0; r < t->nr_rounds; r++) {
		bool is_used = false;

		for (i = 1; i < t->nr; i++)
			for (j = 0; j < COST_MAX_FACTORS; j++)
				is_used |= b->of[i] &&
					   t->term[i].rounds[j] == r + 1;
		if (!is_used || !t->rounds[r].is_exact)
			continue;
		fputs(before, out);
		print_rounds(&t->rounds[r], p, out);
		fputs(" >= 0", out);
		before = " and ";
	}
}

/**
 * cost_print() - print a number of commands
 * @t:   terms
 * @p:   policy, for the names of parameters
 * @b:   how many commands
 * @out: gets "54", or "54 with n = 10: 4 + 5 * n"
 */
void cost_print(const struct cost_terms *t, const struct hipec_policy *p,
		const struct cost_bound *b, FILE *out)
{
	u32 i;

	fprintf(out, "%llu", (unsigned long long)value_now(t, b));
	for (i = 1; i < t->nr; i++)
		if (b->of[i])
			break;
	if (i == t->nr)
		return;
	print_params(t, p, b, out);
	print_sum(t, p, b, out);
	print_conditions(t, p, b, out);
}
