# SPDX-License-Identifier: GPL-2.0-only
# What is done under locks that threads share.

$(B)/serial-%/stamp: $(B)/kernel-%.stamp $(KMOD_SRC) $(wildcard bench/cost/serial/serial.[ch]) \
		bench/cost/serial/Kbuild
	$(call kmod,$(@D),$*,,$(filter bench/%.c bench/%.h,$^),bench/cost/serial/Kbuild)
	@touch $@

$(B)/bench/cost/serial/guest-%.img: $(CACHE_GUEST_NEEDS) $(B)/serial-%/stamp
	$(call cache_guest,$(B)/serial-$*/hipec.ko)

.PHONY: bench-serial bench-serial-run
## bench-serial: what is done in place under locks that threads share, in instructions
bench-serial: packages
	@$(MAKE) --no-print-directory bench-serial-run

bench-serial-run: $(B)/bench/cost/serial/guest-6.12.img
	@bench/cost/serial/serial.py --kernel 6.12 --guest $< --out $(B)/bench/cost/serial/out
