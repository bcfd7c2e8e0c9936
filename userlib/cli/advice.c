// SPDX-License-Identifier: GPL-2.0-only
/*
 * What hipec try says of a program: whether a policy is worth it, and commands that can be
 * typed as they are printed.
 *
 * Interface: try.h.
 */
#define _GNU_SOURCE	/* strdupa() */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "try.h"

/* Of so many pages. */
#define SIZE(pages) cli_memory((char [CLI_COUNT]){ 0 }, (u64)(pages) << 12)

#define PER_MIB 256		/* pages */
#define LEAST_PAGES 512		/* 2 MiB: below that, memory is no matter */
#define SMALL_PAGES 256		/* files below 1 MiB, which hipec run leaves alone */

/* As --budget and --frames take it: in MiB, with a decimal below 10. */
static const char *budget_text(char *text, size_t size, u32 frames)
{
	u32 tenths = (u64)frames * 10 / PER_MIB;

	while ((u64)tenths * PER_MIB / 10 < frames)
		tenths++;
	if ((u64)tenths * PER_MIB / 10 != frames)
		snprintf(text, size, "%u", frames);
	else if (tenths % 10)
		snprintf(text, size, "%u.%uM", tenths / 10, tenths % 10);
	else
		snprintf(text, size, "%uM", tenths / 10);
	return text;
}

/* Tenths of a MiB, to two digits: as one would say it. */
static u32 round_tenths(u64 pages)
{
	u64 tenths = (pages * 10 + PER_MIB / 2) / PER_MIB, unit = 1;

	while (tenths / unit >= 100)
		unit *= 10;
	tenths = (tenths + unit / 2) / unit * unit;
	if (tenths >= 100)
		tenths = (tenths + 5) / 10 * 10;	/* whole MiB */
	return tenths ? tenths : 1;
}

/**
 * cli_try_sizes() - a tenth to three quarters of the pages of a trace
 * @trace: trace
 * @text:  filled, as of --frames
 *
 * Return: @text.
 */
char *cli_try_sizes(const struct trace *trace, char text[CLI_TRY_SIZES])
{
	static const u32 percent[] = { 10, 25, 50, 75 };
	u32 last = 0, tenths;
	size_t n = 0, i;

	*text = 0;
	for (i = 0; i < ARRAY_SIZE(percent); i++) {
		tenths = round_tenths((u64)trace->nr_pages * percent[i] / 100);
		if (tenths != last)
			n += snprintf(text + n, CLI_TRY_SIZES - n, "%s%u.%uM", n ? "," : "",
				      tenths / 10, tenths % 10);
		last = tenths;
	}
	return text;
}

static u64 nr_reads(const struct trace *t)
{
	u64 reads = 0;
	size_t i;

	for (i = 0; i < t->nr_runs; i++)
		reads += t->run[i].write ? 0 : t->run[i].nr;
	return reads;
}

bool cli_try_is_small(const struct try *t, const struct trace *trace)
{
	if (!nr_reads(trace))
		fprintf(t->out, "nothing to save: it writes %s, and reads nothing\n",
			SIZE(trace->nr_pages));
	else if (!t->frames && trace->nr_pages < LEAST_PAGES)
		fprintf(t->out, "nothing to save: it reads %s in all, which any memory has; --frames tries sizes below that\n",
			SIZE(trace->nr_pages));
	else
		return false;
	return true;
}

/* The cell where most is gained, in percent, or of those the one with most room. */
const struct sim_cell *cli_try_best(const struct sim_job *job, const struct sim_rows *rows)
{
	const struct sim_cell *best = NULL;
	double gain, most = 0;
	size_t i;

	for (i = 0; i < rows->nr_cells; i++) {
		const struct sim_cell *cell = &rows->cell[i];

		if (best && sim_verdict(job, cell) < sim_verdict(job, best))
			continue;
		if (!sim_verdict_gain(cell, sim_verdict(job, cell) == SIM_VERDICT_GAIN ?
				      cell->best : cell->opt, &gain))
			continue;
		if (!best || sim_verdict(job, cell) > sim_verdict(job, best) ||
		    gain > most) {
			best = cell;
			most = gain;
		}
	}
	return best;
}

/* Pages that any memory reads once: what is accessed first is a read. */
static u64 nr_first_reads(const struct trace *t)
{
	u32 seen = 0, j;
	u64 reads = 0;
	size_t i;

	for (i = 0; i < t->nr_runs; i++)
		for (j = 0; j < t->run[i].nr; j++)
			if (trace_id(t, t->run[i].pgno + j) == seen) {
				seen++;
				reads += !t->run[i].write;
			}
	return reads;
}

/* Whether there is nothing to keep, at any size of memory. */
static bool all_read_once(const struct sim_rows *rows)
{
	u64 least = nr_first_reads(rows->row->trace);
	size_t i;

	for (i = 0; i < rows->nr_cells; i++)
		if (sim_verdict_cost(&rows->cell[i], rows->cell[i].over) > least + least / 33)
			return false;
	return true;
}

static bool all_fits(const struct sim_rows *rows)
{
	size_t i;

	for (i = 0; i < rows->nr_cells; i++)
		if (rows->cell[i].row->frames < rows->row->trace->nr_pages)
			return false;
	return true;
}

static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

/* One with ends of lines and the like, as bash, zsh and ksh take it. */
static void put_escaped(FILE *out, const char *word)
{
	fputs(" $'", out);
	for (; *word; word++)
		if (*word == '\n')
			fputs("\\n", out);
		else if (is_control(*word))
			fprintf(out, "\\%03o", (unsigned char)*word);
		else
			fprintf(out, strchr("'\\", *word) ? "\\%c" : "%c", *word);
	fputc('\'', out);
}

static bool has_control(const char *word)
{
	while (*word && !is_control(*word))
		word++;
	return *word;
}

/* An argument as a shell takes it; letters of other languages stay what they are. */
static void put_word(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,@%+-";

	if (*word && !word[strspn(word, plain)]) {
		fprintf(out, " %s", word);
		return;
	}
	if (has_control(word)) {
		put_escaped(out, word);
		return;
	}
	fputs(" '", out);
	for (; *word; word++)
		fprintf(out, *word == '\'' ? "'\\''" : "%c", *word);
	fputc('\'', out);
}

static void put_command(const struct try *t)
{
	size_t i;

	for (i = 0; t->command && t->command[i]; i++)
		put_word(t->out, t->command[i]);
	fprintf(t->out, "%s\n", t->command ? "" : " PROGRAM");
}

/* How a program is seen into which nothing can be loaded. */
void cli_try_say_strace(const struct try *t)
{
	fputs("next: strace -f -e trace=desc,process,chdir,fchdir -o strace.log", t->out);
	put_command(t);
	fputs("and:  hipec try strace.log\n", t->out);
}

/* How requests are seen that pass by the C library, by root. */
void cli_try_say_kernel(const struct try *t)
{
	fprintf(t->out, "next: %shipec try --kernel --", geteuid() ? "sudo " : "");
	put_command(t);
}

/* What most of a program's reads are of. */
struct place {
	u64 reads, small;	/* of small files */
	char *folder;		/* that all of these are in, to free(); NULL: there is none */
};

/* Cut a folder short until it has a file as well. */
static void join_folder(char **folder, const char *name)
{
	const char *slash = strrchr(name, '/');
	size_t n = slash ? slash - name : 0, i, cut = 0;

	if (!*folder) {
		*folder = strndup(name, n);
		return;
	}
	for (i = 0; i < n && (*folder)[i] == name[i]; i++)
		if (name[i] == '/')
			cut = i;
	if (!(*folder)[i] && (i == n || name[i] == '/'))
		cut = i;
	(*folder)[cut] = 0;
}

static void find_place(const struct trace *t, struct place *place)
{
	size_t i;
	u32 n;

	for (i = 0; i < t->nr_runs; i++) {
		if (t->run[i].write)
			continue;
		n = trace_region(t, t->run[i].pgno);
		place->reads += t->run[i].nr;
		if (n == t->nr_regions || !t->region[n].nr || t->region[n].nr >= SMALL_PAGES ||
		    *t->region[n].name != '/')
			continue;
		place->small += t->run[i].nr;
		join_folder(&place->folder, t->region[n].name);
	}
}

/* hipec run looks after files of 1 MiB and more; small ones are attached by their folder. */
static void say_run(const struct try *t, const struct trace *trace, const char *policy,
		    const char *budget, u64 reads)
{
	char expected[32];
	struct place place = { 0 };
	struct stat st;
	bool small, others;

	find_place(trace, &place);
	small = place.small * 2 > place.reads;
	if (small && place.folder && *place.folder) {
		others = geteuid() && !stat(place.folder, &st) && st.st_uid != geteuid();
		fprintf(t->out, "next: %shipec attach --policy %s --budget %s",
			others ? "sudo " : "", policy, budget);
		put_word(t->out, place.folder);
		fprintf(t->out, "   # then the program%s\n",
			others ? "; root only: the files are others'" : "");
	} else {
		/* As SIZE() says it. */
		snprintf(expected, sizeof(expected), reads < PER_MIB ? "%.0f" : "%.1fM",
			 reads < PER_MIB ? reads : 1. * reads / PER_MIB);
		fprintf(t->out, "next: hipec run --policy %s --budget %s --expect %s%s --", policy,
			budget, expected,
			small ? " --map '*'" : "");
		put_command(t);
	}
	free(place.folder);
}

static void say_profile(const struct try *t, const char *policy, const char *budget)
{
	fprintf(t->out, "%s hipec profile --policy " CLI_TRY_OVER ",%s%sopt --frames %s --output report.html",
		policy ? "and: " : "next:", policy ?: "", policy ? "," : "", budget);
	put_word(t->out, t->trace);
	fputc('\n', t->out);
}

static void say_gain(const struct try *t, const struct sim_cell *cell,
		     const struct cli_try_auto *found)
{
	u64 over = sim_verdict_cost(cell, cell->over);
	u64 best = sim_verdict_cost(cell, cell->best);
	bool by_auto = found->reads < best;
	const char *policy = cell->best->policy->name;
	bool written = nr_reads(cell->row->trace) < cell->row->trace->nr_accesses;
	char budget[32];
	double gain = 0;

	budget_text(budget, sizeof(budget), cell->row->frames);
	sim_verdict_gain(cell, cell->best, &gain);
	fprintf(t->out, "worth it: with %s, %s reads %s instead of %s (-%s %%); %s: %s\n",
		SIZE(cell->row->frames), policy, SIZE(best),
		SIZE(over), CLI_PERCENT(gain), written ? "opt, which knows the future" : "least possible",
		SIZE(sim_verdict_cost(cell, cell->opt)));
	say_run(t, cell->row->trace, by_auto ? "auto" : policy, budget,
		by_auto ? found->reads : best);
	say_profile(t, policy, budget);
	if (found->reads == UINT64_MAX)
		return;
	fprintf(t->out, "auto: finds %s while the program runs, and reads %s (%s %%)\n",
		found->policy, SIZE(found->reads),
		CLI_CHANGE(100. * ((double)found->reads / over - 1)));
}

static void say_none(const struct try *t, const struct sim_job *job, const struct sim_rows *rows,
		     const struct sim_cell *cell)
{
	if (all_fits(rows))
		fprintf(t->out, "nothing to save: with %s all of it fits\n",
			SIZE(rows->cell[0].row->frames));
	else if (all_read_once(rows))
		fprintf(t->out, "not worth it: each page is read about once, so no policy and no more memory can help\n");
	else
		fprintf(t->out, "not worth it: with none of these sizes of memory any policy can read %g %% less than %s; only more memory helps, of %s in all\n",
			job->least, job->over, SIZE(cell->row->trace->nr_pages));
}

/**
 * cli_try_say() - the verdict, and what to run next
 * @t:     where it goes, and what was run
 * @job:   policies and sizes
 * @rows:  of it
 * @found: what auto comes to
 */
void cli_try_say(const struct try *t, const struct sim_job *job, const struct sim_rows *rows,
		 const struct cli_try_auto *found)
{
	const struct sim_cell *cell = cli_try_best(job, rows);
	enum sim_verdict verdict = cell ? sim_verdict(job, cell) : SIM_VERDICT_UNKNOWN;
	char budget[32];
	double gain = 0;

	if (verdict == SIM_VERDICT_UNKNOWN) {
		fprintf(t->out, "nothing to compare: no page was read\n");
		return;
	}
	if (verdict == SIM_VERDICT_GAIN) {
		say_gain(t, cell, found);
		return;
	}
	sim_verdict_gain(cell, cell->opt, &gain);
	if (verdict == SIM_VERDICT_ROOM)
		fprintf(t->out, "not worth it with these policies: none reads %g %% less than %s; with %s, opt, which knows the future, reads %s %% less\n",
			job->least, job->over, SIZE(cell->row->frames), CLI_PERCENT(gain));
	else
		say_none(t, job, rows, cell);
	if (!all_fits(rows))
		say_profile(t, NULL, budget_text(budget, sizeof(budget),
						 cell->row->frames));
}
