# SPDX-License-Identifier: GPL-2.0-only
# libhipec, the hipec command, and the library that it has loaded into programs.
# README.md says what each folder has; a new file in one needs no line here.

# $(call room,FOLDERS): their sources. $(call userlib_obj,DIR,SOURCES): objects under
# DIR, where each source is.
room = $(wildcard $(addsuffix /*.c,$(addprefix userlib/,$(1))))
userlib_obj = $(2:%.c=$(1)/%.o)

$(B)/userlib/%.o: userlib/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) -c $< -o $@

$(B)/asan/userlib/%.o: userlib/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(SANITIZE) -c $< -o $@

$(B)/pic/userlib/%.o: userlib/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) -fPIC -c $< -o $@

# Its number changes when programs that are linked with it would not work any more.
SONAME := libhipec.so.0

$(B)/libhipec.a: $(call userlib_obj,$(B),$(call room,lib))
	@rm -f $@
	$(ARCHIVE) rcs $@ $^

$(B)/libhipec.so: $(call userlib_obj,$(B)/pic,$(call room,lib)) userlib/lib/libhipec.map
	$(LINK) $(ALL_CFLAGS) -shared -Wl,-soname,$(SONAME) \
		-Wl,--version-script=userlib/lib/libhipec.map -Wl,--no-undefined-version \
		$(LDFLAGS) $(filter %.o,$^) -o $@
	@ln -sf libhipec.so $(B)/$(SONAME)

ALL += $(B)/libhipec.a $(B)/libhipec.so

# Traces, some of which are records; and what simulates them, beside a detector.
TRACE_SRC := $(call room,trace) userlib/record/record.c
SIM_SRC := $(call room,sim amp option policy program say) userlib/image/asm.c
TRACE_LIBS := -lzstd -lm
# SHA-256, which names the source that an image was compiled from.
HASH_LIBS := -lmd
PLAY_LIBS := -lblkid -lm

# The interpreter once more, telling sim/watch.c of each command.
WATCHED := -ffreestanding -DHIPEC_VM_STEP -Dhipec_vm_run=hipec_vm_run_watched

$(B)/userlib/sim/run_watched.o: module/vm/run.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(WATCHED) -c $< -o $@

$(B)/asan/userlib/sim/run_watched.o: module/vm/run.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(SANITIZE) $(WATCHED) -c $< -o $@

# What hipec profile makes pages and texts with, beside the command.
PROFILE_PY := $(wildcard userlib/profile/*.py)

$(B)/profile/%.py: userlib/profile/%.py
	@install -D $< $@

$(B)/asan/profile/%.py: userlib/profile/%.py
	@install -D $< $@

ALL += $(PROFILE_PY:userlib/%=$(B)/%)

# The live page of hipec top --serve, likewise.
SERVE := $(wildcard userlib/serve/*)

$(B)/serve/%: userlib/serve/%
	@install -D $< $@

ALL += $(SERVE:userlib/%=$(B)/%)

# What hipec sim --native compiles policies with, beside the command: the VM core.
NATIVE_H := $(wildcard module/vm/*.h) module/vm/order.c module/vm/ops_page.c module/vm/ops_more.c \
	$(wildcard module/include/uapi/*.h) userlib/native/policy.h

# $(call native_to,FILES): their places below native/, where each finds the others.
native_to = $(patsubst userlib/native/%,native/%,$(patsubst module/%,native/%,$(1)))

$(B)/native/policy.h: userlib/native/policy.h
	@install -D -m 644 $< $@

$(B)/native/%: module/%
	@install -D -m 644 $< $@

$(B)/asan/native: $(addprefix $(B)/,$(call native_to,$(NATIVE_H)))
	@ln -sfn ../native $@

.PHONY: native-ready
native-ready: $(addprefix $(B)/,$(call native_to,$(NATIVE_H)))

ALL += $(addprefix $(B)/,$(call native_to,$(NATIVE_H)))

# What hipec sweep has run, beside the command.
SWEEP_PY := $(wildcard userlib/sweep/*.py)

$(B)/sweep/%.py: userlib/sweep/%.py
	@install -D $< $@

$(B)/asan/sweep/%.py: userlib/sweep/%.py
	@install -D $< $@

ALL += $(SWEEP_PY:userlib/%=$(B)/%)

# Needs libedit-dev, libjson-c-dev, libzstd-dev and libblkid-dev; the last three have
# the static libraries too.
CLI_SRC := $(sort $(call room,cli cli/amp cli/mix cli/run cli/sim cli/trace debug image job native play profile record) \
	$(SIM_SRC) $(TRACE_SRC))
CLI_OBJ := $(call userlib_obj,$(B),$(CLI_SRC)) $(B)/userlib/sim/run_watched.o \
	$(B)/libhipec.a $(B)/libhipecvm.a

# debug/line.c has it if it is there: nothing but a weak symbol asks for it.
EDIT := -Wl,--no-as-needed -ledit

# The kernels that the module is tested on, and built for.
$(B)/userlib/cli/checks.o $(B)/asan/userlib/cli/checks.o: \
	CPPFLAGS += -DHIPEC_KERNELS='"$(KERNELS)"' -DHIPEC_KERNELS_FROM='"$(KERNELS_FROM)"'

$(B)/hipec: $(CLI_OBJ)
	$(LINK) $(ALL_CFLAGS) $(LDFLAGS) $^ -ljson-c $(HASH_LIBS) $(TRACE_LIBS) $(PLAY_LIBS) $(EDIT) -o $@

# For the tests only, so not in ALL.
$(B)/asan/hipec: $(call userlib_obj,$(B)/asan,$(CLI_SRC) $(call room,lib)) \
		$(B)/asan/userlib/sim/run_watched.o $(B)/asan/libhipecvm.a \
		| $(B)/asan/native $(PROFILE_PY:userlib/%=$(B)/asan/%) $(SWEEP_PY:userlib/%=$(B)/asan/%)
	$(LINK) $(ALL_CFLAGS) $(SANITIZE) $(LDFLAGS) $^ -ljson-c $(HASH_LIBS) $(TRACE_LIBS) $(PLAY_LIBS) $(EDIT) -o $@

# For a guest or an initramfs, which have no libraries, nor libedit.
$(B)/static/hipec: $(CLI_OBJ)
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -static $(LDFLAGS) $^ -ljson-c $(HASH_LIBS) $(TRACE_LIBS) $(PLAY_LIBS) -o $@

ALL += $(B)/hipec

# What hipec trace has loaded into programs.
PRELOAD_FLAGS := -fPIC -fvisibility=hidden -fno-omit-frame-pointer

$(B)/preload/%.o: %.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(PRELOAD_FLAGS) -c $< -o $@

$(B)/libhipectrace.so: $(call userlib_obj,$(B)/preload,$(call room,trace/inject) \
		module/context/stack.c module/context/buildid.c)
	$(LINK) $(ALL_CFLAGS) -shared -Wl,-soname,libhipectrace.so $(LDFLAGS) $^ -o $@

$(B)/asan/libhipectrace.so: $(B)/libhipectrace.so
	@ln -sf ../$(<F) $@

ALL += $(B)/libhipectrace.so
