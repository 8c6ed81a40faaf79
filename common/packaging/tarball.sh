#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# tarball.sh VERSION DIRECTORY: DIRECTORY/hq-VERSION-MACHINE.tar.gz from DIRECTORY/hq-VERSION.tar.gz, which runs where it is unpacked, without root: hq,
# the collector, and every library that hq needs but the C library's. hq itself needs a C library at least as new as
# the one it was built with (the archive's README says which); the collector runs from glibc 2.28 on. So a cluster is
# served by a build on the oldest release there is. The same commit gives the same bytes where compiler and libraries are the same.
set -euo pipefail
name=hq-$1-$(uname -m)
out=$(cd "$2" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tar -x -C "$scratch" -f "$out/hq-$1.tar.gz"
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
# DT_RPATH, as it holds for what libraries need in their turn. What MPI is on the cluster is not known here.
${MAKE:-make} -C "$scratch/hq-$1" --no-print-directory install DEPS=no MPI_KINDS= PREFIX="/$name" DESTDIR="$scratch" \
    CFLAGS="${CFLAGS:--O2 -g} -ffile-prefix-map=$scratch/hq-$1=." LDFLAGS="${LDFLAGS:-} -Wl,--disable-new-dtags -Wl,-rpath,'\$\$ORIGIN/../lib/hq/needs'" >"$scratch/log" 2>&1 ||
    { tail -20 "$scratch/log" >&2; exit 1; }
top=$scratch/$name
mkdir "$top/lib/hq/needs"
ldd "$top/bin/hq" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
    grep -vE '/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|resolv|util))\.so' | while read -r library; do
    cp -L "$library" "$top/lib/hq/needs/"
done
least() { readelf -V "$@" 2>/dev/null | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -1 | tr _ ' '; }
cat >"$top/README" <<END
hq $1 for $(uname -m) Linux. It runs from where it lies: bin/hq --help. bin/ may be put on PATH by a link.

hq needs $(least "$top/bin/hq" "$top"/lib/hq/needs/*.so*) or later, the collector, which runs in the programs, GLIBC 2.28.
lib/hq/needs holds the libraries that hq was built with, under their own licences (share/doc/hq/licences); readline is
under the GPL, so the whole may be passed on under its terms only. Documentation: share/doc/hq.
END
mkdir "$top/share/doc/hq/licences"
for library in "$top"/lib/hq/needs/*; do
    package=$(dpkg-query -S "*/$(basename "$library")" 2>/dev/null | head -1 | sed 's/:.*//') || true
    [ -z "$package" ] || [ ! -e "/usr/share/doc/$package/copyright" ] || cp "/usr/share/doc/$package/copyright" "$top/share/doc/hq/licences/$package"
done
strip --strip-unneeded "$top/bin/hq" "$top"/lib/hq/needs/*
tar --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" -c -C "$scratch" "$name" |
    gzip -9n >"$out/$name.tar.gz"
echo "$2/$name.tar.gz"
