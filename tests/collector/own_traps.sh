#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A program that has the kernel send it SIGTRAPs for perf events of its own gets them all, as it does without hq: the software clock is not beside them.
. tests/collector/lib.sh
ROUNDS=5000
"$PROGRAMS/own_traps" own 10 >"$TMP/alone" 2>"$TMP/err"
case $? in
0) ;;
77) echo "skipped: $(cat "$TMP/err")"; exit 77 ;;
*) cat "$TMP/err"; exit 1 ;;
esac
check "the events tell of each hit" grep -qx "10 of 10" "$TMP/alone"

# lost: of the program's signals.
lost() { awk '{ print $3 - $1 }' "$TMP/out"; }
for kind in own forked inherited other bare-own bare-inherited bare-other; do
    "$PROGRAMS/own_traps" $kind $ROUNDS >"$TMP/alone"
    record -e CPUTIME@4000/s --clock=perf -- "$PROGRAMS/own_traps" $kind $ROUNDS
    check "$kind: ends as without hq" [ $status = 0 ]
    case $kind in
    own | forked | inherited) check "$kind: as many signals as without hq" cmp "$TMP/alone" "$TMP/out" ;;
    # A thread that runs already, or learns of its event by the first signal, changes then: one can be lost.
    *) check "$kind: signals are lost once a thread at most" holds "$(lost) >= 0 && $(lost) <= 2" ;;
    esac
    check "$kind: the files keep the format's rules" sound
    if [ "$(value perf-clock)" = 0 ]; then
        skip "$kind: there is no software clock here"
        continue
    fi
    check "$kind: a timer is the clock" [ "$(value timer-threads)" -gt 0 ]
    "$HQ" "$DB" info >"$TMP/info" 2>&1
    check "$kind: info tells why" grep -q "^warning .*perf events that send SIGTRAP" "$TMP/info"
done
finish
