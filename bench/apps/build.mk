# SPDX-License-Identifier: GPL-2.0-only
# Programs of others, unmodified, on the page cache and under policies in place.

APPS_ADVICE := $(B)/bench/apps/advice.so

$(APPS_ADVICE): bench/apps/advice.c
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -shared -fPIC -o $@ $<

ALL += $(APPS_ADVICE)

.PHONY: bench-apps bench-apps-run
## bench-apps: programs of others, plainly and under policies (ROWS=grep,rg; FAST=1: no times)
bench-apps: packages packages-apps
	@$(MAKE) --no-print-directory bench-apps-run

.PHONY: llama usearch apps-tried
# What Debian does not have, once; their places are bench/apps/rows.py's. A test whose rows
# want one says SKIP where it could not be had.
apps-tried:
	@$(MAKE) --no-print-directory llama || echo "no llama.cpp: its rows of bench-apps are skipped"
	@$(MAKE) --no-print-directory usearch || echo "no usearch: its row of bench-apps is skipped"

llama:
	@bench/apps/llama.sh "$$(/usr/bin/python3 -B -c 'from bench.apps.rows import LLAMA; print(LLAMA)')"

usearch:
	@bench/apps/usearch.sh "$$(/usr/bin/python3 -B -c 'from bench.apps.rows import USEARCH; print(USEARCH)')"

bench-apps-run: llama usearch $(APPS_ADVICE) $(B)/hipec $(B)/libhipectrace.so $(B)/static/hipec $(SHIPPED_HPO) \
		$(B)/kmod-$(DEMO_KERNEL)/stamp
	@bench/apps/table.py --kernel $(DEMO_KERNEL) --out $(B)/bench/apps/out --rows "$(ROWS)" \
		$(if $(FAST),--fast) $(if $(AGAIN),--again)

ALL_BENCHES += bench-apps
