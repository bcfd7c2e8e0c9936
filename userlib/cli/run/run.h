/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hipec run: a program as it is, whose files are those of one container. In place, the
 * program gets a cgroup of its own, and what is opened there is the container's. With
 * regions, a library in the program has its file maps be regions. The command stays
 * beside it: it has the container and the regions, hands those out to whoever asks,
 * does something every now and then, and tells at the end what came of it.
 *
 * Interface:
 * run_place_begin(), _end()  the program's cgroup, in place         place.c
 * run_serve_begin(), _end()  the socket that the library asks at    serve.c
 * run_serve()                answer what has come
 * run_regions_flush()        have what was stored be in the files   region.c
 * run_region_get(), _again() the region of a file
 * run_regions_free()
 * run_report()               what came of it                        report.c
 * run_amp_begin(), _serve(), _end(), _free()  feed the policy       amp.c
 */
#ifndef HIPEC_CLI_RUN_H
#define HIPEC_CLI_RUN_H

#include <stdio.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "../../lib/hipec.h"
#include "../../run/proto.h"

#define RUN_MAX_REGIONS 1024

struct run_region {
	uint64_t number;
	uint64_t used;		/* when it was asked for last, in answers */
	uint64_t length;	/* bytes, whole pages */
	int fd, file;
	bool written;
	bool racy;		/* the file may have changed since, and nobody can tell */
	struct stat st;		/* of the file as it was attached */
};

struct run {
	/* As the user said. */
	const char *policy;
	bool league;		/* that is auto */
	const char *among;	/* its policies, or NULL */
	bool curve;		/* the policy plays with other budgets, too */
	uint64_t budget;	/* frames */
	uint32_t jit;		/* HIPEC_LOAD_JIT_*, or 0 */
	char *globs;		/* as RUN_MAP_ENV has them, or NULL */
	bool reserve, share, contract, strict, quiet, json;
	bool regions;		/* not in place: as asked, or since it may not */
	const char *output;	/* of the report, or NULL: standard error */

	char *hints;		/* file of what was learnt; NULL: by the program */
	bool no_hints;

	int device;		/* the container; -1: there is none */
	char *cgroup;		/* directory of the program's, in place; or NULL */
	int procs;		/* its cgroup.procs, or -1 */
	const char *program;
	char *plain;		/* why it runs without a container, or NULL */

	int socket;
	struct sockaddr_un name;
	struct run_region *region;
	unsigned int nr_regions, max_regions;
	uint64_t next_number;

	struct amp_loop *amp;	/* that feeds the policy, or NULL */

	/* Done every period_ms while the program runs, if it is not 0. */
	int period_ms;
	void (*every)(struct run *r);

	uint64_t nr_answers, nr_maps, nr_regions_made, nr_left, nr_refused;
};

int run_place_begin(struct run *r);
void run_place_end(struct run *r);

int run_serve_begin(struct run *r);
void run_serve(struct run *r);
void run_serve_end(struct run *r);

int run_region_get(struct run *r, enum run_kind kind, int file,
		   struct run_region **region);
struct run_region *run_region_again(struct run *r, uint64_t number);
void run_regions_flush(struct run *r);
void run_regions_free(struct run *r);

struct hipec_policy;
void run_amp_begin(struct run *r, const struct hipec_policy *p);
void run_amp_serve(struct run *r);
void run_amp_end(struct run *r);
void run_amp_free(struct run *r);

int run_report(struct run *r, int status);

#endif /* HIPEC_CLI_RUN_H */
