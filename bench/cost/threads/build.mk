# SPDX-License-Identifier: GPL-2.0-only
# How threads fare where a policy chooses.

BENCH_THREADS := $(B)/bench/cost/threads/threads
THREADS_POLICY ?= fifo
THREADS_CPUS ?= 2 8

$(BENCH_THREADS): bench/cost/threads/threads.c $(B)/libhipec.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -pthread -static $(LDFLAGS) $(filter %.c %.a,$^) -o $@

ALL += $(BENCH_THREADS)

THREADS_GUESTS := $(patsubst %,$(B)/bench/cost/threads/guest-%.img,6.12 6.1)

$(THREADS_GUESTS): $(B)/bench/cost/threads/guest-%.img: bench/cost/threads/guest.sh \
		bench/lib/disk.sh $(BENCH_THREADS) $(B)/bench/lib/mkdata $(SHIPPED_HPO) \
		$(B)/kmod-%/stamp vm-images/init vm-images/initramfs.sh
	@rm -rf $(@D)/tree-$* && mkdir -p $(@D)/tree-$*/policies
	@cp bench/cost/threads/guest.sh bench/lib/disk.sh $(@D)/tree-$*
	@cp $(SHIPPED_HPO) $(@D)/tree-$*/policies
	$(call show,GUEST)vm-images/initramfs.sh --kernel $* --out $@ --module $(B)/kmod-$*/hipec.ko \
		--bin $(BENCH_THREADS) --bin $(B)/bench/lib/mkdata --tree $(@D)/tree-$*

.PHONY: bench-threads bench-threads-run
## bench-threads: throughput of threads beside the page cache's (THREADS_CPUS="2 8")
bench-threads: packages
	@$(MAKE) --no-print-directory bench-threads-run

bench-threads-run: $(THREADS_GUESTS)
	@status=0; for kernel in 6.12 6.1; do for cpus in $(THREADS_CPUS); do \
		bench/cost/threads/table.py --kernel $$kernel --cpus $$cpus \
			--guest $(B)/bench/cost/threads/guest-$$kernel.img \
			--policy $(THREADS_POLICY) \
			--out $(B)/bench/cost/threads/out-$$kernel-$$cpus || status=1; \
		bench/cost/threads/table.py --kernel $$kernel --cpus $$cpus \
			--guest $(B)/bench/cost/threads/guest-$$kernel.img \
			--policy fifo2 --what regions \
			--out $(B)/bench/cost/threads/fifo2-$$kernel-$$cpus || status=1; \
	done; done; exit $$status
