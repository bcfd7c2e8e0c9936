# SPDX-License-Identifier: GPL-2.0-only
# Documents that are generated from the tables they describe.

# What the compiler knows it is asked: all of it but main.c.
$(B)/docs/%.o: docs/%.c | $(B)/compiler/parser.h
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(AMPC_CPPFLAGS) -c $< -o $@

$(B)/docs/generate/commands: $(B)/docs/generate/commands.o $(B)/docs/generate/builtins.o \
		$(filter-out %/main.o,$(AMPC_OBJ:%=$(B)/compiler/%)) \
		$(AMPC_ASM:%=$(B)/%) $(B)/libhipecvm.a
	$(LINK) $(CFLAGS) $(LDFLAGS) $(filter %.o %.a,$^) $(HASH_LIBS) -o $@

ALL += $(B)/docs/generate/commands

.PHONY: docs
## docs: generate commands.md, schemas/, sizes in ampc.md, policies.md, parameters in install.md
docs: $(B)/docs/generate/commands $(B)/ampc $(B)/hipec $(SHIPPED_HPO)
	$(B)/docs/generate/commands >docs/policy/commands.md
	docs/generate/schemas.py docs/user/schemas
	bench/cost/ampc.py --docs
	bench/cost/league.py --docs
	packaging/parameters.py --docs
