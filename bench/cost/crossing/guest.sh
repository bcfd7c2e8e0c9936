#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's side of table.py: a disk without latency, and run after run.
#
#   guest.sh PAGES RUNS
#
#   RUNS   lines "COMMAND..."; /results/runs gets a line of each

set -eu
. /disk.sh
uname -r >/results/kernel
insmod /hipec/hipec.ko

make_ram_disk ram 64
put_data ram "$1"
cd /mnt

# For some seconds after it came up, a kernel switches tasks more slowly.
sleep 20

while read -r command; do
	# shellcheck disable=SC2086 # a list of words
	$command </dev/null >>/results/runs || {
		echo "crossing: status $? of: $command"
		exit 1
	}
done <<END
$2
END
rmmod hipec
