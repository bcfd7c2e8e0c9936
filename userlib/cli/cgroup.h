/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cgroups of version 2.
 *
 * Interface:
 * cli_cgroup_own()     the directory of our own
 * cli_cgroup_divides() whether one can be made below another, and entered from there
 * cli_cgroup_budget()  the largest budget that can be used in one
 * cli_cgroup_why()     why one cannot have a policy
 * cli_cgroup_opened()  files that its processes have open
 */
#ifndef HIPEC_CLI_CGROUP_H
#define HIPEC_CLI_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

/* What gives a user of systemd's a cgroup that is the user's own. */
#define CLI_CGROUP_SCOPE "systemd-run --user --scope hipec run ..."

char *cli_cgroup_own(void);
int cli_cgroup_divides(int root, const char *cgroup);
uint64_t cli_cgroup_budget(const char *cgroup);
const char *cli_cgroup_why(int err);
void cli_cgroup_opened(const char *cgroup, uint64_t least,
		       void (*found)(const char *path, void *arg), void *arg);

#endif /* HIPEC_CLI_CGROUP_H */
