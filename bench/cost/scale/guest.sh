#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's side of table.py: a disk that takes no time, many files of one page on it, a
# small and an enormous one, and run after run.
#
#   guest.sh FILES PAGES HUGE RUNS
#
#   FILES  of one page, in /mnt/files
#   PAGES  of /mnt/data, a power of two
#   HUGE   bytes of /mnt/huge, which is a hole
#   RUNS   lines of arguments for scale
#
# Line n of /results/runs is what the n-th one printed.

set -eu
. /disk.sh
uname -r >/results/kernel
make_ram_disk none $(($1 / 256 + $1 / 4096 + $2 / 256 + 160)) "$MAX_SECTORS"
mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=0 -N $(($1 + $1 / 500 + 1000)) /dev/none
mount /dev/none /mnt
mkdata /mnt/data "$2"
mkdir /mnt/files
scale make /mnt/files "$1"
truncate -s "$3" /mnt/huge
mount -o remount,ro /mnt
# The pool has room for the largest budget.
insmod /hipec/hipec.ko cache_percent=100 pool_mb=2560

# For some seconds after it came up, a kernel switches tasks more slowly.
sleep 20

group=/sys/fs/cgroup/run
while read -r arguments; do
	mkdir $group
	echo 3 >/proc/sys/vm/drop_caches
	# shellcheck disable=SC2086 # a list of words
	line=$(echo 0 >$group/cgroup.procs && exec scale $arguments </dev/null)
	echo "$line" >>/results/runs
	until rmdir $group 2>/dev/null; do :; done
done <<END
$4
END
