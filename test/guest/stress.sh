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
# A pool that two containers fill, or one that has always room.
case " $* " in
*" --roomy "*) pool_mb=16 ;;
*) pool_mb=1 ;;
esac
insmod "${HIPEC_MODULE:-/hipec/hipec.ko}" pool_mb=$pool_mb || exit 1
# Tasks that write from each other's files wait 5 s for a frame, with a file locked;
# so who comes behind some of them waits longer than tasks do elsewhere.
echo 60 >/proc/sys/kernel/hung_task_timeout_secs
hipec-stress "$@" >"$result.txt" 2>&1
status=$?
echo 30 >/proc/sys/kernel/hung_task_timeout_secs
cat /sys/kernel/debug/hipec/frames >"$result-frames.txt"
rm -f /data/stress-*
rmmod hipec || exit 1
echo 0 >$disk/power
rmdir $disk /sys/fs/cgroup/stress
exit $status
