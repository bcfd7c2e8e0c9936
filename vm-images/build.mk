# SPDX-License-Identifier: GPL-2.0-only
#
# For the top Makefile to include: the packages and the kernels that the rest
# needs. All four scripts say in their first lines what they take.
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
VM_IMAGES := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
export HIPEC_CACHE := $(CACHE)

.PHONY: packages kernels kernel-look
## packages: install the Debian packages that are missing
packages:
	@$(VM_IMAGES)/packages.sh

## kernels: fetch the stock Debian kernels and headers into the cache
kernels: $(KERNELS:%=$(B)/kernel-%.stamp)

# Looks each time, which costs nothing while the cache is warm, and touches the
# stamp only when the release changed: that is when a module must be rebuilt.
$(B)/kernel-%.stamp: kernel-look | packages
	@mkdir -p $(@D)
	@$(VM_IMAGES)/kernels.sh $* || [ $$? = 3 ]
	@cat $(CACHE)/kernels/$*/release 2>/dev/null >$@.new || :
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
