// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec record --check: whether a record's policies decide the same again.
 */
#include <errno.h>

#include "cli.h"
#include "../record/record.h"

/* One container's line, and why it is not the same. */
static int replay(const struct record_stream *s)
{
	static const char *const words[] = {
		[RECORD_SAME] = "all the same",
		[RECORD_DIFFERS] = "differs",
		[RECORD_LOST] = "the same up to a hole",
		[RECORD_DAMAGED] = "damaged",
	};
	struct record_replay r;

	if (record_replay(s->bytes, s->size, &r)) {
		cli_error("there is not enough memory");
		return CLI_FAILED;
	}
	printf("container %llu, %s of %s: %s events, %s decisions, %s\n",
	       (unsigned long long)s->id, *r.policy ? cli_clean(r.policy) : "?",
	       *r.comm ? cli_clean(r.comm) : "?",
	       CLI_NUMBER(r.nr_events), CLI_NUMBER(r.nr_decisions), words[r.verdict]);
	if (r.verdict == RECORD_SAME)
		return CLI_OK;
	printf("  %s\n", cli_clean(r.why));
	return CLI_FAILED;
}

static int cli_replay(int argc, char **argv)
{
	struct record_file f;
	struct hipec_text why;
	int ret = CLI_OK, err;
	char words[300];
	FILE *in;
	size_t i;

	if (cli_option(argc, argv, NULL, "") != -1 ||
	    cli_operands(argc, argv, 1, 1, "a record, of hipec record"))
		return CLI_USAGE;
	in = fopen(argv[optind], "rb");
	if (!in) {
		cli_error("%s: %s", argv[optind], strerror(errno));
		return CLI_FAILED;
	}
	hipec_text_init(&why, words, sizeof(words));
	err = record_file_read(&f, in, &why);
	fclose(in);
	if (err) {
		cli_error("%s: %s", argv[optind],
			  why.len ? words : strerror(-err));
		record_file_free(&f);
		return CLI_FAILED;
	}
	for (i = 0; i < f.nr_streams; i++)
		if (replay(&f.stream[i]))
			ret = CLI_FAILED;
	if (!f.nr_streams) {
		cli_error("%s: there is no container in it", argv[optind]);
		ret = CLI_FAILED;
	}
	if (f.cut)
		printf("the end of the file is missing; what is there was replayed\n");
	record_file_free(&f);
	return ret;
}

const struct cli_verb cli_verb_check = {
	.name = "--check", .of = "record", .was = "replay", .run = cli_replay,
	.usage = "FILE",
	.summary = "run a record's policies again, and compare each decision",
	.help = "Exit code 0 if all of them are the same, byte for byte; else 1, with the place"
		" of the first difference, hole or damage.",
};
