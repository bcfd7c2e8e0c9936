#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Install the Debian packages that building and testing hipec needs.
#
#   packages.sh              all that the tests need
#   packages.sh --build      what `make` needs: README.md has the same list
#   packages.sh --module     what `make module` needs
#   packages.sh --guest      what a guest needs, for `make vm` and `make demo`
#   packages.sh --fuzz       what `make fuzz` needs beside it
#   packages.sh --browser    what looks at the page of hipec profile
#   packages.sh --deb        what `make deb` needs
#   packages.sh --apps       programs of others that make bench-apps and its test run
#   packages.sh NAME...      these packages
#   packages.sh --refresh    only fetch apt's package lists again
#
# Prints nothing and asks nobody when all of them are there. Otherwise it says
# first what it installs, then does it as root, or through sudo.

set -eu

# gcc: the distribution's own compiler is the one its kernels were built with
# (gcc-12 on Debian 12, gcc-14 on 13), so its modules need no other.
build="make gcc libc6-dev bison flex libmd-dev libzstd-dev libjson-c-dev libedit-dev
	libblkid-dev python3"
# pahole, libelf-dev: used by the kernel's build of a module (BTF, objtool).
module="$build bc libelf-dev pahole kmod xz-utils"
guest="$module qemu-system-x86 busybox-static cpio e2fsprogs zstd"
# git: the rules of the house look at what is tracked.
# python3-plotly: what hipec profile draws with.
# python3-flask: what hipec top --serve serves with.
# python3-jsonschema, python3-prometheus-client: what reads the command's output, strictly.
# ripgrep, lmdb-utils, python3-numpy, -plyvel, gron (in Go): programs that hipec run is
# tried on; fio, stress-ng: that check what they write.
# g++, pkgconf, groff-base, mypy: for what is installed: a header, its flags, man pages,
# types of the Python module; python3-pip, for its wheel.
# bzip2: traces that are packed with it are read.
# tcc: compiles thousands of policies in C, for the tests, in no time.
# liblua5.4-dev, valgrind: what bench/cost/vm compares with, and counts with.
# mmdebstrap: a clean root, to install the packages in.
default="$guest sparse sqlite3 xfsprogs btrfs-progs
	 git python3-pytest python3-pytest-xdist python3-plotly python3-flask
	 python3-jsonschema python3-prometheus-client python3-numpy python3-plyvel mypy
	 liblua5.4-dev valgrind tcc bzip2 ripgrep lmdb-utils gron fio stress-ng
	 g++ pkgconf groff-base python3-pip mmdebstrap"
# libFuzzer and source-based coverage; no other target needs them.
fuzz="clang llvm libclang-rt-dev"
# python3-pip: fetches the checker of accessibility.
browser="chromium-driver python3-selenium python3-pip"
deb="$build build-essential dpkg-dev fakeroot debhelper dh-dkms dh-python"
# cmake, g++, pip: to build llama.cpp; numpy, sentencepiece, tqdm, yaml: to write its models.
apps="cscope gnuplot-nox postgresql-15 restic rocksdb-tools cmake g++ python3-pip python3-numpy
	python3-sentencepiece python3-tqdm python3-yaml"

say() { echo "packages.sh: $*" >&2; }

by_hand()
{
	say "please run as root: $*"
	exit 1
}

if [ "$(id -u)" = 0 ]; then
	root=
elif [ -t 0 ]; then
	root=sudo
else
	root="sudo -n"	# nobody there to type a password
fi

apt()	# quietly enough, on stderr, and never asking
{
	# shellcheck disable=SC2086 # none, one or two words
	$root env DEBIAN_FRONTEND=noninteractive \
		apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@" </dev/null >&2
}

refresh()
{
	say "fetching apt's package lists"
	apt update
}

if [ "${1-}" = --refresh ]; then
	refresh || by_hand "apt-get update"
	exit
fi

# shellcheck disable=SC2086 # a list of words
case "${1-}" in
"") set -- $default ;;
--build) set -- $build ;;
--module) set -- $module ;;
--guest) set -- $guest ;;
--fuzz) set -- $fuzz ;;
--browser) set -- $browser ;;
--deb) set -- $deb ;;
--apps) set -- $apps ;;
esac

installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" \
	2>/dev/null | sed -n 's/^installed //p' | tr '\n' ' ')
missing=
for package; do
	case " $installed" in
	*" $package "*) ;;
	*) missing="$missing $package" ;;
	esac
done
[ -n "$missing" ] || exit 0

install="install -y --no-install-recommends$missing"
say "hipec needs these Debian packages for this; installing:$missing"
# Stale or absent package lists are the usual reason for a failure: fetch them
# and try once more, instead of fetching them each time.
# shellcheck disable=SC2086 # a list of words
[ -z "$root" ] || command -v sudo >/dev/null &&
	{ apt $install || { refresh && apt $install; }; } ||
	by_hand "apt-get update && apt-get $install"
