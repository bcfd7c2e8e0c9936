#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's side of table.py: a disk without latency, and the same faults with and
# without the module.
#
#   guest.sh PAGES HITS MISSES STATES
#
#   HITS, MISSES   rounds of faults
#   STATES         words: without; with; other, a module of Debian's in its place.
#                  /results/runs gets two lines of each

set -eu
. /disk.sh
uname -r >/results/kernel

make_ram_disk ram 64
put_data ram "$1"

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
