/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --policy auto and --curve of live containers: the policies of their leagues, and how
 * those stand.
 *
 * Interface:
 * cli_league_begin()  policies play beside the one that runs
 * cli_league_read()   how they stand
 * cli_league_read_all()  those of all containers
 * cli_league_print()  the same as a table
 * cli_league_line()   in a line
 * cli_league_json()   for programs
 * cli_league_is(), cli_league_is_rival(), cli_league_saving(), _put_saving(), _why()
 * cli_curve_begin()   the policy that runs plays with other budgets     curve.c
 * cli_curve_is_filled()  whether a budget has been used up
 * cli_curve_is(), _print(), _line(), _json()  what it misses with them
 */
#ifndef HIPEC_CLI_LEAGUE_H
#define HIPEC_CLI_LEAGUE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../lib/hipec.h"
#include "state.h"

#define CLI_LEAGUE "auto"	/* as a policy's name */

/* The budgets of a curve, in quarters of the container's. */
#define CLI_CURVE { 1, 2, 8, 16 }

struct cli_league {
	struct hipec_standing team[HIPEC_MAX_TEAMS];
	uint32_t nr;
};

struct json_object;
int cli_league_begin(int device, const char *among);
int cli_league_read(int device, uint64_t id, struct cli_league *l);
struct cli_league *cli_league_read_all(int device, const struct cli_state *list);
void cli_league_print(const struct cli_league *l);
void cli_league_line(const struct cli_league *l, char *text, size_t size);
struct json_object *cli_league_json(const struct cli_league *l);
bool cli_league_is(const struct cli_league *l);
bool cli_league_is_rival(const struct hipec_standing *s);
bool cli_league_saving(const struct hipec_standing *s, double *percent, double *error);
void cli_league_put_saving(char *cell, const struct hipec_standing *s);
const char *cli_league_why(int err);

int cli_curve_begin(int device);
bool cli_curve_is_filled(const struct hipec_standing *s, uint64_t frames);
bool cli_curve_is(const struct cli_league *l);
void cli_curve_print(const struct cli_league *l, uint64_t frames);
void cli_curve_line(const struct cli_league *l, uint64_t frames, char *text, size_t size);
struct json_object *cli_curve_json(const struct cli_league *l, uint64_t frames);

#endif /* HIPEC_CLI_LEAGUE_H */
