# SPDX-License-Identifier: GPL-2.0-only
# Who decides which page goes, and what asking costs.

BENCH_CROSSING := $(B)/bench/cost/crossing/crossing
CROSSING_GUEST := $(B)/crossing-guest
CROSSING_HPO := $(B)/policies/fifo2.hpo $(B)/bench/cost/crossing/fifo2-more.hpo

$(BENCH_CROSSING): bench/cost/crossing/crossing.c
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -static $(LDFLAGS) $< -pthread -o $@

ALL += $(BENCH_CROSSING)

$(B)/bench/cost/crossing/fifo2-more.hpo: bench/cost/crossing/fifo2-more.hp $(B)/ampc
	@mkdir -p $(@D)
	$(call show,HP)$(B)/ampc -o $@ $<

$(CROSSING_GUEST).img: bench/cost/crossing/guest.sh bench/lib/disk.sh $(BENCH) $(BENCH_CROSSING) \
		$(CROSSING_HPO) $(B)/kmod-$(DEMO_KERNEL)/stamp vm-images/init \
		vm-images/initramfs.sh
	@[ -s $(B)/kernel-$(DEMO_KERNEL).stamp ] || { \
		echo "crossing: this Debian has no stock $(DEMO_KERNEL) kernel" >&2; \
		exit 1; }
	@rm -rf $(CROSSING_GUEST) && mkdir -p $(CROSSING_GUEST)/policies
	@cp bench/cost/crossing/guest.sh bench/lib/disk.sh $(CROSSING_GUEST)
	@cp $(CROSSING_HPO) $(CROSSING_GUEST)/policies
	$(call show,GUEST)vm-images/initramfs.sh --kernel $(DEMO_KERNEL) --out $@ \
		--module $(B)/kmod-$(DEMO_KERNEL)/hipec.ko \
		$(BENCH:%=--bin %) --bin $(BENCH_CROSSING) --tree $(CROSSING_GUEST)

.PHONY: bench-crossing bench-crossing-run
## bench-crossing: a decision interpreted, and by a user process, in instructions, as a table
bench-crossing: packages
	@$(MAKE) --no-print-directory bench-crossing-run

bench-crossing-run: $(CROSSING_GUEST).img
	@bench/cost/crossing/table.py --kernel $(DEMO_KERNEL) --guest $< --out $(B)/crossing
