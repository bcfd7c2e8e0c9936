// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace into a file.
 */
#define _GNU_SOURCE	/* asprintf(), strdupa() */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cli.h"
#include "trace.h"

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && !strcmp(name + n - m, end);
}

/* What it ends with, in front of ".zst". */
static enum trace_form form_of_name(const char *name)
{
	static const struct {
		const char *end;
		enum trace_form form;
	} ends[] = {
		{ ".trace", TRACE_BINARY }, { ".csv", TRACE_CSV },
		{ ".oracleGeneral", TRACE_ORACLE }, { ".oracleGeneral.bin", TRACE_ORACLE },
	};
	char zst[32];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		snprintf(zst, sizeof(zst), "%s.zst", ends[i].end);
		if (ends_with(name, ends[i].end) || ends_with(name, zst))
			return ends[i].form;
	}
	return TRACE_TEXT;
}

/* What a form has no room for is said, not dropped. */
static void say_losses(const struct trace *t, enum trace_form form)
{
	bool names = form == TRACE_TEXT || form == TRACE_BINARY || form == TRACE_FIO;
	bool tags = form == TRACE_TEXT || form == TRACE_BINARY;
	u64 writes = 0;
	size_t i;

	for (i = 0; i < t->nr_runs && form == TRACE_ORACLE; i++)
		writes += t->run[i].write ? t->run[i].nr : 0;
	if (writes)
		cli_error("%s has no writes: %llu of them are reads in it",
			  trace_form_names[form], (unsigned long long)writes);
	if (t->nr_regions && !names)
		cli_error("%s has no files: their names are not in it", trace_form_names[form]);
	if (t->nr_tags > 1 && !tags)
		cli_error("%s has no hints and no program contexts: they are not in it",
			  trace_form_names[form]);
}

/* Compressed output is a stream of its own; its errors are the errors of @out. */
static int write_packed(struct trace *t, enum trace_form form, FILE *out)
{
	FILE *packed = trace_zstd_writer(out);
	int ret = packed ? trace_write(t, form, packed) : -ENOMEM;

	if (packed && fclose(packed) && !ret)
		ret = -errno;
	return ret;
}

/* Into @out; its name is @name. */
static int write_to(struct trace *t, enum trace_form form, const char *name,
		    FILE *out)
{
	int ret = ends_with(name, ".zst") && form != TRACE_BINARY ? write_packed(t, form, out) :
								    trace_write(t, form, out);

	errno = 0;
	if (!ret && (fflush(out) || ferror(out)))
		ret = errno ? -errno : -EIO;
	if (ret)
		cli_error("%s: %s", name, strerror(-ret));
	return ret ? CLI_FAILED : CLI_OK;
}

/* Whether a name has an ending that is kept. */
static int check_ending(const char *name)
{
	static const char *const others[] = { ".gz", ".xz", ".bz2", ".lz4" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (ends_with(name, others[i])) {
			cli_error("%s: what is written can be compressed by zstd, as .zst, and not as %s",
				  name, others[i]);
			return CLI_USAGE;
		}
	return CLI_OK;
}

/**
 * cli_trace_check() - whether a trace can be written, before it is made
 * @name: of a file, or "-"
 *
 * Return: 0 or an exit code, said.
 */
int cli_trace_check(const char *name)
{
	char *partial;
	struct stat st;
	int fd, error, ret = check_ending(name);

	if (ret || !strcmp(name, "-"))
		return ret;
	if (!stat(name, &st) && S_ISDIR(st.st_mode)) {
		cli_error("%s: %s", name, strerror(EISDIR));
		return CLI_FAILED;
	}
	if (!stat(name, &st) && !S_ISREG(st.st_mode))
		return CLI_OK;
	if (asprintf(&partial, "%s.partial", name) < 0) {
		cli_error("%s", strerror(ENOMEM));
		return CLI_FAILED;
	}
	fd = open(partial, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	error = errno;
	if (fd >= 0) {
		close(fd);
		unlink(partial);
	}
	free(partial);
	if (fd >= 0)
		return CLI_OK;
	cli_error("%s: %s", name, strerror(error));
	return CLI_FAILED;
}

/* A file appears when it is complete; what is no file is written as it is. */
int cli_trace_write(struct trace *t, enum trace_form form, const char *name)
{
	char *partial = NULL, target[PATH_MAX];
	struct stat st;
	FILE *out;
	int ret = check_ending(name);

	if (ret)
		return ret;
	if (form == TRACE_ANY)
		form = form_of_name(name);
	say_losses(t, form);
	if (!strcmp(name, "-"))
		return write_to(t, form, "standard output", stdout);
	/* A link stays one. */
	if (!lstat(name, &st) && S_ISLNK(st.st_mode) && realpath(name, target))
		name = target;
	if ((stat(name, &st) || S_ISREG(st.st_mode)) &&
	    asprintf(&partial, "%s.partial", name) < 0) {
		cli_error("%s", strerror(ENOMEM));
		return CLI_FAILED;
	}
	out = fopen(partial ? partial : name, "we");
	if (!out) {
		cli_error("%s: %s", name, strerror(errno));
		free(partial);
		return CLI_FAILED;
	}
	ret = write_to(t, form, name, out);
	if ((fclose(out) || (!ret && partial && rename(partial, name))) && !ret) {
		cli_error("%s: %s", name, strerror(errno));
		ret = CLI_FAILED;
	}
	if (ret && partial)
		unlink(partial);
	free(partial);
	return ret;
}
