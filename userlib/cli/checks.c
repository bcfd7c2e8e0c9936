// SPDX-License-Identifier: GPL-2.0-only
/*
 * What keeps hipec from working on a machine, and the command that mends it.
 *
 * All is read from files: machine.h.
 */
#define _GNU_SOURCE	/* O_PATH, faccessat() with AT_EACCESS */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "checks.h"
#include "cli.h"
#include "machine.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define EFI_SECURE_BOOT							\
	"/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
#define EFI_MACHINE_KEYS						\
	"/sys/firmware/efi/efivars/MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23"
#define DKMS "/var/lib/dkms"
#define DKMS_KEY DKMS "/mok.pub"
#define CAP_IPC_LOCK 14

static void __attribute__((format(printf, 3, 4)))
say(struct doctor_finding *f, enum doctor_state state, const char *format, ...)
{
	va_list ap;

	f->state = state;
	va_start(ap, format);
	vsnprintf(f->text, sizeof(f->text), format, ap);
	va_end(ap);
}

static void __attribute__((format(printf, 2, 3)))
mend(struct doctor_finding *f, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(f->mend, sizeof(f->mend), format, ap);
	va_end(ap);
}

/*
 * Whether the module is built for this release. HIPEC_KERNELS_FROM has the oldest of each
 * series: older ones lack what the module calls, or are in no archive to try it on. The words
 * differ from releases in the last number alone.
 */
static bool is_built_for(const char *release)
{
	char list[] = HIPEC_KERNELS_FROM, *save = NULL, *oldest;

	for (oldest = strtok_r(list, " ", &save); oldest;
	     oldest = strtok_r(NULL, " ", &save)) {
		size_t n = strlen(oldest);

		while (n && strchr("0123456789", oldest[n - 1]))
			n--;
		if (!strncmp(release, oldest, n) &&
		    strtoul(release + n, NULL, 10) >= strtoul(oldest + n, NULL, 10))
			return true;
	}
	return false;
}

static void check_kernel(const struct doctor *d, struct doctor_finding *f)
{
	char arch[32], version[65];

	machine_line(d->root, "/proc/sys/kernel/arch", arch, sizeof(arch));
	machine_line(d->root, "/proc/sys/kernel/version", version, sizeof(version));
	if (*arch && strcmp(arch, "x86_64"))
		say(f, DOCTOR_WRONG, "the module is for x86_64, and this is %s",
		    arch);
	else if (strstr(version, "PREEMPT_RT"))
		say(f, DOCTOR_WRONG, "%s; the module is not built for real-time kernels",
		    d->release);
	else if (is_built_for(d->release))
		say(f, DOCTOR_OK, "%s; the module is tested on " HIPEC_KERNELS, d->release);
	else if (d->loaded)
		say(f, DOCTOR_NOTE, "%s; the module is tested on "
		    HIPEC_KERNELS, d->release);
	else
		say(f, DOCTOR_WRONG, "%s; the module is built for " HIPEC_KERNELS ", from "
		    HIPEC_KERNELS_FROM " on", d->release);
	if (f->state == DOCTOR_WRONG && (!*arch || !strcmp(arch, "x86_64")))
		mend(f, "apt install linux-image-amd64 linux-headers-amd64 && reboot");
}

/*
 * Whether a module can be built for the kernel that runs. If not, what builds one is of no
 * use before another kernel runs.
 */
static bool may_be_built(const struct doctor *d)
{
	struct doctor_finding kernel = { 0 };

	check_kernel(d, &kernel);
	return kernel.state == DOCTOR_OK || d->loaded;
}

/* How DKMS gets the module: from an archive, from its sources, or from a package of ours. */
static void mend_dkms(const struct doctor *d, struct doctor_finding *f)
{
	const char *dkms = machine_has(d->root, "/usr/sbin/dkms") ? "" : "apt install dkms && ";

	if (*d->version && may_be_built(d))
		mend(f, "dkms install hipec/%s -k %s", d->version, d->release);
	else if (*d->version)
		return;
	else if (machine_archive(d->root, "hipec-dkms") == MACHINE_YES)
		mend(f, "apt install hipec-dkms");
	else if (machine_has(d->root, "/usr/src/hipec-" HIPEC_VERSION "/dkms.conf") &&
		 may_be_built(d))
		mend(f, "%sdkms install hipec/" HIPEC_VERSION " -k %s", dkms, d->release);
	else
		mend(f, "make deb && apt install ./build/deb/hipec-dkms_*.deb, in hipec's sources");
}

static void check_module(const struct doctor *d, struct doctor_finding *f)
{
	if (d->loaded) {
		say(f, DOCTOR_OK, "it is loaded");
	} else if (*d->module) {
		say(f, DOCTOR_WRONG, "it is there, and not loaded");
		mend(f, "modprobe hipec");
	} else {
		say(f, DOCTOR_WRONG, "there is none for %s", d->release);
		mend_dkms(d, f);
	}
}

/* Of a kernel that is no longer in the archive there are none to install. */
static void check_headers(const struct doctor *d, struct doctor_finding *f)
{
	char package[DOCTOR_TEXT];
	enum machine_answer archive;

	if (d->headers) {
		say(f, DOCTOR_OK, "they are installed");
		return;
	}
	snprintf(package, sizeof(package), "linux-headers-%s", d->release);
	archive = machine_archive(d->root, package);
	say(f, d->loaded || *d->module ? DOCTOR_NOTE : DOCTOR_WRONG,
	    "there are none of %s, which the module is built with%s", d->release,
	    archive == MACHINE_NO ? "; no archive of this machine has them" : "");
	if (!may_be_built(d))
		return;		/* the kernel comes first */
	if (archive == MACHINE_NO)
		mend(f, "apt install linux-image-amd64 linux-headers-amd64 && reboot");
	else
		mend(f, "%sapt install %s", archive == MACHINE_UNKNOWN ? "apt update && " : "",
		     package);
}

static void check_dkms(const struct doctor *d, struct doctor_finding *f)
{
	char path[DOCTOR_TEXT];
	bool there = d->loaded || *d->module;

	if (!*d->version) {
		say(f, there ? DOCTOR_NOTE : DOCTOR_WRONG,
		    "it does not know the module, so the next kernel has none");
		mend_dkms(d, f);
		return;
	}
	snprintf(path, sizeof(path), DKMS "/hipec/kernel-%s-x86_64", d->release);
	if (machine_has(d->root, path)) {
		say(f, DOCTOR_OK, "hipec/%s is installed", d->version);
		return;
	}
	snprintf(path, sizeof(path), DKMS "/hipec/%s/build/make.log", d->version);
	say(f, there ? DOCTOR_NOTE : DOCTOR_WRONG,
	    "hipec/%s is not installed for %s%s%s", d->version, d->release,
	    machine_has(d->root, path) ? "; it was not built, see " : "",
	    machine_has(d->root, path) ? path : "");
	mend_dkms(d, f);
}

/* Whether the kernel loads signed modules alone. */
static bool wants_signature(const struct doctor *d)
{
	size_t size;
	char *bytes = machine_read(d->root, EFI_SECURE_BOOT, &size);
	/* Four bytes of attributes come first. */
	bool secure = bytes && size > 4 && bytes[4] == 1;

	free(bytes);
	return secure || machine_contains(d->root, "/sys/kernel/security/lockdown", "[integrity]",
			     strlen("[integrity]")) ||
	       machine_contains(d->root, "/sys/kernel/security/lockdown", "[confidentiality]",
		   strlen("[confidentiality]"));
}

/* Whether the firmware has the key that DKMS signs with. */
static bool key_is_known(const struct doctor *d)
{
	size_t size;
	char *key = machine_read(d->root, DKMS_KEY, &size);
	bool known = key && size && machine_contains(d->root, EFI_MACHINE_KEYS, key, size);

	free(key);
	return known;
}

static void check_secure_boot(const struct doctor *d, struct doctor_finding *f)
{
	static const char mark[] = "~Module signature appended~\n";

	if (!wants_signature(d)) {
		say(f, DOCTOR_OK, "modules need no signature");
	} else if (d->loaded) {
		say(f, DOCTOR_OK, "modules need a signature, and it is loaded");
	} else if (!*d->module) {
		say(f, DOCTOR_NOTE, "modules need a signature; DKMS gives them one");
	} else if (!machine_contains(d->root, d->module, mark, strlen(mark))) {
		say(f, DOCTOR_WRONG, "modules need a signature, and the module has none");
		if (*d->version)
			mend(f, "dkms install --force hipec/%s -k %s",
			     d->version, d->release);
	} else if (!key_is_known(d)) {
		say(f, DOCTOR_WRONG, "the module is signed with a key that the firmware does not know");
		mend(f, "mokutil --import " DKMS_KEY " && reboot");
	} else {
		say(f, DOCTOR_OK, "modules need a signature; its key is known");
	}
}

/* The number of a group; -1 if there is none. */
static long group_number(const struct doctor *d, const char *name)
{
	size_t size, n = strlen(name);
	char *text = machine_read(d->root, "/etc/group", &size), *save = NULL, *line;
	long number = -1;

	/* name:password:number:members */
	for (line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save))
		if (!strncmp(line, name, n) && line[n] == ':' &&
		    strchr(line + n + 1, ':'))
			number = strtol(strchr(line + n + 1, ':') + 1, NULL, 10);
	free(text);
	return number;
}

static void check_device(const struct doctor *d, struct doctor_finding *f)
{
	int fd = machine_open(d->root, "/dev/hipec", O_PATH);
	long group = group_number(d, "hipec");
	struct passwd *user = getpwuid(geteuid());
	struct stat st = { 0 };

	if (fd < 0 || fstat(fd, &st)) {
		say(f, d->loaded ? DOCTOR_WRONG : DOCTOR_NOTE, d->loaded ?
		    "there is no /dev/hipec, though the module is loaded" :
		    "/dev/hipec comes when the module is loaded");
		if (d->loaded)
			mend(f, "udevadm trigger --name-match=hipec");
	} else if (!faccessat(d->root, "dev/hipec", R_OK | W_OK, AT_EACCESS)) {
		say(f, DOCTOR_OK, "/dev/hipec admits you (mode %04o)",
		    st.st_mode & 07777);
	} else if (group >= 0 && (long)st.st_gid == group) {
		say(f, DOCTOR_WRONG, "/dev/hipec is the group hipec's, and you are not in it");
		mend(f, "adduser %s hipec, and log in again",
		     user ? user->pw_name : "YOU");
	} else {
		say(f, DOCTOR_WRONG, "/dev/hipec is not the group hipec's (mode %04o)",
		    st.st_mode & 07777);
		mend(f, "%sudevadm control --reload && udevadm trigger --name-match=hipec",
		     group < 0 ? "groupadd -r hipec && " : "");
	}
	if (fd >= 0)
		close(fd);
}

/* Whether the caller may lock what memory it wants. */
static bool may_lock_all(const struct doctor *d)
{
	size_t size;
	char *text = machine_read(d->root, "/proc/self/status", &size);
	char *caps = text ? strstr(text, "\nCapEff:") : NULL;
	bool may = caps && strtoull(caps + strlen("\nCapEff:"), NULL, 16) &
				   (1ULL << CAP_IPC_LOCK);

	free(text);
	return may;
}

static void check_memlock(const struct doctor *d, struct doctor_finding *f)
{
	static const char row[] = "\nMax locked memory";
	size_t size;
	char *text = machine_read(d->root, "/proc/self/limits", &size);
	char *at = text ? strstr(text, row) : NULL;
	char memory[CLI_COUNT];
	unsigned long long bytes;

	if (may_lock_all(d) ||
	    (at && sscanf(at + strlen(row), "%llu", &bytes) != 1)) {
		say(f, DOCTOR_OK, "no limit");
	} else if (!at) {
		say(f, DOCTOR_NOTE, "the limit is not known");
	} else {
		say(f, DOCTOR_NOTE, "budgets end at %s; shares (--share) do not",
		    cli_memory(memory, bytes));
		mend(f, "echo '@hipec - memlock unlimited' >/etc/security/limits.d/hipec.conf, and log in again");
	}
	free(text);
}

/* The caller's own cgroup, below the root: "sys/fs/cgroup/..."; false if it is not known. */
static bool own_cgroup(const struct doctor *d, char *path, size_t size)
{
	size_t n;
	char *text = machine_read(d->root, "/proc/self/cgroup", &n);
	char *at = text && !strncmp(text, "0::/", 4) ? text : text ? strstr(text, "\n0::/") : NULL;
	bool known = at;

	if (known) {
		at = strchr(at, '/');
		snprintf(path, size, "sys/fs/cgroup%.*s", (int)strcspn(at, "\n"), at);
	}
	free(text);
	return known;
}

/* What hipec run and hipec attach --cgroup need to have files as they are opened. */
static void check_in_place(const struct doctor *d, struct doctor_finding *f)
{
	char enabled[8], own[PATH_MAX];

	machine_line(d->root, "/proc/sys/kernel/ftrace_enabled", enabled, sizeof(enabled));
	if (!machine_has(d->root, "/sys/fs/cgroup/cgroup.procs")) {
		say(f, DOCTOR_NOTE, "no cgroups of version 2 in /sys/fs/cgroup, without which hipec run runs nothing%s",
		    machine_has(d->root, "/sys/fs/cgroup/memory") ?
		    "; the kernel's argument systemd.unified_cgroup_hierarchy=1 changes that" : "");
	} else if (!*enabled) {
		say(f, DOCTOR_NOTE, "this kernel has no hooks of functions, without which hipec run runs nothing; hipec attach takes files by name");
	} else if (*enabled != '1') {
		say(f, DOCTOR_NOTE, "hooks of functions are off, and hipec run runs nothing");
		mend(f, "sysctl kernel.ftrace_enabled=1");
	} else if (own_cgroup(d, own, sizeof(own)) && cli_cgroup_divides(d->root, own)) {
		say(f, DOCTOR_NOTE, "your cgroup, /%s, is not yours to make others in, and hipec run runs nothing",
		    own);
		mend(f, "%s", CLI_CGROUP_SCOPE);
	} else {
		say(f, DOCTOR_OK, "files are had in place as programs open them");
	}
}

/* Whether one of a list of words between commas is @word, or @word=always. */
static bool has_option(const char *options, const char *word)
{
	size_t n = strlen(word);

	for (; options; options = strchr(options, ','), options += !!options)
		if (!strncmp(options, word, n) &&
		    (!options[n] || options[n] == ',' || !strncmp(options + n, "=always", 7)))
			return true;
	return false;
}

/* What users have files on: a disk, or another machine's. */
static bool holds_files(const char *source, const char *place, const char *type)
{
	static const char *const far[] = { "nfs", "nfs4", "cifs", "9p", "virtiofs", "ceph", "zfs" };
	static const char *const fixed[] = { "squashfs", "iso9660", "vfat", "efivarfs" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fixed); i++)
		if (!strcmp(type, fixed[i]))
			return false;
	for (i = 0; i < ARRAY_SIZE(far); i++)
		if (!strcmp(type, far[i]))
			return true;
	/* Single files, as containers have some, and what is for starting only. */
	return *source == '/' && strncmp(place, "/boot", 5) && strncmp(place, "/etc/", 5);
}

/* Which file systems have files that a policy can have: module/cache takes them by type. */
static void check_file_systems(const struct doctor *d, struct doctor_finding *f)
{
	static const char *const taken[] = { "ext4", "xfs", "btrfs" };
	char source[DOCTOR_TEXT], place[DOCTOR_TEXT], type[64], options[DOCTOR_TEXT];
	char good[64] = "", other[DOCTOR_TEXT - 96] = "";
	size_t size, i, n = 0;
	char *text = machine_read(d->root, "/proc/self/mounts", &size), *save = NULL, *line;

	for (line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, "%255s %255s %63s %255s", source, place, type, options) != 4 ||
		    !holds_files(source, place, type))
			continue;
		for (i = 0; i < ARRAY_SIZE(taken) && strcmp(type, taken[i]); i++)
			;
		if (i == ARRAY_SIZE(taken) || has_option(options, "dax")) {
			if (n < sizeof(other))
				n += snprintf(other + n, sizeof(other) - n, "%s%s (%s%s)",
					      n ? ", " : "", place, type,
					      i < ARRAY_SIZE(taken) ? ", DAX" : "");
		} else if (!strstr(good, taken[i])) {
			snprintf(good + strlen(good), sizeof(good) - strlen(good), "%s%s",
				 *good ? ", " : "", taken[i]);
		}
	}
	if (!text)
		say(f, DOCTOR_NOTE, "it is not known which are mounted");
	else if (n)
		say(f, DOCTOR_NOTE, "files are taken on ext4, xfs and btrfs, and not on %s", other);
	else if (*good)
		say(f, DOCTOR_OK, "files are taken on all that are mounted: %s", good);
	else
		say(f, DOCTOR_NOTE, "files are taken on ext4, xfs and btrfs, and none is mounted");
	free(text);
}

static const struct {
	const char *name;
	void (*fn)(const struct doctor *d, struct doctor_finding *f);
} checks[] = {
	{ "kernel", check_kernel },
	{ "headers", check_headers },
	{ "dkms", check_dkms },
	{ "secure-boot", check_secure_boot },
	{ "module", check_module },
	{ "device", check_device },
	{ "memlock", check_memlock },
	{ "in-place", check_in_place },
	{ "file-systems", check_file_systems },
};

/* What modprobe would load: a line of modules.dep begins with it. */
static void find_module(struct doctor *d)
{
	char path[DOCTOR_TEXT];
	size_t size;
	char *text, *at, *line;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", d->release);
	text = machine_read(d->root, path, &size);
	at = text ? strstr(text, "/hipec.ko") : NULL;
	for (line = at; line && line > text && line[-1] != '\n'; line--)
		;
	if (line && *line == '/')	/* of depmod, long ago */
		snprintf(d->module, sizeof(d->module), "%.*s",
			 (int)strcspn(line, ":"), line);
	else if (line)
		snprintf(d->module, sizeof(d->module), "/lib/modules/%s/%.*s",
			 d->release, (int)strcspn(line, ":"), line);
	free(text);
}

/* The version that DKMS has: its folder has a number's name. */
static void find_version(struct doctor *d)
{
	int fd = machine_open(d->root, DKMS "/hipec", O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (*e->d_name >= '0' && *e->d_name <= '9')
			snprintf(d->version, sizeof(d->version), "%.31s",
				 e->d_name);
	if (dir)
		closedir(dir);
}

/**
 * doctor_open() - look at a machine
 * @d:    filled; doctor_close() it
 * @root: its root folder
 *
 * Return: 0; -ENOENT, or what else open() says of @root.
 */
int doctor_open(struct doctor *d, const char *root)
{
	char path[DOCTOR_TEXT];
	static const char line[] = "\nhipec ";

	*d = (struct doctor){ .root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC) };
	if (d->root < 0)
		return -errno;
	machine_line(d->root, "/proc/sys/kernel/osrelease", d->release,
		  sizeof(d->release));
	d->loaded = machine_has(d->root, "/sys/module/hipec") ||
		    machine_contains(d->root, "/proc/modules", line, strlen(line));
	snprintf(path, sizeof(path), "/lib/modules/%s/build/Makefile",
		 d->release);
	d->headers = machine_has(d->root, path);
	find_module(d);
	find_version(d);
	return 0;
}

/**
 * doctor_check() - one check
 * @d:  of doctor_open()
 * @nr: which, from 0 on
 * @f:  filled
 *
 * Return: false behind the last one.
 */
bool doctor_check(const struct doctor *d, size_t nr, struct doctor_finding *f)
{
	if (nr >= ARRAY_SIZE(checks))
		return false;
	*f = (struct doctor_finding){ .check = checks[nr].name };
	checks[nr].fn(d, f);
	return true;
}

void doctor_close(struct doctor *d)
{
	close(d->root);
}
