# SPDX-License-Identifier: GPL-2.0-only
# What one page fault costs, in instructions of the guest: Table II.

BENCH_FAULT := $(B)/bench/cost/fault/fault
BENCH_FAULT_GUEST := $(B)/bench/cost/fault/guest
BENCH_FAULT_HPO := $(addprefix $(B)/policies/,fifo2.hpo mru.hpo)

$(BENCH_FAULT): bench/cost/fault/fault.c $(B)/libhipec.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -static $(LDFLAGS) $^ -o $@

$(BENCH_FAULT_GUEST).img: bench/cost/fault/guest.sh bench/lib/disk.sh $(BENCH_FAULT) $(B)/bench/lib/mkdata \
		$(BENCH_FAULT_HPO) $(B)/kmod-$(DEMO_KERNEL)/stamp vm-images/init \
		vm-images/initramfs.sh
	@[ -s $(B)/kernel-$(DEMO_KERNEL).stamp ] || { \
		echo "bench-fault: this Debian has no stock $(DEMO_KERNEL) kernel" >&2; \
		exit 1; }
	@rm -rf $(BENCH_FAULT_GUEST) && mkdir -p $(BENCH_FAULT_GUEST)/policies
	@cp bench/cost/fault/guest.sh bench/lib/disk.sh $(BENCH_FAULT_GUEST)
	@cp $(BENCH_FAULT_HPO) $(BENCH_FAULT_GUEST)/policies
	$(call show,GUEST)vm-images/initramfs.sh --kernel $(DEMO_KERNEL) --out $@ \
		--module $(B)/kmod-$(DEMO_KERNEL)/hipec.ko \
		--bin $(BENCH_FAULT) --bin $(B)/bench/lib/mkdata --tree $(BENCH_FAULT_GUEST)

.PHONY: bench-fault bench-fault-run
## bench-fault: instructions of a page fault, page cache against hipec, and of recovery, as a table
bench-fault: packages
	@$(MAKE) --no-print-directory bench-fault-run

bench-fault-run: $(BENCH_FAULT_GUEST).img
	@bench/cost/fault/table.py --kernel $(DEMO_KERNEL) --guest $< --out $(B)/bench/cost/fault/out
