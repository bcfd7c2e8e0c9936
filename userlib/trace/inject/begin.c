// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the library does before the program's main().
 */
#include <errno.h>
#include <unistd.h>

#include "tracer.h"

__attribute__((constructor)) static void start(void)
{
	struct tracechan_head *h = tracer_head();
	int saved = errno;

	if (!h)
		return;
	tracer_say(TRACECHAN_STARTED, getpid(), "");
	tracer_begin_contexts();
	if (!tracer_hook_stdio())
		__atomic_store_n(&h->no_stdio, 1, __ATOMIC_RELAXED);
	tracer_begin_maps(h);
	errno = saved;
}
