// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces that other compressors than zstd wrote: their own programs decompress them. One
 * more process hands over what was read already and what follows, which may be a pipe's.
 *
 * Interface: reader.h.
 */
#define _GNU_SOURCE	/* pipe2() */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reader.h"

#define NOT_FOUND 127

static const struct {
	const char *magic;
	size_t n;
	const char *tool;
} tools[] = {
	{ "\x1f\x8b", 2, "gzip" },
	{ "\xfd" "7zXZ", 5, "xz" },
	{ "\x5d\0\0", 3, "xz" },	/* lzma, before it was xz */
	{ "BZh", 3, "bzip2" },
	{ "\x04\x22\x4d\x18", 4, "lz4" },
};

/* What would decompress some bytes; NULL: they are as they are. */
const char *trace_packed_by(const u8 *bytes, size_t n)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tools); i++)
		if (n > tools[i].n && !memcmp(bytes, tools[i].magic, tools[i].n))
			return tools[i].tool;
	return NULL;
}

static void run_tool(const char *tool, int in, int out)
{
	int none = open("/dev/null", O_WRONLY);

	dup2(in, 0);
	dup2(out, 1);
	dup2(none, 2);		/* the reader says what is wrong */
	execlp(tool, tool, "-dc", NULL);
	_exit(NOT_FOUND);
}

static void write_all(int out, const u8 *bytes, size_t n)
{
	ssize_t done;

	for (; n; bytes += done, n -= done) {
		done = write(out, bytes, n);
		if (done < 0)
			_exit(1);
	}
}

static void feed(struct trace_in *r, int out)
{
	size_t n = r->end - r->at;

	signal(SIGPIPE, SIG_DFL);
	write_all(out, r->at, n);
	while ((n = fread(r->raw, 1, TRACE_SNIFF, r->in)))
		write_all(out, r->raw, n);
	_exit(0);
}

static int start(struct trace_in *r, const int in[2], const int out[2])
{
	struct trace_packed *p = &r->packed_by;

	p->pid = fork();
	if (!p->pid)
		run_tool(p->tool, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	p->feeder = p->pid < 0 ? -1 : fork();
	if (!p->feeder) {
		close(out[0]);
		feed(r, in[1]);
	}
	close(in[1]);
	p->pipe = fdopen(out[0], "r");
	return p->pid < 0 || p->feeder < 0 || !p->pipe ? -errno : 0;
}

/**
 * trace_packed_begin() - from here on, the file is decompressed by a program
 * @r:    its first bytes were read, and none was taken
 * @tool: that program
 *
 * Context: starts two processes; trace_packed_end() ends them.
 * Return: 0; -errno of pipe2() and fork().
 */
int trace_packed_begin(struct trace_in *r, const char *tool)
{
	int in[2], out[2], ret;

	if (pipe2(in, O_CLOEXEC))
		return -errno;
	if (pipe2(out, O_CLOEXEC)) {
		ret = -errno;
		close(in[0]);
		close(in[1]);
		return ret;
	}
	r->packed_by.tool = tool;
	ret = start(r, in, out);
	if (ret)
		return ret;
	r->in = r->packed_by.pipe;
	r->at = r->end = r->raw;
	r->offset = r->file_offset = 0;
	r->ended = false;
	return 0;
}

static int end_of(pid_t pid)
{
	int status = 0;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid <= 0 ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/**
 * trace_packed_end() - the program has no more bytes, or they are not wanted
 * @r: without such a program afterwards
 *
 * Return: 0; -EINVAL if it did not end well, as of damaged data; -ENOENT: it is not
 *         installed.
 */
int trace_packed_end(struct trace_in *r)
{
	struct trace_packed p = r->packed_by;
	int status;

	if (!p.tool)
		return 0;
	r->packed_by = (struct trace_packed){ 0 };
	if (p.pipe)
		fclose(p.pipe);
	status = end_of(p.pid);
	end_of(p.feeder);
	return !status ? 0 : status == NOT_FOUND ? -ENOENT : -EINVAL;
}
