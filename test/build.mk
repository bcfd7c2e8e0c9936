# SPDX-License-Identifier: GPL-2.0-only
# The test rings. rings.py runs them, the quick ones first, and sums them up.

PYTEST := $(PYTHON) -B -m pytest -c test/pytest.ini --rootdir=.

include test/vm/runner/build.mk

# Ring fast: user space, no root, no guest.
FAST := $(B)/asan/hpt $(B)/asan/ampc $(B)/asan/ampc-torture $(B)/hpt $(B)/ampc $(B)/hipec \
	$(B)/asan/hipec $(B)/asan/watchdump $(B)/asan/graft $(B)/asan/libhipectrace.so

# What tests make for themselves, lest two of them make it at once.
FAST += $(B)/asan/imgtorture $(B)/asan/amploopdump $(B)/bench/cost/vm/bench-vm $(B)/count/ampc

# The KUnit suites that need no more than the VM core, in user space.
KUNIT_SRC := $(shell grep -L '"\.\./internal.h"' module/tests/*_kunit.c) \
	$(addprefix module/tests/,kunit_machine.c fakehost.c invariants.c \
	poolhost.c poolmodel.c corehost.c sharehost.c)

FAST += $(B)/asan/kunit

$(B)/asan/suites/%.o: module/tests/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(SANITIZE) -Itest/kernel -c $< -o $@

$(B)/asan/suites/%.o: test/kernel/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(SANITIZE) -c $< -o $@

$(B)/asan/kunit: $(KUNIT_SRC:module/tests/%.c=$(B)/asan/suites/%.o) \
		$(B)/asan/suites/kunit_shim.o $(B)/asan/libhipecvm.a
	$(LINK) $(ALL_CFLAGS) $(SANITIZE) $(LDFLAGS) $^ -o $@

# Both ways to run the VM core in user space, with counters in it: coverage.py.
# The rest is as for ASan.
FAST += $(B)/cov/hpt $(B)/cov/kunit

$(CORE_SRC:module/%.c=$(B)/cov/%.o): $(B)/cov/%.o: module/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) -O0 --coverage -c $< -o $@

$(B)/cov/libhipecvm.a: $(CORE_SRC:module/%.c=$(B)/cov/%.o)
	@rm -f $@
	$(ARCHIVE) rcs $@ $^

$(B)/cov/hpt: $(call userlib_obj,$(B)/asan,$(HPT_SRC)) $(B)/cov/libhipecvm.a
	$(LINK) $(ALL_CFLAGS) $(SANITIZE) --coverage $(LDFLAGS) $^ -o $@

$(B)/cov/kunit: $(KUNIT_SRC:module/tests/%.c=$(B)/asan/suites/%.o) \
		$(B)/asan/suites/kunit_shim.o $(B)/cov/libhipecvm.a
	$(LINK) $(ALL_CFLAGS) $(SANITIZE) --coverage $(LDFLAGS) $^ -o $@

# The compiler with counters as well, for `make coverage` alone.
$(B)/cov/compiler/%.o: compiler/%.c | $(B)/compiler/parser.h
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) -O0 --coverage $(AMPC_CPPFLAGS) -c $< -o $@

$(B)/cov/compiler/%.o: $(B)/compiler/%.c $(B)/compiler/parser.h
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(AMPC_GENERATED_WARN) -O0 --coverage $(AMPC_CPPFLAGS) \
		-c $< -o $@

$(B)/cov/ampc: $(AMPC_OBJ:%=$(B)/cov/compiler/%) $(AMPC_ASM:%=$(B)/%) \
		$(B)/libhipecvm.a
	$(LINK) $(ALL_CFLAGS) --coverage $(LDFLAGS) $^ $(HASH_LIBS) -o $@

include test/compiler/build.mk
include test/vm/fuzz/build.mk

# What a watcher of a simulation is told, as text; and samples as a container gives
# them, through hipec run's loop.
DUMP_SRC := $(call room,lib) $(SIM_SRC) $(TRACE_SRC)

$(B)/asan/test/%.o: test/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(SANITIZE) -c $< -o $@

$(B)/asan/watchdump: $(call userlib_obj,$(B)/asan,test/sim/watchdump.c $(DUMP_SRC))
$(B)/asan/graft: $(call userlib_obj,$(B)/asan,test/sim/graft.c $(DUMP_SRC))
$(B)/asan/amploopdump: $(call userlib_obj,$(B)/asan,test/amp/amploopdump.c \
		userlib/cli/amp/loop.c $(DUMP_SRC))

$(B)/asan/watchdump $(B)/asan/graft $(B)/asan/amploopdump: $(B)/asan/userlib/sim/run_watched.o \
		$(B)/asan/libhipecvm.a
	$(LINK) $(ALL_CFLAGS) $(SANITIZE) $(LDFLAGS) $(filter %.o,$^) $(filter %.a,$^) \
		$(TRACE_LIBS) -o $@

# Random policies, here and in the kernel: test/vm/fuzz/differ.c.
DIFFER_SRC := $(addprefix test/vm/fuzz/,differ.c generate.c mutate.c program.c)
DIFFER_USER := test/vm/runner/run.c \
	$(addprefix module/tests/,vmcase.c fakehost.c invariants.c) $(INC_SRC)

FAST += $(B)/asan/differ

$(B)/test/vm/fuzz/%.o: test/vm/fuzz/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) -c $< -o $@

$(B)/asan/differ: $(DIFFER_SRC:%.c=$(B)/asan/%.o) \
		$(call userlib_obj,$(B)/asan,$(DIFFER_USER)) $(B)/asan/libhipecvm.a
	$(LINK) $(ALL_CFLAGS) $(SANITIZE) $(LDFLAGS) $^ -o $@

$(B)/static/differ: $(DIFFER_SRC:%.c=$(B)/%.o) \
		$(call userlib_obj,$(B),$(DIFFER_USER)) $(B)/libhipecvm.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -static $(LDFLAGS) $^ -o $@

# Records and their replay, in user space: test/cli/record.c.
RECORD_SRC := test/cli/record.c $(addprefix test/vm/fuzz/,generate.c mutate.c program.c)
RECORD_USER := $(call room,record lib) $(SIM_SRC) $(TRACE_SRC) \
	module/tests/fakehost.c

FAST += $(B)/asan/record-test

$(B)/asan/test/cli/%.o: test/cli/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(SANITIZE) -c $< -o $@

$(B)/asan/record-test: $(RECORD_SRC:%.c=$(B)/asan/%.o) \
		$(call userlib_obj,$(B)/asan,$(RECORD_USER)) \
		$(B)/asan/userlib/sim/run_watched.o $(B)/asan/libhipecvm.a
	$(LINK) $(ALL_CFLAGS) $(SANITIZE) $(LDFLAGS) $^ $(TRACE_LIBS) -o $@

# Processes that do to the module whatever they can: test/guest/hostile/.
HOSTILE_SRC := $(wildcard test/guest/hostile/*.c) \
	$(addprefix test/vm/fuzz/,generate.c mutate.c program.c)

$(B)/test/guest/hostile/%.o: test/guest/hostile/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) -c $< -o $@

$(B)/static/hostile-client: $(HOSTILE_SRC:%.c=$(B)/%.o) $(B)/libhipec.a $(B)/libhipecvm.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -static $(LDFLAGS) $^ -pthread -o $@

# Everything at once, and no write is lost: test/guest/stress/.
STRESS_SRC := $(filter-out %/parent.c,$(wildcard test/guest/stress/*.c)) \
	$(addprefix test/vm/fuzz/,generate.c mutate.c program.c)

$(B)/test/guest/stress/%.o: test/guest/stress/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) -c $< -o $@

$(B)/static/hipec-stress: $(STRESS_SRC:%.c=$(B)/%.o) $(B)/libhipec.a $(B)/libhipecvm.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -static $(LDFLAGS) $^ -pthread -o $@

# The same for files in place: test/guest/stress/place/.
PLACE_SRC := $(wildcard test/guest/stress/place/*.c) \
	$(addprefix test/guest/stress/,parent.c policies.c) \
	$(addprefix test/vm/fuzz/,generate.c mutate.c program.c)

$(B)/static/hipec-place-stress: $(PLACE_SRC:%.c=$(B)/%.o) $(B)/libhipec.a $(B)/libhipecvm.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -static $(LDFLAGS) $^ -o $@

# Many containers, files and threads in place: test/guest/stress/crowd/.
CROWD_SRC := $(wildcard test/guest/stress/crowd/*.c) \
	$(addprefix test/guest/stress/,inject.c parent.c policies.c) \
	$(addprefix test/vm/fuzz/,generate.c mutate.c program.c)

$(B)/static/hipec-crowd: $(CROWD_SRC:%.c=$(B)/%.o) $(B)/libhipec.a $(B)/libhipecvm.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) -static $(LDFLAGS) $^ -pthread -o $@

# What a guest takes along.
# Its tests run in this order: each file's are put into a section by SUITE() of guest.h.
GUEST_SRC := $(sort $(wildcard test/guest/program/*.c test/guest/program/paths/calls_*.c))
GUEST_POLICIES := $(patsubst test/guest/policies/%,$(B)/guest/policies/%.hpo,\
	$(basename $(wildcard test/guest/policies/*.hp test/guest/policies/*.hpt)))
GUEST := $(B)/guest/hipec-guest-test $(GUEST_POLICIES) $(B)/static/hpt \
	$(B)/static/differ $(B)/static/hostile-client $(B)/static/hipec-stress \
	$(B)/static/hipec-place-stress $(B)/static/hipec-crowd $(B)/static/hipec $(BENCH)
GUEST_MODULES := $(KERNELS:%=$(B)/kmod-%/stamp) $(KERNELS:%=$(B)/vmtest-%/stamp)

# All modules, with the KUnit suites, for the debug kernel.
KUNIT_MODULES := $(B)/kunit-debug/stamp

$(B)/guest/%.o: test/guest/program/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) -c $< -o $@

# Frame pointers in one, none in the other, whatever the flags.
$(B)/guest/paths/calls_frames.o: ALL_CFLAGS += -fno-omit-frame-pointer
$(B)/guest/paths/calls_scan.o: ALL_CFLAGS += -fomit-frame-pointer

$(B)/guest/hipec-guest-test: $(GUEST_SRC:test/guest/program/%.c=$(B)/guest/%.o) \
		$(call userlib_obj,$(B),$(call room,record)) $(B)/libhipec.a \
		$(B)/libhipecvm.a
	$(LINK) $(ALL_CFLAGS) -static-pie $(LDFLAGS) $^ -pthread -o $@

# Traced in the guest, so with libraries: the host's.
GUEST_DYNAMIC := $(addprefix $(B)/guest/,touches-frames touches-scan)
GUEST += $(GUEST_DYNAMIC) $(B)/libhipectrace.so

$(B)/guest/touches-frames: DYNAMIC_FLAG := -fno-omit-frame-pointer
$(B)/guest/touches-scan: DYNAMIC_FLAG := -fomit-frame-pointer

$(GUEST_DYNAMIC): $(addprefix test/guest/program/paths/,touches.c callpaths.h) $(B)/libhipec.a
	@mkdir -p $(@D)
	$(LINK) $(ALL_CFLAGS) $(DYNAMIC_FLAG) $(LDFLAGS) $(filter-out %.h,$^) -o $@

# Some are bad on purpose.
$(B)/guest/policies/%.hpo: test/guest/policies/%.hp $(B)/ampc
	@mkdir -p $(@D)
	$(call show,HP)$(B)/ampc -Wno-victim -Wno-endless-loop -Wno-released-page -o $@ $<

# What the language cannot say yet.
$(B)/guest/policies/%.hpo: test/guest/policies/%.hpt $(B)/hpt
	@mkdir -p $(@D)
	@$(B)/hpt --output $@ $<

.PHONY: lint check check-all check-rest check-night check-fast check-browser check-sweep check-vm check-debug \
	kunit fast-ready core-ready browser-ready kunit-ready vm-ready debug-ready night-ready

# Rules that files alone can break: nothing is run, and but for the VM core nothing is built.
LINTS := $(patsubst %,test/docs/test_%.py,lint layers names design_doc limits_doc security_doc)

## lint: the rules for layers, names, files, comments, scripts and documents, in ten seconds
lint: $(B)/libhipecvm.a
	@CI=1 PYTHONPATH=test/docs $(PYTEST) -p lint -k 'not found and not understood' \
		-m 'not user and not more' -rN $(LINTS) && echo 'lint: nothing is wrong'

## check-fast: ring fast: user space, no root, no guest, a minute; before each commit
check-fast:
	@$(PYTHON) -B test/rings.py fast

## check: rings fast, more and core, after installing what they need: 13 minutes
check: packages
	@$(PYTHON) -B test/rings.py fast more core

## check-all: check, check-rest, check-debug; CI runs the first two
check-all: check
	@$(MAKE) --no-print-directory check-rest
	@$(MAKE) --no-print-directory check-debug

## check-rest: rings user, browser, sweep, vm and kunit
check-rest: packages packages-browser packages-sweep
	@$(PYTHON) -B test/rings.py user browser sweep vm kunit

## check-night: ring night: before a release
check-night: packages packages-deb packages-apps packages-sweep
	@$(PYTHON) -B test/rings.py night

# A checker of accessibility, for pages: one file of a package of PyPI's.
AXE := axe-playwright-python==0.1.4
$(B)/axe/axe.min.js:
	@mkdir -p $(@D)
	$(PYTHON) -m pip download -q --no-deps -d $(@D) $(AXE)
	cd $(@D) && $(PYTHON) -c 'import glob, zipfile; open("axe.min.js", "wb").write(\
		zipfile.ZipFile(*glob.glob("*.whl")).read("axe_playwright_python/axe.min.js"))'

browser-ready: fast-ready $(B)/axe/axe.min.js

## check-browser: ring browser: the pages of hipec profile and hipec mix in a browser
check-browser: packages packages-browser
	@$(PYTHON) -B test/rings.py browser

## check-sweep: ring sweep: clusters of Dask, tuning and the search of policies
check-sweep: packages packages-sweep
	@$(PYTHON) -B test/rings.py sweep

## check-vm: rings core and vm: stock Debian kernels in QEMU
check-vm: packages
	@$(PYTHON) -B test/rings.py core vm

## kunit: ring kunit: the KUnit suites, on a test kernel in QEMU
kunit: packages
	@$(PYTHON) -B test/rings.py kunit

## check-debug: ring debug: the guest's tests on the debug kernel
check-debug: packages
	@$(PYTHON) -B test/rings.py debug

HOSTILE_SECONDS ?= 600
HOSTILE_SEED ?= 1
HOSTILE_KERNEL ?= debug

.PHONY: hostile hostile-ready
## hostile: clients that do what they can, for HOSTILE_SECONDS=600 (HOSTILE_SEED=1)
hostile: packages
	@$(MAKE) --no-print-directory -s hostile-ready
	@test/guest/hostile/hostile.py --kernel $(HOSTILE_KERNEL) \
		--seconds $(HOSTILE_SECONDS) --seed $(HOSTILE_SEED)

SOAK_SECONDS ?= 1800
SOAK_SEED ?= $(shell date +%s)
SOAK_KERNELS ?= 6.12 debug

.PHONY: soak soak-ready
## soak: the stress run, SOAK_SECONDS=1800 on each of SOAK_KERNELS="6.12 debug"
soak: packages
	@$(MAKE) --no-print-directory -s soak-ready
	@test/guest/stress/stress.py $(SOAK_KERNELS:%=--kernel %) --inject \
		--seconds $(SOAK_SECONDS) --seed $(SOAK_SEED) >$(B)/soak.log 2>&1; \
		status=$$?; cat $(B)/soak.log; exit $$status

soak-ready: all-ready $(GUEST) $(foreach k,$(SOAK_KERNELS),$(if $(filter $(k),$(TEST_KERNELS)),\
	$(B)/kunit-$(k)/stamp,$(B)/kmod-$(k)/stamp $(B)/vmtest-$(k)/stamp))

SOAK_SIZE_SECONDS ?= 3600
SOAK_SIZE_KERNEL ?= 6.12

.PHONY: soak-size soak-size-ready
## soak-size: 200 containers, 20,000 files, 64 threads, SOAK_SIZE_SECONDS=3600 on SOAK_SIZE_KERNEL=6.12
soak-size: packages
	@$(MAKE) --no-print-directory -s soak-size-ready
	@test/guest/crowd.py --kernel $(SOAK_SIZE_KERNEL) \
		--seconds $(SOAK_SIZE_SECONDS) --seed $(SOAK_SEED) >$(B)/soak-size.log 2>&1; \
		status=$$?; cat $(B)/soak-size.log; exit $$status

soak-size-ready: all-ready $(GUEST) $(if $(filter $(TEST_KERNELS),$(SOAK_SIZE_KERNEL)),\
	$(B)/kunit-$(SOAK_SIZE_KERNEL)/stamp,$(addsuffix -$(SOAK_SIZE_KERNEL)/stamp,\
	$(B)/kmod $(B)/vmtest))

.PHONY: coverage coverage-ready
## coverage: which lines of module/ and compiler/ the tests run
coverage: packages
	@$(MAKE) --no-print-directory -s coverage-ready
	@$(PYTHON) -B test/coverage.py

hostile-ready: all-ready $(GUEST) $(if $(filter $(TEST_KERNELS),$(HOSTILE_KERNEL)),\
	$(B)/kunit-$(HOSTILE_KERNEL)/stamp,$(addsuffix -$(HOSTILE_KERNEL)/stamp,\
	$(B)/kmod $(B)/vmtest))

coverage-ready: $(B)/cov/hpt $(B)/cov/kunit $(B)/cov/ampc fast-ready

# What each ring builds before it runs.
fast-ready: $(FAST) all-ready
core-ready: fast-ready $(GUEST) $(B)/kmod-6.12/stamp $(B)/vmtest-6.12/stamp
kunit-ready: fast-ready $(KUNIT_MODULES)
vm-ready: fast-ready $(GUEST) $(GUEST_MODULES) $(B)/sparse-6.12/stamp
debug-ready: vm-ready $(KUNIT_MODULES)
night-ready: debug-ready sparse apps-tried
