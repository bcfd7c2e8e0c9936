#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A full text index of a kernel's source: each file is read, the index is
# written, and merged in parts as it grows.
#
# hipec: packages glimpse linux-source-6.12
# hipec: claim a scan of many files beside an index that grows

set -eu
export LC_ALL=C

# Symbolic links are not followed.
prepare()
{
	mkdir index
	for name in kernel mm fs block; do
		cp -R "$SOURCE/$name" "$name"
	done
}

run() { glimpseindex -o -n -H index kernel mm fs block >log 2>&1; }

"$1"
