// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stand-in for the module, preloaded: /dev/hipec is /dev/null, and what the ioctls
 * answer is in the file that STANDIN names, a line each:
 *
 *	look			what follows is so from the next HIPEC_IOC_QUERY on
 *	query KEY=VALUE...	the module
 *	status KEY=VALUE...	a container, by rising id; all counters are keys
 *	operand KEY=VALUE...	an operand of a policy: id, slot, name, flags, value
 *	standing KEY=VALUE...	a team of a container, by number
 *	log KEY=VALUE...	an end, by rising seq; keys of status as well
 *
 * In texts %XX is a byte. With STANDIN_OLD it is an older module, which knows of the calls
 * QUERY, NEXT and RELEASE alone, and of a status not the last counters.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../../module/include/uapi/hipec.h"
#include "../../../module/include/uapi/hipec_cache.h"

/* Bytes of a status that an older module fills. */
#define OLD_STATUS offsetof(struct hipec_status, counters.read_pages)

static int device = -1, looks;

int open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & 0100 ? va_arg(ap, int) : 0;
	va_end(ap);
	if (strcmp(path, "/dev/hipec"))
		return syscall(SYS_openat, -100, path, flags, mode);
	return device = syscall(SYS_openat, -100, "/dev/null", flags, mode);
}

static void put_text(char *to, size_t size, const char *value)
{
	char hex[3] = "";
	size_t i;

	memset(to, 0, size);
	for (i = 0; *value && i < size; i++, value++) {
		if (*value == '%') {
			memcpy(hex, value + 1, 2);
			to[i] = strtoul(hex, NULL, 16);
			value += 2;
		} else {
			to[i] = *value;
		}
	}
}

#define NUMBER(name) if (!strcmp(key, #name)) s->name = strtoll(value, NULL, 0);

static void put_status(struct hipec_status *s, const char *key, const char *value)
{
	NUMBER(id) NUMBER(pid) NUMBER(uid) NUMBER(frames) NUMBER(free_frames)
	NUMBER(resident) NUMBER(dirty) NUMBER(ghosts) NUMBER(limit) NUMBER(shares)
	NUMBER(cluster) NUMBER(regions)
	NUMBER(exit.kind) NUMBER(exit.line) NUMBER(exit.command) NUMBER(exit.event)
#define X(name, help) if (!strcmp(key, #name)) s->counters.name = strtoll(value, NULL, 0);
	HIPEC_COUNTERS(X)
#undef X
	if (!strcmp(key, "comm"))
		put_text(s->comm, sizeof(s->comm), value);
	if (!strcmp(key, "policy"))
		put_text(s->policy, sizeof(s->policy), value);
	if (!strcmp(key, "message"))
		put_text(s->exit.message, sizeof(s->exit.message), value);
}

static void put_log(struct hipec_log *s, const char *key, const char *value)
{
	NUMBER(seq) NUMBER(time) NUMBER(lived) NUMBER(closed)
	put_status(&s->status, key, value);
}

static void put_standing(struct hipec_standing *s, const char *key, const char *value)
{
	NUMBER(id) NUMBER(team) NUMBER(nr) NUMBER(runs) NUMBER(shift) NUMBER(sampled)
	NUMBER(missed) NUMBER(misses) NUMBER(saves) NUMBER(variance) NUMBER(quarters)
	if (!strcmp(key, "policy"))
		put_text(s->policy, sizeof(s->policy), value);
}

static void put_query(struct hipec_query *s, const char *key, const char *value)
{
	NUMBER(frames) NUMBER(pool_frames) NUMBER(pool_max) NUMBER(quota)
}

static void put_operand(struct hipec_operand *s, const char *key, const char *value)
{
	NUMBER(id) NUMBER(slot) NUMBER(operand_flags) NUMBER(value)
	if (!strcmp(key, "name"))
		put_text(s->name, sizeof(s->name), value);
}

union answer {
	struct hipec_query query;
	struct hipec_status status;
	struct hipec_operand operand;
	struct hipec_log log;
	struct hipec_standing standing;
};

/* Whether this line is the answer to @ask. */
static int answers(unsigned long request, const union answer *a, const union answer *ask)
{
	switch (request) {
	case HIPEC_IOC_NEXT:
		return a->status.id > ask->status.id;
	case HIPEC_IOC_LOG:
		return a->log.seq > ask->log.seq;
	case HIPEC_IOC_OPERAND:
		return a->operand.id == ask->operand.id && a->operand.slot == ask->operand.slot;
	case HIPEC_IOC_STANDING:
		return a->standing.id == ask->standing.id && a->standing.team == ask->standing.team;
	}
	return 1;
}

static void put(unsigned long request, union answer *a, const char *key, const char *value)
{
	switch (request) {
	case HIPEC_IOC_NEXT:
		put_status(&a->status, key, value);
		break;
	case HIPEC_IOC_LOG:
		put_log(&a->log, key, value);
		break;
	case HIPEC_IOC_OPERAND:
		put_operand(&a->operand, key, value);
		break;
	case HIPEC_IOC_STANDING:
		put_standing(&a->standing, key, value);
		break;
	default:
		put_query(&a->query, key, value);
	}
}

static int answer(unsigned long request, const char *kind, union answer *ask, size_t size)
{
	FILE *in = fopen(getenv("STANDIN"), "re");
	char line[4096], *word, *save;
	union answer a;
	int now = 0, ret = ENOENT;

	if (!in)
		abort();
	while (ret && fgets(line, sizeof(line), in)) {
		word = strtok_r(line, " \n", &save);
		now += word && !strcmp(word, "look");
		if (!word || strcmp(word, kind) || now != (looks ? looks - 1 : 0))
			continue;
		memset(&a, 0, sizeof(a));
		while ((word = strtok_r(NULL, " \n", &save))) {
			char *value = strchr(word, '=');

			*value++ = 0;
			put(request, &a, word, value);
		}
		if (!answers(request, &a, ask))
			continue;
		a.query.size = ask->query.size;
		memcpy(ask, &a, size);
		ret = 0;
	}
	fclose(in);
	return ret;
}

int ioctl(int fd, unsigned long request, ...)
{
	const char *old;
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (fd != device)
		return syscall(SYS_ioctl, fd, request, arg);
	old = getenv("STANDIN_OLD");
	errno = ENOTTY;
	switch (request) {
	case HIPEC_IOC_QUERY:
		looks++;
		errno = answer(request, "query", arg, sizeof(struct hipec_query));
		break;
	case HIPEC_IOC_NEXT:
		errno = answer(request, "status", arg, old ? OLD_STATUS : sizeof(struct hipec_status));
		break;
	case HIPEC_IOC_RELEASE:
		printf("released %llu\n", ((struct hipec_release *)arg)->id);
		errno = 0;
		break;
	case HIPEC_IOC_OPERAND:
		if (!old)
			errno = answer(request, "operand", arg, sizeof(struct hipec_operand));
		break;
	case HIPEC_IOC_STANDING:
		if (!old)
			errno = answer(request, "standing", arg, sizeof(struct hipec_standing));
		break;
	case HIPEC_IOC_LOG:
		if (!old)
			errno = answer(request, "log", arg, sizeof(struct hipec_log));
		break;
	}
	return errno ? -1 : 0;
}
