// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec: the command. Verbs are rows of one table; cli.h has their functions.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "sweep.h"
#include "../option/option.h"
#include "../sim/install_path.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* What verbs are for, as hipec --help lists them. */
enum group { GROUP_FIND, GROUP_WRITE, GROUP_RUN, GROUP_WATCH, GROUP_MACHINE, NR_GROUPS };

static const char *const groups[NR_GROUPS] = {
	[GROUP_FIND] = "Is there a better policy? Without root and without the module:",
	[GROUP_WRITE] = "Look into a policy, likewise:",
	[GROUP_RUN] = "Run programs under a policy:",
	[GROUP_WATCH] = "See what policies do, while they do it or later:",
	[GROUP_MACHINE] = "This machine:",
};

static const struct verb {
	const char *name;
	int (*fn)(int argc, char **argv);
	const char *usage;	/* arguments; a line for each of its own verbs */
	const char *summary;	/* one line, 69 columns at most */
	const char *help;	/* the rest, or NULL */
	enum group group;
} verbs[] = {
	{ "try", cli_try,
	  "[OPTION...] -- PROGRAM...\n"
	  "[OPTION...] TRACE",
	  "say whether a policy is worth it for a program, and what to run next",
	  "Takes the program's trace, or reads one, runs the policies that are fit for\n"
	  "production on it at a few sizes of memory, beside lru, which is about what\n"
	  "operating systems do, and the optimum. Needs neither root nor the module.\n"
	  "docs/user/first-steps.md has an example. A program may ignore its policy:\n"
	  "hipec run says which accesses it acts on.\n"
	  "\n"
	  "  -f, --frames LIST  sizes of memory, as of hipec sim: 64M, 4096, 10%; without\n"
	  "                     it 10%,25%,50%,75% of the pages that are accessed\n"
	  "  -p, --policy LIST  these policies, as of hipec sim\n"
	  "  -o, --output FILE  the trace; without it PROGRAM.trace\n"
	  "      --no-mmap      leave out mapped files: for a program that fails with them\n"
	  "      --only GLOB, --min-pages N, --all\n"
	  "                     which files matter, as of hipec trace\n"
	  "\n"
	  "Exit codes: 0 worth it; 3 not with these policies, one could; 4 none could; 1\n"
	  "failed, 2 usage, 126 and 127 as of hipec run.\n", GROUP_FIND },
	{ "trace", cli_trace,
	  "[OPTION...] -- COMMAND...\n"
	  "info [OPTION...] TRACE...\n"
	  "convert [OPTION...] IN OUT\n"
	  "make KIND --pages N --accesses N [OPTION...] [OUT]",
	  "take a program's trace; describe, convert and make traces",
	  "'-' is standard input or output. docs/user/traces.md has forms and kinds.\n"
	  "\n"
	  "  -o, --output FILE  the trace of COMMAND and all it starts; COMMAND.trace\n"
	  "  --mmap[=N]     also touches of mapped files, but of the last N pages; 64\n"
	  "  --depth N      return addresses in a program context, 0 to 64; 8\n"
	  "  --stack FROM   tables: unwind tables; frames: frame pointers, quicker\n"
	  "  --all          also files that interpreters and libraries read of themselves\n"
	  "\n"
	  "What of a trace is of interest, of programs, info and convert:\n"
	  "\n"
	  "  --only GLOB    files of that name, whole or its last part; repeatable. Of\n"
	  "                 convert, --region is the same\n"
	  "  --min-pages N  files of which so many pages are accessed\n"
	  "  --sample 1/64  of convert: one page of 64, with all its accesses\n"
	  "\n"
	  "  --from FORM    text, trace (binary), sectors, oracle, csv, fio, blkparse\n"
	  "                 strace or record; without it, recognised: all but sectors\n"
	  "  --to FORM      text, trace, sectors, oracle, csv or fio; without it, as\n"
	  "                 the name of OUT ends: .trace, .csv, .oracleGeneral, else text\n"
	  "  --columns LIST of csv, from 1: id=5,op=3, or sector= or offset= and size=;\n"
	  "                 without it, as its header says\n"
	  "  -j, --json     an array with all there is, for programs\n"
	  "  --top N        pages, and files, with most accesses; 5\n"
	  "\n"
	  "KIND is loop, sequential, zipf, btree, mixed, shift or a program of hipec-1997:\n"
	  "nlj, rdr, smpeg, which need no options. The same ones give the same trace\n"
	  "everywhere.\n"
	  "\n"
	  "  --pages N, --accesses N  how large, how long. k, M and G are 1024 and so on of\n"
	  "                 pages, 1000 and so on of all else\n"
	  "  --seed N       0\n"
	  "  --writes N     percent of the accesses that write; 0\n"
	  "  --skew N       of Zipf's law, 0 to 4: 1; of keys in btree: 0, all alike\n"
	  "  --run N        pages in a row, of loop, sequential and mixed; 64\n"
	  "  --fanout N     children of a page of btree; 100\n"
	  "  --scan N       percent of the accesses of mixed that scan; 50\n"
	  "  --set N        pages of the working set of shift; a tenth of --pages\n"
	  "  --phase N      accesses of shift until it moves; a tenth of --accesses\n"
	  "  --passes N     of nlj; 32\n"
	  "  --lookups N    of rdr; 10000\n", GROUP_FIND },
	{ "sim", cli_sim,
	  "[OPTION...] TRACE...",
	  "count the faults of policies on traces, without the module",
	  "Runs each trace through each policy with each number of frames; '-' is\n"
	  "standard input. docs/user/sim.md has the trace's form and the columns.\n"
	  "\n"
	  "  -p, --policy LIST  files (.hpo, or .hp, which ampc compiles), shipped\n"
	  "                     policies (mru) or what is built in: lru, fifo, clock,\n"
	  "                     opt, which is the least that any policy can reach,\n"
	  "                     opt-reads, default; without it the first four of these;\n"
	  "                     builtin: what the module does without a policy\n"
	  "      --among LIST   policies of the league of --policy auto, --mode exact\n"
	  "      --param NAME=VALUE\n"
	  "                     of each policy that has such a param; repeatable\n"
	  "  -f, --frames LIST  frames of memory: 4096, 4k (1024 each); or as bytes\n"
	  "                     64M, 1G, 512KiB; or as a part of the trace's pages,\n"
	  "                     10%; without it 25% and 50%\n"
	  "  -m, --mode MODE    mapped: a hit sets the page's bits, as hardware does\n"
	  "                     (the default); exact: it also runs Access\n"
	  "      --whole-writes a write miss reads nothing: it fills its page\n"
	  "      --native       policies run as native code, which $CC or cc makes first\n"
	  "  -v, --verdict[=PERCENT]\n"
	  "                     exit with 0 if a policy has PERCENT (3) fewer faults\n"
	  "                     than lru, 3 if none has, 4 if none can; adds lru and opt\n"
	  "      --over POLICY  the one to compare with in the place of lru\n"
	  "      --warm-up N    the first N accesses are not counted; 25%: of all\n"
	  "  -c, --contract[=SALT]\n"
	  "                     beside the default policy and its sampled shadow:\n"
	  "                     whether revocation's contract would end it, and when\n"
	  "      --columns LIST of the table: docs/user/sim.md has them; all\n"
	  "      --sample 1/64  run one page of 64, or more if that is too few, and as\n"
	  "                     small a part of the frames; ERROR% says how far that is off\n"
	  "      --post-cache FILE\n"
	  "                     write there what one policy with one number of frames\n"
	  "                     reads and writes, a trace; hipec play times it\n"
	  "      --detector BY  amp, pcc or dear: what finds the patterns of a policy that\n"
	  "                     is fed, as amp; none: nothing does\n"
	  "      --detect-every N\n"
	  "                     accesses from one feed to the next; 5000\n"
	  "      --unguarded    what is found is fed at once, whether it pays or not\n"
	  "      --hints FILE   patterns of the last run, if it is there; gets this one's\n"
	  "  -J, --jobs N       at a time; without it as many as there are processors\n"
	  "  -j, --json         an array with all there is, for programs\n"
	  "      --step         hipec debug, with its options\n", GROUP_FIND },
	{ "sweep", cli_sweep, SWEEP_ROW, GROUP_FIND },
	{ "tune", cli_tune, TUNE_ROW, GROUP_FIND },
	{ "judge", cli_judge, JUDGE_ROW, GROUP_FIND },
	{ "profile", cli_profile, "[OPTION...] TRACE...",
	  "draw what policies do on traces, as a page for a browser",
	  "Runs each trace through each policy: faults by region and over time, frames\n"
	  "held, queue lengths, the hottest lines, and faults by memory. '-' is standard\n"
	  "input. docs/user/profile.md says how to read it; policies, sizes and modes are\n"
	  "those of hipec sim.\n"
	  "\n"
	  "  -p, --policy LIST  without it lru,fifo2,mru,opt\n"
	  "      --param NAME=VALUE\n"
	  "                     of each policy that has such a param; repeatable\n"
	  "  -f, --frames LIST  the first size is drawn in detail, without it 50%; all are\n"
	  "                     on the curve; with one size or none, 1% to 100% are too\n"
	  "  -m, --mode MODE    mapped (the default) or exact\n"
	  "      --over POLICY  the one to compare with in the place of lru\n"
	  "      --whole-writes a write miss reads nothing: it fills its page\n"
	  "      --counters LIST\n"
	  "                     of a policy's counters, drawn on top of each other;\n"
	  "                     without it frames*\n"
	  "      --detector BY  what feeds policies as amp; with --detect-every N, as of\n"
	  "                     hipec sim\n"
	  "  -o, --output FILE  the page; without it profile.html\n"
	  "  -t, --text         a summary for this terminal in the place of the page\n"
	  "  -j, --json         what both are made of, for programs\n"
	  "  -J, --jobs N       runs at a time\n", GROUP_FIND },
	{ "mix", cli_mix, "--frames N [OPTION...] APPS",
	  "run several applications with policies on one simulated machine",
	  "APPS is a file with a line for each: NAME [KEY=VALUE...] : TRACE, with the keys\n"
	  "policy, privileged (frames), min, max, start and cpu (of an access); TRACE is a\n"
	  "file or what hipec trace make takes. docs/user/mixes.md says what happens\n"
	  "when.\n"
	  "\n"
	  "  -f, --frames N     of the machine: 4096, 4k (1024 each), 64M, 512KiB\n"
	  "  -g, --global NAME  policy of the frames that are shared: fifo2-mr (the\n"
	  "                     default) or awst, between each one's min and max\n"
	  "  -o, --orders LIST  of submission: all, or J,R,S; without it as in the file\n"
	  "  -s, --slice TIME   of the processor, 100ms; times are in ns, us, ms and s\n"
	  "      --gap TIME     from the start of one to that of the next; 0\n"
	  "  -d, --disk TIME    of a page: paper (the default), ssd, hdd, 5ms, or 5ms,1ms\n"
	  "                     if the page behind the last one takes less\n"
	  "      --write TIME   of a page that is written, if it is another\n"
	  "  -m, --mode MODE    as of hipec sim\n"
	  "      --no-recovery  let ill-advised decisions stand\n"
	  "      --revoke       end policies that break the contract\n"
	  "      --sample TIME  in JSON, who holds how many frames, so often\n"
	  "      --profile FILE a page as hipec profile's, all applications together over\n"
	  "                     time; text: a summary instead; json: what both are made of\n"
	  "  -j, --json         an array with an element an order, for programs\n", GROUP_FIND },
	{ "amp", cli_amp,
	  "detect [OPTION...] TRACE\n"
	  "feed [OPTION...] ID|PID\n"
	  "report [OPTION...] [FILE]",
	  "find what call stacks do, in a trace or in runs: loop, pass once, ...",
	  "A context is a call stack; 'hipec trace -- COMMAND' takes traces that have some.\n"
	  "docs/user/amp.md says what is found, and how; '-' is standard input.\n"
	  "\n"
	  "      --detector BY  amp (the default), pcc or dear\n"
	  "      --form FORM    of amp's average: all accesses (the default), periodic, of\n"
	  "                     the last period alone, or exponential\n"
	  "      --every N      accesses of a period\n"
	  "      --blocks N     in the list of a context, which is sampled above that\n"
	  "      --rate R       share of the pages that is looked at; 1\n"
	  "      --fed          all of these as hipec sim feeds policies\n"
	  "      --top N        contexts of the table, the busiest ones; 20\n"
	  "  -j, --json         an object with all there is, for programs\n"
	  "\n"
	  "report: what runs of a program under 'hipec run' have learnt, in words: FILE, of\n"
	  "--hints there, or of the run that ended last; with --top and --json, and\n"
	  "\n"
	  "      --run PROGRAM  of that program\n"
	  "\n"
	  "feed: what 'hipec run' does for its program, for one that loads amp itself:\n"
	  "samples of its container, by its number in 'hipec status' or the process that\n"
	  "loaded it, until it ends, Ctrl-C, or\n"
	  "\n"
	  "      --seconds N    at most so long\n"
	  "      --policy NAME  what it was loaded from; without it, a shipped policy of\n"
	  "                     the name that 'hipec status' shows\n"
	  "      --hints FILE, --no-hints  as of hipec run\n", GROUP_FIND },
	{ "play", cli_play, "[OPTION...] LIST DISK",
	  "time a list of reads and writes on a real file or disk",
	  "LIST is what hipec sim --post-cache wrote, or any trace; page N is byte 4096 N\n"
	  "of DISK, which may be a file. docs/user/player.md says what is measured,\n"
	  "and how.\n"
	  "\n"
	  "      --overwrite    the list's writes may destroy what is there; where there is\n"
	  "                     a file system, or the kernel uses the disk, say it twice\n"
	  "      --read-only    read what the list writes\n"
	  "      --batch N      requests under way at a time; 32\n"
	  "      --pages N      pages of a request, where they follow each other; 1\n"
	  "      --within P     percent of the mean that half of its 95 % interval may be,\n"
	  "                     for the rounds to end; 2\n"
	  "      --rounds N     at most; 30\n"
	  "  -n, --dry-run      all but the reads and writes\n"
	  "  -j, --json         an object with all there is, for programs\n", GROUP_FIND },
	{ "dis", cli_dis, "FILE.hpo | --native ID",
	  "print a compiled policy: operands, events, commands",
	  "Commands are numbered from 1 as in exit messages, with their words in\n"
	  "hexadecimal. An image that the module would refuse is printed as far as\n"
	  "it can be read, with the module's reason, and exit code 1.\n"
	  "  -n, --native  instead, for root: a live container's machine code, or why not\n", GROUP_WRITE },
	{ "grade", cli_grade, "[OPTION...] POLICY TRACE...",
	  "say how far a policy is on the way from lru to opt",
	  "Counts the faults of a policy, of lru and of opt, which knows the future, on\n"
	  "each trace. The grade is the share of what opt saves: lru has 0 %, opt 100 %,\n"
	  "and a policy that is worse than lru has less than nothing.\n"
	  "docs/policy/course.md has exercises.\n"
	  "\n"
	  "  -f, --frames LIST  as of hipec sim; without it 25% and 50%\n"
	  "  -m, --mode MODE    mapped (the default) or exact\n"
	  "      --param NAME=VALUE\n"
	  "                     a parameter of the policy; repeatable\n"
	  "      --least PERCENT\n"
	  "                     what each grade has to be; without it, any will do\n"
	  "  -J, --jobs N       at a time\n"
	  "  -j, --json         an array with all there is, for programs\n"
	  "\n"
	  "Exit codes: 0 each grade is enough, 1 failed, 2 usage, 3 one is not, or the\n"
	  "policy has ended.\n", GROUP_WRITE },
	{ "debug", cli_debug, "[OPTION...] TRACE",
	  "step through a policy on a trace, command by command",
	  "Runs a trace through a policy as hipec sim does, stops, and says what is where\n"
	  "and why. Commands come from the terminal, or from standard input or --command;\n"
	  "'help' lists them, docs/policy/debugger.md has an example. 'hipec sim --step' is\n"
	  "the same.\n"
	  "\n"
	  "  -p, --policy FILE  a policy: .hp, .hpo or the name of a shipped one\n"
	  "      --param NAME=VALUE\n"
	  "                     a parameter of it; repeatable\n"
	  "  -f, --frames N     frames of memory: 3, 4k; or as bytes 64M\n"
	  "  -m, --mode MODE    mapped (the default) or exact\n"
	  "  -c, --command LINE a command; more than one are done in their order, and\n"
	  "                     standard input is not read\n"
	  "      --source FILE  what a .hpo was compiled from, if it is not found\n"
	  "\n"
	  "Exit codes: 0 done; 1 the trace or the policy is wrong, or, without a terminal,\n"
	  "a command was; 2 usage.\n", GROUP_WRITE },
	{ "run", cli_run,
	  "--policy P --budget B [OPTION...] -- PROGRAM...",
	  "run a program as it is, with its files under a policy",
	  "Files that the program, and what it starts, opens are a policy's to keep in\n"
	  "memory, by read() and by maps, in a cgroup of its own. Where that may not be,\n"
	  "its file maps are regions of one container. docs/user/run.md has both.\n"
	  "\n"
	  "  -p, --policy NAME  a policy: .hp, .hpo, the name of a shipped one, or builtin\n"
	  "      --param NAME=VALUE\n"
	  "                     a parameter of it; repeatable\n"
	  "  -b, --budget SIZE  memory that all files share: 512M, 8G; pages: 4096, 10k; or\n"
	  "                     auto: what our cgroup's limit allows, half of the machine's\n"
	  "  -m, --map GLOB     files that count, by their whole name or its last part;\n"
	  "                     repeatable. Without it, all of 1 MB and more\n"
	  "      --regions      file maps as regions, by a library in the program; with\n"
	  "                     --map those that are written, too\n"
	  "      --reserve      likewise, in frames of its own, not in a share\n"
	  "      --contract     revoke the policy if it reads far more than the default\n"
	  "                     would; so it is anyway with --regions, but not --reserve\n"
	  "      --jit HOW      native code: auto, on, off; else as the module's jit\n"
	  "      --hints FILE   what runs of the program have learnt, of a policy as amp;\n"
	  "                     not the one in ~/.local/state/hipec/amp. It is read and\n"
	  "                     written\n"
	  "      --no-hints     neither\n"
	  "      --strict       fail where the module is missing or refuses something;\n"
	  "                     without it, files are then cached as ever, and one line\n"
	  "                     says so\n"
	  "  -q, --quiet        do not tell at the end what was saved\n"
	  "  -j, --json         tell it as an object, for programs\n"
	  "  -o, --output FILE  tell it there, not on standard error\n"
	  "\n"
	  "Exit code: the program's, 128 and the signal that ended it, 127 if there is no\n"
	  "such program, 126 if it cannot be run; 1 if nothing was run.\n", GROUP_RUN },
	{ "attach", cli_attach,
	  "--policy P --budget B [OPTION...] [PATH...]",
	  "let a policy decide which pages of files stay in the page cache",
	  "The files' pages stay where they are; all programs go on, by read() and by maps.\n"
	  "Of a directory: those of all files below it, and of what comes into it later.\n"
	  "It lasts until 'hipec detach ID', and prints that ID. docs/user/in-place.md says\n"
	  "which files, and what a program may notice.\n"
	  "\n"
	  "  -p, --policy NAME  a policy: .hp, .hpo, the name of a shipped one, or builtin\n"
	  "      --param NAME=VALUE\n"
	  "                     a parameter of it; repeatable\n"
	  "  -b, --budget SIZE  memory that the files share: 512M, 8G; pages: 4096, 10k; or\n"
	  "                     auto: what a cgroup's limit allows, half of the machine's\n"
	  "  -c, --cgroup NAME  files that processes of a cgroup have open or open later;\n"
	  "                     below /sys/fs/cgroup if NAME begins with no '/'; repeatable\n"
	  "      --least SIZE   of these, only files as large; 1M\n"
	  "      --contract     revoke the policy if it reads far more than the default\n"
	  "      --jit HOW      native code: auto, on, off; else as the module's jit\n", GROUP_RUN },
	{ "detach", cli_detach, "ID [PATH...]",
	  "end what 'hipec attach' began, or let go of some of its files",
	  "Their pages stay in memory, and are the kernel's to reclaim as any others. A\n"
	  "PATH may be a directory's, or the one of a cgroup: what it had opened stays.\n", GROUP_RUN },
	{ "swap", cli_swap, "[--trial TIME] [--jit HOW] [--json] ID POLICY",
	  "give a live container another policy; what is cached stays",
	  "POLICY is a .hpo file, a .hp file, which ampc compiles, a shipped policy (mru),\n"
	  "or builtin. If it cannot take over, the one before goes on: docs/user/swap.md.\n"
	  "\n"
	  "  -t, --trial TIME  30s, 5m: watch the policy before for so long, then this one,\n"
	  "                    and go back if it is worse, ends, or on Ctrl-C\n"
	  "      --jit HOW     native code: auto, on or off; without it as before\n"
	  "  -j, --json        an object with what was seen, for programs\n"
	  "\n"
	  "Exit codes: 0 done, 1 failed, 2 usage, 3 tried, and the one before is back.\n", GROUP_RUN },
	{ "set", cli_set, "[--json] ID [NAME=VALUE...]",
	  "set params of a live container's policy, or list them",
	  "Events that begin from then on read the new values. All are set or, where one is\n"
	  "outside its range, none.\n"
	  "\n"
	  "  -j, --json    the list as an array, for programs\n", GROUP_RUN },
	{ "revoke", cli_revoke, "ID...",
	  "end the policies of live containers; their frames stay",
	  "The built-in FIFO with a second chance goes on; hipec status says that it was by\n"
	  "hand.\n", GROUP_RUN },
	{ "status", cli_status, "[--json]",
	  "show the containers: their frames, faults and why they ended",
	  "Shows the containers of the caller, or all of them with CAP_SYS_ADMIN.\n"
	  "FRAMES is the budget; FREE, RESIDENT and DIRTY are pages of it now, the\n"
	  "other counts are since the policy was loaded. Pages have 4096 bytes.\n"
	  "\n"
	  "  -j, --json    an array with all there is, for programs\n", GROUP_WATCH },
	{ "top", cli_top, "[OPTION...]",
	  "show who holds which frames and what that gains, again and again",
	  "FRAMES is held now, of at most LIMIT; rates are of the time between two looks,\n"
	  "in pages a second. GAIN is by how much less, or more, the policy brings in than\n"
	  "the default one would, since the load; only containers that share are compared.\n"
	  "docs/user/operations.md says what to do about each HEALTH. Ends with Ctrl-C.\n"
	  "\n"
	  "  -1, --once         one picture; so it is without a terminal\n"
	  "  -n, --number N     so many pictures\n"
	  "  -i, --interval S   seconds from one to the next; 2\n"
	  "  -s, --sort BY      frames (the default), faults, evictions, loss or id\n"
	  "  -j, --json         an object a line for each picture, for programs\n", GROUP_WATCH },
	{ "serve", cli_serve, "[OPTION...]",
	  "show in a browser what top and log print, as it happens",
	  "A page on this machine alone, whose address has a token: it is printed, and new\n"
	  "at each start. Nothing can be written there. Frames, faults, what policies save\n"
	  "with its error, and how they ended. Ends with Ctrl-C.\n"
	  "\n"
	  "  -p, --port N       8088; 0: one that is free\n"
	  "  -i, --interval S   seconds from one look to the next; 2\n"
	  "      --socket PATH  a socket there, of its owner, and no port\n"
	  "      --listen ADDRESS\n"
	  "                     not 127.0.0.1: other machines may ask then, without a\n"
	  "                     cipher; say it twice\n", GROUP_WATCH },
	{ "log", cli_log, "[--last N] [--json]",
	  "show how policies and containers ended that are gone",
	  "The last 64 of all users, or as many as the module's parameter log_records says;\n"
	  "of these the caller's, or all with CAP_SYS_ADMIN. END is what ended: the policy,\n"
	  "whose container goes on, or the container.\n"
	  "\n"
	  "  -n, --last N  the last N of them\n"
	  "  -j, --json    an array with all there is, for programs\n", GROUP_WATCH },
	{ "metrics", cli_metrics, "[--output FILE]",
	  "print the numbers of all containers for Prometheus",
	  "In its text format. docs/user/operations.md says what to watch.\n"
	  "\n"
	  "  -o, --output FILE  there, the old text or the new one at any time; for the\n"
	  "                     collector of text files of its node_exporter\n", GROUP_WATCH },
	{ "why", cli_why, "[--json] ID PAGE|FILE:OFFSET",
	  "say where a page of a live container stands, and on which queue",
	  "ID is a container's number in hipec status; PAGE counts from the container's\n"
	  "start, OFFSET is in bytes. Asking changes nothing. The words are in\n"
	  "docs/user/swap.md.\n"
	  "\n"
	  "  -j, --json    an object with all there is, for programs\n", GROUP_WATCH },
	{ "record", cli_record,
	  "[OPTION...] ID...|--all|-- COMMAND",
	  "write what happens in live containers to a file",
	  "Records containers by their number in 'hipec status', all of them and those\n"
	  "that come, or those that come while a command runs; until they end, the\n"
	  "command ends, or Ctrl-C. docs/user/record.md says what is in the file; 'hipec\n"
	  "replay' proves it, 'hipec sim' takes it as a trace.\n"
	  "\n"
	  "  -o, --output FILE  hipec.record\n"
	  "  -s, --seconds N    at most so long\n"
	  "  -a, --all          all containers that the caller may see\n"
	  "  -r, --ring BYTES   kept for each container until they are written, a power\n"
	  "                     of two from 4k to 16M; 1M. What does not fit is lost,\n"
	  "                     and the record says so\n", GROUP_WATCH },
	{ "replay", cli_replay, "FILE",
	  "run a record's policies again, and compare each decision",
	  "Exit code 0 if all of them are the same, byte for byte; else 1, with the\n"
	  "place of the first difference, hole or damage.\n", GROUP_WATCH },
	{ "doctor", cli_doctor, "[--json]",
	  "say what keeps hipec from working here, and the command that mends it",
	  "Looks at the kernel, its headers, DKMS, Secure Boot, the module, the device, the\n"
	  "limit of locked memory, cgroups and file systems. docs/user/install.md has more\n"
	  "on each. Exit code 1 if something is wrong; what is only noted may stay.\n"
	  "\n"
	  "  -j, --json     an array with an object for each check, for programs\n"
	  "      --root DIR look at the machine whose root folder is there\n", GROUP_MACHINE },
};

static void print_help(FILE *out)
{
	enum group group;
	size_t i;

	fputs("usage: hipec VERB [ARGUMENT...]\n"
	      "       hipec help [VERB]\n"
	      "       hipec --help | --version\n"
	      "\n"
	      "Page replacement that applications choose.\n", out);
	for (group = 0; group < NR_GROUPS; group++) {
		fprintf(out, "\n%s\n", groups[group]);
		for (i = 0; i < ARRAY_SIZE(verbs); i++)
			if (verbs[i].group == group)
				fprintf(out, "  %-8s %s\n", verbs[i].name,
					verbs[i].summary);
	}
	fputs("\n'hipec help VERB' says more. Exit codes: 0 done, 1 failed, 2 usage.\n",
	      out);
}

/* Of @usage, which is left, the next line; its length. */
static int usage_line(const char **usage, const char **line)
{
	int len = strcspn(*usage, "\n");

	*line = *usage;
	*usage += len + ((*usage)[len] == '\n');
	return len;
}

static void print_verb_help(const struct verb *v)
{
	const char *usage = v->usage, *line, *head = "usage:";
	char docs[PATH_MAX], where[PATH_MAX];
	int len;

	do {
		len = usage_line(&usage, &line);
		printf("%s hipec %s %.*s\n", head, v->name, len, line);
		head = "      ";
	} while (*usage);
	printf("\n%s.\n%s%s", v->summary, v->help ? "\n" : "", v->help ?: "");
	cli_examples_print(v->name);
	if (v->help && strstr(v->help, "docs/") && install_path(docs, INSTALL_PATH_DOCS) && !access(docs, R_OK) &&
	    realpath(docs, where))
		printf("\nThe folder docs/ is %s.\n", where);
}

/* The line of the verb's own verb that was asked for, if it has some, or its first one. */
static void print_usage(const struct verb *v, const char *asked)
{
	const char *usage = v->usage, *line;
	size_t n = strlen(asked);
	int len;

	do
		len = usage_line(&usage, &line);
	while (*usage && !(n && !strncmp(line, asked, n) && line[n] == ' '));
	if (!n || strncmp(line, asked, n) || line[n] != ' ') {
		usage = v->usage;
		len = usage_line(&usage, &line);
	}
	fprintf(stderr, "usage: hipec %s %.*s\n", v->name, len, line);
}

static int run_verb(const struct verb *v, int argc, char **argv)
{
	int i, ret;

	cli_set_verb(v->name);
	for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			print_verb_help(v);
			return CLI_OK;
		}
	optind = 1;
	ret = v->fn(argc, argv);
	if (ret == CLI_USAGE)
		print_usage(v, argc > 1 ? argv[1] : "");
	return ret;
}

static const struct verb *find_verb(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(name, verbs[i].name))
			return &verbs[i];
	return NULL;
}

static int no_verb(char *name)
{
	const char *thing = *name == '-' ? "option" : "verb", *near = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		near = option_nearest(name, near, verbs[i].name);
	cli_clean(name);
	if (near)
		cli_error("there is no %s '%s'; did you mean '%s'?", thing, name, near);
	else
		cli_error("there is no %s '%s'", thing, name);
	fputs("'hipec help' lists the verbs\n", stderr);
	return CLI_USAGE;
}

/* @name: of a verb, or NULL */
static int help(char *name)
{
	const struct verb *v = name ? find_verb(name) : NULL;

	if (v)
		print_verb_help(v);
	else if (name)
		return no_verb(name);
	else
		print_help(stdout);
	return CLI_OK;
}

static int run(int argc, char **argv)
{
	char *name = argv[1];
	const struct verb *v;

	if (argc < 2) {
		print_help(stderr);
		return CLI_USAGE;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help"))
		return help(argc > 2 ? argv[2] : NULL);
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		puts("hipec " HIPEC_VERSION);
		return CLI_OK;
	}
	v = find_verb(name);
	return v ? run_verb(v, argc - 1, argv + 1) : no_verb(name);
}

int main(int argc, char **argv)
{
	int ret = run(argc, argv);

	if (fflush(stdout) || ferror(stdout)) {
		cli_error("cannot write: %s", strerror(errno));
		return CLI_FAILED;
	}
	return ret;
}
