// SPDX-License-Identifier: GPL-2.0-only
/*
 * What strace -f prints: which files processes read and wrote, and where. Open
 * files have an offset that duplicates and children share, as in the kernel.
 * Calls that move no data and open nothing are passed over.
 */
#define _GNU_SOURCE	/* asprintf(), strchrnul() */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "strace.h"

#define UNFINISHED " <unfinished ...>"


/* Behind the process: its name in <> of -Y, and what closes "[pid 7]". */
static const char *skip_name(const char *c)
{
	if (*c == '<')
		c += strcspn(c, ">") + !!strchr(c, '>');
	c += *c == ']';
	return c + strspn(c, " ");
}

/* Process and time in front of a call; the pid is 0 where there is none. */
static const char *skip_prefix(const char *line, u32 *pid)
{
	const char *c = line + strspn(line, " ");
	size_t digits = strspn(c, "0123456789");
	unsigned int n;
	int used = 0;

	*pid = 0;
	if (sscanf(c, "[pid %9u%n", &n, &used) == 1 && used && strchr("]<", c[used])) {
		*pid = n;
		c = skip_name(c + used);
	} else if (digits && digits < 10 && (c[digits] == ' ' || c[digits] == '<')) {
		*pid = strtoul(c, NULL, 10);
		c = skip_name(c + digits);
	}
	/* 12:34:56.789, 1700000000.123456, 0.000123, and (+ 0.000123) */
	while (isdigit((unsigned char)*c)) {
		used = strspn(c, "0123456789:.");
		if (c[used] != ' ')
			break;
		c += used + strspn(c + used, " ");
	}
	if (!strncmp(c, "(+", 2) && strchr(c, ')')) {
		c = strchr(c, ')') + 1;
		c += strspn(c, " ");
	}
	/* [number of the call] of -n, [address] of -i */
	while (*c == '[' && c[1 + strspn(c + 1, " 0123456789abcdefx?")] == ']') {
		c += 2 + strspn(c + 1, " 0123456789abcdefx?");
		c += strspn(c, " ");
	}
	return c;
}

static bool is_name(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t name_length(const char *c)
{
	size_t n = 0;

	while (is_name(c[n]))
		n++;
	return n && c[n] == '(' ? n : 0;
}

static bool is_remark(const char *c)
{
	return !strncmp(c, "+++ ", 4) || !strncmp(c, "--- ", 4) ||
	       !strncmp(c, "strace: ", 8) || !strncmp(c, "[ Process ", 10);
}

bool trace_is_strace(const char *line)
{
	u32 pid;

	line = skip_prefix(line, &pid);
	return name_length(line) || is_remark(line) || !strncmp(line, "<... ", 5);
}

static bool is_fork(const char *name)
{
	return !strncmp(name, "clone", 5) || !strncmp(name, "fork", 4) ||
	       !strncmp(name, "vfork", 5);
}

/*
 * The process of a line. A child's lines may come before its parent's fork has
 * returned, and a process that had no number gets one when there are several.
 * @resumed: a call of it is, so it is no child that is new.
 */
static int process_of(struct strace *l, u32 pid, bool resumed,
		      struct process **found)
{
	struct processes *all = &l->processes;
	struct process *p = trace_find_process(all, pid), *parent = NULL;
	size_t i;
	int ret;

	for (i = resumed ? 0 : all->nr; !p && i-- && !parent;)
		if (all->process[i].unfinished &&
		    is_fork(all->process[i].unfinished))
			parent = &all->process[i];
	if (!p && !parent)
		p = all->nr && !all->process[0].pid ? &all->process[0] : NULL;
	if (p) {
		p->pid = pid ? pid : p->pid;
		*found = p;
		return 0;
	}
	ret = trace_strace_child(l, pid, parent,
			parent && strstr(parent->unfinished, "CLONE_FILES"));
	if (!ret)
		*found = &all->process[all->nr - 1];
	return ret;
}

/* "name(a, b) = 3</path>", in place; @c is behind the first bracket. */
static int parse_call(struct strace *l, char *c, struct call *call)
{
	char *start;

	call->nr_args = 0;
	call->ret_path = NULL;
	while (*c && *c != ')') {
		c += strspn(c, " ");
		for (start = c; *c && *c != ',' && *c != ')';)
			c = trace_strace_skip_item(c);
		if (call->nr_args < MAX_ARGS)
			call->arg[call->nr_args++] = start;
		if (*c == ',')
			*c++ = 0;
	}
	if (!*c)
		return trace_malformed(l->r, "want ')' behind what %s was given",
				       call->name);
	*c++ = 0;
	c += strspn(c, " ");
	if (*c != '=')
		return trace_malformed(l->r, "want '= RESULT' behind %s",
				       call->name);
	c += 1 + strspn(c + 1, " ");
	if (*c == '?') {
		call->ret = -1;
		return 0;
	}
	errno = 0;
	call->ret = strtoll(c, &start, 0);
	if (start == c || errno)
		return trace_malformed(l->r, "want a number as result of %s, not '%s'",
				       call->name, trace_quote(l->r, c));
	if (*start == '<') {
		call->ret_path = start + 1;
		start[strcspn(start, ">")] = 0;
	}
	return 0;
}

/* A call with its result; those of other names are passed over. */
static int read_call(struct strace *l, struct process *p, char *text)
{
	size_t n = name_length(text);
	int known = trace_strace_call_known(text, n);
	struct call call = { .name = text };
	int ret;

	if (known < 0)
		return 0;
	text[n] = 0;
	ret = parse_call(l, text + n + 1, &call);
	return ret ? ret : trace_strace_call_do(known, l, p, &call);
}

/* "<... read resumed>" and the rest of what was interrupted. */
static int resume(struct strace *l, struct process *p, const char *c)
{
	const char *rest = strstr(c, " resumed>");
	char *text;
	int ret;

	if (!rest)
		return trace_malformed(l->r, "want '<... NAME resumed>', not '%s'",
				       trace_quote(l->r, c));
	if (!p->unfinished)
		return 0;
	if (asprintf(&text, "%s%s", p->unfinished, rest + 9) < 0)
		return -ENOMEM;
	free(p->unfinished);
	p->unfinished = NULL;
	ret = read_call(l, p, text);
	free(text);
	return ret;
}

static int read_text(struct strace *l, char *line)
{
	struct process *p;
	char *c, *end;
	u32 pid;
	int ret;

	c = line + (skip_prefix(line, &pid) - line);
	/* The stack of -k, and the table of -C, which is behind all else. */
	l->summary |= !strncmp(line, "% time ", 7);
	if (!strncmp(line, " > ", 3) || (l->summary && !name_length(c)))
		return 0;
	if (!*c || (is_remark(c) && strncmp(c, "+++ ", 4)))
		return 0;
	if (!name_length(c) && strncmp(c, "<... ", 5) && *c != '+')
		return trace_malformed(l->r, "want a call as strace prints it, 'NAME(', not '%s'",
				       trace_quote(l->r, c));
	ret = process_of(l, pid, *c == '<', &p);
	if (ret)
		return ret;
	if (*c == '+') {
		trace_del_process(&l->processes, p);
		return 0;
	}
	if (*c == '<')
		return resume(l, p, c);
	end = c + strlen(c) - strlen(UNFINISHED);
	if (end <= c || strcmp(end, UNFINISHED))
		return read_call(l, p, c);
	*end = 0;
	free(p->unfinished);
	p->unfinished = strdup(c);
	return p->unfinished ? 0 : -ENOMEM;
}

/* Where strace interrupts its own line, which goes on in the next one. */
static char *interrupted(char *line)
{
	char *c = strstr(line, "strace: Process ");
	size_t n = strlen(line);

	return c && c > line && n > 9 && !strcmp(line + n - 9, " attached") ?
	       c : NULL;
}

static int read_line(struct strace *l)
{
	char *cut = interrupted(l->r->line), *first, *text;
	int ret;

	if (!cut)
		return read_text(l, l->r->line);
	*cut = 0;
	first = strdup(l->r->line);
	if (!first)
		return -ENOMEM;
	ret = trace_next_line(l->r);
	if (ret >= 0 && asprintf(&text, "%s%s", first,
				 ret ? l->r->line : "") < 0)
		ret = -ENOMEM;
	free(first);
	if (ret < 0)
		return ret;
	ret = read_text(l, text);
	free(text);
	return ret;
}

int trace_read_strace(struct trace_in *r, struct trace *t)
{
	struct strace l = { .r = r };
	int ret;

	while ((ret = trace_next_line(r)) > 0) {
		ret = read_line(&l);
		if (ret)
			break;
	}
	if (!ret)
		ret = trace_files_end(r, &l.files, t);
	if (!ret && l.unknown)
		ret = trace_note(t, "%llu accesses to descriptors that the log does not open were passed over",
				 (unsigned long long)l.unknown);
	if (!ret && l.rings)
		ret = trace_note(t, "%llu calls of io_uring: a log of strace does not say what they read and wrote",
				 (unsigned long long)l.rings);
	if (!ret && l.maps)
		ret = trace_note(t, "%llu times a file was mapped: a log of strace has no touches of mapped files; hipec trace --mmap has",
				 (unsigned long long)l.maps);
	if (l.rings)
		t->partial = "what it read by io_uring is not in the trace";
	else if (l.mapped_bytes / TRACE_PAGE_BYTES > t->nr_pages)
		t->partial = "more was mapped without being traced than is in the trace";
	trace_free_processes(&l.processes);
	trace_files_free(&l.files);
	return ret;
}
