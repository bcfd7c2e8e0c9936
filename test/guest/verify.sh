# SPDX-License-Identifier: GPL-2.0-only
#
# verify.sh SECONDS FS...: what test_verify.py has the guest do: on each file system a
# directory is attached, and programs that others wrote write to files there and read
# them again. /results/verify has a line for each, "FS WHAT STATUS". Runs on although a
# part fails.

. /hipec/module.sh
export HIPEC_POLICY_PATH=/hipec/policies HOME=/tmp
seconds=$1
shift
load_module backoff_ms=0 || exit 1
modprobe -q loop

# WHAT COMMAND...
try()
{
	what=$1
	shift
	"$@" >/tmp/said 2>&1
	status=$?
	echo "$fs $what $status" >>/results/verify
	[ $status = 0 ] || sed "s/^/$fs $what: /" /tmp/said >>/results/verify-said
}

# NAME ENGINE OPTION...: four times the budget is written and verified.
verify()
{
	name=$1 engine=$2
	shift 2
	try "fio-$name-$engine" timeout 200 fio --name=t --directory="$dir" --filename="f-$engine" \
		--ioengine="$engine" --size=8M --verify=crc32c --verify_fatal=1 --minimal "$@"
}

for fs; do
	truncate -s 320M /tmp/disk
	case $fs in
	ext4) mkfs.ext4 -q /tmp/disk ;;
	xfs) modprobe xfs; mkfs.xfs -q /tmp/disk ;;
	btrfs) modprobe btrfs; mkfs.btrfs -q /tmp/disk ;;
	esac
	mkdir -p /tmp/mnt
	mount -o loop /tmp/disk /tmp/mnt
	dir=/tmp/mnt/taken
	mkdir $dir
	id=$(hipec attach --policy lru --budget 2M $dir)
	for engine in psync mmap libaio io_uring; do
		verify random $engine --rw=randrw --bs=4k --io_size=12M --iodepth=4
		verify large $engine --rw=write --bs=1M
		verify sequential $engine --rw=write --bs=64k
	done
	# Beside the page cache: direct writes, then a sweep that verifies by read().
	verify direct libaio --rw=randwrite --bs=4k --io_size=4M --direct=1 --iodepth=4
	verify again psync --rw=read --bs=64k --verify_only --filename=f-io_uring
	for stressor in hdd mmap fallocate sendfile splice rename; do
		try stress-ng-$stressor timeout 200 stress-ng --quiet --verify --timeout "$seconds" \
			--temp-path $dir --$stressor 1 --hdd-bytes 8M --mmap-bytes 4M --mmap-file \
			--fallocate-bytes 8M
	done
	hipec status --json >/results/verify-$fs.json
	try detach hipec detach "$id"
	try umount umount /tmp/mnt
	rm /tmp/disk
done
module_is_idle
echo "all idle $?" >>/results/verify
