# SPDX-License-Identifier: GPL-2.0-only
# What containers, files and processes cost where there are many.

BENCH_SCALE := $(B)/bench/cost/scale/scale

$(BENCH_SCALE): bench/cost/scale/scale.c $(B)/libhipec.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -static $(LDFLAGS) $(filter %.c %.a,$^) -o $@

ALL += $(BENCH_SCALE)

SCALE_GUESTS := $(patsubst %,$(B)/bench/cost/scale/guest-%.img,6.12 6.1)

$(SCALE_GUESTS): $(B)/bench/cost/scale/guest-%.img: bench/cost/scale/guest.sh \
		bench/lib/disk.sh $(BENCH_SCALE) $(B)/bench/lib/mkdata $(SHIPPED_HPO) \
		$(B)/kmod-%/stamp vm-images/init vm-images/initramfs.sh
	@rm -rf $(@D)/tree-$* && mkdir -p $(@D)/tree-$*/policies
	@cp bench/cost/scale/guest.sh bench/lib/disk.sh $(@D)/tree-$*
	@cp $(SHIPPED_HPO) $(@D)/tree-$*/policies
	$(call show,GUEST)vm-images/initramfs.sh --kernel $* --out $@ --module $(B)/kmod-$*/hipec.ko \
		--bin $(BENCH_SCALE) --bin $(B)/bench/lib/mkdata --tree $(@D)/tree-$*

.PHONY: bench-scale bench-scale-run
## bench-scale: what a budget, a file, a container and a process cost, where there are many
bench-scale: packages
	@$(MAKE) --no-print-directory bench-scale-run

bench-scale-run: $(SCALE_GUESTS)
	@status=0; for kernel in 6.12 6.1; do \
		bench/cost/scale/table.py --kernel $$kernel \
			--guest $(B)/bench/cost/scale/guest-$$kernel.img \
			--out $(B)/bench/cost/scale/out-$$kernel || status=1; \
	done; exit $$status
