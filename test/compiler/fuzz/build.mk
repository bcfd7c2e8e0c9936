# SPDX-License-Identifier: GPL-2.0-only
# Fuzzing of ampc: no compiler but the usual one is needed.

AMPC_FUZZ_SRC := $(wildcard test/compiler/fuzz/*.c)
AMPC_LIB := $(filter-out main.o,$(AMPC_OBJ))

$(B)/asan/test/compiler/fuzz/%.o: test/compiler/fuzz/%.c | $(B)/compiler/parser.h
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(SANITIZE) $(AMPC_CPPFLAGS) -c $< -o $@

$(B)/asan/ampc-fuzz: $(AMPC_FUZZ_SRC:%.c=$(B)/asan/%.o) \
		$(AMPC_LIB:%=$(B)/asan/compiler/%) $(AMPC_ASM:%=$(B)/asan/%) \
		$(B)/asan/libhipecvm.a
	$(LINK) $(ALL_CFLAGS) $(SANITIZE) $(LDFLAGS) $^ $(HASH_LIBS) -o $@

FAST += $(B)/asan/ampc-fuzz

FUZZ_SEED ?= 1
AMPC_FUZZ_FAILED := $(B)/fuzz/failed/compiler
AMPC_FUZZ_FILES = $(wildcard policies/*.hp test/compiler/*/*.hp test/compiler/*/*.hps \
	test/compiler/fuzz/corpus/*)

.PHONY: fuzz-compiler
## fuzz-compiler: look for texts that upset ampc, for FUZZ_SECONDS=60 (FUZZ_SEED=1)
fuzz-compiler: $(B)/asan/ampc-fuzz
	@mkdir -p $(AMPC_FUZZ_FAILED)
	@$< run $(FUZZ_SEED) 0 $(FUZZ_SECONDS) $(AMPC_FUZZ_FAILED) $(AMPC_FUZZ_FILES)
