# SPDX-License-Identifier: GPL-2.0-only
# What policies cost interpreted and in native code, in instructions of the guest.

BENCH_JIT_GUEST := $(B)/bench/cost/jit/guest
BENCH_JIT_HPO := $(patsubst policies/%.hp,$(B)/policies/%.hpo,$(wildcard policies/*.hp))

$(BENCH_JIT_GUEST).img: bench/cost/fault/guest.sh bench/lib/disk.sh $(BENCH_FAULT) \
		$(B)/bench/lib/mkdata $(BENCH_JIT_HPO) $(B)/kmod-$(DEMO_KERNEL)/stamp \
		vm-images/init vm-images/initramfs.sh
	@[ -s $(B)/kernel-$(DEMO_KERNEL).stamp ] || { \
		echo "bench-jit: this Debian has no stock $(DEMO_KERNEL) kernel" >&2; \
		exit 1; }
	@rm -rf $(BENCH_JIT_GUEST) && mkdir -p $(BENCH_JIT_GUEST)/policies
	@cp bench/cost/fault/guest.sh bench/lib/disk.sh $(BENCH_JIT_GUEST)
	@cp $(BENCH_JIT_HPO) $(BENCH_JIT_GUEST)/policies
	vm-images/initramfs.sh --kernel $(DEMO_KERNEL) --out $@ \
		--module $(B)/kmod-$(DEMO_KERNEL)/hipec.ko \
		--bin $(BENCH_FAULT) --bin $(B)/bench/lib/mkdata --tree $(BENCH_JIT_GUEST)

.PHONY: bench-jit bench-jit-run
## bench-jit: instructions of a page fault under each policy, interpreted and in native code
bench-jit: packages
	@$(MAKE) --no-print-directory bench-jit-run

bench-jit-run: $(BENCH_JIT_GUEST).img
	@bench/cost/jit/table.py --kernel $(DEMO_KERNEL) --guest $< --out $(B)/bench/cost/jit/out
