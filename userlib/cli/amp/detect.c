// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec amp detect: what the contexts of a trace do.
 *
 * Interface: amp.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "../cli.h"
#include "../../job/input.h"
#include "amp.h"
#include "../../say/json.h"
#include "../../sim/feed.h"

#define MOST_BLOCKS (1u << 26)
#define MOST_EVERY 1000000000ull
#define USUAL_TOP 20

struct options {
	struct amp_params params;
	u64 every;	/* accesses of a period; 0: the whole trace is one */
	u64 top;	/* contexts of the table */
	bool json;
};

static int set_number(const char *option, const char *text, u64 most, u64 *n)
{
	char *end;

	errno = 0;
	*n = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *n && *n <= most)
		return CLI_OK;
	cli_error("--%s: want a number from 1 to %llu, not '%s'", option,
		  (unsigned long long)most, text);
	return CLI_USAGE;
}

static int set_rate(struct amp_params *p, const char *text)
{
	char *end;
	double rate = strtod(text, &end);

	p->limit = rate * AMP_ALL;
	if (*text >= '0' && *text <= '9' && !*end && rate <= 1 && p->limit)
		return CLI_OK;
	cli_error("--rate: want a share of the pages, above 0 and up to 1, not '%s'",
		  text);
	return CLI_USAGE;
}

/* As the simulator feeds. */
static int set_fed(struct options *o)
{
	sim_feed_params(o->params.method, &o->params);
	if (!o->every)
		o->every = SIM_FEED_EVERY;
	return CLI_OK;
}

static int set(struct options *o, int opt, char *arg)
{
	u64 n = 0;
	int ret = cli_input_set(opt, arg);

	if (ret >= 0)
		return ret;
	switch (opt) {
	case 'd':
		o->params.method = option_word(AMP_METHODS(OPTION_WORD) + 1, arg);
		return CLI_OK;
	case 'f':
		o->params.form = option_word(AMP_FORMS(OPTION_WORD) + 1, arg);
		o->params.fresh = o->params.form == AMP_PERIODIC;
		return CLI_OK;
	case 'e':
		return set_number("every", cli_clean(arg), MOST_EVERY, &o->every);
	case 'b':
		ret = set_number("blocks", cli_clean(arg), MOST_BLOCKS, &n);
		o->params.most = n;
		return ret;
	case 'r':
		return set_rate(&o->params, cli_clean(arg));
	case 't':
		return set_number("top", cli_clean(arg), UINT32_MAX, &o->top);
	case 'F':
		return set_fed(o);
	case 'j':
		o->json = true;
		return CLI_OK;
	}
	return CLI_USAGE;
}

static int parse(struct options *o, int argc, char **argv)
{
	int opt, ret = CLI_OK;

	optind = 1;
	while (!ret && (opt = cli_option(argc, argv, amp_options, "d")) != -1)
		ret = set(o, opt, optarg);
	return ret ?: cli_operands(argc, argv, 1, 1, "a trace");
}

/* What detection has found. */
struct found {
	struct amp_pattern *pattern;
	size_t nr, max;
	u64 none;	/* accesses without a context */
};

static int run(struct amp_detector *d, const struct options *o,
	       const struct trace *t, struct found *f)
{
	u64 seq = 0, next = o->every;
	size_t n;
	u32 i;

	for (n = 0; n < t->nr_runs; n++) {
		u64 context = trace_tag(t, n).context;

		f->none += context ? 0 : t->run[n].nr;
		for (i = 0; i < t->run[n].nr; i++) {
			if (amp_note(d, context, t->run[n].pgno + i, ++seq,
				     false))
				return -ENOMEM;
			if (seq != next || seq == t->nr_accesses)
				continue;
			next += o->every;
			amp_detect(d, f->pattern, f->max);
		}
	}
	f->nr = amp_detect(d, f->pattern, f->max);
	return 0;
}

static void print(const struct options *o, const struct trace *t,
		  const struct found *f)
{
	size_t nr = f->nr < o->top ? f->nr : o->top;
	char n[3][CLI_COUNT];

	printf("%s: %s to %s, %s\n", t->name, cli_count(n[0], t->nr_accesses, "access"),
	       cli_count(n[1], t->nr_pages, "page"), cli_count(n[2], f->nr, "context"));
	if (nr)
		amp_patterns_print(f->pattern, nr);
	if (nr < f->nr)
		printf("and %s contexts with fewer accesses: --top\n",
		       CLI_NUMBER(f->nr - nr));
	if (f->none)
		printf("%s accesses have no context; docs/user/traces.md says which traces have some\n",
		       CLI_NUMBER(f->none));
}

static void print_json(const struct options *o, const struct trace *t,
		       const struct found *f)
{
	struct json_object *j = json_object_new_object();

	cli_json_text(j, "trace", t->name);
	cli_json_number(j, "accesses", t->nr_accesses);
	cli_json_number(j, "without_context", f->none);
	cli_json_number(j, "pages", t->nr_pages);
	cli_json_text(j, "detector", amp_method_names[o->params.method]);
	json_object_object_add(j, "contexts",
			       amp_patterns_json(f->pattern, f->nr));
	puts(json_object_to_json_string_ext(j, JSON_C_TO_STRING_PRETTY));
	json_object_put(j);
}

static int detect(struct options *o, const struct trace *t)
{
	struct found f = { .max = t->nr_tags };
	struct amp_detector *d;
	int ret = -ENOMEM;

	if (o->params.contexts < f.max)
		o->params.contexts = f.max;
	/* DEAR compares two periods, in the paper the trace's halves. */
	if (!o->every && o->params.method == AMP_BY_DEAR)
		o->every = (t->nr_accesses + 1) / 2;
	f.pattern = calloc(f.max + 1, sizeof(*f.pattern));
	d = amp_new(&o->params);
	if (f.pattern && d)
		ret = run(d, o, t, &f);
	if (ret)
		cli_error("%s", strerror(-ret));
	else if (o->json)
		print_json(o, t, &f);
	else
		print(o, t, &f);
	amp_free(d);
	free(f.pattern);
	return ret ? CLI_FAILED : CLI_OK;
}

static int cli_amp_detect(int argc, char **argv)
{
	struct options o = { .top = USUAL_TOP };
	struct trace t;
	int ret;

	amp_params_init(&o.params);
	ret = parse(&o, argc, argv);
	if (ret)
		return ret;
	ret = cli_trace_open(&t, argv[optind]) ?: detect(&o, &t);
	trace_free(&t);
	return ret;
}

const struct cli_verb cli_verb_detect = {
	.name = "detect", .of = "amp", .run = cli_amp_detect,
	.usage = "[OPTION...] TRACE", .summary = "say what the call stacks of a trace do",
};
