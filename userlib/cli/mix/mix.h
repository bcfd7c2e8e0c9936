/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `hipec mix` consists of: applications, which a file describes, a machine,
 * which options do, and the orders of submission that are to be run.
 *
 * Interface:
 * mix_file_read(), mix_apps_free()  the file of applications   file.c
 * mix_table_print(), mix_json()     what came of an order      table.c
 * mix_profile_*()                   orders that are drawn      profile.c
 */
#ifndef HIPEC_CLI_MIX_H
#define HIPEC_CLI_MIX_H

#include <json-c/json.h>

#include "../../sim/mix.h"
#include "../../profile/profile.h"

struct mix_job {
	const char *file;
	struct mix_machine machine;
	bool json;
	const char *orders;	/* NULL: that of the file; "all"; or names */
	struct profile_output output;	/* of a profile; file: NULL: there is none */
	struct mix_profile *profile;
	struct mix_app app[MIX_MAX_APPS];
	u32 nr_apps;
};

bool mix_time_parse(const char *text, u64 *ns);
int mix_file_read(struct mix_job *job);
void mix_apps_free(struct mix_job *job);

void mix_table_print(const struct mix_job *job, const struct mix_result *r);
struct json_object *mix_json(const struct mix_job *job,
			     const struct mix_result *r);

struct mix_profile *mix_profile_make(const struct mix_job *job, u32 nr_orders);
int mix_profile_run(const struct mix_job *job, struct mix_app *const *app,
		    const struct mix_result *before);
int mix_profile_show(const struct mix_job *job);
void mix_profile_free(struct mix_profile *p);

#endif /* HIPEC_CLI_MIX_H */
