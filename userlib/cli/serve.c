// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec top --serve: a page for a browser that shows what hipec top and hipec log do, as
 * it happens. The server is serve/serve.py; the arguments are read here.
 */
#define _GNU_SOURCE	/* strdupa(), asprintf() */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/hipec.h"
#include "../option/option.h"
#include "../program/install_path.h"
#include "cli.h"

#define PROGRAM "serve/serve.py"
#define OWN "127.0.0.1"

enum { LISTEN = 256, SOCKET };

struct serve {
	const char *address;	/* said, or NULL */
	int times;		/* that it was said */
	const char *socket;
	const char *port, *interval;
};

static bool is_number(const char *text, double least, double most)
{
	char *end;
	double n = strtod(text, &end);

	return *text >= '0' && *text <= '9' && !*end && n >= least && n <= most;
}

/* One address; what is not this machine's own is to be said twice. */
static int set_address(struct serve *s, const char *address)
{
	if (s->address && strcmp(s->address, address)) {
		cli_error("want one address, not '%s' and '%s'", cli_clean(strdupa(s->address)),
			  cli_clean(strdupa(address)));
		return CLI_USAGE;
	}
	s->address = address;
	s->times++;
	return CLI_OK;
}

static const struct option_row options[] = {
	{ 'p', "port", "N", .help = "8088; 0: one that is free" },
	{ 'i', "interval", "S", .help = "seconds from one look to the next; 2" },
	{ SOCKET, "socket", "PATH", .help = "a socket there, of its owner, and no port" },
	{ LISTEN, "listen", "ADDRESS",
	  .help = "not 127.0.0.1: other machines may ask then, without a cipher; say it"
		  " twice" },
	{ 0 },
};

static int parse(struct serve *s, int argc, char **argv)
{
	int opt, ret = CLI_OK;

	while (!ret && (opt = cli_option(argc, argv, options, "")) != -1)
		if (opt == 'p')
			s->port = optarg;
		else if (opt == 'i')
			s->interval = optarg;
		else if (opt == LISTEN)
			ret = set_address(s, optarg);
		else if (opt == SOCKET)
			s->socket = optarg;
		else
			ret = CLI_USAGE;
	if (!ret)
		ret = cli_operands(argc, argv, 0, 0, "");
	if (ret)
		return ret;
	if (!is_number(s->port, 0, 65535) || strchr(s->port, '.'))
		cli_error("--port: want a number from 0 to 65535, not '%s'",
			  cli_clean(strdupa(s->port)));
	else if (!is_number(s->interval, 0.1, 3600))
		cli_error("--interval wants seconds, 0.1 to 3600, not '%s'",
			  cli_clean(strdupa(s->interval)));
	else if (s->socket && s->address)
		cli_error("want --listen or --socket, not both");
	else if (s->address && strcmp(s->address, OWN) && s->times < 2)
		cli_error("--listen %s lets other machines ask; if that is meant, say it twice",
			  cli_clean(strdupa(s->address)));
	else
		return CLI_OK;
	return CLI_USAGE;
}

static int cli_serve(int argc, char **argv)
{
	struct serve s = { .port = "8088", .interval = "2" };
	char path[PATH_MAX], own[PATH_MAX];
	int fd, ret = parse(&s, argc, argv);

	if (ret)
		return ret;
	fd = hipec_open();
	if (fd < 0)
		return cli_open_failed(fd);
	close(fd);
	if (!install_path_find(path, INSTALL_PATH_SHARE, PROGRAM)) {
		cli_error("want " PROGRAM " beside this command or in " INSTALL_PATH_SHARE);
		return CLI_FAILED;
	}
	ret = readlink("/proc/self/exe", own, sizeof(own) - 1);
	if (ret > 0) {
		own[ret] = 0;
		execl(path, path, own, s.interval, s.socket ? "unix" : s.address ?: OWN,
		      s.socket ?: s.port, (char *)NULL);
	}
	cli_error("%s: %s; it needs /usr/bin/python3", path, strerror(errno));
	return CLI_FAILED;
}

const struct cli_verb cli_verb_serve = {
	.name = "--serve", .of = "top", .was = "serve", .run = cli_serve,
	.usage = "[OPTION...]",
	.summary = "show in a browser what top and log print, as it happens",
	.help = "A page on this machine alone, whose address has a token: it is printed, and"
		" new at each start. Nothing can be written there. Frames, faults, what"
		" policies save with its error, and how they ended. Ends with Ctrl-C.",
	.options = options,
};
