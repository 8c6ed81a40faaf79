#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 200
# kill -9 at random moments: what was measured until then is there and sound, and the database can be built from it.
. tests/collector/lib.sh
# Here some; tests/soak/killed.sh runs 300 and builds after each.
times=${HQ_KILLS:-40} every=${HQ_BUILD_EVERY:-20}

unsound=0 empty=0 unbuilt=0 missing=0
RANDOM=7
for ((i = 0; i < times; i++)); do
    rm -rf "$DB"
    "$HQ" record -e CPUTIME@1000/s -o "$DB" -- "$PROGRAMS/paths" 10 1 2>"$TMP/err" &
    until [ -n "$(ls "$DB"/measurements/*.hqm 2>/dev/null)" ]; do :; done
    # Between 0 and 0.2 s after the file has appeared.
    read -rt "0.$(printf %03d $((RANDOM % 200)))" <> <(:)
    name=$(ls "$DB"/measurements/)
    pid=$(echo "$name" | sed -nE 's/.*-([0-9]+)-[0-9]+\.hqm$/\1/p' | head -1)
    kill -9 "$pid"
    wait 2>/dev/null
    "$READ" "$DB/measurements" >"$TMP/sums" 2>&1
    sound || { unsound=$((unsound + 1)); cat "$TMP/sums"; }
    [ "$(value samples)" -gt 0 ] || empty=$((empty + 1))
    # A sample is in its cell before it is counted: at most the one in flight per thread is uncounted.
    holds "$(value 'count CPUTIME') - $(value samples) <= 2 && $(value 'count CPUTIME') >= $(value samples)" || missing=$((missing + 1))
    if [ $((i % every)) = 0 ] && "$HQ" build --help >/dev/null 2>&1; then
        "$HQ" build "$DB" >"$TMP/out" 2>&1 || { unbuilt=$((unbuilt + 1)); cat "$TMP/out"; }
    fi
done
check "$times kills leave sound files" [ $unsound = 0 ]
check "and lose at most the sample in flight" [ $missing = 0 ]
check "and can be built" [ $unbuilt = 0 ]
check "most have samples" [ $empty -lt $((times / 2)) ]
finish
