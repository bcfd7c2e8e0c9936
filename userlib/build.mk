# SPDX-License-Identifier: GPL-2.0-only
# libhipec, the hipec command, and hpt, which runs the VM core's test files.

# Cases from .hpt files; the portable half of module/tests runs them.
CASE_SRC := $(addprefix userlib/,hptfile.c hptcase.c hptexpect.c asm.c \
	mkimage.c) $(addprefix module/tests/,vmcase.c fakehost.c invariants.c)
HPT_SRC := $(addprefix userlib/,hpt.c hptcover.c hptrun.c) $(CASE_SRC)

$(B)/userlib/%.o: userlib/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c $< -o $@

$(B)/userlib/tests/%.o: module/tests/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c $< -o $@

$(B)/asan/userlib/%.o: userlib/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(SANITIZE) -c $< -o $@

$(B)/asan/userlib/tests/%.o: module/tests/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(SANITIZE) -c $< -o $@

# $(call userlib_obj,DIR,SOURCES): their objects under DIR.
userlib_obj = $(patsubst userlib/%.c,$(1)/userlib/%.o,$(patsubst \
	module/tests/%.c,$(1)/userlib/tests/%.o,$(2)))

$(B)/hpt: $(call userlib_obj,$(B),$(HPT_SRC)) $(B)/libhipecvm.a
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ -o $@

$(B)/asan/hpt: $(call userlib_obj,$(B)/asan,$(HPT_SRC)) $(B)/asan/libhipecvm.a
	$(CC) $(ALL_CFLAGS) $(SANITIZE) $(LDFLAGS) $^ -o $@

$(B)/static/hpt: $(call userlib_obj,$(B),$(HPT_SRC)) $(B)/libhipecvm.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -static $(LDFLAGS) $^ -o $@

# For the tests only, so not in ALL.
$(B)/asan/imgtorture: $(call userlib_obj,$(B)/asan,userlib/imgtorture.c \
		$(CASE_SRC)) $(B)/asan/libhipecvm.a
	$(CC) $(ALL_CFLAGS) $(SANITIZE) $(LDFLAGS) $^ -o $@

ALL += $(B)/hpt

$(B)/userlib/pic/%.o: userlib/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fPIC -c $< -o $@

$(B)/libhipec.a: $(B)/userlib/libhipec.o
	$(AR) rcs $@ $^

$(B)/libhipec.so: $(B)/userlib/pic/libhipec.o
	$(CC) $(ALL_CFLAGS) -shared -Wl,-soname,libhipec.so.0 $(LDFLAGS) $^ -o $@
	ln -sf libhipec.so $(B)/libhipec.so.0

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib

$(B)/hipec.pc: userlib/hipec.pc.in Makefile
	@mkdir -p $(@D)
	sed -e 's|@prefix@|$(PREFIX)|' -e 's|@libdir@|$(LIBDIR)|' \
		-e 's|@version@|$(VERSION)|' $< >$@

ALL += $(B)/libhipec.a $(B)/libhipec.so $(B)/hipec.pc

# Needs libjson-c-dev, which has the static library too.
CLI_SRC := $(addprefix userlib/,cli.c cli_dis.c cli_sim.c cli_status.c headtext.c \
	sim.c simcontract.c simpolicy.c simref.c simtrace.c)
CLI_OBJ := $(call userlib_obj,$(B),$(CLI_SRC)) $(B)/libhipec.a $(B)/libhipecvm.a

$(B)/hipec: $(CLI_OBJ)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ -ljson-c -o $@

# For the tests only, so not in ALL.
$(B)/asan/hipec: $(call userlib_obj,$(B)/asan,$(CLI_SRC) userlib/libhipec.c) \
		$(B)/asan/libhipecvm.a
	$(CC) $(ALL_CFLAGS) $(SANITIZE) $(LDFLAGS) $^ -ljson-c -o $@

# For a guest or an initramfs, which have no libraries.
$(B)/static/hipec: $(CLI_OBJ)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -static $(LDFLAGS) $^ -ljson-c -o $@

ALL += $(B)/hipec
