# SPDX-License-Identifier: GPL-2.0-only
# What somebody else's policy costs a fault in a full pool.

BENCH_NEIGHBOUR := $(B)/bench/cost/neighbour/neighbour
NEIGHBOUR_GUEST := $(B)/bench/cost/neighbour/guest
NEIGHBOUR_HPO := $(addprefix $(B)/,policies/fifo.hpo guest/policies/endless-replace.hpo \
	guest/policies/slow-for-others.hpo)

$(BENCH_NEIGHBOUR): bench/cost/neighbour/neighbour.c $(B)/libhipec.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -static $(LDFLAGS) $^ -o $@

ALL += $(BENCH_NEIGHBOUR)

$(NEIGHBOUR_GUEST).img: bench/cost/neighbour/guest.sh bench/lib/disk.sh $(BENCH_NEIGHBOUR) \
		$(B)/bench/lib/mkdata $(NEIGHBOUR_HPO) $(B)/kmod-$(DEMO_KERNEL)/stamp \
		vm-images/init vm-images/initramfs.sh
	@[ -s $(B)/kernel-$(DEMO_KERNEL).stamp ] || { \
		echo "neighbour: this Debian has no stock $(DEMO_KERNEL) kernel" >&2; \
		exit 1; }
	@rm -rf $(NEIGHBOUR_GUEST) && mkdir -p $(NEIGHBOUR_GUEST)/policies
	@cp bench/cost/neighbour/guest.sh bench/lib/disk.sh $(NEIGHBOUR_GUEST)
	@cp $(NEIGHBOUR_HPO) $(NEIGHBOUR_GUEST)/policies
	$(call show,GUEST)vm-images/initramfs.sh --kernel $(DEMO_KERNEL) --out $@ \
		--module $(B)/kmod-$(DEMO_KERNEL)/hipec.ko \
		--bin $(BENCH_NEIGHBOUR) --bin $(B)/bench/lib/mkdata --tree $(NEIGHBOUR_GUEST)

.PHONY: bench-neighbour bench-neighbour-run
## bench-neighbour: the tail of a fault beside the worst policy of somebody else, in instructions
bench-neighbour: packages
	@$(MAKE) --no-print-directory bench-neighbour-run

bench-neighbour-run: $(NEIGHBOUR_GUEST).img
	@bench/cost/neighbour/table.py --kernel $(DEMO_KERNEL) --guest $< \
		--out $(B)/bench/cost/neighbour/out
