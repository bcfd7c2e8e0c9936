# SPDX-License-Identifier: GPL-2.0-only
# What hipec run costs a program that never runs out of frames.

BENCH_RUN_GUEST := $(B)/bench/cost/run/guest

$(BENCH_RUN_GUEST).img: bench/cost/run/guest.sh $(B)/static/hipec $(B)/libhipecrun.so \
		$(B)/policies/fifo2.hpo $(B)/kmod-$(DEMO_KERNEL)/stamp vm-images/init \
		vm-images/initramfs.sh
	@[ -s $(B)/kernel-$(DEMO_KERNEL).stamp ] || { \
		echo "bench-run: this Debian has no stock $(DEMO_KERNEL) kernel" >&2; \
		exit 1; }
	@rm -rf $(BENCH_RUN_GUEST) && mkdir -p $(BENCH_RUN_GUEST)
	@cp bench/cost/run/guest.sh $(BENCH_RUN_GUEST)
	vm-images/initramfs.sh --kernel $(DEMO_KERNEL) --out $@ \
		--module $(B)/kmod-$(DEMO_KERNEL)/hipec.ko --bin $(B)/static/hipec \
		--bin $(B)/libhipecrun.so --bin $$(command -v sqlite3) \
		--tree $(BENCH_RUN_GUEST)

.PHONY: bench-run bench-run-run
## bench-run: what hipec run costs where nothing can be saved, in instructions
bench-run: packages
	@$(MAKE) --no-print-directory bench-run-run

bench-run-run: $(BENCH_RUN_GUEST).img
	@bench/cost/run/table.py --kernel $(DEMO_KERNEL) --guest $< --out $(B)/bench/cost/run/out

ALL_BENCHES += bench-run
