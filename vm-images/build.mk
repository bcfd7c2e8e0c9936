# SPDX-License-Identifier: GPL-2.0-only
#
# For the top Makefile to include: the packages and the kernels that the rest
# needs. All scripts say in their first lines what they take.
#
# $(B)/kernel-KEY.stamp is one kernel in the cache; the file holds its release,
# or nothing if this Debian does not offer it: then skip it.
#
# From there on, for a KEY:
#
#   make -C $(CACHE)/kernels/KEY/build M=DIR modules
#   vm-images/initramfs.sh --kernel KEY --out $(B)/guest-KEY.img \
#           --module DIR/hipec.ko --bin $(B)/hipec --tree DIR
#   vm-images/mkdisk.sh DIR $(B)/data.img
#   vm-images/run.py --kernel KEY --initrd $(B)/guest-KEY.img \
#           --disk $(B)/data.img --out $(B)/run -- COMMAND...
#   vm-images/run.py --kernel KEY --initrd $(B)/guest-KEY.img --shell

B ?= build
CACHE ?= $(or $(HIPEC_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/hipec)
KERNELS ?= 6.12 6.1
# The oldest of each that the archive had, by number, and Debian's own name where that is another
# one: there the module was built. packaging/dkms.conf.in says the same.
KERNELS_FROM := 6.12.107 6.1.170 6.1.0-47
# Kernels of our own; a KEY that is none of these is a stock one.
TEST_KERNELS := debug
VM_IMAGES := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
export HIPEC_CACHE := $(CACHE)

.PHONY: packages packages-build packages-module packages-guest packages-browser packages-deb \
	packages-apps packages-sweep kernels kernel-look
## packages: install the Debian packages that are missing, for the tests as well
packages:
	@$(VM_IMAGES)/packages.sh

## packages-build: likewise, what make needs and no more
packages-build:
	@$(VM_IMAGES)/packages.sh --build

packages-module:
	@$(VM_IMAGES)/packages.sh --module

packages-guest:
	@$(VM_IMAGES)/packages.sh --guest

packages-browser:
	@$(VM_IMAGES)/packages.sh --browser

packages-deb:
	@$(VM_IMAGES)/packages.sh --deb

packages-apps:
	@$(VM_IMAGES)/packages.sh --apps

# From PyPI, in the cache: Debian 12 has no pyarrow; plotly is Debian's. Without a network
# the tests that want them are skipped.
SWEEP_PYTHON := $(CACHE)/sweep-2026.11
SWEEP_PACKAGES := pyarrow==26.0.1 duckdb==2.0.0 pandas==3.1.1 distributed==2026.8.0 \
	optuna==5.0.0

packages-sweep:
	@[ -e $(SWEEP_PYTHON)/ready ] || { $(PYTHON) -m venv --system-site-packages $(SWEEP_PYTHON) && \
		$(SWEEP_PYTHON)/bin/pip install --quiet $(SWEEP_PACKAGES) && \
		touch $(SWEEP_PYTHON)/ready; } || echo "no pyarrow: tests of hipec sweep are skipped" >&2

## kernels: fetch the stock Debian kernels and headers into the cache
kernels: $(KERNELS:%=$(B)/kernel-%.stamp)

kernel_script = $(if $(filter $(TEST_KERNELS),$*),testkernels.sh,kernels.sh)

# Looks each time, which costs nothing while the cache is warm, and touches the
# stamp only when the release changed: that is when a module must be rebuilt.
$(B)/kernel-%.stamp: kernel-look | packages-module
	@mkdir -p $(@D)
	@$(VM_IMAGES)/$(kernel_script) $* || [ $$? = 3 ]
	@cat $(CACHE)/kernels/$*/release 2>/dev/null >$@.new || :
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# A guest for a person: the module, the tools, the benchmarks, the policies.
VM_KERNEL ?= 6.12
VM_BIN = $(B)/static/hipec $(B)/static/hpt $(BENCH)

$(B)/vm-%.img: $(B)/kmod-%/stamp all-ready $(B)/static/hipec $(B)/static/hpt
	@[ -s $(B)/kernel-$*.stamp ] || { \
		echo "this Debian has no stock $* kernel" >&2; exit 1; }
	@rm -rf $(B)/vm-tree && mkdir -p $(B)/vm-tree/hipec
	@cp -r $(B)/policies $(B)/vm-tree/hipec/
	$(call show,GUEST)$(VM_IMAGES)/initramfs.sh --kernel $* --out $@ --tree $(B)/vm-tree \
		--module $(B)/kmod-$*/hipec.ko $(VM_BIN:%=--bin %)

# The second: with FILES of this machine, as they are now.
$(B)/vm.disk: $(B)/bench/lib/mkdata
$(B)/vm-files.disk: $(B)/bench/lib/mkdata vm-files
$(B)/vm.disk $(B)/vm-files.disk:
	@rm -rf $(@:.disk=-data) && mkdir -p $(@:.disk=-data)
	@$(B)/bench/lib/mkdata $(@:.disk=-data)/inner 1
	@$(B)/bench/lib/mkdata $(@:.disk=-data)/outer 15360
	@$(if $(filter %-files.disk,$@),cp -rL $(FILES) $(@:.disk=-data))
	$(call show,DISK)$(VM_IMAGES)/mkdisk.sh $(@:.disk=-data) $@

VM_DISK = $(B)/vm$(if $(FILES),-files).disk

.PHONY: vm vm-run vm-files
## vm: a shell in a guest with the module loaded (VM_KERNEL=6.12 or 6.1, FILES= are in its /data)
vm: packages-guest
	@$(MAKE) --no-print-directory vm-run

vm-run: $(B)/vm-$(VM_KERNEL).img $(VM_DISK)
	$(close) 'made: a guest, with data in /data and policies in /hipec/policies; next, in its shell:'
	$(close) '  hipec run --policy mru --budget 26M -- cat outer outer >/dev/null'
	@$(VM_IMAGES)/run.py --kernel $(VM_KERNEL) --initrd $< --disk $(VM_DISK) --shell
