// SPDX-License-Identifier: GPL-2.0-only
/*
 * libCacheSim's oracleGeneral, a binary record for each access, and its csv as it is
 * written. What they name are objects, which here are pages, whatever their size.
 */
#include <errno.h>

#include "objects.h"

/* u32 time, u64 object, u32 size, s64 next access: little-endian, packed. */
#define RECORD_BYTES 24
#define SECOND 1000000000	/* ns */

/* No trace has more accesses. */
#define MOST_ACCESSES ((u64)1 << 40)

static bool is_next_access(u64 next, u64 number)
{
	return next == UINT64_MAX || next == INT64_MAX ||
	       (next > number && next < MOST_ACCESSES);
}

/* No text has so many zeros, nor bytes 0xff, where next accesses are. */
bool trace_is_oracle(const u8 *bytes, size_t n)
{
	size_t i;

	for (i = 0; i < n / RECORD_BYTES; i++)
		if (!is_next_access(trace_little(bytes + i * RECORD_BYTES + 16, 8), i))
			return false;
	return i;
}

static int read_records(struct trace_in *r, struct trace_objects *o)
{
	u8 record[RECORD_BYTES];
	u64 at = trace_tell(r);
	int ret;

	r->clock.ns = SECOND;
	while ((ret = trace_next_bytes(r, record, RECORD_BYTES)) > 0) {
		if (!is_next_access(trace_little(record + 16, 8), o->nr_ops))
			return trace_malformed(r, "byte %llu: want the number of a later access or -1, not %lld",
					       (unsigned long long)at + 16,
					       (long long)trace_little(record + 16, 8));
		trace_clock_add(r, trace_little(record, 4), 1);
		ret = trace_object(r, o, 0, trace_little(record + 4, 8), false);
		if (ret)
			break;
		at = trace_tell(r);
	}
	return ret;
}

int trace_read_oracle(struct trace_in *r, struct trace *t)
{
	struct trace_objects o = { 0 };
	int ret = read_records(r, &o);

	if (!ret)
		ret = r->error;
	if (!ret)
		ret = trace_objects_end(r, &o, t);
	trace_objects_free(&o);
	return ret;
}

/* Time is the number of the access, and so is the next access, from 1. */
int trace_write_oracle(struct trace *t, FILE *out)
{
	int ret = trace_next_uses(t);
	u32 access = 0, j, k;
	size_t i;

	if (ret)
		return ret;
	for (i = 0; i < t->nr_runs; i++)
		for (j = 0; j < t->run[i].nr; j++, access++) {
			u32 next = t->next_use[access];
			u64 field[4] = {
				access, t->run[i].pgno + j, TRACE_PAGE_BYTES,
				next == SIM_NEVER ? UINT64_MAX : (u64)next + 1
			};
			static const int bytes[4] = { 4, 8, 4, 8 };
			int b;

			for (k = 0; k < 4; k++)
				for (b = 0; b < bytes[k]; b++)
					putc(field[k] >> 8 * b & 0xff, out);
		}
	return 0;
}

int trace_write_csv(struct trace *t, FILE *out)
{
	u64 access = 0;
	size_t i;
	u32 j;

	fputs("time,obj_id,size,op\n", out);
	for (i = 0; i < t->nr_runs; i++)
		for (j = 0; j < t->run[i].nr; j++)
			fprintf(out, "%llu,%u,%d,%s\n",
				(unsigned long long)access++,
				t->run[i].pgno + j, TRACE_PAGE_BYTES,
				t->run[i].write ? "write" : "read");
	return 0;
}
