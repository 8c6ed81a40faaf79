#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that leave parallel regions as no runtime likes it (exit, abort, jumps, exceptions, fork, exec, threads that end), or come to them from signal handlers and
# threads of their own: they print what they print without hq, end as they end, and what was measured keeps the rules.
. tests/collector/lib.sh
ulimit -c 0

# alike NAME COMMAND...: with and without hq. Threads print in any order.
alike() {
    local name=$1 alone
    shift
    timeout 60 "$@" >"$TMP/alone" 2>/dev/null
    alone=$?
    record -e CPUTIME@1000/s -- "$@"
    check "$name: ends as without hq" [ $status = $alone ]
    check "$name: prints what it prints without hq" cmp <(sort "$TMP/alone") <(sort "$TMP/out")
    check "$name: the files keep the format's rules" sound
    "$HQ" "$DB" "tree depth 3" >/dev/null 2>"$TMP/err"
    check "$name: nothing is said to be damaged" [ "$(grep -c warning "$TMP/err")" = 0 ]
    check "$name: the verifier finds nothing" "$HQ" verify "$DB"
}

all() {
    for kind in $("$2"); do alike "$1: $kind" "$2" "$kind"; done
    alike "$1: exceptions caught" "$3"
    alike "$1: an exception out of a region" "$3" out
}
{
all libgomp "$PROGRAMS/rude" "$PROGRAMS/rude_throws"
if clang -O1 -g -fopenmp -pthread -o "$TMP/rude" tests/programs/rude.c 2>"$TMP/err" &&
    clang++ -O1 -g -fopenmp -o "$TMP/rude_throws" tests/programs/rude_throws.cc 2>"$TMP/err"; then
    all libomp "$TMP/rude" "$TMP/rude_throws"
else
    skip "there is no clang with libomp"
fi
} 2>"$TMP/shell" # the shell's own words of those that end by a signal
finish
