// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a run has learnt, in a file of lines, for people to read and for the next run to
 * begin with: patterns, and what `hipec amp report` tells of them.
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

static int read_pattern(char *line, u64 number, struct amp_state *s,
			struct amp_error *err)
{
	struct amp_pattern one, *more;
	const char *wrong = parse(line, &one);

	if (wrong)
		return malformed(err, number, wrong);
	if (has_context(s->pattern, s->nr, one.context))
		return malformed(err, number, "this context has a line already");
	if (s->nr == AMP_STATE_MOST)
		return malformed(err, number, "want at most 1024 contexts");
	more = reallocarray(s->pattern, s->nr + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	s->pattern = more;
	more[s->nr++] = one;
	return 0;
}

/*
 * amp_state_story() - what there is to tell of a context
 * Return: it; NULL if there is none, and without @make, or if there is no memory.
 */
struct amp_story *amp_state_story(struct amp_state *s, u64 context, bool make)
{
	struct amp_story *more;
	size_t i;

	for (i = 0; i < s->nr_stories; i++)
		if (s->story[i].context == context)
			return &s->story[i];
	if (!make || s->nr_stories == AMP_STATE_MOST)
		return NULL;
	more = reallocarray(s->story, s->nr_stories + 1, sizeof(*more));
	if (!more)
		return NULL;
	s->story = more;
	more[s->nr_stories] = (struct amp_story){ .context = context };
	return &more[s->nr_stories++];
}

/* The same of a file that points are in. */
struct amp_file *amp_state_file(struct amp_state *s, u64 file, bool make)
{
	struct amp_file *more;
	size_t i;

	for (i = 0; i < s->nr_files; i++)
		if (s->file[i].file == file)
			return &s->file[i];
	if (!make || s->nr_files == AMP_STATE_MOST)
		return NULL;
	more = reallocarray(s->file, s->nr_files + 1, sizeof(*more));
	if (!more)
		return NULL;
	s->file = more;
	more[s->nr_files] = (struct amp_file){ .file = file };
	return &more[s->nr_files++];
}

void amp_state_free(struct amp_state *s)
{
	free(s->pattern);
	free(s->file);
	free(s->story);
	*s = (struct amp_state){ 0 };
}

/* "frames N used 0": where the patterns are from. */
static const char *parse_frames(char **word, u32 n, struct amp_state *s)
{
	u64 frames, used;

	if (n != 4 || !whole(word[1], 10, &frames) || frames > UINT32_MAX ||
	    strcmp(word[2], "used") || !whole(word[3], 10, &used) || used > 1)
		return "want frames N used 0, or 1";
	s->frames = frames;
	s->used = used;
	return NULL;
}

/* Bytes in hexadecimal, two digits each. */
static bool parse_hex(const char *word, struct amp_file *f)
{
	size_t n = strlen(word), i;
	unsigned int byte;

	if (n % 2 || n > 2 * AMP_STATE_ID ||
	    word[strspn(word, "0123456789abcdef")])
		return false;
	for (i = 0; i < n / 2 && sscanf(word + 2 * i, "%2x", &byte) == 1; i++)
		f->id[i] = byte;
	f->id_bytes = n / 2;
	return true;
}

/* A path: what would end a word, or the line, is %XX. */
static bool parse_path(const char *word, char *path)
{
	unsigned int byte;
	size_t n;

	for (n = 0; *word && n < AMP_STATE_PATH; n++) {
		if (*word != '%') {
			path[n] = *word++;
			continue;
		}
		if (sscanf(word, "%%%2x", &byte) != 1 || !byte ||
		    !word[1] || !word[2])
			return false;
		path[n] = byte;
		word += 3;
	}
	path[n] = 0;
	return !*word;
}

/* "file ID BUILD-ID PATH"; - for what is not known. */
static const char *parse_file(char **word, u32 n, struct amp_state *s)
{
	struct amp_file f = { 0 }, *to;

	if (n != 4 || !whole(word[1], 16, &f.file) ||
	    (strcmp(word[2], "-") && !parse_hex(word[2], &f)) ||
	    (strcmp(word[3], "-") && !parse_path(word[3], f.path)))
		return "want file ID BUILD-ID PATH, - for what is not known";
	to = amp_state_file(s, f.file, true);
	if (!to)
		return "want at most 1024 files";
	*to = f;
	return NULL;
}

/* "points CONTEXT FILE+OFFSET...", the innermost first. */
static const char *parse_points(char **word, u32 n, struct amp_state *s)
{
	struct amp_story *to;
	u64 context;
	char *plus;
	u32 i;

	if (n < 2 || n > 2 + AMP_STATE_POINTS || !whole(word[1], 16, &context))
		return "want points CONTEXT FILE+OFFSET..., 16 at most";
	to = amp_state_story(s, context, true);
	if (!to)
		return "want at most 1024 contexts";
	for (i = 0; i < n - 2; i++) {
		plus = strchr(word[i + 2], '+');
		if (!plus)
			return "want FILE+OFFSET, both hexadecimal";
		*plus = 0;
		if (!whole(word[i + 2], 16, &to->point[i].file) ||
		    !whole(plus + 1, 16, &to->point[i].offset))
			return "want FILE+OFFSET, both hexadecimal";
	}
	to->nr = i;
	return NULL;
}

/* "faults CONTEXT N default N partition 0": what became of a context. */
static const char *parse_faults(char **word, u32 n, struct amp_state *s)
{
	struct amp_story one = { 0 }, *to;
	u64 kept;

	if (n != 7 || !whole(word[1], 16, &one.context) ||
	    !whole(word[2], 10, &one.faults) || strcmp(word[3], "default") ||
	    !whole(word[4], 10, &one.default_faults) ||
	    strcmp(word[5], "partition") || !whole(word[6], 10, &kept) ||
	    kept > 1 || one.faults > MOST || one.default_faults > MOST)
		return "want faults CONTEXT N default N partition 0, or 1";
	to = amp_state_story(s, one.context, true);
	if (!to)
		return "want at most 1024 contexts";
	to->judged = true;
	to->kept = kept;
	to->faults = one.faults;
	to->default_faults = one.default_faults;
	return NULL;
}

static const struct {
	const char *name;
	const char *(*parse)(char **word, u32 n, struct amp_state *s);
} others[] = {
	{ "frames", parse_frames },
	{ "file", parse_file },
	{ "points", parse_points },
	{ "faults", parse_faults },
};

#define MOST_WORDS (2 + AMP_STATE_POINTS)

/* A line that is no pattern. */
static int read_other(char *line, u32 kind, u64 number, struct amp_state *s,
		      struct amp_error *err)
{
	char *word[MOST_WORDS + 1], *save;
	const char *wrong;
	u32 n = 0;

	for (word[n] = strtok_r(line, " \t\r\n", &save);
	     word[n] && n < MOST_WORDS;)
		word[++n] = strtok_r(NULL, " \t\r\n", &save);
	wrong = word[n] ? "there are too many words" :
		others[kind].parse(word, n, s);
	return wrong ? malformed(err, number, wrong) : 0;
}

static int read_line(char *line, u64 number, struct amp_state *s,
		     struct amp_error *err)
{
	size_t n;
	u32 i;

	line[strcspn(line, "#\n")] = 0;
	line += strspn(line, " \t\r");
	n = strcspn(line, " \t\r");
	if (!n)
		return 0;
	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (n == strlen(others[i].name) &&
		    !strncmp(line, others[i].name, n))
			return read_other(line, i, number, s, err);
	return read_pattern(line, number, s, err);
}

static int read_header(const char *line, struct amp_error *err)
{
	if (!strcmp(line, HEADER "\n"))
		return 0;
	return malformed(err, 1, "want '" HEADER "': this is no file of patterns, or of another version");
}

/**
 * amp_state_read() - what a run has left
 * @in:  file, from its start
 * @s:   gets it; amp_state_free() it, also after an error
 * @err: filled if it is malformed
 *
 * Return: 0; -EINVAL with @err; -ENOMEM; -EIO if it could not be read.
 */
int amp_state_read(FILE *in, struct amp_state *s, struct amp_error *err)
{
	u64 number = 0;
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	int ret = 0;

	*s = (struct amp_state){ 0 };
	while (!ret && (n = getline(&line, &size, in)) >= 0) {
		number++;
		if (memchr(line, 0, n))
			ret = malformed(err, number, "want text, not a zero byte");
		else if (number == 1)
			ret = read_header(line, err);
		else
			ret = read_line(line, number, s, err);
	}
	if (!ret && ferror(in))
		ret = -EIO;
	else if (!ret && !number)
		ret = malformed(err, 1, "want '" HEADER "', and the file is empty");
	free(line);
	return ret;
}

static void write_patterns(FILE *out, const struct amp_pattern *p, size_t nr)
{
	char r[16];

	for (; nr--; p++) {
		snprintf(r, sizeof(r), p->r < 0 ? "-" : "%.4f", p->r);
		fprintf(out, "%016llx  %-9s  %-6s  %-10.4f  %8llu  %5llu  %9llu  %9.1f  %9.1f\n",
			(unsigned long long)p->context, amp_kind_names[p->kind],
			r, p->confidence, (unsigned long long)p->accesses,
			(unsigned long long)p->pages,
			(unsigned long long)p->loop_size, p->loop_time,
			p->loop_dev);
	}
}

static void write_file(FILE *out, const struct amp_file *f)
{
	const char *c;
	u32 i;

	fprintf(out, "file %llx ", (unsigned long long)f->file);
	for (i = 0; i < f->id_bytes; i++)
		fprintf(out, "%02x", f->id[i]);
	fputs(f->id_bytes ? " " : "- ", out);
	for (c = f->path; *c; c++)
		fprintf(out, (unsigned char)*c <= ' ' || *c == 0x7f ||
			strchr("%#", *c) ? "%%%02x" : "%c", (unsigned char)*c);
	fputs(*f->path ? "\n" : "-\n", out);
}

static void write_story(FILE *out, const struct amp_story *a)
{
	u32 i;

	if (a->nr) {
		fprintf(out, "points %016llx", (unsigned long long)a->context);
		for (i = 0; i < a->nr; i++)
			fprintf(out, " %llx+%llx",
				(unsigned long long)a->point[i].file,
				(unsigned long long)a->point[i].offset);
		fputc('\n', out);
	}
	if (a->judged)
		fprintf(out, "faults %016llx %llu default %llu partition %d\n",
			(unsigned long long)a->context,
			(unsigned long long)a->faults,
			(unsigned long long)a->default_faults, a->kept);
}

/**
 * amp_state_write() - what a run has learnt, into a file
 * @out: file
 * @s:   that
 *
 * Return: 0; -EIO.
 */
int amp_state_write(FILE *out, const struct amp_state *s)
{
	size_t i;

	fprintf(out, HEADER "\n");
	if (s->frames)
		fprintf(out, "frames %u used %d\n", s->frames, s->used);
	fprintf(out, "%s\n", columns);
	write_patterns(out, s->pattern, s->nr);
	for (i = 0; i < s->nr_files; i++)
		write_file(out, &s->file[i]);
	for (i = 0; i < s->nr_stories; i++)
		write_story(out, &s->story[i]);
	return fflush(out) || ferror(out) ? -EIO : 0;
}
