#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Unpack the part of a kernel's source that programs are traced on into the
# cache, from Debian's package, and print where it is. Nothing is installed.
# One that is there is left alone, and no network is used:
#
#   <cache>/sources/<version>-<hash of this script>
#
# where <cache> is as in vm-images/kernels.sh.

set -eu
umask 022
export LC_ALL=C
self=$(readlink -f "$0")
cache=${HIPEC_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/hipec}/sources
package=linux-source-6.12
hash=$(sha256sum "$self" | cut -c 1-12)

say() { echo "source.sh: $*" >&2; }

# What these folders need to be configured and built, and no more: Kconfig reads
# its files everywhere.
unpack()	# DIRECTORY, with the package in it
{
	top=$package
	set --
	for name in Documentation/Kconfig Kbuild Kconfig Makefile arch/x86 \
		block certs crypto drivers/base fs include init io_uring ipc \
		kernel lib mm net rust samples scripts security tools/arch \
		tools/bpf tools/build tools/include tools/lib tools/objtool \
		tools/scripts usr virt '*/Kconfig*' 'drivers/*Makefile'; do
		set -- "$@" "$top/$name"
	done
	dpkg-deb --fsys-tarfile ./*.deb |
		tar -xO "./usr/src/$package.tar.xz" | xz -dc |
		tar -x --wildcards --strip-components=1 -C tree "$@"
}

newest()
{
	# shellcheck disable=SC2012 # names that we made
	ls -d "$cache"/*-"$hash" 2>/dev/null | tail -n 1
}

have=$(newest)
if [ -n "$have" ]; then
	echo "$have"
	exit
fi

mkdir -p "$cache"
exec 9>"$cache/.lock"
flock 9
have=$(newest)
if [ -z "$have" ]; then
	version=$(apt-cache show --no-all-versions $package 2>/dev/null |
		sed -n 's/^Version: //p')
	[ -n "$version" ] || {
		say "apt offers no $package; try vm-images/packages.sh --refresh"
		exit 1
	}
	say "fetching $package ($version)"
	new=$(mktemp -d "$cache/.new.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	trap 'exit 1' INT TERM
	cd "$new"
	mkdir tree
	# The sandbox user can seldom write into a private cache.
	apt-get -qq -o APT::Sandbox::User=root download $package >&2 ||
		{ say "cannot download $package"; exit 1; }
	unpack
	chmod 755 tree
	have="$cache/$version-$hash"
	mv -T tree "$have"
fi
echo "$have"
