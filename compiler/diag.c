// SPDX-License-Identifier: GPL-2.0-only
/*
 * Diagnostics: collected by all passes, sorted by place.
 *
 * Interface:
 * ampc_report()        (ampc.h) say something about a place
 * ampc_level_text()    error, warning or note
 */
#include "ampc.h"

static const enum ampc_level levels[] = {
#define X(name, level, text) [AMPC_##name] = AMPC_##level,
	AMPC_DIAGS(X)
#undef X
};

static bool is_before(const struct ampc_loc *a, const struct ampc_loc *b)
{
	return a->line != b->line ? a->line < b->line : a->col < b->col;
}

/* Passes report in their own order; the reader wants that of the source. */
static void insert(struct ampc *c, struct ampc_diag *d)
{
	struct ampc_diag **link = &c->diags;

	/* Each pass has its own in that order, mostly. */
	if (c->newest && !is_before(&d->loc, &c->newest->loc))
		link = &c->newest->next;
	while (*link && !is_before(&d->loc, &(*link)->loc))
		link = &(*link)->next;
	d->next = *link;
	*link = d;
	c->newest = d;
}

static void append_note(struct ampc_diag *to, struct ampc_diag *note)
{
	struct ampc_diag **link = &to->notes;

	while (*link)
		link = &(*link)->next;
	*link = note;
}

/**
 * ampc_diag_add() - keep a diagnostic; use ampc_report()
 * @c:   compilation
 * @loc: place; line 0 for the file as a whole
 * @id:  row of AMPC_DIAGS; a note belongs to the error or warning before it
 * @fmt: text of the row, and its arguments
 */
void ampc_diag_add(struct ampc *c, struct ampc_loc loc, enum ampc_diag_id id,
		   const char *fmt, ...)
{
	enum ampc_level level = levels[id];
	struct ampc_diag *d;
	va_list ap;
	int n;

	if (level == AMPC_WARNING && !ampc_warn_is_on(c, id)) {
		c->last = NULL;
		return;
	}
	if (level == AMPC_WARNING && ampc_warn_is_error(c, id))
		level = AMPC_ERROR;
	if (level == AMPC_ERROR && c->nr_errors == AMPC_MAX_ERRORS) {
		c->has_more_errors = true;
		c->last = NULL;
		return;
	}
	if (level == AMPC_NOTE && !c->last)
		return;
	d = ampc_alloc(c, sizeof(*d));
	d->loc = loc;
	d->id = id;
	d->level = level;
	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	d->text = ampc_alloc(c, n + 1);
	va_start(ap, fmt);
	vsnprintf(d->text, n + 1, fmt, ap);
	va_end(ap);
	if (level == AMPC_NOTE) {
		append_note(c->last, d);
		return;
	}
	c->nr_errors += level == AMPC_ERROR;
	c->last = d;
	insert(c, d);
}

/* The word for a level. */
const char *ampc_level_text(enum ampc_level level)
{
	static const char *const names[] = {
		[AMPC_ERROR] = "error",
		[AMPC_WARNING] = "warning",
		[AMPC_NOTE] = "note",
	};

	return names[level];
}
