/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that belong to this program: where it was built, or where it is installed.
 *
 * Interface:
 * install_path()       a file beside this program
 * install_path_find()  the same, or one in a folder of the installation, if it is there
 */
#ifndef HIPEC_PROGRAM_INSTALL_PATH_H
#define HIPEC_PROGRAM_INSTALL_PATH_H

#include <limits.h>
#include <stdbool.h>

/* Folders of an installation, from bin/; packaging/build.mk fills them. */
#define INSTALL_PATH_LIB "../lib/hipec"
#define INSTALL_PATH_SHARE "../share/hipec"
#define INSTALL_PATH_DOCS "../share/doc/hipec/docs"

bool install_path(char path[PATH_MAX], const char *name);
bool install_path_find(char path[PATH_MAX], const char *installed, const char *name);

#endif /* HIPEC_PROGRAM_INSTALL_PATH_H */
