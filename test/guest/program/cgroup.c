// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory cgroups, made and asked.
 *
 * Counts of a cgroup are exact to 64 pages a CPU, unless the kernel is made to
 * settle them: memory.high = 0 does.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "guest.h"

void write_group(const char *group, const char *file, const char *text)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), CGROUP "%s/%s", group, file);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		FAIL("%s: %s", path, strerror(errno));
	close(fd);
}

void set_group(const char *group, const char *file, long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", value);
	write_group(group, file, text);
}

/* An empty cgroup with a limit; one of an earlier test goes. */
void new_group(const char *group, long limit)
{
	char path[128];

	snprintf(path, sizeof(path), CGROUP "%s", group);
	while (rmdir(path) && errno == EBUSY)
		sched_yield();
	CHECK(!mkdir(path, 0755));
	set_group(group, "memory.max", limit);
}

void join_group(const char *group)
{
	write_group(group, "cgroup.procs", "0");
}

/* Number of line @key, or the only one. */
long of_group(const char *group, const char *file, const char *key)
{
	char path[128], text[4096] = "", *at;
	int fd;

	snprintf(path, sizeof(path), CGROUP "%s/%s", group, file);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	at = *key ? strstr(text, key) : text;
	CHECK(at);
	return atol(at + strlen(key));
}

long oom_kills(const char *group)
{
	return of_group(group, "memory.events", "oom_kill ");
}

/*
 * What an idle cgroup is charged for when all that can go has gone, in bytes. The
 * CPUs are asked for what they have in store, and not waited for: so again.
 */
long charged_to(const char *group)
{
	long least = LONG_MAX, now;
	int i;

	for (i = 0; i < 20; i++) {
		set_group(group, "memory.high", 0);
		write_group(group, "memory.high", "max");
		now = of_group(group, "memory.current", "");
		if (now < least)
			least = now;
		sched_yield();
	}
	return least;
}

/* In a process of @group: its end. Return: what waitpid() says. */
int in_group(const char *group, void (*fn)(void))
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		join_group(group);
		fn();
		fflush(stdout);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}
