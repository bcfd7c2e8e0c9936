# SPDX-License-Identifier: GPL-2.0-only
#
# What test_guest.py has the guest do: everything once, results for each part in
# a file of its own. Runs on although a part fails: the files tell.

# Tests revoke the same policies again and again.
insmod /hipec/hipec.ko pool_mb=2 readmit_ms=0 || exit 1
insmod /hipec/hipec_vmtest.ko || exit 1

hpt --module /hipec/vm/*.hpt >/results/hpt.txt 2>&1
differ --module 1 $((6000 / ${HIPEC_SLOWER:-1})) >/results/differ.txt 2>&1
# shellcheck disable=SC2046 # names
hipec-guest-test $(cat /hipec/tests) >/results/tests.txt 2>&1
sh /hipec/counts.sh >/results/counts.txt 2>&1

# Records, which the host replays: of each policy and of random programs; and of
# containers that live, by the command. Not where all is slow.
mkdir /results/records
if [ "${HIPEC_SLOWER:-1}" = 1 ]; then
	for policy in /hipec/policies/*.hpo /hipec/random/*.hpo; do
		record=/results/records/$(basename "$policy" .hpo)
		hipec-guest-test --record "$policy" "$record" 7 >>/results/records.txt 2>&1 ||
			echo "failed: $policy" >>/results/records.txt
	done
fi

# The command, on a container that lives.
cd /data
sweep --policy /hipec/policies/mru.hpo --frames 64 --passes 1000000 outer &
until hipec status 2>/dev/null | grep -q mru; do :; done
hipec status >/results/status.txt
hipec status --json >/results/status.json
cat /sys/kernel/debug/hipec/*/policy >/results/policy.txt
cat /sys/kernel/debug/hipec/*/status >/results/debugfs-status.txt
sweep=$!
id=$(hipec status | sed -n '2s/ *\([0-9]*\) .*/\1/p')
hipec why --json "$id" outer:12293 >/results/why.json 2>/results/why.txt
hipec why "$id" 3 >>/results/why.txt 2>&1
hipec why "$id" 400 >>/results/why.txt 2>&1
hipec record -o /results/records/live --seconds 1 --all 2>/results/record.txt
kill -9 $sweep
wait $sweep 2>/dev/null
if [ "${HIPEC_SLOWER:-1}" = 1 ]; then
	hipec record -o /results/records/command --ring 16M -- \
		sweep --policy /hipec/policies/lru.hpo --frames 64 --passes 20 outer >>/results/record.txt 2>&1
fi

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
hipec set "$id" youngest=1 any=-9 >/results/set.txt 2>&1
hipec set "$id" youngest=0 any=7 youngest=2 >>/results/set.txt 2>&1
hipec set --json "$id" >/results/set.json
hipec revoke "$id"
hipec revoke "$id" 2>>/results/set.txt
hipec status >>/results/set.txt
kill -9 $sweep
wait $sweep 2>/dev/null

# The same program traced and served: its accesses have the same contexts.
for program in touches-frames touches-scan; do
	$program outer /hipec/policies/contexts.hpo >/results/$program.txt 2>&1
	hipec trace -o /results/$program.trace.txt --stack frames --mmap=32 -- \
		$program outer >>/results/$program.txt 2>&1
done

# Unloading: nothing of ours is left behind.
cat /sys/kernel/debug/hipec/frames >/results/frames.txt
cd /
until rmmod hipec 2>/dev/null; do :; done
rmmod hipec_vmtest
ls -d /sys/module/hipec* /dev/hipec* /sys/kernel/debug/hipec >/results/left.txt 2>/dev/null
hipec status >/results/status-gone.txt 2>&1
echo $? >>/results/status-gone.txt
insmod /hipec/hipec.ko global=lru 2>/dev/null && echo loaded >>/results/left.txt

# The other global policy.
insmod /hipec/hipec.ko pool_mb=2 readmit_ms=0 global=awst || exit 1
cat /sys/module/hipec/parameters/global >/results/global.txt
# shellcheck disable=SC2046 # names
hipec-guest-test $(hipec-guest-test --list | grep ^awst_) >>/results/tests.txt 2>&1
until rmmod hipec 2>/dev/null; do :; done

# About a minute, more where that is little; with allocations that fail where the
# kernel can do that.
inject=
[ ! -d /sys/kernel/debug/failslab ] || inject=--inject
sh /hipec/stress.sh stress --seconds $((HIPEC_SLOWER > 1 ? 80 : 40)) --seed 1 $inject
sh /hipec/stress.sh roomy --seconds $((HIPEC_SLOWER > 1 ? 20 : 10)) --seed 2 --roomy $inject

sh /hipec/hostile.sh 20 1
