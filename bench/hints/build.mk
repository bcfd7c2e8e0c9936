# SPDX-License-Identifier: GPL-2.0-only
# The write-hint paper: policies behind a database's buffer pool.

.PHONY: bench-hints
## bench-hints: Figures 5 to 12 of the write-hint paper: policies behind a buffer pool
bench-hints: $(B)/hipec $(SHIPPED_HPO)
	@bench/hints/figures.py

ALL_BENCHES += bench-hints
