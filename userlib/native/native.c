// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policies in native code, in user space. See native.h.
 *
 * The C library's loader is asked for weakly: a static program has none of use, and says
 * so.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../image/emitc.h"
#include "../program/install_path.h"
#include "../program/program.h"
#include "native.h"

#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlclose
#pragma weak dlerror

/* The name of the entry of policy @i. */
void native_entry(char entry[NATIVE_ENTRY], size_t i)
{
	snprintf(entry, NATIVE_ENTRY, "policy_%zu", i);
}

/* All policies in one file: what policy.h has is compiled once. */
static int write_source(const char *path, const struct hipec_policy *const *policy,
			size_t nr, struct hipec_text *why)
{
	FILE *out = fopen(path, "we");
	char entry[NATIVE_ENTRY];
	int ret = 0, failed;
	size_t i;

	if (!out)
		return program_fail(why, path, strerror(errno));
	hipec_emit_c_head(out);
	for (i = 0; i < nr && !ret; i++) {
		native_entry(entry, i);
		ret = hipec_emit_c(policy[i], entry, out);
	}
	failed = ferror(out);
	if (fclose(out) || failed)
		ret = ret ?: -EIO;
	return ret ? program_fail(why, path, strerror(-ret)) : 0;
}

/* Have $CC, or cc, make a library. */
static int compile(const char *source, const char *library, struct hipec_text *why)
{
	const char *cc = getenv("CC");
	char folder[PATH_MAX], include[PATH_MAX + 2];
	char *argv[] = { (char *)(cc && *cc ? cc : "cc"), "-O2", "-w", "-fPIC", "-shared",
			 include, "-o", (char *)library, (char *)source, NULL };
	int ret;

	if (!install_path_find(folder, INSTALL_PATH_SHARE, "native"))
		return program_fail(why, "native/policy.h", "it is not beside this program");
	snprintf(include, sizeof(include), "-I%s", folder);
	ret = program_run(NULL, argv, why);
	return ret > 0 ? program_fail(why, argv[0], "it does not compile policies") : ret;
}

/**
 * native_load() - load what was compiled
 * @n:    to fill; native_close() it
 * @path: of the library
 * @why:  gets one line on an error
 *
 * Return: 0; -EINVAL, also where the machine of what was compiled is not ours.
 */
int native_load(struct native *n, const char *path, struct hipec_text *why)
{
	const unsigned int *size;

	*n = (struct native){ 0 };
	if (!dlopen)
		return program_fail(why, "native code", "a static program loads none");
	n->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!n->library)
		return program_fail(why, "native code", dlerror());
	size = dlsym(n->library, "hipec_machine_size");
	if (size && *size == sizeof(struct hipec_vm))
		return 0;
	native_close(n);
	return program_fail(why, "native code", "it is for another version of hipec");
}

/**
 * native_open() - compile policies, and load them
 * @n:      to fill; native_close() it
 * @policy: verified; native_entry() names them
 * @nr:     of them
 * @why:    gets one line on an error
 *
 * What the compiler has to say goes to standard error.
 *
 * Context: any; runs a program.
 * Return: 0; -EINVAL.
 */
int native_open(struct native *n, const struct hipec_policy *const *policy, size_t nr,
		struct hipec_text *why)
{
	char folder[PATH_MAX], source[PATH_MAX + 16], library[PATH_MAX + 16];
	int ret;

	*n = (struct native){ 0 };
	ret = program_folder_make(folder, why);
	if (ret)
		return ret;
	snprintf(source, sizeof(source), "%s/policy.c", folder);
	snprintf(library, sizeof(library), "%s/policy.so", folder);
	ret = write_source(source, policy, nr, why) ?: compile(source, library, why) ?:
	      native_load(n, library, why);
	unlink(source);
	unlink(library);
	rmdir(folder);
	return ret;
}

/**
 * native_find() - the code of a policy
 * @n:     loaded
 * @entry: name
 * @run:   gets what runs an event of a machine of that policy, while @n is loaded; its
 *         caller then calls hipec_page_forget_evicted()
 *
 * Return: false if there is none of that name.
 */
bool native_find(const struct native *n, const char *entry,
		 int (**run)(struct hipec_vm *vm, u32 event))
{
	*run = dlsym(n->library, entry);
	return *run;
}

void native_close(struct native *n)
{
	if (n->library)
		dlclose(n->library);
	n->library = NULL;
}
