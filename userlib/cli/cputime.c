// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much a program has done: the processor time of a process and its children, of
 * which the program may be one (hipec run).
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live.h"

/* No program's processes are deeper in each other. */
#define MOST_DEEP 64

/* User time of a process and of its children that have ended, ticks; -1: not known. */
static double ticks_of(int pid)
{
	unsigned long long user, children;
	char path[64], text[1024];
	const char *at;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = pid > 0 ? fopen(path, "r") : NULL;
	if (!f)
		return -1;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	/* Behind the name, which may have anything in it, from field 3 on. */
	at = strrchr(text, ')');
	if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %*u %llu",
			  &user, &children) != 2)
		return -1;
	return user + children;
}

static double family_of(int pid, int deep);

/* Of the children that a thread has. One that ends just now counts for nothing. */
static double children_of(const char *path, int deep)
{
	FILE *f = fopen(path, "r");
	double sum = 0, ticks;
	int child;

	if (!f)
		return 0;
	while (fscanf(f, "%d", &child) == 1) {
		ticks = family_of(child, deep + 1);
		sum += ticks < 0 ? 0 : ticks;
	}
	fclose(f);
	return sum;
}

static double family_of(int pid, int deep)
{
	double sum = ticks_of(pid);
	const struct dirent *d;
	char path[400];
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	threads = sum >= 0 && deep < MOST_DEEP ? opendir(path) : NULL;
	while (threads && (d = readdir(threads))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s/children", pid, d->d_name);
		if (d->d_name[0] != '.')
			sum += children_of(path, deep);
	}
	if (threads)
		closedir(threads);
	return sum;
}

/**
 * cli_cpu_of() - user time of a process and all its children, dead or alive
 * @pid: process
 *
 * A child whose parent has ended, and that another process took over, is not seen.
 *
 * Return: seconds, in ticks of the clock; -1 if there is no such process.
 */
double cli_cpu_of(int pid)
{
	double ticks = family_of(pid, 0);

	return ticks < 0 ? -1 : ticks / sysconf(_SC_CLK_TCK);
}
