/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line of hipec sim: arguments -> a job, and its rows as a table.
 *
 * Interface:
 * sim_args_parse()   arguments -> job                       args.c
 * sim_args_set(), sim_args_fill()  the same by steps, for other verbs
 * sim_column_find(), sim_table_print()  rows as a table     table.c
 */
#ifndef HIPEC_CLI_SIM_H
#define HIPEC_CLI_SIM_H

#include "../../job/job.h"

extern const struct option_row sim_options[];

int sim_args_parse(struct sim_job *job, int argc, char **argv);
int sim_args_set(struct sim_job *job, int opt, char *arg);
int sim_args_fill(struct sim_job *job);

bool sim_column_find(const char *name, enum sim_column *column);
const char *sim_column_nearest(const char *name);
void sim_table_print(const struct sim_job *job, const struct sim_rows *rows);

#endif /* HIPEC_CLI_SIM_H */
