# SPDX-License-Identifier: GPL-2.0-only
# What the interpreter costs, beside C and Lua. Needs liblua5.4-dev, and
# valgrind to count instructions.

BENCH_VM := $(B)/bench/cost/vm/bench-vm
BENCH_VM_SRC := $(addprefix bench/cost/vm/,drive.c lua.c main.c mix.c) \
	userlib/image/asm.c userlib/image/mkimage.c

# What the module contains is compiled as the stock kernels compile it, and so
# are C's policies and the host: without jump tables and strict aliasing, with a
# no-op for the tracer at each entry. Thunks are left out, a kernel that needs
# none removes them when it loads a module. BENCH_VM_CFLAGS= is user space.
BENCH_VM_CFLAGS := -fno-jump-tables -fno-strict-aliasing -fno-PIE -mno-sse \
	-mno-red-zone -mtune=generic -falign-functions=16 -falign-jumps=1 \
	-falign-loops=1 -fno-strict-overflow -fno-delete-null-pointer-checks \
	-fno-allow-store-data-races -ftrivial-auto-var-init=zero \
	-fconserve-stack -fstack-protector-strong -fcf-protection=branch \
	-mindirect-branch-register -pg -mfentry -mnop-mcount
BENCH_VM_CORE := $(VM_SRC) $(addprefix bench/cost/vm/,hipec.c host.c native.c)

$(B)/bench/cost/vm/core/%.o: %.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(BENCH_VM_CFLAGS) -ffreestanding -c $< -o $@

$(B)/bench/cost/vm/%.o: %.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) -fno-PIE -c $< -o $@

# The VM core first: where its code comes to lie costs or saves a tenth, and so
# it does not depend on what is measured beside it. Bound at start-up, so that no
# call that is counted finds the linker at work.
$(BENCH_VM): $(BENCH_VM_CORE:%.c=$(B)/bench/cost/vm/core/%.o) \
		$(BENCH_VM_SRC:%.c=$(B)/bench/cost/vm/%.o)
	$(LINK) $(ALL_CFLAGS) -no-pie $(LDFLAGS) -Wl,-z,now $^ -llua5.4 -o $@

# In two steps, because the compiler itself may be one of the packages.
.PHONY: bench-vm bench-vm-run
## bench-vm: the interpreter beside C and Lua: nanoseconds and instructions, as a table
bench-vm: packages
	@$(MAKE) --no-print-directory bench-vm-run

bench-vm-run: $(BENCH_VM) $(DEMO_HPO)
	@bench/cost/vm/table.py --program $(BENCH_VM) --policies $(B)/policies
