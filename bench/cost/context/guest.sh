#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's side of table.py: a disk that takes no time, and run after run.
#
#   guest.sh RUNS
#
#   RUNS  lines "PROGRAM ARGUMENTS..."
#
# Line n of /results/runs is what the n-th one printed.

set -eu
. /disk.sh
uname -r >/results/kernel
make_ram_disk none 16
insmod /hipec/hipec.ko
while read -r program arguments; do
	# shellcheck disable=SC2086 # a list of words
	$program $arguments >>/results/runs </dev/null
done <<END
$1
END
