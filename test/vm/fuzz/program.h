/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A policy in a form that can be edited: the rows and words of an image, with
 * room to grow. Rows are kept as the image has them, so a field that this file
 * does not know survives. Plain C, no libFuzzer.
 *
 * Names: @p a program, @e a row of p->event, @at a command, counted from 1.
 *
 * Interface:
 * fuzz_decode()   image -> program
 * fuzz_encode()   program -> image
 * fuzz_repair()   make the verifier accept a program
 * fuzz_insert(), fuzz_delete()  commands; jumps follow
 * fuzz_pick(), fuzz_random_word()  operands that satisfy their kinds
 */
#ifndef HIPEC_FUZZ_PROGRAM_H
#define HIPEC_FUZZ_PROGRAM_H

#include "../../../module/vm/vm.h"

#define FUZZ_MAX_WORDS 1024	/* of all events */
#define FUZZ_MAX_STRINGS 512	/* bytes */
#define FUZZ_MAX_IMAGE 16384	/* bytes; every program's image is shorter */

/* The same numbers everywhere, from a seed. */
struct fuzz_rng {
	u64 state;
};

/* SplitMix64. */
static inline u64 fuzz_random(struct fuzz_rng *r)
{
	u64 z = r->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* A number below @n, which is not 0. */
static inline u32 fuzz_below(struct fuzz_rng *r, u32 n)
{
	return (fuzz_random(r) >> 32) % n;
}

/* True @percent times of 100. */
static inline bool fuzz_chance(struct fuzz_rng *r, u32 percent)
{
	return fuzz_below(r, 100) < percent;
}

struct fuzz_program {
	struct hipec_image head;	/* counts are true, image_size is not */
	struct hipec_image_operand operand[HIPEC_SLOT_SYSTEM];
	struct hipec_image_event event[HIPEC_NR_EVENTS];
	u32 word[FUZZ_MAX_WORDS];
	char strings[FUZZ_MAX_STRINGS];
	struct fuzz_rng rng;
};

void fuzz_program_init(struct fuzz_program *p, u64 seed);
bool fuzz_decode(struct fuzz_program *p, const void *image, size_t size);
size_t fuzz_encode(const struct fuzz_program *p, void *image, size_t max);
size_t fuzz_repair(struct fuzz_program *p, void *image, size_t max);

struct hipec_image_operand *fuzz_add_operand(struct fuzz_program *p, u8 type,
					     u8 flags, s64 value,
					     const char *name);
int fuzz_find_slot(struct fuzz_program *p, u8 type);
bool fuzz_add_event(struct fuzz_program *p, u32 number, const char *name);
void fuzz_delete_event(struct fuzz_program *p, u32 e);
bool fuzz_insert(struct fuzz_program *p, u32 e, u32 at, const u32 *words,
		 u32 nr);
void fuzz_delete(struct fuzz_program *p, u32 e, u32 at, u32 nr);
bool fuzz_has_target(u32 word);

u8 fuzz_random_op(struct fuzz_rng *r, u8 flags);
bool fuzz_kind_takes(u8 kind, u8 type);
bool fuzz_kind_writes(u8 kind);
u32 fuzz_pick(struct fuzz_program *p, u32 e, u8 kind);
u32 fuzz_random_word(struct fuzz_program *p, u32 e, u8 op);

#endif /* HIPEC_FUZZ_PROGRAM_H */
