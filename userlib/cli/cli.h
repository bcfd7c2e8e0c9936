/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hipec command: one file per verb, or a folder, and cli.c that knows them.
 *
 * Interface:
 * struct cli_verb  all that there is to know of a verb
 * cli_examples_print()  of a verb, for its help
 * cli_trace_make()  a trace from its recipe, for other verbs
 */
#ifndef HIPEC_CLI_H
#define HIPEC_CLI_H

#include "../say/say.h"

struct trace;

/* What verbs are for, as hipec --help lists them. */
enum cli_group {
	CLI_GROUP_FIND,
	CLI_GROUP_RUN,
	CLI_GROUP_WATCH,
	CLI_GROUP_MACHINE,
	CLI_NR_GROUPS
};

/*
 * A verb, at the end of its file; or a form of one, with options and arguments of its own.
 * A form's name is a word behind its verb, or an option.
 */
struct cli_verb {
	const char *name;
	const char *of;		/* NULL: a verb; else the verb of which this is a form */
	const char *was;	/* the verb that a form was, which says so for a release; or NULL */
	const char *forms;	/* where no option is the first word, one of these is wanted: in
				   words; or NULL */
	int (*run)(int argc, char **argv);	/* argv[0] is @name; returns an exit code */
	const char *usage;	/* arguments; or NULL: it has forms alone */
	const char *summary;	/* one line, 69 columns at most */
	const char *help;	/* what else there is to say, or NULL */
	const struct option_row *options;	/* or NULL */
	const char *end;	/* what is said behind these, as of exit codes; or NULL */
	enum cli_group group;
};

/* In the order in which hipec --help has them, group by group; forms behind their verbs. */
#define CLI_VERBS(X) \
	X(try) X(trace) X(info) X(convert) X(make) X(play) X(sim) X(list) X(grade) X(step) \
	X(sweep) X(draw) X(tune) X(profile) X(mix) X(amp) X(detect) X(feed) \
	X(report) X(dis) X(run) X(attach) X(detach) X(swap) X(param) X(revoke) X(status) \
	X(page) X(metrics) X(top) X(serve) X(log) X(record) X(check) X(doctor)

#define X(verb) extern const struct cli_verb cli_verb_##verb;
CLI_VERBS(X)
#undef X

void cli_examples_print(const char *verb);
int cli_trace_make(struct trace *t, int argc, char **argv);

#endif /* HIPEC_CLI_H */
