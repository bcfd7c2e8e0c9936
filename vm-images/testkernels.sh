#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Build test kernels from Debian's kernel source into the cache: configured by
# us, where kernels.sh takes the stock ones as they are.
#
#   testkernels.sh [--update] KEY...        KEY is debug
#
# config/KEY.config says what each is for. One that is in the cache is left
# alone, and no network is used, while its fragment, the functions below that
# build it, the compiler and the linker are those it was built with; --update
# looks for a newer source in apt. The cache gets what kernels.sh gives it:
#
#   <cache>/kernels/<KEY>/vmlinuz       to boot
#                        /build         for make -C .../build M=...
#                        /modules       its lib/modules/<release>: all is built in
#                        /release       what uname -r says
#                        /append, /slower    facts for run.py, see below
#
# where <KEY> is a link to a directory named by source version and a hash.
#
# A fragment goes on top of the kernel's tinyconfig. Its lines "#: WORD VALUE"
# are facts:
#
#   append WORDS    what the kernel needs on its command line
#   slower N        times a stock kernel: limits of time grow with it
#   build N         minutes, on two idle CPUs
#
# Exit status: as kernels.sh's.

set -eu
umask 022
export LC_ALL=C
# What the make that calls us was told is not for the kernel's.
unset ARCH MAKEFLAGS MAKEOVERRIDES MFLAGS KBUILD_OUTPUT KCFLAGS
here=$(dirname "$(readlink -f "$0")")
cache=${HIPEC_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/hipec}/kernels
package=linux-source-6.12

say() { echo "testkernels.sh: $*" >&2; }
die() { say "$*"; exit 1; }

fact()	# WORD FRAGMENT
{
	sed -n "s/^#: $1 //p" "$2" | paste -s -d ' '
}

# Of what a kernel is made, but for the source. Comments make no other kernel.
inputs()	# KEY
{
	grep -E '^(CONFIG_|# CONFIG_|#: )' "$here/config/$1.config"
	sed -n '/^build()/,/^}/p; /^keep_for_modules()/,/^}/p; /^check_granted()/,/^}/p' \
		"$here/testkernels.sh" | sed 's/^[ 	]*#.*//'
	gcc --version
	ld --version
}

apt_version()
{
	apt-cache show --no-all-versions $package 2>/dev/null |
		sed -n 's/^Version: //p'
}

# The package holds the source as a tar file of its own.
unpack_source()	# DIRECTORY
{
	(
		# The sandbox user can seldom write into a private cache.
		cd "$1" && rm -f ./*.deb && mkdir -p source &&
		apt-get -qq -o APT::Sandbox::User=root download $package >&2 &&
		dpkg-deb --fsys-tarfile ./*.deb |
			tar -xO "./usr/src/$package.tar.xz" | xz -dc |
			tar -x --strip-components=1 -C source &&
		rm ./*.deb
	)
}

# Kconfig drops what cannot be without a word.
check_granted()	# FRAGMENT
{
	awk '
	/^CONFIG_/ { value = $0; sub(/=.*/, "") }
	/^# CONFIG_.* is not set$/ { $0 = $2; value = $0 "=n" }
	!/^CONFIG_/ { next }
	FILENAME == ".config" { got[$0] = value; next }
	{ want[$0] = value }
	END {
		for (name in want) {
			has = name in got ? got[name] : name "=n"
			if (has == want[name])
				continue
			print "asked for " want[name] ", got " has
			bad = 1
		}
		exit bad
	}' .config "$1"
}

# What a build of modules reads of the kernel's tree that we are in.
keep_for_modules()	# DIRECTORY
{
	mkdir "$1"
	tar -c --exclude='*.[oa]' --exclude='*.cmd' --exclude=scripts/kconfig \
		--exclude=scripts/dtc --exclude=include/dt-bindings \
		Makefile .config Module.symvers include scripts \
		arch/x86/Makefile* arch/x86/include tools/objtool/objtool |
		tar -x -C "$1"
}

# Leave in DIRECTORY, which has source and fragment, what the cache is promised.
build()	# DIRECTORY RELEASE-SUFFIX
{
	cd "$1/source"
	make -s tinyconfig
	{ cat ../fragment; echo "CONFIG_LOCALVERSION=\"$2\""; } >>.config
	make -s olddefconfig
	check_granted ../fragment
	make -s -j2 bzImage modules
	mv arch/x86/boot/bzImage ../vmlinuz
	mkdir -p ../modules/kernel
	cp modules.builtin modules.builtin.modinfo modules.order ../modules/
	keep_for_modules ../build
	cp include/config/kernel.release ../release
	cd ..
	for word in append slower; do
		value=$(fact $word fragment)
		[ -z "$value" ] || echo "$value" >$word
	done
	rm -r source fragment
}

make_kernel()	# KEY VERSION HASH
{
	dir=$cache/$1-$2-$3
	if [ ! -d "$dir" ]; then
		new=$cache/.testnew
		rm -rf "$new"	# of a run that was killed
		mkdir "$new"
		trap 'rm -rf "$new"' EXIT
		trap 'exit 1' INT TERM PIPE
		cp "$here/config/$1.config" "$new/fragment"
		say "building the $1 kernel from $package $2;" \
			"with two idle CPUs some $(fact build "$new/fragment") minutes"
		unpack_source "$new" || {
			# Old package lists name packages that are gone.
			"$here/packages.sh" --refresh && unpack_source "$new"
		} || die "cannot get $package"
		trap 'trap "" PIPE; tail -n 30 "$new/log" >&2; rm -rf "$new"' EXIT
		(build "$new" "-hipec-$1-$3") >"$new/log" 2>&1
		trap 'rm -rf "$new"' EXIT
		rm "$new/log"
		mv -T "$new" "$dir"
	fi
	touch "$dir"
	ln -sfn "${dir##*/}" "$cache/.$1.link"
	mv -T "$cache/.$1.link" "$cache/$1"
	# Branches that differ keep theirs, but not for ever.
	# shellcheck disable=SC2012 # names are ours
	ls -dt "$cache/$1"-* | tail -n +4 | xargs -r rm -rf
}

update=no
if [ "${1-}" = --update ]; then
	update=yes
	shift
fi
[ $# -gt 0 ] || set -- --help
for key; do
	[ -f "$here/config/$key.config" ] || {
		echo "usage: testkernels.sh [--update] KEY...   KEY is debug" >&2
		exit 2
	}
done

is_there()	# KEY HASH
{
	case $(readlink "$cache/$1") in
	*-"$2") [ $update = no ] && [ -f "$cache/$1/release" ] ;;
	*) false ;;
	esac
}

for key; do
	hash=$(inputs "$key" | sha256sum | cut -c 1-12)
	! is_there "$key" "$hash" || continue
	mkdir -p "$cache"
	# Two makes at a time: the second waits, then finds all there.
	exec 9>"$cache/.testlock"
	flock 9
	! is_there "$key" "$hash" || continue
	[ $update = no ] || "$here/packages.sh" --refresh
	version=$(apt_version)
	if [ -z "$version" ]; then
		"$here/packages.sh" --refresh
		version=$(apt_version)
	fi
	if [ -z "$version" ]; then
		say "this Debian release offers no $package"
		status=3
		continue
	fi
	make_kernel "$key" "$version" "$hash"
done
exit ${status-0}
