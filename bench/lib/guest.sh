#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's side of a benchmark: guest.sh SCRIPT
#
# SCRIPT makes the guest ready, then has lines for each run; command() of guests.py made it.
# Both call what is here and in disk.sh. Line n of /results/runs is what the n-th run printed.

set -eu
. /disk.sh
uname -r >/results/kernel
group=/sys/fs/cgroup/run

# For some seconds after it came up, a kernel switches tasks more slowly.
settle() { sleep 20; }

failed()	# COMMAND...
{
	echo "guest.sh: status $? of: $*"
	exit 1
}

run()	# COMMAND...
{
	"$@" </dev/null >>/results/runs || failed "$@"
}

# Before and after each run in a cgroup: a benchmark's setup may have these do more.
prepare() { :; }
tidy() { :; }

begin_group()	# MEMORY_MAX
{
	mkdir $group
	echo "$1" >$group/memory.max
	prepare
	echo 3 >/proc/sys/vm/drop_caches
}

end_group()	# LINE
{
	echo "$1" >>/results/runs
	tidy
	until rmdir $group 2>/dev/null; do :; done
}

inside()	# COMMAND...
{
	echo 0 >$group/cgroup.procs && exec "$@" </dev/null
}

# In a memory cgroup of the run's own, with nothing cached.
in_group()	# MEMORY_MAX COMMAND...
{
	begin_group "$1"
	shift
	line=$(inside "$@") || failed "$@"
	end_group "$line"
}

# The same, where a failure is a result too: status=; oom=, processes killed for memory.
in_group_perhaps()	# MEMORY_MAX COMMAND...
{
	begin_group "$1"
	shift
	line=$(inside "$@") || line="status=$?"
	end_group "$line oom=$(sed -n 's/^oom_kill //p' $group/memory.events)"
}

# At the same time, each where its program's files are; what each printed is behind "run=N".
number=0
together()	# MEMORY_MAX COMMAND...
{
	begin_group "$1"
	shift
	number=$((number + 1)) k=0 pids=
	for command; do
		k=$((k + 1))
		# shellcheck disable=SC2086 # a list of words
		(echo 0 >$group/cgroup.procs && cd "/mnt/${command%% *}" &&
			exec $command) </dev/null >/tmp/out.$k &
		pids="$pids $!"
	done
	k=0
	for pid in $pids; do
		k=$((k + 1))
		wait "$pid" || failed $k of run $number
		echo "run=$number $(cat /tmp/out.$k)" >>/results/runs
	done
	rmdir $group
}

# From the first file that is attached on, the module stays.
load_for_good()
{
	[ -d /sys/module/hipec ] || insmod /hipec/hipec.ko
}

# A container ends a moment after its program.
remove_module()
{
	until rmmod hipec 2>/dev/null; do :; done
}

eval "$1"
