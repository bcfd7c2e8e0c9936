#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's side of table.py: a disk that takes no time, a database of 12 MB, and
# scans of it, in memory enough for all of it.
#
#   guest.sh SCANS...
#
# Lines of /results/runs: how often sqlite3 scanned and how it was run, what the page
# cache had, and when it began and ended, in ns.

set -eu
export HIPEC_POLICY_PATH=/hipec/policies HOME=/tmp
uname -r >/results/kernel
nullb=/sys/kernel/config/nullb/none
[ -d /sys/kernel/config/nullb ] || modprobe null_blk nr_devices=0
mkdir $nullb
echo 64 >$nullb/size
echo 1 >$nullb/memory_backed
echo 0 >$nullb/irqmode
echo 4096 >$nullb/blocksize
echo 1 >$nullb/power
mkfs.ext4 -q -E lazy_itable_init=0 /dev/none
mount /dev/none /mnt
sqlite3 /mnt/table.db "create table t(a); with recursive n(i) as (select 1 union all
	select i + 1 from n where i < 6000) insert into t select randomblob(2000) from n"
umount /mnt
mount -o ro /dev/none /mnt
insmod /hipec/hipec.ko pool_mb=128 backoff_ms=0

now()
{
	while read -r words; do
		case $words in
		"now at "*) words=${words#now at }; ns=${words% nsecs}; return ;;
		esac
	done </proc/timer_list
}

# scans N: what sqlite3 is to do
scans()
{
	echo "pragma mmap_size = 100000000; pragma cache_size = 10;"
	left=$1
	while [ "$left" -gt 0 ]; do
		echo "select count(*), max(a) from t;"
		left=$((left - 1))
	done
}

# HOW CACHE COMMAND...
run()
{
	how=$1 cache=$2
	shift 2
	echo 3 >/proc/sys/vm/drop_caches
	[ "$cache" = empty ] || cat /mnt/table.db >/dev/null
	# Programs and libraries are files as well.
	"$@" sqlite3 :memory: "select 1" >/dev/null
	now
	begin=$ns
	"$@" sqlite3 -readonly /mnt/table.db "$sql" >/tmp/"$how"
	now
	echo "scans=$scans how=$how cache=$cache begin=$begin end=$ns" >>/results/runs
	cmp /tmp/plain /tmp/"$how"
}

for scans; do
	sql=$(scans "$scans")
	for cache in empty full; do
		run plain $cache env
		run library $cache hipec run --regions --policy builtin --budget 64M --map nothing --quiet --
		run hipec $cache hipec run --regions --policy builtin --budget 64M --map table.db \
			--strict --quiet --
	done
done
rmmod hipec
