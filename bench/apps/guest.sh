#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's side of table.py: programs of others, as the page cache serves them and
# under policies in place, in a memory cgroup of the same size.
#
#   guest.sh COMPLETION_NS MB_PER_S RUNS
#
#   RUNS   lines "ROW HOW GEN ADVICE VARIANT POLICY MEMORY BUDGET PASSES ATTACH..."; none
#          of a word is "-"; "run" to attach is hipec run, in the cgroup
#
# /apps/ROW has the row's run.sh and its data. Line n of /results/runs is what the n-th run
# gave; /results/counts/ROW.HOW what its container had counted.

set -u
. /disk.sh
export HIPEC_POLICY_PATH=/hipec/policies HOME=/tmp LC_ALL=C
cgroups=/sys/fs/cgroup
lru_gen=/sys/kernel/mm/lru_gen/enabled
uname -r >/results/kernel
mkdir /results/counts
echo "user:x:65534:65534::/tmp:/bin/sh" >/etc/passwd
modprobe -q overlay
insmod /hipec/hipec.ko backoff_ms=0 cache_percent=90 || exit 1

fail()
{
	echo "guest.sh: $row $how: $*" >&2
	exit 1
}

mode()	# ROW
{
	[ -e "/apps/$1/writes" ] && echo rw || echo ro
}

# The row's data go to its disk, which is mounted, and are in memory no more.
put_data()	# ROW
{
	cp -a "/apps/$1/data/." "/mnt/$1" && umount "/mnt/$1" &&
		mount -o "$(mode "$1")" "/dev/$1" "/mnt/$1"
}

# A disk of the row's own, with its data, which nobody has read.
put_row()	# ROW COMPLETION_NS MB_PER_S
{
	make_disk "$1" "$2" "$3" $(($(du -sm "/apps/$1/data" | cut -f1) * 3 / 2 + 32))
	mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=0 "/dev/$1" &&
		mkdir "/mnt/$1" && mount "/dev/$1" "/mnt/$1" && put_data "$1" || exit 1
	[ -e "/apps/$1/afresh" ] || rm -rf "/apps/$1/data"
}

# Pages that the row's disk has read go to $pages.
read_pages()
{
	# shellcheck disable=SC2046 # numbers
	set -- $(cat "/sys/block/$row/stat")
	pages=$(($3 / 8))
}

# Hundredths of a second since the boot go to $now.
clock()
{
	read -r now _ </proc/uptime
	now=${now%.*}${now#*.}
}

# PART: run.sh's main or after, in the cgroup; its output's sum goes to $sum.
in_group()
{
	sum=$({
		echo 0 >$group/cgroup.procs
		cd "/mnt/$row" || exit
		[ "$advice" = - ] || export LD_PRELOAD=/hipec/advice.so ADVICE="$advice"
		# shellcheck disable=SC2086 # a list of words
		PASSES=$passes VARIANT=$variant $run sh "/apps/$row/run.sh" "$1" 2>&1 || echo failed
	} </dev/null | tee /tmp/said | md5sum)
	[ "$(tail -n 1 /tmp/said)" != failed ] || fail "$1: $(tail -n 3 /tmp/said)"
}

one_run()	# ATTACH...
{
	[ ! -e $lru_gen ] || [ "$gen" = - ] || echo "$gen" >$lru_gen
	group=$cgroups/$row-$how
	if [ -e "/apps/$row/afresh" ]; then
		rm -rf "/mnt/$row"/* && put_data "$row" || fail "no data"
	fi
	mkdir "$group" && echo "$memory" >"$group/memory.max" || fail "no cgroup"
	echo 3 >/proc/sys/vm/drop_caches
	cd "/mnt/$row" || fail "no data"
	# Names and inodes are in memory, and not in the cgroup's, in all runs alike.
	du -s . >/dev/null
	read_pages
	begin=$pages
	id='' run=''
	if [ "$policy" != - ] && [ "$*" = run ]; then
		run="hipec run --policy $policy --budget $budget --hints /tmp/$row.hints --strict
			--json --output /results/counts/$row.$how --"
	elif [ "$policy" != - ]; then
		# shellcheck disable=SC2046 # a list of words
		id=$(hipec attach --policy "$policy" --budget "$budget" \
			$(echo "$*" | sed "s|@|$group|")) ||
			fail "attach"
	fi
	clock
	from=$now
	in_group main
	clock
	took=$((now - from))
	read_pages
	main=$((pages - begin)) again=0 main_sum=${sum%% *}
	if grep -q '^after)' "/apps/$row/run.sh"; then
		begin=$pages
		in_group after
		read_pages
		again=$((pages - begin))
	fi
	if [ -n "$id" ]; then
		hipec status --json >"/results/counts/$row.$how"
		hipec detach "$id" >/dev/null || fail "detach"
	fi
	killed=$(sed -n 's/^oom_kill //p' "$group/memory.events")
	cd /
	until rmdir "$group" 2>/dev/null; do :; done
	echo "row=$row how=$how read=$main again=$again ms=${took}0 sum=x$main_sum oom=$killed" \
		>>/results/runs
}

number=0
while read -r row how gen advice variant policy memory budget passes attach; do
	echo "guest: run $((number = number + 1))"
	[ -d "/mnt/$row" ] || put_row "$row" "$1" "$2"
	# shellcheck disable=SC2086 # a list of words
	one_run $attach
done <<END
$3
END
