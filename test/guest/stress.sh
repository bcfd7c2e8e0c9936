# SPDX-License-Identifier: GPL-2.0-only
#
# stress.sh RESULT OPTION...: hipec-stress with these options, then unload the
# module. RESULT.txt and RESULT-frames.txt are what is left to be read.

result=/results/$1
shift

disk=/sys/kernel/config/nullb/stress
mkdir $disk
echo 1 >$disk/size
echo 1 >$disk/memory_backed
echo 512 >$disk/blocksize
echo 1 >$disk/power
# A pool that two containers fill.
insmod "${HIPEC_MODULE:-/hipec/hipec.ko}" pool_mb=1 || exit 1
hipec-stress "$@" >"$result.txt" 2>&1
status=$?
cat /sys/kernel/debug/hipec/frames >"$result-frames.txt"
rm -f /data/stress-*
rmmod hipec || exit 1
echo 0 >$disk/power
rmdir $disk /sys/fs/cgroup/stress
exit $status
