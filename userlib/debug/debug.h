/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hipec sim --step: a session, which runs a trace through a policy as sim.c does and
 * stops between commands. Going back is running once more from the start: a
 * simulation does the same each time.
 *
 * Names: @d is the session, @s the simulator of the run that is under way, a
 * moment is where it can stop, counted from 1: before an access, before a
 * command, where a policy has ended, and behind the last access.
 *
 * Interface:
 * dbg_run()           a session to its end              debug.c
 * dbg_go(), _quit(), _wrong()  what to do until the next stop     go.c
 * dbg_lines_*()       what the user says                line.c
 * dbg_obey()          do it                             command.c
 * dbg_stop_*()        where to stop                     stop.c
 * dbg_print_*()       what the machine holds            print.c
 * dbg_show_*()        where it stands                   show.c
 * dbg_source_*()      the text of the policy            source.c
 * dbg_why()           what became of a page             why.c
 */
#ifndef HIPEC_DEBUG_H
#define HIPEC_DEBUG_H

#include "../sim/host.h"

#define DBG_NAME 64	/* longest text of a place or a name, bytes */

/* The text of a policy. */
struct dbg_source {
	char *text;	/* cut into lines; NULL: there is none */
	char **line;	/* from 1 */
	u32 nr_lines;
	char name[DBG_NAME];	/* of the file, without its folder */
};

enum dbg_stop_kind { DBG_STOP_AT, DBG_STOP_IN, DBG_STOP_LINE, DBG_STOP_PAGE,
		     DBG_STOP_MISS };

struct dbg_stop {
	enum dbg_stop_kind kind;
	u32 id;
	u64 n;		/* access, event, line or page */
};

#define DBG_MAX_STOPS 64

/* What the user says: from a terminal, from standard input, or from arguments. */
struct dbg_lines {
	char **given;	/* of --command, or NULL */
	size_t nr_given;
	bool terminal;
	char *line;	/* the last one */
	size_t size;
};

/* Where a run stands. */
enum dbg_at { DBG_ACCESS, DBG_COMMAND, DBG_ENDED, DBG_OVER };

/* Until when a run goes on, but for stops. */
enum dbg_goal {
	DBG_TO_STOP,
	DBG_TO_COMMAND,	/* so many commands */
	DBG_TO_LINE,	/* lines of the source */
	DBG_TO_EVENT,	/* events that the host runs */
	DBG_TO_ACCESS,	/* accesses */
	DBG_TO_END,	/* the end of this event */
	DBG_TO_MOMENT,	/* moment number so-and-so, past all stops */
	DBG_TO_NUMBER,	/* access number so-and-so, past all stops */
};

struct dbg {
	struct sim_watch watch;		/* first */
	const struct hipec_policy *policy;
	const struct trace *trace;
	u32 frames;
	enum sim_mode mode;
	struct dbg_source source;
	struct dbg_lines lines;
	struct sim_result result;

	/* Of the run that is under way. */
	const struct sim *s;
	u64 moment;
	enum dbg_at at;
	u32 pgno;			/* of the access */
	bool write;
	enum sim_touch touch;
	bool in_event;
	u64 nr_events;			/* that the host has begun */
	struct sim_command c;		/* the next one, or the last of its event */
	bool entered;			/* an event, with @c */
	bool new_line;			/* and a line */
	char reason[2 * DBG_NAME];	/* to stop at the next moment, or empty */
	u64 shown_access, shown_event;	/* which the user was told of */

	enum dbg_goal goal;
	u64 left;			/* of what the goal counts, or its number */
	bool leave;			/* the run is of no interest any more */
	bool again;			/* and another one is */
	struct dbg_stop stop[DBG_MAX_STOPS];
	u32 nr_stops, last_stop;
	u32 nr_wrong;			/* lines that were no commands */
	char last_line[DBG_NAME];	/* which went on, or empty */
};

int dbg_run(struct dbg *d);

void dbg_go(struct dbg *d, enum dbg_goal goal, u64 n);
void dbg_quit(struct dbg *d);
void __attribute__((format(printf, 2, 3))) dbg_wrong(struct dbg *d,
						     const char *format, ...);
bool dbg_number(const char *word, u64 *n);

void dbg_lines_begin(struct dbg_lines *l, char **given, size_t nr);
char *dbg_lines_next(struct dbg_lines *l);
void dbg_lines_end(struct dbg_lines *l);
bool dbg_interrupted(void);

bool dbg_obey(struct dbg *d, char *line);

void dbg_stop_command(struct dbg *d, char **word, size_t nr);
void dbg_delete_command(struct dbg *d, const char *word);
const struct dbg_stop *dbg_stop_here(const struct dbg *d);
void dbg_stop_fate(struct dbg *d, u32 pgno, enum sim_fate fate);
void dbg_stop_text(const struct dbg *d, const struct dbg_stop *stop, char *text,
		   size_t size);

void dbg_print_queues(struct dbg *d, const char *name);
void dbg_print_operands(struct dbg *d, const char *name);
void dbg_print_page(struct dbg *d, u32 pgno);
void dbg_queue_text(const struct hipec_vm *vm, u32 q, char text[DBG_NAME]);

void dbg_show_place(struct dbg *d);
void dbg_show_calls(struct dbg *d);
void dbg_show_commands(struct dbg *d, const char *event);
void dbg_show_source(struct dbg *d, u64 line);
void dbg_place_text(const struct dbg *d, const struct sim_command *c,
		    char text[2 * DBG_NAME]);
const char *dbg_line_text(const struct dbg *d, u32 line);

void dbg_source_open(struct dbg_source *source, const struct policy *p,
		     const char *given);
void dbg_source_close(struct dbg_source *source);

int dbg_why(struct dbg *d, u32 pgno, u64 most);

#endif /* HIPEC_DEBUG_H */
