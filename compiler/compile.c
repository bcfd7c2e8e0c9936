// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of the passes, from a source in memory to an image that the
 * verifier accepts. What reads and writes files is main.c's.
 *
 * Interface:
 * ampc_init(), ampc_free() (ast.c)  a compilation
 * ampc_compile()                    all passes
 */
#include "ampc.h"

/**
 * ampc_init() - start a compilation
 * @c:    any memory
 * @file: name of the source, for diagnostics
 */
void ampc_init(struct ampc *c, const char *file)
{
	*c = (struct ampc){
		.source.file = file,
		.events_end = &c->events,
		.symbols_end = &c->symbols,
		.level = 1,
	};
}

/* Whatever passes here the kernel must load. */
static int verify(const struct ampc *c, struct hipec_policy *p)
{
	struct hipec_verify_error err;
	struct hipec_text t;
	char text[512];

	if (!hipec_image_parse(c->image, c->image_size, p, &err) &&
	    !hipec_verify(p, &err))
		return 0;
	hipec_text_init(&t, text, sizeof(text));
	hipec_verify_explain(p, &err, &t);
	fprintf(stderr, "ampc: internal error: the verifier refuses %s: %s\n",
		c->source.file, text);
	return -EINVAL;
}

/**
 * ampc_compile() - compile the source
 * @c: compilation with a source; gets the image
 * @p: gets the image, parsed
 *
 * Return: 0; -EINVAL if the source has errors, which are reported; -EFAULT,
 *         printed, if the verifier refuses the image, which is a bug here.
 */
int ampc_compile(struct ampc *c, struct hipec_policy *p)
{
	ampc_parse(c);
	ampc_check(c);
	if (!c->nr_errors) {
		ampc_emit(c);
		ampc_image(c);
	}
	if (!c->nr_errors)
		ampc_lint(c);
	if (c->nr_errors)
		return -EINVAL;
	return verify(c, p) ? -EFAULT : 0;
}
