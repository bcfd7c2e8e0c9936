// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bytes of a compiled policy. See mkimage.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../module/vm/vm.h"
#include "mkimage.h"

/* The strings section as it grows. Offset 0 is the empty name. */
struct strings {
	char *bytes;
	u32 size;
};

static size_t name_bytes(const char *name)
{
	return name && *name ? strlen(name) + 1 : 0;
}

static u32 add_name(struct strings *s, const char *name)
{
	size_t n = name_bytes(name);
	u32 offset = n ? s->size : 0;

	memcpy(s->bytes + s->size, name ? name : "", n);
	s->size += n;
	return offset;
}

static void put_operands(const struct hipec_mkimage *m,
			 struct hipec_image_operand *o, struct strings *s)
{
	u32 i;

	for (i = 0; i < m->nr_slots; i++)
		o[i] = (struct hipec_image_operand){
			.type = m->slot[i].type, .flags = m->slot[i].flags,
			.name = add_name(s, m->slot[i].name),
			.key = m->slot[i].key, .value = m->slot[i].value,
			.low = m->slot[i].low, .high = m->slot[i].high,
		};
}

static void put_events(const struct hipec_mkimage *m,
		       struct hipec_image_event *e, u32 *words, u32 *lines,
		       struct strings *s)
{
	u32 i, first = 0;

	for (i = 0; i < m->nr_events; i++) {
		u32 nr = m->event[i].nr;

		e[i] = (struct hipec_image_event){
			.number = m->event[i].number,
			.name = add_name(s, m->event[i].name),
			.first = first, .nr = nr,
		};
		memcpy(words + first, m->event[i].words, nr * sizeof(u32));
		if (m->with_lines && m->event[i].lines)
			memcpy(lines + first, m->event[i].lines,
			       nr * sizeof(u32));
		first += nr;
	}
}

static u32 needs_of(const struct hipec_mkimage *m, const struct hipec_image *im,
		    const struct hipec_image_operand *o,
		    const struct hipec_image_event *e, const u32 *words)
{
	const struct hipec_policy p = {
		.image = im, .operand = o, .event = e, .words = words,
	};

	return m->says_needs ? m->needs : hipec_needs_of(&p);
}

/**
 * hipec_mkimage() - build an image
 * @m:     declarations, in slot and event order
 * @bytes: gets the image; free() it
 * @size:  its bytes
 *
 * Context: any; allocates.
 * Return: 0; -ENOMEM.
 */
int hipec_mkimage(const struct hipec_mkimage *m, void **bytes, size_t *size)
{
	u32 nr_words = 0, nr_lines, nr_strings = !m->is_dense, i;
	struct hipec_image_operand *o;
	struct hipec_image_event *e;
	struct strings strings;
	struct hipec_image *im;
	u32 *words;

	for (i = 0; i < m->nr_slots; i++)
		nr_strings += name_bytes(m->slot[i].name);
	for (i = 0; i < m->nr_events; i++) {
		nr_strings += name_bytes(m->event[i].name);
		nr_words += m->event[i].nr;
	}
	nr_lines = m->with_lines ? nr_words : 0;
	*size = sizeof(*im) + m->nr_slots * sizeof(*o) +
		m->nr_events * sizeof(*e) +
		(nr_words + nr_lines) * sizeof(u32) + nr_strings;
	im = calloc(1, *size);
	if (!im)
		return -ENOMEM;
	o = (void *)(im + 1);
	e = (void *)(o + m->nr_slots);
	words = (void *)(e + m->nr_events);
	strings = (struct strings){ (char *)(words + nr_words + nr_lines),
				    !m->is_dense };
	*im = (struct hipec_image){
		.magic = HIPEC_IMAGE_MAGIC, .version = HIPEC_IMAGE_VERSION,
		.header_size = sizeof(*im), .image_size = *size,
		.nr_operands = m->nr_slots, .nr_events = m->nr_events,
		.nr_words = nr_words, .nr_lines = nr_lines,
		.strings_size = nr_strings, .ghosts = m->ghosts,
		.timer_ms = m->timer_ms,
	};
	snprintf(im->name, sizeof(im->name), "%s", m->name);
	memcpy(im->source_hash, m->source_hash, sizeof(im->source_hash));
	put_operands(m, o, &strings);
	put_events(m, e, words, words + nr_words, &strings);
	im->needs = needs_of(m, im, o, e, words);
	*bytes = im;
	return 0;
}
