#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's side of context.py: a disk that takes no time, and run after run.
#
#   guest.sh RUNS
#
#   RUNS  lines "PROGRAM ARGUMENTS..."
#
# Line n of /results/runs is what the n-th one printed.

set -eu
uname -r >/results/kernel
nullb=/sys/kernel/config/nullb/none
[ -d /sys/kernel/config/nullb ] || modprobe null_blk nr_devices=0
mkdir $nullb
echo 16 >$nullb/size
echo 1 >$nullb/memory_backed
echo 0 >$nullb/irqmode
echo 4096 >$nullb/blocksize
echo 1 >$nullb/power
insmod /hipec/hipec.ko
while read -r program arguments; do
	# shellcheck disable=SC2086 # a list of words
	$program $arguments >>/results/runs </dev/null
done <<END
$1
END
