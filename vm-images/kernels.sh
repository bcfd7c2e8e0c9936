#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Fetch Debian's stock cloud kernels and their headers into a cache, without
# installing anything: apt downloads and verifies, dpkg-deb unpacks.
#
#   kernels.sh [--update] KEY...        KEY is 6.12 or 6.1; 6.12-oldest or 6.1-oldest
#
# The newest of a series, or the oldest that the archive still has.
# A kernel that is in the cache is left alone, and no network is used; --update
# looks for a newer one in apt. For each key the cache gets
#
#   <cache>/kernels/<KEY>/vmlinuz       to boot
#                        /build         headers, for make -C .../build M=...
#                        /modules       its lib/modules/<release>
#                        /release       what uname -r says
#
# where <KEY> is a link to a directory named by package version, and <cache> is
# $HIPEC_CACHE, or hipec in $XDG_CACHE_HOME, or ~/.cache/hipec.
#
# Exit status: 0 all there; 1 trouble; 2 usage; 3 this Debian has no such
# kernel (a caller may skip it).

set -eu
umask 022
here=$(dirname "$(readlink -f "$0")")
cache=${HIPEC_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/hipec}/kernels

say() { echo "kernels.sh: $*" >&2; }
die() { say "$*"; exit 1; }

# The real package behind a meta package. A release's own kernel has no version
# in the name of its meta package, an additional one has.
real_package()	# image|headers KEY
{
	want="linux-$1-$(echo "$2" | sed 's/\./\\./g')\\."
	apt-cache depends "linux-$1-$2-cloud-amd64" "linux-$1-cloud-amd64" \
		2>/dev/null | sed -n "s/^ *Depends: \\($want.*\\)/\\1/p" | head -n 1
}

# The package of the oldest kernel of a series.
oldest_package()	# image|headers SERIES
{
	apt-cache search --names-only "^linux-headers-$(echo "$2" | sed 's/\./\\./g')\.[^ ]*-cloud-amd64\$" |
		sed -n "s/^linux-headers-\([^ ]*\) .*/linux-$1-\1/p" | sort -V | head -n 1
}

# Headers come in several packages; the compiler and libraries that they also
# depend on are packages.sh's business.
with_dependencies()
{
	apt-cache depends --recurse --important "$1" |
		grep -E '^linux-(headers|kbuild|compiler-gcc)-' | sort -u
}

download()	# DIRECTORY PACKAGE...
{
	(
		cd "$1"
		shift
		# The sandbox user can seldom write into a private cache.
		apt-get -qq -o APT::Sandbox::User=root download "$@" >&2
	)
}

# Turn a directory of unpacked packages into the layout promised above.
arrange()	# DIRECTORY
{
	cd "$1"
	for dir in root/lib/modules/* root/usr/lib/modules/*; do
		[ ! -d "$dir/kernel" ] || modules=$dir
	done
	release=${modules##*/}
	build=root/usr/src/linux-headers-$release
	rm -f "$modules/build" "$modules/source"	# point into the host
	ln -s "root/boot/vmlinuz-$release" vmlinuz
	ln -s "$build" build
	ln -s "$modules" modules

	# The headers expect to live in /usr/src.
	sed -i 's|^include /usr/src/|include $(dir $(lastword $(MAKEFILE_LIST)))../|' \
		build/Makefile
	# Headers without vmlinux (6.1) cannot give a module its BTF, and
	# would say so each time a module is linked.
	[ -f build/vmlinux ] ||
		sed -i '/^CONFIG_DEBUG_INFO_BTF_MODULES=/d' \
			build/include/config/auto.conf
	echo "$release" >release
	cd "$OLDPWD"
}

fetch()	# KEY IMAGE HEADERS
{
	version=$(apt-cache show --no-all-versions "$2" |
		sed -n 's/^Version: //p')
	if [ ! -d "$cache/$version" ]; then
		say "fetching $2 and its headers ($version)"
		new=$(mktemp -d "$cache/.new.XXXXXX")
		trap 'rm -rf "$new"' EXIT
		trap 'exit 1' INT TERM
		mkdir "$new/deb" "$new/root"
		packages="$2 $(with_dependencies "$3")"
		# shellcheck disable=SC2086 # a list of words
		download "$new/deb" $packages || {
			# Old package lists name packages that are gone.
			"$here/packages.sh" --refresh &&
				download "$new/deb" $packages
		} || die "cannot download $packages"
		for deb in "$new"/deb/*.deb; do
			dpkg-deb -x "$deb" "$new/root"
		done
		rm -r "$new/deb"
		arrange "$new"
		chmod 755 "$new"
		mv -T "$new" "$cache/$version"
	fi
	ln -sfn "$version" "$cache/.$1.link"
	mv -T "$cache/.$1.link" "$cache/$1"
}

apt_knows_kernels()
{
	apt-cache show linux-image-cloud-amd64 >/dev/null 2>&1
}

update=no
if [ "${1-}" = --update ]; then
	update=yes
	shift
fi
[ $# -gt 0 ] || set -- --help
for key; do
	case $key in
	6.12 | 6.1 | 6.12-oldest | 6.1-oldest) ;;
	*) echo "usage: kernels.sh [--update] KEY...   KEY is 6.12 or 6.1, or one of them with -oldest" >&2
	   exit 2 ;;
	esac
done

status=0
for key; do
	[ $update = yes ] || [ ! -f "$cache/$key/release" ] || continue
	mkdir -p "$cache"
	# Two makes at a time: the second waits, then finds all there.
	exec 9>"$cache/.lock"
	flock 9
	[ $update = yes ] || [ ! -f "$cache/$key/release" ] || continue
	if [ $update = yes ] || ! apt_knows_kernels; then
		"$here/packages.sh" --refresh
		apt_knows_kernels || die "apt offers no cloud kernel at all; \
are Debian's own sources in /etc/apt?"
	fi
	case $key in
	*-oldest) package=oldest_package ;;
	*) package=real_package ;;
	esac
	image=$($package image "${key%-oldest}")
	headers=$($package headers "${key%-oldest}")
	if [ -z "$image" ] || [ -z "$headers" ]; then
		say "this Debian release offers no $key cloud kernel"
		status=3
		continue
	fi
	fetch "$key" "$image" "$headers"
done
exit $status
