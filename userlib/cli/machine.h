/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A machine's files, below a folder that need not be /: so that a test, or who looks at
 * another machine's disk, sees what a user there would.
 *
 * Names: @root is that folder's descriptor, @path begins with '/' and stays below it.
 *
 * Interface:
 * machine_open()      a file
 * machine_has()       whether there is one
 * machine_read()      all of it, to free()
 * machine_line()      its first line
 * machine_contains()  whether some bytes are in it
 * machine_archive()   whether apt can install a package
 */
#ifndef HIPEC_MACHINE_H
#define HIPEC_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

enum machine_answer { MACHINE_NO, MACHINE_YES, MACHINE_UNKNOWN };

int machine_open(int root, const char *path, int flags);
bool machine_has(int root, const char *path);
char *machine_read(int root, const char *path, size_t *size);
void machine_line(int root, const char *path, char *line, size_t size);
bool machine_contains(int root, const char *path, const void *what, size_t n);
enum machine_answer machine_archive(int root, const char *package);

#endif /* HIPEC_MACHINE_H */
