#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What the collector needs from the C library and what it puts in the program's way are two committed lists: growth has to be looked at.
# `tests/collector/symbols.sh --write` renews them.
. tests/collector/lib.sh
list() { nm -D "$1" "$(dirname "$HQ")/libhqpreload.so" | sed -E 's/@.*//' | awk '{ print $NF }' | grep -vE '^(_ITM_|__gmon_start__|__cxa_finalize)' | LC_ALL=C sort -u; }
for kind in undefined defined; do
    file=tests/collector/symbols.$kind
    if [ "${1:-}" = --write ]; then
        list --$kind-only >$file
        continue
    fi
    list --$kind-only >"$TMP/$kind"
    check "$kind symbols are as in $file" diff $file "$TMP/$kind"
done
[ "${1:-}" = --write ] || finish
