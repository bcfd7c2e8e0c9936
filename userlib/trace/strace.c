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

#include "fds.h"

#define MAX_ARGS 8	/* of a call, as far as they are looked at */
#define UNFINISHED " <unfinished ...>"

struct log {
	struct trace_in *r;
	struct trace_files files;
	struct processes processes;
	u64 unknown;	/* accesses to descriptors that nobody opened */
};

/* A call that has returned. */
struct call {
	const char *name;
	char *arg[MAX_ARGS];	/* cut out, in place */
	int nr_args;
	s64 ret;
	char *ret_path;	/* of strace -y, or NULL */
};

/* Process and time in front of a call; the pid is 0 where there is none. */
static const char *skip_prefix(const char *line, u32 *pid)
{
	const char *c = line + strspn(line, " ");
	size_t digits = strspn(c, "0123456789");
	unsigned int n;
	int used = 0;

	*pid = 0;
	if (sscanf(c, "[pid %9u] %n", &n, &used) == 1 && used) {
		*pid = n;
		c += used;
	} else if (digits && digits < 10 && c[digits] == ' ') {
		*pid = strtoul(c, NULL, 10);
		c += digits + strspn(c + digits, " ");
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
static int process_of(struct log *l, u32 pid, bool resumed,
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
	ret = trace_add_process(l->r, all, pid, parent ? parent->fds : NULL,
				parent && strstr(parent->unfinished,
						 "CLONE_FILES"));
	if (!ret)
		*found = &all->process[all->nr - 1];
	return ret;
}

/* Behind a string, a bracket with all in it, or one character. */
static char *skip_item(char *c)
{
	int depth = 0;

	do {
		if (*c == '"') {
			for (c++; *c && *c != '"'; c++)
				if (*c == '\\' && c[1])
					c++;
		} else if (*c == '<' && c[1] != '<') {	/* path of -y */
			c += strcspn(c, ">");
		} else if (strchr("([{", *c)) {
			depth++;
		} else if (strchr(")]}", *c)) {
			depth--;
		}
		if (!*c)
			return c;
		c++;
	} while (depth > 0);
	return c;
}

/* "name(a, b) = 3</path>", in place; @c is behind the first bracket. */
static int parse_call(struct log *l, char *c, struct call *call)
{
	char *start;

	call->nr_args = 0;
	call->ret_path = NULL;
	while (*c && *c != ')') {
		c += strspn(c, " ");
		for (start = c; *c && *c != ',' && *c != ')';)
			c = skip_item(c);
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

/* An argument that is a number, in front of what -y may add to it. */
static int number_arg(struct log *l, const struct call *call, int i, s64 *n)
{
	char *end;

	errno = 0;
	if (i < call->nr_args) {
		*n = strtoll(call->arg[i], &end, 0);
		if (end != call->arg[i] && !errno && (!*end || *end == '<'))
			return 0;
	}
	return trace_malformed(l->r, "want a number as argument %d of %s, not '%s'",
			       i + 1, call->name, i < call->nr_args ?
			       trace_quote(l->r, call->arg[i]) : "");
}

/* Pages of these are nobody's to replace. Pipes and sockets are not opened. */
static bool is_cached(const char *path)
{
	return strncmp(path, "/dev/", 5) && strncmp(path, "/proc/", 6) &&
	       strncmp(path, "/sys/", 5) && *path;
}

static int new_open_file(struct log *l, const char *path, bool append,
			 struct open_file **o)
{
	s64 file = -1;

	if (is_cached(path)) {
		file = trace_file(l->r, &l->files, path);
		if (file < 0)
			return file;
	}
	*o = calloc(1, sizeof(**o));
	if (!*o)
		return -ENOMEM;
	**o = (struct open_file){ .file = file, .append = append };
	return 0;
}

static int do_open(struct log *l, struct process *p, struct call *call)
{
	int at = !strncmp(call->name, "openat", 6), ret;
	char *path, *end;
	const char *flags;
	struct open_file *o;

	if (call->ret < 0)
		return 0;
	path = at < call->nr_args ? call->arg[at] : "";
	end = *path == '"' ? skip_item(path) - 1 : path;
	if (end <= path || *end != '"')
		return trace_malformed(l->r, "want a path as argument %d of %s, not '%s'",
				       at + 1, call->name,
				       trace_quote(l->r, path));
	*end = 0;
	flags = at + 1 < call->nr_args ? call->arg[at + 1] : "";
	ret = new_open_file(l, call->ret_path ? call->ret_path : path + 1,
			    strstr(flags, "O_APPEND"), &o);
	if (ret)
		return ret;
	if (o->file >= 0 && (strstr(flags, "O_TRUNC") || *call->name == 'c'))
		l->files.file[o->file].end = 0;
	ret = trace_put_fd(l->r, p->fds, call->ret, o,
			   strstr(flags, "O_CLOEXEC"));
	if (ret)
		free(o);
	return ret;
}

/* The open file of an argument; NULL if the log does not know it. */
static int file_arg(struct log *l, struct process *p, const struct call *call,
		    int i, struct open_file **o)
{
	const char *path;
	char *name;
	s64 fd;
	int ret = number_arg(l, call, i, &fd);

	*o = NULL;
	if (ret || fd < 0)
		return ret;
	if (fd < p->fds->nr && p->fds->open[fd]) {
		*o = p->fds->open[fd];
		return 0;
	}
	path = strchrnul(call->arg[i], '<');
	if (path[0] != '<' || path[1] != '/')
		return 0;
	/* Opened before the log began, but -y says what it is. */
	name = strndup(path + 1, strcspn(path + 1, ">"));
	if (!name)
		return -ENOMEM;
	ret = new_open_file(l, name, false, o);
	free(name);
	if (ret)
		return ret;
	ret = trace_put_fd(l->r, p->fds, fd, *o, false);
	if (ret)
		free(*o);
	return ret;
}

/* read, pread64, readv, preadv, preadv2, and the same that write. */
static int do_transfer(struct log *l, struct process *p, struct call *call)
{
	bool write = strstr(call->name, "write"), there = *call->name == 'p';
	struct open_file *o;
	s64 offset = -1;
	int ret;

	if (call->ret <= 0)
		return 0;
	ret = file_arg(l, p, call, 0, &o);
	if (!ret && there)
		ret = number_arg(l, call, 3, &offset);
	if (ret)
		return ret;
	if (!o) {
		l->unknown++;
		return 0;
	}
	if (o->file < 0)
		return 0;
	if (offset < 0) {	/* -1 is what preadv2 calls the offset */
		if (write && o->append)
			o->offset = l->files.file[o->file].end;
		offset = o->offset;
		o->offset += call->ret;
	}
	return trace_access(l->r, &l->files, o->file, offset, call->ret, write);
}

static int do_lseek(struct log *l, struct process *p, struct call *call)
{
	struct open_file *o;
	int ret;

	if (call->ret < 0)
		return 0;
	ret = file_arg(l, p, call, 0, &o);
	if (ret || !o)
		return ret;
	o->offset = call->ret;
	if (o->file >= 0 && call->nr_args > 2 &&
	    !strcmp(call->arg[2], "SEEK_END") &&
	    o->offset > l->files.file[o->file].end)
		l->files.file[o->file].end = o->offset;
	return 0;
}

static int do_close(struct log *l, struct process *p, struct call *call)
{
	s64 fd;
	int ret = number_arg(l, call, 0, &fd);

	if (!ret && fd >= 0)
		trace_close_fd(p->fds, fd);
	return ret;
}

static int do_close_range(struct log *l, struct process *p, struct call *call)
{
	s64 first, last;
	int ret = number_arg(l, call, 0, &first);

	if (!ret)
		ret = number_arg(l, call, 1, &last);
	if (ret || call->ret || (call->nr_args > 2 &&
				 strstr(call->arg[2], "CLOEXEC")))
		return ret;
	for (; first >= 0 && first <= last && first < p->fds->nr; first++)
		trace_close_fd(p->fds, first);
	return 0;
}

/* dup, dup2, dup3, and fcntl where it does the same. */
static int do_dup(struct log *l, struct process *p, struct call *call)
{
	struct open_file *o;
	bool on_exec;
	int ret;

	if (call->ret < 0 || (!strncmp(call->name, "fcntl", 5) &&
			      (call->nr_args < 2 ||
			       strncmp(call->arg[1], "F_DUPFD", 7))))
		return 0;
	ret = file_arg(l, p, call, 0, &o);
	if (ret)
		return ret;
	if (!o) {
		trace_close_fd(p->fds, call->ret);
		return 0;
	}
	on_exec = call->nr_args > 1 && strstr(call->arg[call->nr_args > 2 &&
			*call->name == 'd' ? 2 : 1], "CLOEXEC");
	return trace_put_fd(l->r, p->fds, call->ret, o, on_exec);
}

static int do_fork(struct log *l, struct process *p, struct call *call)
{
	bool shared = false;
	int i;

	if (call->ret <= 0 || call->ret > UINT32_MAX ||
	    trace_find_process(&l->processes, call->ret))
		return 0;
	for (i = 0; i < call->nr_args; i++)
		if (strstr(call->arg[i], "CLONE_FILES"))
			shared = true;
	return trace_add_process(l->r, &l->processes, call->ret, p->fds,
				 shared);
}

static int do_exec(struct log *l, struct process *p, struct call *call)
{
	int ret = call->ret < 0 ? 0 : trace_unshare(p);
	u32 i;

	(void)l;
	for (i = 0; i < p->fds->nr && !ret && call->ret >= 0; i++)
		if (p->fds->on_exec[i])
			trace_close_fd(p->fds, i);
	return ret;
}

static const struct {
	const char *name;
	int (*fn)(struct log *l, struct process *p, struct call *call);
} calls[] = {
	{ "open", do_open }, { "openat", do_open }, { "openat2", do_open },
	{ "creat", do_open }, { "close", do_close },
	{ "close_range", do_close_range }, { "lseek", do_lseek },
	{ "dup", do_dup }, { "dup2", do_dup }, { "dup3", do_dup },
	{ "fcntl", do_dup }, { "fcntl64", do_dup },
	{ "read", do_transfer }, { "pread64", do_transfer },
	{ "pread", do_transfer }, { "readv", do_transfer },
	{ "preadv", do_transfer }, { "preadv2", do_transfer },
	{ "write", do_transfer }, { "pwrite64", do_transfer },
	{ "pwrite", do_transfer }, { "writev", do_transfer },
	{ "pwritev", do_transfer }, { "pwritev2", do_transfer },
	{ "fork", do_fork }, { "vfork", do_fork }, { "clone", do_fork },
	{ "clone3", do_fork }, { "execve", do_exec }, { "execveat", do_exec },
};

/* A call with its result; those of other names are passed over. */
static int read_call(struct log *l, struct process *p, char *text)
{
	size_t n = name_length(text), i;
	struct call call = { .name = text };
	int ret;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (strlen(calls[i].name) == n &&
		    !memcmp(calls[i].name, text, n))
			break;
	if (i == ARRAY_SIZE(calls))
		return 0;
	text[n] = 0;
	ret = parse_call(l, text + n + 1, &call);
	return ret ? ret : calls[i].fn(l, p, &call);
}

/* "<... read resumed>" and the rest of what was interrupted. */
static int resume(struct log *l, struct process *p, const char *c)
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

static int read_text(struct log *l, char *line)
{
	struct process *p;
	char *c, *end;
	u32 pid;
	int ret;

	c = line + (skip_prefix(line, &pid) - line);
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

static int read_line(struct log *l)
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

int trace_read_strace(struct trace_in *r, struct sim_trace *t)
{
	struct log l = { .r = r };
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
	trace_free_processes(&l.processes);
	trace_files_free(&l.files);
	return ret;
}
