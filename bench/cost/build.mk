# SPDX-License-Identifier: GPL-2.0-only
# What the parts of hipec cost in time, and what policies cost in faults.

include bench/cost/vm/build.mk bench/cost/recover/build.mk

# In guests: a bench has its programs, its policies and its rows, NAME/table.py, in a folder, and
# here, where they are not the usual ones, its kernels, its module, words for initramfs.sh,
# options of the table, and what has its rows.
cost = $(addprefix $(B)/bench/cost/,$(1))
shipped = $(patsubst %,$(B)/policies/%.hpo,$(1))
MKDATA := $(B)/bench/lib/mkdata
BOTH := 6.12 6.1

cache_BIN := $(call cost,cache/place) $(MKDATA)
cache_HPO := $(call shipped,fifo fifo2 mru sieve arc 2q s3-fifo w-tinylfu lirs lru) \
	$(call cost,cache/ear.hpo)
cache_KERNELS := $(BOTH)
auto-cost_BIN := $(cache_BIN)
auto-cost_HPO := $(cache_HPO)
auto-cost_ROWS := cache.league
context_BIN := $(call cost,context/frames context/scan)
context_HPO := $(call cost,context/with.hpo context/without.hpo)
crossing_BIN := $(call cost,crossing/crossing) $(BENCH)
crossing_HPO := $(call shipped,fifo2) $(call cost,crossing/fifo2-more.hpo)
fault_BIN := $(call cost,fault/fault) $(MKDATA)
fault_HPO := $(call shipped,fifo2 mru)
idle_BIN := $(call cost,idle/faults) $(MKDATA)
neighbour_BIN := $(call cost,neighbour/neighbour neighbour/beside) $(MKDATA)
neighbour_HPO := $(call shipped,fifo) $(call cost,neighbour/slowest.hpo) \
	$(addprefix $(B)/guest/policies/,endless-replace.hpo slow-for-others.hpo slow-rival.hpo)
neighbour_tables = $(call cost_table,neighbour,$(1),out-$(1)) \
	$(subst neighbour.table,neighbour.beside,$(call cost_table,neighbour,$(1),beside-$(1)))
scale_BIN := $(call cost,scale/scale) $(MKDATA)
scale_HPO := $(SHIPPED_HPO)
scale_KERNELS := $(BOTH)
serial_BIN := $(cache_BIN)
serial_HPO := $(cache_HPO)
serial_MODULE := serial
threads_BIN := $(call cost,threads/threads) $(MKDATA)
threads_HPO := $(SHIPPED_HPO)
threads_KERNELS := $(BOTH)
tree_BIN := $(call cost,scale/scale) $(B)/static/hipec
tree_HPO := $(SHIPPED_HPO)
tree_OPTIONS = --files $(TREE_FILES)
writers_BIN := $(call cost,writers/writers) $(MKDATA)
writers_HPO := $(SHIPPED_HPO)
writers_KERNELS := $(BOTH)
writers_WORDS := --stock xfs --stock btrfs --bin /usr/sbin/mkfs.xfs --bin /usr/sbin/mkfs.btrfs
writers_OPTIONS = --policy $(WRITERS_POLICY)

THREADS_POLICY ?= fifo
THREADS_CPUS ?= 2 8
TREE_FILES ?= 1000000
WRITERS_POLICY ?= lru

## bench-auto-cost: what a league of eight and a curve cost reads in place, in instructions
## bench-cache: reads, faults and opens in place beside the page cache's, in instructions
## bench-context: instructions of a fault's program context, as a table
## bench-crossing: a decision interpreted, and by a user process, in instructions, as a table
## bench-fault: instructions of a page fault, page cache against hipec, and of recovery, as a table
## bench-idle: faults on the page cache with the module idle and without it, in instructions
## bench-neighbour: the tail of a fault, and of calls, beside the worst of somebody else, in instructions
## bench-scale: what a budget, a file, a container and a process cost, where there are many
## bench-serial: what is done in place under locks that threads share, in instructions
## bench-threads: throughput of threads beside the page cache's (THREADS_CPUS="2 8")
## bench-tree: attach and detach of a tree with TREE_FILES=1000000 files, some ten minutes
## bench-writers: throughput of writers in place beside the page cache's, on each file system
GUEST_BENCHES := cache auto-cost context crossing fault idle neighbour scale serial threads tree writers

COST_BIN := $(sort $(filter $(B)/bench/cost/%,$(foreach name,$(GUEST_BENCHES),$($(name)_BIN))))
ALL += $(COST_BIN)

$(COST_BIN): $(B)/libhipec.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) $(COST_FLAG) -pthread -static $(LDFLAGS) $(filter %.c,$^) $< -o $@

$(filter-out $(context_BIN),$(COST_BIN)): $(B)/%: %.c
$(context_BIN): bench/cost/context/context.c
# Frame pointers in one, none in the other, whatever the flags.
$(B)/bench/cost/context/frames: COST_FLAG := -fno-omit-frame-pointer
$(B)/bench/cost/context/scan: COST_FLAG := -fomit-frame-pointer

# hipec.ko, which counts what it does under its locks.
$(B)/serial-%/stamp: $(B)/kernel-%.stamp $(KMOD_SRC) $(wildcard bench/cost/serial/serial.[ch]) \
		bench/cost/serial/Kbuild
	$(call kmod,$(@D),$*,,$(filter bench/%.c bench/%.h,$^),bench/cost/serial/Kbuild)
	@touch $@

# $(call cost_table,NAME,KERNEL,OUT,OPTIONS): print one; a failure keeps no other from it.
cost_table = bench/run.py cost.$(or $($(1)_ROWS),$(1).table) --kernel $(2) \
	--guest $(call cost,$(1)/guest-$(2).img) --out $(call cost,$(1)/$(3)) $(4) || status=1;

threads_tables = $(foreach cpus,$(THREADS_CPUS),\
	$(call cost_table,threads,$(1),out-$(1)-$(cpus),--cpus $(cpus) --policy $(THREADS_POLICY)) \
	$(call cost_table,threads,$(1),fifo2-$(1)-$(cpus),--cpus $(cpus) --policy fifo2 --what regions))

# In two steps, because the compiler itself may be one of the packages.
define guest_bench
$(call cost,$(1)/guest-%.img): $($(1)_BIN) $($(1)_HPO) $(B)/$(or $($(1)_MODULE),kmod)-%/stamp \
		$(BENCH_GUEST_NEEDS)
	$$(call bench_guest,$$*,$(B)/$(or $($(1)_MODULE),kmod)-$$*/hipec.ko,$($(1)_BIN),$($(1)_HPO),$($(1)_WORDS))

.PHONY: bench-$(1) bench-$(1)-run
bench-$(1): packages
	@$$(MAKE) --no-print-directory bench-$(1)-run

bench-$(1)-run: $(patsubst %,$(call cost,$(1)/guest-%.img),$(or $($(1)_KERNELS),$(DEMO_KERNEL)))
	@status=0; $$(foreach kernel,$(or $($(1)_KERNELS),$(DEMO_KERNEL)),\
		$$(or $$(call $(1)_tables,$$(kernel)),\
		$$(call cost_table,$(1),$$(kernel),out-$$(kernel),$($(1)_OPTIONS)))) exit $$$$status

endef
$(eval $(foreach name,$(GUEST_BENCHES),$(call guest_bench,$(name))))

.PHONY: bench-ampc
## bench-ampc: the compiler: how long it takes and how short its code is, as a table
bench-ampc: $(B)/ampc
	@bench/cost/ampc.py

.PHONY: bench-sim
## bench-sim: the simulator: accesses a second on the VM and in C, memory a page
bench-sim: $(B)/hipec $(B)/policies/lru.hpo $(B)/policies/fifo2.hpo
	@bench/cost/sim.py

.PHONY: bench-sim-native
## bench-sim-native: the simulator with policies interpreted and in native code
bench-sim-native: $(B)/hipec native-ready $(SHIPPED_HPO)
	@bench/cost/sim_native.py

.PHONY: bench-league
## bench-league: what each shipped policy, and the optimum, saves on seven traces
bench-league: $(B)/hipec $(SHIPPED_HPO)
	@bench/cost/league.py

.PHONY: bench-auto
## bench-auto: --policy auto beside each policy of its league, in the simulator
bench-auto: $(B)/hipec $(SHIPPED_HPO)
	@bench/cost/auto.py

# What revocation's contract is measured on: every policy that there is, and
# ill-advised ones of its own.
REVOKE_HPO := $(patsubst %,$(B)/bench/cost/revoke/%.hpo,$(notdir $(basename \
	$(wildcard bench/cost/revoke/*.hp docs/policy/tutorial/*.hp)))) \
	$(patsubst %,$(B)/guest/policies/%.hpo,$(notdir $(basename \
	$(wildcard test/guest/policies/*.hp test/guest/policies/*.hpt)))) \
	$(SHIPPED_HPO)

$(B)/bench/cost/revoke/%.hpo: docs/policy/tutorial/%.hp $(B)/ampc
	@mkdir -p $(@D)
	$(call show,HP)$(B)/ampc -o $@ $<

.PHONY: bench-revoke
## bench-revoke: which policies revocation's contract revokes, and when, as a table
bench-revoke: $(B)/hipec $(REVOKE_HPO)
	@bench/cost/revoke/table.py

.PHONY: bench-interval
## bench-interval: how often what a sample says of a policy is true, with its error
bench-interval: $(B)/hipec $(SHIPPED_HPO)
	@bench/cost/interval.py

.PHONY: bench-sweep
## bench-sweep: what the engine of hipec sweep costs beside the simulations (FULL=1: 1,000 traces; OWN=1: no Dask)
bench-sweep: $(B)/hipec $(SWEEP_PY:userlib/%=$(B)/%) packages-sweep $(SHIPPED_HPO)
	@HIPEC_PYTHON=$(SWEEP_PYTHON)/bin/python3 bench/cost/sweep.py --traces $(if $(FULL),1000,40) \
		$(if $(OWN),--own)

.PHONY: bench-sample
## bench-sample: how far hipec sim --sample is off, and what it says of that
bench-sample: $(B)/hipec $(SHIPPED_HPO)
	@bench/cost/sample.py

.PHONY: bench-curve
## bench-curve: what hipec sim --curve takes, in multiples of one run, and how far it is off
bench-curve: $(B)/hipec $(SHIPPED_HPO)
	@bench/cost/curve.py

.PHONY: bench-nearest
## bench-nearest: true and said savings of a search for nearest neighbours (PyPI: annoy)
bench-nearest: $(B)/hipec $(B)/libhipectrace.so $(SHIPPED_HPO)
	@bench/cost/nearest.py --python $(or $(ANNOY_PYTHON),$(PYTHON))

ALL_BENCHES += bench-context bench-sample bench-curve bench-sweep bench-cache bench-interval bench-ampc bench-vm bench-recover bench-revoke bench-sim bench-sim-native bench-league bench-auto
