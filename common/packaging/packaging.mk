# SPDX-License-Identifier: BSD-3-Clause
# Packages, made from the last commit into build/packages/: a source archive (the same bytes whoever makes it), Debian's,
# an RPM, and an archive of binaries that runs where it is unpacked. doc/packages.md tells what is in them.

PACKAGE_DIR = build/packages

.PHONY: dist deb rpm tarball check-in deps-package
dist: deps-build
	$(Q)common/packaging/dist.sh $(VERSION) $(PACKAGE_DIR)
deb: deps-build deps-package dist
	$(Q)common/packaging/deb.sh $(VERSION) $(PACKAGE_DIR)
rpm: deps-build deps-package dist
	$(Q)common/packaging/rpm.sh $(VERSION) $(PACKAGE_DIR)
tarball: deps-build dist
	+$(Q)MAKE='$(MAKE) -j$(JOBS)' CC='$(CC)' common/packaging/tarball.sh $(VERSION) $(PACKAGE_DIR)
# make check-in SUITE=trixie [TARGET=check-fast]: everything from nothing in a fresh Debian of that release (root, debootstrap)
check-in:
	$(Q)common/packaging/check_in.sh '$(or $(SUITE),$(error which release of Debian: make check-in SUITE=trixie))' '$(or $(TARGET),check)'
