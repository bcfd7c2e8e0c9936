# SPDX-License-Identifier: GPL-2.0-only
# Installing: make install, for all; the module's sources for DKMS; Debian's packages.
#
# Where things go is said here once: debian/*.install take it from there by its name.

prefix ?= /usr/local
bindir ?= $(prefix)/bin
libdir ?= $(prefix)/lib
includedir ?= $(prefix)/include
datadir ?= $(prefix)/share
mandir ?= $(datadir)/man
srcdir ?= $(prefix)/src
udevdir ?= $(prefix)/lib/udev
sysusersdir ?= $(prefix)/lib/sysusers.d
modulesloaddir ?= $(prefix)/lib/modules-load.d
docdir ?= $(datadir)/doc/hipec
completiondir ?= $(datadir)/bash-completion/completions
# The command finds these, and docdir, from where it is itself: userlib/program/install_path.h.
pkglibdir = $(bindir)/../lib/hipec
pkgdatadir = $(bindir)/../share/hipec
# Debian's Python looks into dist-packages, with a version below /usr/local.
pythondir ?= $(prefix)/lib/$(if $(filter /usr,$(prefix)),python3,$(shell \
	$(PYTHON) -c 'import sys; print("python3.%d" % sys.version_info[1])'))/dist-packages

# The Python package; _abi.py is made.
PYTHON_FILES := $(patsubst userlib/lib/%,$(B)/%,$(wildcard userlib/lib/python/hipec/*.py \
	userlib/lib/python/hipec/py.typed)) $(B)/python/hipec/_abi.py

INSTALLED := $(B)/ampc $(B)/hipec $(B)/libhipec.a $(B)/libhipec.so $(B)/libhipectrace.so \
	$(SHIPPED_HPO) $(PROFILE_PY:userlib/%=$(B)/%) $(SERVE:userlib/%=$(B)/%) \
	$(addprefix $(B)/,$(call native_to,$(NATIVE_H))) $(B)/man.stamp $(B)/hipec.bash \
	$(B)/schemas.stamp $(PYTHON_FILES)

ALL += $(INSTALLED)

$(B)/man.stamp: $(addprefix packaging/,manual.py helptext.py markdown.py parameters.py) \
		$(addprefix docs/,policy/language.md policy/ampc.md user/traces.md user/operations.md \
		user/amp.md) \
		$(call room,lib) userlib/lib/hipec.h $(wildcard module/*.c module/*/*.c) $(B)/hipec $(B)/ampc
	@rm -rf $(B)/man
	$(call show,MAN)packaging/manual.py $(B)/hipec $(B)/ampc $(B)/man
	@touch $@

$(B)/hipec.bash: packaging/completion.py packaging/helptext.py $(B)/hipec $(B)/ampc
	$(call show,GEN)packaging/completion.py $(B)/hipec $(B)/ampc >$@

$(B)/python/hipec/%: userlib/lib/python/hipec/%
	@install -D -m 644 $< $@

$(B)/python/hipec/_abi.py: userlib/lib/python/abi.py module/include/uapi/hipec.h Makefile
	@mkdir -p $(@D)
	$(call show,GEN)userlib/lib/python/abi.py module/include/uapi/hipec.h $(VERSION) >$@

# $(call fill,FILE): print it, with what it leaves open.
fill = sed -e 's|@prefix@|$(prefix)|g' -e 's|@libdir@|$(libdir)|g' \
	-e 's|@includedir@|$(includedir)|g' -e 's|@version@|$(VERSION)|g' $(1)

# The module's sources: all but tests and what is ours to build it with.
DKMS_SRC := $(shell find module -name '*.[chS]' -not -path 'module/tests/*') module/Kbuild \
	module/include/uapi/Linux-syscall-note

D = $(DESTDIR)
.PHONY: install install-ready uninstall
install-ready: $(INSTALLED)

## install: all but the module, below DESTDIR= and prefix=/usr/local; docs/user/install.md
install: install-ready
	install -d $(D)$(bindir) $(D)$(libdir)/pkgconfig $(D)$(includedir)/linux \
		$(D)$(prefix)/lib $(D)$(prefix)/share
	install -d $(D)$(pkglibdir) $(D)$(pkgdatadir)/policies $(D)$(pkgdatadir)/profile \
		$(D)$(pkgdatadir)/schemas $(D)$(pkgdatadir)/serve $(D)$(pkgdatadir)/sweep
	install $(B)/hipec $(B)/ampc $(D)$(bindir)
	install -m 644 $(B)/libhipec.a $(D)$(libdir)
	install -m 644 $(B)/libhipec.so $(D)$(libdir)/$(SONAME).$(VERSION)
	ln -sf $(SONAME).$(VERSION) $(D)$(libdir)/$(SONAME)
	ln -sf $(SONAME) $(D)$(libdir)/libhipec.so
	$(call fill,userlib/lib/hipec.pc.in) >$(D)$(libdir)/pkgconfig/hipec.pc
	install -m 644 userlib/lib/hipec.h $(D)$(includedir)
	install -m 644 module/include/uapi/*.h $(D)$(includedir)/linux
	install -m 644 $(B)/libhipectrace.so $(D)$(pkglibdir)
	install -m 644 $(SHIPPED_HPO) $(wildcard policies/*.hp) $(D)$(pkgdatadir)/policies
	install $(PROFILE_PY) $(D)$(pkgdatadir)/profile
	install -m 644 $(B)/schemas/*.json $(D)$(pkgdatadir)/schemas
	install $(SERVE) $(D)$(pkgdatadir)/serve
	install $(SWEEP_PY) $(D)$(pkgdatadir)/sweep
	$(foreach f,$(call native_to,$(NATIVE_H)),install -D -m 644 $(B)/$(f) \
		$(D)$(pkgdatadir)/$(f) &&) true
	cd $(B)/man && for page in */*; do sed 's|@docdir@|$(docdir)|g' $$page | \
		install -D -m 644 /dev/stdin $(D)$(mandir)/$$page || exit; done
	install -D -m 644 -t $(D)$(docdir) README.md CONTRIBUTING.md
	find docs -type f ! -path 'docs/generate/*' ! -name '*.mk' ! -name '*.sh' \
		-exec install -D -m 644 {} $(D)$(docdir)/{} \;
	install -D -m 644 -t $(D)$(docdir)/examples test/packaging/install/weak.c \
		packaging/hipec-attach@.service packaging/grafana.json
	install -D -m 644 $(B)/hipec.bash $(D)$(completiondir)/hipec
	ln -sf hipec $(D)$(completiondir)/ampc
	install -D -m 644 -t $(D)$(pythondir)/hipec $(PYTHON_FILES)
	install -D -m 644 packaging/60-hipec.rules $(D)$(udevdir)/rules.d/60-hipec.rules
	install -D -m 644 packaging/hipec.sysusers $(D)$(sysusersdir)/hipec.conf
	install -D -m 644 packaging/hipec.modules-load $(D)$(modulesloaddir)/hipec.conf
	$(foreach f,$(DKMS_SRC),install -D -m 644 $(f) \
		$(D)$(srcdir)/hipec-$(VERSION)/$(f:module/%=%) &&) true
	$(call fill,packaging/dkms.conf.in) >$(D)$(srcdir)/hipec-$(VERSION)/dkms.conf
	$(close) 'made: all but the module, in $(D)$(prefix); next: dkms install $(srcdir)/hipec-$(VERSION)'

# What install would write is what goes, and the folders of ours that are empty then.
## uninstall: remove what make install installed, with the same DESTDIR= and prefix=
uninstall:
	@rm -rf $(B)/uninstall
	@$(MAKE) -s install DESTDIR=$(CURDIR)/$(B)/uninstall
	@cd $(B)/uninstall && find . ! -type d -printf '$(D)/%P\0' | xargs -0 rm -f
	@cd $(B)/uninstall && find . -depth -type d -path '*hipec*' -printf '$(D)/%P\0' | \
		xargs -0 rmdir --ignore-fail-on-non-empty
	@rm -rf $(B)/uninstall

# In a copy of the tree, which has debian/ where Debian's tools want it.
.PHONY: deb deb-run
## deb: Debian packages, in build/deb: hipec-dkms, hipec-tools, libhipec0, libhipec-dev, python3-hipec
deb: packages-deb
	@$(MAKE) --no-print-directory deb-run

deb-run:
	@rm -rf $(B)/deb && mkdir -p $(B)/deb/hipec
	@tar -c --exclude=./$(B) --exclude=./.git --exclude=__pycache__ . | tar -x -C $(B)/deb/hipec
	@cp -r packaging/debian $(B)/deb/hipec/debian
	@cd $(B)/deb/hipec && DEB_BUILD_OPTIONS="noautodbgsym parallel=$$(nproc)" MAKEFLAGS= \
		MAKEOVERRIDES= dpkg-buildpackage --build=binary --no-sign
	@rm -rf $(B)/deb/hipec
	$(close) "made: $$(echo $(B)/deb/*.deb); next: sudo apt install ./$(B)/deb/*.deb"
