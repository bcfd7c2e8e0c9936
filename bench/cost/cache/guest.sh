#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's side of table.py: a disk that takes no time, a large and a small file on
# it, and run after run.
#
#   guest.sh PAGES SMALL RUNS PARAMETERS [MOUNT_OPTIONS [OTHER]]
#
#   PAGES, SMALL   of the files; powers of two
#   OTHER          of the third file; SMALL
#   RUNS           lines "MEMORY_MAX ARGUMENTS..." for place
#   PARAMETERS     the module's, as pool_mb=16
#   MOUNT_OPTIONS  of the file system; ro
#
# Line n of /results/runs is what the n-th one printed.

set -eu
. /disk.sh
uname -r >/results/kernel
# A quarter more than the large file, and the small ones.
make_ram_disk none $(($1 / 256 * 5 / 4 + 88)) "$MAX_SECTORS"
echo 128 >/sys/block/none/queue/read_ahead_kb
mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=0 /dev/none
mount /dev/none /mnt
mkdata /mnt/data "$1"
mkdata /mnt/small "$2"
mkdata /mnt/other "${6:-$2}"
umount /mnt
mount -o "${5:-ro}" /dev/none /mnt
# shellcheck disable=SC2086 # a list of words
insmod /hipec/hipec.ko $4

group=/sys/fs/cgroup/run
mkdir /sys/fs/cgroup/elsewhere

# For some seconds after it came up, a kernel switches tasks more slowly.
sleep 20

while read -r memory_max arguments; do
	mkdir $group
	echo "$memory_max" >$group/memory.max
	echo 3 >/proc/sys/vm/drop_caches
	# shellcheck disable=SC2086 # a list of words
	line=$(echo 0 >$group/cgroup.procs && exec place $arguments </dev/null)
	echo "$line" >>/results/runs
	until rmdir $group 2>/dev/null; do :; done
done <<END
$3
END
