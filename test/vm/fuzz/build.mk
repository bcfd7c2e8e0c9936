# SPDX-License-Identifier: GPL-2.0-only
# Fuzzing of the VM core. The saved inputs run in ring 1 with any compiler;
# finding new ones needs clang and libFuzzer, which `make fuzz` installs.

FUZZ_GEN_SRC := $(addprefix test/vm/fuzz/,program.c generate.c mutate.c)
FUZZ_SRC := $(FUZZ_GEN_SRC) test/vm/fuzz/image.c test/vm/fuzz/run.c \
	    test/vm/fuzz/reference.c test/vm/fuzz/sound.c \
	    module/tests/fakehost.c module/tests/invariants.c

$(B)/asan/test/vm/fuzz/%.o: test/vm/fuzz/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(SANITIZE) -c $< -o $@

FUZZ_REPLAY_OBJ := $(patsubst test/%.c,$(B)/asan/test/%.o,\
	$(filter test/%,$(FUZZ_SRC)) test/vm/fuzz/replay.c) \
	$(call userlib_obj,$(B)/asan,$(filter module/%,$(FUZZ_SRC)))

$(B)/asan/fuzz-replay: $(FUZZ_REPLAY_OBJ) $(B)/asan/libhipecvm.a
	$(LINK) $(ALL_CFLAGS) $(SANITIZE) $(LDFLAGS) $^ -o $@

# The same sources once more for each of libFuzzer's programs and for coverage:
# $(call fuzz_program,NAME,FLAGS,MAIN)
FUZZ_CC := clang

define fuzz_program
$(B)/fuzz/$(1).o/%.o: %.c test/vm/fuzz/build.mk
	@mkdir -p $$(@D)
	@$(FUZZ_CC) $$(ALL_CFLAGS) $(2) -c $$< -o $$@

$(B)/fuzz/$(1): $(patsubst %.c,$(B)/fuzz/$(1).o/%.o,$(3) $(FUZZ_SRC) $(VM_SRC))
	@echo "  CLANG   $$@"
	@$(FUZZ_CC) $$(ALL_CFLAGS) $(2) $$^ -o $$@
endef

# Comparisons are not watched: what they would find, the mutator knows, and the
# verifier's search for cycles makes many.
FUZZ_FLAGS := -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	      -fno-sanitize-coverage=trace-cmp

FUZZ_TARGETS := image run
$(eval $(call fuzz_program,image,$(FUZZ_FLAGS),test/vm/fuzz/libfuzzer.c))
$(eval $(call fuzz_program,run,-DFUZZ_RUN=1 $(FUZZ_FLAGS),test/vm/fuzz/libfuzzer.c))
$(eval $(call fuzz_program,coverage,-fprofile-instr-generate -fcoverage-mapping,\
	test/vm/fuzz/replay.c))

FAST += $(B)/asan/fuzz-replay

FUZZ_SECONDS ?= 60

# In two steps, because the compiler is one of the packages.
.PHONY: fuzz fuzz-run fuzz-packages fuzz-corpus
## fuzz: look for new inputs with libFuzzer, for FUZZ_SECONDS=60 in all
fuzz: packages fuzz-packages
	@$(MAKE) --no-print-directory fuzz-run

fuzz-packages:
	@$(VM_IMAGES)/packages.sh --fuzz

FUZZ := $(addprefix $(B)/fuzz/,$(FUZZ_TARGETS) coverage) $(B)/hpt all-ready

fuzz-run: $(FUZZ)
	@test/vm/fuzz/fuzz.py --seconds $(FUZZ_SECONDS)

.PHONY: fuzz-c
## fuzz-c: random policies in C, compiled, against the interpreter, for FUZZ_SECONDS=60
fuzz-c: $(B)/asan/differ $(addprefix $(B)/,$(call native_to,$(NATIVE_H)))
	@test/vm/fuzz/inc.py --seconds $(FUZZ_SECONDS)

## fuzz-corpus: renew the saved inputs from all that fuzzing found in build/
fuzz-corpus: $(FUZZ)
	@test/vm/fuzz/fuzz.py --merge
include test/compiler/fuzz/build.mk
include test/trace/fuzz/build.mk
