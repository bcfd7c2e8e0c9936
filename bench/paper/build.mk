# SPDX-License-Identifier: GPL-2.0-only
# hipec-1997: the demo, which runs programs on the page cache and on hipec, its
# figure 8 in the simulator, and its tables in guests.

DEMO_KERNEL := 6.12
DEMO_HPO := $(addprefix $(B)/policies/,fifo.hpo fifo2.hpo mru.hpo)
DEMO_GUEST := $(B)/demo-guest

$(DEMO_GUEST).img: bench/paper/demo-guest.sh bench/lib/disk.sh $(BENCH) $(DEMO_HPO) \
		$(B)/kmod-$(DEMO_KERNEL)/stamp vm-images/init vm-images/initramfs.sh
	@[ -s $(B)/kernel-$(DEMO_KERNEL).stamp ] || { \
		echo "demo: this Debian has no stock $(DEMO_KERNEL) kernel" >&2; \
		exit 1; }
	@rm -rf $(DEMO_GUEST) && mkdir -p $(DEMO_GUEST)/policies
	@cp bench/paper/demo-guest.sh bench/lib/disk.sh $(DEMO_GUEST)
	@cp $(DEMO_HPO) $(DEMO_GUEST)/policies
	$(call show,GUEST)vm-images/initramfs.sh --kernel $(DEMO_KERNEL) --out $@ \
		--module $(B)/kmod-$(DEMO_KERNEL)/hipec.ko \
		$(BENCH:%=--bin %) --tree $(DEMO_GUEST)

# In two steps, because the compiler itself may be one of the packages.
## demo: a join and a sweep, page cache against hipec, as a table (FULL=1: all disks, advice, regions)
.PHONY: demo demo-run
demo: packages-guest
	@$(MAKE) --no-print-directory demo-run

demo-run: $(DEMO_GUEST).img
	@bench/paper/demo.py --kernel $(DEMO_KERNEL) --guest $< $(if $(FULL),\
		--full --out $(B)/demo-full,--out $(B)/demo)

$(B)/bench/paper/figure8/%.hpo: bench/paper/figure8/%.hp $(B)/ampc
	@mkdir -p $(@D)
	$(call show,HP)$(B)/ampc -o $@ $<

.PHONY: bench-figure8
## bench-figure8: applications under FIFO2-MR and AWST in the simulator, as a table
bench-figure8: $(B)/hipec $(B)/bench/paper/figure8/mpfifo2-hint.hpo \
		$(B)/policies/mru.hpo $(B)/policies/fifo.hpo
	@bench/paper/figure8.py

include bench/paper/tables/build.mk

# Each bench adds its target's name, wherever it is made.
ALL_BENCHES += bench-figure8
