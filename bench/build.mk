# SPDX-License-Identifier: GPL-2.0-only
# Benchmarks. Each folder has rules of its own; `make bench` runs all of them.
#
#   run.py  runs one that boots guests
#   lib/    shared parts: data files, regions, guests, models
#   paper/  programs and tables of hipec-1997, and the demo, which runs them
#   amp/    the AMP report's table and its study of traces
#   hints/  the write-hint paper's figures
#   cost/   the parts' time, and the policies' faults
#   apps/   programs of others, on the page cache and under policies

# Static: these run in the guest.
BENCH := $(addprefix $(B)/bench/,lib/mkdata lib/mkindex \
	$(addprefix paper/,join sweep rdr smpeg dbg))

$(B)/bench/%.o: bench/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) -c $< -o $@

$(BENCH): $(B)/bench/%: $(B)/bench/%.o $(B)/bench/lib/source.o $(B)/libhipec.a
	$(LINK) $(ALL_CFLAGS) -static $(LDFLAGS) $^ -o $@

ALL += $(BENCH)

SHIPPED_HPO := $(patsubst %.hp,$(B)/%.hpo,$(wildcard policies/*.hp))

$(B)/bench/%.hpo: bench/%.hp $(B)/ampc
	@mkdir -p $(@D)
	$(call show,HP)$(B)/ampc -o $@ $<

# $(call bench_guest,KERNEL,MODULE,PROGRAMS,POLICIES,WORDS): a guest that lib/guests.py boots, by
# initramfs.sh, with more WORDS for it.
define bench_guest
@[ -s $(B)/kernel-$(1).stamp ] || { echo "$@: this Debian has no stock $(1) kernel" >&2; exit 1; }
@rm -rf $(@:.img=) && mkdir -p $(@:.img=)/policies
@cp bench/lib/guest.sh bench/lib/disk.sh $(@:.img=)
$(if $(strip $(4)),@cp $(4) $(@:.img=)/policies)
$(call show,GUEST)vm-images/initramfs.sh --kernel $(1) --out $@ --module $(2) \
	$(addprefix --bin ,$(3)) $(5) --tree $(@:.img=)
endef
BENCH_GUEST_NEEDS := bench/lib/guest.sh bench/lib/disk.sh vm-images/init vm-images/initramfs.sh

include bench/paper/build.mk
include bench/amp/build.mk
include bench/hints/build.mk
include bench/cost/build.mk
include bench/apps/build.mk

# One after the other: each uses all CPUs that there are. One that fails, for a goal
# that is missed perhaps, keeps none from running.
.PHONY: bench
## bench: all of them
bench:
	@status=0; $(foreach name,$(ALL_BENCHES),echo "== make $(name)"; \
		$(MAKE) --no-print-directory $(name) || status=1;) exit $$status
