# SPDX-License-Identifier: GPL-2.0-only
#
# What test_ops_guest.py has the guest do: three programs, and everything that shows
# what becomes of them. /hipec/page and /hipec/runbook have the commands of
# docs/user/operations.md, a file each. Runs on although a part fails: the files in /results tell.

container()	# NUMBER: until there is one
{
	until [ -e /sys/kernel/debug/hipec/"$1"/policy ]; do :; done
}

export HIPEC_POLICY_PATH=/hipec/policies
cd /data

# As it comes.
insmod /hipec/hipec.ko || exit 1
for name in /sys/module/hipec/parameters/*; do
	echo "${name##*/} $(cat "$name")"
done >/results/parameters.txt
rmmod hipec
insmod /hipec/hipec.ko pool_mb=4 log_records=8 || exit 1

# What the page tells of: a sweep that is served well in frames of its own; a search in a
# share; and a policy that makes a mistake.
sweep --policy /hipec/policies/mru.hpo --frames 256 --passes 1000000 outer >/dev/null &
sweep=$!
container 1
search /hipec/policies/mru.hpo 320 books &
search=$!
container 2
sweep --policy draft.hpo --frames 64 --passes 1000000 outer >/dev/null 2>&1 &
draft=$!
container 3
until [ "$(hipec top -1j -i 0.2 | grep -o '"gain_percent":[0-9]' | wc -l)" = 1 ] &&
	hipec status | grep -q 'division by zero'; do :; done

mkdir /results/page
for command in /hipec/page/*; do
	sh "$command" >/results/page/"${command##*/}" 2>&1
	echo "status $?" >>/results/page/"${command##*/}"
done

hipec status >/results/status.txt
hipec status --json >/results/status.json
hipec top --json -n 3 -i 0.5 --sort faults >/results/top.json
hipec status --metrics >/results/metrics.txt
hipec log --json >/results/log.json

# Where else it shows.
ls /sys/kernel/tracing/events/hipec >/results/tracepoints.txt
cat /sys/kernel/tracing/events/hipec/*/format >/results/formats.txt
find /sys/kernel/debug/hipec >/results/debugfs.txt
ls -d /dev/hipec /sys/class/misc/hipec /sys/module/hipec/parameters >/results/places.txt
grep hipec /proc/misc /proc/modules >>/results/places.txt
grep hipec /proc/$sweep/maps | head -n 1 >>/results/places.txt
cat /sys/kernel/debug/hipec/[0-9]*/status >/results/debugfs-status.txt

# One is killed, one ends in peace.
hipec status --json >/results/before.json
kill -9 $sweep
wait $sweep 2>/dev/null
kill $draft
wait $draft 2>/dev/null
kill $search
wait $search 2>/dev/null
hipec log --json >/results/log-after.json

# The runbook of the page, for a program in a share; behind each command, who is in charge,
# and what may be set.
search /hipec/policies/mru.hpo 320 books &
search=$!
until hipec status | grep -q ' search '; do :; done
ID=$(hipec status | sed -n 's/ *\([0-9]*\) .* search .*/\1/p')
export ID
mkdir /results/runbook
for command in /hipec/runbook/*; do
	sh "$command" >/results/runbook/"${command##*/}" 2>&1
	echo "status $?" >>/results/runbook/"${command##*/}"
	echo "$(hipec status --json | sed -n 's/.*"policy":"\(.*\)",/\1/p')" \
		"$(cat /sys/module/hipec/parameters/quota_mb)" \
		"$(cat /sys/module/hipec/parameters/revocation)" >>/results/runbook.txt
done
kill $search
wait $search 2>/dev/null

# Somebody who looks does not keep the module from going.
hipec top -n 1000 -i 0.2 --json >/dev/null 2>/results/top-gone.txt &
top=$!
sleep 1
until rmmod hipec 2>/dev/null; do :; done
wait $top
echo $? >>/results/top-gone.txt
ls -d /sys/module/hipec /dev/hipec /sys/kernel/debug/hipec >/results/left.txt 2>/dev/null
true
