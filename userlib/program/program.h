/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Other programs, which make a file that is read and forgotten.
 *
 * Interface:
 * program_run()	run one to its end
 * program_folder_make()	a folder of our own for such files
 * program_fail()		what an error of these is in words
 */
#ifndef HIPEC_PROGRAM_PROGRAM_H
#define HIPEC_PROGRAM_PROGRAM_H

#include <limits.h>

#include "../../module/vm/text.h"

int program_fail(struct hipec_text *why, const char *name, const char *text);
int program_run(const char *path, char *const argv[], struct hipec_text *why);
int program_folder_make(char folder[PATH_MAX], struct hipec_text *why);

#endif /* HIPEC_PROGRAM_PROGRAM_H */
