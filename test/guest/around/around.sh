# SPDX-License-Identifier: GPL-2.0-only
#
# What test_around.py has the guest do: files in place seen through what stands between
# a program and a file, in 2 MB. /results/around has a line for each
# step, "WHAT STATUS", and counts.json/WHAT what the container had counted.
# Runs on although a part fails. The disk is in /data.

export HIPEC_POLICY_PATH=/hipec/policies HOME=/tmp
cgroups=/sys/fs/cgroup
mkdir -p /etc
echo "user:x:65534:65534::/tmp:/bin/sh" >/etc/passwd
. /hipec/module.sh
load_module backoff_ms=0 || exit 1
chmod 666 /dev/hipec
modprobe -aq loop overlay
cd /data
mkdir /results/counts

# WHAT COMMAND...
try()
{
	what=$1
	shift
	"$@" >/tmp/said 2>&1
	status=$?
	echo "$what $status" >>/results/around
	[ $status = 0 ] || sed "s/^/$what: /" /tmp/said >>/results/said
}

# FILE PAGES: not all the same.
make_file()
{
	seq 1000000 | head -c $(($2 * 4096)) >"$1" && sync
}

# FILE...: all of it, three times, as it is; $sum is its sum.
reads()
{
	for pass in 1 2 3; do
		[ "$(cat "$@" | md5sum)" = "$sum" ] || return 1
	done
}

in_place()
{
	hipec attach --policy lru --budget 2M "$@"
}

# WHAT: the container ends; what it had counted stays.
ends()
{
	hipec status --json >/results/counts/"$1"
	try "$1-detach" hipec detach "$id"
}

fresh()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
}

# A disk in a file that is taken.
loop_disk()
{
	truncate -s 24M disk
	id=$(in_place disk) || return 1
	losetup /dev/loop0 disk && mkfs.ext4 -q /dev/loop0 && mkdir -p /tmp/loop &&
		mount /dev/loop0 /tmp/loop || return 1
	for pass in 1 2 3; do
		cp big /tmp/loop/$pass && fresh && cmp big /tmp/loop/$pass || return 1
	done
	umount /tmp/loop && fresh && mount /dev/loop0 /tmp/loop || return 1
	for pass in 1 2 3; do
		cmp big /tmp/loop/$pass || return 1
	done
	umount /tmp/loop && losetup -d /dev/loop0
}

# Its reader's cgroup pays for the disk's pages too, by loop's worker, and has less than the budget.
# Slowly: a file whose pages come faster than a policy hears of them is the kernel's.
loop_in_cgroup()
{
	truncate -s 24M large
	echo +io >$cgroups/cgroup.subtree_control || return 1
	id=$(hipec attach --policy lru --budget 32M large) || return 1
	losetup /dev/loop1 large && mkfs.ext4 -q /dev/loop1 && mkdir -p /tmp/large &&
		mount /dev/loop1 /tmp/large && cp big /tmp/large/1 && cp big /tmp/large/2 || return 1
	umount /tmp/large && losetup -d /dev/loop1 && fresh
	losetup -r /dev/loop1 large && mount -o ro /dev/loop1 /tmp/large || return 1
	# shellcheck disable=SC2016 # for that shell
	limited 6M reader sh -c 'for i in $(seq 0 255); do
			dd if=/tmp/large/$((i / 128 + 1)) of=/dev/null bs=64k count=1 \
				skip=$((i % 128)) && usleep 30000 || exit 1
		done' || return 1
	umount /tmp/large && losetup -d /dev/loop1 && alive reader && rmdir $cgroups/reader
}

# LIMIT GROUP COMMAND...: GROUP is made with a limit; then a process of it.
limited()
{
	mkdir $cgroups/"$2" && echo "$1" >$cgroups/"$2"/memory.max && in_group "$@"
}

in_group()
{
	group=$2
	shift 2
	# shellcheck disable=SC2016 # for that shell
	sh -c 'echo 0 >$0/cgroup.procs; exec "$@"' $cgroups/"$group" "$@"
}

# Nobody was killed in @1, nor in what is below.
alive()
{
	[ "$(sed -n 's/^oom_kill //p' $cgroups/"$1"/memory.events)" = 0 ]
}

# The limit is that of the group above, half of the budget; a writer needs it all.
nested()
{
	mkdir $cgroups/outer && echo 3M >$cgroups/outer/memory.max &&
		echo +memory >$cgroups/outer/cgroup.subtree_control || return 1
	id=$(hipec attach --policy lru --budget 6M --cgroup $cgroups/outer) || return 1
	for pass in 1 2 3; do
		if [ $pass = 1 ]; then
			limited max outer/inner md5sum big
		else
			in_group max outer/inner md5sum big
		fi >/tmp/sum && [ "$(cut -d' ' -f1 </tmp/sum)  -" = "$sum" ] || return 1
	done
	# A MB at a time: 6.12 kills a writer all of whose cgroup is dirty (MGLRU), without us, too.
	for part in 0 1 2 3 4 5; do
		in_group max outer/inner dd if=/dev/zero of=written bs=64k count=16 \
			seek=$((16 * part)) conv=notrunc,fsync || return 1
	done
	alive outer
}

after_nested()
{
	rmdir $cgroups/outer/inner $cgroups/outer
}

# A service that runs is attached by its cgroup: it reads on from what it has open.
service()
{
	mkdir $cgroups/service && mkfifo ready go || return 1
	# shellcheck disable=SC2016 # for that shell
	sh -c 'echo 0 >"$0"/cgroup.procs; exec <big; dd bs=64k count=32; echo >ready
		read -r _ <go; cat' $cgroups/service >/tmp/service 2>/dev/null &
	pid=$!
	read -r _ <ready
	id=$(in_place --cgroup $cgroups/service) || return 1
	echo >go
	wait $pid && [ "$(md5sum </tmp/service)" = "$sum" ]
}

# As in a container: its root is an overlay, and the file below it is the real one.
overlay()
{
	mkdir -p low up work root && cp big low/file && mkdir low/bin &&
		cp /bin/busybox low/bin/cat && fresh &&
		mount -t overlay -o lowerdir=low,upperdir=up,workdir=work overlay root &&
		id=$(in_place root/file) || return 1
	[ "$(for pass in 1 2 3; do chroot root /bin/cat /file; done | md5sum)" = \
		"$(cat low/file low/file low/file | md5sum)" ]
}

# A copy that a write makes is another file; the one below stays as it was.
copy_up()
{
	echo more >>root/file && cmp -n "$(stat -c %s big)" big root/file && cmp big low/file
}

bound()
{
	mkdir -p bound && mount --bind . bound && id=$(in_place bound/big) && reads big &&
		reads bound/big && umount bound
}

# WHAT COMMAND...: hipec run, whose counts stay.
runs()
{
	what=$1
	shift
	hipec run --policy lru --budget 2M --strict --json -o /results/counts/"$what" "$@"
}

# WHAT PROGRAM: a user's shell runs it, with a file that is his, in a cgroup that was
# given to him, as systemd does.
by_user()
{
	what=$1
	in_group max user/session sh -c "ulimit -l 65536; exec su user -c 'HIPEC_POLICY_PATH=$HIPEC_POLICY_PATH \
		hipec run --policy lru --budget 2M --strict --json -o /tmp/$what -- $2 /data/users /data/users /data/users'" \
		>/tmp/out && mv /tmp/"$what" /results/counts/ &&
		[ "$(md5sum </tmp/out)" = "$(cat big big big | md5sum)" ]
}

delegated()
{
	mkdir $cgroups/user && mkdir $cgroups/user/session && chown -R 65534 $cgroups/user &&
		echo +memory >$cgroups/user/cgroup.subtree_control || return 1
	by_user delegated cat
}

threads()
{
	runs threads -- threads big 4
}

go()
{
	gron big.json >/tmp/plain && fresh && runs go -- gron big.json >/tmp/taken &&
		cmp /tmp/plain /tmp/taken
}

# DIRECTORY: a database there, with both kinds of journal; what sqlite3 says is in a file.
database()
{
	both_journals "$1" >/tmp/"$1" 2>&1
}

both_journals()
{
	for journal in delete wal; do
		rm -f "$1"/db*
		sqlite3 "$1"/db "PRAGMA journal_mode = $journal" "PRAGMA cache_size = 32" \
			".read /hipec/database.sql" || return 1
		sqlite3 "$1"/db "PRAGMA integrity_check" || return 1
		fresh
		sqlite3 "$1"/db .dump || return 1
	done
}

# NAME COMMAND...: hipec try, and what it says to type next, in a file as it stands.
promised()
{
	said=/results/$1.try
	shift
	fresh
	hipec try -- "$@" 2>"$said" | md5sum >/tmp/plain
	sed -n 's/^next: //p' "$said" >/tmp/next
	fresh
}

# Large files: the line runs the program.
promised_run()
{
	promised run gnucat big big big big
	sh /tmp/next 2>/results/run.run | md5sum | cmp - /tmp/plain
}

# Small ones: it attaches their folder, for the program to be run again.
promised_attach()
{
	mkdir small
	for i in $(seq 300); do make_file small/$i 3; done
	files=$(for pass in 1 2 3 4; do echo small/*; done)
	# shellcheck disable=SC2086 # names
	promised attach gnucat $files
	# shellcheck disable=SC2086 # names
	id=$(sh /tmp/next) && gnucat $files | md5sum | cmp - /tmp/plain
}

make_file big 2048
sum=$(md5sum <big)
cp big users && chown 65534 users
cp /bin/busybox /tmp/cat && chmod 4755 /tmp/cat
(echo '['; seq 200000 | sed 's/.*/{"name": &},/'; echo 0]) >big.json
fresh

try loop loop_disk
ends loop
try loop-in-cgroup loop_in_cgroup
ends loop-in-cgroup
try nested nested
ends nested
after_nested
try service service
ends service
rmdir $cgroups/service
try overlay overlay
ends overlay
try copy-up copy_up
umount root
try bound bound
ends bound
try delegated delegated
try setuid by_user setuid /tmp/cat
try threads threads
try go go
mkdir plain taken
try sqlite-plain database plain
id=$(in_place taken)
try sqlite-attached database taken
ends sqlite
try sqlite-same cmp /tmp/plain /tmp/taken
wc -l </tmp/plain >/results/sqlite-lines
try promised-run promised_run
try promised-attach promised_attach
ends promised
cd /
umount /data
try idle module_is_idle
