# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# For the guest's scripts: a disk, as /dev/NAME, which is modelled or takes no time.

# Options that all have; more may follow before its power is on. null_blk's defaults
# would tell of null_blk. blocksize: it looks for its memory once a block.
begin_disk()	# NAME MB
{
	nullb=/sys/kernel/config/nullb/$1
	mkdir "$nullb"
	echo "$2" >"$nullb/size"
	echo 1 >"$nullb/memory_backed"
	echo 2 >"$nullb/queue_mode"
	echo 4096 >"$nullb/blocksize"
}

# Requests of up to 1280 KB, the kernel's default where a disk has no limit of its own,
# not 127.5 KB, which cuts every 128 KB read in two.
MAX_SECTORS=2560

make_disk()	# NAME COMPLETION_NS MB_PER_S MB
{
	begin_disk "$1" "$4"
	echo 2 >"$nullb/irqmode"
	echo $MAX_SECTORS >"$nullb/max_sectors"
	echo "$2" >"$nullb/completion_nsec"
	echo "$3" >"$nullb/mbps"
	echo 1 >"$nullb/power"
	echo 128 >"/sys/block/$1/queue/read_ahead_kb"
}

# Completed where it is submitted: no interrupt, no timer.
make_ram_disk()	# NAME MB [MAX_SECTORS]
{
	begin_disk "$1" "$2"
	echo 0 >"$nullb/irqmode"
	[ -z "${3-}" ] || echo "$3" >"$nullb/max_sectors"
	echo 1 >"$nullb/power"
}

# Files of mkdata's on it, which nobody has read, in /mnt.
put_data()	# NAME MOUNT_OPTIONS FILE=PAGES...
{
	disk=$1
	options=$2
	shift 2
	mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=0 "/dev/$disk"
	mount "/dev/$disk" /mnt
	for file; do
		mkdata "/mnt/${file%=*}" "${file#*=}"
	done
	umount /mnt
	mount -o "$options" "/dev/$disk" /mnt
}
