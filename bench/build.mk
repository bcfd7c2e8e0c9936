# SPDX-License-Identifier: GPL-2.0-only
# Benchmark programs, static: they run in the guest. And the demo, which runs
# them on the page cache and on hipec.

BENCH := $(addprefix $(B)/bench/,join sweep mkdata rdr mkindex smpeg dbg)

$(B)/bench/%.o: bench/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c $< -o $@

$(BENCH): $(B)/bench/%: $(B)/bench/%.o $(B)/bench/source.o $(B)/libhipec.a
	$(CC) $(ALL_CFLAGS) -static $(LDFLAGS) $^ -o $@

ALL += $(BENCH)

DEMO_KERNEL := 6.12
DEMO_HPO := $(addprefix $(B)/policies/,fifo.hpo fifo2.hpo mru.hpo)
DEMO_GUEST := $(B)/demo-guest

$(DEMO_GUEST).img: bench/demo-guest.sh bench/disk.sh $(BENCH) $(DEMO_HPO) \
		$(B)/kmod-$(DEMO_KERNEL)/stamp vm-images/init vm-images/initramfs.sh
	@[ -s $(B)/kernel-$(DEMO_KERNEL).stamp ] || { \
		echo "demo: this Debian has no stock $(DEMO_KERNEL) kernel" >&2; \
		exit 1; }
	@rm -rf $(DEMO_GUEST) && mkdir -p $(DEMO_GUEST)/policies
	@cp bench/demo-guest.sh bench/disk.sh $(DEMO_GUEST)
	@cp $(DEMO_HPO) $(DEMO_GUEST)/policies
	vm-images/initramfs.sh --kernel $(DEMO_KERNEL) --out $@ \
		--module $(B)/kmod-$(DEMO_KERNEL)/hipec.ko \
		$(BENCH:%=--bin %) --tree $(DEMO_GUEST)

# In two steps, because the compiler itself may be one of the packages.
## demo: a join and a sweep, page cache against hipec, as a table (FULL=1: the paper's 64 passes)
.PHONY: demo demo-run
demo: packages
	@$(MAKE) --no-print-directory demo-run

demo-run: $(DEMO_GUEST).img
	@bench/demo.py --kernel $(DEMO_KERNEL) --guest $< $(if $(FULL),\
		--full --out $(B)/demo-full,--out $(B)/demo)

.PHONY: bench-ampc
## bench-ampc: the compiler: how long it takes and how short its code is, as a table
bench-ampc: $(B)/ampc
	@bench/ampc.py

include bench/vm/build.mk
include bench/pool/build.mk
include bench/fault/build.mk
include bench/tables/build.mk
include bench/crossing/build.mk
include bench/context/build.mk
include bench/runcost/build.mk
include bench/idle/build.mk

## bench-vm: the interpreter beside C and Lua: nanoseconds and instructions, as a table
.PHONY: bench-vm
bench-vm: packages
	@$(MAKE) --no-print-directory bench-vm-run

# What revocation's contract is measured on: every policy that there is, and
# ill-advised ones of its own.
SHIPPED_HPO := $(patsubst %.hp,$(B)/%.hpo,$(wildcard policies/*.hp))
REVOKE_HPO := $(patsubst %,$(B)/bench/revoke/%.hpo,$(notdir $(basename \
	$(wildcard bench/revoke/*.hp docs/tutorial/*.hp)))) \
	$(patsubst %,$(B)/guest/policies/%.hpo,$(notdir $(basename \
	$(wildcard test/guest/policies/*.hp test/guest/policies/*.hpt)))) \
	$(SHIPPED_HPO)

$(B)/bench/revoke/%.hpo: bench/revoke/%.hp $(B)/ampc
	@mkdir -p $(@D)
	$(B)/ampc -o $@ $<

$(B)/bench/revoke/%.hpo: docs/tutorial/%.hp $(B)/ampc
	@mkdir -p $(@D)
	$(B)/ampc -o $@ $<

.PHONY: bench-revoke
## bench-revoke: which policies revocation's contract revokes, and when, as a table
bench-revoke: $(B)/hipec $(REVOKE_HPO)
	@bench/revoke.py

.PHONY: bench-sim
## bench-sim: the simulator: accesses a second on the VM and in C, memory a page
bench-sim: $(B)/hipec $(B)/policies/lru.hpo $(B)/policies/fifo2.hpo
	@bench/sim.py

$(B)/bench/figure8/%.hpo: bench/figure8/%.hp $(B)/ampc
	@mkdir -p $(@D)
	$(B)/ampc -o $@ $<

.PHONY: bench-figure8
## bench-figure8: applications under FIFO2-MR and AWST in the simulator, as a table
bench-figure8: $(B)/hipec $(B)/bench/figure8/mpfifo2-hint.hpo \
		$(B)/policies/mru.hpo $(B)/policies/fifo.hpo
	@bench/figure8.py

.PHONY: bench-league
## bench-league: what each shipped policy, and the optimum, saves on seven traces
bench-league: $(B)/hipec $(SHIPPED_HPO)
	@bench/league.py

.PHONY: bench-hints
## bench-hints: Figures 5 to 12 of the write-hint paper: policies behind a buffer pool
bench-hints: $(B)/hipec $(SHIPPED_HPO)
	@bench/hints.py

$(B)/bench-detector: $(B)/bench/detector.o $(call userlib_obj,$(B),$(call room,amp))
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ -lm -o $@

.PHONY: bench-detector
## bench-detector: AMP's detector: nanoseconds an access, and its memory, as a table
bench-detector: $(B)/bench-detector
	@$(B)/bench-detector

.PHONY: bench-table1
## bench-table1: Table 1 of the AMP paper: what three detectors say of seven streams
bench-table1: $(B)/hipec
	@bench/table1.py

.PHONY: bench-amp-traces
## bench-amp-traces: traces of cscope, PostgreSQL and others, into the cache: the AMP report's Table 2
bench-amp-traces: $(B)/hipec $(B)/libhipectrace.so
	@bench/amptraces.py

.PHONY: bench-amp
## bench-amp: the AMP report's simulation study: what AMP gains and loses beside ARC on these traces
bench-amp: $(B)/hipec $(B)/libhipectrace.so $(SHIPPED_HPO)
	@bench/ampstudy.py $(if $(QUICK),--quick)

.PHONY: bench-amp-mixes
## bench-amp-mixes: what AMP loses at worst, on sixty random mixes of access patterns
bench-amp-mixes: $(B)/hipec $(SHIPPED_HPO)
	@bench/ampmixes.py

# Each bench adds its target's name, wherever it is made.
ALL_BENCHES += bench-ampc bench-vm bench-recover bench-revoke bench-sim bench-figure8 \
	bench-league bench-hints bench-detector bench-table1 bench-amp bench-amp-mixes

# One after the other: each uses all CPUs that there are. One that fails, for a goal
# that is missed perhaps, keeps none from running.
.PHONY: bench
## bench: all of them
bench:
	@status=0; $(foreach name,$(ALL_BENCHES),echo "== make $(name)"; \
		$(MAKE) --no-print-directory $(name) || status=1;) exit $$status
