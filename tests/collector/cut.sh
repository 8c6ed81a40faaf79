#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Measurement files that are made shorter while they are written do not end the program, whatever it does with SIGBUS; and programs that handle, send, block and wait for
# SIGBUS, or make children without handlers, print what they print without hq, and end as they end.
. tests/collector/lib.sh
ulimit -c 0
: "${CC:=cc}"
{
# like_alone PROGRAM KIND WAYS...: recorded each of these ways it ends and prints as without hq, and tells what becomes of its file.
like_alone() {
    local program=$1 kind=$2 name=${1##*/} way
    shift 2
    timeout 60 "$program" "$kind" >"$TMP/alone" 2>/dev/null
    alone=$?
    for way; do
        record $way -- "$program" "$kind"
        check "$name $kind, $way: ends as without hq ($alone, $status)" [ $status = $alone ]
        check "$name $kind, $way: prints what it prints without hq" cmp "$TMP/alone" "$TMP/out"
        case $kind in
        to-* | while-* | with-*) check "$name $kind, $way: tells that the file was cut" grep -q "measurement file cannot be written any more" "$TMP/err" ;;
        *) check "$name $kind, $way: the files keep the format's rules" sound ;;
        esac
    done
}
for kind in $("$PROGRAMS/cut"); do
    marked=
    [ "$kind" != to-nothing ] || marked="--mark work -e CPUTIME@500/s"
    [ "$kind" != sent-by-another ] || marked="-e REALTIME@20000/s"
    like_alone "$PROGRAMS/cut" "$kind" "-e CPUTIME@1000/s" "--clock timer -e CPUTIME@1000/s -e ALLOC" "-e REALTIME@1000/s" ${marked:+"$marked"}
done
# AddressSanitizer handles SIGBUS too, without deferring it; asked for, whatever the program or a library says.
if $CC -fsanitize=address -O1 -o "$TMP/sanitized" -I tests/programs tests/programs/cut.c -lpthread 2>/dev/null; then
    for kind in to-nothing while-blocked sent waited-for; do
        ASAN_OPTIONS=handle_sigbus=1 like_alone "$TMP/sanitized" "$kind" "-e CPUTIME@1000/s -e ALLOC"
        ASAN_OPTIONS=handle_sigbus=2 like_alone "$TMP/sanitized" "$kind" "--clock timer -e CPUTIME@1000/s"
    done
else
    skip "there is no AddressSanitizer"
fi
} 2>"$TMP/shell" # the shell's own words of those that end by a signal
finish
