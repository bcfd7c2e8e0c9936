#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Each file of a tree is read three times in a row: Figure 8 of the technical
# report, where PCC takes it for a loop.
#
# hipec: packages coreutils findutils linux-source-6.12
# hipec: claim small loops of one context, each file done with after them

set -eu
export LC_ALL=C

prepare() { :; }

run()
{
	cd "$SOURCE"
	find kernel mm fs block -type f -exec cat {} {} {} \; >/dev/null
}

"$1"
