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
## docs: generate docs/commands.md, docs/schemas/, sizes in docs/ampc.md, policies in README.md, parameters in docs/install.md
docs: $(B)/docs/commands $(B)/ampc $(B)/hipec $(SHIPPED_HPO)
	$(B)/docs/commands >docs/commands.md
	docs/schemas.py docs/schemas
	bench/ampc.py --docs
	bench/league.py --docs
	packaging/parameters.py --docs
