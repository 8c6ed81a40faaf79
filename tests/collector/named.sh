#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs whose own functions have the names of those that the collector wraps, or would call, and that begin threads themselves: what they do, and their status, are as without hq.
. tests/collector/lib.sh
for program in named forwards begun; do
    timeout 60 "$PROGRAMS/$program" >"$TMP/alone" 2>/dev/null
    alone=$?
    for way in "-e CPUTIME@1000/s" "--clock timer -e CPUTIME@1000/s" "-e REALTIME@1000/s" "-e REALTIME -e ALLOC -e IO -e LOCK" "-e CPUTIME -e MPI" "-e CPUTIME -e GPU" "--mark main -e CPUTIME"; do
        record $way -- "$PROGRAMS/$program"
        check "$program, $way: ends as without hq ($alone, $status)" [ $status = $alone ]
        check "$program, $way: prints what it prints without hq" cmp "$TMP/alone" "$TMP/out"
        check "$program, $way: is measured" holds "$(value samples) > 0"
        check "$program, $way: the files keep the format's rules" sound
        [ $program = begun ] || continue
        # Its first handler in a child is not the collector's: one file, one clock.
        check "$program, $way: a file for each of the two processes" [ "$(value files)" = 2 ]
        check "$program, $way: no CPU time is counted twice" holds "$(awk '/^sum CPUTIME/ { ns += $NF } END { print ns + 0 }' "$TMP/sums") < $(awk '/^child/ { print $2 * 1.05 + 9e7 }' "$TMP/err")"
    done
done
finish
