// SPDX-License-Identifier: GPL-2.0-only
/*
 * Warnings by name: which there are, and which of them the command line wants.
 * Who finds them and who prints them is elsewhere.
 *
 * Interface:
 * ampc_warn_option()    one -W option
 * ampc_warn_help()      the list of --help=warnings
 * ampc_warn_name(), ampc_warn_is_on(), ampc_warn_is_error()
 */
#include "ampc.h"

static const struct {
	const char *name;	/* NULL: no warning, or one without a switch */
	bool is_default;
	const char *about;
} warnings[AMPC_NR_DIAGS] = {
#define X(id, name_, default_, about_) [AMPC_##id] = {                        \
		.name = name_, .is_default = default_, .about = about_ },
	AMPC_WARNINGS(X)
#undef X
};

/* The name of a warning for -W; NULL for what has none. */
const char *ampc_warn_name(enum ampc_diag_id id)
{
	return warnings[id].name;
}

/* Whether a warning is to be given at all. */
bool ampc_warn_is_on(const struct ampc *c, enum ampc_diag_id id)
{
	if (!warnings[id].name)
		return true;
	if (c->warn[id].is_on)
		return c->warn[id].is_on == AMPC_ON;
	return warnings[id].is_default || c->warn_all == AMPC_ON;
}

/* Whether a warning counts as an error. */
bool ampc_warn_is_error(const struct ampc *c, enum ampc_diag_id id)
{
	if (c->warn[id].is_error)
		return c->warn[id].is_error == AMPC_ON;
	return c->warn_error == AMPC_ON;
}

/* Cut @prefix off the front of @s. */
static bool take(const char **s, const char *prefix)
{
	size_t len = strlen(prefix);

	if (strncmp(*s, prefix, len))
		return false;
	*s += len;
	return true;
}

/**
 * ampc_warn_option() - take a -W option
 * @c:   compilation
 * @arg: what stands behind -W
 *
 * A later option overrides an earlier one of the same name; a name overrides
 * -Wall and -Werror wherever it stands.
 *
 * Return: whether there is such a warning.
 */
bool ampc_warn_option(struct ampc *c, const char *arg)
{
	enum ampc_switch to = take(&arg, "no-") ? AMPC_OFF : AMPC_ON;
	bool is_error, found = false;
	u32 id;

	if (!strcmp(arg, "all")) {
		c->warn_all = to;
		return true;
	}
	if (!strcmp(arg, "error")) {
		c->warn_error = to;
		return true;
	}
	is_error = take(&arg, "error=");
	for (id = 0; id < AMPC_NR_DIAGS; id++) {
		if (!warnings[id].name || strcmp(warnings[id].name, arg))
			continue;
		if (is_error)
			c->warn[id].is_error = to;
		if (!is_error || to == AMPC_ON)
			c->warn[id].is_on = to;
		found = true;
	}
	return found;
}

/* List the names, and what they are about. */
void ampc_warn_help(FILE *out)
{
	const char *last = "";
	u32 id;

	for (id = 0; id < AMPC_NR_DIAGS; id++) {
		if (!warnings[id].name || !strcmp(warnings[id].name, last))
			continue;
		last = warnings[id].name;
		fprintf(out, "  -W%-20s  %-9s %s\n", last,
			warnings[id].is_default ? "" : "(-Wall)",
			warnings[id].about);
	}
}
