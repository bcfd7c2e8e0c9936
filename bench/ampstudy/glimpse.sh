#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A full text index of a kernel's source: each file is read, the index is
# written and merged in parts as it grows.
#
# hipec: packages glimpse linux-source-6.12
# hipec: claim a scan of many files beside an index that is read again and again

set -eu
export LC_ALL=C

prepare() { mkdir index; cp -a "$SOURCE/kernel" "$SOURCE/mm" "$SOURCE/fs" "$SOURCE/block" .; }

run()
{
	glimpseindex -o -n -H index kernel mm fs block
	glimpse -y -H "$PWD/index" -c -w second
}

"$1"
