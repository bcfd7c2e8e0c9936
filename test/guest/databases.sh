# SPDX-License-Identifier: GPL-2.0-only
#
# What test_databases.py has the guest do: sqlite3 writes to databases in /data/db, which is attached
# in less memory than they need, and is killed in the middle of it, time and again.
#
#	databases.sh write    the console has "JOURNAL ROUND integrity_check PROMISED HELD" for each
#	                      kill, and "evictions N"; then both write on, and it has "promised
#	                      JOURNAL N" for each commit, until the machine ends
#	databases.sh look     /results/held: "JOURNAL integrity_check N", of another boot
#
# N counts commits; row N is of the N-th.

export HIPEC_POLICY_PATH=/hipec/policies HOME=/tmp
journals="delete wal"
rounds=4

# What is promised to be on the disk: a line for each commit. "full" would not sync the directory
# that a journal was removed from.
commits()	# JOURNAL
{
	first=$(sqlite3 "/data/db/$1" "SELECT coalesce(max(n), 0) + 1 FROM t")
	seq "$first" 100000 | while read -r n; do
		echo "BEGIN;"
		echo "INSERT INTO t VALUES ($n, randomblob(3000));"
		echo "UPDATE t SET data = randomblob(3000) WHERE n IN ($n * 7919 % $n, $n * 104729 % $n);"
		echo "COMMIT;"
		echo "SELECT $n;"
	done | sqlite3 -cmd "PRAGMA synchronous = extra" -cmd "PRAGMA cache_size = 16" \
		-cmd "PRAGMA wal_autocheckpoint = 64" "/data/db/$1"
}

check()		# JOURNAL
{
	sqlite3 "/data/db/$1" "PRAGMA integrity_check"
}

held()		# JOURNAL
{
	sqlite3 "/data/db/$1" "SELECT max(n) FROM t"
}

insmod /hipec/hipec.ko backoff_ms=0 || exit 1
if [ "$1" = look ]; then
	for journal in $journals; do
		echo "$journal $(check $journal) $(held $journal)" >>/results/held
	done
	exit
fi

mkdir /data/db
hipec attach --policy lru --budget 1M /data/db
for journal in $journals; do
	sqlite3 /data/db/$journal "PRAGMA journal_mode = $journal" \
		"CREATE TABLE t (n INTEGER PRIMARY KEY, data BLOB)" >/dev/null
	round=1
	while [ $round -le $rounds ]; do
		: >/tmp/promised
		commits $journal >>/tmp/promised &
		until [ "$(wc -l </tmp/promised)" -ge $((round * 60)) ]; do sleep 0.1; done
		killall -9 sqlite3
		wait
		promised=$(tail -n 1 /tmp/promised)
		echo "$journal $round $(check $journal) $promised $(held $journal)" >>/tmp/kills
		round=$((round + 1))
	done
done
cat /tmp/kills >/dev/console
echo "evictions $(hipec status --metrics |
	sed -n 's/^hipec_container_evictions_total{.*} //p')" >/dev/console
for journal in $journals; do
	commits $journal | while read -r n; do echo "promised $journal $n" >/dev/console; done &
done
wait
