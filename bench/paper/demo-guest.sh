#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's side of demo.py: a modelled disk, data on it, and run after run.
#
#   demo-guest.sh DISK COMPLETION_NS MB_PER_S DATA RUNS
#
#   DATA   words FILE=PAGES
#   RUNS   lines "MEMORY_MAX COMMAND..."; MEMORY_MAX in bytes
#
# Each command runs in a memory cgroup of its own, with nothing cached. Line n of
# /results/runs is what the n-th one printed; "guest: run n" tells the host.
# /results/kernel is the kernel's release.

set -eu
disk=$1
completion_ns=$2
mbps=$3
data=$4
runs=$5

uname -r >/results/kernel
insmod /hipec/hipec.ko

. /disk.sh
make_disk "$disk" "$completion_ns" "$mbps" 256

# Read-only, without journal, all tables written: nobody else uses the disk.
mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=0 "/dev/$disk"
mount "/dev/$disk" /mnt
for file in $data; do
	mkdata "/mnt/${file%=*}" "${file#*=}"
done
umount /mnt
mount -o ro "/dev/$disk" /mnt
cd /mnt

group=/sys/fs/cgroup/run
n=0
while read -r memory_max command; do
	n=$((n + 1))
	echo "guest: run $n"
	mkdir "$group"
	echo "$memory_max" >"$group/memory.max"
	echo 3 >/proc/sys/vm/drop_caches
	# shellcheck disable=SC2086 # a list of words
	line=$(echo 0 >"$group/cgroup.procs" && exec $command </dev/null) || {
		echo "demo: status $? of: $command"
		exit 1
	}
	echo "$line memory_peak=$(cat "$group/memory.peak")" >>/results/runs
	rmdir "$group"
done <<END
$runs
END
