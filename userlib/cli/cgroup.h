/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cgroups of version 2.
 *
 * Interface:
 * cli_cgroup_own()     the directory of our own
 * cli_cgroup_budget()  the largest budget that can be used in one
 * cli_cgroup_why()     why one cannot have a policy
 */
#ifndef HIPEC_CLI_CGROUP_H
#define HIPEC_CLI_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

char *cli_cgroup_own(void);
uint64_t cli_cgroup_budget(const char *cgroup);
const char *cli_cgroup_why(int err);

#endif /* HIPEC_CLI_CGROUP_H */
