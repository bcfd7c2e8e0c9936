/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What runs a policy: hipec's VM (hipec.c), C (native.c), Lua (lua.c). All are
 * given the same calls in the same order and must give up the same pages.
 *
 * A policy is told of a page by its address, and finds the page by itself.
 */
#ifndef BENCH_VM_CONTESTANT_H
#define BENCH_VM_CONTESTANT_H

#include "../../../module/vm/port.h"

struct bench_setup {
	const char *policy;	/* its name */
	const char *hpo_dir;	/* where <policy>.hpo is */
	const char *lua_file;	/* the policies in Lua */
	u32 frames;		/* pages that may be there at the same time */
	u32 universe;		/* page numbers are below this */
};

/**
 * struct contestant - one way to run a policy
 * @name:       for tables and messages
 * @open:       a policy without pages, or NULL if there is no such policy
 * @close:      forget it
 * @touch:      an access to @pgno; whether the page is there
 * @bring:      @pgno was read, it is on no queue
 * @page_fault: for each of the @n pages at @pgno, the event PageFault
 * @replace:    @n times the event Replace; @pgno is not used
 * @take:       the pages given up since the last call, in order; how many
 * @commands:   commands that all events have run; NULL: it has no commands
 *
 * Only @page_fault and @replace are measured, with what it takes to enter
 * and to leave an event.
 */
struct contestant {
	const char *name;
	void *(*open)(const struct bench_setup *setup);
	void (*close)(void *c);
	bool (*touch)(void *c, u32 pgno, bool write);
	void (*bring)(void *c, u32 pgno, bool write);
	void (*page_fault)(void *c, const u32 *pgno, u32 n);
	void (*replace)(void *c, const u32 *pgno, u32 n);
	u32 (*take)(void *c, u32 *pgno);
	u64 (*commands)(void *c);
};

/* The policy `empty`, whose events do nothing, is among those of each. */
extern const struct contestant bench_hipec, bench_native, bench_lua;

#endif /* BENCH_VM_CONTESTANT_H */
