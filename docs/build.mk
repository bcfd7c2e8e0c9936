# SPDX-License-Identifier: GPL-2.0-only
# Documents that are generated from the tables they describe.

# What the compiler knows it is asked: all of it but main.c.
$(B)/docs/%.o: docs/%.c | $(B)/compiler/parser.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(AMPC_CPPFLAGS) -c $< -o $@

$(B)/docs/commands: $(B)/docs/commands.o $(B)/docs/builtins.o \
		$(filter-out %/main.o,$(AMPC_OBJ:%=$(B)/compiler/%)) \
		$(AMPC_ASM:%=$(B)/%) $(B)/libhipecvm.a
	$(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o %.a,$^) -o $@

ALL += $(B)/docs/commands

.PHONY: docs
## docs: generate docs/commands.md, and the sizes in docs/ampc.md
docs: $(B)/docs/commands $(B)/ampc
	$(B)/docs/commands >docs/commands.md
	bench/ampc.py --docs
