// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec amp report: what a program's runs have learnt, each context in words: where it
 * is in the program, what it does, and what it gained or lost.
 *
 * Interface: amp.h.
 */
#define _GNU_SOURCE	/* asprintf() */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../cli.h"
#include "amp.h"
#include "../../say/json.h"
#include "elffile.h"

#define FOLDERS "/hipec/amp"
#define SHOWN 4			/* points of a line */
#define USUAL_TOP 20

struct options {
	const char *program;	/* of --run */
	u64 top;
	bool json;
};

/* Files with symbols, kept open: NULL where there is none to be had. */
struct binaries {
	const struct amp_state *state;
	struct elf_file *elf, *debug;
};

static bool open_binaries(struct binaries *b, const struct amp_state *s)
{
	size_t i;

	b->state = s;
	b->elf = calloc(s->nr_files + 1, sizeof(*b->elf));
	b->debug = calloc(s->nr_files + 1, sizeof(*b->debug));
	for (i = 0; b->elf && b->debug && i < s->nr_files; i++) {
		const struct amp_file *f = &s->file[i];
		u8 id[ELF_ID_BYTES];

		if (!*f->path || elf_open(&b->elf[i], f->path))
			continue;
		/* Another one than ran has other functions there. */
		if (f->id_bytes && (elf_build_id(&b->elf[i], id) != f->id_bytes ||
				    memcmp(id, f->id, f->id_bytes)))
			elf_close(&b->elf[i]);
		else
			elf_debug(&b->debug[i], f->id, f->id_bytes);
	}
	return b->elf && b->debug;
}

static void close_binaries(struct binaries *b)
{
	size_t i;

	for (i = 0; b->elf && b->debug && i < b->state->nr_files; i++) {
		elf_close(&b->elf[i]);
		elf_close(&b->debug[i]);
	}
	free(b->elf);
	free(b->debug);
}

/* "search+0x14", or "libx.so+0x1234" where no symbol is known. To be freed. */
static char *point_text(const struct binaries *b, const struct amp_point *p)
{
	const struct amp_file *f = NULL;
	const char *name = NULL, *slash;
	uint64_t address, into;
	char *text;
	size_t i;

	for (i = 0; i < b->state->nr_files && !f; i++)
		if (b->state->file[i].file == p->file)
			f = &b->state->file[i];
	if (f && b->elf[i - 1].at &&
	    elf_address(&b->elf[i - 1], p->offset, &address)) {
		if (b->debug[i - 1].at)
			name = elf_symbol(&b->debug[i - 1], address, &into);
		if (!name)
			name = elf_symbol(&b->elf[i - 1], address, &into);
	}
	if (name)
		return asprintf(&text, "%s+%#llx", name,
				(unsigned long long)into) < 0 ? NULL : text;
	slash = f ? strrchr(f->path, '/') : NULL;
	return asprintf(&text, "%s+%#llx", slash ? slash + 1 :
			f && *f->path ? f->path : "?",
			(unsigned long long)p->offset) < 0 ? NULL : text;
}

/* What the policy does with it. */
static const char *treatment(const struct amp_pattern *p,
			     const struct amp_story *a)
{
	if (!a || !a->kept)
		return "default";
	return p->kind == AMP_LOOPING ? "MRU" :
	       p->kind == AMP_ONE_SHOT ? "first to go" : "default";
}

static void print_gain(const struct amp_story *a)
{
	char n[CLI_COUNT];

	printf("reads %s, %s by default", cli_count(n, a->faults, "page"),
	       CLI_NUMBER(a->default_faults));
	if (a->default_faults)
		printf(" (%s %%)", CLI_CHANGE(100.0 * ((double)a->faults -
			a->default_faults) / a->default_faults));
}

/* Words of the lines above that are not everybody's. */
static void print_legend(void)
{
	puts("\n"
	     "looping: its pages come again and again in the same order. MRU: of these, the\n"
	     "one read last goes first, so that some of them stay. Default: pages are treated\n"
	     "like all others. Page reads of both are of a simulation beside the run.\n"
	     "R: near 0, what comes next was seen longest ago; near 1, just now.");
}

static void print_where(const struct binaries *b, const struct amp_story *a)
{
	u32 i;

	for (i = 0; a && i < a->nr && i < SHOWN; i++) {
		char *text = point_text(b, &a->point[i]);

		printf("%s%s", i ? " <- " : "", text ? cli_clean(text) : "?");
		free(text);
	}
	if (a && a->nr > SHOWN)
		printf(" <- ...");
	if (!a || !a->nr)
		printf("its stack is not known");
}

static void print_context(const struct binaries *b, const struct amp_pattern *p,
			  const struct amp_story *a)
{
	const char *program = NULL;
	char n[CLI_COUNT];
	size_t i;

	/* The outermost point is the program's, mostly. */
	for (i = 0; a && a->nr && i < b->state->nr_files; i++)
		if (b->state->file[i].file == a->point[a->nr - 1].file)
			program = strrchr(b->state->file[i].path, '/');
	if (program) {
		char *clean = strdup(program + 1);

		printf("%s: ", clean ? cli_clean(clean) : "?");
		free(clean);
	}
	print_where(b, a);
	printf(": %s, %s", amp_kind_names[p->kind],
	       cli_count(n, p->loop_time > 0 ? p->loop_size : p->pages, "page"));
	if (p->r >= 0)
		printf(", R %.2f", p->r);
	printf(" -> %s", treatment(p, a));
	if (a && a->judged) {
		printf("; ");
		print_gain(a);
	}
	printf("\n");
}

static void print_text(const struct binaries *b, struct amp_state *s, u64 top)
{
	char n[CLI_COUNT];
	size_t i;

	if (s->frames)
		printf("%s, one holds a page; at the end, loops had %s\n",
		       cli_count(n, s->frames, "frame"), s->used ? "some for themselves" :
		       "none for themselves: it did not pay");
	for (i = 0; i < s->nr && i < top; i++)
		print_context(b, &s->pattern[i],
			      amp_state_story(s, s->pattern[i].context, false));
	if (s->nr > top)
		printf("and %zu more contexts; --top N\n", s->nr - (size_t)top);
	if (!s->nr)
		printf("no context was seen\n");
	else
		print_legend();
}

static struct json_object *where_json(const struct binaries *b,
				      const struct amp_story *a)
{
	struct json_object *array = json_object_new_array();
	u32 i;

	for (i = 0; a && i < a->nr; i++) {
		char *text = point_text(b, &a->point[i]);

		json_object_array_add(array, json_object_new_string(
			text ? cli_clean(text) : "?"));
		free(text);
	}
	return array;
}

static void print_json(const struct binaries *b, struct amp_state *s)
{
	struct json_object *o = json_object_new_object(), *c;
	struct json_object *array = amp_patterns_json(s->pattern, s->nr);
	const struct amp_story *a;
	size_t i;

	for (i = 0; i < s->nr; i++) {
		a = amp_state_story(s, s->pattern[i].context, false);
		c = json_object_array_get_idx(array, i);
		json_object_object_add(c, "stack", where_json(b, a));
		cli_json_text(c, "treatment", treatment(&s->pattern[i], a));
		json_object_object_add(c, "faults", a && a->judged ?
			json_object_new_uint64(a->faults) : NULL);
		json_object_object_add(c, "default_faults", a && a->judged ?
			json_object_new_uint64(a->default_faults) : NULL);
	}
	json_object_object_add(o, "frames", s->frames ?
			       json_object_new_uint64(s->frames) : NULL);
	json_object_object_add(o, "used", json_object_new_boolean(s->used));
	json_object_object_add(o, "contexts", array);
	printf("%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));
	json_object_put(o);
}

/* The folder of all programs' files. To be freed; NULL: no home, or no memory. */
static char *folder(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *name;
	int n;

	if (state && *state == '/')
		n = asprintf(&name, "%s" FOLDERS, state);
	else if (home && *home == '/')
		n = asprintf(&name, "%s/.local/state" FOLDERS, home);
	else
		return NULL;
	return n < 0 ? NULL : name;
}

/* The file that was written last. To be freed; NULL: there is none. */
static char *last_run(void)
{
	char *where = folder(), *best = NULL, *name;
	DIR *dir = where ? opendir(where) : NULL;
	struct timespec last = { 0 };
	struct dirent *d;
	struct stat st;

	while (dir && (d = readdir(dir))) {
		size_t n = strlen(d->d_name);

		if (n < 6 || strcmp(d->d_name + n - 6, ".hints") ||
		    asprintf(&name, "%s/%s", where, d->d_name) < 0)
			continue;
		if (!stat(name, &st) &&
		    (!best || st.st_mtim.tv_sec > last.tv_sec ||
		     (st.st_mtim.tv_sec == last.tv_sec &&
		      st.st_mtim.tv_nsec > last.tv_nsec))) {
			free(best);
			best = name;
			last = st.st_mtim;
		} else {
			free(name);
		}
	}
	if (dir)
		closedir(dir);
	free(where);
	return best;
}

static int read_state(const char *name, struct amp_state *s)
{
	FILE *in = fopen(name, "re");
	struct amp_error err;
	int ret;

	*s = (struct amp_state){ 0 };
	if (!in) {
		cli_error("%s: %s", name, strerror(errno));
		return CLI_FAILED;
	}
	ret = amp_state_read(in, s, &err);
	fclose(in);
	if (ret == -EINVAL)
		cli_error("%s:%llu: %s", name, (unsigned long long)err.line, err.text);
	else if (ret)
		cli_error("%s: %s", name, strerror(-ret));
	return ret ? CLI_FAILED : CLI_OK;
}

static int parse(struct options *o, int argc, char **argv)
{
	char *end;
	int opt;

	while ((opt = cli_option(argc, argv, amp_options, "r")) != -1) {
		switch (opt) {
		case 'R':
			o->program = optarg;
			break;
		case 't':
			o->top = strtoull(optarg, &end, 10);
			if (*optarg >= '1' && *optarg <= '9' && !*end)
				break;
			cli_error("--top: want a number of contexts, not '%s'",
				  optarg);
			return CLI_USAGE;
		case 'j':
			o->json = true;
			break;
		default:
			return CLI_USAGE;
		}
	}
	if (argc - optind <= !o->program)
		return CLI_OK;
	cli_error("want one file, or --run PROGRAM");
	return CLI_USAGE;
}

static int cli_amp_report(int argc, char **argv)
{
	struct options o = { .top = USUAL_TOP };
	struct binaries b = { 0 };
	struct amp_state s;
	char *name;
	int ret = parse(&o, argc, argv);

	if (ret)
		return ret;
	name = optind < argc ? strdup(argv[optind]) :
	       o.program ? amp_hints_name(o.program) : last_run();
	if (!name) {
		cli_error("%s", o.program ? "there is no such program, or no home" :
			  "nothing was learnt yet: hipec run --policy amp ... does that");
		return CLI_FAILED;
	}
	ret = read_state(name, &s);
	if (!ret && !open_binaries(&b, &s)) {
		cli_error("%s", strerror(ENOMEM));
		ret = CLI_FAILED;
	}
	if (!ret && o.json)
		print_json(&b, &s);
	else if (!ret)
		print_text(&b, &s, o.top);
	if (b.state)
		close_binaries(&b);
	amp_state_free(&s);
	free(name);
	return ret;
}

const struct cli_verb cli_verb_report = {
	.name = "report", .of = "amp", .run = cli_amp_report,
	.usage = "[OPTION...] [FILE]", .summary = "say what runs have learnt",
};
