# SPDX-License-Identifier: GPL-2.0-only
# What reads, faults and opens cost where a policy chooses in place.

BENCH_CACHE := $(B)/bench/cost/cache/place
BENCH_CACHE_HPO := $(patsubst %,$(B)/policies/%.hpo,fifo fifo2 mru sieve arc \
	2q s3-fifo w-tinylfu lirs lru) $(B)/bench/cost/cache/ear.hpo

$(BENCH_CACHE): bench/cost/cache/place.c $(B)/libhipec.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -static $(LDFLAGS) $(filter %.c %.a,$^) -o $@

ALL += $(BENCH_CACHE)

$(B)/bench/cost/cache/ear.hpo: bench/cost/cache/ear.hp $(B)/ampc
	@mkdir -p $(@D)
	$(call show,HP)$(B)/ampc -o $@ $<

# $(call cache_guest,MODULE): the guest of a kernel, with that module.
define cache_guest
@rm -rf $(@D)/tree-$* && mkdir -p $(@D)/tree-$*/policies
@cp bench/cost/cache/guest.sh bench/lib/disk.sh $(@D)/tree-$*
@cp $(BENCH_CACHE_HPO) $(@D)/tree-$*/policies
vm-images/initramfs.sh --kernel $* --out $@ --module $(1) \
	--bin $(BENCH_CACHE) --bin $(B)/bench/lib/mkdata --tree $(@D)/tree-$*
endef
CACHE_GUEST_NEEDS := bench/cost/cache/guest.sh bench/lib/disk.sh $(BENCH_CACHE) \
	$(B)/bench/lib/mkdata $(BENCH_CACHE_HPO) vm-images/init vm-images/initramfs.sh

CACHE_GUESTS := $(patsubst %,$(B)/bench/cost/cache/guest-%.img,6.12 6.1)

$(CACHE_GUESTS): $(B)/bench/cost/cache/guest-%.img: $(CACHE_GUEST_NEEDS) $(B)/kmod-%/stamp
	$(call cache_guest,$(B)/kmod-$*/hipec.ko)

.PHONY: bench-cache bench-cache-run
## bench-cache: reads, faults and opens in place beside the page cache's, in instructions
bench-cache: packages
	@$(MAKE) --no-print-directory bench-cache-run

bench-cache-run: $(CACHE_GUESTS)
	@status=0; for kernel in 6.12 6.1; do \
		bench/cost/cache/table.py --kernel $$kernel \
			--guest $(B)/bench/cost/cache/guest-$$kernel.img \
			--out $(B)/bench/cost/cache/out-$$kernel || status=1; \
	done; exit $$status

.PHONY: bench-auto-cost bench-auto-cost-run
## bench-auto-cost: what a league of eight and a curve cost reads in place, in instructions
bench-auto-cost: packages
	@$(MAKE) --no-print-directory bench-auto-cost-run

bench-auto-cost-run: $(B)/bench/cost/cache/guest-6.12.img
	@bench/cost/cache/league.py --kernel 6.12 --guest $< \
		--out $(B)/bench/cost/cache/out-league
