// SPDX-License-Identifier: GPL-2.0-only
/*
 * Other programs. See program.h.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

extern char **environ;

/* Why @name is of no use, in one line. Return: -EINVAL. */
int program_fail(struct hipec_text *why, const char *name, const char *text)
{
	hipec_text_str(why, name);
	hipec_text_str(why, ": ");
	hipec_text_str(why, text);
	return -EINVAL;
}

/**
 * program_run() - run a program to its end
 * @path: NULL, or where it is, if it is there; else it is looked for in PATH
 * @argv: its arguments, from its name on
 * @why:  gets one line if it cannot be run
 *
 * What it has to say goes where our own messages go.
 *
 * Return: 0; 1 if it has failed; -EINVAL if it cannot be run.
 */
int program_run(const char *path, char *const argv[], struct hipec_text *why)
{
	int ret, status;
	pid_t pid;

	if (path && !access(path, X_OK))
		ret = posix_spawn(&pid, path, NULL, NULL, argv, environ);
	else
		ret = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (ret)
		return program_fail(why, argv[0], strerror(ret));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return program_fail(why, argv[0], strerror(errno));
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

/**
 * program_folder_make() - make a folder for files that are forgotten
 * @folder: gets its name, in TMPDIR or /tmp; the caller removes it
 * @why:    gets one line on an error
 *
 * Return: 0; -EINVAL.
 */
int program_folder_make(char folder[PATH_MAX], struct hipec_text *why)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(folder, PATH_MAX, "%s/hipec-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	return mkdtemp(folder) ? 0 : program_fail(why, folder, strerror(errno));
}
