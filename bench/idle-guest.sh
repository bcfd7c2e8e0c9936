#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's side of idle.py: a disk without latency, and the same faults with and
# without the module.
#
#   idle-guest.sh PAGES HITS MISSES STATES
#
#   HITS, MISSES   rounds of faults
#   STATES         words: without; with; other, a module of Debian's in its place.
#                  /results/runs gets two lines of each

set -eu
uname -r >/results/kernel

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

# For some seconds after it came up, a kernel switches tasks more slowly.
sleep 20

for state in $4; do
	case $state in
	with) insmod /hipec/hipec.ko ;;
	other) modprobe dm-mod ;;
	esac
	sleep 1
	for what in "hits $2" "misses $3"; do
		# shellcheck disable=SC2086 # two words
		echo "state=$state $(faults $what /mnt/data)" >>/results/runs
	done
	case $state in
	with) rmmod hipec ;;
	other) rmmod dm-mod ;;
	esac
done
