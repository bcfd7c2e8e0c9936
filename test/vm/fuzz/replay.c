// SPDX-License-Identifier: GPL-2.0-only
/*
 * Saved inputs and generated policies, without libFuzzer; any compiler will do.
 *
 * replay image DIR|FILE...        each file as an input of fuzz_image
 * replay run DIR|FILE...          each file as an input of fuzz_run
 * replay generate FIRST COUNT     policies of these seeds, each with a script
 * replay break FIRST COUNT        the same, each broken in 16 ways in turn
 * replay write SEED FILE          the policy of a seed
 * replay broken [DAMAGE]          one with a machine that is damaged on purpose:
 *                                 must abort; without an argument, lists damages
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "../../../module/vm/queue.h"
#include "harness.h"
#include "mutate.h"
#include "program.h"

#define MAX_SCRIPT 128	/* bytes */

/* What is tried now, for the report if it is the last. */
static char current[4096];

/* Of ASan and UBSan, where they are linked. */
void __attribute__((weak))
__sanitizer_set_death_callback(void (*callback)(void));

static void last_words(void)
{
	fprintf(stderr, "fuzz: the input was %s\n",
		*current ? current : "made here");
}

static void aborted(int number)
{
	(void)number;
	last_words();
}

static void run_input(const u8 *data, size_t size)
{
	fuzz_run(data, size, NULL);
}

static int replay_file(const char *path, void (*input)(const u8 *, size_t))
{
	FILE *file = fopen(path, "rb");
	struct stat st;
	u8 *data;
	int ret = 1;

	if (!file || fstat(fileno(file), &st)) {
		perror(path);
		return 1;
	}
	data = fuzz_alloc(NULL, st.st_size);
	if (fread(data, 1, st.st_size, file) == (size_t)st.st_size) {
		snprintf(current, sizeof(current), "%s", path);
		input(data, st.st_size);
		ret = 0;
	}
	free(data);
	fclose(file);
	return ret;
}

static int replay_path(const char *path, void (*input)(const u8 *, size_t))
{
	char name[4096];
	struct dirent **entry;
	int i, nr, ret = 0;

	nr = scandir(path, &entry, NULL, alphasort);
	if (nr < 0)
		return replay_file(path, input);
	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "%s/%s", path, entry[i]->d_name);
		if (entry[i]->d_name[0] != '.')
			ret |= replay_file(name, input);
		free(entry[i]);
	}
	free(entry);
	return ret;
}

/* The policy of @seed and a script; bytes of both. */
static size_t generate(u64 seed, void *input, size_t max)
{
	struct fuzz_rng rng = { .state = ~seed };
	size_t size = fuzz_generate(seed, input, max - MAX_SCRIPT);
	u32 i, nr = fuzz_below(&rng, MAX_SCRIPT);

	fuzz_check(size, "there is a policy for every seed");
	for (i = 0; i < nr; i++)
		((u8 *)input)[size++] = fuzz_random(&rng);
	return size;
}

static u64 input[(FUZZ_MAX_IMAGE + MAX_SCRIPT) / 8];

static int replay_generated(u64 first, u64 count)
{
	u64 seed;

	for (seed = first; seed < first + count; seed++) {
		snprintf(current, sizeof(current), "seed %llu",
			 (unsigned long long)seed);
		fuzz_run((u8 *)input, generate(seed, input, sizeof(input)),
			 NULL);
	}
	fuzz_check(fuzz_stats.accepted == count,
		   "the verifier accepts every generated policy");
	return 0;
}

static int replay_broken_images(u64 first, u64 count)
{
	static u64 image[ARRAY_SIZE(input)];
	size_t size, n;
	u64 seed, i;

	for (seed = first; seed < first + count; seed++) {
		size = generate(seed, input, sizeof(input));
		for (i = 0; i < 16; i++) {
			snprintf(current, sizeof(current), "seed %llu broken %llu",
				 (unsigned long long)seed, (unsigned long long)i);
			memcpy(image, input, size);
			n = fuzz_image_size((u8 *)input, size);
			n = fuzz_break(seed << 8 | i, image, n, n);
			fuzz_image((u8 *)image, n);
			memcpy((u8 *)image + n, (u8 *)input + n, size - n);
			fuzz_run((u8 *)image, size, NULL);
		}
	}
	return 0;
}

static int write_generated(u64 seed, const char *path)
{
	size_t size = fuzz_generate(seed, input, sizeof(input));
	FILE *file = fopen(path, "wb");
	int ret = !file || fwrite(input, 1, size, file) != size;

	if (ret)
		perror(path);
	if (file)
		fclose(file);
	return ret;
}

static void damage_count(struct hipec_vm *vm)
{
	vm->queue[HIPEC_QUEUE_FALLBACK].count++;
}

static void damage_link(struct hipec_vm *vm)
{
	u32 h = vm->queue[HIPEC_QUEUE_FALLBACK].head;

	if (h)
		vm->page[h].prev = h;
}

static void damage_live(struct hipec_vm *vm)
{
	vm->nr_live++;
}

static void damage_no_page(struct hipec_vm *vm)
{
	vm->page[0].flags = HIPEC_PAGE_USED;
}

static void damage_queue_slot(struct hipec_vm *vm)
{
	vm->slot[HIPEC_SLOT_FREE_QUEUE]++;
}

static void damage_page_slot(struct hipec_vm *vm)
{
	u32 i;

	for (i = 0; i < vm->policy->image->nr_operands; i++)
		if (vm->policy->operand[i].type == HIPEC_TYPE_PAGE)
			vm->slot[i] = vm->nr_pages + 1;
}

static void damage_constant(struct hipec_vm *vm)
{
	u32 i;

	for (i = HIPEC_SLOT_POLICY; i < vm->policy->image->nr_operands; i++)
		if (vm->policy->operand[i].flags & HIPEC_OPERAND_CONST)
			vm->slot[i]++;
}

static void damage_system(struct hipec_vm *vm)
{
	vm->slot[HIPEC_SLOT_FRAME_BUDGET]++;
}

static void damage_fuel(struct hipec_vm *vm)
{
	vm->nr_commands += vm->fuel + 2 * HIPEC_MAX_WORDS;
}

static void damage_image(struct hipec_vm *vm)
{
	((u8 *)vm->policy->image)[sizeof(struct hipec_image) - 2]++;
}

static void damage_ghosts(struct hipec_vm *vm)
{
	vm->nr_ghosts++;
}

static void damage_order(struct hipec_vm *vm)
{
	u32 q, h;

	for (q = HIPEC_QUEUE_POLICY; q < vm->nr_queues; q++) {
		h = vm->queue[q].head;
		if (vm->queue[q].key && h && vm->page[h].next)
			vm->node[vm->page[h].next].key =
				vm->node[h].key - 1;
	}
}

static void damage_tree(struct hipec_vm *vm)
{
	u32 q;

	for (q = HIPEC_QUEUE_POLICY; q < vm->nr_queues; q++)
		if (vm->queue[q].key && vm->queue[q].root)
			vm->node[vm->queue[q].root].child[1] =
				vm->queue[q].root;
}

/* The first byte beyond. */
static void damage_memory(struct hipec_vm *vm)
{
	((u8 *)(vm->code + vm->policy->image->nr_words))[0] = 0;
}

static void damage_shared(struct hipec_vm *vm)
{
	u32 i;

	for (i = 0; i < vm->policy->image->nr_operands; i++)
		if (vm->policy->operand[i].flags & HIPEC_OPERAND_SHARED)
			vm->array[vm->slot[i]].element[-1] = 0;
}

static const struct {
	const char *name;
	fuzz_meddle *meddle;
} damages[] = {
	{ "count", damage_count },
	{ "link", damage_link },
	{ "live", damage_live },
	{ "no-page", damage_no_page },
	{ "queue-slot", damage_queue_slot },
	{ "page-slot", damage_page_slot },
	{ "constant", damage_constant },
	{ "system", damage_system },
	{ "fuel", damage_fuel },
	{ "image", damage_image },
	{ "ghosts", damage_ghosts },
	{ "order", damage_order },
	{ "tree", damage_tree },
	{ "memory", damage_memory },
	{ "shared", damage_shared },
};

/* With damage, ends in abort(), or the harness sees nothing. */
static int replay_broken(const char *name)
{
	u64 seed;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(damages); i++) {
		if (!name)
			puts(damages[i].name);
		else if (!strcmp(name, damages[i].name))
			/* Some have nothing there to damage. */
			for (seed = 1; seed < 1000; seed++)
				fuzz_run((u8 *)input,
					 fuzz_generate(seed, input,
						       sizeof(input)),
					 damages[i].meddle);
	}
	return 0;
}

static int usage(void)
{
	fputs("usage: replay image|run DIR|FILE... | generate|break FIRST COUNT |\n"
	      "              write SEED FILE | broken [DAMAGE]\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int i, ret = 0;

	signal(SIGABRT, aborted);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(last_words);
	if (!strcmp(mode, "broken") && argc < 4)
		return replay_broken(argv[2]);
	if (!strcmp(mode, "write") && argc == 4)
		return write_generated(strtoull(argv[2], NULL, 0), argv[3]);
	if (!strcmp(mode, "generate") && argc == 4)
		ret = replay_generated(strtoull(argv[2], NULL, 0),
				       strtoull(argv[3], NULL, 0));
	else if (!strcmp(mode, "break") && argc == 4)
		ret = replay_broken_images(strtoull(argv[2], NULL, 0),
					   strtoull(argv[3], NULL, 0));
	else if (argc > 2 && (!strcmp(mode, "image") || !strcmp(mode, "run")))
		for (i = 2; i < argc; i++)
			ret |= replay_path(argv[i], *mode == 'i' ? fuzz_image :
								   run_input);
	else
		return usage();
	if (ret)
		return 1;
	printf("ok inputs %llu accepted %llu events %llu exits %llu commands %llu\n",
	       (unsigned long long)fuzz_stats.inputs,
	       (unsigned long long)fuzz_stats.accepted,
	       (unsigned long long)fuzz_stats.events,
	       (unsigned long long)fuzz_stats.exits,
	       (unsigned long long)fuzz_stats.commands);
	return 0;
}
