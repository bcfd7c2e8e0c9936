// SPDX-License-Identifier: GPL-2.0-only
/*
 * ampc-torture: compile the beginnings of the given sources, every STEP bytes,
 * and CHANGES random changes of each, in one process under ASan and UBSan.
 *
 * Each must be compiled into an image that the verifier accepts, or be refused
 * with an error; the process must not end otherwise.
 *
 * usage: ampc-torture STEP CHANGES FILE...
 */
#include <stdlib.h>

#include "ampc.h"

/* splitmix64, so that a failure comes again. */
static u64 random64(u64 *state)
{
	u64 x = (*state += 0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

static bool is_assembler(const char *file)
{
	size_t len = strlen(file);

	return len > 4 && !strcmp(file + len - 4, ".hps");
}

static void compile(const char *file, const char *text, size_t size)
{
	struct hipec_policy p;
	struct ampc c;
	char *copy;
	FILE *null;
	int ret;

	ampc_init(&c, file);
	strcpy(c.policy, "torture");
	c.level = size & 1;
	copy = ampc_alloc(&c, size + 1);
	memcpy(copy, text, size);
	ret = ampc_source_set(&c, copy, size);
	if (!ret)
		ret = is_assembler(file) ? ampc_assemble(&c, &p) :
					   ampc_compile(&c, &p);
	if (ret == -EFAULT || (ret && !c.nr_errors)) {
		fprintf(stderr, "ampc-torture: from %s, returns %d:\n%.*s\n",
			file, ret, (int)size, text);
		exit(1);
	}
	null = fopen("/dev/null", "w");
	if (null) {
		if (!ret)
			ampc_list(&c, &p, null);
		if (!ret && !is_assembler(file))
			ampc_tree(&c, null);
		ampc_diag_print(&c, null, true);
		fclose(null);
	}
	ampc_free(&c);
}

/* Replace, delete, double or move some bytes; @text has room for @size + 64. */
static size_t change(char *text, size_t size, u64 *state)
{
	static const char bytes[] = "{}();,=+-*/%<>!&|^~?:[]. \n\t_a0x\"'\\\x80\xff";
	size_t at = random64(state) % size;
	size_t n = random64(state) % 8 + 1;
	size_t from = random64(state) % size;

	if (n > size - at)
		n = size - at;
	if (n > size - from)
		n = size - from;
	switch (random64(state) % 4) {
	case 0:
		text[at] = bytes[random64(state) % (sizeof(bytes) - 1)];
		return size;
	case 1:
		memmove(text + at, text + at + n, size - at - n);
		return size - n;
	case 2:
		memmove(text + at + n, text + at, size - at);
		return size + n;
	default:
		memmove(text + at, text + from, n);
		return size;
	}
}

static void torture(const char *file, u32 step, u32 changes, u64 *state)
{
	static char text[1 << 16], changed[2 * (1 << 16)];
	FILE *in = fopen(file, "r");
	size_t size, n;
	u32 i, j;

	if (!in) {
		perror(file);
		exit(1);
	}
	size = fread(text, 1, sizeof(text), in);
	fclose(in);
	/* The beginnings of a long file take too long; its changes do not. */
	for (n = 0; n <= size && size < 2500; n += step)
		compile(file, text, n);
	for (i = 0; i < changes && size; i++) {
		memcpy(changed, text, size);
		n = size;
		for (j = random64(state) % 4 + 1; j && n; j--)
			n = change(changed, n, state);
		compile(file, changed, n);
	}
}

int main(int argc, char **argv)
{
	u64 state = 1;
	int i;

	if (argc < 3 || atoi(argv[1]) < 1) {
		fprintf(stderr, "usage: ampc-torture STEP CHANGES FILE...\n");
		return 2;
	}
	for (i = 3; i < argc; i++)
		torture(argv[i], atoi(argv[1]), atoi(argv[2]), &state);
	return 0;
}
