// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policies of cases in C. See inc.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../../userlib/image/emitc.h"
#include "../../../userlib/native/native.h"
#include "inc.h"
#include "run.h"

static FILE *source;
static struct native library;
static u64 *written;	/* hashes of the policies that are in the file */
static size_t nr_written;

/* FNV-1a. */
static u64 hash_of(const u8 *bytes, size_t size)
{
	u64 hash = 0xcbf29ce484222325ull;

	while (size--)
		hash = (hash ^ *bytes++) * 0x100000001b3ull;
	return hash;
}

static const char *entry_of(u64 hash)
{
	static char entry[NATIVE_ENTRY];

	snprintf(entry, sizeof(entry), "p_%016llx", (unsigned long long)hash);
	return entry;
}

bool inc_begin(const char *path)
{
	source = fopen(path, "we");
	if (source)
		hipec_emit_c_head(source);
	return source;
}

/* Return: whether all was written. */
bool inc_end(void)
{
	bool failed = ferror(source);

	free(written);
	return !fclose(source) && !failed;
}

bool inc_load(const char *path)
{
	char line[512];
	struct hipec_text why;

	hipec_text_init(&why, line, sizeof(line));
	if (!native_load(&library, path, &why))
		return true;
	fprintf(stderr, "%s\n", line);
	return false;
}

static u64 hash_of_case(const void *bytes, size_t size)
{
	const struct hipec_vmcase_head *head = bytes;

	return hash_of((const u8 *)bytes + size - head->image_size, head->image_size);
}

/* Write the policy of a sound case, unless it is there. Return: 0; -ENOMEM. */
static int add(const struct hipec_vmcase *c, u64 hash)
{
	u64 *more;
	size_t i;

	for (i = 0; i < nr_written; i++)
		if (written[i] == hash)
			return 0;
	more = reallocarray(written, nr_written + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	written = more;
	written[nr_written++] = hash;
	return hipec_emit_c(&c->policy, entry_of(hash), source);
}

/**
 * hpt_run_to_c() - run nothing: write the policy of a case
 * @bytes: the case, aligned for u64
 * @size:  bytes
 * @out:   gets what hpt_run_here() says of a case whose policy is refused
 *
 * Return: 0; -EINVAL if the case is malformed; -ENOMEM.
 */
int hpt_run_to_c(const void *bytes, size_t size, struct hipec_text *out)
{
	struct hipec_vmcase c;
	int ret = hipec_vmcase_parse(&c, bytes, size, out);

	if (ret)
		return ret < 0 ? ret : 0;
	return add(&c, hash_of_case(bytes, size));
}

/**
 * hpt_run_c() - outcome of a case by what was compiled from its policy in C
 * @bytes: the case, aligned for u64
 * @size:  bytes
 * @out:   gets the text
 *
 * Return: as hpt_run_here(); -ENOENT if its policy is not in the library.
 */
int hpt_run_c(const void *bytes, size_t size, struct hipec_text *out)
{
	struct hipec_vmcase c;
	int ret = hipec_vmcase_parse(&c, bytes, size, out);

	if (ret)
		return ret < 0 ? ret : 0;
	if (!native_find(&library, entry_of(hash_of_case(bytes, size)), &c.run))
		return -ENOENT;
	return hpt_run_case(&c, out);
}
