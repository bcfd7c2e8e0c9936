// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program's end of the socket: one packet there, one back, and both descriptors
 * are closed again. A command that is gone is found out at once: nobody has the
 * other end of our socket then.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload.h"

static struct sockaddr_un command;
static char globs[RUN_MAX_GLOBS];
static int state;	/* 0: not looked yet; 1: there is a command; 2: none */

/* Once, before threads: what the program does to its environment is its own. */
bool preload_active(void)
{
	const char *name, *text;
	int s = __atomic_load_n(&state, __ATOMIC_ACQUIRE);

	if (!s) {
		name = getenv(RUN_ENV);
		text = getenv(RUN_MAP_ENV) ?: "";
		s = 2;
		if (name && *name && strlen(name) < sizeof(command.sun_path) &&
		    strlen(text) < sizeof(globs)) {
			command.sun_family = AF_UNIX;
			strcpy(command.sun_path, name);
			strcpy(globs, text);
			s = 1;
		}
		__atomic_store_n(&state, s, __ATOMIC_RELEASE);
	}
	return s == 1;
}

/* Each ended by a newline; "" if the user gave none. */
const char *preload_globs(void)
{
	return globs;
}

__attribute__((constructor)) static void start(void)
{
	preload_active();
}

static int tell(const struct run_ask *ask, const int *fds, int nr)
{
	int via = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ssize_t n;

	if (via < 0)
		return -1;
	do {
		n = run_send(via, &command, ask, sizeof(*ask), fds, nr, 0);
	} while (n < 0 && errno == EINTR);
	close(via);
	return n == sizeof(*ask) ? 0 : -1;
}

/* Return: how many descriptors came, -1 if no answer did. */
static int receive(int from, struct run_answer *answer, int *fds)
{
	ssize_t n;
	int nr;

	do {
		n = run_receive(from, answer, sizeof(*answer), fds, &nr, 0);
	} while (n < 0 && errno == EINTR);
	if (n > 0)
		return nr;
	while (nr)
		close(fds[--nr]);
	return -1;
}

/* A region that came; whatever is too much, or too little, is closed. */
static int take(struct preload_region *region, const struct run_answer *answer,
		enum run_kind kind, int *fds, int nr)
{
	int want = kind == RUN_AGAIN ? 2 : 1;

	if (answer->error || nr != want) {
		while (nr > 0)
			close(fds[--nr]);
		return answer->error ?: -EINVAL;
	}
	*region = (struct preload_region){
		.fd = fds[0],
		.file = want == 2 ? fds[1] : -1,
		.number = answer->number,
		.length = answer->length,
	};
	return 0;
}

/**
 * preload_ask() - get a region
 * @kind:   what is wanted
 * @fd:     the file, not for RUN_AGAIN
 * @number: of the region, for RUN_AGAIN
 * @region: filled; close its descriptors
 * @strict: whether a map is to fail with what is returned
 *
 * Context: any; in signal handlers too. Waits for the command.
 * Return: 0; -errno.
 */
int preload_ask(enum run_kind kind, int fd, uint64_t number,
		struct preload_region *region, bool *strict)
{
	struct run_ask ask = { .magic = RUN_MAGIC, .kind = kind, .number = number };
	struct run_answer answer;
	int pair[2], fds[RUN_MAX_FDS], nr;

	*strict = false;
	if (!preload_active())
		return -ENOENT;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	fds[0] = pair[1];
	fds[1] = fd;
	nr = tell(&ask, fds, kind == RUN_AGAIN ? 1 : 2);
	close(pair[1]);
	nr = nr ? -1 : receive(pair[0], &answer, fds);
	close(pair[0]);
	if (nr < 0)
		return -ECONNREFUSED;
	*strict = answer.strict;
	return take(region, &answer, kind, fds, nr);
}

void preload_tell_left(void)
{
	struct run_ask ask = { .magic = RUN_MAGIC, .kind = RUN_LEFT };

	tell(&ask, NULL, 0);
}
