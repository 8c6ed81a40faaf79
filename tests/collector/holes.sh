#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What a program has unmapped stays free until it maps something there itself: nothing of the collector's comes to lie there.
. tests/collector/lib.sh
ulimit -c 0
for pages in 1 64 512; do
    timeout 60 "$PROGRAMS/holes" $pages >"$TMP/alone"
    check "$pages pages: without hq nobody else maps anything there" grep -qx "0 pages of others, 0 bytes changed" "$TMP/alone"
    for way in "-e CPUTIME@5000/s" "--clock timer -e CPUTIME@1000/s -e ALLOC" "-e REALTIME@5000/s"; do
        record $way -- "$PROGRAMS/holes" $pages
        check "$pages pages, $way: ends as without hq" [ $status = 0 ]
        check "$pages pages, $way: finds its pages as without hq" cmp "$TMP/alone" "$TMP/out"
        check "$pages pages, $way: the files keep the format's rules" sound
    done
done
finish
