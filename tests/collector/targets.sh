#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Target regions that run on the host, regions that are written in tasks, tasks that a jump or a fork leaves behind, and work of a runtime's threads of which
# no region is known.
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

# Tasks that were created before a fork and run behind it: their places are none of the child's. libomp's child has no tasks.
cat >"$TMP/forked.c" <<'C'
#include <omp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "burn.h"
static volatile int done, go;

int main(void)
{
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
        for (int i = 0; i < 2; i++)
#pragma omp task
        {
            burn(0.05);
            done++;
        }
        pid_t child = fork();
#pragma omp taskwait
        if (!child) {
            printf("%d\n", done);
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        go = 1;
    } else {
        while (!go)
            usleep(1000);
    }
    printf("%d\n", done);
    return 0;
}
C
# Jumps out of tasks leave nothing behind for those that follow. libgomp hangs by them, without hq too.
cat >"$TMP/jumped.c" <<'C'
#include <setjmp.h>
#include "burn.h"
static jmp_buf back;
static __attribute__((noinline)) void leave(int i)
{
#pragma omp task firstprivate(i)
    longjmp(back, i + 1);
#pragma omp taskwait
}
static __attribute__((noinline)) void later(void)
{
#pragma omp task
    {
        burn(0.1);
        __asm__ volatile("");
    }
#pragma omp taskwait
    __asm__ volatile("");
}
int main(void)
{
#pragma omp parallel num_threads(2)
#pragma omp master
    {
        for (volatile int i = 0; i < 40; i++)
            if (!setjmp(back))
                leave(i);
        later();
    }
    return 0;
}
C
left_behind() {
    record -e CPUTIME@500/s -- "$TMP/left"
    if [ $1 = gcc ]; then
        check "libgomp: tasks run behind a fork" [ "$status $(tr '\n' ' ' <"$TMP/out")" = "0 2 2 " ]
        check "libgomp: what they do is of no place of the parent's" sound
    else
        check "libomp: a task behind jumps out of others is below the call that creates it" holds "$(rows 'tree of later all columns cputime' | awk -F, '$3 ~ /^task at/ { s += $NF } END { print s + 0 }') > 0.09"
    fi
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
    [ $compiler = gcc ] && left=forked || left=jumped
    $compiler -O1 $options -o "$TMP/left" "$TMP/$left.c" && left_behind $compiler
done
if [ $compiler = clang ] && [ -x "$TMP/within" ]; then
    OMP_TOOL=disabled OMP_NUM_THREADS=2 record -e CPUTIME@500/s -- "$TMP/targets"
    check "without a tool no work is below an idle row" [ "$(rows 'tree all columns kind' | awk -F, '{ idle[$8] = $3 ~ /^\[idle/ } $3 == "burn" { for (d = 0; d < $8; d++) n += idle[d]; m++ } END { print (m ? n + 0 : "none") }')" = 0 ]
fi
finish
