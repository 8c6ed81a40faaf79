#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What `make collector` makes: an hq that records and needs the C library alone. The whole hq answers as of its own recordings.
. tests/collector/lib.sh
small=$TMP/collector
: "${CC:=gcc}"
# Its libraries are those of the tree, of the same sources; compiled without optimization it takes seconds.
make --no-print-directory COLLECTOR=1 BUILD="$TMP/objects" HQ="$small/bin/hq" CC="$CC" CFLAGS=-O0 "$small/bin/hq" >"$TMP/out" 2>"$TMP/err"
check "it is built" [ $? = 0 ]
mkdir -p "$small/lib/hq"
cp libhq{preload,exact,mpi,gpu}.so "$small/lib/hq/"
# alone FILE: beside the C library's own it needs what lies in its directory.
alone() { ldd "$1" | awk '$1 !~ /^(\/.*\/)?(ld-linux|linux-vdso|lib(c|m|dl|rt|pthread|hqpreload))/ { print; bad = 1 } END { exit bad }'; }
for file in "$small/bin/hq" "$small"/lib/hq/*.so; do
    check "${file##*/} needs the C library alone" alone "$file"
done
check "no library is asked for when it is built" grep -q '^#define HQ_VERSION' "$TMP/objects/config.h"
check "of the libraries it knows the counters' only" [ -z "$(grep -o 'HQ_HAVE_[A-Z0-9]*' "$TMP/objects/config.h" | grep -v PAPI)" ]

whole=$HQ
HQ=$small/bin/hq
record -e CPUTIME@1000/s --with-binaries -- "$PROGRAMS/split" 0.7
check "the program's status" [ $status = 0 ]
check "sound files" sound
check "the closing line" grep -qE '^hq: [0-9]+ samples, 1 thread, 1 process in ' "$TMP/err"
check "the binaries" grep -q 'are kept in' "$TMP/err"
grep -E '^(files|event|threads|perf-clock|timer)' "$TMP/sums" | sed 's/[0-9][0-9]*$//' >"$TMP/kind"
# Of 700 samples, five standard errors.
check "the known split" holds "$(share ';heavy(;|$)') > 60 && $(share ';heavy(;|$)') < 80"
check "a whole hq finds the loops" [ -n "$("$whole" "$DB" loops 2>/dev/null | grep 'split.c:')" ]
check "and nothing wrong" "$whole" verify "$DB"
HQ=$whole
record -e CPUTIME@1000/s --with-binaries -- "$PROGRAMS/split" 0.7
grep -E '^(files|event|threads|perf-clock|timer)' "$TMP/sums" | sed 's/[0-9][0-9]*$//' >"$TMP/kind.whole"
check "the measurements are of one kind" cmp "$TMP/kind" "$TMP/kind.whole"

# refused WORDS: one sentence that says where to go, status 2.
refused() {
    "$small/bin/hq" "$@" >"$TMP/out" 2>"$TMP/err"
    [ $? = 2 ] && [ "$(wc -l <"$TMP/err")" = 1 ] && grep -q 'whole hq' "$TMP/err"
}
check "a database is for a whole hq" refused "$DB" "hot path"
check "so is every other command" refused check "$DB"
check "and help of the language" refused help where
check "--mark, too" refused record --mark main -o "$TMP/m.hq" -- true
check "nothing is recorded then" [ ! -e "$TMP/m.hq" ]
check "help" eval '"$small/bin/hq" --help | grep -q "hq record -o DB"'
check "help record" eval '"$small/bin/hq" help record | grep -q -- --with-binaries'
check "the version is the whole one's" [ "$("$small/bin/hq" --version)" = "$("$whole" --version)" ]
"$small/bin/hq" record --runs 2 -o "$TMP/r.runs" -- "$PROGRAMS/split" 0.1 >"$TMP/out" 2>"$TMP/err"
check "--runs: a set" [ $? = 0 ]
check "--runs: joined by the first question" eval '"$whole" "$TMP/r.runs" "procedures of heavy" 2>"$TMP/err" | grep -q heavy'
if "$whole" record --by=perf -o "$TMP/probe.hq" -- true 2>/dev/null; then
    "$small/bin/hq" record --by=perf -e CPUTIME@1000/s -o "$TMP/p.hq" -- "$PROGRAMS/split" 0.7 >"$TMP/out" 2>"$TMP/err"
    check "--by=perf: recorded" [ $? = 0 ]
    check "--by=perf: unwound by a whole hq" eval '"$whole" "$TMP/p.hq" "procedures of heavy" 2>"$TMP/err" | grep -q heavy'
fi
finish
