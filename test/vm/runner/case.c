// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bytes of a case: what `-- set`, `-- pages`, `-- run` and `-- image` of a
 * .hpt file say, around the image that file.c assembled.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "file.h"

/* A field that `-- image` can set, whatever the value does to the image. */
struct field {
	const char *name;
	size_t offset, size;	/* bytes */
};

#define FIELD(type, f) { #f, offsetof(struct type, f), \
			 sizeof(((struct type *)0)->f) }
static const struct field header_fields[] = {
	FIELD(hipec_image, magic), FIELD(hipec_image, version),
	FIELD(hipec_image, header_size), FIELD(hipec_image, image_size),
	FIELD(hipec_image, flags), FIELD(hipec_image, nr_operands),
	FIELD(hipec_image, nr_events), FIELD(hipec_image, nr_words),
	FIELD(hipec_image, nr_lines), FIELD(hipec_image, strings_size),
	FIELD(hipec_image, ghosts), FIELD(hipec_image, timer_ms),
	FIELD(hipec_image, needs), { NULL, 0, 0 },
};

static const struct field operand_fields[] = {
	FIELD(hipec_image_operand, type), FIELD(hipec_image_operand, flags),
	FIELD(hipec_image_operand, key), FIELD(hipec_image_operand, name),
	FIELD(hipec_image_operand, value), FIELD(hipec_image_operand, low),
	FIELD(hipec_image_operand, high), { NULL, 0, 0 },
};

static const struct field event_fields[] = {
	FIELD(hipec_image_event, number), FIELD(hipec_image_event, name),
	FIELD(hipec_image_event, first), FIELD(hipec_image_event, nr),
	{ NULL, 0, 0 },
};
#undef FIELD

/* An image that is being made wrong. */
struct image {
	char *bytes;
	size_t size;
};

static int want_number(struct hpt *t, u32 line, char **rest, s64 *n)
{
	char *word = hpt_word(rest);

	if (hpt_number(word, n))
		return 0;
	return hpt_wrong(t, line, "'%s' is no number", word);
}

/* The line's last number. */
static int want_last_number(struct hpt *t, u32 line, char **rest, s64 *n)
{
	if (want_number(t, line, rest, n))
		return -EINVAL;
	return **rest ? hpt_wrong(t, line, "'%s' after the number", *rest) : 0;
}

static int poke(struct hpt *t, u32 line, struct image *im, u64 offset,
		size_t size, s64 n)
{
	if (offset > im->size || size > im->size - offset)
		return hpt_wrong(t, line, "this lies outside the image");
	memcpy(im->bytes + offset, &n, size);	/* little endian hosts only */
	return 0;
}

/* `FIELD VALUE` of the struct at @offset. */
static int poke_field(struct hpt *t, u32 line, struct image *im,
		      const struct field *f, u64 offset, char *rest)
{
	char *name = hpt_word(&rest);
	s64 n;

	for (; f->name; f++)
		if (!strcmp(f->name, name))
			break;
	if (!f->name)
		return hpt_wrong(t, line, "'%s' is no field", name);
	if (want_last_number(t, line, &rest, &n))
		return -EINVAL;
	return poke(t, line, im, offset + f->offset, f->size, n);
}

/* The longest image that fits a case, and then some that does not load. */
#define IMAGE_ROOM (HIPEC_VMCASE_MAX_SIZE / 2)

static int tweak(struct hpt *t, const struct hpt_line *l, struct image *im)
{
	const struct hipec_image *head = (void *)im->bytes;
	u64 events = sizeof(*head) +
		t->mk.nr_slots * sizeof(struct hipec_image_operand);
	u64 words = events + t->mk.nr_events * sizeof(struct hipec_image_event);
	char *rest = l->text, *verb = hpt_word(&rest);
	s64 n = 0, v;

	if (!strcmp(verb, "lines"))
		return 0;	/* done before the image was built */
	if (!strcmp(verb, "header"))
		return poke_field(t, l->line, im, header_fields, 0, rest);
	if (want_number(t, l->line, &rest, &n))
		return -EINVAL;
	if (n < 0 || n > IMAGE_ROOM)
		return hpt_wrong(t, l->line, "%lld is out of range",
				 (long long)n);
	if (!strcmp(verb, "operand"))
		return poke_field(t, l->line, im, operand_fields, sizeof(*head) +
				  n * sizeof(struct hipec_image_operand), rest);
	if (!strcmp(verb, "event"))
		return poke_field(t, l->line, im, event_fields, events +
				  n * sizeof(struct hipec_image_event), rest);
	if (!strcmp(verb, "truncate") && (size_t)n <= im->size) {
		im->size = n;
		return 0;
	}
	if (!strcmp(verb, "append") && im->size + n <= IMAGE_ROOM) {
		im->size += n;	/* the room was zeroed */
		return 0;
	}
	if (strcmp(verb, "word") && strcmp(verb, "byte"))
		return hpt_wrong(t, l->line, "want lines, header FIELD N, operand SLOT FIELD N, event ROW FIELD N, word I N, byte OFFSET N, truncate BYTES or append BYTES");
	if (want_last_number(t, l->line, &rest, &v))
		return -EINVAL;
	if (!strcmp(verb, "word"))
		return poke(t, l->line, im, words + n * sizeof(u32),
			    sizeof(u32), v);
	return poke(t, l->line, im, n, 1, v);
}

static int build_image(struct hpt *t, struct image *im)
{
	struct hpt_line *l;
	void *bytes;
	int ret;

	hpt_for_each(l, t, HPT_IMAGE)
		if (!strcmp(l->text, "lines"))
			t->mk.with_lines = true;
	ret = hipec_mkimage(&t->mk, &bytes, &im->size);
	if (ret)
		return ret;
	if (im->size > IMAGE_ROOM) {
		free(bytes);
		return hpt_wrong(t, 0, "the image is too large for a case");
	}
	im->bytes = calloc(1, IMAGE_ROOM);
	if (im->bytes)
		memcpy(im->bytes, bytes, im->size);
	free(bytes);
	if (!im->bytes)
		return -ENOMEM;
	hpt_for_each(l, t, HPT_IMAGE) {
		ret = tweak(t, l, im);
		if (ret)
			return ret;
	}
	return 0;
}

static int add_set(struct hpt *t, const struct hpt_line *l)
{
	char *rest = l->text, *name = hpt_word(&rest);
	u32 i;
	s64 n;

	if (want_last_number(t, l->line, &rest, &n))
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(t->head.system); i++)
		if (hipec_system_slots[i].name &&
		    !strcmp(hipec_system_slots[i].name, name)) {
			t->head.system[i] = n;
			return 0;
		}
	if (!strcmp(name, "free"))
		t->head.free = n;
	else if (!strcmp(name, "grant"))
		t->head.grant = n;
	else if (!strcmp(name, "fuel"))
		t->head.fuel = n;
	else if (!strcmp(name, "table"))
		t->head.nr_frames = n;
	else if (!strcmp(name, "late"))
		t->head.late = n;
	else if (!strcmp(name, "seed"))
		t->head.seed = n;
	else if (!strcmp(name, "ghosts"))
		t->mk.ghosts = n;
	else if (!strcmp(name, "timer"))
		t->mk.timer_ms = n;
	else
		return hpt_wrong(t, l->line, "'%s' cannot be set; want free, grant, fuel, table, late, seed, ghosts, timer or a system integer such as FaultedAddress", name);
	return 0;
}

static int want_pgno(struct hpt *t, u32 line, char **rest, u32 *pgno)
{
	s64 n;

	if (want_number(t, line, rest, &n))
		return -EINVAL;
	if (n < 0 || n > (u32)-1)
		return hpt_wrong(t, line, "%lld is no page number",
				 (long long)n);
	*pgno = n;
	return 0;
}

/* An event by its name, or a step of the host, with its page behind it. */
static int read_run(struct hpt *t, u32 line, const char *name, char **rest,
		    struct hipec_vmcase_step *step)
{
	u32 i;

	for (i = 0; i < t->mk.nr_events; i++)
		if (!strcmp(t->mk.event[i].name, name)) {
			step->what = t->mk.event[i].number;
			return 0;
		}
#define X(id, code, word, page)						\
	if (!strcmp(word, name)) {					\
		step->what = code;					\
		return page ? want_pgno(t, line, rest, &step->pgno) : 0; \
	}
	HIPEC_VMCASE_STEPS(X)
#undef X
	return hpt_wrong(t, line, "there is no event '%s'", name);
}

static int add_runs(struct hpt *t)
{
	struct hpt_line *l;
	char *rest, *name;

	hpt_for_each(l, t, HPT_RUN)
		for (rest = l->text; *(name = hpt_word(&rest)); ) {
			if (t->head.nr_runs == HIPEC_VMCASE_MAX_RUNS)
				return hpt_wrong(t, l->line, "at most %d events run",
						 HIPEC_VMCASE_MAX_RUNS);
			if (read_run(t, l->line, name, &rest,
				     &t->head.run[t->head.nr_runs++]))
				return -EINVAL;
		}
	return 0;
}

/* Slot of `QUEUE` or `QUEUES[I]`, 0 if there is none. */
static u32 queue_slot(const struct hpt *t, const char *name, u16 *element)
{
	size_t len = strcspn(name, "[");
	u8 type = HIPEC_TYPE_QUEUE;
	u32 i;
	s64 n;

	if (name[len]) {
		size_t digits = strcspn(name + len + 1, "]");

		if (!hipec_asm_number(name + len + 1, digits, &n) || n < 0 ||
		    n >= HIPEC_MAX_QUEUES)
			return 0;
		type = HIPEC_TYPE_QUEUES;
		*element = n;
	}
	for (i = HIPEC_SLOT_POLICY; i < t->mk.nr_slots; i++)
		if (t->mk.slot[i].type == type && t->mk.slot[i].name &&
		    strlen(t->mk.slot[i].name) == len &&
		    !strncmp(t->mk.slot[i].name, name, len))
			return i;
	return 0;
}

/* `PGNO QUEUE|fallback|none [BIT...]` */
static int read_page(struct hpt *t, const struct hpt_line *l,
		     struct hipec_vmcase_page *page)
{
	char *rest = l->text, *word;

	if (want_pgno(t, l->line, &rest, &page->pgno))
		return -EINVAL;
	word = hpt_word(&rest);
	page->slot = queue_slot(t, word, &page->element);
	if (!strcmp(word, "none"))
		page->bits |= HIPEC_FAKE_HIDDEN;
	else if (!page->slot && strcmp(word, "fallback"))
		return hpt_wrong(t, l->line, "'%s' is no queue; want one, fallback, or none for a page that the policy may not see", word);
	while (*(word = hpt_word(&rest))) {
		u32 bit = 0;

#define X(name, code, text) if (!strcmp(word, text)) bit = code;
		HIPEC_FAKE_BITS(X)
#undef X
		if (!bit || bit == HIPEC_FAKE_HIDDEN)
			return hpt_wrong(t, l->line, "'%s' is no bit of a page",
					 word);
		page->bits |= bit;
	}
	return 0;
}

static int build_case(struct hpt *t, const struct image *im)
{
	struct hipec_vmcase_page *page;
	struct hpt_line *l;
	int ret;

	t->size = sizeof(t->head) + t->head.nr_pages * sizeof(*page) + im->size;
	t->bytes = calloc(1, t->size);
	if (!t->bytes)
		return -ENOMEM;
	t->head.magic = HIPEC_VMCASE_MAGIC;
	t->head.image_size = im->size;
	memcpy(t->bytes, &t->head, sizeof(t->head));
	page = (void *)((char *)t->bytes + sizeof(t->head));
	hpt_for_each(l, t, HPT_PAGES) {
		ret = read_page(t, l, page++);
		if (ret)
			return ret;
	}
	memcpy(page, im->bytes, im->size);
	return 0;
}

/**
 * hpt_case() - make the bytes that module/tests/vmcase.c runs
 * @t: as hpt_read() left it; @t->bytes and @t->size are set
 *
 * Context: any; allocates.
 * Return: 0; -EINVAL with @t->error set; -ENOMEM.
 */
int hpt_case(struct hpt *t)
{
	struct image im = { 0 };
	struct hpt_line *l;
	int ret = 0;

	hpt_for_each(l, t, HPT_PAGES)
		t->head.nr_pages++;
	t->head.nr_frames = t->head.nr_pages;
	hpt_for_each(l, t, HPT_SET) {
		ret = add_set(t, l);
		if (ret)
			return ret;
	}
	if (t->head.nr_frames < t->head.nr_pages ||
	    t->head.nr_frames > HIPEC_VMCASE_MAX_PAGES)
		return hpt_wrong(t, 0, "the page table has to hold %u pages, and at most %u",
				 t->head.nr_pages, HIPEC_VMCASE_MAX_PAGES);
	ret = add_runs(t);
	if (!ret)
		ret = build_image(t, &im);
	if (!ret)
		ret = build_case(t, &im);
	free(im.bytes);
	return ret;
}
