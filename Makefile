# SPDX-License-Identifier: GPL-2.0-only
# hipec: one front door. `make help` lists the targets.
#
# Each room keeps its rules in its own build.mk; nothing is recursive but the
# kernel's own build of module/. All products go under build/.

B := build
CACHE := $(or $(HIPEC_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/hipec)
PYTHON := /usr/bin/python3
VERSION := 0.1.0

CC ?= cc
CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Werror
CPPFLAGS += -Imodule/include/uapi -DHIPEC_VERSION='"$(VERSION)"'
ALL_CFLAGS = -std=gnu11 $(WARN) $(CFLAGS) $(CPPFLAGS) -MMD -MP

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
.PHONY: all
all: $(ALL)

## clean: remove build/
.PHONY: clean
clean:
	rm -rf $(B)

## help: this list
.PHONY: help
help:
	@sed -n 's/^## \([^:]*\): */  make \1\t/p' $(filter %Makefile %.mk,$(MAKEFILE_LIST)) | expand -t 24

-include $(shell find $(B) -path $(B)/deb -prune -o -type f -name '*.d' -print 2>/dev/null)
