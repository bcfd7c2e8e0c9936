// SPDX-License-Identifier: GPL-2.0-only
/*
 * What --policy names: a built-in reference, the module's built-in replacement, a
 * compiled policy, a source that ampc compiles, or a shipped policy by its name.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/hipec.h"
#include "../option/option.h"
#include "../program/install_path.h"
#include "../program/program.h"
#include "policy.h"

static const struct {
	const char *name;
	enum policy_reference reference;
} references[] = {
#define X(name, text) { text, POLICY_##name },
	POLICY_REFERENCES(X)
#undef X
};

static bool has_suffix(const char *name, const char *suffix)
{
	size_t len = strlen(name), n = strlen(suffix);

	return len > n && !strcmp(name + len - n, suffix);
}

/* Read, parse and verify an image; @name is what the user calls it. */
static int load(struct policy *p, const char *path, struct hipec_text *why)
{
	struct hipec_verify_error err;
	size_t size;
	int ret;

	ret = hipec_image_read(path, &p->image, &size);
	if (ret)
		return program_fail(why, p->name, strerror(-ret));
	if (!hipec_image_parse(p->image, size, &p->policy, &err) &&
	    !hipec_verify(&p->policy, &err))
		return 0;
	program_fail(why, p->name, "");
	hipec_verify_explain(&p->policy, &err, why);
	return -EINVAL;
}

/* Have ampc, beside this program or in PATH, compile @source to @output. */
static int run_ampc(const char *source, const char *output,
		    struct hipec_text *why)
{
	char path[PATH_MAX];
	char *argv[] = { "ampc", "-o", (char *)output, "--", (char *)source,
			 NULL };
	int ret = program_run(install_path(path, "ampc") ? path : NULL, argv, why);

	return ret > 0 ? program_fail(why, source, "it was not compiled") : ret;
}

static int compile(struct policy *p, struct hipec_text *why)
{
	char folder[PATH_MAX], output[PATH_MAX + 16];
	int ret = program_folder_make(folder, why);

	if (ret)
		return ret;
	snprintf(output, sizeof(output), "%s/policy.hpo", folder);
	ret = run_ampc(p->name, output, why);
	if (!ret)
		ret = load(p, output, why);
	unlink(output);
	rmdir(folder);
	return ret;
}

static bool exists(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* A shipped policy: in a folder of HIPEC_POLICY_PATH, or of ours. */
static bool find_shipped(const char *name, char *path)
{
	const char *folders = getenv("HIPEC_POLICY_PATH"), *end;
	char file[PATH_MAX];

	for (; folders && *folders; folders = *end ? end + 1 : end) {
		end = folders + strcspn(folders, ":");
		if (end != folders &&
		    snprintf(path, PATH_MAX, "%.*s/%s.hpo",
			     (int)(end - folders), folders, name) < PATH_MAX &&
		    exists(path))
			return true;
	}
	return snprintf(file, sizeof(file), "policies/%s.hpo", name) <
		       (int)sizeof(file) &&
	       install_path_find(path, INSTALL_PATH_SHARE, file) && exists(path);
}

/* Of the policies in a folder, and of @near, the one whose name is nearest to @name. */
static void find_nearest(const char *folder, const char *name, char *near)
{
	char other[NAME_MAX + 1];
	struct dirent *entry;
	DIR *dir = opendir(folder);

	while (dir && (entry = readdir(dir))) {
		if (!has_suffix(entry->d_name, ".hpo"))
			continue;
		snprintf(other, sizeof(other), "%s", entry->d_name);
		other[strlen(other) - strlen(".hpo")] = 0;
		if (option_nearest(name, *near ? near : NULL, other) == other)
			strcpy(near, other);
	}
	if (dir)
		closedir(dir);
}

/* @with_references: whether these would have done as well. */
static int no_policy(const char *name, bool with_references, struct hipec_text *why)
{
	const char *folders = getenv("HIPEC_POLICY_PATH"), *end;
	char path[PATH_MAX], near[NAME_MAX + 1] = "";
	size_t i;

	for (i = 0; with_references && i < ARRAY_SIZE(references); i++)
		if (option_nearest(name, *near ? near : NULL, references[i].name) ==
		    references[i].name)
			strcpy(near, references[i].name);
	for (; folders && *folders; folders = *end ? end + 1 : end) {
		end = folders + strcspn(folders, ":");
		snprintf(path, sizeof(path), "%.*s", (int)(end - folders), folders);
		find_nearest(path, name, near);
	}
	if (install_path_find(path, INSTALL_PATH_SHARE, "policies"))
		find_nearest(path, name, near);
	if (!*near)
		return program_fail(why, name, with_references ?
				    "want a .hp or .hpo file, lru, fifo, clock, opt, opt-reads, default, auto, builtin, or a shipped policy" :
				    "want a .hp or .hpo file, builtin, or a shipped policy");
	program_fail(why, name, "there is no such policy; did you mean '");
	hipec_text_str(why, near);
	hipec_text_str(why, "'?");
	return -EINVAL;
}

/* What the module could run. */
static int load_named(struct policy *p, bool with_references, struct hipec_text *why)
{
	const char *name = p->name;
	char path[PATH_MAX];

	if (!strcmp(name, HIPEC_FIFO2_NAME)) {
		hipec_fifo2_policy(&p->policy);
		return 0;
	}
	if (has_suffix(name, ".hpo"))
		return load(p, name, why);
	if (has_suffix(name, ".hp"))
		return compile(p, why);
	if (*name && !strchr(name, '/') && find_shipped(name, path))
		return load(p, path, why);
	return no_policy(name, with_references, why);
}

/**
 * policy_open() - find, compile and verify what --policy names
 * @p:    filled; policy_close() it, also after an error
 * @name: a reference, "builtin", a .hpo or .hp file, or a shipped policy; must outlive @p
 * @why:  gets one line on an error
 *
 * What ampc has to say goes to standard error.
 *
 * Context: any; runs a program.
 * Return: 0; -EINVAL.
 */
int policy_open(struct policy *p, const char *name,
		struct hipec_text *why)
{
	size_t i;

	*p = (struct policy){ .name = name };
	for (i = 0; i < ARRAY_SIZE(references); i++)
		if (!strcmp(name, references[i].name))
			p->reference = references[i].reference;
	return p->reference ? 0 : load_named(p, true, why);
}

/**
 * policy_load() - the same of what the module could run: no reference
 * @p:    filled; policy_close() it, also after an error
 * @name: "builtin", a .hpo or .hp file, or a shipped policy; must outlive @p
 * @why:  gets one line on an error
 *
 * Context: any; runs a program.
 * Return: 0; -EINVAL.
 */
int policy_load(struct policy *p, const char *name,
		struct hipec_text *why)
{
	*p = (struct policy){ .name = name };
	return load_named(p, false, why);
}

void policy_close(struct policy *p)
{
	free(p->image);
	p->image = NULL;
}
