# SPDX-License-Identifier: GPL-2.0-only
# hpt, which runs the VM core's test files, and imgtorture, which damages images.

# Cases from .hpt files; the portable half of module/tests runs them.
CASE_SRC := $(addprefix test/vm/runner/,file.c case.c expect.c) \
	$(addprefix userlib/image/,asm.c mkimage.c) \
	$(addprefix module/tests/,vmcase.c fakehost.c invariants.c)
# Policies in C.
INC_SRC := test/vm/runner/inc.c userlib/native/native.c userlib/image/emitc.c \
	$(call room,program)
HPT_SRC := $(addprefix test/vm/runner/,hpt.c cover.c run.c) $(CASE_SRC) $(INC_SRC)

$(B)/test/vm/runner/%.o: test/vm/runner/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) -c $< -o $@

$(B)/module/tests/%.o: module/tests/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) -c $< -o $@

$(B)/asan/module/tests/%.o: module/tests/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(SANITIZE) -c $< -o $@

$(B)/hpt: $(call userlib_obj,$(B),$(HPT_SRC)) $(B)/libhipecvm.a
	$(LINK) $(ALL_CFLAGS) $(LDFLAGS) $^ -o $@

$(B)/asan/hpt: $(call userlib_obj,$(B)/asan,$(HPT_SRC)) $(B)/asan/libhipecvm.a
	$(LINK) $(ALL_CFLAGS) $(SANITIZE) $(LDFLAGS) $^ -o $@

$(B)/static/hpt: $(call userlib_obj,$(B),$(HPT_SRC)) $(B)/libhipecvm.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -static $(LDFLAGS) $^ -o $@

# For the tests only, so not in ALL.
$(B)/asan/imgtorture: $(call userlib_obj,$(B)/asan,test/vm/runner/imgtorture.c \
		$(CASE_SRC)) $(B)/asan/libhipecvm.a
	$(LINK) $(ALL_CFLAGS) $(SANITIZE) $(LDFLAGS) $^ -o $@

ALL += $(B)/hpt
