// SPDX-License-Identifier: GPL-2.0-only
/*
 * Touches pages of a mapped file from several places, on its own or through hipec: the
 * accesses have the same program contexts in `hipec trace --stack frames --mmap` and
 * in the module. Linked dynamically, as that wants; with and without frame pointers.
 *
 *	touches FILE            maps the file
 *	touches FILE POLICY     has it served by POLICY, which counts the last context
 *	                        as "faulted", and prints pages and contexts
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../../../userlib/lib/hipec.h"

#define CALLS calls_dynamic
#include "callpaths.h"

#define PAGE_BYTES 4096ul
#define PAGES 64
#define TOUCHES 8

static int container = -1;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static volatile unsigned char *map_file(const char *path, const char *policy)
{
	int file = open(path, O_RDONLY), region = file;
	void *image, *base;
	size_t size;

	if (file < 0)
		die(path);
	if (policy) {
		container = hipec_open();
		if (container < 0 || hipec_image_read(policy, &image, &size) ||
		    hipec_load(container, image, size, PAGES, 1, NULL, 0))
			die(policy);
		region = hipec_attach(container, file, 0, 0, false, NULL);
	}
	base = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ, MAP_SHARED, region, 0);
	if (base == MAP_FAILED)
		die("mmap");
	return base;
}

static void print_context(int page)
{
	struct hipec_operand o;
	uint32_t slot;

	for (slot = 0; !hipec_operand(container, 0, slot, &o); slot++)
		if (!strcmp(o.name, "faulted"))
			printf("%d %llx\n", page, (unsigned long long)o.value);
}

static const volatile unsigned char *wanted;

static int compare(const void *a, const void *b)
{
	(void)a;
	(void)b;
	if (wanted)
		calls_dynamic.one(wanted);
	wanted = NULL;
	return 0;
}

int main(int argc, char **argv)
{
	volatile unsigned char *base;
	char two[2] = { 1, 2 };
	volatile int i;

	if (argc < 2)
		return 2;
	base = map_file(argv[1], argv[2]);
	for (i = 0; i < TOUCHES; i++) {
		const volatile unsigned char *p = base + i * PAGE_BYTES;

		switch (i) {
		case 0:
		case 5:
			calls_dynamic.one(p);
			break;
		case 1:
			calls_dynamic.two(p);
			break;
		case 2:
			calls_dynamic.deep(p, 4);
			break;
		case 3:
			calls_dynamic.deep(p, 30);
			break;
		case 4:
			calls_dynamic.copy(p);
			break;
		case 6:		/* from the C library, which main() has called */
			wanted = p;
			qsort(two, 2, 1, compare);
			break;
		default:
			(void)*p;
		}
		if (container >= 0)
			print_context(i);
	}
	return 0;
}
