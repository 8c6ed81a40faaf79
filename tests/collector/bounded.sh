#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# --max-size: the trace keeps the newest records, costs stay complete, and answers say from when on. Very deep stacks.
. tests/collector/lib.sh
cost() { "$HQ" "$DB" "$1 as csv" 2>"$TMP/notes" | awk -F, -v n="$2" '$3 == n { s = $9 } END { print s + 0 }'; }

record --max-size 256KiB -e REALTIME@20000/s -- "$PROGRAMS/idle" crowd cond 2 2.5
bytes=$(stat -c %s "$DB"/measurements/*.hqm)
check "the program ends well" [ $status = 0 ]
check "sound" sound
check "the file is bounded: $bytes bytes" [ "$bytes" -le $((256 * 1024 * 3 / 2)) ]
check "info says since when" grep -Eq '^trace +complete from [0-9.]+ s on; [0-9]+ records' <("$HQ" "$DB" info 2>&1)
worked=$(awk '$1 == "worked" { print $2 }' "$TMP/out")
check "costs are complete: $(cost procedures works) of $worked s" holds "($(cost procedures works) - $worked) ^ 2 < (0.02 * $worked + 0.02) ^ 2"
check "a slice before that is told" grep -q 'the traces begin at' <("$HQ" "$DB" "procedures during 0%..20%" 2>&1)
check "so is a picture" grep -q 'the traces begin at' <("$HQ" "$DB" "trace" 2>&1)
last=$(cost "procedures during 99.5%.." works)
check "the end is there: $last s" holds "$last > 0.3 * 0.005 * $worked"
check "and nothing to be told of it" [ "$(grep -c 'traces begin' "$TMP/notes")" = 0 ]
record --max-size 100KiB -- true
check "too little is refused" [ "$status:$(grep -c '256KiB is the least' "$TMP/err")" = 2:1 ]
record --max-size 1MiB --no-trace -- true
check "a bound of no trace is refused" [ "$status" = 2 ]

# What is walked is bounded, and so is the time that it takes.
(ulimit -s unlimited 2>/dev/null || ulimit -s "$(ulimit -H -s)"; record -e CPUTIME@200/s -- "$PROGRAMS/depth" 100000 0.3; exit $status)
status=$?
"$READ" "$DB/measurements" >"$TMP/sums" 2>&1
check "100,000 frames: ends well" [ $status = 0 ]
check "100,000 frames: sound" sound
check "100,000 frames: samples, told to be partial" cut_short 5
finish
