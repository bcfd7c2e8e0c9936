# SPDX-License-Identifier: GPL-2.0-only
#
# What somebody does who comes upon hipec: docs/user/install.md, from his packages in
# /srv/deb to their removal, as root; alice uses it, bob may not. Runs on although
# a part fails: the files in results tell.

export DEBIAN_FRONTEND=noninteractive
packages="hipec-dkms hipec-tools libhipec0 libhipec-dev python3-hipec"
db=/home/alice/table.db
run="hipec run --policy mru --budget 2M --map *.db"
cd /run/hipec/results || exit 1
chmod 755 . ..

as() { user=$1; shift; runuser -u "$user" -- "$@"; }

# FILE: all that is on the disk, by name, kind, owner and size; in /etc what is in it too.
list()
{
	find / -xdev -printf '%p %y %m %u %g ' \( -type d -printf '\n' -o -printf '%s %l\n' \) >"$1"
	find /etc -type f -exec md5sum {} + >>"$1"
}

# Whether the module is there, and whose the device is.
machine()
{
	udevadm settle
	lsmod | grep -c '^hipec '
	stat -c '%U:%G %a' /dev/hipec 2>&1
	getent group hipec
}

# Alice's program: the sum of her table, once for each line that it reads; "plain": as it is.
cat >/home/alice/sums.py <<END
import sys, zlib, hipec
plain = sys.argv[1:] == ["plain"]
with open("$db", "rb") if plain else hipec.Container("mru", 512, share=True) as at:
    table = at.read() if plain else at.map("$db")
    for _ in sys.stdin:
        print(zlib.crc32(table), flush=True)
    if not plain:
        print(at.status()["counters"]["read_pages"], file=sys.stderr)
END
sums="python3 -B /home/alice/sums.py"

# NAME: that program, which waits for finish() once it has scanned.
hold()
{
	held=$1
	rm -f go
	: >"$held".out
	mkfifo -m 666 go
	{ echo; echo; cat go; } | as alice $sums >"$held".out 2>"$held".err &
	until [ "$(wc -l <"$held".out)" = 2 ] || ! kill -0 $!; do sleep .1; done
}

finish()
{
	# Who held it may be gone, and nobody read.
	timeout 60 sh -c 'echo >go'
	wait
}

install() { apt-get -q install -y /srv/deb/*.deb; }
# shellcheck disable=SC2086 # a list of words
purge() { apt-get -q purge -y $packages; }

list before

# Install; then what each boot does.
install >install.txt 2>&1
echo $? >>install.txt
machine >installed.txt
modprobe -r hipec
machine >unloaded.txt
systemctl restart systemd-modules-load
machine >booted.txt
adduser alice hipec >adduser.txt 2>&1

# Run a program, look on.
printf '\n\n\n' | as alice $sums plain >plain.out 2>&1
printf '\n\n\n' | as alice $sums >sums.out 2>sums.err
hold looked
for verb in status "top --once" log doctor; do
	# shellcheck disable=SC2086 # a list of words
	as alice hipec $verb >"${verb%% *}".txt 2>&1
	echo $? >>"${verb%% *}".txt
done
modprobe -r hipec >in-use.txt 2>&1
echo $? >>in-use.txt
finish
as alice hipec log --json >log.json
for command in "hipec status" "hipec doctor" "$run --strict -- true"; do
	echo "\$ $command"
	# shellcheck disable=SC2086 # a list of words
	as bob $command
	echo $?
done >bob.txt 2>&1
# In place she wants a cgroup of her own, which the session of a service does not have.
as alice $run -- touch /home/alice/ran >no-cgroup.txt 2>&1
echo $? >>no-cgroup.txt
ls /home/alice/ran >>no-cgroup.txt 2>/dev/null

# Unload it again and again while alice goes on.
touch busy
while [ -e busy ]; do
	# Without the module it ends with an error, and prints nothing.
	printf '\n\n\n' | as alice $sums >busy.sums 2>>busy.err && ! cmp busy.sums plain.out && echo differs
done >busy.out 2>&1 &
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
	sleep .3
	modprobe -qr hipec && echo unloaded || echo in use
	modprobe hipec && udevadm settle || echo failed
done >busy.txt 2>&1
rm busy
wait

purge >purge.txt 2>&1
echo $? >>purge.txt
machine >purged.txt
list after

# Again.
install >install-again.txt 2>&1
echo $? >>install-again.txt
adduser alice hipec >>adduser.txt 2>&1

# A service's files, by the unit that comes as an example.
find /usr/share/doc -name 'hipec-attach@.service' -exec cp {} /etc/systemd/system \;
mkdir /etc/hipec
printf 'POLICY=arc\nBUDGET=2M\nFILES=%s\n' $db >/etc/hipec/table.conf
systemctl daemon-reload
systemctl start hipec-attach@table
{
	echo $?
	hipec status --json
} >unit.txt 2>&1
printf '\n\n\n' | $sums plain >unit.out 2>&1
modprobe -r hipec 2>/dev/null && echo unloaded >>unit.out
systemctl stop hipec-attach@table
hipec status --json >unit-stopped.txt 2>&1
rm -r /etc/hipec /etc/systemd/system/hipec-attach@.service
systemctl daemon-reload

# Gone while alice uses it; the module, which has had a file attached, stays.
hold purged
purge >purge-in-use.txt 2>&1
echo $? >>purge-in-use.txt
machine >purged-in-use.txt
finish
rmmod hipec >rmmod.txt 2>&1
machine >ended.txt
list after-in-use
