// SPDX-License-Identifier: GPL-2.0-only
/*
 * hpt: runs .hpt files on the VM core of user space, and with --module on the
 * kernel's as well, which must answer the same, byte for byte.
 *
 * Interface (program): see usage[]. Exit code 0: all ok; 1: some are not; 2:
 * usage.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "cover.h"
#include "file.h"
#include "inc.h"
#include "run.h"

static const char usage[] =
	"usage: hpt [--module] [--c LIBRARY] [-v] FILE.hpt...\n"
	"       hpt --emit-c FILE.c FILE.hpt...\n"
	"       hpt --cover FILE.hpt...\n"
	"       hpt --output FILE.hpo FILE.hpt\n"
	"       hpt --list-table\n"
	"\n"
	"Run test cases of the VM core; one line for each.\n"
	"\n"
	"  -m, --module      run them in the kernel too (hipec_vmtest.ko)\n"
	"  -C, --c           run them as C too, of which --emit-c was compiled\n"
	"  -E, --emit-c      write their policies in C, and run nothing\n"
	"  -v, --verbose     print the commands and the whole outcome\n"
	"  -c, --cover       print what of the command table the cases touch\n"
	"  -o, --output      write the case's image, sound or not, and run nothing\n"
	"  -l, --list-table  print what of it there is to touch\n";

/* Where two texts part, for a message: @there is @who's. */
static int different(struct hpt *t, const char *here, const char *there,
		     const char *who)
{
	while (*here && *here == *there && strchr(here, '\n')) {
		size_t n = strcspn(here, "\n");

		if (strncmp(here, there, n + 1))
			break;
		here += n + 1;
		there += n + 1;
	}
	return hpt_wrong(t, 0, "%s says '%.*s', user space '%.*s'", who,
			 (int)strcspn(there, "\n"), there,
			 (int)strcspn(here, "\n"), here);
}

/* Assembling what the disassembler prints must give the same word. */
static int round_trip(struct hpt *t, u32 w, const char *text)
{
	struct hipec_asm_error err;
	u32 again = ~w;

	if (hipec_asm_line(&t->names, text, &again, &err) < 0)
		return hpt_wrong(t, 0, "'%s' is not assembled: %s", text,
				 err.text);
	if (again != w)
		return hpt_wrong(t, 0, "0x%08x is printed as '%s', which is 0x%08x",
				 w, text, again);
	return 0;
}

/* Disassemble an image that is not refused. */
static int check_words(struct hpt *t, bool verbose)
{
	struct hipec_verify_error err;
	struct hipec_policy p;
	const char *image = (char *)t->bytes + t->size - t->head.image_size;
	char line[256];
	u32 i, j;

	if (hipec_image_parse(image, t->head.image_size, &p, &err) ||
	    hipec_verify(&p, &err))
		return 0;
	for (i = 0; i < p.image->nr_events; i++) {
		if (verbose)
			printf("# %s\n",
			       hipec_image_policy_name(&p, p.event[i].name));
		for (j = 1; j < p.event[i].nr; j++) {
			u32 w = p.words[p.event[i].first + j];
			struct hipec_text text;

			hipec_text_init(&text, line, sizeof(line));
			hipec_disasm(&p, w, &text);
			if (verbose)
				printf("#  %4u  %08x  %s\n", j, w, line);
			if (round_trip(t, w, line))
				return -EINVAL;
		}
	}
	return 0;
}

/* Who runs cases beside this program's interpreter. */
struct other {
	const char *who;
	int (*run)(const void *bytes, size_t size, struct hipec_text *out);
};

/* What the command line asks for. */
struct job {
	struct other other[2];
	u32 nr_others;
	bool verbose, cover;
	const char *output;
	const char *emit;
	char *here, *there;	/* HIPEC_VMCASE_MAX_TEXT bytes each */
};

static void ask(struct job *job, const char *who,
		int (*run)(const void *bytes, size_t size, struct hipec_text *out))
{
	if (job->nr_others < ARRAY_SIZE(job->other))
		job->other[job->nr_others++] = (struct other){ who, run };
}

/* Whether @o tells what is in job->here. */
static int compare(struct hpt *t, const struct job *job, const struct other *o)
{
	struct hipec_text out;
	int ret;

	hipec_text_init(&out, job->there, HIPEC_VMCASE_MAX_TEXT);
	ret = o->run(t->bytes, t->size, &out);
	if (ret)
		return hpt_wrong(t, 0, "%s: %s", o->who, strerror(-ret));
	if (strcmp(job->here, job->there))
		return different(t, job->here, job->there, o->who);
	return 0;
}

static int run(struct hpt *t, const struct job *job)
{
	struct hipec_text out;
	int ret;
	u32 i;

	hipec_text_init(&out, job->here, HIPEC_VMCASE_MAX_TEXT);
	ret = hpt_run_here(t->bytes, t->size, &out);
	if (ret)
		return hpt_wrong(t, 0, "a malformed case: %s", strerror(-ret));
	ret = check_words(t, job->verbose);
	if (ret)
		return ret;
	if (job->verbose)
		printf("%s", job->here);
	for (i = 0; i < job->nr_others; i++) {
		ret = compare(t, job, &job->other[i]);
		if (ret)
			return ret;
	}
	return hpt_compare(t, job->here);
}

static int emit(struct hpt *t, const struct job *job)
{
	struct hipec_text out;
	int ret;

	hipec_text_init(&out, job->here, HIPEC_VMCASE_MAX_TEXT);
	ret = hpt_run_to_c(t->bytes, t->size, &out);
	return ret ? hpt_wrong(t, 0, "a malformed case: %s", strerror(-ret)) : 0;
}

static int write_image(struct hpt *t, const char *path)
{
	const char *image = (char *)t->bytes + t->size - t->head.image_size;
	FILE *f = fopen(path, "wb");
	bool ok;

	if (!f)
		return hpt_wrong(t, 0, "%s: %s", path, strerror(errno));
	ok = fwrite(image, 1, t->head.image_size, f) == t->head.image_size;
	if (fclose(f) || !ok)
		return hpt_wrong(t, 0, "%s: cannot be written", path);
	return 0;
}

/* One file, one line; whether it is ok. */
static bool run_file(const struct job *job, const char *path)
{
	struct hpt t;
	int ret = hpt_read(&t, path);

	if (!ret)
		ret = hpt_case(&t);
	if (!ret)
		ret = job->output ? write_image(&t, job->output) :
		      job->emit ? emit(&t, job) : run(&t, job);
	if (ret == -ENOMEM)
		hpt_wrong(&t, 0, "out of memory");
	if (ret)
		printf("not ok %s: %s\n", t.name, t.error);
	else if (job->cover && !job->output)
		hpt_cover(&t, job->here);
	else
		printf("ok %s\n", t.name);
	hpt_free(&t);
	return !ret;
}

static int run_files(struct job *job, int nr, char **paths)
{
	int i, failed = 0;

	job->here = malloc(HIPEC_VMCASE_MAX_TEXT);
	job->there = malloc(HIPEC_VMCASE_MAX_TEXT);
	if (!job->here || !job->there) {
		fputs("hpt: out of memory\n", stderr);
		failed = 1;
		goto out_free;
	}
	if (job->emit && !inc_begin(job->emit)) {
		perror(job->emit);
		failed = 1;
		goto out_free;
	}
	for (i = 0; i < nr; i++)
		failed += !run_file(job, paths[i]);
	failed += job->emit && !inc_end();
out_free:
	free(job->here);
	free(job->there);
	return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "module", no_argument, NULL, 'm' },
		{ "c", required_argument, NULL, 'C' },
		{ "emit-c", required_argument, NULL, 'E' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "cover", no_argument, NULL, 'c' },
		{ "output", required_argument, NULL, 'o' },
		{ "list-table", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct job job = { 0 };
	int opt;

	while ((opt = getopt_long(argc, argv, "mC:E:vco:lh", options, NULL)) != -1) {
		switch (opt) {
		case 'm':
			ask(&job, "the kernel", hpt_run_module);
			break;
		case 'C':
			if (!inc_load(optarg))
				return 2;
			ask(&job, "C", hpt_run_c);
			break;
		case 'E':
			job.emit = optarg;
			break;
		case 'v':
			job.verbose = true;
			break;
		case 'c':
			job.cover = true;
			break;
		case 'o':
			job.output = optarg;
			break;
		case 'l':
			hpt_list_table();
			return 0;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			goto out_usage;
		}
	}
	if (optind < argc && (!job.output || argc - optind == 1))
		return run_files(&job, argc - optind, argv + optind);
out_usage:
	fputs(usage, stderr);
	return 2;
}
