// SPDX-License-Identifier: GPL-2.0-only
/*
 * ampc-fuzz: compile texts by the thousand in one process, and judge each.
 *
 * usage: ampc-fuzz run SEED EXECUTIONS SECONDS FAILED FILE...
 *            written policies and damaged FILEs, until EXECUTIONS or SECONDS
 *            are over, of which one may be 0; what fails goes to directory FAILED
 *        ampc-fuzz replay FILE...
 *            the files as they are
 *        ampc-fuzz write SEED
 *            print the policy that is written for SEED
 *
 * A second process watches: it saves the text that the first one was at when it
 * ended or hung, and starts another. The exit status is 1 if something failed.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define MAX_SECONDS 30	/* of processor time for one text */
#define MAX_FAILED 20	/* then stop */

struct file {
	struct text text;
	bool is_assembler;
};

enum kind { WRITTEN, POLICY, ASSEMBLER, NR_KINDS };

static const char *const kinds[] = { "written", "damaged", "assembler" };

/* What the watching process sees. */
struct shared {
	u64 nr;			/* of the text, from 1 */
	u64 executions[NR_KINDS], accepted[NR_KINDS];
	u64 unread;		/* accepted, with a listing that is too long */
	size_t memory, largest;
	double slowest;		/* seconds */
	bool is_over, is_assembler;
	char wrong[256];
	size_t size;
	char text[8 << 20];
};

static struct file *files;
static u32 nr_files;
static struct shared *shared;

static bool has_suffix(const char *s, const char *suffix)
{
	size_t len = strlen(s), n = strlen(suffix);

	return len > n && !strcmp(s + len - n, suffix);
}

static void read_file(const char *name)
{
	struct file *f = &files[nr_files++];
	FILE *in = fopen(name, "r");
	char bytes[4096];
	size_t n;

	if (!in) {
		perror(name);
		exit(2);
	}
	while ((n = fread(bytes, 1, sizeof(bytes), in)) > 0)
		text_insert(&f->text, f->text.size, bytes, n);
	fclose(in);
	f->is_assembler = has_suffix(name, ".hps");
}

static void read_files(int nr, char **names)
{
	files = calloc(nr, sizeof(*files));
	while (nr--)
		read_file(*names++);
}

static double seconds(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Another file of the same kind. */
static const struct file *other_file(bool is_assembler, u64 *state)
{
	const struct file *f;

	do {
		f = &files[below(state, nr_files)];
	} while (f->is_assembler != is_assembler && !one_in(state, 20));
	return f;
}

/* Text number @nr of @seed: it depends on nothing else. */
static enum kind make_text(struct text *t, u64 seed, u64 nr)
{
	u64 state = seed * 1000003 + nr;
	static struct text written;
	const struct file *f;

	write_policy(&written, &state);
	if (!nr_files || one_in(&state, 4)) {
		text_set(t, written.s, written.size);
		return WRITTEN;
	}
	if (one_in(&state, 4)) {
		text_set(t, written.s, written.size);
		damage(t, &other_file(false, &state)->text, &state);
		return POLICY;
	}
	f = &files[below(&state, nr_files)];
	text_set(t, f->text.s, f->text.size);
	damage(t, one_in(&state, 4) && !f->is_assembler ? &written :
	       &other_file(f->is_assembler, &state)->text, &state);
	return f->is_assembler ? ASSEMBLER : POLICY;
}

static void refuse(const char *wrong)
{
	snprintf(shared->wrong, sizeof(shared->wrong), "%s", wrong);
	_exit(3);
}

static void judge_one(const struct text *t, enum kind kind, bool is_thorough)
{
	const struct itimerval limit = { .it_value.tv_sec = MAX_SECONDS };
	double start = seconds(CLOCK_PROCESS_CPUTIME_ID), took;
	const char *wrong;
	struct verdict v;

	setitimer(ITIMER_PROF, &limit, NULL);
	wrong = judge(t, kind == ASSEMBLER, is_thorough, &v);
	took = seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
	if (!wrong && kind == WRITTEN && !v.is_accepted && !v.is_too_large)
		wrong = "a written policy is refused";
	if (wrong)
		refuse(wrong);
	shared->executions[kind]++;
	shared->accepted[kind] += v.is_accepted;
	shared->unread += v.is_unread;
	if (v.memory > shared->memory)
		shared->memory = v.memory;
	if (t->size > shared->largest)
		shared->largest = t->size;
	if (took > shared->slowest)
		shared->slowest = took;
}

/* The process that works, from text number shared->nr on. */
static void work(u64 seed, u64 executions, double end)
{
	struct text t = { 0 };
	enum kind kind;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		if (executions ? shared->nr > executions :
				 seconds(CLOCK_MONOTONIC) >= end)
			break;
		kind = make_text(&t, seed, shared->nr);
		shared->is_assembler = kind == ASSEMBLER;
		shared->size = t.size;
		memcpy(shared->text, t.s, t.size);
		judge_one(&t, kind, shared->nr % 4 == 0);
		shared->nr++;
	}
	free(t.s);
	shared->is_over = true;
	exit(0);
}

static void save(const char *into, u64 seed, int status)
{
	char path[4096], how[64];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%llu-%llu.%s", into,
		 (unsigned long long)seed, (unsigned long long)shared->nr,
		 shared->is_assembler ? "hps" : "hp");
	if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "signal %d%s", WTERMSIG(status),
			 WTERMSIG(status) == SIGPROF ? ", it hangs" : "");
	else
		snprintf(how, sizeof(how), "exit status %d",
			 WEXITSTATUS(status));
	printf("ampc-fuzz: FAILED %s: %s\n", path,
	       *shared->wrong ? shared->wrong : how);
	out = fopen(path, "w");
	if (!out || fwrite(shared->text, 1, shared->size, out) != shared->size ||
	    fclose(out))
		perror(path);
}

static void summary(u64 seed)
{
	u64 executions = 0, accepted = 0;
	u32 i;

	for (i = 0; i < NR_KINDS; i++) {
		executions += shared->executions[i];
		accepted += shared->accepted[i];
	}
	printf("seed %llu executions %llu accepted %llu",
	       (unsigned long long)seed, (unsigned long long)executions,
	       (unsigned long long)accepted);
	for (i = 0; i < NR_KINDS; i++)
		printf(" %s %llu/%llu", kinds[i],
		       (unsigned long long)shared->accepted[i],
		       (unsigned long long)shared->executions[i]);
	printf(" unread %llu largest %zu memory %zu slowest %.2f\n",
	       (unsigned long long)shared->unread, shared->largest,
	       shared->memory, shared->slowest);
}

static int run(u64 seed, u64 executions, double time, const char *into)
{
	double end = seconds(CLOCK_MONOTONIC) + time;
	u32 failed = 0;
	int status;
	pid_t pid;

	while (!shared->is_over && failed < MAX_FAILED) {
		fflush(stdout);
		*shared->wrong = 0;
		pid = fork();
		if (!pid)
			work(seed, executions, end);
		if (pid < 0 || waitpid(pid, &status, 0) != pid) {
			perror("ampc-fuzz");
			return 1;
		}
		if (!status && shared->is_over)
			break;
		save(into, seed, status);
		failed++;
		shared->nr++;
	}
	summary(seed);
	return !!failed;
}

static int replay(int nr, char **names)
{
	struct verdict v;
	const char *wrong;
	int status = 0;

	read_files(nr, names);
	for (nr_files = 0; (int)nr_files < nr; nr_files++) {
		const struct file *f = &files[nr_files];

		wrong = judge(&f->text, f->is_assembler, true, &v);
		if (wrong)
			status = 1;
		printf("%s %s\n", wrong ? wrong : v.is_accepted ? "accepted" :
		       "refused", names[nr_files]);
		free(f->text.s);
	}
	free(files);
	return status;
}

static int print_written(u64 seed)
{
	struct text t = { 0 };

	write_policy(&t, &seed);
	fwrite(t.s, 1, t.size, stdout);
	free(t.s);
	return 0;
}

int main(int argc, char **argv)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		perror("ampc-fuzz");
		return 2;
	}
	shared->nr = 1;
	if (argc > 2 && !strcmp(argv[1], "replay"))
		return replay(argc - 2, argv + 2);
	if (argc == 3 && !strcmp(argv[1], "write"))
		return print_written(strtoull(argv[2], NULL, 0));
	if (argc > 6 && !strcmp(argv[1], "run")) {
		read_files(argc - 6, argv + 6);
		return run(strtoull(argv[2], NULL, 0),
			   strtoull(argv[3], NULL, 0), atof(argv[4]), argv[5]);
	}
	fprintf(stderr, "usage: ampc-fuzz run SEED EXECUTIONS SECONDS FAILED FILE...\n"
		"       ampc-fuzz replay FILE...\n"
		"       ampc-fuzz write SEED\n");
	return 2;
}
