# SPDX-License-Identifier: GPL-2.0-only
# How writers fare where a policy chooses in place.

BENCH_WRITERS := $(B)/bench/cost/writers/writers
WRITERS_POLICY ?= lru

$(BENCH_WRITERS): bench/cost/writers/writers.c $(B)/libhipec.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -pthread -static $(LDFLAGS) $(filter %.c %.a,$^) -o $@

ALL += $(BENCH_WRITERS)

WRITERS_GUESTS := $(patsubst %,$(B)/bench/cost/writers/guest-%.img,6.12 6.1)

$(WRITERS_GUESTS): $(B)/bench/cost/writers/guest-%.img: bench/cost/writers/guest.sh \
		bench/lib/disk.sh $(BENCH_WRITERS) $(B)/bench/lib/mkdata $(SHIPPED_HPO) \
		$(B)/kmod-%/stamp vm-images/init vm-images/initramfs.sh
	@rm -rf $(@D)/tree-$* && mkdir -p $(@D)/tree-$*/policies
	@cp bench/cost/writers/guest.sh bench/lib/disk.sh $(@D)/tree-$*
	@cp $(SHIPPED_HPO) $(@D)/tree-$*/policies
	$(call show,GUEST)vm-images/initramfs.sh --kernel $* --out $@ --module $(B)/kmod-$*/hipec.ko \
		--stock xfs --stock btrfs --bin /usr/sbin/mkfs.xfs --bin /usr/sbin/mkfs.btrfs \
		--bin $(BENCH_WRITERS) --bin $(B)/bench/lib/mkdata --tree $(@D)/tree-$*

.PHONY: bench-writers bench-writers-run
## bench-writers: throughput of writers in place beside the page cache's, on each file system
bench-writers: packages
	@$(MAKE) --no-print-directory bench-writers-run

bench-writers-run: $(WRITERS_GUESTS)
	@status=0; for kernel in 6.12 6.1; do \
		bench/cost/writers/table.py --kernel $$kernel --policy $(WRITERS_POLICY) \
			--guest $(B)/bench/cost/writers/guest-$$kernel.img \
			--out $(B)/bench/cost/writers/out-$$kernel || status=1; \
	done; exit $$status
