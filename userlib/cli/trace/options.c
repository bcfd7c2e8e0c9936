// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options of hipec trace: of programs ('p'), info ('i'), convert ('c') and make ('m').
 */
#include "../cli.h"
#include "trace.h"

const struct option_row cli_trace_options[] = {
	{ 'o', "output", "FILE",
	  .help = "the trace of COMMAND and all it starts; COMMAND.trace", .forms = "p" },
	{ OPT_MMAP, "mmap", "[=N]",
	  .help = "also touches of mapped files, but of the last N pages; 64", .forms = "p" },
	{ OPT_DEPTH, "depth", "N",
	  .help = "return addresses in a program context, 0 to 64; 8", .forms = "p" },
	{ OPT_STACK, "stack", "FROM",
	  .help = "tables: unwind tables; frames: frame pointers, quicker", .forms = "p" },
	{ OPT_ALL, "all", NULL,
	  .help = "also files that interpreters and libraries read of"
		  " themselves", .forms = "p" },
	{ .help = "What of a trace is of interest, of programs, info and convert:" },
	{ OPT_ONLY, "only", "GLOB", .forms = "pic" },
	{ OPT_ONLY, "region", "GLOB",
	  .help = "files of that name, whole or its last part; repeatable", .forms = "pic" },
	{ OPT_MIN_PAGES, "min-pages", "N",
	  .help = "files of which so many pages are accessed", .forms = "pic" },
	{ OPT_SAMPLE, "sample", "1/64",
	  .help = "of convert: one page of 64, with all its accesses", .forms = "c" },
	{ .help = "Forms of traces, and what info says:" },
	CLI_INPUT_OPTIONS_OF("ic"),
	{ OPT_TO, "to", "FORM",
	  .help = "text, trace, sectors, oracle, csv or fio; without it, as the name of OUT"
		  " ends: .trace, .csv, .oracleGeneral, else text", .forms = "pcm" },
	{ 'j', "json", NULL, .help = "an array with all there is, for programs", .forms = "i" },
	{ OPT_TOP, "top", "N",
	  .help = "pages, and files, with most accesses; 5", .forms = "i" },
	{ .help = "KIND is loop, sequential, zipf, btree, mixed, shift or a program of"
		  " hipec-1997: nlj, rdr, smpeg, which need no options. The same ones give the"
		  " same trace everywhere." },
	{ OPT_PAGES, "pages", "N", .forms = "m" },
	{ OPT_ACCESSES, "accesses", "N",
	  .help = "how large, how long. k, M and G are 1024 and so on of pages, 1000 and so on"
		  " of all else", .forms = "m" },
	{ OPT_SEED, "seed", "N", .help = "0", .forms = "m" },
	{ OPT_WRITES, "writes", "N",
	  .help = "percent of the accesses that write; 0", .forms = "m" },
	{ OPT_SKEW, "skew", "N",
	  .help = "of Zipf's law, 0 to 4: 1; of keys in btree: 0, all alike", .forms = "m" },
	{ OPT_RUN, "run", "N",
	  .help = "pages in a row, of loop, sequential and mixed; 64", .forms = "m" },
	{ OPT_FANOUT, "fanout", "N", .help = "children of a page of btree; 100", .forms = "m" },
	{ OPT_SCAN, "scan", "N",
	  .help = "percent of the accesses of mixed that scan; 50", .forms = "m" },
	{ OPT_SET, "set", "N",
	  .help = "pages of the working set of shift; a tenth of --pages", .forms = "m" },
	{ OPT_PHASE, "phase", "N",
	  .help = "accesses of shift until it moves; a tenth of --accesses", .forms = "m" },
	{ OPT_PASSES, "passes", "N", .help = "of nlj; 32", .forms = "m" },
	{ OPT_LOOKUPS, "lookups", "N", .help = "of rdr; 10000", .forms = "m" },
	{ 0 },
};
