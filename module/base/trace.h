/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints. Their fields are part of what users see.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM hipec

#if !defined(HIPEC_BASE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define HIPEC_BASE_TRACE_H

#include <linux/tracepoint.h>

#include "base.h"

/* A policy has ended; kind is a HIPEC_EXIT_*. */
TRACE_EVENT(hipec_exit,
	TP_PROTO(const struct hipec_container *c),
	TP_ARGS(c),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u32, kind)
		__field(u32, event)
		__field(u32, command)
		__field(u32, line)
		__array(char, policy, HIPEC_NAME_MAX)
	),
	TP_fast_assign(
		__entry->id = c->id;
		__entry->kind = c->core.vm.exit.kind;
		__entry->event = c->core.vm.exit.event;
		__entry->command = c->core.vm.exit.command;
		__entry->line = c->core.vm.exit.line;
		memcpy(__entry->policy, c->policy.image->name, HIPEC_NAME_MAX);
	),
	TP_printk("container=%llu policy=%s kind=0x%x event=%u command=%u line=%u",
		  __entry->id, __entry->policy, __entry->kind, __entry->event,
		  __entry->command, __entry->line)
);

/* Another policy runs; league: one that was ahead, else a user's. */
TRACE_EVENT(hipec_swap,
	TP_PROTO(const struct hipec_container *c, const struct hipec_policy *before, bool league),
	TP_ARGS(c, before, league),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u32, pages)
		__field(bool, league)
		__array(char, before, HIPEC_NAME_MAX)
		__array(char, policy, HIPEC_NAME_MAX)
	),
	TP_fast_assign(
		__entry->id = c->id;
		__entry->pages = c->core.vm.nr_live;
		__entry->league = league;
		memcpy(__entry->before, before->image->name, HIPEC_NAME_MAX);
		memcpy(__entry->policy, c->policy.image->name, HIPEC_NAME_MAX);
	),
	TP_printk("container=%llu before=%s policy=%s pages=%u league=%u",
		  __entry->id, __entry->before, __entry->policy, __entry->pages,
		  __entry->league)
);

#endif /* HIPEC_BASE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
