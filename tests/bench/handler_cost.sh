#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What a sample costs in the handler, by call depth: with the processor's caches as the program leaves them between two samples.
. tests/collector/lib.sh
: "${CC:=cc}"
objects=()
for source in preload/*.c preload/sources/*.c; do
    [ ! -e "$BUILD/${source%.c}.o" ] || objects+=("$BUILD/${source%.c}.o")
done
$CC -shared -fPIC -std=gnu11 -O2 -D_GNU_SOURCE -include "$BUILD/config.h" -I. -fvisibility=hidden -ftls-model=initial-exec -o "$TMP/cost.so" \
    tests/bench/handler_cost.c "${objects[@]}" -Wl,--wrap=sample || exit 1
printf '%8s %10s %10s %10s %10s %10s %12s %14s\n' depth samples p10_ns median_ns p90_ns p99_ns memo_hits frames_reused
for depth in 10 50 200 1000; do
    mkdir -p "$DB/measurements"
    HQ_COST_FILE=$TMP/cost HQ_DIR=$DB/measurements HQ_LAUNCH=1 HQ_EVENTS=REALTIME@1000000 LD_PRELOAD=$TMP/cost.so "$PROGRAMS/depth" $depth 3
    awk -v d=$depth '{ v[$1] = $2 } END { printf "%8d %10d %10d %10d %10d %10d %12s %14s\n", d, v["samples"], v["p10_ns"], v["median_ns"], v["p90_ns"], v["p99_ns"], v["memo_hits"], v["frames_reused"] }' "$TMP/cost"
    rm -rf "$DB"
done
