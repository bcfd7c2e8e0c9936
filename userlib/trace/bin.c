// SPDX-License-Identifier: GPL-2.0-only
/*
 * The compact form, .trace: a header of 16 bytes and one zstd frame of records.
 * docs/user/traces.md describes them; numbers in records have 7 bits in a byte, the
 * lowest first, and each has one encoding only.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "reader.h"

#define MAGIC "\x93hptrace"
#define HEADER_BYTES 16
#define VERSION 1
#define LEVEL 9		/* of compression: above it, time grows and size hardly shrinks */

/* Of a record's first number. */
#define WRITE 0x1	/* else a read */
#define COUNT 0x2	/* more than a page: a number of them, less 2 */
#define TAG 0x4		/* a hint and a context, from here on */
#define OTHER 0x8	/* no run */
#define DELTA_SHIFT 4

#define END_RECORD OTHER
#define REGION_RECORD (OTHER | 1)

static u32 get32(const u8 *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (u32)p[3] << 24;
}

static int read_header(struct trace_in *r)
{
	u8 header[HEADER_BYTES];
	int c, i;

	if (r->zstd)
		return trace_malformed(r, "want a .trace as it is: it was compressed again");
	for (i = 0; i < HEADER_BYTES; i++) {
		c = trace_getc(r);
		if (c == EOF)
			return trace_malformed(r, "byte %d: want a header of %d bytes, but the file ends",
					       i, HEADER_BYTES);
		header[i] = c;
	}
	for (i = 0; i < 8; i++)
		if (header[i] != (u8)MAGIC[i])
			return trace_malformed(r, "byte %d: want %02x, as a .trace begins, not %02x",
					       i, (u8)MAGIC[i], header[i]);
	if (get32(header + 8) != VERSION)
		return trace_malformed(r, "byte 8: want version %d, not %u",
				       VERSION, get32(header + 8));
	if (get32(header + 12))
		return trace_malformed(r, "byte 12: want 0, not %u",
				       get32(header + 12));
	return 0;
}

/* The frame is one that has a checksum: its fifth byte says so. */
static int begin_frame(struct trace_in *r)
{
	static const u8 magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };
	u8 flags;
	int i, c;

	/* The header is in the first bytes that were read, and this as well. */
	for (i = 0; i < 4; i++) {
		c = trace_getc(r);
		if (c != magic[i])
			return trace_malformed(r, "byte %d: want a zstd frame",
					       HEADER_BYTES + i);
	}
	c = trace_getc(r);
	if (c == EOF)
		return trace_malformed(r, "byte %d: want a zstd frame, but the file ends",
				       HEADER_BYTES + 4);
	flags = c;
	if (!(flags & 0x4))
		return trace_malformed(r, "byte %d: want a zstd frame with a checksum",
				       HEADER_BYTES + 4);
	r->at -= 5;
	return trace_in_unpack(r, true);
}

/* A number up to @most. */
static int get_number(struct trace_in *r, u64 most, u64 *n)
{
	u64 at = trace_tell(r), value = 0;
	int shift, c;

	for (shift = 0; shift < 64; shift += 7) {
		c = trace_getc(r);
		if (c == EOF)
			return trace_malformed(r, "byte %llu of the records: want more of a number, but they end",
					       (unsigned long long)at);
		if (shift == 63 && c > 1)
			break;
		value |= (u64)(c & 0x7f) << shift;
		if (c & 0x80)
			continue;
		if (value > most || (shift && !c))
			break;
		*n = value;
		return 0;
	}
	return trace_malformed(r, "byte %llu of the records: want a number, 0 to %llu, in as few bytes as it needs",
			       (unsigned long long)at, (unsigned long long)most);
}

static int read_run(struct trace_in *r, struct trace *t, u64 first,
		    u64 *next, struct trace_tag *tag)
{
	u64 at = trace_tell(r), zigzag = first >> DELTA_SHIFT, nr = 0, hint;
	u64 pgno = *next + ((zigzag >> 1) ^ -(zigzag & 1));
	struct trace_run run;
	int ret;

	if (first & COUNT) {
		ret = get_number(r, SIM_MAX_PAGES - 2, &nr);
		if (ret)
			return ret;
		nr++;
	}
	nr++;
	if (first & TAG) {
		ret = get_number(r, UINT32_MAX, &hint);
		if (!ret)
			ret = get_number(r, UINT64_MAX, &tag->context);
		if (ret)
			return ret;
		tag->hint = hint;
	}
	/* Below page 0 is far above the last one, as nothing is signed. */
	if (pgno > UINT32_MAX || pgno + nr - 1 > UINT32_MAX)
		return trace_malformed(r, "byte %llu of the records: want pages 0 to %u",
				       (unsigned long long)at, UINT32_MAX);
	run = (struct trace_run){ pgno, nr, first & WRITE };
	*next = pgno + nr;
	return trace_add(r, t, &run, tag);
}

static int read_region(struct trace_in *r, struct trace *t)
{
	char name[TRACE_MAX_NAME];
	u64 first, nr, length = 0, i;
	int ret, c;

	ret = get_number(r, UINT32_MAX, &first);
	if (!ret)
		ret = get_number(r, (u64)UINT32_MAX + 1, &nr);
	if (!ret)
		ret = get_number(r, TRACE_MAX_NAME, &length);
	for (i = 0; i < length && !ret; i++) {
		c = trace_getc(r);
		if (c < ' ' || c > '~')
			return trace_malformed(r, "byte %llu of the records: want a printable character in a region's name",
					       (unsigned long long)trace_tell(r) - (c != EOF));
		name[i] = c;
	}
	return ret ? ret : trace_add_region(r, t, first, nr, name, length);
}

/* Nothing is behind the number of accesses: no record, no byte of the file. */
static int read_end(struct trace_in *r, const struct trace *t)
{
	u64 at = trace_tell(r), n;
	int ret = get_number(r, UINT64_MAX, &n);

	if (ret)
		return ret;
	if (n != t->nr_accesses)
		return trace_malformed(r, "byte %llu of the records: want their number of accesses, %llu, not %llu",
				       (unsigned long long)at,
				       (unsigned long long)t->nr_accesses,
				       (unsigned long long)n);
	if (trace_getc(r) != EOF)
		return trace_malformed(r, "byte %llu of the records: want no more of them",
				       (unsigned long long)trace_tell(r) - 1);
	if (!r->error && trace_in_behind(r))
		return trace_malformed(r, "want the end of the file behind the zstd frame");
	return r->error;
}

int trace_read_binary(struct trace_in *r, struct trace *t)
{
	/* Zigzag of the differences of a page and 0 to one behind the last. */
	const u64 most = (((u64)UINT32_MAX + 1) * 2 - 1) << DELTA_SHIFT | 0xf;
	struct trace_tag tag = { 0 };
	u64 next = 0, first, at;
	int ret = read_header(r);

	if (!ret)
		ret = begin_frame(r);
	while (!ret) {
		at = trace_tell(r);
		ret = get_number(r, most, &first);
		if (ret)
			break;
		if (!(first & OTHER))
			ret = read_run(r, t, first, &next, &tag);
		else if (first == REGION_RECORD)
			ret = read_region(r, t);
		else if (first == END_RECORD)
			return read_end(r, t);
		else
			ret = trace_malformed(r, "byte %llu of the records: want a run, a region or the end, not %llu",
					      (unsigned long long)at,
					      (unsigned long long)first);
	}
	return ret;
}

/* Records on their way through the compressor. */
struct packer {
	ZSTD_CStream *zstd;
	FILE *out;
	size_t n, size;
	u8 *bytes;	/* @size of them */
	u8 *packed;
	size_t packed_size;
	size_t error;	/* of zstd */
};

static void pack(struct packer *p, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = { p->bytes, p->n, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { p->packed, p->packed_size, 0 };

		left = ZSTD_compressStream2(p->zstd, &out, &in, how);
		if (ZSTD_isError(left)) {
			p->error = left;
			return;
		}
		fwrite(p->packed, 1, out.pos, p->out);
	} while (how == ZSTD_e_end ? left : in.pos < in.size);
	p->n = 0;
}

static void put_byte(struct packer *p, u8 byte)
{
	if (p->n == p->size && !p->error)
		pack(p, ZSTD_e_continue);
	if (!p->error)
		p->bytes[p->n++] = byte;
}

static void put_number(struct packer *p, u64 n)
{
	for (; n > 0x7f; n >>= 7)
		put_byte(p, n | 0x80);
	put_byte(p, n);
}

static void put_run(struct packer *p, const struct trace_run *run,
		    const struct trace_tag *tag, bool tagged, u64 next)
{
	s64 delta = (s64)run->pgno - (s64)next;
	u64 zigzag = (u64)delta << 1 ^ (u64)(delta >> 63);

	put_number(p, zigzag << DELTA_SHIFT | (run->write ? WRITE : 0) |
		      (run->nr > 1 ? COUNT : 0) | (tagged ? TAG : 0));
	if (run->nr > 1)
		put_number(p, run->nr - 2);
	if (tagged) {
		put_number(p, tag->hint);
		put_number(p, tag->context);
	}
}

static void put_records(struct packer *p, const struct trace *t)
{
	struct trace_tag tag = { 0 };
	const char *name;
	u64 next = 0;
	size_t i;

	for (i = 0; i < t->nr_regions; i++) {
		name = t->region[i].name;
		put_number(p, REGION_RECORD);
		put_number(p, t->region[i].pgno);
		put_number(p, t->region[i].nr ? t->region[i].nr :
			      (u64)UINT32_MAX + 1);
		put_number(p, strlen(name));
		while (*name)
			put_byte(p, *name++);
	}
	for (i = 0; i < t->nr_runs; i++) {
		struct trace_tag new = trace_tag(t, i);
		bool tagged = new.hint != tag.hint ||
			      new.context != tag.context;

		put_run(p, &t->run[i], &new, tagged, next);
		next = (u64)t->run[i].pgno + t->run[i].nr;
		tag = new;
	}
	put_number(p, END_RECORD);
	put_number(p, t->nr_accesses);
}

int trace_write_binary(struct trace *t, FILE *out)
{
	static const u8 header[HEADER_BYTES] = {
		0x93, 'h', 'p', 't', 'r', 'a', 'c', 'e', VERSION
	};
	struct packer p = {
		.out = out, .size = ZSTD_CStreamInSize(),
		.packed_size = ZSTD_CStreamOutSize(),
	};
	int ret = -ENOMEM;

	p.zstd = ZSTD_createCStream();
	p.bytes = malloc(p.size);
	p.packed = malloc(p.packed_size);
	if (p.zstd && p.bytes && p.packed) {
		ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_checksumFlag, 1);
		fwrite(header, 1, sizeof(header), out);
		put_records(&p, t);
		if (!p.error)
			pack(&p, ZSTD_e_end);
		/* Of its errors, only the want of memory can happen here. */
		if (!p.error)
			ret = 0;
	}
	free(p.packed);
	free(p.bytes);
	ZSTD_freeCStream(p.zstd);
	return ret;
}
