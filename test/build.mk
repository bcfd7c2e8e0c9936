# SPDX-License-Identifier: GPL-2.0-only
# The test rings. rings.py runs them, the quick ones first, and sums them up.

PYTEST := $(PYTHON) -B -m pytest -c test/pytest.ini --rootdir=.

# Ring 1: user space, no root, no guest.
FAST := $(B)/asan/hpt $(B)/asan/ampc $(B)/asan/ampc-torture $(B)/hpt $(B)/ampc $(B)/hipec

# Ring 3: what a guest takes along.
GUEST_SRC := $(wildcard test/guest/*.c)
GUEST_POLICIES := $(patsubst test/guest/policies/%.hp,$(B)/guest/policies/%.hpo,\
	$(wildcard test/guest/policies/*.hp))
GUEST := $(B)/guest/hipec-guest-test $(GUEST_POLICIES) $(B)/static/hpt \
	$(B)/static/hipec $(BENCH) $(KERNELS:%=$(B)/kmod-%/stamp) \
	$(KERNELS:%=$(B)/vmtest-%/stamp)

$(B)/guest/%.o: test/guest/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c $< -o $@

$(B)/guest/hipec-guest-test: $(GUEST_SRC:test/guest/%.c=$(B)/guest/%.o) $(B)/libhipec.a
	$(CC) $(ALL_CFLAGS) -static $(LDFLAGS) $^ -pthread -o $@

$(B)/guest/policies/%.hpo: test/guest/policies/%.hp $(B)/ampc
	@mkdir -p $(@D)
	$(B)/ampc -o $@ $<

.PHONY: check check-fast check-kunit check-vm fast-ready guest-ready

## check: every test ring, after installing what they need
check: packages
	@$(PYTHON) -B test/rings.py fast kunit vm

## check-fast: ring 1: user space, no root, no guest, under a minute
check-fast:
	@$(PYTHON) -B test/rings.py fast

## check-kunit: ring 2: KUnit in kernels of our own
check-kunit: packages
	@$(PYTHON) -B test/rings.py kunit

## check-vm: ring 3: stock Debian kernels in QEMU
check-vm: packages
	@$(PYTHON) -B test/rings.py vm

# What each ring builds before it runs.
fast-ready: $(FAST) all
guest-ready: fast-ready $(GUEST) sparse
