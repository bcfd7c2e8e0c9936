# SPDX-License-Identifier: GPL-2.0-only
# A program that searches a policy, asking hipec judge.

.PHONY: bench-search
## bench-search: a policy that genetic programming finds, beside the shipped ones, as a table
bench-search: $(B)/hipec $(SWEEP_PY:userlib/%=$(B)/%) packages-sweep $(SHIPPED_HPO)
	@$(SWEEP_PYTHON)/bin/python3 bench/search/evolve.py

ALL_BENCHES += bench-search
