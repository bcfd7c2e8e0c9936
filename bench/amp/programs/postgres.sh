#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# PostgreSQL on a database like TPC-H's, some 100 MB: sixteen queries in an
# order, twice, by one server process. Its own buffers are small, so that the
# system's cache does the work, as its manual advises for small machines.
#
# hipec: packages postgresql-15
# hipec: user
# hipec: claim queries that scan, join and look up

set -eu
export LC_ALL=C PGDATA=db
here=$(dirname "$(readlink -f "$0")")
bin=/usr/lib/postgresql/15/bin

# One process, queries on standard input, each ended by an empty line.
server()
{
	"$bin/postgres" --single -j -D db -c shared_buffers=1MB \
		-c work_mem=8MB -c maintenance_work_mem=64MB -c jit=off \
		-c fsync=off -c full_page_writes=off -c log_statement=none \
		-c max_parallel_workers_per_gather=0 \
		-c max_parallel_maintenance_workers=0 postgres
}

prepare()
{
	"$bin/initdb" --no-sync --no-locale -E UTF8 -A trust -U postgres db >log
	server <"$here/postgres-data.sql" >>log 2>&1
	! grep -E 'ERROR|FATAL' log >&2
}

run()
{
	cat "$here/postgres-queries.sql" "$here/postgres-queries.sql" |
		server >answers 2>errors
	! grep -E 'ERROR|FATAL' errors >&2
}

"$1"
