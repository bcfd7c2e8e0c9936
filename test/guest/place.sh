# SPDX-License-Identifier: GPL-2.0-only
#
# place.sh RESULT FS OPTION...: hipec-place-stress with these options on a file system
# of that kind, in memory; then unmount it and unload the module. RESULT.txt is what
# is left to be read.

result=/results/$1
fs=$2
shift 2

disk=/sys/kernel/config/nullb/place
mkdir $disk
[ "$fs" = ext4 ] && size=64 || size=320
echo $size >$disk/size
echo 1 >$disk/memory_backed
echo 512 >$disk/blocksize
echo 1 >$disk/power
case $fs in
ext4) mkfs.ext4 -q /dev/place ;;
xfs) modprobe xfs; mkfs.xfs -q /dev/place ;;
btrfs) modprobe btrfs; mkfs.btrfs -q /dev/place ;;
esac
mkdir -p /tmp/place
mount -t "$fs" /dev/place /tmp/place || exit 1
insmod "${HIPEC_MODULE:-/hipec/hipec.ko}" readmit_ms=0 || exit 1
echo 60 >/proc/sys/kernel/hung_task_timeout_secs
hipec-place-stress "$@" /tmp/place/taken >"$result.txt" 2>&1
status=$?
echo 30 >/proc/sys/kernel/hung_task_timeout_secs
umount /tmp/place || exit 1
rmmod hipec || exit 1
echo 0 >$disk/power
rmdir $disk
exit $status
