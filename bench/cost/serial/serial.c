// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters of serial.h. The module's parameter "serial" tells them, as pairs
 * "NAME.nr=N NAME.held=N"; a write to it sets them to 0. Changed without a lock of their
 * own: there is one CPU, and a kernel that leaves a task where it runs.
 */
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <asm/msr.h>

#define MOST 32

static struct hipec_serial counter[MOST];
static u64 own;		/* instructions of counting itself, ever */

/* Beyond those between the two time stamps: to call, and to look up the counter. */
#define CALL 12

/* The counter of a lock that is named so there. */
struct hipec_serial *hipec_serial_of(const char *file, const char *lock)
{
	size_t length = strlen(lock);
	char name[sizeof(counter->name)];
	struct hipec_serial *s;

	if (length > 6 && !strcmp(lock + length - 6, "->lock"))
		strscpy(name, "container", sizeof(name));
	else if (!strcmp(lock, "events"))
		strscpy(name, lock, sizeof(name));
	else
		snprintf(name, sizeof(name), "%s:%s", kbasename(file), lock + (*lock == '&'));
	for (s = counter; s->name[0]; s++)
		if (!strcmp(s->name, name))
			return s;
	WARN(s == counter + MOST - 1, "too many locks are counted");
	strscpy(s->name, name, sizeof(s->name));
	return s;
}

void hipec_serial_begin(struct hipec_serial *s)
{
	u64 now = rdtsc();

	if (!s->depth++) {
		s->since = now - own;
		s->nr++;
	}
	own += rdtsc() - now + CALL;
}

void hipec_serial_end(struct hipec_serial *s)
{
	u64 now = rdtsc();

	if (s->depth && !--s->depth)
		s->held += now - own - s->since;
	own += rdtsc() - now + CALL;
}

static int tell(char *buffer, const struct kernel_param *unused)
{
	struct hipec_serial *s;
	int length = 0;

	for (s = counter; s->name[0]; s++)
		length += scnprintf(buffer + length, PAGE_SIZE - length, "%s.nr=%llu %s.held=%llu ",
				    s->name, s->nr, s->name, s->held);
	return length;
}

static int reset(const char *unused, const struct kernel_param *none)
{
	struct hipec_serial *s;

	for (s = counter; s->name[0]; s++)
		s->nr = s->held = 0;
	return 0;
}

static const struct kernel_param_ops ops = { .get = tell, .set = reset };
module_param_cb(serial, &ops, NULL, 0644);
