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

# JSON Schemas of what --json prints.
$(B)/schemas.stamp: $(wildcard docs/generate/*.py) module/include/uapi/hipec.h
	@rm -rf $(B)/schemas && mkdir -p $(B)/schemas
	$(call show,GEN)docs/generate/schemas.py $(B)/schemas
	@touch $@

.PHONY: docs
## docs: generate commands.md, sizes in ampc.md, policies.md, parameters in install.md
docs: $(B)/docs/generate/commands $(B)/ampc $(B)/hipec $(SHIPPED_HPO)
	$(B)/docs/generate/commands >docs/policy/commands.md
	bench/cost/ampc.py --docs
	bench/cost/league.py --docs
	packaging/parameters.py --docs
