// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cyclic sweep over a weights file, as a model larger than memory is read once
 * per token. Checks every page; with --write it also updates each page in each
 * pass, then checks the file through read() after msync() and after close().
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../lib/source.h"

static const char usage[] =
"usage: sweep [--policy FILE.hpo --frames N [--cluster N] [--in-place]]\n"
"             [--advice ADVICE] [--disk NAME] [--passes N] [--write | --read] FILE\n"
"Reads FILE, made by mkdata, N times in order: on a plain mapping (ADVICE: none,\n"
"random, sequential, willneed) or on a hipec region, with FILE.hpo or, if that is\n"
"none, the built-in replacement. --in-place: on a plain mapping under the policy.\n"
"--read: by read(), 64 KB at a time, not by a mapping. --write: counts the passes in each page as well,\n"
"and checks the file afterwards.\n";

/* A page that was written to in @passes passes is what it should be. */
static void check(const struct tuple *t, uint64_t page, uint64_t passes)
{
	uint64_t i = page * TUPLES_PER_PAGE;

	if (t->key == tuple_key(i) && t->check == (~t->key ^ i) &&
	    t->filler[0] == passes)
		return;
	fprintf(stderr, "page %" PRIu64 " is wrong\n", page);
	exit(1);
}

static void check_file(const char *path, uint64_t passes)
{
	struct tuple page[TUPLES_PER_PAGE];
	int fd = open(path, O_RDONLY);
	uint64_t p = 0;
	ssize_t n;

	if (fd < 0)
		die(path);
	while ((n = read(fd, page, sizeof(page))) == sizeof(page))
		check(page, p++, passes);
	if (n)
		die(path);
	close(fd);
}

int main(int argc, char **argv)
{
	const char *path = argv[argc - 1];
	struct options o;
	struct source s;
	uint64_t pass, p;

	parse_options(&o, argc, argv, usage, 1);
	measure_begin(&o);
	source_open(&s, &o, path, o.frames);
	for (pass = 0; pass < o.passes; pass++) {
		for (p = 0; p < s.bytes / PAGE_BYTES; p++) {
			struct tuple *t = source_page(&s, p);

			check(t, p, o.write ? pass : 0);
			if (o.write)
				t->filler[0]++;
		}
	}
	measure_end(&o, &s, "sweep");

	if (o.write) {
		if (msync(s.base, s.bytes, MS_SYNC))
			die("msync");
		check_file(path, o.passes);
	}
	source_close(&s);
	if (o.write)
		check_file(path, o.passes);
	return 0;
}
