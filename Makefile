# SPDX-License-Identifier: GPL-2.0-only
# hipec: one front door. `make help` lists the targets.
#
# Each room keeps its rules in its own build.mk; nothing is recursive but the
# kernel's own build of module/. All products go under build/.

B := build
CACHE := $(or $(HIPEC_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/hipec)
PYTHON := /usr/bin/python3
# Said here alone; test/docs/test_lint.py lists the files that cannot read it. CHANGELOG.md.
VERSION := 0.2.0

CC ?= cc
CFLAGS ?= -O2 -g
# WERROR=1: CI and the tests. Another compiler warns of other things.
WARN := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wshadow \
	$(if $(filter 1,$(WERROR)),-Werror)
CPPFLAGS += -Imodule/include/uapi
ALL_CFLAGS = -std=gnu11 $(WARN) $(CFLAGS) $(CPPFLAGS) -MMD -MP

# A line for each file, V=1: the commands, make -s: neither. $(call show,WORD) is in front of a
# recipe's command; $(close), of a closing line, which says what was made and what to type next.
SILENT := $(findstring s,$(firstword -$(MAKEFLAGS)))
show = $(if $(SILENT)$(V),,@printf '  %-7s %s\n' $(1) $(@:$(B)/%=%);)
close = $(if $(SILENT),@:,@echo)
COMPILE = $(call show,CC)$(CC)
LINK = $(call show,LD)$(CC)
ARCHIVE = $(call show,AR)$(AR)

# On all CPUs, if all that is asked for is built; a guest or a measurement wants them for itself.
ALL_CPUS := all deb demo install module vm %-ready $(B)/%
ifeq ($(MAKELEVEL)$(filter-out $(ALL_CPUS),$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:

include vm-images/build.mk
include module/build.mk
include compiler/build.mk
include userlib/build.mk
include bench/build.mk
include docs/build.mk
include editors/build.mk
include test/build.mk
include packaging/build.mk

## all: compiler, library, command, benchmarks
.PHONY: all all-ready
all: $(B)/tools.stamp
	@$(MAKE) --no-print-directory all-ready
	$(close) 'made: build/hipec, build/ampc, libhipec and $(words $(SHIPPED_HPO)) policies;' \
		'next: export PATH=$$PWD/build:$$PATH, then: hipec try -- COMMAND'

all-ready: $(ALL)

# Asked once, before the first file is compiled.
$(B)/tools.stamp: vm-images/tools.sh
	@CC='$(CC)' PYTHON='$(PYTHON)' vm-images/tools.sh
	@mkdir -p $(@D) && touch $@

## clean: remove build/
.PHONY: clean
clean:
	rm -rf $(B)

## help: this list
.PHONY: help
help:
	@sed -n 's/^## \([^:]*\): */  make \1\t/p' $(filter %Makefile %.mk,$(MAKEFILE_LIST)) | expand -t 24

# Where the version is said. Nothing else is made anew with it.
SAY_VERSION := userlib/cli/cli.o userlib/cli/checks.o compiler/main.o
SAY_VERSION := $(foreach d,$(B) $(B)/asan $(B)/cov $(B)/count,$(SAY_VERSION:%=$(d)/%))
$(SAY_VERSION): CPPFLAGS += -DHIPEC_VERSION='"$(VERSION)"'
$(SAY_VERSION): Makefile

-include $(shell find $(B) -path $(B)/deb -prune -o -type f -name '*.d' -print 2>/dev/null)
