// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace into a file, and the names of its form.
 */
#define _GNU_SOURCE	/* asprintf(), strdupa() */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cli.h"
#include "trace.h"

int cli_trace_form(const char *option, const char *name, bool writes,
		   enum trace_form *form)
{
	char list[512] = "";
	enum trace_form i;

	*form = trace_form_named(name);
	if (*form != TRACE_ANY && (!writes || trace_forms[*form].write))
		return CLI_OK;
	for (i = TRACE_ANY + 1; i < TRACE_NR_FORMS; i++)
		if (!writes || trace_forms[i].write)
			snprintf(list + strlen(list),
				 sizeof(list) - strlen(list), "%s%s",
				 *list ? ", " : "", trace_form_names[i]);
	cli_error("%s: want one of %s, not '%s'", option, list,
		  cli_clean(strdupa(name)));
	return CLI_USAGE;
}

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && !strcmp(name + n - m, end);
}

static enum trace_form form_of_name(const char *name)
{
	if (ends_with(name, ".trace"))
		return TRACE_BINARY;
	if (ends_with(name, ".csv"))
		return TRACE_CSV;
	if (ends_with(name, ".oracleGeneral") ||
	    ends_with(name, ".oracleGeneral.bin"))
		return TRACE_ORACLE;
	return TRACE_TEXT;
}

/* Into @out; its name is @name. */
static int write_to(struct sim_trace *t, enum trace_form form, const char *name,
		    FILE *out)
{
	int ret = trace_write(t, form, out);

	errno = 0;
	if (!ret && (fflush(out) || ferror(out)))
		ret = errno ? -errno : -EIO;
	if (ret)
		cli_error("%s: %s", name, strerror(-ret));
	return ret ? CLI_FAILED : CLI_OK;
}

/* A file appears when it is complete; what is no file is written as it is. */
int cli_trace_write(struct sim_trace *t, enum trace_form form, const char *name)
{
	char *partial = NULL;
	struct stat st;
	FILE *out;
	int ret;

	if (form == TRACE_ANY)
		form = form_of_name(name);
	if (!strcmp(name, "-"))
		return write_to(t, form, "standard output", stdout);
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
