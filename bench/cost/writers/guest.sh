#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's side of table.py: a modelled disk, a file system on it, and run after run.
#
#   guest.sh FS COMPLETION_NS MB_PER_S OTHER RUNS
#
#   OTHER  pages of a file that is there to be read
#   RUNS   lines "MEMORY_MAX WHAT PAGES HOG OTHER [POLICY FRAMES]" for writers
#
# Line n of /results/runs is what the n-th one printed, and oom=: processes that were
# killed in its cgroup.

set -eu
. /disk.sh
fs=$1
uname -r >/results/kernel
make_disk disk "$2" "$3" 384
[ "$fs" = ext4 ] || modprobe "$fs"
case $fs in
ext4) mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 /dev/disk ;;
*) "mkfs.$fs" -q /dev/disk ;;
esac
mount /dev/disk /mnt
mkdata /mnt/other "$4"
insmod /hipec/hipec.ko

group=/sys/fs/cgroup/run
while read -r memory_max what pages hog other policy; do
	# What random writes and maps write to is there.
	case $what in
	random | mmap) dd if=/dev/zero of=/mnt/file bs=64k count=$((pages / 16)) 2>/dev/null ;;
	*) : >/mnt/file ;;
	esac
	sync
	mkdir $group
	echo "$memory_max" >$group/memory.max
	echo 3 >/proc/sys/vm/drop_caches
	# shellcheck disable=SC2086 # a list of words
	line=$(echo 0 >$group/cgroup.procs &&
		exec writers "$what" "$pages" "$hog" /mnt/file "$other" $policy </dev/null) ||
		line="status=$?"
	echo "$line oom=$(sed -n 's/^oom_kill //p' $group/memory.events)" >>/results/runs
	rm /mnt/file
	sync
	until rmdir $group 2>/dev/null; do :; done
done <<END
$5
END
