// SPDX-License-Identifier: GPL-2.0-only
/*
 * The database generator of hipec-1997: writes a database from its first page to
 * its last, each once, and makes it durable. The file is there, of its size, but
 * empty. What it writes is what mkdata writes, so sweep can check it.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "../lib/source.h"

static const char usage[] =
"usage: dbg [--policy FILE.hpo --frames N [--cluster N] [--share]]\n"
"           [--advice ADVICE] [--disk NAME] DATABASE\n"
"Fills DATABASE, an empty file of its final size: on a plain mapping (ADVICE: none,\n"
"random, sequential, willneed) or on a hipec region.\n";

int main(int argc, char **argv)
{
	struct options o;
	struct source s;
	struct tuple *t;
	uint64_t i;

	parse_options(&o, argc, argv, usage, 1);
	o.write = true;
	o.passes = 1;
	measure_begin(&o);
	source_open(&s, &o, argv[argc - 1], o.frames);
	t = (void *)s.base;
	for (i = 0; i < s.bytes / TUPLE_BYTES; i++) {
		t[i].key = tuple_key(i);
		t[i].check = ~t[i].key ^ i;
	}
	if (msync(s.base, s.bytes, MS_SYNC))
		die("msync");
	measure_end(&o, &s, "dbg");
	source_close(&s);
	return 0;
}
