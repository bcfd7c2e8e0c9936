// SPDX-License-Identifier: GPL-2.0-only
/*
 * Patterns in a file of lines, for people to read and for the next run to begin with.
 *
 * Interface: amp.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "amp.h"

#define HEADER "hipec-amp 1"

static const char columns[] =
	"# context         kind       r       confidence  accesses  pages  "
	"loop-size  loop-time  deviation";

static int malformed(struct amp_error *err, u64 line, const char *text)
{
	err->line = line;
	snprintf(err->text, sizeof(err->text), "%s", text);
	return -EINVAL;
}

/* A number that is finite, and at least @least. */
static bool real(const char *word, double least, double most, double *n)
{
	char *end;

	*n = strtod(word, &end);
	return *word && !*end && *n >= least && *n <= most;
}

static bool whole(const char *word, int base, u64 *n)
{
	char *end;

	errno = 0;
	*n = strtoull(word, &end, base);
	return *word && *word != '-' && *word != '+' && !*end && !errno;
}

static bool kind(const char *word, enum amp_kind *k)
{
	u32 i;

	for (i = 0; i < AMP_NR_KINDS; i++)
		if (!strcmp(word, amp_kind_names[i])) {
			*k = i;
			return true;
		}
	return false;
}

#define WORDS 9
#define MOST 1e15	/* accesses; a number of any stream is below it */

/* NULL, or what is wrong with a line. */
static const char *parse(char *line, struct amp_pattern *p)
{
	char *word[WORDS + 1], *save;
	u32 n = 0;

	for (word[n] = strtok_r(line, " \t\r\n", &save); word[n] && n < WORDS;)
		word[++n] = strtok_r(NULL, " \t\r\n", &save);
	if (n != WORDS || word[n])
		return "want nine words: context kind r confidence accesses pages loop-size loop-time deviation";
	*p = (struct amp_pattern){ .known = true, .rate = 1 };
	if (!whole(word[0], 16, &p->context) || !p->context)
		return "want a context, 1 to 16 hexadecimal digits and not 0";
	if (!kind(word[1], &p->kind))
		return "want a kind: other, one-shot, looping or clustered";
	if (strcmp(word[2], "-") && !real(word[2], 0, 1, &p->r))
		return "want r, 0 to 1, or - where it is not defined";
	if (!strcmp(word[2], "-"))
		p->r = -1;
	if (!real(word[3], 0, 1, &p->confidence))
		return "want a confidence, 0 to 1";
	if (!whole(word[4], 10, &p->accesses) ||
	    !whole(word[5], 10, &p->pages) ||
	    !whole(word[6], 10, &p->loop_size) || p->accesses > MOST ||
	    p->pages > MOST || p->loop_size > MOST)
		return "want accesses, pages and a loop size, whole numbers";
	if (!real(word[7], 0, MOST, &p->loop_time) ||
	    !real(word[8], 0, MOST, &p->loop_dev))
		return "want a loop time and a deviation, in accesses";
	return NULL;
}

static bool has_context(const struct amp_pattern *p, size_t nr, u64 context)
{
	while (nr--)
		if (p[nr].context == context)
			return true;
	return false;
}

/* A line; its patterns go behind those there are. */
static int read_line(char *line, u64 number, struct amp_pattern **p, size_t *nr,
		     struct amp_error *err)
{
	struct amp_pattern one, *more;
	const char *wrong;

	line[strcspn(line, "#\n")] = 0;
	if (!line[strspn(line, " \t\r")])
		return 0;
	wrong = parse(line, &one);
	if (wrong)
		return malformed(err, number, wrong);
	if (has_context(*p, *nr, one.context))
		return malformed(err, number, "this context has a line already");
	if (*nr == AMP_STATE_MOST)
		return malformed(err, number, "want at most 1024 contexts");
	more = reallocarray(*p, *nr + 1, sizeof(**p));
	if (!more)
		return -ENOMEM;
	*p = more;
	more[(*nr)++] = one;
	return 0;
}

static int read_header(const char *line, struct amp_error *err)
{
	if (!strcmp(line, HEADER "\n"))
		return 0;
	return malformed(err, 1, "want '" HEADER "': this is no file of patterns, or of another version");
}

/**
 * amp_state_read() - patterns of a file
 * @in:  file, from its start
 * @p:   gets them; free() it, also after an error
 * @nr:  gets their number
 * @err: filled if it is malformed
 *
 * Context: any.
 * Return: 0; -EINVAL with @err; -ENOMEM; -EIO if it could not be read.
 */
int amp_state_read(FILE *in, struct amp_pattern **p, size_t *nr,
		   struct amp_error *err)
{
	u64 number = 0;
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	int ret = 0;

	*p = NULL;
	*nr = 0;
	while (!ret && (n = getline(&line, &size, in)) >= 0) {
		number++;
		if (memchr(line, 0, n))
			ret = malformed(err, number, "want text, not a zero byte");
		else if (number == 1)
			ret = read_header(line, err);
		else
			ret = read_line(line, number, p, nr, err);
	}
	if (!ret && ferror(in))
		ret = -EIO;
	else if (!ret && !number)
		ret = malformed(err, 1, "want '" HEADER "', and the file is empty");
	free(line);
	return ret;
}

/**
 * amp_state_write() - patterns into a file
 * @out: file
 * @p:   patterns
 * @nr:  of them
 *
 * Context: any.
 * Return: 0; -EIO.
 */
int amp_state_write(FILE *out, const struct amp_pattern *p, size_t nr)
{
	char r[16];
	size_t i;

	fprintf(out, HEADER "\n%s\n", columns);
	for (i = 0; i < nr; i++, p++) {
		snprintf(r, sizeof(r), p->r < 0 ? "-" : "%.4f", p->r);
		fprintf(out, "%016llx  %-9s  %-6s  %-10.4f  %8llu  %5llu  %9llu  %9.1f  %9.1f\n",
			(unsigned long long)p->context, amp_kind_names[p->kind],
			r, p->confidence, (unsigned long long)p->accesses,
			(unsigned long long)p->pages,
			(unsigned long long)p->loop_size, p->loop_time,
			p->loop_dev);
	}
	return fflush(out) || ferror(out) ? -EIO : 0;
}
