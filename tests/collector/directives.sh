#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Each directive of OpenMP that opens a region has a row by its line, with the entries that the program counts itself; and bodies of regions of which the debug
# information tells no line (flang's) have that of the call that opens them.
. tests/collector/lib.sh

# rows QUERY: what it answers, without the header.
rows() { "$HQ" "$DB" "$1 as csv" 2>>"$TMP/err" | sed '1d; s/\r$//'; }

# directives PROGRAM RUNTIME
directives() {
    record -e CPUTIME@500/s -- "$1"
    check "$2: the program runs as ever" [ $status = 0 ]
    check "$2: the files keep the format's rules" sound
    check "$2: all call paths are whole" full 100
    rows 'set names full; regions columns entries all' | awk -F, '{ sub(/.* at /, "", $3); print $3, $NF }' | sort >"$TMP/seen"
    sort "$TMP/out" >"$TMP/opened"
    check "$2: regions of $(wc -l <"$TMP/opened") lines have the entries of the program: $(diff "$TMP/opened" "$TMP/seen" | tr '\n' ' ')" cmp -s "$TMP/opened" "$TMP/seen"
    for setting in off on; do
        "$HQ" "$DB" "set internals $setting; modules all columns cputime.x as csv" 2>>"$TMP/err" | awk -F, 'NR > 1 { sum += $NF } END { printf "%.0f\n", sum * 1e9 }' >"$TMP/$setting"
        check "$2: the database has every sample, internals $setting" holds "$(cat "$TMP/$setting") == $(value 'sum CPUTIME')"
    done
    rows 'procedures all' >"$TMP/procedures"
    check "$2: bodies are no procedures of their own" [ "$(grep -cE 'omp_fn|omp_outlined' "$TMP/procedures")" = 0 ]
}

directives "$PROGRAMS/directives" libgomp

# What flang makes: a body without any line, in a program that has them. Two regions that are opened on one line stay two.
cat >"$TMP/lineless.c" <<'C'
#include "burn.h"
#define BOTH _Pragma("omp parallel num_threads(2)") burn(0.01); _Pragma("omp parallel num_threads(2)") burn(0.02)
static __attribute__((noinline)) void solve(void)
{
#pragma omp parallel num_threads(2)
    burn(0.01);
    BOTH;
    __asm__ volatile("");
}
int main(void)
{
    for (int i = 0; i < 5; i++)
        solve();
    return 0;
}
C
if clang -O1 -gline-tables-only -fopenmp -Itests/programs -S -o "$TMP/lines.s" "$TMP/lineless.c" 2>"$TMP/err"; then
    awk '/^[^ \t.]*\.?omp_outlined.*:/ || /^\.omp_outlined.*:/ { body = 1 } /^\.Lfunc_end/ { body = 0 }
         body && $1 == ".loc" { $0 = "\t.loc\t" $2 " 0 0"; changed = 1 } { print } END { exit !changed }' "$TMP/lines.s" >"$TMP/lineless.s"
    check "lineless: bodies had lines" [ $? = 0 ]
    check "lineless: it is assembled" clang -fopenmp -o "$TMP/lineless" "$TMP/lineless.s"
    record -e CPUTIME@500/s -- "$TMP/lineless"
    rows 'regions columns entries' | awk -F, '{ print $3, $NF }' | sort >"$TMP/seen"
    check "lineless: regions have the lines of their calls: $(tr '\n' ';' <"$TMP/seen")" [ "$(tr '\n' ';' <"$TMP/seen")" = \
        "parallel region called at lineless.c:5 5;parallel region called at lineless.c:7 5;parallel region called at lineless.c:7 5;" ]
    check "lineless: in their procedure" [ "$(rows 'tree of solve columns kind' | grep -c '^[^,]*,region,')" = 3 ]
    clang -O2 -g -fopenmp -pthread -Itests/programs -o "$TMP/directives" tests/programs/directives.c 2>"$TMP/err" && directives "$TMP/directives" libomp
else
    skip "there is no clang with libomp"
fi
finish
