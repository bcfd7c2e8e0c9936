# SPDX-License-Identifier: GPL-2.0-only
#
# hostile.sh SECONDS SEED: hostile clients for so long; then the module is idle. It stays loaded,
# since files were taken. With HOSTILE_LOG set the kernel's log has each operation, but not the
# console.

. /hipec/module.sh

modprobe -q loop
dd if=/dev/zero of=/data/hostile-disk bs=4k count=192 2>/dev/null
losetup /dev/loop0 /data/hostile-disk
dd if=/dev/zero of=/tmp/hostile-disk bs=4k count=384 2>/dev/null
losetup /dev/loop1 /tmp/hostile-disk
# A pool that five workers fill; revoked policies come back while it runs.
insmod /hipec/hipec.ko pool_mb=1 backoff_ms=50 || exit 1
# One that workers are in, and one in which a reader has too little: place.c.
mkdir /sys/fs/cgroup/hostile /sys/fs/cgroup/hostile-small || exit 1
echo 16M >/sys/fs/cgroup/hostile-small/memory.max
killed=$(grep '^oom_kill ' /proc/vmstat)
if [ -n "$HOSTILE_LOG" ]; then
	echo on >/proc/sys/kernel/printk_devkmsg
	dmesg -n 7
fi
sh -c 'echo 0 >/sys/fs/cgroup/hostile/cgroup.procs && exec hostile-client "$@"' sh \
	"$1" "$2" >/results/hostile.txt 2>&1
status=$?
[ $status -lt 2 ] || echo "not ok: status $status" >>/results/hostile.txt
# Whoever cannot be killed has a stack worth reading.
if tail -n 1 /results/hostile.txt | grep -q 'do not die'; then
	for task in /proc/[0-9]*/task/*; do
		echo "$task $(cat "$task/comm") $(cat "$task/wchan")"
		cat "$task/stack"
	done >/results/hostile-stacks.txt 2>/dev/null
	exit 1
fi
cat /sys/kernel/debug/hipec/frames >/results/hostile-frames.txt
[ "$(grep '^oom_kill ' /proc/vmstat)" = "$killed" ] ||
	echo "not ok: somebody was killed for lack of memory" >>/results/hostile.txt
losetup -d /dev/loop0
losetup -d /dev/loop1
rm -rf /data/hostile-* /tmp/hostile-*
module_is_idle || exit 1
exit $status
