/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of containers: what uapi/hipec_record.h describes, in a file that holds
 * those of several, and what replays them. docs/user/operations.md has the forms.
 *
 * Interface:
 * record_file_begin(), _block()  write a file
 * record_file_read(), _free()    a file into memory
 * record_head()       where the entries of a container's record begin
 * record_entry()      decode one
 * record_entry_text() in words
 * record_policy(), _restore()  the machine as it was then
 * record_replay()     do the same again, and compare
 */
#ifndef HIPEC_RECORD_FILE_H
#define HIPEC_RECORD_FILE_H

#include <stdio.h>

#include "../../module/vm/tracer.h"

#define RECORD_FILE_MAGIC "\x93hprecrd"
#define RECORD_FILE_VERSION 1
#define RECORD_MAX_BLOCK (64u << 20)	/* bytes */

/* The bytes of one container and one of its policies. */
struct record_stream {
	u64 id;
	u8 *bytes;
	size_t size, max;
};

struct record_file {
	struct record_stream *stream;	/* in the order in which they begin */
	size_t nr_streams;
	bool cut;		/* its last block is not whole */
};

struct record_item {
	u8 code;
	u32 nr;
	u64 number[2 + HIPEC_RECORD_INPUTS];
	const u8 *name;		/* of REGION */
};

enum record_verdict {
	RECORD_SAME,
	RECORD_DIFFERS,
	RECORD_LOST,	/* the same, up to a hole */
	RECORD_DAMAGED,	/* it cannot be what a machine has told */
};

struct record_replay {
	char policy[HIPEC_NAME_MAX];
	char comm[17];
	u64 id;
	u64 nr_entries, nr_events, nr_decisions;	/* that were the same */
	u64 nr_lost;
	enum record_verdict verdict;
	char why[400];		/* in words, unless SAME */
};

int record_file_begin(FILE *out);
int record_file_block(FILE *out, u64 id, bool begins, const void *bytes, u32 nr);
int record_file_read(struct record_file *f, FILE *in, struct hipec_text *why);
void record_file_free(struct record_file *f);

void __attribute__((format(printf, 2, 3)))
record_say(struct hipec_text *out, const char *format, ...);
s64 record_head(const u8 *bytes, size_t size, struct hipec_record_head *head,
		struct hipec_text *why);
int record_entry(const u8 *at, const u8 *end, struct record_item *n);
void record_entry_text(const struct record_item *n, struct hipec_text *out);
const char *record_policy(struct hipec_policy *policy,
			  const struct hipec_record_head *head, const void *image);
const char *record_restore(struct hipec_vm *vm, const struct hipec_record_head *head,
			   const u8 *tables);
int record_replay(const u8 *bytes, size_t size, struct record_replay *r);

#endif /* HIPEC_RECORD_FILE_H */
