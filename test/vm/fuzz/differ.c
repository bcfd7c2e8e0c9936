// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random policies on random pages, here and in the kernel: both must tell the
 * same, byte for byte, after every command, step of the host and exit.
 *
 *	differ [--module] [--c LIBRARY] [--verbose] [--image FILE] FIRST COUNT
 *	differ --emit-c FILE.c [--image FILE] FIRST COUNT
 *
 * Runs the cases of COUNT seeds from FIRST on, and says what they did in one
 * line. Without --module only this program's machine runs, and must find its own
 * invariants unbroken; with --c also as C, of which what --emit-c writes was compiled.
 * With --image all seeds' policy is that of FILE. Exit code 0: all agree; 1: some do not;
 * 2: usage.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../../module/tests/fakehost.h"
#include "../../vm/runner/inc.h"
#include "../../vm/runner/run.h"
#include "mutate.h"
#include "program.h"

#define MAX_FRAMES 24
#define NR_PGNOS 64
#define MAX_SHOWN 10	/* seeds that disagree, before it is pointless */

static const char usage[] =
	"usage: differ [--module] [--c LIBRARY] [--verbose] [--image FILE] FIRST COUNT\n"
	"       differ --emit-c FILE.c [--image FILE] FIRST COUNT\n";

/* A case under construction, laid out as vmcase.h says once it is whole. */
struct maker {
	struct fuzz_rng rng;
	struct hipec_policy policy;
	struct hipec_vmcase_head head;
	struct hipec_vmcase_page page[NR_PGNOS];
	u64 image[FUZZ_MAX_IMAGE / sizeof(u64)];
	u64 bytes[(sizeof(struct hipec_vmcase_head) + FUZZ_MAX_IMAGE +
		   NR_PGNOS * sizeof(struct hipec_vmcase_page)) / sizeof(u64)];
	size_t size;
};

/* What all cases did, by the word of the second line's exit kind. */
struct sum {
	u64 cases, accepted, commands, given, ghosts, late, failed;
	struct {
		char word[24];
		u64 nr;
	} exit[32];
};

/* That of --image, in place of generated ones. */
static u8 given_image[FUZZ_MAX_IMAGE];
static size_t given_size;

/* An image: generated, perhaps changed, at times not sound. */
static void make_image(struct maker *m, u64 seed)
{
	struct fuzz_rng *r = &m->rng;
	u8 *image = (u8 *)m->image;
	size_t size = fuzz_generate(seed, image, FUZZ_MAX_IMAGE), n;
	u32 i, changes;

	if (given_size) {
		memcpy(image, given_image, given_size);
		m->head.image_size = given_size;
		return;
	}
	for (changes = fuzz_chance(r, 50) ? fuzz_below(r, 4) : 0; changes; changes--) {
		n = fuzz_mutate(fuzz_random(r), image, size, FUZZ_MAX_IMAGE);
		if (n)
			size = n;
		else	/* it may have left half a change behind */
			size = fuzz_generate(seed, image, FUZZ_MAX_IMAGE);
	}
	if (fuzz_chance(r, 5))
		for (i = 0; i < 2; i++)
			image[fuzz_below(r, size)] = fuzz_random(r);
	m->head.image_size = size;
}

static u32 random_bits(struct fuzz_rng *r)
{
	u32 bits = 0;

	bits |= fuzz_chance(r, 40) ? HIPEC_FAKE_REF : 0;
	bits |= fuzz_chance(r, 30) ? HIPEC_FAKE_MOD : 0;
	bits |= fuzz_chance(r, 10) ? HIPEC_FAKE_PINNED : 0;
	bits |= fuzz_chance(r, 60) ? HIPEC_FAKE_MAPPED : 0;
	bits |= fuzz_chance(r, 10) ? HIPEC_FAKE_NOMAP : 0;
	bits |= fuzz_chance(r, 10) ? HIPEC_FAKE_READONLY : 0;
	return bits;
}

/* Some queue of the policy for page @p; the fallback queue if it has none. */
static void put_on_queue(struct maker *m, struct hipec_vmcase_page *p)
{
	u32 slot = fuzz_below(&m->rng, m->policy.image->nr_operands);
	const struct hipec_image_operand *o = &m->policy.operand[slot];

	if (slot < HIPEC_SLOT_POLICY)
		return;
	if (o->type == HIPEC_TYPE_QUEUES)
		p->element = fuzz_below(&m->rng, o->value);
	if (o->type == HIPEC_TYPE_QUEUES || o->type == HIPEC_TYPE_QUEUE)
		p->slot = slot;
}

/* As many pages as there are frames, or fewer, some without one. */
static void make_pages(struct maker *m)
{
	struct fuzz_rng *r = &m->rng;
	u32 nr_frames = 3 + fuzz_below(r, MAX_FRAMES - 2), i, nr;
	u32 ghosts = hipec_vm_nr_pages(&m->policy, nr_frames) - nr_frames;
	u32 start = fuzz_below(r, NR_PGNOS), step = 2 * fuzz_below(r, 8) + 1;

	m->head.nr_frames = nr_frames;
	nr = fuzz_below(r, nr_frames + 1);
	for (i = 0; i < nr; i++) {
		struct hipec_vmcase_page *p = &m->page[i];

		p->pgno = (start + i * step) % NR_PGNOS;
		p->bits = random_bits(r);
		if (fuzz_chance(r, 80))
			put_on_queue(m, p);
		else if (fuzz_chance(r, 30))
			p->bits |= HIPEC_FAKE_HIDDEN;
		if (p->slot && ghosts && fuzz_chance(r, 20)) {
			p->bits = HIPEC_FAKE_GHOST;
			ghosts--;
		}
	}
	m->head.nr_pages = nr;
	m->head.free = fuzz_below(r, nr_frames - nr + 1);
}

static void add_step(struct maker *m, u32 what, u32 pgno)
{
	if (m->head.nr_runs < HIPEC_VMCASE_MAX_RUNS)
		m->head.run[m->head.nr_runs++] = (struct hipec_vmcase_step){
			.what = what, .pgno = pgno,
		};
}

static bool has_event(const struct maker *m, u32 number)
{
	u32 i;

	for (i = 0; i < m->policy.image->nr_events; i++)
		if (m->policy.event[i].number == number)
			return true;
	return false;
}

/* A step, and an event right behind it, which may name the page: or neither. */
static void add_pair(struct maker *m, u32 what, u32 pgno, u32 event)
{
	if (m->head.nr_runs + 2 > HIPEC_VMCASE_MAX_RUNS)
		return;
	add_step(m, what, pgno);
	add_step(m, event, 0);
}

/* What a host would do: mostly faults, and victims for them. */
static void make_steps(struct maker *m)
{
	struct fuzz_rng *r = &m->rng;
	u32 remove = has_event(m, HIPEC_EVENT_REMOVE) ? HIPEC_EVENT_REMOVE :
							HIPEC_EVENT_REPLACE;
	u32 nr = 4 + fuzz_below(r, 28), pgno = 0, dice, event;

	if (fuzz_chance(r, 50))
		add_step(m, HIPEC_EVENT_INIT, 0);
	while (nr--) {
		dice = fuzz_below(r, 100);
		pgno = fuzz_chance(r, 30) ? pgno + 1 : fuzz_below(r, NR_PGNOS);
		if (dice < 40) {
			add_pair(m, HIPEC_VMCASE_FAULT, pgno,
				 HIPEC_EVENT_PAGEFAULT);
		} else if (dice < 70) {
			add_step(m, HIPEC_EVENT_REPLACE, 0);
		} else if (dice < 78) {
			add_pair(m, HIPEC_VMCASE_LOSE, pgno, remove);
		} else if (dice < 84) {
			add_step(m, HIPEC_VMCASE_FORGET, pgno);
		} else if (dice < 90) {
			add_step(m, HIPEC_VMCASE_CLEAN, 0);
		} else if (dice < 91) {
			add_step(m, HIPEC_VMCASE_ABANDON, 0);
		} else {
			event = fuzz_below(r, m->policy.image->nr_events);
			add_step(m, m->policy.event[event].number, 0);
		}
	}
}

/* Numbers of the host. Fuel that is short enough to be run out of. */
static void make_numbers(struct maker *m)
{
	struct fuzz_rng *r = &m->rng;
	struct hipec_vmcase_head *head = &m->head;
	u32 i;

	head->lenient = 1;
	head->fuel = fuzz_chance(r, 90) ? 100 + fuzz_below(r, 600) :
					  3000 + fuzz_below(r, 3000);
	head->late = fuzz_chance(r, 50) ? 1 + fuzz_below(r, 3) : 0;
	head->grant = (s64)fuzz_below(r, 8) - 1;
	head->seed = fuzz_random(r);
	for (i = 0; i < ARRAY_SIZE(head->system); i++)
		head->system[i] = fuzz_chance(r, 20) ? (s64)fuzz_random(r) :
				  (s64)fuzz_below(r, NR_PGNOS) << 12;
}

/* The case of @seed. */
static void make_case(struct maker *m, u64 seed)
{
	struct hipec_verify_error err;
	char *at = (char *)m->bytes;
	size_t pages;

	memset(&m->head, 0, sizeof(m->head));
	memset(m->page, 0, sizeof(m->page));
	m->rng.state = ~seed;
	m->head.magic = HIPEC_VMCASE_MAGIC;
	make_image(m, seed);
	make_numbers(m);
	/* A refused image needs no pages: nothing runs. */
	if (!hipec_image_parse(m->image, m->head.image_size, &m->policy, &err) &&
	    !hipec_verify(&m->policy, &err)) {
		make_pages(m);
		make_steps(m);
	}
	pages = m->head.nr_pages * sizeof(m->page[0]);
	memcpy(at, &m->head, sizeof(m->head));
	memcpy(at + sizeof(m->head), m->page, pages);
	memcpy(at + sizeof(m->head) + pages, m->image, m->head.image_size);
	m->size = sizeof(m->head) + pages + m->head.image_size;
}

static bool starts(const char *line, const char *word)
{
	return !strncmp(line, word, strlen(word));
}

static void count_exit(struct sum *s, const char *line)
{
	char word[24] = "ok";
	u32 i;

	if (starts(line, "result verify"))
		return;
	s->accepted++;
	sscanf(line, "result exit %23s", word);
	for (i = 0; s->exit[i].nr && strcmp(s->exit[i].word, word); i++)
		if (i + 2 == ARRAY_SIZE(s->exit))
			return;
	strcpy(s->exit[i].word, word);
	s->exit[i].nr++;
}

/* Return: the line that tells of a broken invariant, or NULL. */
static const char *count(struct sum *s, const char *text)
{
	const char *line, *broken = NULL;

	for (line = text; *line; line = strchr(line, '\n') + 1) {
		if (starts(line, "result "))
			count_exit(s, line);
		else if (starts(line, "commands "))
			s->commands += strtoull(line + 9, NULL, 10);
		else if (starts(line, "given "))
			s->given++;
		else if (starts(line, "late "))
			s->late++;
		else if (starts(line, "broken "))
			broken = line;
		else if (starts(line, "at ") && strcspn(line, "\n") > 6)
			s->ghosts += !strncmp(strchr(line, '\n') - 6, " ghost", 6);
		if (!strchr(line, '\n'))
			break;
	}
	return broken;
}

/* Where two texts part. */
static void show_difference(u64 seed, const char *here, const char *there,
			    const char *who)
{
	while (*here && strcspn(here, "\n") == strcspn(there, "\n") &&
	       !strncmp(here, there, strcspn(here, "\n") + 1)) {
		here += strcspn(here, "\n") + 1;
		there += strcspn(there, "\n") + 1;
	}
	printf("seed %llu: %s says '%.*s', user space '%.*s'\n",
	       (unsigned long long)seed, who, (int)strcspn(there, "\n"), there,
	       (int)strcspn(here, "\n"), here);
}

/* Who runs the cases beside this program's interpreter. */
struct other {
	const char *who;
	int (*run)(const void *bytes, size_t size, struct hipec_text *out);
	bool asked;
};

/* Return: whether @o tells the same of a case as @here. */
static bool compare(const struct other *o, const struct maker *m, u64 seed, const char *here)
{
	static char there[HIPEC_VMCASE_MAX_TEXT];
	struct hipec_text out;
	int ret;

	hipec_text_init(&out, there, sizeof(there));
	ret = o->run(m->bytes, m->size, &out);
	if (ret) {
		printf("seed %llu: %s: %s\n", (unsigned long long)seed, o->who,
		       strerror(-ret));
		return false;
	}
	if (!strcmp(here, there))
		return true;
	show_difference(seed, here, there, o->who);
	return false;
}

/* Return: whether all is well with the case of @seed. */
static bool run(u64 seed, const struct other *other, u32 nr_others, bool verbose,
		struct sum *s)
{
	static char here[HIPEC_VMCASE_MAX_TEXT];
	static struct maker m;
	struct hipec_text out;
	const char *broken;
	bool same = true;
	u32 i;
	int ret;

	make_case(&m, seed);
	s->cases++;
	hipec_text_init(&out, here, sizeof(here));
	ret = hpt_run_here(m.bytes, m.size, &out);
	if (ret) {
		printf("seed %llu: a malformed case: %s\n",
		       (unsigned long long)seed, strerror(-ret));
		return false;
	}
	if (verbose)
		printf("seed %llu\n%s", (unsigned long long)seed, here);
	broken = count(s, here);
	if (broken) {
		printf("seed %llu: %s", (unsigned long long)seed, broken);
		return false;
	}
	for (i = 0; i < nr_others; i++)
		same &= !other[i].asked || compare(&other[i], &m, seed, here);
	return same;
}

/* Write the policies of the seeds in C. Return: exit code. */
static int write_c(const char *path, u64 seed, u64 end)
{
	static char text[HIPEC_VMCASE_MAX_TEXT];
	static struct maker m;
	struct hipec_text out;
	int ret = 0;

	if (!inc_begin(path)) {
		perror(path);
		return 2;
	}
	for (; seed != end && !ret; seed++) {
		make_case(&m, seed);
		hipec_text_init(&out, text, sizeof(text));
		ret = hpt_run_to_c(m.bytes, m.size, &out);
	}
	return !inc_end() || ret;
}

static void show_sum(const struct sum *s)
{
	u32 i;

	printf("programs %llu accepted %llu commands %llu given %llu ghosts %llu late %llu failed %llu",
	       (unsigned long long)s->cases, (unsigned long long)s->accepted,
	       (unsigned long long)s->commands, (unsigned long long)s->given,
	       (unsigned long long)s->ghosts, (unsigned long long)s->late,
	       (unsigned long long)s->failed);
	for (i = 0; s->exit[i].nr; i++)
		printf(" %s %llu", s->exit[i].word,
		       (unsigned long long)s->exit[i].nr);
	printf("\n");
}

/* Return: false, and it was said why. */
static bool take_image(const char *path)
{
	FILE *f = fopen(path, "rb");

	if (f) {
		given_size = fread(given_image, 1, sizeof(given_image), f);
		if (!feof(f) || ferror(f))
			given_size = 0;
		fclose(f);
	}
	if (!given_size)
		fprintf(stderr, "differ: %s cannot be read, or is too long\n", path);
	return given_size;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "module", no_argument, NULL, 'm' },
		{ "c", required_argument, NULL, 'c' },
		{ "emit-c", required_argument, NULL, 'e' },
		{ "image", required_argument, NULL, 'i' },
		{ "verbose", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	struct other other[] = {
		{ "the kernel", hpt_run_module, false },
		{ "C", hpt_run_c, false },
	};
	const char *emit = NULL;
	bool verbose = false;
	static struct sum s;
	u64 seed, end;
	int opt;

	while ((opt = getopt_long(argc, argv, "mvc:e:i:", options, NULL)) != -1) {
		other[0].asked |= opt == 'm';
		other[1].asked |= opt == 'c';
		verbose |= opt == 'v';
		if (opt == 'e')
			emit = optarg;
		if (opt == '?' || (opt == 'i' && !take_image(optarg)) ||
		    (opt == 'c' && !inc_load(optarg)))
			break;
	}
	if (opt != -1 || argc - optind != 2) {
		fputs(usage, stderr);
		return 2;
	}
	seed = strtoull(argv[optind], NULL, 0);
	end = seed + strtoull(argv[optind + 1], NULL, 0);
	if (emit)
		return write_c(emit, seed, end);
	for (; seed != end && s.failed < MAX_SHOWN; seed++)
		s.failed += !run(seed, other, ARRAY_SIZE(other), verbose, &s);
	show_sum(&s);
	return s.failed ? 1 : 0;
}
