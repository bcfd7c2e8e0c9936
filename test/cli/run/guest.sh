# SPDX-License-Identifier: GPL-2.0-only
#
# What test_run_guest.py has the guest do: programs without and with hipec run, their
# output, what they read from the disk, and what the command says. The disk is in
# /data. Runs on although a part fails: the files in /results tell.

export HIPEC_POLICY_PATH=/hipec/policies PYTHONHOME=/usr HOME=/tmp OPENBLAS_NUM_THREADS=1
export PYTHONPATH=/usr/lib/python3/dist-packages
cgroups=/sys/fs/cgroup
cd /data

# COMMAND... in a memory cgroup of its own of $1 MB; what it read from the disk, in
# pages, is in $read.
limited()
{
	group=$cgroups/run$((count = count + 1))
	mkdir $group
	echo "${1}M" >$group/memory.max
	shift
	sync
	echo 3 >/proc/sys/vm/drop_caches
	# shellcheck disable=SC2046 # numbers
	set -- $(cat /sys/block/vda/stat) -- "$@"
	read=$3
	until [ "$1" = -- ]; do shift; done
	shift
	# shellcheck disable=SC2016 # for that shell
	sh -c 'echo $$ >$0/cgroup.procs; exec "$@"' $group "$@"
	status=$?
	# shellcheck disable=SC2046 # numbers
	set -- $(cat /sys/block/vda/stat)
	read=$((($3 - read) / 8))
	return $status
}

# NAME MB BUDGET POLICY GLOB COMMAND...: without, and with it.
compare()
{
	name=$1 mb=$2 budget=$3 policy=$4 glob=$5
	shift 5
	limited "$mb" timeout 600 "$@" >/results/"$name".plain 2>&1
	without="$? $read"
	limited "$mb" timeout 600 hipec run -p "$policy" -b "$budget" -m "$glob" --strict --json \
		-o /results/"$name".json -- "$@" >/results/"$name".run 2>&1
	echo "$name $without $? $read" >>/results/reads.txt
}

# Without the module.
hipec run -p mru -b 512 -- maps shared small >/results/absent.txt 2>&1
hipec run -p mru -b 512 --strict -- maps shared small >/results/absent-strict.txt 2>&1
echo $? >>/results/absent-strict.txt

insmod /hipec/hipec.ko pool_mb=256 backoff_ms=0 || exit 1

# Ways to map, in so few pages that some have to go: what is printed, and in the file then.
for verb in $(maps); do
	cp small f
	maps "$verb" f >/results/maps-"$verb".plain 2>&1
	md5sum f >>/results/maps-"$verb".plain
	cp small f
	hipec run -p mru -b 16 --map f --strict -j -o /results/maps-"$verb".json -- \
		maps "$verb" f >/results/maps-"$verb".run 2>&1
	echo "$verb $?" >>/results/maps.txt
	md5sum f >>/results/maps-"$verb".run
done
# The process that writes is killed; who comes next reads what it stored.
cp small f
hipec run -p mru -b 16 --map f -q -- python3 -c '
import mmap, os, signal
f = open("f", "r+b")
m = mmap.mmap(f.fileno(), 0)
m[8192] = 200
os.kill(os.getpid(), signal.SIGKILL)' 2>/results/killed.txt
echo $? >>/results/killed.txt
python3 -c 'print(open("f", "rb").read()[8192])' >>/results/killed.txt
# By read(), of a static program that nobody here wrote; by a map; nothing to do.
# What stays behind goes on without us, and its cgroup is ours again.
cold() { sync; echo 3 >/proc/sys/vm/drop_caches; }
cold
hipec run -p mru -b 512 -- busybox cat large large large large 2>/results/place-cat.txt | md5sum \
	>/results/place-cat.sum
busybox cat large large large large | md5sum >/results/place-cat.plain
cold
hipec run -p mru -b 512 -- maps sweep large >/results/place-sweep.txt 2>&1
cold
hipec run --share -p mru -b 512 --json -o /results/place-share.json -- maps sweep large \
	>/results/place-share.txt 2>&1
# The policy is found meanwhile.
cold
hipec run -p auto -b 512 --json -o /results/place-auto.json -- \
	busybox cat large large large large large large large large | md5sum >/results/place-auto.sum
busybox cat large large large large large large large large | md5sum >/results/place-auto.plain
cold
hipec run -p auto --among mru,lru -b 512 -- maps sweep large >/results/place-auto.txt 2>&1
# What other budgets would bring, of a loop over 1,024 pages.
hipec run -p mru --curve -b 512 --json -o /results/place-curve.json -- \
	busybox cat large large large large >/dev/null
cold
hipec run -p mru --curve -b 512 -- busybox cat large large large large \
	2>/results/place-curve.txt >/dev/null
hipec run -p auto --among mru,none -b 512 --strict -- maps sweep large >/results/place-auto-none.txt 2>&1
echo $? >>/results/place-auto-none.txt
hipec run -p mru -b 512 -- true >/results/place-nothing.txt 2>&1
hipec run -p mru -b 64 -q -- dash -c '(sleep 3; cat /proc/self/cgroup >/tmp/behind) & cat large >/dev/null'
cat /proc/self/cgroup >/results/place-cgroups.txt
until [ -s /tmp/behind ]; do :; done
cat /tmp/behind >>/results/place-cgroups.txt
find $cgroups -name "hipec-*" >>/results/place-cgroups.txt
# No hooks of functions: nothing is run.
echo 0 >/proc/sys/kernel/ftrace_enabled
hipec run -p mru -b 512 -q -- maps shared small >/results/place-no-hook.txt 2>&1
echo $? >>/results/place-no-hook.txt
echo 1 >/proc/sys/kernel/ftrace_enabled

# A user, who owns a file, and may lock so many bytes: without a cgroup of the user's own, and
# in one; for more than that, and in a share; hipec attach, which needs no cgroup.
chmod 666 /dev/hipec
cp large mine
chown 65534 mine
mkdir $cgroups/user
chown -R 65534 $cgroups/user
as_user()	# BYTES CGROUP COMMAND...
{
	python3 -c '
import os, resource, sys
resource.setrlimit(resource.RLIMIT_MEMLOCK, (int(sys.argv[1]),) * 2)
open(sys.argv[2] + "/cgroup.procs", "w").write("0")
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
os.execvp(sys.argv[3], sys.argv[3:])' "$@"
	echo $?
}
cold
as_user 4194304 $cgroups/user hipec run -p mru -b 512 -- maps sweep mine >/results/user.txt 2>&1
cold
as_user 65536 $cgroups/user hipec run --share -p mru -b 512 -- maps sweep mine \
	>/results/user-share.txt 2>&1
as_user 65536 $cgroups/user hipec run -p mru -b 512 -- maps sweep mine >/results/user-refused.txt 2>&1
as_user 4194304 $cgroups hipec run -p mru -b 512 -- maps sweep mine >>/results/user-refused.txt 2>&1
as_user 65536 $cgroups hipec attach -p mru -b 512 mine >/results/user-attach.txt 2>&1
as_user 4194304 $cgroups hipec attach -p mru -b 512 mine >>/results/user-attach.txt 2>&1
hipec status --json >/results/user-attach.json
as_user 4194304 $cgroups hipec detach "$(tail -n 2 /results/user-attach.txt | head -n 1)" \
	>>/results/user-attach.txt 2>&1

# Programs of others.
compare sweep 24 23M mru weights maps sweep weights
# With too little beside the budget the cgroup reclaims some of the 23 MB itself (27 MB: 36,688
# pages, not 35,078; 34 MB: 36,833 once in five runs, on a busy host).
compare python 36 23M mru weights python3 /hipec/sweep.py weights
compare numpy 40 23M mru weights python3 /hipec/weights.py weights
# A policy for nobody to choose.
limited 80 timeout 600 hipec run -p amp -b 23M -m weights --strict -q -- \
	python3 /hipec/weights.py weights >/results/numpy-amp.run 2>&1
echo "numpy-amp 0 0 $? $read" >>/results/reads.txt
compare sqlite 24 20M mru table.db sqlite3 -readonly table.db \
	"pragma mmap_size = 100000000; pragma cache_size = 10;" \
	"select sum(length(a)), max(a) from t;" "select sum(length(a)), min(a) from t;" \
	"select count(*), max(substr(a, 7, 9)) from t;"
compare rg 16 12M scan-resistant "*.txt" dash -c \
	'for word in hipec frame policy; do rg --mmap -j1 --sort path -c $word text; done'
git="git -C repo.git -c safe.directory=*"
compare git 20 12M lirs "*.pack" dash -c "for i in 1 2; do
	$git cat-file --batch-check --batch-all-objects --buffer | md5sum; $git fsck 2>&1; done"
compare grep 20 12M scan-resistant "*.pack" dash -c "$git rev-list main | xargs $git grep -ac hi"
compare leveldb 30 20M lirs "*.ldb" python3 /hipec/pairs.py leveldb
compare lmdb 24 20M mru data.mdb dash -c 'mdb_stat lmdb; for i in 1 2 3; do mdb_dump lmdb | md5sum; done'

cat /sys/kernel/debug/hipec/frames >/results/frames.txt
cd /
