#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's side of table.py: a disk that takes no time, a large and a small file on
# it, and run after run.
#
#   guest.sh PAGES SMALL RUNS
#
#   PAGES, SMALL   of the files; powers of two
#   RUNS           lines "MEMORY_MAX ARGUMENTS..." for threads
#
# Line n of /results/runs is what the n-th one printed, and oom=: processes that were
# killed in its cgroup.

set -eu
. /disk.sh
uname -r >/results/kernel
make_ram_disk none 128 "$MAX_SECTORS"
put_data none "$1"
mount -o remount,rw /mnt
mkdata /mnt/small "$2"
mount -o remount,ro /mnt
insmod /hipec/hipec.ko

group=/sys/fs/cgroup/run
while read -r memory_max arguments; do
	mkdir $group
	echo "$memory_max" >$group/memory.max
	echo 3 >/proc/sys/vm/drop_caches
	# shellcheck disable=SC2086 # a list of words
	line=$(echo 0 >$group/cgroup.procs && exec threads $arguments </dev/null) || line="status=$?"
	echo "$line oom=$(sed -n 's/^oom_kill //p' $group/memory.events)" >>/results/runs
	until rmdir $group 2>/dev/null; do :; done
done <<END
$3
END
