/* SPDX-License-Identifier: GPL-2.0-only */
/* docs/policy/commands.md: the part that the compiler knows. */
#ifndef HIPEC_DOCS_BUILTINS_H
#define HIPEC_DOCS_BUILTINS_H

int print_builtins(void);

#endif /* HIPEC_DOCS_BUILTINS_H */
