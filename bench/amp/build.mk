# SPDX-License-Identifier: GPL-2.0-only
# The AMP report: its detectors, its traces, and what AMP gains and loses on them.

$(B)/bench-detector: $(B)/bench/amp/detector.o $(call userlib_obj,$(B),$(call room,amp))
	$(LINK) $(ALL_CFLAGS) $(LDFLAGS) $^ -lm -o $@

.PHONY: bench-detector
## bench-detector: AMP's detector: nanoseconds an access, and its memory, as a table
bench-detector: $(B)/bench-detector
	@$(B)/bench-detector

.PHONY: bench-table1
## bench-table1: Table 1 of the AMP paper: what three detectors say of seven streams
bench-table1: $(B)/hipec
	@bench/amp/table1.py

.PHONY: bench-amp-traces
## bench-amp-traces: traces of cscope, PostgreSQL and others, into the cache: the AMP report's Table 2
bench-amp-traces: $(B)/hipec $(B)/libhipectrace.so
	@bench/amp/traces.py

.PHONY: bench-amp
## bench-amp: the AMP report's simulation study: what AMP gains and loses beside ARC on these traces
bench-amp: $(B)/hipec $(B)/libhipectrace.so $(SHIPPED_HPO)
	@bench/amp/study.py $(if $(QUICK),--quick)

.PHONY: bench-amp-mixes
## bench-amp-mixes: what AMP loses at worst, on sixty random mixes of access patterns
bench-amp-mixes: $(B)/hipec $(SHIPPED_HPO)
	@bench/amp/mixes.py

ALL_BENCHES += bench-detector bench-table1 bench-amp bench-amp-mixes
