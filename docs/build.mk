# SPDX-License-Identifier: GPL-2.0-only
# Documents that are generated from the tables they describe.

$(B)/docs/commands: docs/commands.c $(B)/libhipecvm.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ -o $@

ALL += $(B)/docs/commands

.PHONY: docs
## docs: generate docs/commands.md
docs: $(B)/docs/commands
	$(B)/docs/commands >docs/commands.md
