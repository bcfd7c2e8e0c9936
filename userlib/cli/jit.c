// SPDX-License-Identifier: GPL-2.0-only
/*
 * Native code of live containers: --jit, and hipec dis --native. The kernel gives the code
 * in debugfs, to root.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../lib/hipec.h"
#include "../sim/program.h"
#include "cli.h"
#include "jit.h"
#include "live.h"

/* HIPEC_LOAD_JIT_* of one of CLI_JIT_WORDS. */
uint32_t cli_jit_flags(const char *text)
{
	static const uint32_t flags[] = {
		HIPEC_LOAD_JIT_OFF, HIPEC_LOAD_JIT_AUTO, HIPEC_LOAD_JIT_ON,
	};

	return flags[option_word(CLI_JIT_WORDS, text)];
}

/* HIPEC_ENGINES's words; of a number that a newer module has, none. */
const char *cli_jit_text(uint64_t engine)
{
	switch (engine) {
#define X(name, code, text) case code: return text;
	HIPEC_ENGINES(X)
#undef X
	}
	return "";
}

/* As objdump has it, or else in bytes. */
static int print_code(const char *path)
{
	char line[256], *const argv[] = {
		"objdump", "-D", "-b", "binary", "-m", "i386:x86-64", (char *)path, NULL,
	};
	struct hipec_text why;
	unsigned long at = 0;
	FILE *f;
	int c;

	fflush(stdout);
	hipec_text_init(&why, line, sizeof(line));
	if (!sim_program_run(NULL, argv, &why))
		return CLI_OK;
	f = fopen(path, "re");
	while (f && (c = fgetc(f)) != EOF) {
		if (!(at % 16))
			printf("%s%6lx ", at ? "\n" : "", at);
		printf(" %02x", c);
		at++;
	}
	putchar('\n');
	if (f)
		fclose(f);
	return CLI_OK;
}

/* A copy that objdump can read twice: debugfs has no length. Return: its bytes; -errno. */
static long copy(FILE *from, const char *to)
{
	FILE *out = fopen(to, "we");
	long nr = 0;
	int c;

	if (!out)
		return -errno;
	for (; (c = fgetc(from)) != EOF; nr++)
		fputc(c, out);
	return fclose(out) ? -errno : nr;
}

/* What the kernel gives of container @id. Return: 0 or an exit code, said. */
static int print_given(uint64_t id)
{
	char path[64], folder[PATH_MAX], file[PATH_MAX + 8], line[256];
	struct hipec_text why;
	int ret = CLI_FAILED;
	FILE *from;
	long nr;

	snprintf(path, sizeof(path), "/sys/kernel/debug/hipec/%llu/native_code",
		 (unsigned long long)id);
	from = fopen(path, "re");
	if (!from) {
		cli_error("%s: %s", path, errno == EACCES ? "root may read it" : strerror(errno));
		return CLI_FAILED;
	}
	hipec_text_init(&why, line, sizeof(line));
	if (sim_folder_make(folder, &why)) {
		cli_error("%s", line);
		fclose(from);
		return CLI_FAILED;
	}
	snprintf(file, sizeof(file), "%s/code", folder);
	nr = copy(from, file);
	if (nr < 0)
		cli_error("%s: %s", file, strerror(-nr));
	else if (!nr)
		cli_error("container %llu has no native code any more", (unsigned long long)id);
	else
		ret = print_code(file);
	fclose(from);
	unlink(file);
	rmdir(folder);
	return ret;
}

/**
 * cli_jit_print() - print the native code of a live container
 * @id: its number
 *
 * Context: any; runs objdump, if there is one.
 * Return: 0 or an exit code, said: also why there is no code.
 */
int cli_jit_print(uint64_t id)
{
	struct hipec_status s;
	int fd = hipec_open(), ret;

	if (fd < 0)
		return cli_open_failed(fd);
	ret = hipec_next(fd, id - 1, &s);
	close(fd);
	if (!ret && s.id != id)
		ret = -ESRCH;
	if (ret)
		return cli_live_failed(id, ret == -ENOENT ? -ESRCH : ret);
	if (s.counters.engine == HIPEC_ENGINE_NATIVE)
		return print_given(id);
	cli_error("container %llu has no native code: %s", (unsigned long long)id,
		  cli_jit_text(s.counters.engine));
	return CLI_FAILED;
}
