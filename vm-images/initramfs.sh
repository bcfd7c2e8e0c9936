#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Build a guest: an initramfs with busybox, our init, and what a test wants.
#
#   initramfs.sh --kernel KEY --out FILE [--bin PATH[:NAME]]... [--module PATH.ko]...
#                [--stock NAME]... [--tree DIR]
#
#   --kernel   a key of kernels.sh or testkernels.sh, which put it into the cache
#   --bin      a program for the guest's /bin, with the libraries it needs; as NAME,
#              for one that busybox has its own of
#   --module   a module of ours for the guest's /hipec
#   --stock    a module of the kernel's that this guest wants as well
#   --tree     files to copy to the guest's /
#
# The same inputs give the same bytes: a run under run.py --det repeats only if
# the guest's memory is filled alike.

set -eu
umask 022
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
here=$(dirname "$(readlink -f "$0")")
cache=${HIPEC_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/hipec}/kernels

# Stock modules for the guest, with whatever they depend on: the data disk, the
# way out for results, modelled disks, and faulty ones.
stock="virtio_pci virtio_blk virtio_console null_blk configfs loop
       dm-mod dm-flakey"

die() { echo "initramfs.sh: $*" >&2; exit 1; }

usage()
{
	sed -n '6,7s/^#  *//p' "$0" >&2
	exit 2
}

add_program()	# PATH [NAME]
{
	name=${2-${1##*/}}
	[ -f "$1" ] || die "no such program: $1"
	# Busybox's shell would run its own, whatever /bin has.
	[ ! -e "$stage/bin/$name" ] || die "busybox has its own $name: $1"
	cp -L "$1" "$stage/bin/$name"
	# A static program or a script has no libraries; ldd fails on it.
	libraries=$(ldd "$1" 2>/dev/null) || return 0
	echo "$libraries" | sed -n 's/^.* => \(\/[^ ]*\) .*/\1/p
				      s/^\t\(\/[^ ]*\) .*/\1/p' |
	while read -r library; do
		mkdir -p "$stage${library%/*}"
		cp -L "$library" "$stage$library"
	done
}

add_stock_module()	# NAME
{
	# File names have dashes where module names have underscores.
	pattern="$(echo "$1" | sed 's/[-_]/[-_]/g').ko*"
	file=$(find "$modules/kernel" -name "$pattern")
	if [ -z "$file" ]; then
		grep -q "/$(echo "$1" | sed 's/[-_]/[-_]/g')\.ko$" \
			"$modules/modules.builtin" ||
			die "kernel $release has no module $1"
		return 0
	fi
	ko=${file##*/}
	ko=$stage/lib/modules/$release/${ko%%.ko*}.ko
	[ ! -f "$ko" ] || return 0
	case $file in
	*.xz) xz -dc "$file" >"$ko" ;;
	*.zst) zstd -qdc "$file" >"$ko" ;;
	*) cp "$file" "$ko" ;;
	esac
	for needed in $(modinfo -F depends "$ko" | tr , ' '); do
		add_stock_module "$needed"
	done
}

kernel=
out=
tree=
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
trap 'exit 1' INT TERM
mkdir -p "$stage/bin" "$stage/hipec" "$stage/lib" "$stage/etc/modprobe.d"
# One directory of each kind, whichever name a program or the kernel uses.
ln -s bin "$stage/sbin"
ln -s . "$stage/usr"

busybox=$(command -v busybox) || die "no busybox; run packages.sh"
cp "$busybox" "$stage/bin/busybox"
for applet in $("$busybox" --list); do
	[ "$applet" = busybox ] || ln -s busybox "$stage/bin/$applet"
done
# Busybox's own mke2fs knows only ext2.
mke2fs=$(command -v mke2fs) || die "no mke2fs; run packages.sh"
add_program "$mke2fs" mkfs.ext4

while [ $# -gt 0 ]; do
	[ $# -ge 2 ] || usage
	case $1 in
	--kernel) kernel=$2 ;;
	--out) out=$2 ;;
	--tree) tree=$2 ;;
	--bin)
		name=${2##*/}
		add_program "${2%:*}" "${name##*:}" ;;
	--module) cp -L "$2" "$stage/hipec/" ;;
	--stock) stock="$stock $2" ;;
	*) usage ;;
	esac
	shift 2
done
[ -n "$kernel" ] && [ -n "$out" ] || usage
[ -f "$cache/$kernel/release" ] ||
	die "kernel $kernel is not in $cache; run make build/kernel-$kernel.stamp"
release=$(cat "$cache/$kernel/release")
modules=$cache/$kernel/modules

mkdir -p "$stage/lib/modules/$release"
for name in $stock; do
	add_stock_module "$name"
done
# Lets modprobe be silent about what is built in.
cp "$modules"/modules.builtin* "$modules/modules.order" \
	"$stage/lib/modules/$release/"
depmod -b "$stage" "$release"
rm "$stage/lib/modules/$release"/*.bin	# busybox reads the text files
# The default is one 250 GB disk in RAM; ours are made through configfs.
echo 'options null_blk nr_devices=0' >"$stage/etc/modprobe.d/null_blk.conf"

cp "$here/init" "$stage/init"
for dir in data dev mnt proc results run sys tmp; do
	mkdir "$stage/$dir"
done
[ -z "$tree" ] || cp -a "$tree/." "$stage/"
chmod -R u+rwX,go+rX,go-w "$stage"
chmod 755 "$stage/init"
find "$stage" -exec touch -h -d @0 {} +

mkdir -p "$(dirname "$out")"
(
	cd "$stage"
	find . -print0 | sort -z |
		cpio --null --quiet --create -H newc --reproducible -R 0:0
) | zstd -q -1 >"$out.tmp$$"
mv "$out.tmp$$" "$out"
