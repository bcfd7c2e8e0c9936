# SPDX-License-Identifier: GPL-2.0-only
# Benchmark programs, static: they run in the guest. And the demo, which runs
# them on the page cache and on hipec.

BENCH := $(addprefix $(B)/bench/,join sweep mkdata)

$(B)/bench/%.o: bench/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c $< -o $@

$(BENCH): $(B)/bench/%: $(B)/bench/%.o $(B)/bench/source.o $(B)/libhipec.a
	$(CC) $(ALL_CFLAGS) -static $(LDFLAGS) $^ -o $@

ALL += $(BENCH)

DEMO_KERNEL := 6.12
DEMO_HPO := $(addprefix $(B)/policies/,fifo.hpo fifo2.hpo mru.hpo)
DEMO_GUEST := $(B)/demo-guest

$(DEMO_GUEST).img: bench/demo-guest.sh $(BENCH) $(DEMO_HPO) \
		$(B)/kmod-$(DEMO_KERNEL)/stamp vm-images/init vm-images/initramfs.sh
	@[ -s $(B)/kernel-$(DEMO_KERNEL).stamp ] || { \
		echo "demo: this Debian has no stock $(DEMO_KERNEL) kernel" >&2; \
		exit 1; }
	@rm -rf $(DEMO_GUEST) && mkdir -p $(DEMO_GUEST)/policies
	@cp bench/demo-guest.sh $(DEMO_GUEST)
	@cp $(DEMO_HPO) $(DEMO_GUEST)/policies
	vm-images/initramfs.sh --kernel $(DEMO_KERNEL) --out $@ \
		--module $(B)/kmod-$(DEMO_KERNEL)/hipec.ko \
		$(BENCH:%=--bin %) --tree $(DEMO_GUEST)

# In two steps, because the compiler itself may be one of the packages.
## demo: a join and a sweep, page cache against hipec, as a table (FULL=1: the paper's 64 passes)
.PHONY: demo demo-run
demo: packages
	@$(MAKE) --no-print-directory demo-run

demo-run: $(DEMO_GUEST).img
	@bench/demo.py --kernel $(DEMO_KERNEL) --guest $< $(if $(FULL),\
		--full --out $(B)/demo-full,--out $(B)/demo)

.PHONY: bench-ampc
## bench-ampc: the compiler: how long it takes and how short its code is, as a table
bench-ampc: $(B)/ampc
	@bench/ampc.py

include bench/vm/build.mk
include bench/pool/build.mk

## bench-vm: the interpreter beside C and Lua: nanoseconds and instructions, as a table
.PHONY: bench-vm
bench-vm: packages
	@$(MAKE) --no-print-directory bench-vm-run
