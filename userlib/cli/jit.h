/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Native code of live containers.
 *
 * Interface:
 * CLI_JIT_WORDS		the argument of --jit; cli_jit_flags(): as the kernel has it
 * cli_jit_text()	how a container's events run, and why
 * cli_jit_print()	its code
 */
#ifndef HIPEC_CLI_JIT_H
#define HIPEC_CLI_JIT_H

#include <stdint.h>

#define CLI_JIT_WORDS "off|auto|on"
uint32_t cli_jit_flags(const char *text);
const char *cli_jit_text(uint64_t engine);
int cli_jit_print(uint64_t id);

#endif /* HIPEC_CLI_JIT_H */
