// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec status --page: where a page of a live container stands.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "../say/json.h"
#include "live.h"
#include "../lib/hipec.h"

#define PAGE 4096

static const struct {
	uint32_t bit;
	const char *word;
	const char *meaning;
} states[] = {
#define X(name, bit, word, meaning) { bit, word, meaning },
	HIPEC_WHY_STATES(X)
#undef X
};

#define NR_STATES (sizeof(states) / sizeof(*states))

/* PAGE: its number. FILE:OFFSET: a file, opened. Return: false, said. */
static bool parse_page(char *text, struct hipec_why *w)
{
	char *colon = strrchr(text, ':'), *end;
	const char *number = colon ? colon + 1 : text;
	uint64_t n;

	errno = 0;
	n = strtoull(number, &end, 0);
	if (*number < '0' || *number > '9' || *end || errno ||
	    (!colon && n > UINT64_MAX / PAGE)) {
		cli_error("'%s' is no page: want its number, or FILE:OFFSET in bytes",
			  text);
		return false;
	}
	w->offset = colon ? n : n * PAGE;
	w->fd = -1;
	if (!colon)
		return true;
	*colon = 0;
	w->flags = HIPEC_WHY_BY_FILE;
	w->fd = open(text, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (w->fd < 0)
		cli_error("%s: %s", text, strerror(errno));
	return w->fd >= 0;
}

static const char *queue_text(const struct hipec_why *w, char *text, size_t size)
{
	struct hipec_why clean = *w;

	switch (w->on) {
	case HIPEC_WHY_ON_FALLBACK:
		return "no queue of the policy: it goes before others";
	case HIPEC_WHY_ON_BUILTIN:
		return "the built-in replacement's inactive queue";
	case HIPEC_WHY_ON_POLICY:
		cli_clean(clean.queue);
		if (w->index)
			snprintf(text, size, "queue %s[%u]", clean.queue,
				 w->index);
		else
			snprintf(text, size, "queue %s", clean.queue);
		return text;
	}
	return NULL;
}

static void print_text(const struct hipec_why *w)
{
	char file[HIPEC_WHY_PATH], text[80];
	const char *queue = queue_text(w, text, sizeof(text));
	size_t i;

	memcpy(file, w->file, sizeof(file));
	printf("page %llu, byte %llu of %s\n",
	       (unsigned long long)w->address / PAGE,
	       (unsigned long long)w->file_offset, cli_clean(file));
	for (i = 0; i < NR_STATES; i++)
		if (w->state & states[i].bit)
			printf("  %s: %s\n", states[i].word, states[i].meaning);
	if (!(w->state & ~HIPEC_WHY_BEHIND))
		puts("  absent: it has no frame, and nothing is known of it");
	if (w->state & HIPEC_WHY_INSTEAD)
		printf("  page %llu stayed in its place\n",
		       (unsigned long long)w->instead / PAGE);
	if (queue)
		printf("  on %s, place %s of %s from the head\n", queue,
		       CLI_NUMBER(w->place + 1), CLI_NUMBER(w->nr));
}

static struct json_object *queue_json(const struct hipec_why *w)
{
	static const char *const on[] = { NULL, "fallback", "policy", "builtin" };
	struct hipec_why clean = *w;
	struct json_object *j;

	if (!w->on || w->on >= sizeof(on) / sizeof(*on))
		return NULL;
	j = json_object_new_object();
	cli_json_text(j, "of", on[w->on]);
	cli_json_text(j, "name", w->on == HIPEC_WHY_ON_POLICY ? cli_clean(clean.queue) : NULL);
	cli_json_number(j, "index", w->index);
	cli_json_number(j, "place", w->place);
	cli_json_number(j, "pages", w->nr);
	return j;
}

static void print_json(const struct hipec_why *w)
{
	struct json_object *j = json_object_new_object();
	struct json_object *words = json_object_new_array();
	char file[HIPEC_WHY_PATH];
	size_t i;

	memcpy(file, w->file, sizeof(file));
	cli_json_number(j, "id", w->id);
	cli_json_number(j, "page", w->address / PAGE);
	cli_json_text(j, "file", cli_clean(file));
	cli_json_number(j, "file_offset", w->file_offset);
	for (i = 0; i < NR_STATES; i++)
		if (w->state & states[i].bit)
			json_object_array_add(words,
				json_object_new_string(states[i].word));
	json_object_object_add(j, "state", words);
	json_object_object_add(j, "queue", queue_json(w));
	json_object_object_add(j, "instead_of", w->state & HIPEC_WHY_INSTEAD ?
			       json_object_new_uint64(w->instead / PAGE) : NULL);
	puts(json_object_to_json_string_ext(j, JSON_C_TO_STRING_PRETTY |
		JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(j);
}

static int ask(uint64_t id, struct hipec_why *w, bool json)
{
	int fd = hipec_open(), ret;

	if (fd < 0)
		return cli_open_failed(fd);
	ret = hipec_why(fd, id, w);
	close(fd);
	if (ret == -ENXIO) {
		cli_error("container %llu: none of its files has this page",
			  (unsigned long long)id);
		return CLI_FAILED;
	}
	if (ret)
		return cli_live_failed(id, ret);
	if (json)
		print_json(w);
	else
		print_text(w);
	return CLI_OK;
}

static const struct option_row options[] = {
	{ 'j', "json", NULL, .help = "an object with all there is, for programs" },
	{ 0 },
};

static int cli_why(int argc, char **argv)
{
	struct hipec_why w = { 0 };
	bool json = false;
	uint64_t id;
	int opt, ret;

	while ((opt = cli_option(argc, argv, options, "")) != -1) {
		if (opt != 'j')
			return CLI_USAGE;
		json = true;
	}
	if (cli_operands(argc, argv, 2, 2, "a container's number and a page") ||
	    !cli_live_id(argv[optind], &id))
		return CLI_USAGE;
	if (!parse_page(argv[optind + 1], &w))
		return CLI_FAILED;
	ret = ask(id, &w, json);
	if (w.fd >= 0)
		close(w.fd);
	return ret;
}

const struct cli_verb cli_verb_page = {
	.name = "--page", .of = "status", .was = "why", .run = cli_why,
	.usage = "[--json] ID PAGE|FILE:OFFSET",
	.summary = "say where a page of a live container stands, and on which queue",
	.help = "ID is a container's number in hipec status; PAGE counts from the container's"
		" start, OFFSET is in bytes. Asking changes nothing. The words are in"
		" docs/user/swap.md.",
	.options = options,
};
