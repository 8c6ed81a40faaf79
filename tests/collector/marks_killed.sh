#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# kill -9 at random moments of a program with a marked procedure, which keeps its own count in a file: no visit is lost but the one in flight.
# HQ_KILLS: how often; HQ_SEED: other moments.
. tests/collector/lib.sh
times=${HQ_KILLS:-8}
RANDOM=${HQ_SEED:-11}
wrong=0 visits=0

for ((i = 0; i < times; i++)); do
    rm -rf "$DB" "$TMP/count"
    held "$HQ" record --mark counted -o "$DB" -- "$PROGRAMS/visited" counted "$TMP/count" >/dev/null 2>"$TMP/err"
    for ((tries = 0; tries < 6000; tries++)); do
        [ -s "$TMP/count" ] && break
        read -rt 0.01 <> <(:)
    done
    if [ ! -s "$TMP/count" ]; then
        check "kill $i: the program begins within a minute" false
        order all KILL
        ended
        break
    fi
    read -rt "0.$(printf %03d $((RANDOM % 200)))" <> <(:)
    victim=$(ls "$DB"/measurements/*.hqm)
    victim=${victim%-*}
    order "${victim##*-}" KILL
    ended
    "$READ" "$DB/measurements" >"$TMP/sums" 2>&1
    count=$(od -An -t u8 -N 8 "$TMP/count" | tr -d ' ')
    entries=$(value entries) marks=$(value marks)
    visits=$((visits + count))
    # The program counts behind the entry. An entry is counted, then noted; so is the way out.
    if ! sound || ! holds "$entries - $count >= 0 && $entries - $count <= 1 && 2 * $entries - $marks >= 0 && 2 * $entries - $marks <= 2"; then
        wrong=$((wrong + 1))
        echo "kill $i: the program made $count visits, hq has $entries entries and $marks marks"
    fi
done
check "$times kills in $visits visits lose at most the one in flight" [ $wrong = 0 ]
"$HQ" "$DB" 'iterations of counted limit 1' >"$TMP/out" 2>"$TMP/err"
shown=$(awk '$2 == "visits" || $2 == "visits," { print $1; exit }' "$TMP/err")
check "the database is built from what is left" holds "$entries - ${shown:-0} >= 0 && $entries - ${shown:-0} <= 1"
finish
