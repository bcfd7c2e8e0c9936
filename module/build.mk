# SPDX-License-Identifier: GPL-2.0-only
# The VM core for user space: build/libhipecvm.a, and the same under ASan and
# UBSan for the tests. The kernel builds the same files by module/Kbuild.

VM_SRC := $(wildcard module/vm/*.c)
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all

$(B)/vm/%.o: module/vm/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -ffreestanding -c $< -o $@

$(B)/asan/vm/%.o: module/vm/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(SANITIZE) -c $< -o $@

$(B)/libhipecvm.a: $(VM_SRC:module/vm/%.c=$(B)/vm/%.o)
	$(AR) rcs $@ $^

$(B)/asan/libhipecvm.a: $(VM_SRC:module/vm/%.c=$(B)/asan/vm/%.o)
	$(AR) rcs $@ $^

# The kernel module, for each kernel in a directory of its own: a farm of links
# to the sources, so that kernels build side by side and module/ stays clean.
# $(B)/kernel-KEY.stamp is empty where this Debian has no such kernel: then
# nothing is built, and what needs it says SKIP.
KMOD_SRC := $(wildcard module/*.[ch] module/*/*.[ch] module/include/*/*.h) \
	    module/Kbuild
KMOD_FLAGS := W=1 KCFLAGS=-Werror HIPEC_TESTS=1

$(B)/kmod-%/stamp: $(B)/kernel-%.stamp $(KMOD_SRC)
	@rm -rf $(@D) && mkdir -p $(@D)
	@cp -rs $(CURDIR)/module/. $(@D)
	@if [ -s $< ]; then \
		echo "  KMOD    $*"; \
		$(MAKE) -s -C $(CACHE)/kernels/$*/build M=$(CURDIR)/$(@D) \
			$(KMOD_FLAGS) modules; \
	fi
	@touch $@

## module: hipec.ko for each stock kernel
.PHONY: module
module: $(KERNELS:%=$(B)/kmod-%/stamp)

## sparse: check the module's sources with sparse, for each stock kernel
.PHONY: sparse
sparse: $(KERNELS:%=$(B)/kernel-%.stamp)
	@for k in $(KERNELS); do \
		[ -s $(B)/kernel-$$k.stamp ] || continue; \
		echo "  SPARSE  $$k"; \
		rm -rf $(B)/sparse-$$k; mkdir -p $(B)/sparse-$$k; \
		cp -rs $(CURDIR)/module/. $(B)/sparse-$$k; \
		$(MAKE) -s -C $(CACHE)/kernels/$$k/build \
			M=$(CURDIR)/$(B)/sparse-$$k $(KMOD_FLAGS) C=2 \
			CF=-Wsparse-error modules || exit 1; \
	done
