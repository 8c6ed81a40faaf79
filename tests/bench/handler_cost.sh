#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What a sample costs in the handler, by call depth, against its goals at depths 50 and 200; and where the program has driven everything of the collector's from
# the processor's caches.
. tests/collector/lib.sh
: "${CC:=cc}"
$CC -shared -fPIC -std=gnu11 -O2 -D_GNU_SOURCE -include "$BUILD/config.h" -I. -fvisibility=hidden -ftls-model=initial-exec -o "$TMP/cost.so" \
    tests/bench/handler_cost.c -Wl,--whole-archive "$BUILD/libhqpreload.a" -Wl,--no-whole-archive -Wl,--wrap=sample -lm || exit 1
status=0

# row PROGRAM DEPTH GOAL: a line of the table; GOAL in nanoseconds, 0 for none.
row() {
    mkdir -p "$DB/measurements"
    HQ_COST_FILE=$TMP/cost HQ_DIR=$DB/measurements HQ_LAUNCH=1 HQ_EVENTS=REALTIME@1000000 LD_PRELOAD=$TMP/cost.so "$PROGRAMS/$1" "$2" 3
    awk -v p="$1" -v d="$2" -v goal="$3" '{ v[$1] = $2 } END {
        verdict = !goal ? "" : v["high_ns"] <= goal ? "<= " goal ": met" : v["low_ns"] > goal ? "<= " goal ": missed" : "<= " goal ": not resolved"
        printf "%-8s %6d %8d %7d %7d [%d, %d] %7d %7d %10s %14s  %s\n", p, d, v["samples"], v["p10_ns"], v["median_ns"], v["low_ns"], v["high_ns"],
            v["p90_ns"], v["p99_ns"], v["memo_hits"], v["frames_reused"], verdict
        exit verdict ~ /missed/ }' "$TMP/cost" || status=1
    rm -rf "$DB"
}
echo "program   depth  samples  p10_ns  median_ns [95 %]     p90_ns  p99_ns  memo_hits  frames_reused"
row depth 10 0
row depth 50 1000
row depth 200 2000
row depth 1000 0
row cold 10 0
row cold 50 0
exit $status
