// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command's end of the socket at which programs under hipec run ask for regions.
 * It lies in a folder that only its user may enter. A packet is read, answered and
 * forgotten: there is nothing that a program could leave half done.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../cli.h"
#include "run.h"

/**
 * run_serve_begin() - make the socket
 * @r: run
 *
 * Context: any; in the folder of TMPDIR, or in /tmp.
 * Return: 0; -errno.
 */
int run_serve_begin(struct run *r)
{
	const char *dir = getenv("TMPDIR");
	char *path = r->name.sun_path;
	size_t size = sizeof(r->name.sun_path);
	static const char folder[] = "/hipec-run-XXXXXX", file[] = "/socket";
	int ret;

	if (!dir || *dir != '/' ||
	    strlen(dir) + sizeof(folder) + sizeof(file) > size)
		dir = "/tmp";
	snprintf(path, size, "%s%s", dir, folder);
	if (!mkdtemp(path)) {
		ret = -errno;
		*path = 0;
		return ret;
	}
	strcat(path, file);
	r->name.sun_family = AF_UNIX;
	r->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (r->socket < 0 ||
	    bind(r->socket, (struct sockaddr *)&r->name, sizeof(r->name))) {
		ret = -errno;
		run_serve_end(r);
		return ret;
	}
	return 0;
}

void run_serve_end(struct run *r)
{
	char *slash = strrchr(r->name.sun_path, '/');

	if (r->socket >= 0)
		close(r->socket);
	r->socket = -1;
	if (!slash)
		return;
	unlink(r->name.sun_path);
	*slash = 0;
	rmdir(r->name.sun_path);
	*r->name.sun_path = 0;
}

/* The next packet. Return: how many descriptors came; -1: there is none. */
static int receive(struct run *r, struct run_ask *ask, int *fds)
{
	int nr;
	ssize_t n = run_receive(r->socket, ask, sizeof(*ask), fds, &nr, MSG_DONTWAIT);

	if (n < 0)
		return -1;
	if (!n || ask->magic != RUN_MAGIC)
		ask->kind = 0;
	return nr;
}

static void answer(int to, const struct run_answer *a, const int *fds, int nr)
{
	run_send(to, NULL, a, sizeof(*a), fds, nr, MSG_DONTWAIT);
}

/* The type of the file system that a file lies on; NULL: that is not known. */
static const char *file_system(int file)
{
	static char line[1024], type[64];
	char path[64], *end;
	int mount = -1, id;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", file);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "mnt_id: %d", &mount);
	if (f)
		fclose(f);
	f = fopen("/proc/self/mountinfo", "re");
	*type = 0;
	while (f && !*type && fgets(line, sizeof(line), f)) {
		end = strstr(line, " - ");
		if (end && sscanf(line, "%d", &id) == 1 && id == mount)
			sscanf(end, " - %63s", type);
	}
	if (f)
		fclose(f);
	return *type ? type : NULL;
}

static const char *why_refused(int file, int ret)
{
	static char text[128];

	switch (ret) {
	case -EBUSY:
		return "it has a region of another container, or one that is only read, and one of the two would write it";
	case -EOPNOTSUPP:
		snprintf(text, sizeof(text), "regions are not tested on its file system%s%s",
			 file_system(file) ? ", " : "", file_system(file) ?: "");
		return text;
	case -EMFILE:
		return "too many files are mapped to be written";
	case -ENOSPC:
		return "the container's addresses are used up";
	}
	return strerror(-ret);
}

/* One line a run; the report has how many. */
static void say_refused(struct run *r, int file, int ret)
{
	char link[32], name[PATH_MAX];
	ssize_t n;

	if (r->nr_refused++)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
	n = readlink(link, name, sizeof(name) - 1);
	name[n > 0 ? n : 0] = 0;
	cli_error("%s: %s; %s", cli_clean(name), why_refused(file, ret),
		  r->strict ? "mmap() fails, for --strict" :
		  "it is mapped as without hipec, and so are others");
}

/* The user named nothing, and this is nothing that could have been meant. */
static bool is_left(const struct run *r, enum run_kind kind, int ret)
{
	return kind == RUN_IF_WRITTEN || (!r->globs && ret == -EOPNOTSUPP);
}

static void answer_get(struct run *r, enum run_kind kind, const int *fds)
{
	struct run_answer a = { 0 };
	struct run_region *region;
	uint64_t before = r->next_number;
	int ret = run_region_get(r, kind, fds[1], &region);

	if (!ret) {
		r->nr_maps++;
		r->nr_regions_made += r->next_number - before;
		region->used = ++r->nr_answers;
		a.number = region->number;
		a.length = region->length;
	} else if (is_left(r, kind, ret)) {
		r->nr_left++;
	} else {
		say_refused(r, fds[1], ret);
		a.strict = r->strict;
	}
	a.error = ret;
	answer(fds[0], &a, ret ? NULL : &region->fd, !ret);
}

static void answer_again(struct run *r, const struct run_ask *ask, int to)
{
	struct run_region *region = run_region_again(r, ask->number);
	struct run_answer a = { .error = -ENOENT };
	int fds[2];

	if (region) {
		a = (struct run_answer){
			.number = region->number, .length = region->length,
		};
		fds[0] = region->fd;
		fds[1] = region->file;
	}
	answer(to, &a, fds, region ? 2 : 0);
}

/**
 * run_serve() - answer all that has come
 * @r: run
 *
 * Context: any; does not wait for anybody.
 */
void run_serve(struct run *r)
{
	struct run_ask ask;
	int fds[RUN_MAX_FDS], nr;

	while ((nr = receive(r, &ask, fds)) >= 0) {
		if (ask.kind >= RUN_READ && ask.kind <= RUN_IF_WRITTEN && nr == 2)
			answer_get(r, ask.kind, fds);
		else if (ask.kind == RUN_AGAIN && nr == 1)
			answer_again(r, &ask, fds[0]);
		else if (ask.kind == RUN_LEFT)
			r->nr_left++;
		while (nr)
			close(fds[--nr]);
	}
}
