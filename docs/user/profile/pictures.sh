#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Make the pictures of docs/user/profile.md anew; needs `make` and chromium.

set -eu

cd "$(dirname "$0")/../../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

for _ in 1 2 3 4; do
	for part in 0 1 2 3 4 5 6 7 8 9; do
		echo "r ${part}00 100"
		echo "r 5000 20"
	done
done >"$tmp/search.txt"
build/hipec profile --policy lru,fifo2,mru,opt --frames 600 \
	--output "$tmp/search.html" "$tmp/search.txt"
for chart in time map; do
	test/cli/browser.py "$tmp/search.html" "docs/user/profile/$chart.png" "s0-$chart"
done
