# SPDX-License-Identifier: GPL-2.0-only
# hipec-1997: the demo, which runs programs on the page cache and on hipec, its
# figure 8 in the simulator, and its tables in guests.

DEMO_KERNEL := 6.12
DEMO_HPO := $(addprefix $(B)/policies/,fifo.hpo fifo2.hpo mru.hpo)
DEMO_GUEST := $(B)/demo-guest
TABLES_HPO := $(addprefix $(B)/policies/,fifo.hpo fifo2.hpo mru.hpo mpfifo2.hpo) \
	$(addprefix $(B)/bench/paper/tables/,general.hpo mpfifo2-wrong.hpo)
TABLES_GUEST := $(B)/tables-guest

$(DEMO_GUEST).img: $(BENCH) $(DEMO_HPO)
$(TABLES_GUEST).img: $(BENCH) $(TABLES_HPO)
$(DEMO_GUEST).img $(TABLES_GUEST).img: $(B)/kmod-$(DEMO_KERNEL)/stamp $(BENCH_GUEST_NEEDS)
	$(call bench_guest,$(DEMO_KERNEL),$(B)/kmod-$(DEMO_KERNEL)/hipec.ko,$(BENCH),$(filter %.hpo,$^))

# In two steps, because the compiler itself may be one of the packages.
## demo: a join and a sweep, page cache against hipec, as a table (FULL=1: all disks, advice, regions)
.PHONY: demo demo-run
demo: packages-guest
	@$(MAKE) --no-print-directory demo-run

demo-run: $(DEMO_GUEST).img
	@bench/run.py paper.demo --kernel $(DEMO_KERNEL) --guest $< $(if $(FULL),\
		--full --out $(B)/demo-full,--out $(B)/demo)

.PHONY: bench-figure8
## bench-figure8: applications under FIFO2-MR and AWST in the simulator, as a table
bench-figure8: $(B)/hipec $(B)/bench/paper/figure8/mpfifo2-hint.hpo \
		$(B)/policies/mru.hpo $(B)/policies/fifo.hpo
	@bench/paper/figure8.py

# In two steps, because the compiler itself may be one of the packages.
bench-%-run: $(TABLES_GUEST).img
	@bench/run.py paper.$* --kernel $(DEMO_KERNEL) --guest $< $(if $(FULL),\
		--full --out $(B)/bench-$*-full,--out $(B)/bench-$*)

TABLES := nlj rdr smpeg mixes advice

.PHONY: $(TABLES:%=bench-%)
$(TABLES:%=bench-%): packages
	@$(MAKE) --no-print-directory $@-run

## bench-nlj: hipec-1997 Table V, a nested-loop join with MRU, as a table (FULL=1: 64 passes)
## bench-rdr: Table VI, random data retrieval with MPFIFO2, as a table (FULL=1: 10^6 lookups)
## bench-smpeg: Table VII, a video player beside a database generator, as a table
## bench-mixes: Table VIII, seven mixes of programs that share the pool (FULL=1: original sizes)
## bench-advice: Tables IX and X, ill-advised RDR alone and beside others (FULL=1: original sizes)

# Each bench adds its target's name, wherever it is made.
ALL_BENCHES += $(TABLES:%=bench-%) bench-figure8
