/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sample of a container's pages, by a hash of the page number.
 *
 * How many frames does a machine get that plays the sample? Of F, with one page in R
 * sampled, not F / R: which pages are in the sample is chance, and a loop over a few more
 * pages than frames would hit or miss altogether as the salt has it. What the container
 * holds is a sample by the same salt: it holds S sampled pages, by the mean, and so many
 * frames the machine gets. A loop is then scaled down as its frames are, and a policy that
 * does what the default does is found to do so.
 */
#ifndef HIPEC_CORE_SAMPLING_H
#define HIPEC_CORE_SAMPLING_H

#include "../vm/port.h"

/* Classes of sampled pages, by their hash: each is a sample as well. */
#define HIPEC_CLASSES 16

/* Of a page, in a mean. */
#define HIPEC_FRACTION (1 << 16)

/**
 * struct hipec_sampling - which pages are in it, and how many the container holds
 * @shift:   one page in 1 << @shift
 * @salt:    says which; no policy's author knows it
 * @frames:  of the container, at most
 * @nr_held, @nr_sampled: pages that it holds, and of these in the sample
 * @weight:  pages that came, as far as the mean cares
 * @surplus: mean of how many pages too many the sample, scaled, holds
 */
struct hipec_sampling {
	u32 shift, salt;
	u32 frames;
	u32 nr_held, nr_sampled;
	u32 weight;
	s64 surplus;
};

/* Of @frames: all of them, or @least of the sample and less than twice that. */
static inline void hipec_sampling_init(struct hipec_sampling *s, u32 frames, u32 least,
				       u32 salt)
{
	*s = (struct hipec_sampling){ .salt = salt, .frames = frames };
	while (frames >> s->shift >= 2 * least)
		s->shift++;
}

/* Scattered enough that pages in any pattern are sampled as if by chance. */
static inline u32 hipec_sampling_hash(const struct hipec_sampling *s, u32 pgno)
{
	u32 x = (pgno ^ s->salt) * 2654435761u;

	x = (x ^ x >> 15) * 2246822519u;
	x = (x ^ x >> 13) * 3266489917u;
	return x ^ x >> 16;
}

/* The class of a sampled page. */
static inline u32 hipec_sampling_class(const struct hipec_sampling *s, u32 pgno)
{
	return hipec_sampling_hash(s, pgno) >> 28;
}

/* Whether page @pgno is in the sample. Context: any. */
static inline bool hipec_sampling_has(const struct hipec_sampling *s, u32 pgno)
{
	return !(hipec_sampling_hash(s, pgno) & ((1u << s->shift) - 1));
}

/* Frames of a machine that plays the sample: about so many. */
static inline u32 hipec_sampling_frames(const struct hipec_sampling *s)
{
	return s->frames >> s->shift;
}

/* The most that it may have: the sample may hold a few more. */
static inline u32 hipec_sampling_most(const struct hipec_sampling *s)
{
	u32 n = hipec_sampling_frames(s);

	return n + (s->shift ? n / 4 : 0);
}

/* Those that it is to have now, where the container has @frames. */
static inline s64 hipec_sampling_room(const struct hipec_sampling *s, u32 frames)
{
	return frames + s->surplus / HIPEC_FRACTION;
}

/* A page of the container got a frame. Context: any, serialised by the host. */
static inline void hipec_sampling_added(struct hipec_sampling *s, u32 pgno)
{
	s64 surplus;

	s->nr_held++;
	s->nr_sampled += hipec_sampling_has(s, pgno);
	if (!s->shift)
		return;
	surplus = ((s64)s->nr_sampled << s->shift) - s->nr_held;
	if (s->weight < 8 * (u64)s->frames)
		s->weight++;
	s->surplus += (surplus * HIPEC_FRACTION - s->surplus) / (s64)(s->weight / 4 + 1);
}

/* A page of the container lost it. Context: any, serialised by the host. */
static inline void hipec_sampling_removed(struct hipec_sampling *s, u32 pgno)
{
	s->nr_held--;
	s->nr_sampled -= hipec_sampling_has(s, pgno);
}

#endif /* HIPEC_CORE_SAMPLING_H */
