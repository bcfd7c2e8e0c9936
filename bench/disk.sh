# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# For the guest's scripts: a modelled disk, as /dev/NAME.

# null_blk's defaults would tell of null_blk. max_sectors: requests of up to 1280 KB,
# the kernel's default where a disk has no limit of its own, not 127.5 KB, which
# cuts every 128 KB read in two. blocksize: it looks for its memory once a block.
make_disk()	# NAME COMPLETION_NS MB_PER_S MB
{
	nullb=/sys/kernel/config/nullb/$1
	mkdir "$nullb"
	echo "$4" >"$nullb/size"
	echo 1 >"$nullb/memory_backed"
	echo 2 >"$nullb/irqmode"
	echo 2 >"$nullb/queue_mode"
	echo 2560 >"$nullb/max_sectors"
	echo 4096 >"$nullb/blocksize"
	echo "$2" >"$nullb/completion_nsec"
	echo "$3" >"$nullb/mbps"
	echo 1 >"$nullb/power"
	echo 128 >"/sys/block/$1/queue/read_ahead_kb"
}
