/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that belong to this program: where it was built, or where it is installed.
 *
 * Interface:
 * beside()        a file beside this program
 * beside_find()   the same, or one in a folder of the installation, if it is there
 */
#ifndef HIPEC_BESIDE_H
#define HIPEC_BESIDE_H

#include <limits.h>
#include <stdbool.h>

/* Folders of an installation, from bin/; packaging/build.mk fills them. */
#define BESIDE_LIB "../lib/hipec"
#define BESIDE_SHARE "../share/hipec"
#define BESIDE_DOCS "../share/doc/hipec/docs"

bool beside(char path[PATH_MAX], const char *name);
bool beside_find(char path[PATH_MAX], const char *installed, const char *name);

#endif /* HIPEC_BESIDE_H */
