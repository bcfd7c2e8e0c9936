// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text that a policy was compiled from: found beside it, known by its hash.
 * A compiled policy does not say how its source is called.
 */
#include <sha2.h>
#include <stdlib.h>
#include <string.h>

#include "../program/install_path.h"
#include "../say/say.h"
#include "debug.h"

#define MAX_TEXT (4 << 20)	/* bytes; a policy of 65,536 words has not so many */

static char *read_file(const char *path, size_t *size)
{
	FILE *in = fopen(path, "re");
	char *text = in ? malloc(MAX_TEXT + 1) : NULL;

	if (text)
		*size = fread(text, 1, MAX_TEXT, in);
	if (text)
		text[*size] = 0;
	if (in)
		fclose(in);
	return text;
}

static bool is_source(const struct hipec_policy *p, const char *text, size_t size)
{
	u8 hash[HIPEC_HASH_SIZE];
	SHA2_CTX sha;

	SHA256Init(&sha);
	SHA256Update(&sha, (const u8 *)text, size);
	SHA256Final(hash, &sha);
	return !memcmp(hash, p->image->source_hash, sizeof(hash));
}

/* Cut the text into lines. Return: false: no memory. */
static bool cut(struct dbg_source *source, size_t size)
{
	char *c = source->text, *end = c + size;
	u32 nr = 2;

	for (; c < end; c++)
		nr += *c == '\n';
	source->line = calloc(nr, sizeof(*source->line));
	if (!source->line)
		return false;
	for (c = source->text; c < end; c += strlen(c) + 1) {
		source->line[++source->nr_lines] = c;
		c[strcspn(c, "\n")] = 0;
	}
	return true;
}

static bool take(struct dbg_source *source, const struct hipec_policy *p,
		 const char *path, bool *there)
{
	const char *slash = strrchr(path, '/');
	size_t size;

	source->text = read_file(path, &size);
	*there |= !!source->text;
	if (source->text && is_source(p, source->text, size) &&
	    cut(source, size)) {
		snprintf(source->name, sizeof(source->name), "%s",
			 slash ? slash + 1 : path);
		return true;
	}
	free(source->text);
	source->text = NULL;
	return false;
}

/**
 * dbg_source_open() - find the text of a policy
 * @source: filled; dbg_source_close() it
 * @p:      policy
 * @given:  file that the user named, or NULL
 *
 * Else it is looked for under the name of the policy, with .hp for .hpo, in policies/
 * here and in ours. What is not what the policy was compiled from is not taken. If there
 * is none, that is said, on standard error.
 */
void dbg_source_open(struct dbg_source *source, const struct policy *p,
		     const char *given)
{
	const struct hipec_image *image = p->policy.image;
	char same[512], shipped[HIPEC_NAME_MAX + 16], ours[PATH_MAX];
	int len = strlen(p->name) - strlen("o");
	bool there = false;

	*source = (struct dbg_source){ 0 };
	snprintf(same, sizeof(same), "%.*s", len, p->name);
	snprintf(shipped, sizeof(shipped), "policies/%s.hp", image->name);
	if (given ? take(source, &p->policy, given, &there) :
		    take(source, &p->policy, p->name, &there) ||
		    take(source, &p->policy, same, &there) ||
		    take(source, &p->policy, shipped, &there) ||
		    (install_path_find(ours, INSTALL_PATH_SHARE, shipped) &&
		     take(source, &p->policy, ours, &there)))
		return;
	if (given && !there)
		cli_error("%s cannot be read: there are commands, no source", given);
	else if (given)
		cli_error("%s is not what the policy was compiled from: there are commands, no source",
			  given);
	else
		cli_error("%s has no source here, but commands; --source FILE names it",
			  p->name);
}

void dbg_source_close(struct dbg_source *source)
{
	free(source->line);
	free(source->text);
}
