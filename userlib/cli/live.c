// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec swap --param and --revoke: what changes a live container; and what else takes its
 * number.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "../say/json.h"
#include "live.h"
#include "../lib/hipec.h"

/* Return: false, said: no number. */
bool cli_live_id(const char *text, uint64_t *id)
{
	char *end;

	errno = 0;
	*id = strtoull(text, &end, 10);
	if (*text >= '1' && *text <= '9' && !*end && !errno)
		return true;
	cli_error("'%s' is no container's number; hipec status has them", text);
	return false;
}

/* Say why a call about container @id returned @err. Return: CLI_FAILED. */
int cli_live_failed(uint64_t id, int err)
{
	cli_error("container %llu: %s", (unsigned long long)id,
		  err == -ESRCH ? "there is none, or it is not yours" :
		  err == -ENODATA ? "it has no policy" : cli_call_failed(err));
	return CLI_FAILED;
}

/* Swap now. Return: 0; -errno, said. */
int cli_swap_policy(struct cli_swap *s)
{
	char log[512] = "";
	struct hipec_swap swap = {
		.id = s->id,
		.image = (uintptr_t)s->image,
		.image_size = s->size,
		.log = (uintptr_t)log,
		.log_size = sizeof(log),
	};
	int ret = hipec_swap_args(s->device, &swap);

	s->adopted = swap.adopted;
	if (ret && *log)
		cli_error("container %llu: %s: %s", (unsigned long long)s->id,
			  s->name, cli_clean(log));
	else if (ret == -EBUSY)
		cli_error("container %llu: another swap is under way",
			  (unsigned long long)s->id);
	else if (ret)
		cli_live_failed(s->id, ret);
	return ret;
}

/* NAME=VALUE in two. Return: false, said. */
static bool parse_setting(char *text, int64_t *value)
{
	char *equals = strchr(text, '='), *end;

	errno = 0;
	if (equals && equals > text && equals[1]) {
		*equals = 0;
		*value = strtoll(equals + 1, &end, 0);
		if (!*end && !errno)
			return true;
		*equals = '=';
	}
	cli_error("'%s' is not NAME=VALUE with an integer", text);
	return false;
}

/* Whether @name can be @value. Return: 0; -errno, said. */
static int check(int fd, uint64_t id, const char *name, int64_t value)
{
	struct hipec_param p;
	int ret = hipec_param_of(fd, id, name, &p);

	if (ret == -ENOENT)
		cli_error("container %llu: its policy has no param '%s'",
			  (unsigned long long)id, name);
	else if (ret)
		cli_live_failed(id, ret);
	else if (p.at_load)
		cli_error("%s is a const param: it is set before the load", name);
	else if (value < p.low || value > p.high)
		cli_error("%s may be %lld to %lld", name, (long long)p.low,
			  (long long)p.high);
	else
		return 0;
	return ret ?: -EINVAL;
}

/* All of them or, where one cannot be, none. */
static int set_all(int fd, uint64_t id, int nr, char **text, int64_t *value)
{
	int i, ret = 0;

	for (i = 0; i < nr && !ret; i++)
		ret = check(fd, id, text[i], value[i]);
	if (ret)
		return CLI_FAILED;
	for (i = 0; i < nr && !ret; i++)
		ret = hipec_set_param_of(fd, id, text[i], value[i]);
	return ret ? cli_live_failed(id, ret) : CLI_OK;
}

static struct json_object *param_json(const struct hipec_operand *o)
{
	struct json_object *j = json_object_new_object();

	cli_json_text(j, "name", o->name);
	json_object_object_add(j, "value", json_object_new_int64(o->value));
	json_object_object_add(j, "low", !o->low && !o->high ? NULL :
			       json_object_new_int64(o->low));
	json_object_object_add(j, "high", !o->low && !o->high ? NULL :
			       json_object_new_int64(o->high));
	json_object_object_add(j, "at_load", json_object_new_boolean(
			       o->operand_flags & HIPEC_OPERAND_CONST));
	return j;
}

static void print_param(const struct hipec_operand *o)
{
	printf("%s=%lld", o->name, (long long)o->value);
	if (o->low || o->high)
		printf("  %lld to %lld", (long long)o->low, (long long)o->high);
	puts(o->operand_flags & HIPEC_OPERAND_CONST ? "  before the load" : "");
}

/* The params of a container, and what they are now. */
static int list(int fd, uint64_t id, bool json)
{
	struct json_object *array = json ? json_object_new_array() : NULL;
	struct hipec_operand o;
	uint32_t slot;
	int ret;

	for (slot = 0; !(ret = hipec_operand(fd, id, slot, &o)); slot++) {
		if (!(o.operand_flags & HIPEC_OPERAND_PARAM))
			continue;
		cli_clean(o.name);
		if (json)
			json_object_array_add(array, param_json(&o));
		else
			print_param(&o);
	}
	if (json && ret == -ENOENT)
		puts(json_object_to_json_string_ext(array,
						    JSON_C_TO_STRING_PRETTY |
		JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(array);
	return ret == -ENOENT ? CLI_OK : cli_live_failed(id, ret);
}

static const struct option_row options[] = {
	{ 'j', "json", NULL, .help = "the list as an array, for programs" },
	{ 0 },
};

static int cli_set(int argc, char **argv)
{
	int opt, fd, ret, i, nr;
	bool json = false;
	int64_t *value;
	uint64_t id;

	/* What begins with '-' may be a value's: nothing behind ID is an option. */
	while ((opt = cli_option(argc, argv, options, "+")) != -1) {
		if (opt != 'j')
			return CLI_USAGE;
		json = true;
	}
	if (cli_operands(argc, argv, 1, json ? 1 : argc, "a container's number") ||
	    !cli_live_id(argv[optind], &id))
		return CLI_USAGE;
	nr = argc - ++optind;
	value = calloc(nr + 1, sizeof(*value));
	for (i = 0; value && i < nr; i++)
		if (!parse_setting(argv[optind + i], &value[i])) {
			free(value);
			return CLI_USAGE;
		}
	fd = hipec_open();
	if (fd < 0 || !value)
		ret = cli_open_failed(fd < 0 ? fd : -ENOMEM);
	else
		ret = nr ? set_all(fd, id, nr, argv + optind, value) :
			   list(fd, id, json);
	free(value);
	if (fd >= 0)
		close(fd);
	return ret;
}

const struct cli_verb cli_verb_param = {
	.name = "--param", .of = "swap", .was = "set", .run = cli_set,
	.usage = "[--json] ID [NAME=VALUE...]",
	.summary = "set params of a live container's policy, or list them",
	.help = "Events that begin from then on read the new values. All are set or, where one"
		" is outside its range, none.",
	.options = options,
};

static int cli_revoke(int argc, char **argv)
{
	int fd, ret, i, failed = 0;
	uint64_t id;

	if (cli_option(argc, argv, NULL, "") != -1 ||
	    cli_operands(argc, argv, 1, argc, "a container's number"))
		return CLI_USAGE;
	for (i = optind; i < argc; i++)
		if (!cli_live_id(argv[i], &id))
			return CLI_USAGE;
	fd = hipec_open();
	if (fd < 0)
		return cli_open_failed(fd);
	for (i = optind; i < argc; i++) {
		cli_live_id(argv[i], &id);
		ret = hipec_revoke(fd, id);
		if (ret == -EALREADY)
			cli_error("container %llu: its policy has ended before",
				  (unsigned long long)id);
		else if (ret)
			cli_live_failed(id, ret);
		failed |= ret;
	}
	close(fd);
	return failed ? CLI_FAILED : CLI_OK;
}

const struct cli_verb cli_verb_revoke = {
	.name = "--revoke", .of = "swap", .was = "revoke", .run = cli_revoke,
	.usage = "ID...",
	.summary = "end the policies of live containers; their frames stay",
	.help = "The built-in FIFO with a second chance goes on; hipec status says that it was"
		" by hand.",
};
