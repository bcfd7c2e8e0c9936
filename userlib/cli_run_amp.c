// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec run with a policy that is fed: the loop of amploop.h, and the file in which a
 * program's runs leave what they have learnt.
 */
#define _GNU_SOURCE	/* asprintf() */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "amploop.h"
#include "../module/pool/context.h"
#include "cli.h"
#include "cli_amp.h"
#include "cli_run.h"
#include "elffile.h"
#include "simfeed.h"

/* Where execvp() will find the program. Return: to be freed; NULL: nowhere. */
static char *find_program(const char *name)
{
	const char *from = getenv("PATH") ?: "/bin:/usr/bin";
	char *path, *real = NULL;

	if (strchr(name, '/'))
		return realpath(name, NULL);
	while (!real) {
		size_t n = strcspn(from, ":");

		if (asprintf(&path, "%.*s%s%s", (int)n, from, n ? "/" : "",
			     name) < 0)
			return NULL;
		if (!access(path, X_OK))
			real = realpath(path, NULL);
		free(path);
		if (!from[n])
			break;
		from += n + 1;
	}
	return real;
}

/**
 * amp_hints_name() - the file of a program's hints
 * @program: as it is started
 *
 * The name has the build id, or else a hash of the path: what is rebuilt begins anew.
 *
 * Context: any.
 * Return: a name to be freed; NULL: there is no such program, no home, or no memory.
 */
char *amp_hints_name(const char *program)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *path = find_program(program), *name = NULL, key[2 * ELF_ID_BYTES + 1];
	bool given = state && *state == '/';
	uint8_t id[ELF_ID_BYTES];
	struct elf_file elf;
	uint32_t bytes = 0, i;

	if (path && !elf_open(&elf, path)) {
		bytes = elf_build_id(&elf, id);
		elf_close(&elf);
	}
	for (i = 0; i < bytes; i++)
		sprintf(key + 2 * i, "%02x", id[i]);
	if (path && !bytes)
		sprintf(key, "%016llx", (unsigned long long)
			context_hash(CONTEXT_NONE, path, strlen(path)));
	if (path && (given || (home && *home == '/')) &&
	    asprintf(&name, "%s%s/hipec/amp/%s-%s.hints", given ? state : home,
		     given ? "" : "/.local/state", strrchr(path, '/') + 1,
		     key) < 0)
		name = NULL;
	free(path);
	return name;
}

/* The folders that a file is to be in. */
static int make_folders(char *name)
{
	char *slash = name;

	while ((slash = strchr(slash + 1, '/'))) {
		*slash = 0;
		if (mkdir(name, 0700) && errno != EEXIST) {
			int ret = -errno;

			*slash = '/';
			return ret;
		}
		*slash = '/';
	}
	return 0;
}

static void say(const char *name, int ret)
{
	cli_error("%s: %s; hints are left out", name, strerror(-ret));
}

/* What the runs before have left; a file that is damaged is told, and not used. */
static void read_hints(struct run *r, struct amp_state *state)
{
	FILE *in = r->hints ? fopen(r->hints, "re") : NULL;
	struct amp_error err;
	int ret;

	*state = (struct amp_state){ 0 };
	if (!in) {
		if (r->hints && errno != ENOENT)
			say(r->hints, -errno);
		return;
	}
	ret = amp_state_read(in, state, &err);
	fclose(in);
	if (!ret)
		return;
	amp_state_free(state);
	if (ret == -EINVAL)
		cli_error("%s:%llu: %s; hints are left out", r->hints,
			  (unsigned long long)err.line, err.text);
	else
		say(r->hints, ret);
}

/* In place at once, or not at all. */
static int write_hints(char *name, const struct amp_state *state)
{
	int ret = make_folders(name), fd;
	char *new = NULL;
	FILE *out = NULL;

	if (!ret && asprintf(&new, "%s.XXXXXX", name) < 0)
		return -ENOMEM;
	if (ret)
		return ret;
	fd = mkstemp(new);
	if (fd < 0 || !(out = fdopen(fd, "w")))
		ret = -errno;
	if (fd >= 0 && !out)
		close(fd);
	if (!ret)
		ret = amp_state_write(out, state);
	if (out && fclose(out) && !ret)
		ret = -errno;
	if (!ret && rename(new, name))
		ret = -errno;
	if (ret && fd >= 0)
		unlink(new);
	free(new);
	return ret;
}

/**
 * run_amp_begin() - feed the container's policy, if it wants that
 * @r: with its container
 * @p: policy
 *
 * Without it the policy runs all the same, as its default.
 *
 * Context: any.
 */
void run_amp_begin(struct run *r, const struct hipec_policy *p)
{
	struct amp_state hints;
	int ret;

	if (r->device < 0 || !sim_feed_wants(p))
		return;
	r->amp = calloc(1, sizeof(*r->amp));
	if (!r->amp) {
		cli_error("%s", strerror(ENOMEM));
		return;
	}
	if (r->no_hints) {
		free(r->hints);
		r->hints = NULL;
	} else if (!r->hints) {
		r->hints = amp_hints_name(r->program);
	}
	read_hints(r, &hints);
	ret = amp_loop_attach(r->amp, r->device, p, r->budget, &hints);
	amp_state_free(&hints);
	if (!ret)
		return;
	cli_error("%s: %s; it is not fed", r->policy, strerror(-ret));
	amp_loop_close(r->amp);
	free(r->amp);
	r->amp = NULL;
}

/* Take what is there. A container that has ended tells nothing more. */
void run_amp_serve(struct run *r)
{
	int ret = amp_loop_serve(r->amp);

	if (!ret)
		return;
	close(r->amp->fd);
	r->amp->fd = -1;
	if (ret < 0)
		cli_error("samples: %s; the policy is fed no more",
			  strerror(-ret));
}

/* The program has ended: keep what was learnt. */
void run_amp_end(struct run *r)
{
	int ret;

	if (!r->amp)
		return;
	if (r->amp->fd >= 0)
		run_amp_serve(r);
	ret = amp_loop_state(r->amp);
	if (!ret && r->hints && r->amp->samples)
		ret = write_hints(r->hints, &r->amp->state);
	if (ret)
		cli_error("%s: %s; what was learnt is lost", r->hints ?: "hints",
			  strerror(-ret));
}

void run_amp_free(struct run *r)
{
	if (r->amp)
		amp_loop_close(r->amp);
	free(r->amp);
	free(r->hints);
}
