#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A part of a kernel is compiled, one file after the other, as small as its
# configuration allows. What is seen are sources, headers and objects; the
# compiler itself is mapped by the loader.
#
# hipec: packages gcc make flex bison bc libelf-dev linux-source-6.12
# hipec: claim many small files and popular headers: nothing for MRU

set -eu
export LC_ALL=C
# What the make that calls us was told is not for the kernel's.
unset MAKEFLAGS MAKEOVERRIDES MFLAGS KBUILD_OUTPUT KCFLAGS
# These would be in the objects.
export KBUILD_BUILD_TIMESTAMP=0 KBUILD_BUILD_USER=user KBUILD_BUILD_HOST=host

kbuild() { make -s -C "$SOURCE" O="$PWD/out" "$@"; }

prepare()
{
	mkdir out
	kbuild tinyconfig
	kbuild -j2 prepare
}

run() { kbuild -j1 kernel/ mm/ lib/; }

"$1"
