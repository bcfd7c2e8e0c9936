# SPDX-License-Identifier: GPL-2.0-only
# What the frame manager's parts cost by themselves.

BENCH_RECOVER := $(B)/bench/cost/recover/recover

$(BENCH_RECOVER): bench/cost/recover/recover.c $(B)/libhipecvm.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) $(LDFLAGS) $^ -o $@

## bench-recover: the recovery table at 64, 1024 and its own number of buckets
.PHONY: bench-recover
bench-recover: $(BENCH_RECOVER)
	@$<
