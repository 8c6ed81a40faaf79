#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Phases that a program marks by hq.h and hq.f90: scopes on the call path of every thread, counted and timed exactly, also in C++, Fortran, across
# procedures of the program's own, in forked children, and beside parallel regions.
. tests/collector/lib.sh

# rows QUERY: what it answers, without the header.
rows() { "$HQ" "$DB" "$1 as csv" 2>>"$TMP/err" | sed '1d; s/\r$//'; }
visits() { rows "iterations of phase \"$1\"" | wc -l; }

"$PROGRAMS/marked" 3 0 >"$TMP/bare"
check "without the collector it runs as ever" [ "$(cat "$TMP/bare")" = 30 ]

record -e CPUTIME@500/s -- "$PROGRAMS/marked" 40 2.37
check "the program runs as ever" [ $status = 0 ]
check "the files keep the format's rules" sound
check "all call paths are whole" full 100
check "as many entries as the program counts" [ "$(value entries)" = "$(cat "$TMP/out")" ]
check "and two marks for each" [ "$(value marks)" = $((2 * $(cat "$TMP/out"))) ]
check "each step is a visit" [ "$(visits step)" = 80 ]
check "the verifier finds nothing" "$HQ" verify "$DB"
check "each deep one, of nested ones the outermost" [ "$(visits deep)" = 80 ]
# A step is its two phases and next to nothing else, whatever else runs on the machine meanwhile.
for phase in step assemble solve; do
    rows "iterations of phase \"$phase\"" | awk -F, '{ sum += $10 } END { print sum }' >"$TMP/$phase"
done
check "a step is as long as what is in it" holds "$(cat "$TMP/step") * 0.8 < $(cat "$TMP/assemble") + $(cat "$TMP/solve") && $(cat "$TMP/assemble") + $(cat "$TMP/solve") <= $(cat "$TMP/step") * 1.0001"
rows 'tree all columns kind' >"$TMP/tree"
check "a phase is a scope in the procedure that begins it" grep -q 'phase step' "$TMP/tree"
"$HQ" "$DB" 'tree all columns cputime.x as folded' 2>>"$TMP/err" >"$TMP/folded"
check "and of the wrappers' caller" grep -q 'solve;phase solve;burn' "$TMP/folded"
check "what it calls lies in it" [ "$(grep 'burn' "$TMP/folded" | grep -vc 'phase step')" = 0 ]
# A share of about 1 : 3 by CPU time; four hundred samples and more, so 1/4 +- 0.12 is five standard deviations.
rows 'tree of phase "assemble" depth 1 columns share = cputime / @cputime' | awk -F, '{ print $NF }' >"$TMP/share"
check "shares of CPU time as the program has them ($(cat "$TMP/share"))" holds "$(cat "$TMP/share") > 0.13 && $(cat "$TMP/share") < 0.37"

cat >"$TMP/scopes.cc" <<'END'
#include "hq.h"
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>
static volatile unsigned long sink;
static void work(int n)
{
    hq_phase phase("work");
    for (long i = 0; i < n * 2000000L; i++)
        sink += (unsigned long)i;
    if (n > 1)
        throw n;
}
int main()
{
    int caught = 0;
    for (int i = 0; i < 30; i++) {
        hq_phase step("step");
        try {
            work(1 + i % 2);
        } catch (int) {
            caught++;
        }
    }
    hq_phase_begin("forks");
    if (!fork()) {
        hq_phase_begin("child");
        hq_phase_end();
        hq_phase_end();
        hq_phase_end(); /* one more than there are */
        hq_phase_begin("child");
        exit(0); /* within */
    }
    wait(NULL);
    hq_phase_end();
    printf("%d\n", caught);
}
END
for level in 0 2; do
    g++ -O$level -g -Ipreload -o "$TMP/scopes" "$TMP/scopes.cc" 2>"$TMP/err"
    record -- "$TMP/scopes"
    check "C++ -O$level: objects close their phase, also by an exception" [ "$(visits work) $(visits step) $(cat "$TMP/out")" = "30 30 15" ]
    check "C++ -O$level: in a child what its parent was in is not counted" [ "$(visits forks) $(visits child)" = "1 2" ]
    check "C++ -O$level: the files keep the format's rules" sound
    check "C++ -O$level: the verifier finds nothing" "$HQ" verify "$DB"
    check "C++ -O$level: phases nest" [ "$("$HQ" "$DB" 'tree of phase "work" all columns kind depth 1 as csv' 2>>"$TMP/err" | grep -c 'phase work')" = 1 ]
done

if command -v gfortran >/dev/null; then
    cat >"$TMP/main.f90" <<'END'
program main
   use hq
   implicit none
   integer :: i, k
   real(8) :: s
   s = 0
   call hq_phase_begin('outer')
   do i = 1, 25
      call hq_phase_begin('inner  ')
      do k = 1, 1000000
         s = s + sqrt(real(i + k, 8))
      end do
      call hq_phase_end()
   end do
   call hq_phase_end()
   print '(l1)', s > 0
end program main
END
    gfortran -g -J"$TMP" -o "$TMP/fortran" preload/hq.f90 "$TMP/main.f90" -ldl 2>"$TMP/err"
    check "Fortran: without the collector it runs as ever" [ "$("$TMP/fortran")" = T ]
    record -e CPUTIME@500/s -- "$TMP/fortran"
    check "Fortran: phases are counted, blanks are no part of a name" [ "$(visits outer) $(visits inner)" = "1 25" ]
    check "Fortran: the files keep the format's rules" sound
fi

# Parallel regions are marked by who opens them: as many visits as entries.
record -e CPUTIME@500/s -- "$PROGRAMS/openmp" 0.02
opened=$(value entries)
check "each entry of a region has two marks" [ "$(value marks)" = $((2 * opened)) ]
region=$(rows 'regions columns entries sort by entries desc limit 1' | awk -F, '{ print $3 "," $NF }')
check "regions: visits are entries, exactly" [ "$(rows "iterations of \"$(echo "$region" | cut -d, -f1)\"" | wc -l)" = "$(echo "$region" | cut -d, -f2)" ]
check "regions: the verifier finds nothing" "$HQ" verify "$DB"
finish
