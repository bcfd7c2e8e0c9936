// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starting a program with a library of ours in it, and telling when that cannot be.
 */
#define _GNU_SOURCE	/* asprintf(), pipe2(), strdupa() */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../program/install_path.h"
#include "cli.h"
#include "program.h"

#define PRELOAD "LD_PRELOAD"

/**
 * cli_program_library() - where a library of ours is: beside us, or installed
 * @name: of its file
 *
 * Return: its path, to free(); NULL, said, if there is none, or if its name is one
 *         that the loader does not take.
 */
char *cli_program_library(const char *name)
{
	char path[PATH_MAX], *copy;

	if (!install_path_find(path, INSTALL_PATH_LIB, name)) {
		cli_error("want %s beside this command or in " INSTALL_PATH_LIB, name);
		return NULL;
	}
	if (path[strcspn(path, " :")]) {
		cli_error("%s: the loader takes no name with a blank or a colon in it",
			  path);
		return NULL;
	}
	copy = strdup(path);
	if (!copy)
		cli_error("%s", strerror(ENOMEM));
	return copy;
}

static int set_environment(const struct cli_program *how)
{
	const char *others = getenv(PRELOAD);
	char *all;
	int ret;

	if (how->name && setenv(how->name, how->value, 1))
		return -1;
	if (!how->library)
		return 0;
	if (asprintf(&all, "%s%s%s", how->library, others && *others ? ":" : "",
		     others ?: "") < 0)
		return -1;
	ret = setenv(PRELOAD, all, 1);
	free(all);
	return ret;
}

/* In the child: does not return. */
static void become(const struct cli_program *how, char **argv, int tell)
{
	int error = ENOMEM;

	if (how->mask)
		sigprocmask(SIG_SETMASK, how->mask, NULL);
	/* 0 is whoever writes it. */
	if (how->procs && write(how->procs, "0", 1) < 0) {
		error = errno;
	} else if (!set_environment(how)) {
		execvp(argv[0], argv);
		error = errno;
	}
	if (write(tell, &error, sizeof(error)) < 0)
		_exit(CLI_NOT_RUN);
	_exit(CLI_NOT_FOUND);
}

/**
 * cli_program_start() - run a program
 * @argv:  its name, as for a shell, and its arguments
 * @how:   what it gets along
 * @child: gets its number, to wait for
 *
 * Context: any; forks.
 * Return: 0; or, said, CLI_NOT_FOUND, CLI_NOT_RUN or an exit code.
 */
int cli_program_start(char **argv, const struct cli_program *how, pid_t *child)
{
	int tell[2], error = 0;

	if (pipe2(tell, O_CLOEXEC)) {
		cli_error("%s", strerror(errno));
		return CLI_FAILED;
	}
	*child = fork();
	if (!*child)
		become(how, argv, tell[1]);
	close(tell[1]);
	if (*child < 0)
		error = errno;
	else if (read(tell[0], &error, sizeof(error)) != sizeof(error))
		error = 0;
	close(tell[0]);
	if (!error)
		return CLI_OK;
	cli_error("%s: %s", cli_clean(strdupa(argv[0])), strerror(error));
	return error == ENOENT ? CLI_NOT_FOUND : CLI_NOT_RUN;
}

/**
 * cli_program_status() - the exit code of who runs a program, as shells have it
 * @status: of wait()
 *
 * Return: the program's, or 128 and the number of the signal that ended it.
 */
int cli_program_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Its file, as execvp() finds it. */
static int open_program(const char *name)
{
	const char *dirs = getenv("PATH") ?: "/usr/bin:/bin";
	char path[PATH_MAX];
	int fd = -1;

	if (strchr(name, '/'))
		return open(name, O_RDONLY | O_CLOEXEC);
	while (*dirs && fd < 0) {
		size_t n = strcspn(dirs, ":");

		snprintf(path, sizeof(path), "%.*s/%s", (int)n, dirs, name);
		if (!access(path, X_OK))
			fd = open(path, O_RDONLY | O_CLOEXEC);
		dirs += n + !!dirs[n];
	}
	return fd;
}

static bool has_loader(int fd, const Elf64_Ehdr *e)
{
	Elf64_Phdr p;
	int i;

	for (i = 0; i < e->e_phnum; i++)
		if (pread(fd, &p, sizeof(p), e->e_phoff + i * sizeof(p)) ==
		    sizeof(p) && p.p_type == PT_INTERP)
			return true;
	return false;
}

/* The interpreter of a script; NULL if it is none. In @line. */
static const char *interpreter(int fd, char *line, size_t size)
{
	ssize_t n = pread(fd, line, size - 1, 0);
	char *name = line + 2;

	if (n < 3 || line[0] != '#' || line[1] != '!')
		return NULL;
	line[n] = 0;
	name += strspn(name, " \t");
	name[strcspn(name, " \t\r\n")] = 0;
	return name;
}

static const char *why_plain(const char *name, bool script)
{
	int fd = open_program(name);
	const char *why = NULL, *next = NULL;
	char line[256];
	Elf64_Ehdr e = { 0 };
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && st.st_mode & (S_ISUID | S_ISGID) && !script)
		why = "it is setuid or setgid, into which nothing is loaded";
	else if (pread(fd, &e, sizeof(e), 0) != sizeof(e) ||
		 memcmp(e.e_ident, ELFMAG, SELFMAG))
		next = interpreter(fd, line, sizeof(line));
	else if (e.e_ident[EI_CLASS] != ELFCLASS64)
		why = "it is of 32 bits";
	else if (!has_loader(fd, &e))
		why = "it is static, so nothing can be loaded into it";
	close(fd);
	if (next && !script && why_plain(next, true))
		why = "it is a script, and its interpreter static or setuid";
	return why;
}

/**
 * cli_program_why_plain() - why nothing can be loaded into a program
 * @name: as for a shell
 *
 * Return: a text that goes on behind "NAME: "; NULL if nothing is found.
 */
const char *cli_program_why_plain(const char *name)
{
	return why_plain(name, false);
}
