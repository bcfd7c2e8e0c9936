// SPDX-License-Identifier: GPL-2.0-only
/*
 * Examples of each verb, for its help and its man page. A test runs all of them that
 * need no module; the others' options are looked up in their verb's help.
 *
 * Interface: cli.h.
 */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const struct {
	const char *verb;
	const char *what;	/* it does, in words */
	const char *command;	/* 76 columns at most */
} examples[] = {
	{ "try", "Is there a better policy for this program?",
	  "hipec try -- sh -c 'cat search.txt search.txt'" },
	{ "try", "The same of a trace, with two sizes of memory:",
	  "hipec try --frames 64M,256M app.trace" },
	{ "trace", "Record the file accesses of a program, touches of maps too:",
	  "hipec trace --mmap -o search.trace -- cat search.txt" },
	{ "trace", "What is in a trace:",
	  "hipec trace info app.trace" },
	{ "trace", "Keep the data alone:",
	  "hipec trace convert --region '*.db' app.trace data.trace" },
	{ "trace", "Make one: 40,000 accesses in a loop over 1,024 pages:",
	  "hipec trace make loop --pages 1k --accesses 40k loop.trace" },
	{ "trace", "Check what would be done, without a read or a write:",
	  "hipec trace play --dry-run --read-only app.trace disk.img" },
	{ "sim", "Three policies with a quarter and a half of the pages:",
	  "hipec sim -p lru,mru,opt -f 25%,50% app.trace" },
	{ "sim", "Does a policy of mine gain 5 %? The exit code says so:",
	  "hipec sim --verdict=5 -p my.hp app.trace" },
	{ "sim", "How far is my policy from the optimum?",
	  "hipec sim --grade --mode exact -f 25% my.hp app.trace" },
	{ "sim", "Stop at the first Replace, and say where it is:",
	  "hipec sim --step -p my.hp -f 8 -c 'stop in Replace' -c run -c list app.trace" },
	{ "sweep", "How many runs is this plan, and how long will they take?",
	  "hipec sweep --dry-run plan.toml" },
	{ "sweep", "Draw its table, as a page for a browser:",
	  "hipec sweep report plan.sweep" },
	{ "tune", "Search the params of a policy of mine on half of the traces:",
	  "hipec tune --frames 25% my.hp *.trace" },
	{ "profile", "A page for a browser:",
	  "hipec profile -p lru,mru,opt -f 50% -o report.html app.trace" },
	{ "profile", "A summary for this terminal:",
	  "hipec profile --text -p lru,mru app.trace" },
	{ "mix", "The applications of a file, on a machine of 256 frames:",
	  "hipec mix --frames 256 --disk ssd apps" },
	{ "amp", "Which call stacks loop?",
	  "hipec amp detect app.trace" },
	{ "amp", "What the run that ended last has learnt:",
	  "hipec amp report --top 5" },
	{ "dis", "Compile a policy, and print its commands:",
	  "ampc -o my.hpo my.hp && hipec dis my.hpo" },
	{ "run", "A program whose large files have 512 MiB, under mru:",
	  "hipec run --policy mru --budget 512M --map '*.gguf' -- ./app" },
	{ "attach", "A directory's files, for all programs:",
	  "hipec attach --policy scan-resistant --budget 2G /srv/data" },
	{ "detach", "End what attach began; it printed the number:",
	  "hipec detach 3" },
	{ "swap", "Try another policy for a minute, and go back if it is worse:",
	  "hipec swap --trial 1m 3 s3-fifo" },
	{ "swap", "List the params of container 3, and set one:",
	  "hipec swap --param 3 && hipec swap --param 3 small=20" },
	{ "swap", "End the policy of container 3:",
	  "hipec swap --revoke 3" },
	{ "status", "For a script: the faults of each container:",
	  "hipec status --json | jq '.[].counters.faults'" },
	{ "status", "Where is the page at 1 MiB of a file?",
	  "hipec status --page 3 /srv/data/index:1048576" },
	{ "status", "For node_exporter's collector of text files:",
	  "hipec status --metrics -o /var/lib/prometheus/node-exporter/hipec.prom" },
	{ "top", "Every 5 seconds, the busiest one first:",
	  "hipec top --interval 5 --sort faults" },
	{ "top", "The same in a browser, on a port that is free:",
	  "hipec top --serve --port 0" },
	{ "log", "The last five ends:",
	  "hipec log --last 5" },
	{ "record", "All containers for a minute:",
	  "hipec record --all --seconds 60 -o minute.record" },
	{ "record", "Decide again what a record has:",
	  "hipec record --check minute.record" },
	{ "doctor", "What is missing here?",
	  "hipec doctor" },
};

/**
 * cli_examples_print() - print the examples of a verb, if it has some
 * @verb: its name
 */
void cli_examples_print(const char *verb)
{
	const char *head = "\nExamples:\n";
	size_t i;

	for (i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		if (!strcmp(examples[i].verb, verb)) {
			printf("%s  %s\n    %s\n", head, examples[i].what,
			       examples[i].command);
			head = "";
		}
}
