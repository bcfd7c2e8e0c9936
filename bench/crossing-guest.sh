#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's side of crossing.py: a disk without latency, and run after run.
#
#   crossing-guest.sh PAGES RUNS
#
#   RUNS   lines "COMMAND..."; /results/runs gets a line of each

set -eu
uname -r >/results/kernel
insmod /hipec/hipec.ko

nullb=/sys/kernel/config/nullb/ram
mkdir "$nullb"
echo 64 >"$nullb/size"
echo 1 >"$nullb/memory_backed"
echo 0 >"$nullb/irqmode"
echo 2 >"$nullb/queue_mode"
echo 4096 >"$nullb/blocksize"
echo 1 >"$nullb/power"
mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=0 /dev/ram
mount /dev/ram /mnt
mkdata /mnt/data "$1"
umount /mnt
mount -o ro /dev/ram /mnt
cd /mnt

# For some seconds after it came up, a kernel switches tasks more slowly.
sleep 20

while read -r command; do
	# shellcheck disable=SC2086 # a list of words
	$command </dev/null >>/results/runs || {
		echo "crossing: status $? of: $command"
		exit 1
	}
done <<END
$2
END
rmmod hipec
