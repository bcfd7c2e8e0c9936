# SPDX-License-Identifier: GPL-2.0-only
# What the module costs whom it does not serve.

BENCH_IDLE := $(B)/bench/cost/idle/faults
IDLE_GUEST := $(B)/idle-guest

$(BENCH_IDLE): bench/cost/idle/faults.c
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -static $(LDFLAGS) $< -o $@

ALL += $(BENCH_IDLE)

$(IDLE_GUEST).img: bench/cost/idle/guest.sh bench/lib/disk.sh $(BENCH_IDLE) $(B)/bench/lib/mkdata \
		$(B)/kmod-$(DEMO_KERNEL)/stamp vm-images/init vm-images/initramfs.sh
	@[ -s $(B)/kernel-$(DEMO_KERNEL).stamp ] || { \
		echo "idle: this Debian has no stock $(DEMO_KERNEL) kernel" >&2; \
		exit 1; }
	@rm -rf $(IDLE_GUEST) && mkdir -p $(IDLE_GUEST)
	@cp bench/cost/idle/guest.sh bench/lib/disk.sh $(IDLE_GUEST)
	$(call show,GUEST)vm-images/initramfs.sh --kernel $(DEMO_KERNEL) --out $@ \
		--module $(B)/kmod-$(DEMO_KERNEL)/hipec.ko \
		--bin $(BENCH_IDLE) --bin $(B)/bench/lib/mkdata --tree $(IDLE_GUEST)

.PHONY: bench-idle bench-idle-run
## bench-idle: faults on the page cache with the module idle and without it, in instructions
bench-idle: packages
	@$(MAKE) --no-print-directory bench-idle-run

bench-idle-run: $(IDLE_GUEST).img
	@bench/cost/idle/table.py --kernel $(DEMO_KERNEL) --guest $< --out $(B)/idle
