#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# deb.sh VERSION DIRECTORY: Debian's source and binary packages from DIRECTORY/hq-VERSION.tar.gz, in DIRECTORY. The
# packaging lies here and is laid into a scratch copy, so a distribution can take its own. MAINTAINER, "Name <address>",
# is who packs it; without, nobody's address stands there, which lintian is not asked about.
set -euo pipefail
version=$1
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
maintainer=${MAINTAINER:-The hq authors <hq@localhost>}
accepted=bad-distribution-in-changes-file,initial-upload-closes-no-bugs
[ -n "${MAINTAINER:-}" ] || accepted=$accepted,bogus-mail-host,bogus-mail-host-in-debian-changelog
out=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$out/hq-$version.tar.gz" "$scratch/hq_$version.orig.tar.gz"
tar -x -C "$scratch" -f "$scratch/hq_$version.orig.tar.gz"
cp -r "$here/debian" "$scratch/hq-$version/debian"
sed -i "s/^Maintainer:.*/Maintainer: $maintainer/" "$scratch/hq-$version/debian/control"
cat >"$scratch/hq-$version/debian/changelog" <<END
hq ($version-1) unstable; urgency=medium

  * What has changed is told in doc/CHANGELOG.md.

 -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
# Whatever umask the clone was made with, and this is run with.
chmod -R u=rwX,go=rX "$scratch/hq-$version/debian"
cd "$scratch/hq-$version"
DEB_BUILD_OPTIONS="nocheck parallel=$(nproc) ${DEB_BUILD_OPTIONS:-}" dpkg-buildpackage -us -uc >"$scratch/log" 2>&1 ||
    { tail -40 "$scratch/log" >&2; echo "make deb: dpkg-buildpackage failed" >&2; exit 1; }
cd "$scratch"
lintian --fail-on error --suppress-tags "$accepted" ./*.changes || { echo "make deb: lintian found errors" >&2; exit 1; }
cp ./*.deb ./*.dsc ./*.debian.tar.* ./*.orig.tar.* ./*.changes ./*.buildinfo "$out"
ls "$out"/*.deb
