// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where this program's own files are, from where it is itself: so an installation
 * may be moved, and one below a DESTDIR runs from there.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "install_path.h"

/**
 * install_path() - a file beside this program
 * @path: gets its name, whether it is there or not
 * @name: from this program's folder
 *
 * Return: false if that is too long, or not known.
 */
bool install_path(char path[PATH_MAX], const char *name)
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

	while (n > 0 && path[n - 1] != '/')
		n--;
	if (n <= 0 || n + strlen(name) >= PATH_MAX)
		return false;
	strcpy(path + n, name);
	return true;
}

/**
 * install_path_find() - a file of ours
 * @path:      gets its name
 * @installed: its folder where we are installed, INSTALL_PATH_*
 * @name:      from there, or from this program's folder
 *
 * Return: whether it can be read.
 */
bool install_path_find(char path[PATH_MAX], const char *installed, const char *name)
{
	char file[PATH_MAX];

	if (install_path(path, name) && !access(path, R_OK))
		return true;
	return snprintf(file, sizeof(file), "%s/%s", installed, name) <
		       (int)sizeof(file) &&
	       install_path(path, file) && !access(path, R_OK);
}
