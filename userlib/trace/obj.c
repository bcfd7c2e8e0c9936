// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces of libCacheSim: its oracleGeneral, a binary record for each access, and
 * its csv. What they name are objects, which here are pages: sizes of objects
 * mean nothing. Block traces in csv, which have addresses, are read as well.
 */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "reader.h"

/* u32 time, u64 object, u32 size, s64 next access: little-endian, packed. */
#define RECORD_BYTES 24

/* No trace has more accesses. */
#define MOST_ACCESSES ((u64)1 << 40)

/* Objects, numbered from 0 as they appear, and accesses to them. */
struct objects {
	u64 *id;
	u32 *place;	/* a hash table: number + 1 */
	u32 nr, max;
	u32 *op;	/* number << 1 | write */
	size_t nr_ops, max_ops;
	u64 most;	/* highest id */
};

static u64 get64(const u8 *p, int bytes)
{
	u64 n = 0;

	while (bytes--)
		n = n << 8 | p[bytes];
	return n;
}

static u32 *place_of(const struct objects *o, u64 id)
{
	u32 mask = o->max * 2 - 1, i = (id * 0x9e3779b97f4a7c15 >> 32) & mask;

	while (o->place[i] && o->id[o->place[i] - 1] != id)
		i = (i + 1) & mask;
	return &o->place[i];
}

static int grow(struct objects *o)
{
	u32 max = o->max ? o->max * 2 : 1024, i;
	u64 *id = reallocarray(o->id, max, sizeof(*id));
	u32 *place;

	if (!id)
		return -ENOMEM;
	o->id = id;
	place = calloc((size_t)max * 2, sizeof(*place));
	if (!place)
		return -ENOMEM;
	free(o->place);
	o->place = place;
	o->max = max;
	for (i = 0; i < o->nr; i++)
		*place_of(o, id[i]) = i + 1;
	return 0;
}

static int add_object(struct trace_in *r, struct objects *o, u64 id, bool write)
{
	u32 *place;

	if (o->nr_ops == SIM_MAX_ACCESSES)
		return trace_malformed(r, "want at most %u accesses",
				       SIM_MAX_ACCESSES);
	if (o->nr == o->max && grow(o))
		return -ENOMEM;
	if (o->nr_ops == o->max_ops) {
		size_t max = o->max_ops ? o->max_ops * 2 : 1024;
		void *more = reallocarray(o->op, max, sizeof(*o->op));

		if (!more)
			return -ENOMEM;
		o->op = more;
		o->max_ops = max;
	}
	place = place_of(o, id);
	if (!*place) {
		if (o->nr == SIM_MAX_PAGES)
			return trace_malformed(r, "want at most %u different objects",
					       SIM_MAX_PAGES);
		o->id[o->nr] = id;
		*place = ++o->nr;
		if (id > o->most)
			o->most = id;
	}
	o->op[o->nr_ops++] = (*place - 1) << 1 | write;
	return 0;
}

/* Ids are page numbers where all of them can be, else their order is. */
static int end_objects(struct trace_in *r, struct objects *o,
		       struct sim_trace *t)
{
	bool dense = o->most > UINT32_MAX;
	int ret = 0;
	size_t i;

	r->err->line = 0;
	for (i = 0; i < o->nr_ops && !ret; i++) {
		u32 n = o->op[i] >> 1;
		struct sim_run run = { dense ? n : o->id[n], 1, o->op[i] & 1 };

		ret = trace_add(r, t, &run, NULL);
	}
	if (!ret && dense)
		ret = trace_note(t, "objects have ids above %u: pages are numbered from 0 in the order in which they appear",
				 UINT32_MAX);
	return ret;
}

static void free_objects(struct objects *o)
{
	free(o->id);
	free(o->place);
	free(o->op);
}

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
		if (!is_next_access(get64(bytes + i * RECORD_BYTES + 16, 8), i))
			return false;
	return i;
}

static int read_records(struct trace_in *r, struct objects *o)
{
	u8 record[RECORD_BYTES];
	u64 at;
	int ret = 0, c;
	size_t n;

	while (!ret) {
		at = trace_tell(r);
		for (n = 0; n < RECORD_BYTES; n++) {
			c = trace_getc(r);
			if (c == EOF)
				break;
			record[n] = c;
		}
		if (!n)
			break;
		if (n < RECORD_BYTES)
			return trace_malformed(r, "byte %llu: want a record of %d bytes, but %zu are left",
					       (unsigned long long)at,
					       RECORD_BYTES, n);
		if (!is_next_access(get64(record + 16, 8), o->nr_ops))
			return trace_malformed(r, "byte %llu: want the number of a later access or -1, not %lld",
					       (unsigned long long)at + 16,
					       (long long)get64(record + 16, 8));
		ret = add_object(r, o, get64(record + 4, 8), false);
	}
	return ret;
}

int trace_read_oracle(struct trace_in *r, struct sim_trace *t)
{
	struct objects o = { 0 };
	int ret = read_records(r, &o);

	if (!ret)
		ret = r->error;
	if (!ret)
		ret = end_objects(r, &o, t);
	free_objects(&o);
	return ret;
}

/* Time is the number of the access, and so is the next access, from 1. */
int trace_write_oracle(struct sim_trace *t, FILE *out)
{
	int ret = sim_trace_next_uses(t);
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

enum column { ID, OP, SIZE, SECTOR, OFFSET, NR_COLUMNS };

static const char *const column_names[NR_COLUMNS] = {
	"id", "op", "size", "sector", "offset"
};

/* What headers call them, in lower case. */
static const struct {
	const char *name;
	enum column column;
} titles[] = {
	{ "id", ID }, { "obj_id", ID }, { "obj-id", ID }, { "objid", ID },
	{ "obj", ID }, { "object", ID }, { "object_id", ID }, { "key", ID },
	{ "block", ID }, { "lbn", ID }, { "lba", ID }, { "page", ID },
	{ "op", OP }, { "operation", OP }, { "opcode", OP }, { "type", OP },
	{ "size", SIZE }, { "obj_size", SIZE }, { "obj-size", SIZE },
	{ "length", SIZE }, { "bytes", SIZE },
	{ "sector", SECTOR }, { "offset", OFFSET },
};

/* Reads and writes, and what is neither; SCSI's commands in hexadecimal too. */
static const struct {
	const char *name;
	char kind;
} operations[] = {
	{ "r", 'r' }, { "read", 'r' }, { "rd", 'r' }, { "get", 'r' },
	{ "gets", 'r' }, { "08", 'r' }, { "8", 'r' }, { "28", 'r' },
	{ "88", 'r' }, { "a8", 'r' },
	{ "w", 'w' }, { "write", 'w' }, { "wr", 'w' }, { "set", 'w' },
	{ "put", 'w' }, { "add", 'w' }, { "cas", 'w' }, { "replace", 'w' },
	{ "append", 'w' }, { "prepend", 'w' }, { "incr", 'w' },
	{ "decr", 'w' }, { "update", 'w' }, { "0a", 'w' }, { "a", 'w' },
	{ "2a", 'w' }, { "8a", 'w' }, { "aa", 'w' },
	{ "delete", 0 }, { "nop", 0 },
};

/* Where columns are, from 1; 0: nowhere. */
struct csv {
	u32 at[NR_COLUMNS];
	struct objects objects;
	u64 skipped;
};

/* Field @n of a line, from 1, without blanks and quotes; false: too few. */
static bool field(const char *line, u32 n, const char **start, int *length)
{
	const char *end;

	for (; n > 1; n--, line++) {
		line = strchr(line, ',');
		if (!line)
			return false;
	}
	line += strspn(line, " \"#");
	end = line + strcspn(line, ",");
	while (end > line && (end[-1] == ' ' || end[-1] == '"'))
		end--;
	*start = line;
	*length = end - line;
	return true;
}

static bool is_word(const char *text, int length, const char *word)
{
	return !strncasecmp(text, word, length) && !word[length];
}

/* Columns of a header; of those with two names, the first counts. */
static void read_header(struct csv *c, const char *line)
{
	const char *text;
	int length;
	size_t i;
	u32 n;

	for (n = 1; field(line, n, &text, &length); n++)
		for (i = 0; i < ARRAY_SIZE(titles); i++)
			if (length && is_word(text, length, titles[i].name) &&
			    !c->at[titles[i].column])
				c->at[titles[i].column] = n;
}

static bool has_address(const struct csv *c)
{
	return c->at[ID] || ((c->at[SECTOR] || c->at[OFFSET]) && c->at[SIZE]);
}

bool trace_is_csv(const char *line)
{
	struct csv c = { 0 };

	if (strchr(line, ','))
		read_header(&c, line);
	return has_address(&c);
}

/* --columns id=5,op=3 */
static int read_columns(struct trace_in *r, struct csv *c, const char *text)
{
	char *end = NULL;
	size_t i;
	u64 n;

	while (*text) {
		size_t length = strcspn(text, "=,");

		for (i = 0; i < NR_COLUMNS; i++)
			if (is_word(text, length, column_names[i]))
				break;
		n = text[length] == '=' ? strtoul(text + length + 1, &end, 10) : 0;
		if (i == NR_COLUMNS || !n || n > TRACE_MAX_LINE ||
		    (*end && *end != ','))
			return trace_malformed(r, "want columns as id=5,op=3,size=4,sector=5,offset=5, not '%s'",
					       trace_quote(r, text));
		c->at[i] = n;
		text = end + (*end == ',');
	}
	return 0;
}

/* The number in a column. */
static int number_in(struct trace_in *r, const struct csv *c, enum column column,
		     u64 *n)
{
	char word[TRACE_MAX_WORD + 1];
	const char *text;
	int length;

	if (!field(r->line, c->at[column], &text, &length))
		return trace_malformed(r, "want %u columns, of which the last has the %s",
				       c->at[column], column_names[column]);
	snprintf(word, sizeof(word), "%.*s", length, text);
	if (!trace_number(word, UINT64_MAX, n))
		return trace_malformed(r, "want a number as %s in column %u, not '%s'",
				       column_names[column], c->at[column], word);
	return 0;
}

/* 'r', 'w', or 0 for neither; a trace without operations reads. */
static int operation_in(struct trace_in *r, const struct csv *c, char *kind)
{
	const char *text;
	int length;
	size_t i;

	*kind = 'r';
	if (!c->at[OP])
		return 0;
	if (!field(r->line, c->at[OP], &text, &length))
		return trace_malformed(r, "want %u columns, of which the last has the op",
				       c->at[OP]);
	for (i = 0; i < ARRAY_SIZE(operations); i++)
		if (is_word(text, length, operations[i].name)) {
			*kind = operations[i].kind;
			return 0;
		}
	return trace_malformed(r, "want an op as r, w, read, write, get or set in column %u, not '%.*s'",
			       c->at[OP], length < TRACE_MAX_WORD ? length :
			       TRACE_MAX_WORD, text);
}

static int read_row(struct trace_in *r, struct csv *c, struct sim_trace *t)
{
	enum column where = c->at[ID] ? ID : c->at[SECTOR] ? SECTOR : OFFSET;
	struct sim_run run = { 0 };
	u64 n, bytes;
	char kind;
	int ret = operation_in(r, c, &kind);

	if (!ret)
		ret = number_in(r, c, where, &n);
	if (ret)
		return ret;
	if (!kind) {
		c->skipped++;
		return 0;
	}
	if (where == ID)
		return add_object(r, &c->objects, n, kind == 'w');
	ret = number_in(r, c, SIZE, &bytes);
	if (ret || !bytes)
		return ret;
	if (where == SECTOR && n > UINT64_MAX / TRACE_SECTOR_BYTES)
		return trace_malformed(r, "want a sector, 0 to %llu, not %llu",
				       UINT64_MAX / TRACE_SECTOR_BYTES + 0ull,
				       (unsigned long long)n);
	n *= where == SECTOR ? TRACE_SECTOR_BYTES : 1;
	run.write = kind == 'w';
	ret = trace_pages(r, n, bytes, &run);
	return ret ? ret : trace_add(r, t, &run, NULL);
}

/* The first line is a header if it has no number where an address is. */
static bool is_header(const struct csv *c, const char *line)
{
	enum column where = c->at[ID] ? ID : c->at[SECTOR] ? SECTOR : OFFSET;
	const char *text;
	int length;

	return field(line, c->at[where], &text, &length) &&
	       (*text < '0' || *text > '9');
}

static int read_rows(struct trace_in *r, struct csv *c, struct sim_trace *t)
{
	bool begun = false;
	int ret = 0;

	if (r->options->columns)
		ret = read_columns(r, c, r->options->columns);
	while (!ret && (ret = trace_next_line(r)) > 0) {
		ret = 0;
		if (!*r->line)
			continue;
		if (!begun && !r->options->columns)
			read_header(c, r->line);
		if (!has_address(c))
			return trace_malformed(r, "want a header that has obj_id, or sector or offset and size; else --columns");
		if (begun || !is_header(c, r->line))
			ret = read_row(r, c, t);
		begun = true;
	}
	return ret;
}

int trace_read_csv(struct trace_in *r, struct sim_trace *t)
{
	struct csv c = { 0 };
	int ret = read_rows(r, &c, t);

	if (!ret && c.at[ID])
		ret = end_objects(r, &c.objects, t);
	if (!ret && c.skipped)
		ret = trace_note(t, "%llu operations that neither read nor write were skipped",
				 (unsigned long long)c.skipped);
	free_objects(&c.objects);
	return ret;
}

int trace_write_csv(struct sim_trace *t, FILE *out)
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
