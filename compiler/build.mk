# SPDX-License-Identifier: GPL-2.0-only
# ampc, the compiler from .hp to .hpo, the same under ASan and UBSan for the
# tests, and the policies that it compiles.

AMPC_SRC := $(wildcard compiler/*.c)
AMPC_OBJ := $(AMPC_SRC:compiler/%.c=%.o) lexer.o parser.o
AMPC_CPPFLAGS := -Icompiler -I$(B)/compiler
# Shared with hipec: the assembler, the image's bytes, what `hipec dis` prints; options.
AMPC_ASM := $(patsubst %.c,%.o,$(wildcard userlib/image/*.c userlib/option/*.c))
# What flex and bison write is not ours to mend.
AMPC_GENERATED_WARN := -Wno-missing-prototypes -Wno-unused-parameter \
	-Wno-sign-compare -Wno-unused-function -Wno-unused-but-set-variable

ALL += $(B)/ampc
ALL += $(patsubst %.hp,$(B)/%.hpo,$(wildcard policies/*.hp))

$(B)/compiler/parser.c: compiler/parser.y
	@mkdir -p $(@D)
	$(call show,BISON)bison -Wall -Wcounterexamples $(if $(filter 1,$(WERROR)),-Werror) \
		-H$(@:.c=.h) -o $@ $<

# Bison writes it a moment before, and then make would never be done with it.
$(B)/compiler/parser.h: $(B)/compiler/parser.c
	@touch $@

$(B)/compiler/lexer.c: compiler/lexer.l
	@mkdir -p $(@D)
	$(call show,FLEX)flex -o $@ $<

$(B)/compiler/%.o: compiler/%.c | $(B)/compiler/parser.h
	$(COMPILE) $(ALL_CFLAGS) $(AMPC_CPPFLAGS) -c $< -o $@

$(B)/compiler/%.o: $(B)/compiler/%.c $(B)/compiler/parser.h
	$(COMPILE) $(ALL_CFLAGS) $(AMPC_GENERATED_WARN) $(AMPC_CPPFLAGS) -c $< -o $@

$(B)/asan/compiler/%.o: compiler/%.c | $(B)/compiler/parser.h
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(SANITIZE) $(AMPC_CPPFLAGS) -c $< -o $@

$(B)/asan/compiler/%.o: $(B)/compiler/%.c $(B)/compiler/parser.h
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(AMPC_GENERATED_WARN) $(SANITIZE) $(AMPC_CPPFLAGS) \
		-c $< -o $@

$(B)/ampc: $(AMPC_OBJ:%=$(B)/compiler/%) $(AMPC_ASM:%=$(B)/%) \
		$(B)/libhipecvm.a
	$(LINK) $(CFLAGS) $(LDFLAGS) $^ $(HASH_LIBS) -o $@

$(B)/asan/ampc: $(AMPC_OBJ:%=$(B)/asan/compiler/%) \
		$(AMPC_ASM:%=$(B)/asan/%) $(B)/asan/libhipecvm.a
	$(LINK) $(CFLAGS) $(SANITIZE) $(LDFLAGS) $^ $(HASH_LIBS) -o $@

# For the tests: all of the above but main.c, and the sources come from memory.
$(B)/asan/ampc-torture.o: test/compiler/torture.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(SANITIZE) $(AMPC_CPPFLAGS) -c $< -o $@

$(B)/asan/ampc-torture: $(B)/asan/ampc-torture.o \
		$(filter-out %/main.o,$(AMPC_OBJ:%=$(B)/asan/compiler/%)) \
		$(AMPC_ASM:%=$(B)/asan/%) $(B)/asan/libhipecvm.a
	$(LINK) $(CFLAGS) $(SANITIZE) $(LDFLAGS) $^ $(HASH_LIBS) -o $@

$(B)/policies/%.hpo: policies/%.hp $(B)/ampc
	@mkdir -p $(@D)
	$(call show,HP)$(B)/ampc -o $@ $<
