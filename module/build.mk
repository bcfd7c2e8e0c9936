# SPDX-License-Identifier: GPL-2.0-only
# The VM core and the frame manager's algorithms for user space:
# build/libhipecvm.a, and the same under ASan and UBSan for the tests. The kernel
# builds the same files by module/Kbuild.

VM_SRC := $(wildcard module/vm/*.c)
CORE_SRC := $(VM_SRC) $(wildcard module/core/*.c) \
	$(addprefix module/context/,stack.c buildid.c)
# Linked statically the sanitizers start in two thirds of the time, and ring 1
# starts them thousands of times. clang does so by itself.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all \
	    $(if $(findstring clang,$(CC)),,-static-libasan -static-libubsan)

$(CORE_SRC:module/%.c=$(B)/%.o): $(B)/%.o: module/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) -ffreestanding -c $< -o $@

$(CORE_SRC:module/%.c=$(B)/asan/%.o): $(B)/asan/%.o: module/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(SANITIZE) -c $< -o $@

$(B)/libhipecvm.a: $(CORE_SRC:module/%.c=$(B)/%.o)
	@rm -f $@
	$(ARCHIVE) rcs $@ $^

$(B)/asan/libhipecvm.a: $(CORE_SRC:module/%.c=$(B)/asan/%.o)
	@rm -f $@
	$(ARCHIVE) rcs $@ $^

# The kernel modules, for each kernel in a directory of its own: a farm of links
# to the sources, so that kernels build side by side and module/ stays clean.
# $(B)/kernel-KEY.stamp is empty where this Debian has no such kernel: then
# nothing is built, and what needs it says SKIP.
KMOD_SRC := $(wildcard module/*.[ch] module/*/*.[chS] module/include/*/*.h) \
	    module/Kbuild

# $(call kmod,DIR,KEY,FLAGS,FILES,LINES): build what Kbuild says with FLAGS, in DIR, with more
# FILES; and what the file LINES adds to it.
define kmod
@rm -rf $(1) && mkdir -p $(1)
@cp -rs $(CURDIR)/module/. $(addprefix $(CURDIR)/,$(4)) $(1)
$(if $(5),@rm $(1)/Kbuild && cat module/Kbuild $(5) >$(1)/Kbuild)
+@if [ -s $(B)/kernel-$(2).stamp ]; then \
	$(if $(SILENT),,echo "  KMOD    $(notdir $(1))";) \
	$(MAKE) -s -C $(CACHE)/kernels/$(2)/build M=$(CURDIR)/$(1) \
		W=1 $(if $(filter 1,$(WERROR)),KCFLAGS=-Werror) $(3) modules; \
fi
endef

$(B)/kmod-%/stamp: $(B)/kernel-%.stamp $(KMOD_SRC)
	$(call kmod,$(@D),$*)
	@touch $@

$(B)/vmtest-%/stamp: $(B)/kernel-%.stamp $(KMOD_SRC)
	$(call kmod,$(@D),$*,HIPEC_TESTS=1)
	@touch $@

# All of them with the KUnit suites, for kernels of our own; they count which of
# their lines run (test/coverage.py). Without W=1, which does not like objects
# that are in several modules.
$(B)/kunit-%/stamp: $(B)/kernel-%.stamp $(KMOD_SRC)
	$(call kmod,$(@D),$*,HIPEC_KUNIT=1 GCOV_PROFILE=y W=)
	@touch $@

# Checked by sparse; the product is thrown away.
$(B)/sparse-%/stamp: $(B)/kernel-%.stamp $(KMOD_SRC)
	$(call kmod,$(@D),$*,C=2 CF=-Wsparse-error)
	@touch $@

.PHONY: module sparse
## module: hipec.ko for each stock kernel
module: $(KERNELS:%=$(B)/kmod-%/stamp)
	$(close) "made: $$(ls $(KERNELS:%=$(B)/kmod-%/hipec.ko) 2>/dev/null | xargs); next: make vm"

## sparse: check the module's sources with sparse, for each stock kernel
sparse: $(KERNELS:%=$(B)/sparse-%/stamp)
