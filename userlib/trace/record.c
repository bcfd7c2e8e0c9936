// SPDX-License-Identifier: GPL-2.0-only
/*
 * A record as a trace: what the kernel has seen of accesses. Faults, and the pages
 * that were read along with theirs, since they are of a sequence; referenced
 * bits that the policy found set, or that were harvested for it; first writes. A
 * page that is mapped is touched without anybody being told, so a record has fewer
 * accesses than the program made, and none of their order between two looks.
 */
#include <errno.h>
#include <stdlib.h>

#include "../record/record.h"
#include "reader.h"

/* Bits of an entry of the page table. */
#define COUNTED 0x1	/* the bit that is set now was an access already */
#define FRESH 0x2	/* it was not live since it got its frame */

struct reader {
	struct trace_in *r;
	struct trace *t;
	u64 base;		/* of the container's pages in the trace */
	u64 end;		/* of its pages that are known */
	u64 named;		/* of its regions */
	struct hipec_record_head head;
	u32 *pgno;		/* by entry */
	u8 *bits;
	u64 last;		/* pgno of the last access, ~0: none */
	bool last_write;
	u64 nr_lost;
};

static int access_page(struct reader *in, u64 pgno, bool write)
{
	struct trace_run run = { .nr = 1, .write = write };

	if (in->base + pgno >= UINT32_MAX)
		return trace_malformed(in->r, "want pages below 4294967295 of all containers together");
	run.pgno = in->base + pgno;
	in->last = pgno;
	in->last_write = write;
	if (pgno >= in->end)
		in->end = pgno + 1;
	return trace_add(in->r, in->t, &run, NULL);
}

static int bad_page(struct reader *in, u64 h)
{
	return trace_malformed(in->r, "want an entry of the page table, up to %u, not %llu",
			       in->head.nr_pages, (unsigned long long)h);
}

/* The bit of page @h was found set, or was set or reset. */
static int bit(struct reader *in, u64 h, bool set, bool seen)
{
	if (!h || h > in->head.nr_pages)
		return bad_page(in, h);
	if (!set) {
		in->bits[h] &= ~COUNTED;
		return 0;
	}
	if (in->bits[h] & COUNTED)
		return 0;
	in->bits[h] |= COUNTED;
	return seen ? access_page(in, in->pgno[h], false) : 0;
}

/* A fault for writing tells of the write once more when the page is mapped. */
static int touched(struct reader *in, u64 pgno, u64 how)
{
	bool write = how & HIPEC_TOUCH_WRITE;
	int ret;

	if (how & HIPEC_TOUCH_HARVESTED) {
		ret = bit(in, pgno, true, true);
		return ret ? ret : bit(in, pgno, false, false);
	}
	if (write && in->last_write && in->last == pgno)
		return 0;
	return access_page(in, pgno, write);
}

static int add_region(struct reader *in, const struct record_item *n)
{
	u64 first = n->number[0], nr = n->number[1], length = n->number[2], i;
	char name[HIPEC_RECORD_MAX_NAME];

	/* One in the place of one that has gone has no name of its own. */
	if (first < in->named || !nr || !length ||
	    in->base + first + nr > UINT32_MAX)
		return 0;
	in->named = first + nr;
	if (in->end < in->named)
		in->end = in->named;
	for (i = 0; i < length; i++)
		name[i] = n->name[i] < ' ' + !(i && i + 1 < length) ||
			  n->name[i] > '~' ? '?' : n->name[i];
	return trace_add_region(in->r, in->t, in->base + first, nr, name, length);
}

/* Page @h has come in: for a fault, which is told just before, or along with it. */
static int came(struct reader *in, u64 h)
{
	if (!h || h > in->head.nr_pages)
		return bad_page(in, h);
	if (!(in->bits[h] & FRESH))
		return 0;
	in->bits[h] &= ~FRESH;
	return in->pgno[h] == in->last ? 0 : access_page(in, in->pgno[h], false);
}

static int entry(struct reader *in, const struct record_item *n)
{
	switch (n->code) {
	case HIPEC_RECORD_REGION:
		return add_region(in, n);
	case HIPEC_RECORD_TOUCH:
		return touched(in, n->number[0], n->number[1]);
	case HIPEC_RECORD_ADD:
		if (n->number[1] > in->head.nr_pages)
			return bad_page(in, n->number[1]);
		in->pgno[n->number[1]] = n->number[0];
		in->bits[n->number[1]] = COUNTED | FRESH;
		return 0;
	case HIPEC_RECORD_SHOW:
		return came(in, n->number[0]);
	case HIPEC_RECORD_REF:
		return n->number[1] ? bit(in, n->number[0], true, true) : 0;
	case HIPEC_RECORD_SET_REF:
		return bit(in, n->number[0], n->number[1], false);
	case HIPEC_RECORD_LOST:
		in->nr_lost += n->number[0];
		return 0;
	}
	return 0;
}

static int entries(struct reader *in, const u8 *at, const u8 *end)
{
	struct record_item n;
	int bytes, ret = 0;

	while (!ret && (bytes = record_entry(at, end, &n))) {
		if (bytes < 0)
			return trace_malformed(in->r, "want an entry, and there is none that begins with %02x",
					       *at);
		ret = entry(in, &n);
		at += bytes;
	}
	return ret;
}

/* A record of one of a container's policies. */
static int read_stream(struct reader *in, const struct record_stream *s)
{
	char words[200];
	struct hipec_text why;
	const u8 *page;
	s64 at;
	u32 h;
	int ret = -ENOMEM;

	hipec_text_init(&why, words, sizeof(words));
	at = record_head(s->bytes, s->size, &in->head, &why);
	if (at < 0)
		return trace_malformed(in->r, "container %llu: %s",
				       (unsigned long long)s->id, words);
	in->last = ~0ull;
	in->pgno = calloc(in->head.nr_pages + (size_t)1, sizeof(*in->pgno));
	in->bits = calloc(in->head.nr_pages + (size_t)1, sizeof(*in->bits));
	page = s->bytes + sizeof(in->head) + in->head.image_size +
	       HIPEC_NR_SLOTS * sizeof(s64);
	if (in->pgno && in->bits) {
		for (h = 0; h <= in->head.nr_pages; h++)
			memcpy(&in->pgno[h], page + h * sizeof(struct hipec_page) +
			       offsetof(struct hipec_page, pgno), sizeof(u32));
		ret = entries(in, s->bytes + at, s->bytes + s->size);
	}
	free(in->bits);
	free(in->pgno);
	return ret;
}

/* All records of one container; its pages come behind those of the one before. */
static int read_container(struct reader *in, const struct record_file *f, u64 id)
{
	size_t i;
	int ret = 0;

	in->end = in->named = 0;
	for (i = 0; !ret && i < f->nr_streams; i++)
		if (f->stream[i].id == id)
			ret = read_stream(in, &f->stream[i]);
	in->base += in->end;
	return ret;
}

static bool is_first(const struct record_file *f, size_t i)
{
	size_t j = 0;

	while (f->stream[j].id != f->stream[i].id)
		j++;
	return i == j;
}

/**
 * trace_read_record() - read a record
 * @r: at its begin
 * @t: empty; filled
 *
 * Containers come one after the other, each with its own pages.
 *
 * Return: 0; -EINVAL; -ENOMEM.
 */
int trace_read_record(struct trace_in *r, struct trace *t)
{
	struct reader in = { .r = r, .t = t };
	struct record_file f;
	struct hipec_text why;
	char words[300];
	FILE *file = tmpfile();
	size_t i;
	int c, ret;

	if (!file)
		return -errno;
	while ((c = trace_getc(r)) != EOF)
		putc(c, file);
	rewind(file);
	hipec_text_init(&why, words, sizeof(words));
	ret = r->error ? r->error : record_file_read(&f, file, &why);
	fclose(file);
	if (r->error)
		return ret;
	if (ret && why.len)
		ret = trace_malformed(r, "%s", words);
	for (i = 0; !ret && i < f.nr_streams; i++)
		if (is_first(&f, i))
			ret = read_container(&in, &f, f.stream[i].id);
	record_file_free(&f);
	if (!ret && in.nr_lost)
		ret = trace_note(t, "%llu entries of the record are lost: accesses are missing",
				 (unsigned long long)in.nr_lost);
	return ret;
}
