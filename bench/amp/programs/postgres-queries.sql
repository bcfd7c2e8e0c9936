-- SPDX-License-Identifier: GPL-2.0-only
-- After TPC-H's queries of these numbers; dates are days since the first.
-- Q1
select l_returnflag, sum(l_quantity), sum(l_extendedprice), avg(l_discount), count(*)
from lineitem where l_shipdate <= 2400 group by 1 order by 1;

-- Q14
select sum(case when p_type < 30 then l_extendedprice else 0 end) * 100.0
	/ sum(l_extendedprice)
from lineitem, part where l_partkey = p_partkey
and l_shipdate >= 1000 and l_shipdate < 1030;

-- Q2
select s_acctbal, p_partkey from part, supplier, partsupp ps
where p_partkey = ps.ps_partkey and s_suppkey = ps.ps_suppkey and p_size = 15
and p_type % 5 = 1 and ps_supplycost = (select min(ps_supplycost)
	from partsupp where ps_partkey = p_partkey)
order by 1 desc, 2 limit 10;

-- Q5
select c_nationkey, sum(l_extendedprice) from customer, orders, lineitem, supplier
where c_custkey = o_custkey and l_orderkey = o_orderkey and l_suppkey = s_suppkey
and c_nationkey = s_nationkey and c_nationkey < 5
and o_orderdate >= 730 and o_orderdate < 1095 group by 1 order by 2 desc;

-- Q6
select sum(l_extendedprice * l_discount) from lineitem
where l_shipdate >= 700 and l_shipdate < 1065 and l_discount between 5 and 7
and l_quantity < 24;

-- Q19
select sum(l_extendedprice) from lineitem, part where p_partkey = l_partkey
and l_shipmode in (0, 1) and (p_brand = 12 and p_container < 4
	and l_quantity between 1 and 11 and p_size <= 5
	or p_brand = 23 and p_container between 4 and 7
	and l_quantity between 10 and 20 and p_size <= 10
	or p_brand = 14 and p_container between 8 and 11
	and l_quantity between 20 and 30 and p_size <= 15);

-- Q18
select o_orderkey, sum(l_quantity) from orders, lineitem
where o_orderkey = l_orderkey and o_orderkey in (select l_orderkey from lineitem
	group by 1 having sum(l_quantity) > 180)
group by 1 order by 2 desc, 1 limit 10;

-- Q8
select o_orderdate / 365, sum(l_extendedprice) from part, lineitem, orders, customer
where p_partkey = l_partkey and l_orderkey = o_orderkey and o_custkey = c_custkey
and p_type = 44 and o_orderdate between 600 and 1330 and c_nationkey < 5
group by 1 order by 1;

-- Q10
select c_custkey, sum(l_extendedprice) from customer, orders, lineitem
where c_custkey = o_custkey and l_orderkey = o_orderkey
and o_orderdate >= 600 and o_orderdate < 690 and l_returnflag = 1
group by 1 order by 2 desc, 1 limit 20;

-- Q13
select n, count(*) from (select c_custkey, count(o_orderkey) n from customer
	left join orders on c_custkey = o_custkey and o_totalprice % 97 <> 0
	group by 1) t group by 1 order by 2 desc, 1 limit 5;

-- Q3
select l_orderkey, sum(l_extendedprice) from customer, orders, lineitem
where c_mktsegment = 1 and c_custkey = o_custkey and l_orderkey = o_orderkey
and o_orderdate < 1150 and l_shipdate > 1150
group by 1 order by 2 desc, 1 limit 10;

-- Q22
select c_nationkey, count(*), sum(c_acctbal) from customer
where c_nationkey < 7 and c_acctbal > (select avg(c_acctbal) from customer)
and not exists (select * from orders where o_custkey = c_custkey)
group by 1 order by 1;

-- Q16
select p_brand, p_type, count(distinct ps_suppkey) from partsupp, part
where p_partkey = ps_partkey and p_brand <> 4 and p_size in (3, 9, 14, 19)
group by 1, 2 order by 3 desc, 1, 2 limit 10;

-- Q4
select o_orderpriority, count(*) from orders
where o_orderdate >= 1200 and o_orderdate < 1292 and exists (select * from lineitem
	where l_orderkey = o_orderkey and l_shipdate < l_receiptdate)
group by 1 order by 1;

-- Q11
select ps_partkey, sum(ps_supplycost * ps_availqty) from partsupp, supplier
where ps_suppkey = s_suppkey and s_nationkey = 7 group by 1
order by 2 desc, 1 limit 10;

-- Q12
select l_shipmode, count(*) from orders, lineitem where o_orderkey = l_orderkey
and l_shipmode < 2 and l_shipdate < l_receiptdate and l_receiptdate >= 1460
and l_receiptdate < 1825 group by 1 order by 1;

