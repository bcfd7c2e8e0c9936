// SPDX-License-Identifier: GPL-2.0-only
/*
 * What system calls of a log of strace do: open files, their offsets, what is moved.
 *
 * Interface: strace.h.
 */
#define _GNU_SOURCE	/* asprintf(), strchrnul() */
#include <errno.h>
#include <stdlib.h>

#include "strace.h"

/* Behind a string, a bracket with all in it, or one character. */
char *trace_strace_skip_item(char *c)
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

/* A child is where its parent is. */
int trace_strace_child(struct strace *l, u32 pid, const struct process *parent, bool shared)
{
	char *cwd = parent && parent->cwd ? strdup(parent->cwd) : NULL;
	int ret = parent && parent->cwd && !cwd ? -ENOMEM :
		  trace_add_process(l->r, &l->processes, pid, parent ? parent->fds : NULL,
				    shared);

	if (ret)
		free(cwd);
	else
		l->processes.process[l->processes.nr - 1].cwd = cwd;
	return ret;
}

/* An argument that is a number, in front of what -y may add to it. */
static int number_arg(struct strace *l, const struct call *call, int i, s64 *n)
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

/* "./a" is "a", and "a//./b" is "a/b"; in place. */
static char *without_dots(char *path)
{
	char *to = path, *c = path;

	while (c && *c) {
		if (c[0] == '.' && c[1] == '/' && (c == path || c[-1] == '/'))
			c += 2;
		else if (c[0] == '/' && to > path && to[-1] == '/')
			c++;
		else
			*to++ = *c++;
	}
	if (to)
		*to = 0;
	return path;
}

/* A path that begins at another one, as a string of its own. */
static char *path_at(const char *from, const char *path)
{
	char *whole;

	if (!from || !*from || *path == '/')
		return without_dots(strdup(path));
	return asprintf(&whole, "%s/%s", from, path) < 0 ? NULL : without_dots(whole);
}

static int new_open_file(struct strace *l, const char *path, bool append,
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
	**o = (struct open_file){ .file = file, .append = append, .path = strdup(path) };
	return (*o)->path ? 0 : -ENOMEM;
}

/* Where a path of openat() begins; NULL: at the current directory, or nobody knows. */
static const char *begin_of(struct process *p, const struct call *call, bool at)
{
	char *end;
	long fd;

	if (!at || !call->nr_args || !strncmp(call->arg[0], "AT_FDCWD", 8))
		return p->cwd;
	fd = strtol(call->arg[0], &end, 10);
	if (end == call->arg[0] || fd < 0 || fd >= (long)p->fds->nr || !p->fds->open[fd])
		return NULL;
	return p->fds->open[fd]->path;
}

static int do_open(struct strace *l, struct process *p, struct call *call)
{
	int at = !strncmp(call->name, "openat", 6), ret;
	char *path, *end, *whole;
	const char *flags;
	struct open_file *o;

	if (call->ret < 0)
		return 0;
	path = at < call->nr_args ? call->arg[at] : "";
	end = *path == '"' ? trace_strace_skip_item(path) - 1 : path;
	if (end <= path || *end != '"')
		return trace_malformed(l->r, "want a path as argument %d of %s, not '%s'",
				       at + 1, call->name,
				       trace_quote(l->r, path));
	*end = 0;
	flags = at + 1 < call->nr_args ? call->arg[at + 1] : "";
	whole = call->ret_path ? strdup(call->ret_path) :
				 path_at(begin_of(p, call, at), path + 1);
	ret = whole ? new_open_file(l, whole, strstr(flags, "O_APPEND"), &o) : -ENOMEM;
	free(whole);
	if (ret)
		return ret;
	if (o->file >= 0 && (strstr(flags, "O_TRUNC") || *call->name == 'c'))
		l->files.file[o->file].end = 0;
	ret = trace_put_fd(l->r, p->fds, call->ret, o,
			   strstr(flags, "O_CLOEXEC"));
	if (ret) {
		free(o->path);
		free(o);
	}
	return ret;
}

/* The open file of an argument; NULL if the log does not know it. */
static int file_arg(struct strace *l, struct process *p, const struct call *call,
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
	if (ret) {
		free((*o)->path);
		free(*o);
	}
	return ret;
}

/* Bytes of a file, from where its offset is if @offset is negative. */
static int transfer(struct strace *l, struct open_file *o, s64 offset, u64 bytes, bool write)
{
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
		o->offset += bytes;
	}
	return trace_access(l->r, &l->files, o->file, offset, bytes, write);
}

/* read, pread64, readv, preadv, preadv2, and the same that write. */
static int do_transfer(struct strace *l, struct process *p, struct call *call)
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
	return ret ? ret : transfer(l, o, offset, call->ret, write);
}

/* The offset that a pointer has, "[4096]" or "[0 => 4096]"; -1: NULL, the file's own. */
static s64 pointed_arg(const struct call *call, int i)
{
	return i >= 0 && i < call->nr_args && *call->arg[i] == '[' ?
	       strtoll(call->arg[i] + 1, NULL, 0) : -1;
}

/* copy_file_range, splice, sendfile: where each has its files and their offsets. */
static int do_copy(struct strace *l, struct process *p, struct call *call)
{
	bool send = !strncmp(call->name, "sendfile", 8);
	int from = send, to = send ? 0 : 2, from_at = send ? 2 : 1, to_at = send ? -1 : 3;
	struct open_file *in, *out;
	int ret;

	if (call->ret <= 0)
		return 0;
	ret = file_arg(l, p, call, from, &in);
	if (!ret)
		ret = file_arg(l, p, call, to, &out);
	/* Pipes and sockets are no files that anybody opened. */
	if (!ret && (in || out)) {
		if (in)
			ret = transfer(l, in, pointed_arg(call, from_at), call->ret, false);
		if (!ret && out)
			ret = transfer(l, out, pointed_arg(call, to_at), call->ret, true);
	} else if (!ret) {
		l->unknown++;
	}
	return ret;
}

static int do_chdir(struct strace *l, struct process *p, struct call *call)
{
	struct open_file *o;
	char *end, *path;
	int ret;

	if (call->ret < 0 || !call->nr_args)
		return 0;
	if (*call->name == 'f') {
		ret = file_arg(l, p, call, 0, &o);
		path = !ret && o ? strdup(o->path) : NULL;
	} else {
		if (*call->arg[0] != '"')
			return 0;
		end = trace_strace_skip_item(call->arg[0]) - 1;
		*end = 0;
		path = path_at(p->cwd, call->arg[0] + 1);
		ret = path ? 0 : -ENOMEM;
	}
	if (ret || !path)
		return ret;
	free(p->cwd);
	p->cwd = path;
	return 0;
}

/* What a log does not have: touches of mapped files, and requests of io_uring. */
static int do_untold(struct strace *l, struct process *p, struct call *call)
{
	struct open_file *o;
	int ret;

	if (*call->name == 'i') {
		l->rings += call->ret > 0;
		return 0;
	}
	if (call->ret == -1 || call->nr_args < 5 || call->arg[4][0] == '-' ||
	    call->arg[4][1] == '-')
		return 0;
	ret = file_arg(l, p, call, 4, &o);
	if (ret || !o || o->file < 0 || strstr(call->arg[2], "PROT_EXEC") || strstr(o->path, ".so"))
		return ret;
	l->maps++;
	l->mapped_bytes += strtoull(call->arg[1], NULL, 0);
	return 0;
}

static int do_lseek(struct strace *l, struct process *p, struct call *call)
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

static int do_close(struct strace *l, struct process *p, struct call *call)
{
	s64 fd;
	int ret = number_arg(l, call, 0, &fd);

	if (!ret && fd >= 0)
		trace_close_fd(p->fds, fd);
	return ret;
}

static int do_close_range(struct strace *l, struct process *p, struct call *call)
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
static int do_dup(struct strace *l, struct process *p, struct call *call)
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

static int do_fork(struct strace *l, struct process *p, struct call *call)
{
	bool shared = false;
	int i;

	if (call->ret <= 0 || call->ret > UINT32_MAX ||
	    trace_find_process(&l->processes, call->ret))
		return 0;
	for (i = 0; i < call->nr_args; i++)
		if (strstr(call->arg[i], "CLONE_FILES"))
			shared = true;
	return trace_strace_child(l, call->ret, p, shared);
}

static int do_exec(struct strace *l, struct process *p, struct call *call)
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
	int (*fn)(struct strace *l, struct process *p, struct call *call);
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
	{ "copy_file_range", do_copy }, { "splice", do_copy },
	{ "sendfile", do_copy }, { "sendfile64", do_copy },
	{ "chdir", do_chdir }, { "fchdir", do_chdir },
	{ "mmap", do_untold }, { "mmap2", do_untold }, { "io_uring_enter", do_untold },
	{ "fork", do_fork }, { "vfork", do_fork }, { "clone", do_fork },
	{ "clone3", do_fork }, { "execve", do_exec }, { "execveat", do_exec },
};

/* The number of a call that matters; -1: it does not. */
int trace_strace_call_known(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (strlen(calls[i].name) == length &&
		    !memcmp(calls[i].name, name, length))
			return i;
	return -1;
}

/* @known: of trace_strace_call_known(). Return: 0; -EINVAL, said; -ENOMEM. */
int trace_strace_call_do(int known, struct strace *l, struct process *p, struct call *call)
{
	return calls[known].fn(l, p, call);
}
