// SPDX-License-Identifier: GPL-2.0-only
/*
 * watchdump POLICY FRAMES MODE [STOP] <TRACE: what a watcher of a simulation is
 * told, a line each; MODE is mapped or exact. For test/sim/test_simwatch.py.
 */
#include <stdlib.h>

#include "../../userlib/sim/host.h"
#include "../../userlib/trace/trace.h"

static u64 stop_at;

static void access_comes(struct sim_watch *w, const struct sim *s, u32 pgno,
			 bool write, enum sim_touch touch)
{
	static const char *const text[] = {
		[SIM_HIT] = "hit", [SIM_SOFT] = "soft", [SIM_FAULT] = "fault",
		[SIM_FIRST] = "first",
	};

	w->stop = s->nr_accesses == stop_at;
	printf("%llu %s %u %s\n", (unsigned long long)s->nr_accesses,
	       write ? "write" : "read", pgno, text[touch]);
}

static void event_is(struct sim_watch *w, const struct sim *s, u32 event,
		     bool begins)
{
	(void)w;
	printf(" %s %s %u\n", begins ? "begin" : "end",
	       hipec_image_event_name(s->core.vm.policy, event),
	       sim_event_page(&s->core.vm));
}

static void page_is(struct sim_watch *w, const struct sim *s, u32 h,
		    enum sim_fate fate)
{
	(void)w;
	printf("   page %u %s\n", s->core.vm.page[h].pgno, sim_fate_text(fate));
}

static void command_comes(struct sim_watch *w, const struct sim *s,
			  const struct sim_command *c)
{
	const struct hipec_policy *p = s->core.vm.policy;
	char line[128];
	struct hipec_text text;

	(void)w;
	hipec_text_init(&text, line, sizeof(line));
	hipec_disasm(p, p->words[c->word], &text);
	printf("  %u:%s+%u %u %s\n", c->depth,
	       hipec_image_event_name(p, c->event), c->command, c->line, line);
}

static void has_ended(struct sim_watch *w, const struct sim *s)
{
	(void)w;
	printf(" ended: %s\n", s->core.vm.exit.message);
}

static void is_over(struct sim_watch *w, const struct sim *s)
{
	(void)w;
	printf("over: %llu accesses\n", (unsigned long long)s->nr_accesses);
}

int main(int argc, char **argv)
{
	struct sim_watch w = {
		.access = access_comes, .event = event_is, .page = page_is,
		.command = command_comes, .ended = has_ended,
		.over = is_over,
	};
	struct policy p = { 0 };
	struct trace t;
	struct trace_error err;
	struct sim_result r = { 0 };
	struct hipec_text why;
	char line[512];
	int ret;

	if (argc < 4)
		return 2;
	hipec_text_init(&why, line, sizeof(line));
	if (policy_open(&p, argv[1], &why) || p.reference)
		return 2;
	if (trace_read(&t, "-", stdin, &(struct trace_options){ 0 }, &err))
		return 2;
	stop_at = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
	ret = sim_run_watched(&p.policy, &t, strtoul(argv[2], NULL, 10),
			      strcmp(argv[3], "exact") ? SIM_MAPPED : SIM_EXACT,
			      &r, NULL, &w);
	printf("%d: %llu commands\n", ret, (unsigned long long)r.commands);
	trace_free(&t);
	policy_close(&p);
	return 0;
}
