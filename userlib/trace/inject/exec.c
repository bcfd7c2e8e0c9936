// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that traced programs become or start are traced too, also where their
 * environment has been emptied. That they were started is noted, so that those of
 * which nothing is heard then can be named.
 */
#define _GNU_SOURCE	/* execvpe() */
#include <alloca.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracer.h"

#define PRELOAD "LD_PRELOAD"

extern char **environ;

struct kept {
	char preload[8192];
	char channel[4096 + sizeof(TRACECHAN_ENV) + 1];
};

static const char *value_of(char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; env && *env; env++)
		if (!strncmp(*env, name, n) && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

/* Does @env have programs traced as we are? */
static bool has_both(char *const *env)
{
	const char *preload = value_of(env, PRELOAD);
	const char *channel = value_of(env, TRACECHAN_ENV);

	return preload && strstr(preload, tracer_library()) && channel &&
	       !strcmp(channel, tracer_path());
}

static size_t count(char *const *env)
{
	size_t n = 0;

	while (env && env[n])
		n++;
	return n;
}

/* @to: room for two more than @env has, and the end. */
static void keep(char **to, char *const *env, struct kept *kept)
{
	const char *theirs = value_of(env, PRELOAD);
	size_t n = 0;

	snprintf(kept->preload, sizeof(kept->preload), "%s=%s%s%s", PRELOAD,
		 tracer_library(), theirs && *theirs ? ":" : "",
		 theirs ? theirs : "");
	snprintf(kept->channel, sizeof(kept->channel), "%s=%s", TRACECHAN_ENV,
		 tracer_path());
	for (; env && *env; env++)
		if (strncmp(*env, PRELOAD "=", sizeof(PRELOAD)) &&
		    strncmp(*env, TRACECHAN_ENV "=", sizeof(TRACECHAN_ENV)))
			to[n++] = *env;
	to[n++] = kept->preload;
	to[n++] = kept->channel;
	to[n] = NULL;
}

/* In the frame of who calls, since a child of vfork() has no memory of its own. */
#define KEEP(env) do {                                                        \
	if (tracer_head() && !has_both(env)) {                                \
		char **to_ = alloca((count(env) + 3) * sizeof(*to_));         \
		struct kept *kept_ = alloca(sizeof(*kept_));                  \
		keep(to_, env, kept_);                                        \
		env = to_;                                                    \
	}                                                                     \
} while (0)

/* For what the C library does with environ. */
static void keep_environ(void)
{
	struct kept kept;
	char **to;

	if (!tracer_head() || has_both(environ))
		return;
	to = alloca((count(environ) + 3) * sizeof(*to));
	keep(to, environ, &kept);
	setenv(PRELOAD, strchr(kept.preload, '=') + 1, 1);
	setenv(TRACECHAN_ENV, tracer_path(), 1);
}

static void begin_exec(const char *name)
{
	tracer_say(TRACECHAN_EXEC, getpid(), name);
}

static int failed(int ret)
{
	tracer_say(TRACECHAN_EXEC_FAILED, getpid(), "");
	return ret;
}

TRACER_EXPORT int execve(const char *path, char *const argv[], char *const env[])
{
	TRACER_REAL(real, execve);

	KEEP(env);
	begin_exec(path);
	return failed(real(path, argv, env));
}

TRACER_EXPORT int execvpe(const char *file, char *const argv[], char *const env[])
{
	TRACER_REAL(real, execvpe);

	KEEP(env);
	begin_exec(file);
	return failed(real(file, argv, env));
}

TRACER_EXPORT int fexecve(int fd, char *const argv[], char *const env[])
{
	TRACER_REAL(real, fexecve);

	KEEP(env);
	begin_exec(argv[0] ? argv[0] : "");
	return failed(real(fd, argv, env));
}

TRACER_EXPORT int execveat(int dir, const char *path, char *const argv[],
			   char *const env[], int flags)
{
	TRACER_REAL(real, execveat);

	KEEP(env);
	begin_exec(path);
	return failed(real(dir, path, argv, env, flags));
}

TRACER_EXPORT int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

TRACER_EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

/* Arguments up to NULL, and behind it the environment for execle(). */
#define ARGUMENTS(argv, first, ap)                                            \
	size_t n_ = 1, i_;                                                    \
	char **argv;                                                          \
	va_list ap;                                                           \
	va_start(ap, first);                                                  \
	while (va_arg(ap, char *))                                            \
		n_++;                                                         \
	va_end(ap);                                                           \
	argv = alloca((n_ + 1) * sizeof(*argv));                              \
	argv[0] = (char *)first;                                              \
	va_start(ap, first);                                                  \
	for (i_ = 1; i_ <= n_; i_++)                                          \
		argv[i_] = va_arg(ap, char *)

TRACER_EXPORT int execl(const char *path, const char *first, ...)
{
	ARGUMENTS(argv, first, ap);

	va_end(ap);
	return execve(path, argv, environ);
}

TRACER_EXPORT int execlp(const char *file, const char *first, ...)
{
	ARGUMENTS(argv, first, ap);

	va_end(ap);
	return execvpe(file, argv, environ);
}

TRACER_EXPORT int execle(const char *path, const char *first, ...)
{
	char **env;
	ARGUMENTS(argv, first, ap);

	env = va_arg(ap, char **);
	va_end(ap);
	return execve(path, argv, env);
}

static int spawned(int ret, pid_t pid, const char *name)
{
	if (!ret)
		tracer_say(TRACECHAN_SPAWNED, pid, name);
	return ret;
}

TRACER_EXPORT int posix_spawn(pid_t *pid, const char *path,
			      const posix_spawn_file_actions_t *actions,
			      const posix_spawnattr_t *attributes,
			      char *const argv[], char *const env[])
{
	pid_t child;
	int ret;
	TRACER_REAL(real, posix_spawn);

	KEEP(env);
	ret = real(&child, path, actions, attributes, argv, env);
	if (!ret && pid)
		*pid = child;
	return spawned(ret, child, path);
}

TRACER_EXPORT int posix_spawnp(pid_t *pid, const char *file,
			       const posix_spawn_file_actions_t *actions,
			       const posix_spawnattr_t *attributes,
			       char *const argv[], char *const env[])
{
	pid_t child;
	int ret;
	TRACER_REAL(real, posix_spawnp);

	KEEP(env);
	ret = real(&child, file, actions, attributes, argv, env);
	if (!ret && pid)
		*pid = child;
	return spawned(ret, child, file);
}

TRACER_EXPORT int system(const char *command)
{
	TRACER_REAL(real, system);

	keep_environ();
	return real(command);
}

TRACER_EXPORT FILE *popen(const char *command, const char *type)
{
	TRACER_REAL(real, popen);

	keep_environ();
	return real(command, type);
}
