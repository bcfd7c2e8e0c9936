// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec swap --trial: a policy has to show that it is no worse than the one before.
 *
 * How many pages came in is held against what the program did meanwhile. Where the
 * module holds a policy against the default's, that is known: both are faults
 * of the same accesses. Elsewhere hits are not counted, and the program's own
 * processor time stands for them: a policy with more hits lets it do more, at the
 * same cost each. It is user time, of the process that loaded and of its children
 * that have ended, and says something only of programs that use some.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../module/include/uapi/hipec_record.h"
#include "cli.h"
#include "../say/json.h"
#include "live.h"
#include "../lib/hipec.h"

#define WORSE 1.05	/* times as many pages as before */
#define CONTRACT 1.25	/* times as many as the default's: core/contract.c */
#define LEAST_CPU 0.5	/* seconds, to judge by: it is counted in ticks */
#define LEAST_PAGES 64	/* of either: fewer are chance */
#define LOOK_MS 50

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

/* How a policy fared for a while. */
struct watch {
	char policy[HIPEC_NAME_MAX];
	double seconds, cpu;	/* cpu: of the program; -1: not known */
	uint64_t pages;		/* brought in */
	uint64_t judged, standard;	/* by the contract: its, and the default's */
	char ended[HIPEC_MESSAGE_MAX];	/* how the policy ended, or "" */
};

/* The policy before, to go back to. */
struct before {
	void *image;		/* NULL: the built-in replacement */
	size_t size;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* The state of container @id. Return: 0; -ESRCH. */
static int status_of(int device, uint64_t id, struct hipec_status *s)
{
	int ret = hipec_next(device, id - 1, s);

	return ret == -ENOENT || (!ret && s->id != id) ? -ESRCH : ret;
}

/* Watch for so long, or until the policy ends. Return: 0; -errno. */
static int watch(const struct cli_swap *s, double seconds, struct watch *w)
{
	struct hipec_status from, to;
	double since = now(), cpu;
	int ret = status_of(s->device, s->id, &from);

	if (ret)
		return ret;
	*w = (struct watch){ .cpu = -1 };
	memcpy(w->policy, from.policy, sizeof(w->policy));
	cli_clean(w->policy);
	cpu = cli_cpu_of(from.pid);
	do {
		usleep(LOOK_MS * 1000);
		ret = status_of(s->device, s->id, &to);
		if (ret)
			return ret;
	} while (now() - since < seconds && !stopped && !to.exit.kind);
	w->seconds = now() - since;
	w->pages = to.counters.pages_in - from.counters.pages_in;
	w->judged = to.counters.judged_faults - from.counters.judged_faults;
	w->standard = to.counters.default_faults - from.counters.default_faults;
	if (cpu >= 0 && cli_cpu_of(from.pid) >= 0)
		w->cpu = cli_cpu_of(from.pid) - cpu;
	if (to.exit.kind && !from.exit.kind)
		snprintf(w->ended, sizeof(w->ended), "%s", to.exit.message);
	cli_clean(w->ended);
	return 0;
}

static bool enough(const struct watch *a, const struct watch *b)
{
	return a->cpu >= LEAST_CPU && b->cpu >= LEAST_CPU &&
	       (a->pages >= LEAST_PAGES || b->pages >= LEAST_PAGES);
}

/* Faults for each of the default's; 0: not known. */
static double ratio(const struct watch *w)
{
	return w->standard ? (double)w->judged / w->standard : 0;
}

/* How both fared against the default. Return: false: it is not known of both. */
static bool against_default(const struct watch *before,
			    const struct watch *after, char *text, size_t size)
{
	if (!ratio(before) || !ratio(after))
		return false;
	snprintf(text, size, "%.2f faults for each of the default policy's, %.2f before",
		 ratio(after), ratio(before));
	return true;
}

static double rate(const struct watch *w)
{
	return w->pages / w->cpu;
}

/* What @after is to be taken back for; NULL: nothing. */
static const char *fault_of(const struct watch *before,
			    const struct watch *after, char *text, size_t size)
{
	if (*after->ended)
		snprintf(text, size, "it ended: %s", after->ended);
	else if (stopped)
		snprintf(text, size, "the trial was broken off");
	else if (after->judged && after->judged > CONTRACT * after->standard)
		snprintf(text, size, "FIFO with a second chance would have had %llu faults where it had %llu",
			 (unsigned long long)after->standard,
			 (unsigned long long)after->judged);
	else if (against_default(before, after, text, size))
		return ratio(after) > WORSE * ratio(before) ? text : NULL;
	else if (enough(before, after) && rate(after) > WORSE * rate(before))
		snprintf(text, size, "%.0f pages for each second of the program's processor time, %.0f before",
			 rate(after), rate(before));
	else
		return NULL;
	return text;
}

static const char *praise_of(const struct watch *before,
			     const struct watch *after, char *text, size_t size)
{
	if (against_default(before, after, text, size))
		return text;
	if (enough(before, after))
		snprintf(text, size, "%.0f pages for each second of the program's processor time, %.0f before",
			 rate(after), rate(before));
	else
		snprintf(text, size, "the program did too little to judge by");
	return text;
}

/* Bytes of a record's beginning. Return: 0; -errno. */
static int read_bytes(int fd, void *to, size_t size)
{
	size_t n = 0;
	ssize_t got;

	while (n < size) {
		got = read(fd, (char *)to + n, size - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO;
		n += got;
	}
	return 0;
}

/* The image that a container runs, with its parameters as they are now. */
static int keep_before(const struct cli_swap *s, struct before *b)
{
	struct hipec_record_head head;
	int fd = hipec_record(s->device, s->id, HIPEC_RECORD_MIN_RING), ret;
	struct hipec_operand o;
	uint32_t slot;

	if (fd < 0)
		return fd;
	ret = read_bytes(fd, &head, sizeof(head));
	if (!ret && head.image_size && !head.exit_kind) {
		b->size = head.image_size;
		b->image = malloc(b->size);
		ret = b->image ? read_bytes(fd, b->image, b->size) : -ENOMEM;
	}
	close(fd);
	for (slot = 0; !ret && b->image &&
	     !hipec_operand(s->device, s->id, slot, &o); slot++)
		if (o.operand_flags & HIPEC_OPERAND_PARAM)
			hipec_image_set_param(b->image, b->size, o.name, o.value);
	return ret;
}

static void say(const struct watch *w)
{
	printf("%s for %.1f s: %s pages came in", w->policy, w->seconds,
	       CLI_NUMBER(w->pages));
	if (w->cpu >= 0)
		printf(", %.2f s of the program's processor time", w->cpu);
	if (w->judged)
		printf("; of %s judged, the default's would be %s",
		       CLI_NUMBER(w->judged), CLI_NUMBER(w->standard));
	putchar('\n');
	fflush(stdout);
}

static struct json_object *watch_json(const struct watch *w)
{
	struct json_object *j = json_object_new_object();

	cli_json_text(j, "policy", w->policy);
	cli_json_real(j, "seconds", true, w->seconds);
	cli_json_real(j, "cpu_seconds", w->cpu >= 0, w->cpu);
	cli_json_number(j, "pages_in", w->pages);
	cli_json_number(j, "judged_faults", w->judged);
	cli_json_number(j, "default_faults", w->standard);
	cli_json_text(j, "ended", *w->ended ? w->ended : NULL);
	return j;
}

static void say_json(const struct cli_swap *s, const struct watch *before,
		     const struct watch *after, bool kept, const char *why)
{
	struct json_object *j = json_object_new_object();

	cli_json_number(j, "id", s->id);
	cli_json_text(j, "policy", s->name);
	cli_json_number(j, "adopted", s->adopted);
	json_object_object_add(j, "before", watch_json(before));
	json_object_object_add(j, "after", watch_json(after));
	json_object_object_add(j, "kept", json_object_new_boolean(kept));
	cli_json_text(j, "why", why);
	puts(json_object_to_json_string_ext(j, JSON_C_TO_STRING_PRETTY |
		JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(j);
}

/* Back to the policy before. Return: an exit code. */
static int roll_back(const struct cli_swap *s, const struct before *b,
		     const struct watch *before)
{
	struct cli_swap back = *s;

	back.name = before->policy;
	back.image = b->image;
	back.size = b->size;
	return cli_swap_policy(&back) ? CLI_FAILED : CLI_NO_GAIN;
}

static int try(struct cli_swap *s, double seconds, const struct before *b)
{
	struct watch before, after;
	char text[HIPEC_MESSAGE_MAX + 64];
	const char *why;
	bool kept;
	int ret = watch(s, seconds, &before);

	if (ret)
		return cli_live_failed(s->id, ret);
	if (!s->json)
		say(&before);
	if (stopped || cli_swap_policy(s))
		return CLI_FAILED;
	ret = watch(s, seconds, &after);
	if (ret)
		return cli_live_failed(s->id, ret);
	why = fault_of(&before, &after, text, sizeof(text));
	kept = !why;
	if (kept)
		why = praise_of(&before, &after, text, sizeof(text));
	ret = kept ? CLI_OK : roll_back(s, b, &before);
	if (ret == CLI_FAILED)
		return ret;
	if (s->json) {
		say_json(s, &before, &after, kept, why);
		return ret;
	}
	say(&after);
	if (kept)
		printf("container %llu: %s stays: %s\n",
		       (unsigned long long)s->id, s->name, why);
	else
		printf("container %llu: %s is back: %s\n",
		       (unsigned long long)s->id, before.policy, why);
	return ret;
}

/* Return: an exit code. */
int cli_swap_try(struct cli_swap *s, double seconds)
{
	struct sigaction on = { .sa_handler = stop };
	struct before b = { 0 };
	int ret = keep_before(s, &b);

	if (ret == -EBUSY)
		cli_error("container %llu is being recorded: a trial asks it for the policy to go back to",
			  (unsigned long long)s->id);
	else if (ret)
		cli_live_failed(s->id, ret);
	sigaction(SIGINT, &on, NULL);
	sigaction(SIGTERM, &on, NULL);
	ret = ret ? CLI_FAILED : try(s, seconds, &b);
	free(b.image);
	return ret;
}
