#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's side of table.py: a disk that takes no time, a file on it, and run
# after run.
#
#   guest.sh PAGES RUNS
#
#   PAGES  of the file; a power of two
#   RUNS   lines "MEMORY_MAX MODULE_PARAMETERS ARGUMENTS..." for fault, parameters
#          joined by commas, or -
#
# Line n of /results/runs is what the n-th one printed.

set -eu
. /disk.sh
pages=$1
runs=$2

uname -r >/results/kernel
make_ram_disk none 128 "$MAX_SECTORS"
echo 128 >/sys/block/none/queue/read_ahead_kb
put_data none "$pages"

group=/sys/fs/cgroup/run
while read -r memory_max parameters arguments; do
	[ "$parameters" != - ] || parameters=
	# shellcheck disable=SC2046 # a list of words
	insmod /hipec/hipec.ko $(echo "$parameters" | tr , ' ')
	mkdir $group
	echo "$memory_max" >$group/memory.max
	echo 3 >/proc/sys/vm/drop_caches
	# shellcheck disable=SC2086 # a list of words
	line=$(echo 0 >$group/cgroup.procs && exec fault $arguments </dev/null)
	echo "$line" >>/results/runs
	until rmdir $group 2>/dev/null; do :; done
	until rmmod hipec 2>/dev/null; do :; done
done <<END
$runs
END
