#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's side of table.py: a tree of files of one page, each a hole, that hipec attach
# takes and hipec detach lets go.
#
#   guest.sh FILES
#
# The lines of /results/runs are what scale printed of both; /results/status is in between.

set -eu
. /disk.sh
uname -r >/results/kernel
make_ram_disk none $(($1 / 2000 + 160)) "$MAX_SECTORS"
mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=0 -N $(($1 + $1 / 500 + 1000)) /dev/none
mount /dev/none /mnt
mkdir /mnt/files
scale holes /mnt/files "$1"
insmod /hipec/hipec.ko
group=/sys/fs/cgroup/run
mkdir $group
sync
echo 3 >/proc/sys/vm/drop_caches
echo 0 >$group/cgroup.procs
scale run hipec attach --policy /policies/fifo.hpo --budget 64M /mnt/files \
	>/results/attach 2>/results/words
grep what= /results/attach >/results/runs
id=$(grep -v what= /results/attach)
hipec status --json >/results/status
dmesg | grep "hipec: " | grep -v "module" >/results/log || true
scale run hipec detach "$id" >>/results/runs
