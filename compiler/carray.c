// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy in C: its image as a header, for a program that carries its policy along,
 * an array named after the policy, and its name; and its commands.
 *
 * Interface:
 * ampc_c_array()  print the header
 * ampc_in_c()     print its commands in C
 */
#include <ctype.h>

#include "../userlib/image/emitc.h"
#include "ampc.h"

#define PER_LINE 12	/* bytes */

/* The policy's name as a part of an identifier. */
static const char *identifier(struct ampc *c, bool upper)
{
	char *name = ampc_strndup(c, c->policy, strlen(c->policy)), *s;

	for (s = name; *s; s++)
		*s = !isalnum((u8)*s) ? '_' : upper ? toupper((u8)*s) : *s;
	return name;
}

/**
 * ampc_c_array() - print the image as a C header
 * @c:   compilation with an image
 * @out: where to
 */
void ampc_c_array(struct ampc *c, FILE *out)
{
	const char *name = identifier(c, false), *guard = identifier(c, true);
	size_t i;

	fprintf(out, "/* Policy '%s', compiled by ampc. */\n", c->policy);
	fprintf(out, "#ifndef HIPEC_POLICY_%s_H\n", guard);
	fprintf(out, "#define HIPEC_POLICY_%s_H\n\n", guard);
	fprintf(out, "static const char hipec_policy_%s_name[] = \"%s\";\n\n",
		name, c->policy);
	fprintf(out, "static const unsigned char hipec_policy_%s[%zu]\n",
		name, c->image_size);
	fprintf(out, "\t__attribute__((aligned(8))) = {");
	for (i = 0; i < c->image_size; i++)
		fprintf(out, "%s0x%02x,", i % PER_LINE ? " " : "\n\t",
			c->image[i]);
	fprintf(out, "\n};\n\n#endif\n");
}

/**
 * ampc_in_c() - print the commands in C
 * @c:   compilation
 * @p:   its image, parsed
 * @out: where to
 *
 * Return: 0; -ENOMEM, and nothing more is printed.
 */
int ampc_in_c(struct ampc *c, const struct hipec_policy *p, FILE *out)
{
	hipec_emit_c_head(out);
	return hipec_emit_c(p, ampc_printf(c, "hipec_%s", identifier(c, false)), out);
}
