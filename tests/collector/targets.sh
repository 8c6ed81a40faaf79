#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Target regions that run on the host, regions that are written in tasks, and work of a runtime's threads of which no region is known.
. tests/collector/lib.sh

# rows QUERY: what it answers, without the header.
rows() { "$HQ" "$DB" "$1 as csv" 2>>"$TMP/err" | sed '1d; s/\r$//'; }


cat >"$TMP/targets.c" <<'C'
#include "burn.h"
#include <omp.h>

static __attribute__((noinline)) void part(void)
{
#pragma omp target
    burn(0.1);
    __asm__ volatile("");
}
int main(void)
{
#pragma omp target
    burn(0.1);
    part();
#pragma omp target teams distribute parallel for num_teams(1) thread_limit(2)
    for (int i = 0; i < 2; i++)
        burn(0.1);
#pragma omp target nowait
    {
        burn(0.1);
        __asm__ volatile("");
    }
#pragma omp taskwait
    return 0;
}
C
# targets NAME: what holds by either compiler.
targets() {
    OMP_NUM_THREADS=2 record -e CPUTIME@500/s -- "$TMP/targets"
    check "$1: the program runs as ever" [ $status = 0 ]
    for at in "main 12" "part 6" "main 15"; do
        check "$1: a target region stands in $at" [ "$(rows "tree of ${at% *} depth 2 all columns cputime" | awk -F, -v t="target at targets.c:${at#* }" '$3 == t' | wc -l)" = 1 ]
    done
    check "$1: it has its work" holds "$(rows 'tree of "target at targets.c:12" all columns cputime' | awk -F, '$3 == "burn" { s += $NF } END { print s + 0 }') > 0.09"
    check "$1: one that runs while its thread waits, too" holds "$(rows 'tree of main all columns cputime' | awk -F, '$3 == "target at targets.c:18" { s += $NF } END { print s + 0 }') > 0.09"
    check "$1: both threads' work is in a region below the third" holds "$(rows 'tree of "target at targets.c:15" all columns cputime' | awk -F, '$3 == "parallel region at targets.c:15" { s += $NF } END { print s + 0 }') > 0.18"
    check "$1: nothing seems to call itself" [ "$("$HQ" "$DB" 'tree all as table' 2>>"$TMP/err" | grep -c recursive)" = 0 ]
    check "$1: bodies are no procedures" [ "$(rows 'procedures all' | grep -cE 'omp_fn|omp_outlined|offloading|kmp_')" = 0 ]
    check "$1: a target region has no team" [ "$(rows 'regions all' | grep -c "target at")" = 0 ]
    check "$1: no work is in the runtime" [ "$(rows 'tree all columns kind' | awk -F, '$3 == "burn" { for (d = 0; d < $8; d++) n += runtime[d] } { runtime[$8] = $3 ~ /^\[(fork|idle)/ } END { print n + 0 }')" = 0 ]
    for setting in off on; do
        check "$1: every sample is there, internals $setting" holds "$("$HQ" "$DB" "set internals $setting; modules all columns cputime.x as csv" 2>>"$TMP/err" | awk -F, 'NR > 1 { s += $NF } END { printf "%.0f\n", s * 1e9 }') == $(value 'sum CPUTIME')"
    done
}

cat >"$TMP/within.c" <<'C'
#include "burn.h"
static __attribute__((noinline)) void solve(void)
{
#pragma omp task
    {
#pragma omp parallel num_threads(2)
        burn(0.1);
        __asm__ volatile("");
    }
#pragma omp taskwait
    __asm__ volatile("");
}
int main(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    solve();
    return 0;
}
C
within() {
    record -e CPUTIME@500/s -- "$TMP/within"
    check "$1: a region in a task hangs below the task" [ "$(rows 'tree of "task at within.c:4" depth 2 all' | awk -F, '$3 == "parallel region at within.c:6"' | wc -l)" = 1 ]
    check "$1: it is one of the procedure that the task is written in" [ "$(rows 'regions of solve' | grep -c 'region at within.c:6')" = 1 ]
    check "$1: its procedure is not recursive" [ "$("$HQ" "$DB" 'tree all as table' 2>>"$TMP/err" | grep -c recursive)" = 0 ]
}

for compiler in gcc clang; do
    options="-g -fopenmp -Itests/programs"
    for level in -O0 -O2; do
        if ! $compiler $level $options -w -o "$TMP/targets" "$TMP/targets.c" 2>"$TMP/err"; then
            skip "there is no $compiler with OpenMP"
            continue 2
        fi
        targets "$compiler $level"
    done
    $compiler -O2 $options -o "$TMP/within" "$TMP/within.c" && within $compiler
done
if [ $compiler = clang ] && [ -x "$TMP/within" ]; then
    OMP_TOOL=disabled OMP_NUM_THREADS=2 record -e CPUTIME@500/s -- "$TMP/targets"
    check "without a tool no work is below an idle row" [ "$(rows 'tree all columns kind' | awk -F, '{ idle[$8] = $3 ~ /^\[idle/ } $3 == "burn" { for (d = 0; d < $8; d++) n += idle[d]; m++ } END { print (m ? n + 0 : "none") }')" = 0 ]
fi
finish
