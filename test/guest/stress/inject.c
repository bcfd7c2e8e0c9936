// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocations that the module asks for fail, in any task, kernel threads too, on a kernel
 * with fault injection.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "inject.h"

#define DEBUGFS "/sys/kernel/debug/"

static const char *const injectors[] = { "failslab", "fail_page_alloc" };
static bool injecting;

static void set(const char *injector, const char *name, const char *value)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), DEBUGFS "%s/%s", injector, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, value, strlen(value)) < 0)
		perror(path);
	close(fd);
}

/* Where the module's text is, as text; false: the kernel does not say. */
static bool module_text(char *start, char *end, size_t size)
{
	unsigned long long at = 0, bytes = 0;
	char line[256];
	FILE *f = fopen("/proc/modules", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "hipec %llu %*s %*s %*s 0x%llx", &bytes, &at) == 2)
			break;
	if (f)
		fclose(f);
	snprintf(start, size, "0x%llx", at);
	snprintf(end, size, "0x%llx", at + bytes);
	return at;
}

/*
 * Prepare for it. @depth: allocations fail below so many calls of the module's, those of
 * the allocator included. Return: whether this kernel can.
 */
bool can_inject(uint32_t depth)
{
	char start[32], end[32], text[16];
	size_t i;

	if (access(DEBUGFS "failslab", F_OK) || !module_text(start, end, sizeof(start)))
		return false;
	snprintf(text, sizeof(text), "%u", depth);
	set("fail_usercopy", "verbose", "0");
	set("fail_make_request", "verbose", "0");
	for (i = 0; i < sizeof(injectors) / sizeof(*injectors); i++) {
		set(injectors[i], "verbose", "0");
		set(injectors[i], "ignore-gfp-wait", "N");
		set(injectors[i], "min-order", "0");
		set(injectors[i], "interval", "1");
		set(injectors[i], "times", "-1");
		set(injectors[i], "stacktrace-depth", text);
	}
	return true;
}

void no_injection(void)
{
	size_t i;

	for (i = 0; injecting && i < sizeof(injectors) / sizeof(*injectors); i++)
		set(injectors[i], "probability", "0");
	for (i = 0; injecting && i < sizeof(injectors) / sizeof(*injectors); i++)
		set(injectors[i], "require-end", "0xffffffffffffffff");
	injecting = false;
}

/* From one in 100 to one in 5; the next call ends it. */
void inject_faults(struct fuzz_rng *rng)
{
	const char *injector = injectors[fuzz_below(rng, 2)];
	char start[32], end[32], percent[8];

	if (injecting || !module_text(start, end, sizeof(start))) {
		no_injection();
		return;
	}
	injecting = true;
	snprintf(percent, sizeof(percent), "%u", 1 + fuzz_below(rng, 20));
	set(injector, "require-start", start);
	set(injector, "require-end", end);
	set(injector, "probability", percent);
}
