#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Each kind of package is made, twice with the same bytes or files, put into a root of its own, records and answers there, and leaves nothing behind. Needs root.
set -u
TMP=$(mktemp -d) packages=build/packages
trap 'rm -rf "$TMP"' EXIT
passed=0 failed=0
check() {
    if "${@:2}" >"$TMP/log" 2>&1; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $1"; tail -5 "$TMP/log"; fi
}
make -s deps-package
# works HQ: it records a program in C with debug information, and finds what costs.
printf 'int main(void) { volatile double x = 1; for (long i = 0; i < 300000000; i++) x = x * 1.0000001; return x < 0; }\n' >"$TMP/busy.c"
gcc -O1 -g -o "$TMP/busy" "$TMP/busy.c"
works() {
    rm -rf "$TMP/db"
    "$1" record -o "$TMP/db" -- "$TMP/busy" && "$1" "$TMP/db" "loops" | grep -q 'busy.c:1' && "$1" help
}
# twice KIND PATTERN...: made a second time, in another directory, the packages have the same bytes.
twice() {
    local kind=$1
    shift
    check "make $kind" make "$kind"
    mkdir -p "$TMP/first/$kind"
    (cd $packages && cp $* "$TMP/first/$kind/")
    (umask 077; TZ=Asia/Tokyo make "$kind") >"$TMP/log" 2>&1
    check "make $kind again" [ $? = 0 ]
    for package in "$TMP/first/$kind"/*; do
        case $package in
        # An RPM notes the directory where it was made.
        *.rpm) check "${package##*/}: the same files" [ "$(rpm -qp --dump "$package")" = "$(rpm -qp --dump "$packages/${package##*/}")" ] ;;
        *) check "${package##*/}: the same bytes" cmp "$package" "$packages/${package##*/}" ;;
        esac
    done
}
twice deb "*.deb *.debian.tar.xz"
root=$TMP/deb
mkdir -p "$root/var/lib/dpkg"/{info,updates,triggers} && : >"$root/var/lib/dpkg/status"
in_root() { dpkg --root="$root" --force-depends --force-not-root "$@"; }
# The same as if it were of an earlier version, with a file that is no more.
mkdir "$TMP/earlier"
for package in $packages/hq_*.deb $packages/libhq-collector_*.deb $packages/hq-doc_*.deb; do
    dpkg-deb -R "$package" "$TMP/unpacked"
    sed -i -E 's/^Version: .*/Version: 0.0.1-1/; s/\(= [^)]*\)/(= 0.0.1-1)/' "$TMP/unpacked/DEBIAN/control"
    touch "$TMP/unpacked/usr/share/doc/$(dpkg-deb -f "$package" Package)/gone"
    dpkg-deb --root-owner-group -b "$TMP/unpacked" "$TMP/earlier/${package##*/}" >/dev/null
    rm -r "$TMP/unpacked"
done
check "dpkg installs an earlier version" in_root -i "$TMP"/earlier/*.deb
check "of which there is a file" [ -e "$root/usr/share/doc/hq/gone" ]
check "dpkg upgrades them" in_root -i $packages/hq_*.deb $packages/libhq-collector_*.deb $packages/hq-doc_*.deb
check "and removes what is no more" [ -z "$(find "$root" -name gone)" ]
check "hq of the Debian packages works" works "$root/usr/bin/hq"
check "its manual pages are there" ls "$root/usr/share/man/man1/hq.1.gz" "$root/usr/share/man/man5/hq-language.5.gz"
check "dpkg installs them again" in_root -i $packages/hq_*.deb $packages/libhq-collector_*.deb
check "dpkg removes them" in_root -P hq libhq-collector hq-doc
check "and nothing is left" [ -z "$(find "$root" -path "$root/var/lib/dpkg" -prune -o ! -type d -print)" ]
twice rpm "hq-*.rpm"
root=$TMP/rpm
mkdir -p "$root"
check "rpm installs them" rpm --root "$root" --dbpath /var/lib/rpm --nodeps -i $packages/hq-[0-9]*.x86_64.rpm $packages/hq-collector-*.rpm
check "hq of the RPMs works" works "$root/usr/bin/hq"
check "rpm removes them" rpm --root "$root" --dbpath /var/lib/rpm --nodeps -e hq hq-collector
check "and nothing is left" [ -z "$(find "$root" -path "$root/var/lib/rpm" -prune -o ! -type d -print)" ]
twice tarball "hq-*-x86_64.tar.gz"
mkdir "$TMP/a place"
check "it is unpacked" tar -C "$TMP/a place" -xzf $packages/hq-*-x86_64.tar.gz
hq=$(echo "$TMP/a place"/hq-*/bin/hq)
check "hq of the archive works" works "$hq"
check "with its own libraries" [ -z "$(ldd "$hq" | sed -n 's,.*=> /,/,p' | grep -vE '/lib/hq/needs/|/lib(c|m|dl|rt|pthread)\.so')" ]
echo "packages: $passed passed, $failed failed"
[ $failed = 0 ]
