#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# rpm.sh VERSION DIRECTORY: source and binary RPM from DIRECTORY/hq-VERSION.tar.gz, in DIRECTORY. On a system whose
# packages have other names than the spec's (Debian), what it needs to be built is not looked at: `make deps` has seen to it.
# The same commit gives the same files where compiler and libraries are the same; rpm notes the directory of the build.
set -euo pipefail
version=$1
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
out=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"/{BUILD,BUILDROOT,RPMS,SOURCES,SPECS,SRPMS}
cp "$out/hq-$version.tar.gz" "$scratch/SOURCES/"
sed "s/@VERSION@/$version/g" "$here/hq.spec" >"$scratch/SPECS/hq.spec"
export CFLAGS="${CFLAGS:-$(rpm -E %optflags) -g} -ffile-prefix-map=$scratch/BUILD=."
# Their rights are packed, too.
chmod 644 "$scratch"/SOURCES/* "$scratch"/SPECS/*
touch -d "@$SOURCE_DATE_EPOCH" "$scratch"/SOURCES/* "$scratch"/SPECS/*
options=(--define "_topdir $scratch" --define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1" --define "_buildhost localhost")
[ ! -e /etc/debian_version ] || options+=(--nodeps)
rpmbuild "${options[@]}" -ba "$scratch/SPECS/hq.spec" >"$scratch/log" 2>&1 ||
    { tail -40 "$scratch/log" >&2; echo "make rpm: rpmbuild failed" >&2; exit 1; }
find "$scratch/RPMS" "$scratch/SRPMS" -name '*.rpm' -exec cp {} "$out" \;
ls "$out"/*.rpm
