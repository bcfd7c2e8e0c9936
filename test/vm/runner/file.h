/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A .hpt file: one test case for the VM core, its image in assembler text and
 * what must come out. test/vm/README.md describes the format to its writers.
 *
 * file.c reads sections and assembles the image; case.c makes the bytes
 * that module/tests/vmcase.c runs; expect.c holds what must come out against
 * what did.
 *
 * Interface:
 * hpt_read()     file -> struct hpt, or a message with file and line
 * hpt_case()     the bytes of the case
 * hpt_compare()  outcome against expectations
 * hpt_free()
 */
#ifndef HIPEC_HPTFILE_H
#define HIPEC_HPTFILE_H

#include "../../../module/tests/fakehost.h"
#include "../../../module/tests/vmcase.h"
#include "../../../userlib/image/asm.h"
#include "../../../userlib/image/mkimage.h"

enum hpt_section {
	HPT_NONE, HPT_OPERANDS, HPT_PAGES, HPT_SET, HPT_CODE, HPT_IMAGE, HPT_RUN,
	HPT_RESULT, HPT_QUEUES, HPT_INTS, HPT_PAGE_SLOTS, HPT_PAGES_AFTER,
	HPT_GIVEN_UP, HPT_ARRAYS, HPT_FIELDS,
};

struct hpt_line {
	enum hpt_section section;
	u32 line;	/* in the file, counted from 1 */
	u32 event;	/* HPT_CODE: row of mkimage.event */
	char *text;	/* without comment and surrounding space */
};

struct hpt {
	const char *path;
	char *name;	/* base name without .hpt */
	char *text;	/* the file; lines point into it */
	struct hpt_line *line;
	size_t nr_lines;
	struct hipec_mkimage mk;
	struct hipec_asm names;
	u32 *words, *lines;	/* of all events; mk points into them */
	struct hipec_vmcase_head head;
	void *bytes;	/* the case */
	size_t size;	/* its bytes */
	char error[400];	/* path:line: what is wrong */
};

int hpt_read(struct hpt *t, const char *path);
void hpt_free(struct hpt *t);
int hpt_case(struct hpt *t);
int hpt_compare(struct hpt *t, const char *outcome);

/* Between the three files. */
int __attribute__((format(printf, 3, 4)))
hpt_wrong(struct hpt *t, u32 line, const char *format, ...);
char *hpt_word(char **rest);
bool hpt_number(const char *word, s64 *n);

/* Each line of a section. */
#define hpt_for_each(l, t, which)					\
	for ((l) = (t)->line; (l) < (t)->line + (t)->nr_lines; (l)++)	\
		if ((l)->section == (which))

#endif /* HIPEC_HPTFILE_H */
