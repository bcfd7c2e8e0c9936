#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# usearch for make bench-apps, from PyPI's source package: its index of vectors, which a
# program maps, and nearest.cpp, which asks it.
#
#   usearch.sh DIR    put nearest there, unless it is there already
#
# DIR is outside the clone, and named after what this script and nearest.cpp say.

set -eu
export LC_ALL=C
here=$(dirname "$0")
version=2.26.6
sum=eefb8dc019ad5a184f6089b22f20b91b3961720e504e97ba2718ad62ed65674b

[ ! -x "$1/nearest" ] || exit 0
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
source=$("$here/sdist.py" usearch $version $sum "$made")
mkdir -p "$1.new"
# For any CPU: guests have no more.
c++ -std=c++17 -O2 -w -I"$source/include" -o "$1.new/nearest" "$here/nearest.cpp"
rm -rf "$1"
mv "$1.new" "$1"
