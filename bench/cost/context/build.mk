# SPDX-License-Identifier: GPL-2.0-only
# What the program context of a fault costs, in instructions of the guest.

BENCH_CONTEXT := $(addprefix $(B)/bench/cost/context/,frames scan)
BENCH_CONTEXT_GUEST := $(B)/bench/cost/context/guest
BENCH_CONTEXT_HPO := $(addprefix $(B)/bench/cost/context/,with.hpo without.hpo)

$(B)/bench/cost/context/frames: CONTEXT_FLAG := -fno-omit-frame-pointer
$(B)/bench/cost/context/scan: CONTEXT_FLAG := -fomit-frame-pointer

$(BENCH_CONTEXT): $(B)/bench/cost/context/%: bench/cost/context/context.c $(B)/libhipec.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) $(CONTEXT_FLAG) -static $(LDFLAGS) $^ -o $@

$(B)/bench/cost/context/%.hpo: bench/cost/context/%.hp $(B)/ampc
	@mkdir -p $(@D)
	$(call show,HP)$(B)/ampc -o $@ $<

$(BENCH_CONTEXT_GUEST).img: bench/cost/context/guest.sh bench/lib/disk.sh $(BENCH_CONTEXT) \
		$(BENCH_CONTEXT_HPO) $(B)/kmod-$(DEMO_KERNEL)/stamp vm-images/init \
		vm-images/initramfs.sh
	@[ -s $(B)/kernel-$(DEMO_KERNEL).stamp ] || { \
		echo "bench-context: this Debian has no stock $(DEMO_KERNEL) kernel" >&2; \
		exit 1; }
	@rm -rf $(BENCH_CONTEXT_GUEST) && mkdir -p $(BENCH_CONTEXT_GUEST)/policies
	@cp bench/cost/context/guest.sh bench/lib/disk.sh $(BENCH_CONTEXT_GUEST)
	@cp $(BENCH_CONTEXT_HPO) $(BENCH_CONTEXT_GUEST)/policies
	$(call show,GUEST)vm-images/initramfs.sh --kernel $(DEMO_KERNEL) --out $@ \
		--module $(B)/kmod-$(DEMO_KERNEL)/hipec.ko \
		$(BENCH_CONTEXT:%=--bin %) --tree $(BENCH_CONTEXT_GUEST)

.PHONY: bench-context bench-context-run
## bench-context: instructions of a fault's program context, as a table
bench-context: packages
	@$(MAKE) --no-print-directory bench-context-run

bench-context-run: $(BENCH_CONTEXT_GUEST).img
	@bench/cost/context/table.py --kernel $(DEMO_KERNEL) --guest $< --out $(B)/bench/cost/context/out

ALL_BENCHES += bench-context
