# SPDX-License-Identifier: GPL-2.0-only
# The experiments of hipec-1997 in guests, each a table.

TABLES_HPO := $(addprefix $(B)/policies/,fifo.hpo fifo2.hpo mru.hpo mpfifo2.hpo) \
	$(addprefix $(B)/bench/paper/tables/,general.hpo mpfifo2-wrong.hpo)
TABLES_GUEST := $(B)/tables-guest

$(B)/bench/paper/tables/%.hpo: bench/paper/tables/%.hp $(B)/ampc
	@mkdir -p $(@D)
	$(call show,HP)$(B)/ampc -o $@ $<

$(TABLES_GUEST).img: bench/paper/tables/guest.sh bench/lib/disk.sh $(BENCH) $(TABLES_HPO) \
		$(B)/kmod-$(DEMO_KERNEL)/stamp vm-images/init vm-images/initramfs.sh
	@[ -s $(B)/kernel-$(DEMO_KERNEL).stamp ] || { \
		echo "bench: this Debian has no stock $(DEMO_KERNEL) kernel" >&2; \
		exit 1; }
	@rm -rf $(TABLES_GUEST) && mkdir -p $(TABLES_GUEST)/policies
	@cp bench/paper/tables/guest.sh bench/lib/disk.sh $(TABLES_GUEST)
	@cp $(TABLES_HPO) $(TABLES_GUEST)/policies
	$(call show,GUEST)vm-images/initramfs.sh --kernel $(DEMO_KERNEL) --out $@ \
		--module $(B)/kmod-$(DEMO_KERNEL)/hipec.ko \
		$(BENCH:%=--bin %) --tree $(TABLES_GUEST)

# In two steps, because the compiler itself may be one of the packages.
bench-%-run: $(TABLES_GUEST).img
	@bench/paper/$*.py --kernel $(DEMO_KERNEL) --guest $< $(if $(FULL),\
		--full --out $(B)/bench-$*-full,--out $(B)/bench-$*)

TABLES := nlj rdr smpeg mixes advice

.PHONY: $(TABLES:%=bench-%)
$(TABLES:%=bench-%): packages
	@$(MAKE) --no-print-directory $@-run

## bench-nlj: hipec-1997 Table V, a nested-loop join with MRU, as a table (FULL=1: 64 passes)
## bench-rdr: Table VI, random data retrieval with MPFIFO2, as a table (FULL=1: 10^6 lookups)
## bench-smpeg: Table VII, a video player beside a database generator, as a table
## bench-mixes: Table VIII, seven mixes of programs that share the pool (FULL=1: original sizes)
## bench-advice: Tables IX and X, ill-advised RDR alone and beside others (FULL=1: original sizes)

ALL_BENCHES += $(TABLES:%=bench-%)
