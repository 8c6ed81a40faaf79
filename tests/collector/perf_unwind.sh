#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Paths of copied stacks are those that libunwind finds in the same copies by its remote interface, sample by sample.
. tests/collector/lib.sh
: "${CC:=cc}"

if ! "$HQ" record --by=perf -o "$TMP/probe.hq" -- true 2>"$TMP/err"; then
    skip "the kernel's software clock may not be used here"
    finish
fi
libraries=$(sed -n '/^MPI/d; /^PAPI/d; s/^[A-Z0-9]*_LIBS = //p' "$BUILD/config.mk" | tr '\n' ' ')
# shellcheck disable=SC2086
$CC -std=gnu11 -O2 -D_GNU_SOURCE -include "$BUILD/config.h" -I. -o "$TMP/oracle" tests/collector/perf_oracle.c "$BUILD/libhq.a" \
    -lunwind-x86_64 -lunwind $libraries -lm -ldl -lpthread || exit 1

# run NAME LEAST COMMAND...: samples a program, and unwinds the samples twice.
run() {
    local name=$1 least=$2
    shift 2
    timeout 60 "$HQ" record --by=perf --force -e CPUTIME@2000/s -o "$DB" -- "$@" >"$TMP/out" 2>"$TMP/err"
    timeout 60 "$TMP/oracle" "$DB"/measurements/*.perf >"$TMP/sums" 2>>"$TMP/err"
    local equal different lost
    equal=$(value equal) different=$(value different) lost=$(value lost)
    check "$name: enough samples" holds "$equal >= $least"
    # What is being installed or thrown has no right answer in a copy: one in two hundred.
    check "$name: no path differs" holds "$different <= 0.005 * ($equal + $lost)"
    check "$name: libunwind can judge most" holds "$lost < $equal"
    # Had --max-size been reached half-way, what came behind would have the same paths.
    stream=$(ls "$DB"/measurements/*.perf)
    rm -rf "$TMP/live" && mkdir -p "$TMP/live" && cp "$DB"/measurements/vdso-* "$TMP/live/"
    "$BUILD/tools/relive" "$stream" "$TMP/live/${stream##*/}" $(($(stat -c %s "$stream") / 2)) "$(ls "$DB"/measurements/vdso-*)" 2>>"$TMP/err"
    check "$name: half is unwound at once" holds "$(stat -c %s "$TMP/live/${stream##*/}") < 0.9 * $(stat -c %s "$stream")"
    "$HQ" build "$DB" >"$TMP/out" 2>>"$TMP/err"
    "$HQ" build -o "$TMP/live.db" "$TMP/live" >"$TMP/out" 2>>"$TMP/err"
    paths | sort >"$TMP/paths"
    "$READ" "$TMP/live" paths | sort >"$TMP/live.paths"
    check "$name: with the same paths" cmp "$TMP/paths" "$TMP/live.paths"
    echo "$name: equal $equal, lost $lost, partial $(value partial), different $different"
}
run split 100 "$PROGRAMS/split" 0.5
run paths 100 "$PROGRAMS/paths" 0.5
run adversary 100 "$PROGRAMS/adversary" 0.5
run plugins 100 "$PROGRAMS/adversary" 0.5 "$PROGRAMS"
run exceptions 100 "$PROGRAMS/throws" 0.5
run python 50 /usr/bin/python3 -c 'import time
while time.process_time() < 0.5: sum(i * i for i in range(100000))'
finish
