#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Threads that wait under REALTIME: they are left alone, and all of the wait is counted where it was (tests/programs/idle.c knows how long).
. tests/collector/lib.sh

# seconds PROCEDURE: its inclusive time; 0: it is not there.
seconds() { "$HQ" "$DB" "procedures where name == '$1' as csv" 2>"$TMP/asked" | awk -F, '$3 == "'"$1"'" { n = $9 } END { printf "%.4f\n", n + 0 }'; }
told() { awk -v k="$1" '$1 == k { print $2 }' "$TMP/out"; }
# about A B SHARE: they differ by no more than that share of B and a twentieth of a second.
about() { holds "($1) - ($2) <= $3 * ($2) + 0.05 && ($2) - ($1) <= $3 * ($2) + 0.05"; }

# A wait costs a few samples, however long it is; without that there are 2000 a second and thread. Every period of it is counted: what the
# program says it has waited begins after the thread's clock, and ends before.
for how in barrier cond sem read poll epoll futex raw; do
    threads=40
    record -e REALTIME@2000/s -- "$PROGRAMS/idle" crowd $how $threads 0.2
    check "$how: ends well" [ $status = 0 ]
    check "$how: files sound" sound
    most=$threads # and what the initial thread takes while it works; samples without a wrapper double their distance
    [ $how = raw ] && most=$((threads * (16 + $(told elapsed | cut -d. -f1) * 3)))
    of_waits=$(paths | awk '/;waits/ { n++ } END { print n + 0 }')
    check "$how: the waits are seen" [ "$of_waits" -gt 0 ]
    samples=$("$HQ" "$DB" "threads" as csv 2>/dev/null | wc -l)
    check "$how: each thread has its row" [ "$samples" -gt $threads ]
    taken=$(value samples) working=$(awk -v s="$(told elapsed)" 'BEGIN { print int(s * 2000) + 100 }')
    check "$how: waits are not sampled ($taken samples, $working at most by the thread that works)" [ "$taken" -le $((working + 3 * most)) ]
    check "$how: all of the wait is counted: $(seconds waits) of $(told waited) s" about "$(seconds waits)" "$(told waited)" 0.02
done

# Work between waits: as much as the program knows, none of it in the wait. Where no wrapper tells, the first tick of a burst finds it, and
# what of it came before is known by its CPU time only: on a busy machine less than has passed.
for how in cond read futex; do
    [ $how = read ] && continue # its end is for good
    record -e REALTIME@2000/s -- "$PROGRAMS/idle" bursts $how
    check "$how, bursts: $(seconds works) of $(told worked) s of work" about "$(seconds works)" "$(told worked)" 0.1
    check "$how, bursts: $(seconds waits) of $(told waited) s of waiting" about "$(seconds waits)" "$(told waited)" 0.05
done
record -e REALTIME@2000/s -- "$PROGRAMS/idle" bursts raw
check "raw, bursts: sound" sound
check "raw, bursts: $(seconds works) of $(told worked) s of work" holds "$(seconds works) > 0.15 && $(seconds works) < 1.15 * $(told worked) + 0.1"
check "raw, bursts: the sum is right" about "$(seconds works) + $(seconds waits)" "$(told worked) + $(told waited)" 0.03

# What a handler does that is entered during a wait is no wait.
record -e REALTIME@2000/s -- "$PROGRAMS/idle" handler
check "handler: $(seconds works) of $(told worked) s of work" about "$(seconds works)" "$(told worked)" 0.1
check "handler: the sum is right" about "$(seconds main)" "$(told elapsed)" 0.02
record -e REALTIME@2000/s -- "$PROGRAMS/idle" jump
check "jump: $(seconds works) of $(told worked) s of work" about "$(seconds works)" "$(told worked)" 0.1
check "jump: $(seconds jump) s, all of it" about "$(seconds jump)" "$(told elapsed)" 0.02
record -e REALTIME@2000/s -- "$PROGRAMS/idle" cancelled
check "cancelled: $(seconds waits) of $(told waited) s" about "$(seconds waits)" "$(told waited)" 0.05

# Of a wait in a closed window nothing counts, also where it goes on afterwards, or to the end.
record -e REALTIME@2000/s -- "$PROGRAMS/idle" window
check "window: $(seconds waits) of $(told waited) s" about "$(seconds waits)" "$(told waited)" 0.05
record -e REALTIME@200/s --duration 1s -- timeout -s INT 3 "$PROGRAMS/idle" last
check "duration: $(seconds works) + $(seconds waits_for_ever) s of one" holds "$(seconds works) + $(seconds waits_for_ever) < 1.02"


# Asked while it waits it has waited until now; after kill -9 until its last sign of life, which comes each second.
held timeout 100 "$HQ" record --force -e REALTIME@200/s -o "$DB" -- "$PROGRAMS/idle" last >/dev/null 2>"$TMP/err"
until [ -n "$(ls "$DB"/measurements/*.hqm 2>/dev/null)" ]; do :; done
asked=0 begun=$SECONDS
while holds "$asked < 2.5" && [ $((SECONDS - begun)) -lt 60 ]; do
    asked=$(seconds waits_for_ever)
done
check "asked while it waits: $asked s" holds "$asked >= 2.5 && $asked < $((SECONDS - begun + 2))"
check "the slices of the wait are it" holds "$("$HQ" "$DB" "procedures during 60%..80% where name == 'waits_for_ever' as csv" 2>/dev/null | awk -F, 'NR == 2 { print $9 + 0 }') > 0.3"
victim=$(ls "$DB"/measurements/*.hqm | head -n 1) victim=${victim%-*}
order "${victim##*-}" KILL
ended
"$READ" "$DB/measurements" >"$TMP/sums" 2>&1
check "killed: sound" sound
check "killed: $(seconds waits_for_ever) s, of $asked and more" holds "$(seconds waits_for_ever) > $asked - 1.5"

# What adjoining slices hold adds up, and a wait lies where it was.
record -e REALTIME@200/s -- "$PROGRAMS/idle" bursts sem
whole=$(seconds waits)
slice() { "$HQ" "$DB" "procedures during $1 where name == 'waits' as csv" 2>/dev/null | awk -F, '$3 == "waits" { n = $9 } END { print n + 0 }'; }
parts=$(awk -v a="$(slice 0%..13%)" -v b="$(slice 13%..14%)" -v c="$(slice 14%..77.7%)" -v d="$(slice 77.7%..100%)" 'BEGIN { print a + b + c + d }')
check "slices add up: $parts of $whole" holds "($parts - $whole) ^ 2 < 1e-9"
finish
