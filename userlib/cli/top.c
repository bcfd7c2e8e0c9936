// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec top: who holds which frames, and what that is good for, as long as one looks.
 * Each picture is the difference of two looks; the device is closed between them, so
 * that the module can be unloaded.
 */
#define _GNU_SOURCE	/* open_memstream() in c11 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "../../module/vm/optable.h"
#include "cli.h"
#include "../say/json.h"
#include "league.h"
#include "state.h"
#include "table.h"

#define DEFAULT_INTERVAL 2.0	/* s */
#define FIRST_INTERVAL 1.0	/* at most, where more pictures are to come */

/* What one finds, looking once. */
struct look {
	double at;		/* s */
	struct hipec_query query;
	struct cli_state list;
	struct cli_league *teams;	/* what plays in each */
};

/* A container, and what it did between two looks. */
struct row {
	struct hipec_status s;
	const struct cli_league *teams;
	double faults, evictions, read, written;	/* a second */
	uint64_t helped, late, orphans;
	bool compared;
	double gain, error;	/* %, if compared; the error 19 times of 20 */
};

struct top {
	double interval;
	unsigned long pictures;	/* 0: no end */
	int (*sort)(const struct row *a, const struct row *b);
	bool json;
	bool screen;		/* the picture replaces the one before */
};

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void forget(struct look *l)
{
	free(l->list.row);
	free(l->teams);
}

/* 0 or -errno. */
static int look(struct look *l)
{
	int fd = hipec_open(), ret;

	*l = (struct look){ .at = now() };
	if (fd < 0)
		return fd;
	ret = hipec_query(fd, &l->query);
	if (!ret)
		ret = cli_state_read(fd, &l->list);
	if (!ret) {
		l->teams = cli_league_read_all(fd, &l->list);
		ret = l->teams ? 0 : -ENOMEM;
	}
	close(fd);
	return ret;
}

/* The same container at the look before; zeroes, if it is new. */
static const struct hipec_status *find(const struct look *l, const struct hipec_status *s)
{
	static const struct hipec_status none;
	size_t i;

	for (i = 0; i < l->list.nr; i++)
		if (l->list.row[i].id == s->id &&
		    l->list.row[i].counters.events <= s->counters.events &&
		    l->list.row[i].counters.faults <= s->counters.faults)
			return &l->list.row[i];
	return &none;
}

static void compare(struct row *row, const struct hipec_status *s, const struct look *before,
		    double seconds)
{
	const struct hipec_counters *a = &find(before, s)->counters, *b = &s->counters;

	*row = (struct row){
		.s = *s,
		.faults = (b->faults - a->faults) / seconds,
		.evictions = (b->evictions - a->evictions) / seconds,
		.read = (b->read_pages - a->read_pages) / seconds,
		.written = (b->written_pages - a->written_pages) / seconds,
		.helped = b->helped - a->helped,
		.late = b->late - a->late,
		.orphans = b->forgotten - a->forgotten,
	};
	row->compared = cli_state_gain(&s->counters, &row->gain, &row->error);
}

/* Orders, the greatest first; those that are alike by their number. */
static int greater(double a, double b)
{
	return (a < b) - (a > b);
}

static int by_id(const struct row *a, const struct row *b)
{
	return greater(b->s.id, a->s.id);
}

static int by_frames(const struct row *a, const struct row *b)
{
	return greater(a->s.frames, b->s.frames);
}

static int by_faults(const struct row *a, const struct row *b)
{
	return greater(a->faults, b->faults);
}

static int by_evictions(const struct row *a, const struct row *b)
{
	return greater(a->evictions, b->evictions);
}

/* Who loses most is first, and who is not compared last. */
static int by_loss(const struct row *a, const struct row *b)
{
	return greater(a->compared ? -a->gain : -INFINITY, b->compared ? -b->gain : -INFINITY);
}

#define SORTS(X) X(by_frames, "frames") X(by_faults, "faults") X(by_evictions, "evictions") \
	X(by_loss, "loss") X(by_id, "id")

static int (*const sorts[])(const struct row *a, const struct row *b) = {
#define X(fn, text) fn,
	SORTS(X)
#undef X
};

static int in_order(const void *a, const void *b, void *sort)
{
	int ret = (*(int (**)(const struct row *, const struct row *))sort)(a, b);

	return ret ?: by_id(a, b);
}

/* How the policy fares: its end; or what went wrong between the looks; or "runs". */
static void put_health(char *cell, const struct row *r)
{
	if (r->s.exit.kind != HIPEC_EXIT_NONE)
		cli_put_text(cell, r->s.exit.message, sizeof(r->s.exit.message));
	else if (r->late)
		snprintf(cell, CLI_CELL, "late %llu", (unsigned long long)r->late);
	else if (r->helped)
		snprintf(cell, CLI_CELL, "helped %llu", (unsigned long long)r->helped);
	else if (r->orphans)
		snprintf(cell, CLI_CELL, "orphans %llu", (unsigned long long)r->orphans);
	else
		strcpy(cell, "runs");
}

static const char *health_word(const struct row *r)
{
	return r->s.exit.kind != HIPEC_EXIT_NONE ? "ended" :
		r->late ? "late" : r->helped ? "helped" : r->orphans ? "orphans" : "runs";
}

static void put_gain(char *cell, const struct row *r)
{
	if (r->compared)
		snprintf(cell, CLI_CELL, "%s%%", CLI_CHANGE(r->gain));
	else
		strcpy(cell, "-");
}

static void put_error(char *cell, const struct row *r)
{
	if (r->compared)
		snprintf(cell, CLI_CELL, "%s%%", CLI_PERCENT(r->error));
	else
		strcpy(cell, "-");
}

/* Lines of what plays beside the policies, if anything does. */
static void print_teams(FILE *out, const struct row *r)
{
	char line[256];

	if (cli_league_is(r->teams)) {
		cli_league_line(r->teams, line, sizeof(line));
		fprintf(out, "%llu: auto: %s\n", (unsigned long long)r->s.id, line);
	}
	if (cli_curve_is(r->teams)) {
		cli_curve_line(r->teams, r->s.limit, line, sizeof(line));
		fprintf(out, "%llu: %s\n", (unsigned long long)r->s.id, line);
	}
}

/* The table, column by column; X(name, TITLE, left, cell of r) */
#define COLUMNS(X)								\
	X(id, "ID", false, cli_put_id(cell, r->s.id))			\
	X(pid, "PID", false, cli_put_id(cell, r->s.pid))			\
	X(uid, "UID", false, cli_put_id(cell, r->s.uid))			\
	X(comm, "COMM", true, cli_put_text(cell, r->s.comm, sizeof(r->s.comm)))	\
	X(policy, "POLICY", true, cli_put_text(cell, r->s.policy, sizeof(r->s.policy))) \
	X(frames, "FRAMES", false, cli_put_number(cell, r->s.frames))		\
	X(limit, "LIMIT", false, cli_put_number(cell, r->s.limit))		\
	X(dirty, "DIRTY", false, cli_put_number(cell, r->s.dirty))		\
	X(faults, "FAULTS/S", false, cli_put_number(cell, r->faults + 0.5))	\
	X(evictions, "EVICT/S", false, cli_put_number(cell, r->evictions + 0.5)) \
	X(read, "READ/S", false, cli_put_number(cell, r->read + 0.5))		\
	X(written, "WRITE/S", false, cli_put_number(cell, r->written + 0.5))	\
	X(gain, "GAIN", false, put_gain(cell, r))				\
	X(error, "+-", false, put_error(cell, r))				\
	X(health, "HEALTH", true, put_health(cell, r))

#define CLI_ROW const struct row *r
COLUMNS(CLI_PUT_CELL)

static const struct cli_column columns[] = { COLUMNS(CLI_COLUMN) };

static struct json_object *row_json(const struct row *r)
{
	struct json_object *o = cli_state_json(&r->s);

	cli_json_real(o, "faults_per_s", true, r->faults);
	cli_json_real(o, "evictions_per_s", true, r->evictions);
	cli_json_real(o, "read_per_s", true, r->read);
	cli_json_real(o, "written_per_s", true, r->written);
	cli_json_real(o, "gain_percent", r->compared, r->gain);
	cli_json_real(o, "gain_error_percent", r->compared, r->error);
	cli_json_text(o, "health", health_word(r));
	json_object_object_add(o, "league", cli_league_json(r->teams));
	json_object_object_add(o, "curve", cli_curve_json(r->teams, r->s.limit));
	return o;
}

/* An object a line, so that a program can read picture by picture. */
static void print_json(const struct look *l, double seconds, const struct row *row)
{
	struct json_object *o = json_object_new_object();
	struct json_object *array = json_object_new_array();
	size_t i;

	cli_json_real(o, "seconds", true, seconds);
	cli_json_number(o, "frames", l->query.frames);
	cli_json_number(o, "pool_frames", l->query.pool_frames);
	cli_json_number(o, "pool_max", l->query.pool_max);
	cli_json_number(o, "quota", l->query.quota);
	for (i = 0; i < l->list.nr; i++)
		json_object_array_add(array, row_json(&row[i]));
	json_object_object_add(o, "containers", array);
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
}

/* As much of the picture as the terminal has room for. */
static void print_screen(const char *picture)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	const char *line;
	int i, len;

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	fputs("\033[H", stdout);
	for (line = picture, i = 1; *line && i < size.ws_row; line += len + !!line[len], i++) {
		len = strcspn(line, "\n");
		printf("%.*s\033[K\n", len < size.ws_col ? len : size.ws_col, line);
	}
	fputs("\033[J", stdout);
}

static void print_picture(FILE *out, const struct look *l, double seconds,
			  const struct row *row)
{
	char containers[CLI_COUNT], frames[CLI_COUNT], memory[CLI_COUNT];
	size_t i;

	fprintf(out, "%s, %s (%s); pool: %s of %s; the last %.1f s\n",
		cli_count(containers, l->list.nr, "container"),
		cli_count(frames, l->query.frames, "frame"),
		cli_memory(memory, l->query.frames * 4096),
		CLI_NUMBER(l->query.pool_frames), CLI_NUMBER(l->query.pool_max), seconds);
	cli_table_print(out, columns, ARRAY_SIZE(columns), row, l->list.nr, sizeof(*row));
	for (i = 0; i < l->list.nr; i++)
		print_teams(out, &row[i]);
}

/* What has changed from @before to @l; 0, -errno, or CLI_FAILED: it cannot be written. */
static int show(const struct top *t, const struct look *before, const struct look *l)
{
	struct row *row = calloc(l->list.nr + 1, sizeof(*row));
	double seconds = l->at - before->at;
	char *picture = NULL;
	FILE *out = stdout;
	size_t i, len;

	if (!row)
		return -ENOMEM;
	for (i = 0; i < l->list.nr; i++) {
		compare(&row[i], &l->list.row[i], before, seconds);
		row[i].teams = &l->teams[i];
	}
	qsort_r(row, l->list.nr, sizeof(*row), in_order, (void *)&t->sort);
	if (t->screen)
		out = open_memstream(&picture, &len);
	if (out && t->json)
		print_json(l, seconds, row);
	else if (out)
		print_picture(out, l, seconds, row);
	if (out && t->screen) {
		fclose(out);
		print_screen(picture);
		free(picture);
	}
	free(row);
	if (!out)
		return -ENOMEM;
	return fflush(stdout) ? CLI_FAILED : 0;
}

static void wait_for(double seconds)
{
	struct timespec t = { .tv_sec = seconds, .tv_nsec = fmod(seconds, 1) * 1e9 };

	nanosleep(&t, NULL);
}

static int run(const struct top *t)
{
	struct look before = { 0 }, l;
	unsigned long n = 0;
	int ret = look(&before);

	if (!ret && t->screen)
		fputs("\033[2J", stdout);
	while (!ret && !stopped && (!t->pictures || n < t->pictures)) {
		wait_for(!n && t->pictures != 1 ? fmin(t->interval, FIRST_INTERVAL) :
						  t->interval);
		if (stopped)
			break;
		ret = look(&l);
		if (!ret && n++ && !t->screen && !t->json)
			putchar('\n');
		if (!ret)
			ret = show(t, &before, &l);
		forget(&before);
		before = l;
	}
	forget(&before);
	return ret < 0 ? cli_open_failed(ret) : ret;
}

static bool get_interval(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	if (!*end && *text && *seconds >= 0.1 && *seconds <= 86400)
		return true;
	cli_error("--interval wants seconds, 0.1 to 86400, not '%s'", text);
	return false;
}

static bool get_pictures(const char *text, unsigned long *nr)
{
	char *end;

	*nr = strtoul(text, &end, 10);
	if (!*end && *text >= '0' && *text <= '9' && *nr)
		return true;
	cli_error("--number wants how many pictures, 1 or more, not '%s'", text);
	return false;
}

static const struct option_row options[] = {
	{ '1', "once", NULL, .help = "one picture; so it is without a terminal" },
	{ 'n', "number", "N", .help = "so many pictures" },
	{ 'i', "interval", "S", .help = "seconds from one to the next; 2" },
	{ 's', "sort", SORTS(OPTION_WORD) + 1, .help = "what rows are in the order of; frames" },
	{ 'j', "json", NULL, .help = "an object a line for each picture, for programs" },
	{ 0 },
};

static int cli_top(int argc, char **argv)
{
	struct top t = { .interval = DEFAULT_INTERVAL, .sort = by_frames };
	struct sigaction action = { .sa_handler = stop };
	bool tty = isatty(STDOUT_FILENO), good = true;
	int opt;

	t.pictures = tty ? 0 : 1;
	while (good && (opt = cli_option(argc, argv, options, "")) != -1) {
		switch (opt) {
		case '1':
			t.pictures = 1;
			break;
		case 'i':
			good = get_interval(optarg, &t.interval);
			break;
		case 'j':
			t.json = true;
			break;
		case 'n':
			good = get_pictures(optarg, &t.pictures);
			break;
		case 's':
			t.sort = sorts[option_word(SORTS(OPTION_WORD) + 1, optarg)];
			break;
		default:
			good = false;
		}
	}
	if (!good || cli_operands(argc, argv, 0, 0, ""))
		return CLI_USAGE;
	t.screen = tty && !t.json && t.pictures != 1;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return run(&t);
}

const struct cli_verb cli_verb_top = {
	.name = "top", .run = cli_top, .group = CLI_GROUP_WATCH,
	.usage = "[OPTION...]",
	.summary = "show who holds which frames and what that gains, again and again",
	.help = "FRAMES is held now, of at most LIMIT; rates are of the time between two looks,"
		" in pages a second. GAIN is by how much less, or more, the policy brings in"
		" than the default one would, since the load; only containers that share are"
		" compared. docs/user/operations.md says what to do about each HEALTH. Below are"
		" the leagues of --policy auto, and of --curve what twice and half the budget"
		" would bring. Ends with Ctrl-C.",
	.options = options,
};
