// SPDX-License-Identifier: GPL-2.0-only
/* What the parent of processes that use files in place does, whatever they do. */
#include "parent.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../userlib/lib/hipec.h"

static struct hipec_counters sum;
static uint64_t exits;

/* Return: whether all of @text was written. */
bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

/* @events: memory.events of a cgroup. Return: processes that were killed there; -1: no such file. */
int oom_kills(const char *events)
{
	char text[256] = "", *at;
	int fd = open(events, O_RDONLY);
	bool there = fd >= 0 && read(fd, text, sizeof(text) - 1) > 0;

	if (fd >= 0)
		close(fd);
	at = strstr(text, "oom_kill ");
	return !there ? -1 : at ? atoi(at + 9) : 0;
}

/* The counters of a container that is to end. */
void add_up(int container)
{
	struct hipec_status s = { 0 };

	if (hipec_status(container, &s))
		return;
#define HIPEC_X(name, help) sum.name += s.counters.name;
	HIPEC_COUNTERS(HIPEC_X)
#undef HIPEC_X
	exits += s.exit.kind != 0;
}

/* A line for stress.py. */
void show_counters(void)
{
	printf("slot 0 exits %llu", (unsigned long long)exits);
#define HIPEC_X(name, help) printf(" " #name " %llu", (unsigned long long)sum.name);
	HIPEC_COUNTERS(HIPEC_X)
#undef HIPEC_X
	printf("\n");
}
