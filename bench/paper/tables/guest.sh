#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's side of the tables: a modelled disk with a partition for each
# program, and run after run.
#
#   guest.sh DISK COMPLETION_NS MB_PER_S PARTS RUNS
#
#   PARTS  words PROGRAM:FILE=PAGES,..., in the order of the partitions; "index"
#          is made by mkindex, "database" is empty, others are made by mkdata
#   RUNS   lines "MODULE_ARGUMENTS|MEMORY_MAX|COMMAND|COMMAND..."; MEMORY_MAX in
#          bytes
#
# The commands of a line run at the same time, in a memory cgroup of their own,
# each where its program's files are, with nothing cached. For each, /results/runs
# has what it printed, behind "run=N"; "guest: run N" tells the host that a line's
# turn has come. /results/kernel is the kernel's release.

set -eu
disk=$1
completion_ns=$2
mbps=$3
parts=$4
runs=$5

. /disk.sh

# Pages of the files of a part; and what the file system needs beside them.
part_mb()	# PART
{
	pages=0
	for file in $(echo "${1#*:}" | tr , ' '); do
		pages=$((pages + ${file#*=}))
	done
	echo $((pages / 240 + 4))
}

make_file()	# PATH PAGES
{
	case $1 in
	*/index) mkindex "$@" ;;
	*/database) ;;
	*) mkdata "$@" ;;
	esac
}

uname -r >/results/kernel
# fdisk wants a cylinder, of 63 MB, at least.
total=64
for part in $parts; do
	total=$((total + $(part_mb "$part")))
done
make_disk "$disk" "$completion_ns" "$mbps" "$total"
{
	n=0
	for part in $parts; do
		n=$((n + 1))
		printf 'n\np\n%d\n\n+%dM\n' $n "$(part_mb "$part")"
	done
	echo w
} | fdisk -b 4096 "/dev/$disk" >/dev/null

# Without journal, all tables written: nobody else uses the disk.
n=0
for part in $parts; do
	n=$((n + 1))
	where=/mnt/${part%%:*}
	mkdir "$where"
	mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=0 "/dev/$disk$n"
	mount -o noatime "/dev/$disk$n" "$where"
	for file in $(echo "${part#*:}" | tr , ' '); do
		make_file "$where/${file%=*}" "${file#*=}"
	done
done
sync

empty_databases()
{
	for part in $parts; do
		where=/mnt/${part%%:*}/database
		case $part in
		*database=*)
			rm -f "$where"
			truncate -s $((${part##*database=} * 4096)) "$where" ;;
		esac
	done
	sync
}

run()	# COMMAND...
{
	k=0
	pids=
	for command; do
		k=$((k + 1))
		# shellcheck disable=SC2086 # a list of words
		(echo 0 >"$group/cgroup.procs" && cd "/mnt/${command%% *}" &&
			exec $command) </dev/null >/tmp/out.$k &
		pids="$pids $!"
	done
	k=0
	for pid in $pids; do
		k=$((k + 1))
		wait "$pid" || {
			echo "guest: status $? of command $k of run $n"
			exit 1
		}
		echo "run=$n $(cat /tmp/out.$k)" >>/results/runs
	done
}

group=/sys/fs/cgroup/run
n=0
while IFS='|' read -r arguments memory_max commands; do
	n=$((n + 1))
	echo "guest: run $n"
	# shellcheck disable=SC2086 # a list of words
	insmod /hipec/hipec.ko $arguments
	mkdir "$group"
	echo "$memory_max" >"$group/memory.max"
	empty_databases
	echo 3 >/proc/sys/vm/drop_caches
	saved=$IFS
	IFS='|'
	# shellcheck disable=SC2086 # a list of commands
	set -- $commands
	IFS=$saved
	run "$@"
	rmdir "$group"
	until rmmod hipec 2>/dev/null; do :; done
done <<END
$runs
END
