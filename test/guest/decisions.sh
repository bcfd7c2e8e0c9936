# SPDX-License-Identifier: GPL-2.0-only
#
# What test_decisions.py has the guest do: tests of data on other file systems, records for the
# host to replay, swaps on trial, leagues, traces. Runs on although a part fails: the files tell.

. /hipec/module.sh

# Tests revoke the same policies again and again.
load_module pool_mb=2 backoff_ms=0 others_us=10000 || exit 1
cd /data || exit 1
mkdir /results/records

# The tests of data and of locks again, a tenth as long, on other file systems. Files of
# tmpfs are not taken in place.
data_on()	# TYPE
{
	names=$(hipec-guest-test --list-data)
	[ "$1" != tmpfs ] || names=$(echo "$names" | grep -v ^cache_)
	# shellcheck disable=SC2086 # names
	HIPEC_SLOWER=10 hipec-guest-test $names >"/results/tests-$1.txt" 2>&1
	umount /data
}
disk_on()	# TYPE MAKE...
{
	type=$1
	shift
	truncate -s 512M /tmp/image
	modprobe -a loop "$type"
	"$@" /tmp/image >/dev/null && mount -t "$type" -o loop /tmp/image /data && data_on "$type"
	rm /tmp/image
}
cd /
disk_on xfs mkfs.xfs -q
disk_on btrfs mkfs.btrfs -q
mount -t tmpfs tmpfs /data && data_on tmpfs
cd /data || exit 1

# Nobody is revoked of whom the contract says so; and no event is given up because the host left
# the guest's CPU without time for more than an event's 10 ms.
parameters=/sys/module/hipec/parameters
echo N >$parameters/revocation
echo 10000000 >$parameters/quantum_us
sh /hipec/judged.sh >/results/judged.txt 2>&1
echo 10000 >$parameters/quantum_us
echo Y >$parameters/revocation

# Records, which the host replays: of each policy and of random programs; and of a
# container that a command makes.
for policy in /hipec/policies/*.hpo /hipec/random/*.hpo; do
	record=/results/records/$(basename "$policy" .hpo)
	hipec-guest-test --record "$policy" "$record" 7 >>/results/records.txt 2>&1 ||
		echo "failed: $policy" >>/results/records.txt
done
hipec record -o /results/records/command --ring 16M -- \
	sweep --policy /hipec/policies/lru.hpo --frames 64 --passes 20 outer >>/results/record.txt 2>&1

# Other policies for it: at once, by hand, on trial there and back.
sweep --share --policy /hipec/policies/mru.hpo --frames 300 --cluster 1 \
	--passes 1000000 outer &
sweep=$!
# The first of its two containers only holds the rest of the pool.
until [ "$(hipec status | grep -c mru)" = 2 ]; do :; done
id=$(hipec status | sed -n '$s/ *\([0-9]*\) .*/\1/p')
swap()
{
	hipec swap --json "$@" >>/results/swap.json 2>>/results/swap.txt
	echo "status $?" >>/results/swap.txt
	hipec status --json | sed -n 's/.*"policy":"\(.*\)",/now \1/p' | tail -n 1 >>/results/swap.txt
}
swap --trial 8s "$id" /hipec/policies/fifo.hpo
swap "$id" builtin
swap "$id" /hipec/policies/fifo.hpo
swap --trial 8s "$id" /hipec/policies/mru.hpo
swap --trial 8s "$id" /hipec/policies/no-page.hpo
swap "$id" /hipec/policies/adopt-dies.hpo
swap "$id" /hipec/policies/ends.hpo
hipec swap --param "$id" youngest=1 any=-9 >/results/set.txt 2>&1
hipec swap --param "$id" youngest=0 any=7 youngest=2 >>/results/set.txt 2>&1
hipec swap --param --json "$id" >/results/set.json
hipec swap --revoke "$id"
hipec swap --revoke "$id" 2>>/results/set.txt
hipec status >>/results/set.txt
kill -9 $sweep
wait $sweep 2>/dev/null

# Files in place, by the command: 400 pages in a budget of 256, and nothing else.
hipec attach --policy /hipec/policies/mru.hpo --budget 256 outer >/results/attach.txt 2>&1
id=$(cat /results/attach.txt)
for pass in 1 2 3; do
	dd if=outer of=/dev/null bs=64k 2>/dev/null || echo "failed: pass $pass" >>/results/attach.txt
done
hipec status --json >/results/attach.json
for file in outer /dev/null /proc/version; do
	hipec attach --policy /hipec/policies/mru.hpo --budget 256 $file >>/results/attach.txt 2>&1
done
hipec detach "$id" inner >>/results/attach.txt 2>&1
hipec detach "$id" outer >>/results/attach.txt 2>&1
hipec detach "$id" >>/results/attach.txt 2>&1
hipec detach "$id" >>/results/attach.txt 2>&1
hipec status --json >/results/detach.json

six_passes()
{
	for pass in 1 2 3 4 5 6; do
		dd if=outer of=/dev/null bs=4k 2>/dev/null || echo "failed: pass $pass"
	done
}

# Policies that play beside the one that runs.
id=$(hipec attach --policy auto --among \
	/hipec/policies/mru.hpo,/hipec/policies/lru.hpo --budget 256 outer 2>/results/league.txt)
hipec record -o /results/records/league "$id" 2>>/results/record.txt &
recorder=$!
for second in 1 2 3 4 5 6 7 8 9 10; do
	[ ! -s /results/records/league ] || break
	sleep 1
done
six_passes >>/results/league.txt
hipec status --league "$id" >>/results/league.txt 2>&1
hipec status --json >/results/league.json
hipec status --metrics >/results/league.metrics
hipec top --once >/results/league.top
hipec status --curve "$id" >>/results/league.txt 2>&1
hipec swap "$id" /hipec/policies/lru.hpo >>/results/league.txt 2>&1
hipec status --league "$id" >>/results/league.txt 2>&1
hipec detach "$id" >>/results/league.txt 2>&1
wait $recorder
hipec attach --policy builtin --among lru --budget 256 outer 2>&1 | head -n 1 >>/results/league.txt
hipec attach --policy auto --among /hipec/policies/lru.hpo,none --budget 256 outer >>/results/league.txt 2>&1
hipec status >>/results/league.txt 2>&1

# What other budgets would bring the policy that runs. What is read ahead takes frames that
# it has not, so nothing is.
disk=/sys/block/$(sed -n 's|^/dev/\(.*\) /data .*|\1|p' /proc/mounts)/queue/read_ahead_kb
ahead=$(cat "$disk")
echo 0 >"$disk"
id=$(hipec attach --policy /hipec/policies/mru.hpo --curve --budget 256 outer 2>/results/curve.txt)
six_passes >>/results/curve.txt
hipec status --curve "$id" >>/results/curve.txt 2>&1
hipec status --json >/results/curve.json
hipec status --metrics >/results/curve.metrics
hipec top --once >/results/curve.top
hipec top --once --json >/results/curve-top.json
hipec status --league "$id" >>/results/curve.txt 2>&1
hipec detach "$id" >>/results/curve.txt 2>&1
echo "$ahead" >"$disk"
# A container that shares has a league and a curve as well.
id=$(hipec attach --policy auto --among /hipec/policies/mru.hpo --share --curve --budget 256 \
	outer 2>>/results/curve.txt)
six_passes >>/results/curve.txt
hipec status --json >/results/curve-shared.json
hipec detach "$id" >>/results/curve.txt 2>&1

# The same program traced and served: its accesses have the same contexts.
for program in touches-frames touches-scan; do
	$program outer /hipec/policies/contexts.hpo >/results/$program.txt 2>&1
	hipec trace --all -o /results/$program.trace.txt --stack frames --mmap=32 -- \
		$program outer >>/results/$program.txt 2>&1
done

cd /
module_is_idle
