// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file in which a program's runs leave what they have learnt, for the next one.
 *
 * Interface: amp.h.
 */
#define _GNU_SOURCE	/* asprintf() */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loop.h"
#include "../../../module/context/hash.h"
#include "../cli.h"
#include "amp.h"
#include "elffile.h"

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

/**
 * amp_hints_read() - what the runs before have left
 * @name:  of the file, or NULL: there is none
 * @state: filled, empty where there is nothing to read; amp_state_free() it
 *
 * A file that is damaged is told, and not used.
 */
void amp_hints_read(const char *name, struct amp_state *state)
{
	FILE *in = name ? fopen(name, "re") : NULL;
	struct amp_error err;
	int ret;

	*state = (struct amp_state){ 0 };
	if (!in) {
		if (name && errno != ENOENT)
			say(name, -errno);
		return;
	}
	ret = amp_state_read(in, state, &err);
	fclose(in);
	if (!ret)
		return;
	amp_state_free(state);
	if (ret == -EINVAL)
		cli_error("%s:%llu: %s; hints are left out", name,
			  (unsigned long long)err.line, err.text);
	else
		say(name, ret);
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
 * amp_hints_keep() - a loop has ended: keep what was learnt
 * @name: of the file, or NULL: nowhere
 * @l:    loop; its state is what was learnt
 *
 * What is not kept is told. Without a sample there is nothing to keep.
 *
 * Return: 0; -ENOMEM; what making the file said.
 */
int amp_hints_keep(char *name, struct amp_loop *l)
{
	int ret = amp_loop_state(l);

	if (!ret && name && l->samples)
		ret = write_hints(name, &l->state);
	if (ret)
		cli_error("%s: %s; what was learnt is lost", name ?: "hints",
			  strerror(-ret));
	return ret;
}
