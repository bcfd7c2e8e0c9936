# SPDX-License-Identifier: GPL-2.0-only
#
# What test_amp_guest.py has the guest do: a program that loops over a file, six rounds,
# under several policies; another one that loads amp itself, with and without hipec amp
# feed. What each round read from the disk, in pages, goes to
# /results/NAME.reads. The disk is in /data.

export HIPEC_POLICY_PATH=/hipec/policies HOME=/tmp
cd /data || exit 1
mkfifo /tmp/ask /tmp/answer /tmp/fed

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
	count "$name"
}

# NAME: six rounds of the program behind descriptors 3 and 4, and its end.
count()
{
	for round in 1 2 3 4 5 6; do
		before=$(reads)
		echo "$round" >&3
		read -r _ <&4
		echo $(($(reads) - before))
	done >/results/"$1".reads
	exec 3>&- 4<&-
	wait
}

# NAME [OPTION...]: six rounds of a program that loads amp itself; with options, fed.
loads_itself()
{
	name=$1
	shift
	echo 3 >/proc/sys/vm/drop_caches
	own /hipec/policies/amp.hpo "$budget" large </tmp/ask >/tmp/answer \
		2>/results/"$name".said &
	pid=$!
	exec 3>/tmp/ask 4</tmp/answer
	read -r _ <&4
	if [ $# -gt 0 ]; then
		hipec amp feed "$@" "$pid" >/tmp/fed 2>>/results/"$name".said 3>&- 4<&- &
		exec 5</tmp/fed
		read -r line <&5
		echo "$line" >/results/"$name".fed
	fi
	count "$name"
	if [ $# -gt 0 ]; then
		cat <&5 >>/results/"$name".fed
		exec 5<&-
	fi
}

insmod /hipec/hipec.ko pool_mb=256 backoff_ms=0 || exit 1
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
loads_itself alone
loads_itself fed --hints /tmp/own.hints
hipec amp report /tmp/own.hints >/results/own.report 2>&1
cat /sys/kernel/debug/hipec/frames >/results/frames.txt
cd /
