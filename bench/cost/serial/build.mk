# SPDX-License-Identifier: GPL-2.0-only
# What is done under locks that threads share.

$(B)/serial-%/stamp: $(B)/kernel-%.stamp $(KMOD_SRC) $(wildcard bench/cost/serial/serial.*)
	$(call kmod,$(@D),$*,HIPEC_SERIAL=1,$(filter bench/%,$^))
	@touch $@

$(B)/bench/cost/serial/guest-%.img: bench/cost/cache/guest.sh bench/lib/disk.sh \
		$(BENCH_CACHE) $(B)/bench/lib/mkdata $(BENCH_CACHE_HPO) $(B)/serial-%/stamp \
		vm-images/init vm-images/initramfs.sh
	@rm -rf $(@D)/tree-$* && mkdir -p $(@D)/tree-$*/policies
	@cp bench/cost/cache/guest.sh bench/lib/disk.sh $(@D)/tree-$*
	@cp $(BENCH_CACHE_HPO) $(@D)/tree-$*/policies
	vm-images/initramfs.sh --kernel $* --out $@ --module $(B)/serial-$*/hipec.ko \
		--bin $(BENCH_CACHE) --bin $(B)/bench/lib/mkdata --tree $(@D)/tree-$*

.PHONY: bench-serial bench-serial-run
## bench-serial: what is done in place under locks that threads share, in instructions
bench-serial: packages
	@$(MAKE) --no-print-directory bench-serial-run

bench-serial-run: $(B)/bench/cost/serial/guest-6.12.img
	@bench/cost/serial/serial.py --kernel 6.12 --guest $< --out $(B)/bench/cost/serial/out
