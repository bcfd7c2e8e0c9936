// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec sim --list: the shipped policies, as the headers of their sources say.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "../program/install_path.h"
#include "cli.h"
#include "../say/json.h"
#include "table.h"

#define IDEA 76		/* characters of one that a line has room for */
#define MOST 256	/* policies */

struct shipped {
	char name[64];
	char grade[16];
	char idea[256];		/* the first sentence */
};

struct shipped_list {
	struct shipped policy[MOST];
	size_t nr;
};

static void put_idea(char *cell, const struct shipped *p)
{
	bool cut = strlen(p->idea) > IDEA;

	snprintf(cell, CLI_CELL, "%.*s%s", cut ? IDEA - 3 : IDEA, p->idea, cut ? "..." : "");
}

#define COLUMNS(X)								\
	X(name, "POLICY", true, cli_put_text(cell, p->name, sizeof(p->name)))	\
	X(grade, "GRADE", true, cli_put_text(cell, p->grade, sizeof(p->grade)))	\
	X(idea, "IDEA", true, put_idea(cell, p))

#define CLI_ROW const struct shipped *p
COLUMNS(CLI_PUT_CELL)

static const struct cli_column columns[] = { COLUMNS(CLI_COLUMN) };

/* More of the first sentence; what is behind its full stop is left out. */
static void add_idea(struct shipped *p, const char *text, bool *ended)
{
	size_t n = strlen(p->idea);
	char *stop;

	if (*ended)
		return;
	snprintf(p->idea + n, sizeof(p->idea) - n, "%s%s", n ? " " : "", text);
	stop = strstr(p->idea, ". ");
	if (!stop && n + 1 < sizeof(p->idea) && p->idea[strlen(p->idea) - 1] == '.')
		stop = p->idea + strlen(p->idea) - 1;
	if (stop) {
		*stop = 0;
		*ended = true;
	}
}

/* The comment at the head of a source. */
static void read_header(struct shipped *p, FILE *in)
{
	bool ended = false;
	char line[256];

	while (fgets(line, sizeof(line), in) && !strncmp(line, "//", 2)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "// Grade: ", 10))
			snprintf(p->grade, sizeof(p->grade), "%.15s", line + 10);
		else if (!line[2] || !strncmp(line, "// Wins:", 8))
			ended = true;
		else if (strncmp(line, "// SPDX", 7) && line[2] == ' ')
			add_idea(p, line + 3, &ended);
	}
}

/* The source of a policy: beside its image, or where the build has it. */
static FILE *open_source(const char *folder, const char *name)
{
	static const char *const places[] = { "", "/../../policies" };
	char path[PATH_MAX];
	FILE *in = NULL;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(*places) && !in; i++)
		if (snprintf(path, sizeof(path), "%s%s/%s.hp", folder, places[i], name) <
		    (int)sizeof(path))
			in = fopen(path, "re");
	return in;
}

static bool is_listed(const struct shipped_list *l, const char *name)
{
	size_t i;

	for (i = 0; i < l->nr; i++)
		if (!strcmp(l->policy[i].name, name))
			return true;
	return false;
}

static void list_folder(struct shipped_list *l, const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	FILE *in;

	while (dir && (e = readdir(dir)) && l->nr < MOST) {
		struct shipped *p = &l->policy[l->nr];
		size_t n = strlen(e->d_name);

		if (n < 5 || n - 4 >= sizeof(p->name) || strcmp(e->d_name + n - 4, ".hpo"))
			continue;
		e->d_name[n - 4] = 0;
		in = is_listed(l, e->d_name) ? NULL : open_source(folder, e->d_name);
		if (!in)
			continue;
		*p = (struct shipped){ 0 };
		snprintf(p->name, sizeof(p->name), "%.63s", e->d_name);
		read_header(p, in);
		fclose(in);
		l->nr++;
	}
	if (dir)
		closedir(dir);
}

/* Where --policy looks for names, in the same order. */
static void list_all(struct shipped_list *l)
{
	const char *folders = getenv("HIPEC_POLICY_PATH"), *end;
	char path[PATH_MAX];

	for (; folders && *folders; folders = *end ? end + 1 : end) {
		end = folders + strcspn(folders, ":");
		snprintf(path, sizeof(path), "%.*s", (int)(end - folders), folders);
		list_folder(l, path);
	}
	if (install_path_find(path, INSTALL_PATH_SHARE, "policies"))
		list_folder(l, path);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct shipped *)a)->name, ((const struct shipped *)b)->name);
}

static void print_json(const struct shipped_list *l)
{
	struct json_object *array = json_object_new_array(), *o;
	size_t i;

	for (i = 0; i < l->nr; i++) {
		o = json_object_new_object();
		cli_json_text(o, "policy", l->policy[i].name);
		cli_json_text(o, "grade", l->policy[i].grade);
		cli_json_text(o, "idea", l->policy[i].idea);
		json_object_array_add(array, o);
	}
	puts(json_object_to_json_string_ext(array, JSON_C_TO_STRING_PRETTY));
	json_object_put(array);
}

static const struct option_row options[] = {
	{ 'j', "json", NULL, .help = "an array with all there is, for programs" },
	{ 0 },
};

static int cli_list(int argc, char **argv)
{
	struct shipped_list *l;
	bool json = false;
	int opt, ret;

	while ((opt = cli_option(argc, argv, options, "")) != -1) {
		if (opt == '?')
			return CLI_USAGE;
		json = true;
	}
	ret = cli_operands(argc, argv, 0, 0, "nothing");
	if (ret)
		return ret;
	l = calloc(1, sizeof(*l));
	if (!l) {
		cli_error("%s", strerror(ENOMEM));
		return CLI_FAILED;
	}
	list_all(l);
	qsort(l->policy, l->nr, sizeof(*l->policy), by_name);
	if (json) {
		print_json(l);
	} else {
		cli_table_print(stdout, columns, sizeof(columns) / sizeof(*columns), l->policy,
				l->nr, sizeof(*l->policy));
		puts("production: for use; experiment: of a paper, to compare with; tutorial: to read and change.\n"
		     "Built in: lru, fifo, clock, opt, opt-reads, default, auto, builtin. docs/policies.md has more.");
	}
	free(l);
	return CLI_OK;
}

const struct cli_verb cli_verb_list = {
	.name = "--list", .of = "sim", .run = cli_list,
	.usage = "[--json]", .summary = "list the shipped policies, with their grades",
	.help = "--policy of every verb finds these by their names, here and in the folders of"
		" HIPEC_POLICY_PATH.",
	.options = options,
};
