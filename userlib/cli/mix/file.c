// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file of applications, a line each:
 *
 *	NAME [KEY=VALUE...] : TRACE
 *
 * where TRACE is a trace's name or what `hipec trace make` takes. Blank lines are
 * passed over, and # begins a comment. docs/user/sim.md has the keys.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "../cli.h"
#include "mix.h"
#include "../../job/input.h"
#include "../../job/size.h"
#include "../../trace/trace.h"

#define MAX_WORDS 64
#define MAX_NAME 31
#define CPU_NS 20000	/* 64 tuples, ten cycles each, at the paper's 33 MHz */

struct place {
	struct mix_job *job;
	unsigned long line;
};

/* One line on stderr, with the place. Return: CLI_FAILED. */
static int __attribute__((format(printf, 2, 3)))
wrong(const struct place *at, const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	cli_error("%s:%lu: %s", at->job->file, at->line, cli_clean(text));
	return CLI_FAILED;
}

/**
 * mix_time_parse() - a time with its unit
 * @text: "100ms", "12.8us", "2s", "0"
 * @ns:   gets it, below MIX_MAX_NS
 *
 * Return: whether it is one.
 */
bool mix_time_parse(const char *text, u64 *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
	};
	char *end;
	double n;
	size_t i;

	if (!isdigit((unsigned char)*text) || text[1] == 'x' || text[1] == 'X')
		return false;
	n = strtod(text, &end);
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(end, units[i].name))
			break;
	if (i == ARRAY_SIZE(units) && (*end || n > 0))
		return false;
	n *= *end ? units[i].ns : 1;
	if (n > MIX_MAX_NS)
		return false;
	*ns = llround(n);
	return true;
}

static int set_time(const struct place *at, const char *key, const char *text,
		    u64 *ns)
{
	if (mix_time_parse(text, ns))
		return CLI_OK;
	return wrong(at, "%s: want a time, as 20us or 1.5s, not '%s'", key, text);
}

static int set_frames(const struct place *at, const char *key, const char *text,
		      u32 *frames)
{
	struct sim_size size;

	if (!sim_size_parse_to(text, MIX_MAX_FRAMES, &size) || size.percent)
		return wrong(at, "%s: want frames, as 512 or 4k, or memory, as 64M, not '%s'",
			     key, text);
	*frames = size.nr;
	return CLI_OK;
}

static int set_policy(const struct place *at, struct mix_app *app,
		      const char *name)
{
	struct hipec_text why;
	char line[512], *copy = strdup(name);

	if (app->policy) {
		free(copy);
		return wrong(at, "policy: want one");
	}
	app->policy = calloc(1, sizeof(*app->policy));
	if (!app->policy || !copy) {
		free(copy);
		return wrong(at, "%s", strerror(ENOMEM));
	}
	hipec_text_init(&why, line, sizeof(line));
	if (policy_load(app->policy, copy, &why))
		return wrong(at, "%s", line);
	if (app->policy->policy.index[HIPEC_EVENT_TIMER])
		cli_error("%s: its Timer does not run: the clock here is not its",
			  name);
	return CLI_OK;
}

static int set_key(const struct place *at, struct mix_app *app, const char *key,
		   const char *value)
{
	if (!strcmp(key, "policy"))
		return set_policy(at, app, value);
	if (!strcmp(key, "privileged"))
		return set_frames(at, key, value, &app->reserved);
	if (!strcmp(key, "min"))
		return set_frames(at, key, value, &app->min);
	if (!strcmp(key, "max"))
		return set_frames(at, key, value, &app->max);
	if (!strcmp(key, "start"))
		return set_time(at, key, value, &app->start_ns);
	if (!strcmp(key, "cpu"))
		return set_time(at, key, value, &app->cpu_ns);
	return wrong(at, "want policy, privileged, min, max, start or cpu, not '%s'",
		     key);
}

static int set_name(const struct place *at, struct mix_app *app,
		    const char *name)
{
	const struct mix_app *other;
	const char *c;

	for (c = name; isalnum((unsigned char)*c) || strchr("-_.", *c); c++)
		if (!*c)
			break;
	if (*c || c - name > MAX_NAME || !strcmp(name, "all"))
		return wrong(at, "want a name of up to %d letters, digits, - _ or . in front, not '%s'",
			     MAX_NAME, name);
	for (other = at->job->app; other < app; other++)
		if (!strcmp(other->name, name))
			return wrong(at, "there is an application '%s' already",
				     name);
	app->name = strdup(name);
	return app->name ? CLI_OK : wrong(at, "%s", strerror(ENOMEM));
}

/* @text: of the trace, in @nr words. */
static int set_trace(const struct place *at, struct mix_app *app,
		     const char *text, char **word, int nr)
{
	size_t kind;
	int ret;

	app->source = strdup(text);
	app->trace = calloc(1, sizeof(*app->trace));
	if (!app->source || !app->trace)
		return wrong(at, "%s", strerror(ENOMEM));
	for (kind = 0; kind < TRACE_NR_KINDS; kind++)
		if (nr && !strcmp(word[0], trace_kinds[kind]))
			break;
	if (kind < TRACE_NR_KINDS) {
		ret = cli_trace_make(app->trace, nr, word);
	} else if (nr == 1) {
		app->trace->name = app->source;
		ret = cli_trace_open(app->trace, app->source);
	} else {
		return wrong(at, "want a trace's file behind the colon, or a kind and options of hipec trace make");
	}
	return ret ? wrong(at, "there is no trace") : CLI_OK;
}

static int split(char *text, char **word)
{
	char *save = NULL, *w;
	int nr = 0;

	for (w = strtok_r(text, " \t", &save); w;
	     w = strtok_r(NULL, " \t", &save)) {
		if (nr == MAX_WORDS)
			return -1;
		word[nr++] = w;
	}
	word[nr] = NULL;	/* getopt counts on it */
	return nr;
}

/* @left: in front of the colon, or all if there is none; @right: behind it. */
static int read_app(const struct place *at, struct mix_app *app, char *left,
		    char *right)
{
	char *word[MAX_WORDS + 1], *text, *value, *end;
	int nr = split(left, word), ret, i;

	if (!right || nr < 1)
		return wrong(at, "want NAME [KEY=VALUE...] : TRACE");
	ret = set_name(at, app, word[0]);
	for (i = 1; i < nr && !ret; i++) {
		value = strchr(word[i], '=');
		if (!value)
			return wrong(at, "want KEY=VALUE, not '%s'", word[i]);
		*value = 0;
		ret = set_key(at, app, word[i], value + 1);
	}
	if (ret)
		return ret;
	if (!app->policy)
		ret = set_policy(at, app, HIPEC_FIFO2_NAME);
	if (!ret && app->reserved && (app->min || app->max))
		return wrong(at, "privileged frames are its own: they have no min and max");
	if (!ret && app->max && app->min > app->max)
		return wrong(at, "min: want at most max");
	right += strspn(right, " \t");
	for (end = right + strlen(right); end > right && isblank((unsigned char)end[-1]);)
		*--end = 0;
	text = strdup(right);
	nr = split(right, word);
	if (!ret)
		ret = nr < 0 || !text ? wrong(at, "want fewer words") :
		      set_trace(at, app, text, word, nr);
	free(text);
	return ret;
}

/* What was not said; and whether there is so much. */
static int complete(struct mix_job *job)
{
	u64 frames = job->machine.frames, own = 0, min = 0, room;
	struct mix_app *app, *end = job->app + job->nr_apps;

	for (app = job->app; app < end; app++)
		own += app->reserved;
	room = own < frames ? frames - own : 0;
	for (app = job->app; app < end; app++) {
		if (app->reserved)
			continue;
		if (!app->max || app->max > room)
			app->max = room;
		if (!app->min)
			app->min = app->max < HIPEC_POOL_MIN ? app->max :
							     HIPEC_POOL_MIN;
		min += app->min ? app->min : 1;
	}
	if (own + min > frames) {
		cli_error("%s: want at least %llu frames, %llu that are privileged and %llu for the others' min",
			  job->file, (unsigned long long)(own + min),
			  (unsigned long long)own, (unsigned long long)min);
		return CLI_FAILED;
	}
	return CLI_OK;
}

static int read_lines(struct mix_job *job, FILE *in)
{
	struct place at = { .job = job };
	size_t size = 0;
	char *line = NULL, *colon;
	int ret = CLI_OK;

	while (!ret && getline(&line, &size, in) >= 0) {
		at.line++;
		line[strcspn(line, "#\r\n")] = 0;
		if (!line[strspn(line, " \t")])
			continue;
		if (job->nr_apps == MIX_MAX_APPS) {
			ret = wrong(&at, "want at most %d applications",
				    MIX_MAX_APPS);
			break;
		}
		colon = strchr(line, ':');
		if (colon)
			*colon++ = 0;
		job->app[job->nr_apps].cpu_ns = CPU_NS;
		ret = read_app(&at, &job->app[job->nr_apps++], line, colon);
	}
	free(line);
	if (!ret && ferror(in)) {
		cli_error("%s: %s", job->file, strerror(EIO));
		ret = CLI_FAILED;
	}
	if (!ret && !job->nr_apps) {
		cli_error("%s: there are no applications", job->file);
		ret = CLI_FAILED;
	}
	return ret;
}

/**
 * mix_file_read() - read the file of applications, their policies and traces
 * @job: with the file's name and the machine; filled. mix_apps_free() it, also
 *       after an error
 *
 * Return: 0 or an exit code, said.
 */
int mix_file_read(struct mix_job *job)
{
	FILE *in = strcmp(job->file, "-") ? fopen(job->file, "re") : stdin;
	int ret;

	if (!in) {
		cli_error("%s: %s", job->file, strerror(errno));
		return CLI_FAILED;
	}
	ret = read_lines(job, in) ?: complete(job);
	if (in != stdin)
		fclose(in);
	return ret;
}

void mix_apps_free(struct mix_job *job)
{
	u32 i;

	for (i = 0; i < job->nr_apps; i++) {
		struct mix_app *app = &job->app[i];

		if (app->trace)
			trace_free(app->trace);
		if (app->policy) {
			free((char *)app->policy->name);
			policy_close(app->policy);
		}
		free(app->policy);
		free(app->trace);
		free((char *)app->source);
		free((char *)app->name);
	}
}
