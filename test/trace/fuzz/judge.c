// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a trace of any form: it is refused with a reason, or what was read
 * is a trace, and is the same one after it was written and read again. What does
 * not hold ends the program by abort().
 *
 * trace-fuzz replay FORM FILE            one file; says what became of it
 * trace-fuzz damage FIRST COUNT FILE...  files named FORM-anything or FORM.anything,
 *                                        damaged with each seed
 * With -DTRACE_LIBFUZZER, libFuzzer's side instead: the first byte says the form.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../../userlib/trace/reader.h"

#define MOST 4096	/* accesses: a few bytes can ask for very many */
#define INPUT_BYTES 65536

/* Beside the forms: what is in the frame of a .trace, which a checksum guards. */
#define RECORDS TRACE_NR_FORMS

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void check(bool holds, const char *claim)
{
	if (holds)
		return;
	fprintf(stderr, "trace-fuzz: this does not hold: %s\n", claim);
	abort();
}

static int read_bytes(struct trace *t, const void *data, size_t size,
		      enum trace_form form, struct trace_error *err)
{
	const struct trace_options options = { .form = form, .most = MOST };
	FILE *in = fmemopen((void *)data, size, "r");
	int ret;

	check(in, "there is memory for a stream");
	ret = trace_read(t, "fuzz", in, &options, err);
	fclose(in);
	return ret;
}

/* What an access is: by number. */
static void access_at(const struct trace *t, size_t *run, u32 *i,
		      struct trace_run *access, struct trace_tag *tag)
{
	*access = (struct trace_run){
		t->run[*run].pgno + *i, 1, t->run[*run].write
	};
	*tag = trace_tag(t, *run);
	if (++*i == t->run[*run].nr) {
		*i = 0;
		++*run;
	}
}

static void check_sound(struct trace *t)
{
	u64 accesses = 0;
	size_t i;
	u32 j;

	for (i = 0; i < t->nr_runs; i++) {
		check(t->run[i].nr, "a run has pages");
		check((u64)t->run[i].pgno + t->run[i].nr - 1 <= UINT32_MAX,
		      "pages have 32 bits");
		accesses += t->run[i].nr;
		for (j = 0; j < t->run[i].nr; j++)
			check(trace_id(t, t->run[i].pgno + j) < t->nr_pages,
			      "a page has an id");
	}
	check(accesses == t->nr_accesses, "runs have all accesses");
	check(accesses && accesses <= MOST, "accesses are in their limits");
	for (i = 1; i < t->nr_regions; i++)
		check((u64)t->region[i - 1].pgno + t->region[i - 1].nr <=
		      t->region[i].pgno, "regions ascend");
}

/* @exact: else only pages stay the same, and reads. */
static void check_same(const struct trace *a, const struct trace *b,
		       bool exact, bool writes)
{
	size_t run[2] = { 0, 0 }, i;
	u32 at[2] = { 0, 0 };
	struct trace_run access[2];
	struct trace_tag tag[2];
	u64 n;

	check(a->nr_accesses == b->nr_accesses && a->nr_pages == b->nr_pages,
	      "as many accesses and pages are read again");
	for (n = 0; n < a->nr_accesses; n++) {
		access_at(a, &run[0], &at[0], &access[0], &tag[0]);
		access_at(b, &run[1], &at[1], &access[1], &tag[1]);
		check(access[0].pgno == access[1].pgno, "pages are read again");
		check(!writes || access[0].write == access[1].write,
		      "writes are read again");
		check(!exact || (tag[0].hint == tag[1].hint &&
				 tag[0].context == tag[1].context),
		      "tags are read again");
	}
	check(!exact || a->nr_regions == b->nr_regions, "regions are kept");
	for (i = 0; exact && i < a->nr_regions; i++)
		check(a->region[i].pgno == b->region[i].pgno &&
		      a->region[i].nr == b->region[i].nr &&
		      !strcmp(a->region[i].name, b->region[i].name),
		      "regions are read again");
}

static void check_written(struct trace *t, enum trace_form form)
{
	bool exact = form == TRACE_TEXT || form == TRACE_BINARY;
	struct trace again;
	struct trace_error err;
	size_t size;
	char *bytes;
	FILE *out = open_memstream(&bytes, &size);

	check(out, "there is memory for a stream");
	check(!trace_write(t, form, out), "what was read can be written");
	fclose(out);
	check(!read_bytes(&again, bytes, size, form, &err),
	      "what was written can be read");
	check_same(t, &again, exact, form != TRACE_ORACLE);
	trace_free(&again);
	free(bytes);
}

/* Return: whether it was accepted. */
static bool judge(const u8 *data, size_t size, enum trace_form form)
{
	struct trace_info info;
	enum trace_form to;
	struct trace_error err;
	struct trace t;
	int ret = read_bytes(&t, data, size, form, &err);

	check(!ret || ret == -EINVAL, "malformed is all that bytes can be");
	check(!ret || *err.text, "a refusal has a reason");
	check(memchr(err.text, 0, sizeof(err.text)), "which is text");
	if (!ret) {
		check_sound(&t);
		for (to = TRACE_ANY + 1; to < TRACE_NR_FORMS; to++)
			/* An iolog has as many regions as it has files. */
			if (trace_forms[to].write && to != TRACE_FIO)
				check_written(&t, to);
		check(!trace_info(&t, 3, &info), "it can be counted");
		check(info.accesses == t.nr_accesses &&
		      info.reuses + info.pages == info.accesses,
		      "each access is the first to its page, or a reuse");
		trace_info_free(&info);
	}
	trace_free(&t);
	return !ret;
}

/* Records, in the frame that a .trace has. */
static bool judge_records(const u8 *data, size_t size)
{
	size_t bound = ZSTD_compressBound(size), n;
	u8 *bytes = malloc(16 + bound);
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	bool ret;

	check(bytes && zstd, "there is memory");
	memcpy(bytes, "\x93hptrace\1\0\0\0\0\0\0\0", 16);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	n = ZSTD_compress2(zstd, bytes + 16, bound, data, size);
	check(!ZSTD_isError(n), "records can be compressed");
	ret = judge(bytes, 16 + n, TRACE_BINARY);
	ZSTD_freeCCtx(zstd);
	free(bytes);
	return ret;
}

static bool judge_as(const u8 *data, size_t size, u32 form)
{
	/* In memory of its own, so that ASan sees what is read behind it. */
	u8 *copy = malloc(size + 1);
	bool ret;

	check(copy, "there is memory");
	memcpy(copy, data, size);
	ret = !size ? false : form == RECORDS ? judge_records(copy, size) :
						judge(copy, size, form);
	free(copy);
	return ret;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	if (size)
		judge_as(data + 1, size - 1, data[0] % (RECORDS + 1));
	return 0;
}

#ifndef TRACE_LIBFUZZER

static u32 form_of(const char *name)
{
	size_t n = strcspn(name, "-.");
	u32 form;

	for (form = TRACE_ANY + 1; form < TRACE_NR_FORMS; form++)
		if (strlen(trace_form_names[form]) == n &&
		    !memcmp(trace_form_names[form], name, n))
			return form;
	return !strncmp(name, "records", n) ? RECORDS : TRACE_ANY;
}

static size_t read_file(const char *path, u8 *data)
{
	FILE *in = fopen(path, "rb");
	size_t n;

	if (!in) {
		perror(path);
		exit(2);
	}
	n = fread(data, 1, INPUT_BYTES, in);
	fclose(in);
	return n;
}

static u64 random_below(u64 *state, u64 n)
{
	u64 z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return ((z ^ z >> 31) >> 11) % n;
}

/* One change: of a byte, of a piece, or a word that means something. */
static size_t damage(u8 *data, size_t size, u64 *state)
{
	static const char *const words[] = {
		"-1", "0", "4294967295", "4294967296", "18446744073709551615",
		"r ", "w ", "\n", ",", "\"", "(", ")", "<", ">", "=", " = ",
		"0x", "h=1", "c=f", "+", "#", "\xff", "\x80", " <unfinished ...>",
		"<... read resumed>", "Q R ", " read ", "add", "SEEK_END",
		"CLONE_FILES", "f 0 1 a\n", "[pid 7] ", "+++ exited with 0 +++\n"
	};
	size_t at = random_below(state, size + 1), n, from;
	const char *word;

	switch (random_below(state, 6)) {
	case 0:
		if (at < size)
			data[at] ^= 1 << random_below(state, 8);
		return size;
	case 1:
		if (at < size)
			data[at] = random_below(state, 256);
		return size;
	case 2:		/* the end is missing */
		return at;
	case 3:		/* a piece is missing */
		n = random_below(state, 40);
		n = n < size - at ? n : size - at;
		memmove(data + at, data + at + n, size - at - n);
		return size - n;
	case 4:		/* a piece is there twice */
		from = random_below(state, size + 1);
		n = random_below(state, 80);
		n = n < size - from ? n : size - from;
		if (size + n > INPUT_BYTES)
			return size;
		memmove(data + at + n, data + at, size - at);
		memmove(data + at, data + (from < at ? from : from + n < size ?
					   from + n : from), n);
		return size + n;
	default:
		word = words[random_below(state, ARRAY_SIZE(words))];
		n = strlen(word);
		if (size + n > INPUT_BYTES)
			return size;
		memmove(data + at + n, data + at, size - at);
		memcpy(data + at, word, n);
		return size + n;
	}
}

static int damage_files(u64 first, u64 count, char **paths, int nr)
{
	static u8 whole[INPUT_BYTES], data[INPUT_BYTES];
	u64 seed, accepted, state;
	const char *name;
	size_t size, n;
	int i, times;
	u32 form;

	for (i = 0; i < nr; i++) {
		name = strrchr(paths[i], '/') ? strrchr(paths[i], '/') + 1 :
						paths[i];
		form = form_of(name);
		size = read_file(paths[i], whole);
		accepted = 0;
		for (seed = first; seed < first + count; seed++) {
			state = seed;
			memcpy(data, whole, size);
			n = size;
			times = 1 + random_below(&state, 4);
			while (times--)
				n = damage(data, n, &state);
			/* Now and then the form is to be recognised. */
			accepted += judge_as(data, n, form != RECORDS &&
					     seed % 4 == 0 ? TRACE_ANY : form);
		}
		printf("%s %llu of %llu accepted\n", name,
		       (unsigned long long)accepted, (unsigned long long)count);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static u8 data[INPUT_BYTES];
	size_t size;

	if (argc == 4 && !strcmp(argv[1], "replay")) {
		size = read_file(argv[3], data);
		puts(judge_as(data, size, form_of(argv[2])) ? "accepted" :
							      "refused");
		return 0;
	}
	if (argc > 4 && !strcmp(argv[1], "damage"))
		return damage_files(strtoull(argv[2], NULL, 10),
				    strtoull(argv[3], NULL, 10), argv + 4,
				    argc - 4);
	fputs("usage: trace-fuzz replay FORM FILE\n"
	      "       trace-fuzz damage FIRST COUNT FILE...\n", stderr);
	return 2;
}

#endif /* TRACE_LIBFUZZER */
