/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lines of text in front of a policy's operands, which the assembler reads
 * back. `ampc -S` and `hipec dis` print them.
 *
 * Interface:
 * hipec_print_header()	print them
 */
#ifndef HIPEC_HEADTEXT_H
#define HIPEC_HEADTEXT_H

#include <stdio.h>

#include "../../module/include/uapi/hipec.h"

void hipec_print_header(const struct hipec_image *im, FILE *out);

#endif /* HIPEC_HEADTEXT_H */
