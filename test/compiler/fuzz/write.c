// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policies by chance that keep all rules of the language: what ampc refuses of
 * them is a bug, here or there. Commands, events and system integers come from
 * the tables.
 *
 * An event calls only those with a higher number, and every label that is used
 * is set once; write_expr.c keeps the rules of expressions.
 */
#include <ctype.h>

#include "write.h"

#define NR_USER 7	/* events of the policy's own: calls are 8 deep at most */
#define MAX_DEPTH 6	/* statements and expressions in each other */

static void stmt(struct writer *w, u32 depth);

/* A keyword, in any case. */
static void word(struct writer *w, const char *s)
{
	bool shout = one_in(w->state, 50);

	for (; *s; s++)
		put(w, "%c", shout ? toupper((u8)*s) : *s);
	put(w, " ");
}

static void space(struct writer *w)
{
	static const char *const spaces[] = {
		" ", "\n", "\t", "\r\n", "/* ; } */", "// { (\n", "/**/ ",
	};

	put(w, "%s", pick(w, 4) ? "\n" : spaces[pick(w, ARRAY_SIZE(spaces))]);
}

static void call_event(struct writer *w)
{
	u32 first = w->event + 1;

	if (first < w->nr_users)
		put(w, "U%u()", first + pick(w, w->nr_users - first));
}

static void block(struct writer *w, u32 depth)
{
	u32 n = pick(w, 4);

	put(w, "{");
	space(w);
	while (n--)
		stmt(w, depth);
	put(w, "}");
}

static void inner(struct writer *w, u32 depth)
{
	if (pick(w, 3))
		block(w, depth);
	else
		stmt(w, depth);
}

static void loop(struct writer *w, u32 depth)
{
	w->loops++;
	switch (pick(w, 3)) {
	case 0:
		word(w, "while");
		put(w, "(");
		write_condition(w, depth);
		put(w, ")");
		inner(w, depth);
		break;
	case 1:
		word(w, "do");
		inner(w, depth);
		word(w, "while");
		put(w, "(");
		write_condition(w, depth);
		put(w, ");");
		break;
	default:
		word(w, "for");
		put(w, "(");
		if (pick(w, 4))
			write_effect(w, 1);
		put(w, ";");
		if (pick(w, 4))
			write_condition(w, depth);
		put(w, ";");
		if (pick(w, 4))
			write_effect(w, 1);
		put(w, ")");
		inner(w, depth);
	}
	w->loops--;
}

static void jump(struct writer *w)
{
	u32 i = pick(w, NR_LABELS);

	switch (pick(w, 4)) {
	case 0:
		put(w, "return;");
		break;
	case 1:
		w->is_used[i] = true;
		put(w, "goto L%u;", i);
		break;
	default:
		if (w->loops)
			put(w, pick(w, 2) ? "break;" : "continue;");
		else
			put(w, ";");
	}
}

static void label(struct writer *w)
{
	u32 i = pick(w, NR_LABELS);

	if (w->is_set[i])
		return;
	w->is_set[i] = true;
	put(w, "L%u: ", i);
}

static void stmt(struct writer *w, u32 depth)
{
	if (!w->left || !depth) {
		put(w, ";");
		return;
	}
	w->left--;
	depth--;
	if (one_in(w->state, 12))
		label(w);
	switch (pick(w, 16)) {
	case 0:
		block(w, depth);
		break;
	case 1:
	case 2:
	case 3:
		word(w, "if");
		put(w, "(");
		write_condition(w, depth);
		put(w, ") ");
		inner(w, depth);
		if (pick(w, 2)) {
			put(w, " ");
			word(w, "else");
			inner(w, depth);
		}
		break;
	case 4:
	case 5:
		loop(w, depth);
		break;
	case 6:
		jump(w);
		break;
	case 7:
		call_event(w);
		put(w, ";");
		break;
	default:
		write_effect(w, depth);
		put(w, ";");
	}
	space(w);
}

static void end_event(struct writer *w)
{
	u32 i;

	for (i = 0; i < NR_LABELS; i++) {
		if (w->is_used[i] && !w->is_set[i])
			put(w, "L%u: ;\n", i);
		w->is_used[i] = w->is_set[i] = false;
	}
	put(w, "}\n\n");
}

static void event(struct writer *w, const char *name, u32 number)
{
	word(w, "Event");
	put(w, "%s", name);
	if (number < NR_USER)
		put(w, "%u", number);
	put(w, "()\n{\n");
	w->event = number < NR_USER ? number : (u32)-1;
	w->left = pick(w, one_in(w->state, 20) ? 400 : 20);
	while (w->left && pick(w, 30))
		stmt(w, 1 + pick(w, MAX_DEPTH));
	end_event(w);
}

static void declarations(struct writer *w)
{
	static const char *const qualifiers[] = {
		"", "", "", "param ", "counter ", "*", "param counter ",
	};
	u32 i;

	put(w, "%sInt timer;\n", qualifiers[pick(w, 6)]);
	for (i = 0; i < w->nr_vars; i++)
		put(w, "%sInt v%u%s;\n",
		    qualifiers[pick(w, ARRAY_SIZE(qualifiers))], i,
		    pick(w, 2) ? " = -3" : "");
	if (pick(w, 2))
		put(w, "param Int in = 2 in %u..0x%x - -1, most in -1..%u;\n",
		    pick(w, 3), 2 + pick(w, 9), pick(w, 5));
	for (i = 0; i < w->nr_consts; i++)
		put(w, "const Int c%u = %u;\n", i, pick(w, 5));
	for (i = 0; i < w->nr_arrays; i++) {
		w->length[i] = 1 + pick(w, 100);
		put(w, "%sInt a%u[%u];\n",
		    i < w->nr_arrays - w->nr_shared ? "" : "shared ", i,
		    w->length[i]);
	}
	for (i = 0; i < w->nr_fields; i++)
		put(w, "Field f%u;\n", i);
	for (i = 0; i < w->nr_pages; i++) {
		put(w, "Page ");
		write_page_name(w, i);
		put(w, ";\n");
	}
	for (i = 0; i < w->nr_queues + w->nr_groups; i++) {
		put(w, "Queue ");
		if (i < w->nr_queues)
			write_queue_name(w, i);
		else
			put(w, "g%u[4]", i - w->nr_queues);
		if (w->nr_fields && one_in(w->state, 3))
			put(w, " by f%u", pick(w, w->nr_fields));
		put(w, ";\n");
	}
}

/**
 * write_policy() - write a policy that must compile
 * @t:     gets it
 * @state: of the random numbers
 */
void write_policy(struct text *t, u64 *state)
{
	struct writer w = { .out = t, .state = state };
	bool has_timer = pick(&w, 2);
	u32 i;

	text_set(t, "", 0);
	w.nr_vars = 1 + pick(&w, 9);
	w.nr_consts = pick(&w, 4);
	w.nr_pages = 1 + pick(&w, 4);
	w.nr_queues = 1 + pick(&w, 5);
	w.nr_fields = pick(&w, 6);
	w.nr_arrays = pick(&w, 5);
	w.nr_shared = w.nr_arrays ? pick(&w, w.nr_arrays + 1) : 0;
	w.nr_groups = pick(&w, 3);
	w.nr_users = pick(&w, NR_USER + 1);

	word(&w, "Event");
	put(&w, "Init()\n{\n");
	declarations(&w);
	if (pick(&w, 2))
		put(&w, "Ghosts %u;\n", pick(&w, HIPEC_MAX_GHOSTS + 1));
	if (has_timer && pick(&w, 2))
		put(&w, "Timer %u;\n", HIPEC_MIN_TIMER + pick(&w, 1000));
	w.event = -1;
	w.left = pick(&w, 5);
	while (w.left)
		stmt(&w, 3);
	end_event(&w);
	for (i = 0; i < w.nr_users / 2; i++)
		event(&w, "U", i);
	for (i = HIPEC_EVENT_PAGEFAULT; i < HIPEC_EVENT_USER; i++)
		if (hipec_vm_event_text(i) &&
		    (i == HIPEC_EVENT_TIMER ? has_timer :
		     i <= HIPEC_EVENT_REPLACE || pick(&w, 2)))
			event(&w, hipec_vm_event_text(i), NR_USER);
	for (; i < HIPEC_EVENT_USER + w.nr_users; i++)
		if (i - HIPEC_EVENT_USER >= w.nr_users / 2)
			event(&w, "U", i - HIPEC_EVENT_USER);
}
