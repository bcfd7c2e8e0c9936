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
# /results/runs is what the n-th one printed; "demo: run n" tells the host.
# /results/kernel is the kernel's release.

set -eu
disk=$1
completion_ns=$2
mbps=$3
data=$4
runs=$5

uname -r >/results/kernel
insmod /hipec/hipec.ko

# null_blk's defaults would tell of null_blk. max_sectors: requests of up to 1280 KB,
# the kernel's default where a disk has no limit of its own, not 127.5 KB, which
# cuts every 128 KB read in two. blocksize: it looks for its memory once a block.
nullb=/sys/kernel/config/nullb/$disk
mkdir "$nullb"
echo 256 >"$nullb/size"
echo 1 >"$nullb/memory_backed"
echo 2 >"$nullb/irqmode"
echo 2 >"$nullb/queue_mode"
echo 2560 >"$nullb/max_sectors"
echo 4096 >"$nullb/blocksize"
echo "$completion_ns" >"$nullb/completion_nsec"
echo "$mbps" >"$nullb/mbps"
echo 1 >"$nullb/power"
echo 128 >"/sys/block/$disk/queue/read_ahead_kb"

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
	echo "demo: run $n"
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
rmmod hipec
