# SPDX-License-Identifier: GPL-2.0-only
# What a directory tree with very many files costs.

BENCH_TREE := $(B)/bench/cost/tree

$(BENCH_TREE)/guest.img: bench/cost/tree/guest.sh bench/lib/disk.sh $(BENCH_SCALE) \
		$(B)/static/hipec $(SHIPPED_HPO) $(B)/kmod-6.12/stamp vm-images/init \
		vm-images/initramfs.sh
	@rm -rf $(@D)/tree && mkdir -p $(@D)/tree/policies
	@cp bench/cost/tree/guest.sh bench/lib/disk.sh $(@D)/tree
	@cp $(SHIPPED_HPO) $(@D)/tree/policies
	$(call show,GUEST)vm-images/initramfs.sh --kernel 6.12 --out $@ --module $(B)/kmod-6.12/hipec.ko \
		--bin $(BENCH_SCALE) --bin $(B)/static/hipec --tree $(@D)/tree

TREE_FILES ?= 1000000

.PHONY: bench-tree bench-tree-run
## bench-tree: attach and detach of a tree with TREE_FILES=1000000 files, some ten minutes
bench-tree: packages
	@$(MAKE) --no-print-directory bench-tree-run

bench-tree-run: $(BENCH_TREE)/guest.img
	@bench/cost/tree/table.py --kernel 6.12 --guest $(BENCH_TREE)/guest.img \
		--files $(TREE_FILES) --out $(BENCH_TREE)/out
