#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's side of table.py: a disk that takes no time, a file on it, and run
# after run.
#
#   guest.sh PAGES RUNS
#
#   PAGES  of the file
#   RUNS   lines "MODULE_PARAMETERS ARGUMENTS..." for neighbour, parameters joined
#          by commas
#
# Line n of /results/runs is what the n-th one printed.

set -eu
. /disk.sh
pages=$1
runs=$2

uname -r >/results/kernel
make_ram_disk none 128 "$MAX_SECTORS"
put_data none "$pages"

while read -r parameters arguments; do
	# shellcheck disable=SC2046 # a list of words
	insmod /hipec/hipec.ko $(echo "$parameters" | tr , ' ')
	# shellcheck disable=SC2086 # a list of words
	neighbour /mnt/data "$pages" $arguments </dev/null >>/results/runs
	until rmmod hipec 2>/dev/null; do :; done
done <<END
$runs
END
