#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A database of some 30 MB: reports that scan a table, between look-ups through
# its indexes, most of them of few popular rows. SQLite's own cache is small, so
# that its reads reach the system.
#
# hipec: packages sqlite3
# hipec: claim scans of a table beside look-ups in an index

set -eu
export LC_ALL=C

# random() of SQLite has no seed: a generator of our own, x = (69069 x + 1) mod 2^31.
prepare()
{
	sqlite3 shop.db <<-'SQL'
	PRAGMA journal_mode = off;
	PRAGMA synchronous = off;
	CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city INT);
	CREATE TABLE sale (id INTEGER PRIMARY KEY, customer INT, item INT,
		amount INT, note TEXT);
	WITH RECURSIVE r(i, x) AS (SELECT 1, 1 UNION ALL
		SELECT i + 1, (69069 * x + 1) & 2147483647 FROM r WHERE i < 20000)
	INSERT INTO customer SELECT i, printf('customer %040d', x), x >> 16 & 255
		FROM r;
	WITH RECURSIVE r(i, x) AS (SELECT 1, 7 UNION ALL
		SELECT i + 1, (69069 * x + 1) & 2147483647 FROM r WHERE i < 220000)
	INSERT INTO sale SELECT i, 1 + (x >> 8) % 20000, (x >> 5) % 3000,
		x >> 20, printf('%0100d', x) FROM r;
	CREATE INDEX sale_customer ON sale (customer);
	CREATE INDEX customer_city ON customer (city);
	ANALYZE;
	SQL
}

# Nine look-ups in ten are of a hundredth of the customers.
lookups()	# NUMBER SEED
{
	cat <<-SQL
	WITH RECURSIVE r(i, x) AS (SELECT 1, $2 UNION ALL
		SELECT i + 1, (69069 * x + 1) & 2147483647 FROM r WHERE i < $1)
	SELECT sum((SELECT sum(amount) FROM sale WHERE customer = 1 +
		CASE WHEN (x >> 24) % 10 THEN (x >> 8) % 200
		ELSE (x >> 8) % 20000 END)) FROM r;
	SQL
}

report()
{
	cat <<-SQL
	SELECT item, sum(amount) FROM sale WHERE note LIKE '%$1%' GROUP BY item
		LIMIT 3;
	SQL
}

run()
{
	{
		echo "PRAGMA cache_size = 100; PRAGMA temp_store = memory;"
		for pass in 11 22 33 44 55 66; do
			lookups 700 $pass
			report $pass
			echo "SELECT city, count(*) FROM customer GROUP BY city
				HAVING count(*) > 100;"
			lookups 300 ${pass}7
			report 1$pass
			echo "SELECT sum(amount) FROM sale, customer
				WHERE sale.customer = customer.id
				AND city = $pass;"
		done
	} | sqlite3 shop.db >/dev/null
}

"$1"
