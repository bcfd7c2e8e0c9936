-- SPDX-License-Identifier: GPL-2.0-only
-- Tables as TPC-H has them, with fewer columns. All numbers are hashes of keys, so
-- that each run makes the same.
create function h(k bigint, salt int, n int) returns int language sql immutable
as 'select abs(hashint8extended(k, salt) % n)::int';

create table nation (n_nationkey int, n_name text);

insert into nation select i, 'nation ' || i from generate_series(0, 24) i;

create table supplier (s_suppkey int, s_nationkey int, s_acctbal int, s_comment text);

insert into supplier select i, h(i, 1, 25), h(i, 2, 10000), repeat('supplier ', 8)
from generate_series(1, 1000) i;

create table customer (c_custkey int, c_nationkey int, c_acctbal int,
	c_mktsegment int, c_comment text);

insert into customer select i, h(i, 3, 25), h(i, 4, 10000), h(i, 5, 5),
	repeat('customer ', 8)
from generate_series(1, 15000) i;

create table part (p_partkey int, p_brand int, p_type int, p_size int,
	p_container int, p_comment text);

insert into part select i, h(i, 6, 25), h(i, 7, 150), h(i, 8, 50) + 1,
	h(i, 9, 40), repeat('part ', 10)
from generate_series(1, 20000) i;

create table partsupp (ps_partkey int, ps_suppkey int, ps_availqty int,
	ps_supplycost int, ps_comment text);

insert into partsupp select p, 1 + (p + s * 251) % 1000, h(p * 4 + s, 10, 10000),
	h(p * 4 + s, 11, 1000), repeat('partsupp ', 10)
from generate_series(1, 20000) p, generate_series(0, 3) s;

create table orders (o_orderkey int, o_custkey int, o_orderdate int,
	o_orderpriority int, o_totalprice int, o_comment text);

insert into orders select i, 1 + h(i, 12, 15000), h(i, 13, 2400), h(i, 14, 5),
	h(i, 15, 100000), repeat('order ', 8)
from generate_series(1, 100000) i;

create table lineitem (l_orderkey int, l_partkey int, l_suppkey int,
	l_quantity int, l_extendedprice int, l_discount int, l_shipdate int,
	l_receiptdate int, l_shipmode int, l_returnflag int, l_comment text);

insert into lineitem select o, 1 + h(o * 8 + n, 16, 20000),
	1 + h(o * 8 + n, 17, 1000), 1 + h(o * 8 + n, 18, 50),
	h(o * 8 + n, 19, 100000), h(o * 8 + n, 20, 11),
	h(o, 13, 2400) + h(o * 8 + n, 21, 120),
	h(o, 13, 2400) + 60 + h(o * 8 + n, 22, 90), h(o * 8 + n, 23, 7),
	h(o * 8 + n, 24, 3), repeat('line ', 8)
from generate_series(1, 100000) o, generate_series(1, 7) n
where n <= 1 + h(o, 25, 7);

create unique index on supplier (s_suppkey);

create unique index on customer (c_custkey);

create unique index on part (p_partkey);

create unique index on partsupp (ps_partkey, ps_suppkey);

create unique index on orders (o_orderkey);

create index on orders (o_custkey);

create index on lineitem (l_orderkey);

create index on lineitem (l_partkey);

vacuum (freeze, analyze);

checkpoint;

