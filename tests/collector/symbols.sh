#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What the collector needs from the C library and what it puts in the program's way are two committed lists: growth has to be looked at.
# `tests/collector/symbols.sh --write` renews them.
. tests/collector/lib.sh
libraries="libhqpreload.so libhqexact.so libhqmpi.so libhqgpu.so"
names() { nm -D "$1" "$(dirname "$HQ")/$2" | sed -E 's/@.*//' | awk '{ print $NF }' | grep -vE '^(_ITM_|__gmon_start__|__cxa_finalize)' | LC_ALL=C sort -u; }
# What the other three define are the functions that they are for (tables of their own), and what they need of the first is ours.
list() {
    case $1 in
    --defined-only) names "$1" libhqpreload.so ;;
    *) for library in $libraries; do names "$1" "$library" | grep -vE '^hq_' | sed "s/^/$library /"; done ;;
    esac
}
for kind in undefined defined; do
    file=tests/collector/symbols.$kind
    if [ "${1:-}" = --write ]; then
        list --$kind-only >$file
        continue
    fi
    list --$kind-only >"$TMP/$kind"
    # What is asked for by one compiler (strncmp), another may do without; what is defined is ours.
    grep -vxF -f $file "$TMP/$kind" >"$TMP/err"
    [ $kind = undefined ] || grep -vxF -f "$TMP/$kind" $file >>"$TMP/err"
    check "$kind symbols are those in $file" [ ! -s "$TMP/err" ]
done
# Functions are looked up while AddressSanitizer begins: gcc 10's strcmp and strrchr are there by then and lead nowhere.
for part in libc defined weak; do
    object=$(ls "$(dirname "$HQ")/$BUILD/preload/$part.o" "$BUILD/preload/$part.o" 2>/dev/null | head -1)
    [ "${1:-}" = --write ] || [ -z "$object" ] || check "looking functions up takes none of those that a sanitizer replaces ($part)" [ -z "$(nm "$object" | grep -E ' U (str[^e]|mem)')" ]
done
# It runs where the C library is 2.28 or later: newer functions are looked up when they are needed (preload/libc.h).
newer() {
    for library in $libraries; do
        readelf -V "$(dirname "$HQ")/$library" | grep -o 'GLIBC_[0-9.]*' | sort -u | awk -F'[_.]' '$2 > 2 || $3 > 28'
    done
}
[ "${1:-}" = --write ] || check "no version of the C library after 2.28 is asked for" [ -z "$(newer)" ]
[ "${1:-}" = --write ] || finish
