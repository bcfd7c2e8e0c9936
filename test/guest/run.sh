# SPDX-License-Identifier: GPL-2.0-only
#
# What test_guest.py has the guest do: everything once, results for each part in
# a file of its own. Runs on although a part fails: the files tell.

insmod /hipec/hipec.ko pool_mb=2 || exit 1
insmod /hipec/hipec_vmtest.ko || exit 1

hpt --module /hipec/vm/*.hpt >/results/hpt.txt 2>&1
differ --module 1 $((6000 / ${HIPEC_SLOWER:-1})) >/results/differ.txt 2>&1
hipec-guest-test >/results/tests.txt 2>&1
sh /hipec/counts.sh >/results/counts.txt 2>&1

# The command, on a container that lives.
cd /data
sweep --policy /hipec/policies/mru.hpo --frames 64 --passes 1000000 outer &
until hipec status 2>/dev/null | grep -q mru; do :; done
hipec status >/results/status.txt
hipec status --json >/results/status.json
cat /sys/kernel/debug/hipec/*/policy >/results/policy.txt
cat /sys/kernel/debug/hipec/*/status >/results/debugfs-status.txt
kill -9 $!
wait $! 2>/dev/null

# Unloading: nothing of ours is left behind.
cat /sys/kernel/debug/hipec/frames >/results/frames.txt
cd /
until rmmod hipec 2>/dev/null; do :; done
rmmod hipec_vmtest
ls -d /sys/module/hipec* /dev/hipec* /sys/kernel/debug/hipec >/results/left.txt 2>/dev/null
hipec status >/results/status-gone.txt 2>&1
echo $? >>/results/status-gone.txt
insmod /hipec/hipec.ko && rmmod hipec

sh /hipec/hostile.sh 20 1
