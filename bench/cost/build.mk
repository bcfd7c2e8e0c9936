# SPDX-License-Identifier: GPL-2.0-only
# What the parts of hipec cost in time, and what policies cost in faults.

include $(addprefix bench/cost/,vm/build.mk recover/build.mk fault/build.mk \
	crossing/build.mk context/build.mk idle/build.mk neighbour/build.mk cache/build.mk \
	threads/build.mk writers/build.mk serial/build.mk scale/build.mk tree/build.mk)

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

$(B)/bench/cost/revoke/%.hpo: bench/cost/revoke/%.hp $(B)/ampc
	@mkdir -p $(@D)
	$(call show,HP)$(B)/ampc -o $@ $<

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

.PHONY: bench-nearest
## bench-nearest: true and said savings of a search for nearest neighbours (PyPI: annoy)
bench-nearest: $(B)/hipec $(B)/libhipectrace.so $(SHIPPED_HPO)
	@bench/cost/nearest.py --python $(or $(ANNOY_PYTHON),$(PYTHON))

ALL_BENCHES += bench-sample bench-sweep bench-cache bench-interval bench-ampc bench-vm bench-recover bench-revoke bench-sim bench-sim-native bench-league bench-auto
