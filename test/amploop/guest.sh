# SPDX-License-Identifier: GPL-2.0-only
#
# What test_amp_guest.py has the guest do: a program that loops over a file, six rounds,
# under several policies. What each round read from the disk, in pages, goes to
# /results/NAME.reads. The disk is in /data.

export HIPEC_POLICY_PATH=/hipec/policies HOME=/tmp
cd /data || exit 1
mkfifo /tmp/ask /tmp/answer

reads()
{
	# shellcheck disable=SC2046 # numbers
	set -- $(cat /sys/block/vda/stat)
	echo $(($3 / 8))
}

# NAME OPTION...: six rounds under hipec run.
rounds()
{
	name=$1
	shift
	echo 3 >/proc/sys/vm/drop_caches
	hipec run --budget "$budget" --map large --map small --strict "$@" -- \
		loops large small </tmp/ask >/tmp/answer 2>/results/"$name".said &
	exec 3>/tmp/ask 4</tmp/answer
	for round in 1 2 3 4 5 6; do
		before=$(reads)
		echo "$round" >&3
		read -r _ <&4
		echo $(($(reads) - before))
	done >/results/"$name".reads
	exec 3>&- 4<&-
	wait
}

insmod /hipec/hipec.ko pool_mb=256 readmit_ms=0 || exit 1
budget=4608
for policy in builtin arc mru; do
	rounds "$policy" --policy "$policy"
done
rounds amp --policy amp
cp /tmp/.local/state/hipec/amp/*.hints /results/first.hints
hipec amp report >/results/first.report 2>&1
rounds again --policy amp
cp /tmp/.local/state/hipec/amp/*.hints /results/second.hints
rounds plain --policy amp --no-hints
hipec amp report --json /results/second.hints >/results/second.json 2>&1
cat /sys/kernel/debug/hipec/frames >/results/frames.txt
cd / && rmmod hipec 2>>/results/frames.txt
