# SPDX-License-Identifier: GPL-2.0-only
#
# run.sh stock|debug: what test_guest.py has the guest do: everything once, results
# for each part in a file of its own. Runs on although a part fails: the files tell.
# The debug kernel runs what it may find bugs in; stock ones the VM core's files as well.

. /hipec/module.sh

# A container that lives, looked at by the command and in debugfs, and killed.
load_module pool_mb=2 || exit 1
cd /data
sweep --policy /hipec/policies/mru.hpo --frames 64 --passes 1000000 outer &
sweep=$!
until hipec status 2>/dev/null | grep -q mru; do :; done
hipec status >/results/status.txt
hipec status --json >/results/status.json
cat /sys/kernel/debug/hipec/*/policy >/results/policy.txt
cat /sys/kernel/debug/hipec/*/status >/results/debugfs-status.txt
id=$(hipec status | sed -n '2s/ *\([0-9]*\) .*/\1/p')
hipec status --page --json "$id" outer:12293 >/results/why.json 2>/results/why.txt
hipec status --page "$id" 3 >>/results/why.txt 2>&1
hipec status --page "$id" 400 >>/results/why.txt 2>&1
mkdir /results/records
hipec record -o /results/records/live --seconds 1 --all 2>/results/record.txt
kill -9 $sweep
wait $sweep 2>/dev/null

cd /

# Unloading: nothing of ours is left behind.
cat /sys/kernel/debug/hipec/frames >/results/frames.txt
until rmmod hipec 2>/dev/null; do :; done
ls -d /sys/module/hipec* /dev/hipec* /sys/kernel/debug/hipec >/results/left.txt 2>/dev/null
hipec status >/results/status-gone.txt 2>&1
echo $? >>/results/status-gone.txt

# Nor beside the ends of containers that others have closed, which workers see to.
for round in 1 2 3; do
	load_module pool_mb=8 && hipec-guest-test --leave-ends || exit 1
	until rmmod hipec 2>/dev/null; do :; done
	echo "unloaded $round"
done >/results/ends.txt

if [ "$1" = debug ]; then
	sh /hipec/unload.sh
else
	# random.sh has more of both.
	insmod /hipec/hipec_vmtest.ko || exit 1
	differ --module 1 2000 >/results/differ.txt 2>&1
	rmmod hipec_vmtest
	sh /hipec/stress.sh stress --seconds 10 --seed 1
fi

# Tests attach files: from here on the module stays. They revoke the same policies again and again.
load_module pool_mb=2 backoff_ms=0 others_us=10000 || exit 1
# shellcheck disable=SC2046 # names
hipec-guest-test $(cat /hipec/tests) >/results/tests.txt 2>&1

# As many files and directories as there may be, on a disk with as many inodes.
if [ -s /hipec/many ]; then
	. /hipec/disk.sh
	make_ram_disk many 96
	mkfs.ext4 -q -O inline_data,^has_journal -E lazy_itable_init=0 -N 110000 /dev/many
	mkdir /many
	mount /dev/many /many
	# shellcheck disable=SC2046 # names
	hipec-guest-test $(cat /hipec/many) >>/results/tests.txt 2>&1
	umount /many
fi
module_is_idle && echo idle >/results/idle.txt
rmmod hipec 2>>/results/idle.txt
true
