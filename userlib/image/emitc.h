/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A policy in C: one function for each event, which does what the interpreter does. It
 * includes userlib/native/policy.h, which has the commands; `hipec sim --native` has it
 * compiled, and `ampc --emit c` prints it.
 *
 * Interface:
 * hipec_emit_c_head()	what a file begins with
 * hipec_emit_c()	a policy; more may follow
 */
#ifndef HIPEC_EMITC_H
#define HIPEC_EMITC_H

#include <stdio.h>

#include "../../module/vm/vm.h"

void hipec_emit_c_head(FILE *out);
int hipec_emit_c(const struct hipec_policy *p, const char *entry, FILE *out);

#endif /* HIPEC_EMITC_H */
