#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that do what few do (registers, stacks, clocks, traps, being stopped) print what they print without hq, and end as they end, under each clock.
. tests/collector/lib.sh
ulimit -c 0
{
for program in guests trapped handled early; do for kind in $("$PROGRAMS/$program"); do
    setsid -w timeout 60 "$PROGRAMS/$program" "$kind" >"$TMP/alone" 2>/dev/null
    alone=$?
    marked=
    case $kind in dispatches | breakpoints | breakpoint-once | suspended-breakpoint | suspended-often | other-storage | *-early) marked="--mark spin -e CPUTIME@1000/s" ;; esac
    case $kind in deep-generated | generated-runtime) marked="-e REALTIME@20000/s" ;; esac # a walk takes longer than a period
    case $kind in *-early) export HQ_MARKS_BY=breakpoints ;; *) unset HQ_MARKS_BY ;; esac
    for way in "-e CPUTIME@1000/s" "--clock timer -e CPUTIME@1000/s" "-e REALTIME@2000/s" ${marked:+"$marked"}; do
        # Without a terminal, and in a session of its own: who stops, stops the program alone.
        setsid -w timeout 60 "$HQ" record --force -o "$DB" $way -- "$PROGRAMS/$program" "$kind" >"$TMP/out" 2>"$TMP/err"
        status=$?
        "$READ" "$DB/measurements" >"$TMP/sums" 2>&1
        check "$kind, $way: ends as without hq ($alone, $status)" [ $status = $alone ]
        check "$kind, $way: prints what it prints without hq" cmp "$TMP/alone" "$TMP/out"
        case $kind in other-storage | keyed-stack | unreadable-code)
            # By time: where others want the processor few samples stand for all of it.
            check "$kind, $way: is measured" holds "$(awk '/^sum (CPU|REAL)TIME/ { ns += $NF } END { print ns / 1e6 }' "$TMP/sums") > 20" ;;
        esac
        check "$kind, $way: the files keep the format's rules" sound
    done
done; done
} 2>"$TMP/shell" # the shell's own words of those that end by a signal
finish
