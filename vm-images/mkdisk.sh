#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Make an ext4 image of a directory, for run.py --disk. Needs no root.
#
#   mkdisk.sh DIR IMG [SIZE]     SIZE as mke2fs takes it (64M, 2G); without it,
#                                the files' size, a quarter more, and 16 MB
#
# Identifiers and times are fixed: the same files make the same image.

set -eu
export PATH="$PATH:/usr/sbin:/sbin"

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
	echo "usage: mkdisk.sh DIR IMG [SIZE]" >&2
	exit 2
fi
if [ ! -d "$1" ]; then
	echo "mkdisk.sh: no such directory: $1" >&2
	exit 1
fi

size=${3-$(($(du -sk --apparent-size "$1" | cut -f1) * 5 / 4 + 16384))k}
id=6869706c-6563-4000-8000-646174610000	# any, but always the same
trap 'rm -f "$2.tmp$$"' EXIT
trap 'exit 1' INT TERM
E2FSPROGS_FAKE_TIME=1 mke2fs -q -t ext4 -m 0 -U $id \
	-E "hash_seed=$id,root_owner=0:0,lazy_itable_init=0" \
	-d "$1" "$2.tmp$$" "$size" >/dev/null
mv "$2.tmp$$" "$2"
