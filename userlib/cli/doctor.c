// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec doctor: what is wrong with this machine, in words or as JSON.
 */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "../say/json.h"
#include "checks.h"

static const char *const states[] = {
#define X(name, text) [DOCTOR_##name] = text,
	DOCTOR_STATES(X)
#undef X
};

static struct json_object *finding_json(const struct doctor_finding *f)
{
	struct json_object *o = json_object_new_object();

	cli_json_text(o, "check", f->check);
	cli_json_text(o, "state", states[f->state]);
	cli_json_text(o, "text", f->text);
	cli_json_text(o, "mend", *f->mend ? f->mend : NULL);
	return o;
}

static void print_finding(const struct doctor_finding *f)
{
	printf("%-5s  %-12s  %s\n", states[f->state], f->check, f->text);
	if (*f->mend)
		printf("%20s# %s\n", "", f->mend);
}

static const struct option_row options[] = {
	{ 'j', "json", NULL, .help = "an array with an object for each check, for programs" },
	{ LONG('r'), "root", "DIR", .help = "look at the machine whose root folder is there" },
	{ 0 },
};

static int cli_doctor(int argc, char **argv)
{
	struct json_object *array = NULL;
	const char *root = "/";
	struct doctor_finding f;
	struct doctor d;
	bool wrong = false;
	int opt, ret;
	size_t i;

	while ((opt = cli_option(argc, argv, options, "")) != -1) {
		if (opt == 'j' && !array)
			array = json_object_new_array();
		else if (opt == 'r')
			root = optarg;
		else if (opt != 'j')
			return CLI_USAGE;
	}
	if (cli_operands(argc, argv, 0, 0, ""))
		return CLI_USAGE;
	ret = doctor_open(&d, root);
	if (ret) {
		cli_error("%s: %s", root, strerror(-ret));
		return CLI_FAILED;
	}
	for (i = 0; doctor_check(&d, i, &f); i++) {
		wrong |= f.state == DOCTOR_WRONG;
		cli_clean(f.text);
		cli_clean(f.mend);
		if (array)
			json_object_array_add(array, finding_json(&f));
		else
			print_finding(&f);
	}
	doctor_close(&d);
	if (array)
		puts(json_object_to_json_string_ext(array,
						    JSON_C_TO_STRING_PRETTY));
	json_object_put(array);
	return wrong ? CLI_FAILED : CLI_OK;
}

const struct cli_verb cli_verb_doctor = {
	.name = "doctor", .run = cli_doctor, .group = CLI_GROUP_MACHINE,
	.usage = "[--json]",
	.summary = "say what keeps hipec from working here, and the command that mends it",
	.help = "Looks at the kernel, its headers, DKMS, Secure Boot, the module, the device,"
		" the limit of locked memory, cgroups and file systems. docs/user/install.md"
		" has more on each. Exit code 1 if something is wrong; what is only noted may"
		" stay.",
	.options = options,
};
