// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where in a program's memory regions are: a table that calls of the program change
 * before they change the memory, so that what is added by another thread meanwhile
 * stays. No entry can be wrong for long: a range that is mapped anew is cut first.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload.h"

#define MAX_AREAS 4096

static struct preload_area area[MAX_AREAS];
static unsigned int nr_areas;
static bool busy;

/* Not by a handler while it is held: that might map as well. */
static void hold(sigset_t *old)
{
	sigset_t all;

	sigfillset(&all);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, old, _NSIG / 8);
	while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void release(const sigset_t *old)
{
	__atomic_clear(&busy, __ATOMIC_RELEASE);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, old, NULL, _NSIG / 8);
}

/* Are there areas at all? Most calls of most programs end here. */
bool preload_area_any(void)
{
	return __atomic_load_n(&nr_areas, __ATOMIC_RELAXED);
}

static void set_nr(unsigned int nr)
{
	__atomic_store_n(&nr_areas, nr, __ATOMIC_RELAXED);
}

/* Return: false if there is no room. */
bool preload_area_add(const struct preload_area *a)
{
	sigset_t old;
	bool room;

	hold(&old);
	room = nr_areas < MAX_AREAS;
	if (room) {
		area[nr_areas] = *a;
		set_nr(nr_areas + 1);
	}
	release(&old);
	return room;
}

/*
 * Forget a range. Where that makes two of one and there is no room, the part behind
 * is forgotten too: it cannot grow then, and that is all.
 */
void preload_area_cut(uintptr_t start, uintptr_t end)
{
	unsigned int i;
	sigset_t old;

	hold(&old);
	for (i = 0; i < nr_areas; i++) {
		struct preload_area *a = &area[i], rest = *a;

		if (start >= a->end || end <= a->start)
			continue;
		if (end < a->end) {
			rest.offset += end - rest.start;
			rest.start = end;
			if (start <= a->start) {
				*a = rest;
				continue;
			}
			if (nr_areas < MAX_AREAS) {
				area[nr_areas] = rest;
				set_nr(nr_areas + 1);
			}
		}
		if (start > a->start) {
			a->end = start;
		} else {
			set_nr(nr_areas - 1);
			area[i--] = area[nr_areas];
		}
	}
	release(&old);
}

/* The lowest area in a range, whole, as it is now. Return: false if there is none. */
bool preload_area_find(uintptr_t start, uintptr_t end, struct preload_area *found)
{
	bool any = false;
	unsigned int i;
	sigset_t old;

	hold(&old);
	for (i = 0; i < nr_areas; i++)
		if (start < area[i].end && end > area[i].start &&
		    (!any || area[i].start < found->start)) {
			*found = area[i];
			any = true;
		}
	release(&old);
	return any;
}

/* The first address behind @start at which an area begins or ends, or @end. */
uintptr_t preload_area_edge(uintptr_t start, uintptr_t end)
{
	unsigned int i;
	sigset_t old;

	hold(&old);
	for (i = 0; i < nr_areas; i++) {
		if (area[i].start > start && area[i].start < end)
			end = area[i].start;
		if (area[i].end > start && area[i].end < end)
			end = area[i].end;
	}
	release(&old);
	return end;
}

/* What was known of a range is of another one now; the two share no page. */
void preload_area_move(uintptr_t start, uintptr_t end, uintptr_t to)
{
	struct preload_area a;

	while (preload_area_find(start, end, &a)) {
		if (a.start < start) {
			a.offset += start - a.start;
			a.start = start;
		}
		if (a.end > end)
			a.end = end;
		preload_area_cut(a.start, a.end);
		a.start += to - start;
		a.end += to - start;
		preload_area_add(&a);
	}
}

/**
 * preload_area_written() - the next part of a range whose stores go to a file
 * @start: of the range
 * @end:   of it
 * @file:  of this one, or NULL: of any
 * @found: filled, cut to the range
 *
 * Context: any; in signal handlers too.
 * Return: false if there is none.
 */
bool preload_area_written(uintptr_t start, uintptr_t end,
			  const struct preload_file *file,
			  struct preload_area *found)
{
	bool any = false;
	unsigned int i;
	sigset_t old;

	hold(&old);
	for (i = 0; i < nr_areas; i++) {
		const struct preload_area *a = &area[i];

		if (!a->written || start >= a->end || end <= a->start ||
		    (file && (file->dev != a->file.dev || file->ino != a->file.ino)))
			continue;
		if (!any || a->start < found->start) {
			*found = *a;
			any = true;
		}
	}
	release(&old);
	if (any && found->start < start)
		found->start = start;
	if (any && found->end > end)
		found->end = end;
	return any;
}

/* A child has one thread, which must not find the table held by another. */
static sigset_t before_fork;

static void begin_fork(void)
{
	hold(&before_fork);
}

static void end_fork(void)
{
	release(&before_fork);
}

__attribute__((constructor)) static void start(void)
{
	pthread_atfork(begin_fork, end_fork, end_fork);
}
