/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --policy auto of live containers: the policies of their leagues, and how those stand.
 *
 * Interface:
 * cli_league_begin()  policies play beside the one that runs
 * cli_league_read()   how they stand
 * cli_league_print()  the same as a table
 * cli_league_line()   in a line
 * cli_league_json()   for programs
 */
#ifndef HIPEC_CLI_LEAGUE_H
#define HIPEC_CLI_LEAGUE_H

#include <stdint.h>
#include <stdio.h>

#include "../lib/hipec.h"

#define CLI_LEAGUE "auto"	/* as a policy's name */

struct cli_league {
	struct hipec_standing team[HIPEC_MAX_TEAMS];
	uint32_t nr;
};

struct json_object;
int cli_league_begin(int device, const char *among);
int cli_league_read(int device, uint64_t id, struct cli_league *l);
void cli_league_print(const struct cli_league *l);
void cli_league_line(const struct cli_league *l, char *text, size_t size);
struct json_object *cli_league_json(int device, uint64_t id);

#endif /* HIPEC_CLI_LEAGUE_H */
