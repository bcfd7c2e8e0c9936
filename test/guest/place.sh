# SPDX-License-Identifier: GPL-2.0-only
#
# place.sh RESULT FS OPTION...: hipec-place-stress with these options on a file system
# of that kind, in memory; then unmount it. RESULT.txt is what is left to be read. "overlay" is
# one on ext4, as the root of a container is.

. /hipec/module.sh

result=/results/$1
fs=$2
shift 2

disk=/sys/kernel/config/nullb/place
mkdir $disk
case $fs in
ext4 | overlay) size=64 ;;
*) size=320 ;;
esac
echo $size >$disk/size
echo 1 >$disk/memory_backed
echo 512 >$disk/blocksize
echo 1 >$disk/power
case $fs in
ext4 | overlay) mkfs.ext4 -q /dev/place ;;
xfs) modprobe xfs; mkfs.xfs -q /dev/place ;;
btrfs) modprobe btrfs; mkfs.btrfs -q /dev/place ;;
esac
mkdir -p /tmp/place
place=/tmp/place
if [ "$fs" = overlay ]; then
	mount -t ext4 /dev/place /tmp/place || exit 1
	modprobe -q overlay
	place=/tmp/overlay
	mkdir -p $place /tmp/place/low /tmp/place/up /tmp/place/work
	mount -t overlay -o lowerdir=/tmp/place/low,upperdir=/tmp/place/up,workdir=/tmp/place/work \
		overlay $place || exit 1
	set -- "$@" --take /tmp/place/up/taken
else
	mount -t "$fs" /dev/place /tmp/place || exit 1
fi
load_module backoff_ms=0 pool_mb=2 || exit 1
echo 60 >/proc/sys/kernel/hung_task_timeout_secs
hipec-place-stress "$@" $place/taken >"$result.txt" 2>&1
status=$?
echo 30 >/proc/sys/kernel/hung_task_timeout_secs
[ $place = /tmp/place ] || umount $place || exit 1
umount /tmp/place || exit 1
module_is_idle || exit 1
echo 0 >$disk/power
rmdir $disk
exit $status
