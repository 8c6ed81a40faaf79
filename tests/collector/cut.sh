#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Measurement files that are made shorter while they are written do not end the program, whatever it does with SIGBUS; and programs that handle, send, block and wait for
# SIGBUS, or make children without handlers, print what they print without hq, and end as they end.
. tests/collector/lib.sh
ulimit -c 0
{
for kind in $("$PROGRAMS/cut"); do
    timeout 60 "$PROGRAMS/cut" "$kind" >"$TMP/alone" 2>/dev/null
    alone=$?
    marked=
    [ "$kind" != to-nothing ] || marked="--mark work -e CPUTIME@500/s"
    for way in "-e CPUTIME@1000/s" "--clock timer -e CPUTIME@1000/s -e ALLOC" "-e REALTIME@1000/s" ${marked:+"$marked"}; do
        record $way -- "$PROGRAMS/cut" "$kind"
        check "$kind, $way: ends as without hq ($alone, $status)" [ $status = $alone ]
        check "$kind, $way: prints what it prints without hq" cmp "$TMP/alone" "$TMP/out"
        case $kind in
        to-* | while-* | with-*) check "$kind, $way: tells that the file was cut" grep -q "measurement file cannot be written any more" "$TMP/err" ;;
        *) check "$kind, $way: the files keep the format's rules" sound ;;
        esac
    done
done
} 2>"$TMP/shell" # the shell's own words of those that end by a signal
finish
