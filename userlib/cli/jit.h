/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Native code of live containers.
 *
 * Interface:
 * cli_jit_parse()	the argument of --jit
 * cli_jit_text()	how a container's events run, and why
 * cli_jit_print()	its code
 */
#ifndef HIPEC_CLI_JIT_H
#define HIPEC_CLI_JIT_H

#include <stdint.h>

int cli_jit_parse(const char *text, uint32_t *flags);
const char *cli_jit_text(uint64_t engine);
int cli_jit_print(uint64_t id);

#endif /* HIPEC_CLI_JIT_H */
