#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Say which programs and headers that `make` needs are missing, and which of Debian's packages
# has each. Exit status 1 if one is. packages.sh --build has the same list.
#
#   CC=cc PYTHON=/usr/bin/python3 tools.sh

set -u
cc=${CC:-cc}
status=0

missing()	# WHAT PACKAGE
{
	echo "$1 is missing: apt install $2" >&2
	status=1
}

program()	# PACKAGE NAME...
{
	command -v "$2" >/dev/null || missing "$2" "$1"
}

# Where Debian has it; elsewhere, if the compiler finds it.
header()	# PACKAGE NAME
{
	[ -e "/usr/include/$2" ] || [ -e "/usr/include/x86_64-linux-gnu/$2" ] ||
		echo "#include <$2>" | $cc -E - >/dev/null 2>&1 || missing "$2" "$1"
}

program gcc "${cc%% *}"		# options may follow its name
program bison bison
program flex flex
program python3 "${PYTHON:-/usr/bin/python3}"
header libc6-dev stdio.h
header libblkid-dev blkid/blkid.h
header libedit-dev editline/readline.h
header libjson-c-dev json-c/json.h
header libmd-dev sha2.h
header libzstd-dev zstd.h
exit $status
