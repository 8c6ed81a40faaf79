#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Parallel regions: what every thread of a team does hangs below the call path that opened the region, its entries are counted
# exactly, and no sample is lost on the way.
. tests/collector/lib.sh

# rows QUERY: what it answers, without the header.
rows() { "$HQ" "$DB" "$1 as csv" 2>>"$TMP/err" | sed '1d; s/\r$//'; }

# looks RUNTIME: what holds for every recording of tests/programs/openmp.c.
looks() {
    local lost samples total
    check "$1: the program runs as ever" [ $status = 0 ]
    check "$1: the files keep the format's rules" sound
    check "$1: all call paths are whole" full 100
    check "$1: as many regions as the program opened" [ "$(value entries)" = "$(tail -1 "$TMP/out")" ]
    # Threads of the runtime begin in the C library, the program's own in main or foreign.
    paths | awk '$3 ~ /burn/ && $3 !~ /inside:|wait:|;main;|;foreign;/ { lost += $1 } { n += $1 } END { print lost + 0, n + 0 }' >"$TMP/joined"
    read -r lost samples <"$TMP/joined"
    check "$1: no work of a team outside of its region ($lost of $samples samples)" [ "$lost" = 0 ]
    total=$(rows 'tree all' | awk -F, '{ print; exit }' | wc -l)
    check "$1: there is a tree" [ "$total" = 1 ]
    check "$1: the verifier finds nothing" "$HQ" verify "$DB"
    for setting in off on; do
        "$HQ" "$DB" "set internals $setting; modules all columns cputime.x as csv" 2>>"$TMP/err" | awk -F, 'NR > 1 { sum += $NF } END { printf "%.0f\n", sum * 1e9 }' >"$TMP/$setting"
        check "$1: the database has every sample, internals $setting" holds "$(cat "$TMP/$setting") == $(value 'sum CPUTIME')"
    done
    rows 'procedures all' >"$TMP/procedures"
    check "$1: bodies are no procedures of their own" [ "$(grep -cE "omp_fn|omp_outlined" "$TMP/procedures")" = 0 ]
    for at in plain sections constructs tasks reductions nested cancelled conditional loops; do
        check "$1: $at has its regions" [ "$(rows "tree of $at columns kind all" | grep -c region)" -ge 1 ]
    done
    check "$1: the hot path goes through a region" [ "$(rows 'hot path of plain columns kind' | grep -c region)" -ge 1 ]
    check "$1: the view of regions has their entries" [ "$(rows 'regions columns entries' | awk -F, '{ sum += $NF } END { print sum }')" = "$(value entries)" ]
    check "$1: a region within a region" [ "$(rows 'tree of nested columns kind all' | grep -c region)" -ge 2 ]
}

export OMP_CANCELLATION=true
record -e CPUTIME@500/s -- "$PROGRAMS/openmp" 0.04
looks libgomp

# Who works 1 : 3 in two threads has a balance of 4 / (2 * 3), and loses half of the work to it, whatever else runs on the machine: the work is
# CPU time, and each of its two sums is right to a period of 4 ms or so, of 250 and 750 ms.
uneven() {
    record -e CPUTIME@250/s -- "$1" 0.025
    check "uneven: efficiency is work by elapsed times of two threads" "$HQ" "$DB" 'regions expect abs(efficiency * 2 * elapsed / work - 1) < 0.001'
    rows 'regions columns entries, work, balance, imbalance, team' >"$TMP/uneven"
    IFS=, read -r entries work balance imbalance threads <<<"$(awk -F, '{ print $(NF - 4) "," $(NF - 3) "," $(NF - 2) "," $(NF - 1) "," $NF }' "$TMP/uneven")"
    check "uneven: one region, ten entries, two threads" [ "$entries $threads $(wc -l <"$TMP/uneven")" = "10 2 1" ]
    check "uneven: its work ($work s)" holds "$work > 0.96 && $work < 1.06"
    check "uneven: its balance ($balance)" holds "$balance > 0.64 && $balance < 0.69"
    check "uneven: its imbalance ($imbalance s)" holds "$imbalance > 0.45 && $imbalance < 0.55"
}
uneven "$PROGRAMS/uneven"

# Where teams shrink and grow libgomp ends threads and makes others, which stand in their places: all of them work alike.
cat >"$TMP/shrinks.c" <<'C'
#include "burn.h"
int main(void)
{
    for (int i = 0; i < 8; i++) {
#pragma omp parallel num_threads(4)
        burn(0.03);
#pragma omp parallel num_threads(2)
        burn(0.03);
    }
}
C
gcc -O2 -g -fopenmp -Itests/programs -o "$TMP/shrinks" "$TMP/shrinks.c"
record -e CPUTIME@500/s -- "$TMP/shrinks"
rows 'regions sort by line columns team, work, imbalance' | awk -F, '{ print $(NF - 2), $(NF - 1), $NF }' >"$TMP/shrinking"
check "shrinking teams: of four and of two threads: $(cut -d' ' -f1 "$TMP/shrinking" | tr '\n' ' ')" [ "$(cut -d' ' -f1 "$TMP/shrinking" | tr '\n' ' ')" = "4 2 " ]
check "shrinking teams: nothing is lost to their busiest: $(tr '\n' ';' <"$TMP/shrinking")" [ "$(awk '$3 > 0.15 * $2' "$TMP/shrinking" | wc -l)" = 0 ]

# Threads that open a region are made anew, too, where it lies in two others: of four at a time, with two threads each, all of whom work alike.
cat >"$TMP/levels.c" <<'C'
#include "burn.h"
#include <omp.h>
int main(void)
{
    omp_set_max_active_levels(3);
    for (int i = 0; i < 5; i++) {
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
        burn(0.02);
    }
    return 0;
}
C
gcc -O2 -g -fopenmp -Itests/programs -o "$TMP/levels" "$TMP/levels.c"
record -e CPUTIME@500/s -- "$TMP/levels"
rows 'regions sort by line columns entries, team, work, imbalance' | awk -F, '{ print $(NF - 3), $(NF - 2), $(NF - 1), $NF }' | tail -1 >"$TMP/third"
check "three levels: entries and team of the innermost ($(cat "$TMP/third"))" [ "$(cut -d' ' -f1,2 "$TMP/third")" = "20 8" ]
check "three levels: nothing is lost to its busiest" [ "$(awk '$4 > 0.25 * $3' "$TMP/third" | wc -l)" = 0 ]

# What threads of a region open in its text is a region of the same procedure, as often as each of them opens it.
cat >"$TMP/within.c" <<'C'
#include "burn.h"
#include <omp.h>
int main(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
        for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(2)
            burn(0.02);
        }
    }
}
C
# within PROGRAM RUNTIME
within() {
    record -e CPUTIME@500/s -- "$1"
    rows 'regions columns entries sort by line' | awk -F, '{ printf "%s %s ", $3, $NF }' >"$TMP/regions"
    check "$2: regions in the text of one ($(cat "$TMP/regions"))" [ "$(cat "$TMP/regions")" = "parallel region at within.c:6 1 parallel region at within.c:9 6 " ]
    check "$2: they are no procedures" [ "$(rows 'procedures all' | grep -cE 'omp_fn|omp_outlined')" = 0 ]
}
gcc -O2 -g -fopenmp -fno-optimize-sibling-calls -Itests/programs -o "$TMP/within" "$TMP/within.c" && within "$TMP/within" libgomp

# A region is one of the procedure that it is written in, also where that was inlined and no sample fell: what is opened at two places, one of which
# lies in a body that was sampled, had two rows, of two procedures.
cat >"$TMP/inlined.c" <<'C'
#include "burn.h"
static double sums[8];
static inline __attribute__((always_inline)) void fill(int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        sums[i & 7] += 1;
}
int main(void)
{
    for (int i = 0; i < 30; i++)
        fill(8);
    burn(0.2);
    for (int i = 0; i < 20; i++)
        fill(4);
}
C
# inlined PROGRAM RUNTIME
inlined() {
    record -e CPUTIME@250/s -- "$1"
    rows 'regions of fill columns entries' | awk -F, '{ printf "%s %s ", $3, $NF }' >"$TMP/regions"
    check "$2: a region of an inlined procedure ($(cat "$TMP/regions"))" [ "$(cat "$TMP/regions")" = "parallel region at inlined.c:5 50 " ]
}
gcc -O2 -g -fopenmp -Itests/programs -o "$TMP/inlined" "$TMP/inlined.c" && inlined "$TMP/inlined" libgomp

# Its loops are those of the procedure, as the view of loops and groups have them.
cat >"$TMP/filled.c" <<'C'
static volatile double sum[16];
static inline __attribute__((always_inline)) void fill(long n)
{
#pragma omp parallel num_threads(2)
    for (long i = 0; i < n; i++)
        sum[0] += 1;
}
int main(void)
{
    fill(20000000);
    fill(10000000);
    return 0;
}
C
gcc -O1 -g -fopenmp -o "$TMP/filled" "$TMP/filled.c"
record -e CPUTIME@250/s -- "$TMP/filled"
rows 'loops of fill columns cputime' | awk -F, '{ print $NF }' >"$TMP/loops"
rows 'group g = loops of fill; groups columns cputime.x' | awk -F, '{ print $NF }' >"$TMP/group"
check "a group of the loops of a procedure that was inlined: $(cat "$TMP/group") for $(cat "$TMP/loops")" cmp -s "$TMP/loops" "$TMP/group"
check "and they are there" holds "$(cat "$TMP/loops" | head -1)0 > 0"

# A region that is the last thing in its procedure is opened by a jump: called through a pointer, from another jump, or in the text of a region, it is none the
# less one of the procedure that it is written in.
cat >"$TMP/jumps.c" <<'C'
#include "burn.h"
/* A body of a region that itself ends with a jump would not be on the stack. */
#define work() ({ burn(0.002); __asm__ volatile(""); })
__attribute__((noinline)) void pointed(void)
{
#pragma omp parallel
    work();
}
__attribute__((noinline)) void jumped(void)
{
#pragma omp parallel
    work();
}
__attribute__((noinline)) void jumps(void) { jumped(); }
__attribute__((noinline)) void outer(void)
{
#pragma omp parallel
    {
        work();
#pragma omp parallel num_threads(1)
        work();
    }
}
static void (*volatile pointer)(void) = pointed;
int main(void)
{
    for (int i = 0; i < 20; i++) {
        pointer();
        jumps();
        outer();
    }
    return 0;
}
C
# jumps PROGRAM RUNTIME
jumps() {
    OMP_NUM_THREADS=2 record -e CPUTIME@500/s -- "$1"
    rows 'regions sort by line columns entries' | awk -F, '{ sub(/.*:/, "", $3); printf "%s %s;", $3, $NF }' >"$TMP/regions"
    check "$2: regions behind jumps ($(cat "$TMP/regions"))" [ "$(cat "$TMP/regions")" = "6 20;11 20;17 20;20 40;" ]
    for of in pointed:1 jumped:1 outer:2 main:0 jumps:0; do
        check "$2: regions of ${of%:*}" [ "$(rows "regions of ${of%:*} columns entries" | grep -c region)" = "${of#*:}" ]
    done
    check "$2: nobody calls main again" [ "$(rows 'tree all' | awk -F, '$3 ~ /^main/' | wc -l)" = 1 ]
}

# What ends with a jump itself is on no stack: a region in a region is one of its procedure all the same, and where a procedure was called through a pointer it is
# said that the line is that of the call.
cat >"$TMP/ends.c" <<'C'
#include "burn.h"
__attribute__((noinline)) void spend(double seconds) { burn(seconds); }
__attribute__((noinline)) void outer(void)
{
#pragma omp parallel num_threads(2)
    {
        burn(0.002);
#pragma omp parallel num_threads(1)
        spend(0.002);
    }
}
__attribute__((noinline)) void pointed(void)
{
#pragma omp parallel num_threads(2)
    spend(0.002);
}
static void (*volatile pointer)(void) = pointed;
int main(void)
{
    for (int i = 0; i < 20; i++) {
        outer();
        pointer();
    }
    return 0;
}
C
ends() {
    record -e CPUTIME@500/s -- "$1"
    rows 'regions sort by line columns entries' | awk -F, '{ printf "%s %s;", $3, $NF }' >"$TMP/regions"
    check "$2: regions whose bodies end with a jump: $(cat "$TMP/regions")" [ "$(cat "$TMP/regions")" = "$3" ]
    check "$2: they are no procedures" [ "$(rows 'procedures all' | grep -cE 'omp_fn|omp_outlined')" = 0 ]
}
gcc -O2 -g -fopenmp -Itests/programs -o "$TMP/ends" "$TMP/ends.c" &&
    ends "$TMP/ends" libgomp 'parallel region at ends.c:5 20;parallel region at ends.c:8 40;parallel region at ends.c:14 20;'

# Teams are as large as the runtime says, however few samples fell: of each region the program prints what it counts itself.
cat >"$TMP/sizes.c" <<'C'
#include <omp.h>
#include <pthread.h>
#include <stdio.h>

static int largest(int a, int b) { return a > b ? a : b; }

#define REGION(line_, ...) \
    do { \
        int size_ = 0; \
        _Pragma(#__VA_ARGS__) \
        { \
            _Pragma("omp single") size_ = omp_get_num_threads(); \
        } \
        team = largest(team, size_); \
        line = line_; \
    } while (0)
#define TELL() printf("%d %d\n", line, team), team = 0

static void *foreign(void *unused)
{
    int team = 0, line;
    REGION(__LINE__, omp parallel num_threads(5)); TELL();
    return unused;
}

int main(void)
{
    int team = 0, line = 0, outer = 0, inner = 0;
    pthread_t thread;

    REGION(__LINE__, omp parallel num_threads(3)); TELL();
    REGION(__LINE__, omp parallel num_threads(1)); TELL();
    REGION(__LINE__, omp parallel num_threads(4) if(omp_get_num_procs() < 0)); TELL();
    for (int i = 0; i < 30; i++)
        REGION(__LINE__, omp parallel num_threads(2 + i % 3));
    TELL();
    omp_set_max_active_levels(2);
    line = __LINE__ + 1;
#pragma omp parallel num_threads(2)
    {
#pragma omp single nowait
        outer = omp_get_num_threads();
#pragma omp parallel num_threads(3)
#pragma omp single
#pragma omp atomic
        inner += omp_get_num_threads();
        /* Last in its procedure a region would be opened by a jump (clang 19), from where is not known then. */
        __asm__ volatile("");
    }
    printf("%d %d\n%d %d\n", line, outer, line + 4, inner);
    pthread_create(&thread, NULL, foreign, NULL);
    pthread_join(thread, NULL);
    return 0;
}
C
sizes() {
    record -- "$1"
    sort "$TMP/out" >"$TMP/told"
    rows 'regions all columns line, team' | awk -F, '{ print $(NF - 1), $NF }' | sort >"$TMP/teams"
    check "$2: teams are as large as the program says: $(tr '\n' ';' <"$TMP/teams") for $(tr '\n' ';' <"$TMP/told")" cmp -s "$TMP/told" "$TMP/teams"
    check "$2: nothing is doubted" [ "$("$HQ" "$DB" 'regions all' 2>&1 | grep -c 'too few samples')" = 0 ]
}
gcc -O1 -g -fopenmp -o "$TMP/sizes" "$TMP/sizes.c" && sizes "$TMP/sizes" libgomp

# A league is a region, as are those that its teams open, also where one directive makes both, and nothing else is: what libomp makes of a team for itself
# counted for the next one.
cat >"$TMP/leagues.c" <<'C'
#include <omp.h>
#include <stdio.h>
static int leagues, opened, rounds;
int main(void)
{
    for (int i = 0; i < 10; i++) {
#pragma omp teams num_teams(2) thread_limit(2)
        {
#pragma omp parallel
            if (!omp_get_thread_num()) {
                __atomic_add_fetch(&opened, 1, __ATOMIC_RELAXED);
                if (!omp_get_team_num())
                    __atomic_add_fetch(&leagues, 1, __ATOMIC_RELAXED);
            }
            __asm__ volatile("");
        }
#pragma omp teams distribute parallel for num_teams(2) thread_limit(2)
        for (int k = 0; k < 4; k++)
            __atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED);
    }
    printf("parallel region at leagues.c:17 %d;parallel region at leagues.c:9 %d;teams at leagues.c:17 %d;teams at leagues.c:7 %d;", rounds / 2, opened,
           rounds / 4, leagues);
    return 0;
}
C
leagues() {
    OMP_NUM_THREADS=2 record -- "$1"
    rows 'regions all columns entries' | awk -F, '{ print $3, $NF }' | LC_ALL=C sort | tr '\n' ';' >"$TMP/regions"
    check "$2: regions of leagues: $(cat "$TMP/regions") for $(cat "$TMP/out")" cmp -s "$TMP/out" "$TMP/regions"
}
gcc -O1 -g -fopenmp -o "$TMP/leagues" "$TMP/leagues.c" && leagues "$TMP/leagues" libgomp

# What the collector does itself is no cost of who opens regions, and no team's work.
# Who waits at a barrier has come to the inside of the runtime by a jump: that it is one is known by what the program calls.
cat >"$TMP/late.c" <<'C'
#include <omp.h>
#include <unistd.h>
int main(void)
{
    for (int step = 0; step < 5; step++) {
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 0)
                usleep(100000);
#pragma omp barrier
            __asm__ volatile("");
        }
    }
    return 0;
}
C
for calls in -fplt -fno-plt; do
    gcc -O2 -g -fopenmp $calls -o "$TMP/late" "$TMP/late.c"
    record -e REALTIME@200/s -- "$TMP/late"
    for set in off on; do
        check "$calls, internals $set: a wait at a barrier is one" "$HQ" "$DB" "set internals $set; procedures of \"[barrier]\" expect any realtime > 0.2s"
    done
    check "$calls: and so in regions" "$HQ" "$DB" 'regions expect any waiting > 0.2s'
done
# clang reads the slot once for several calls, which then go through a register.
cat >"$TMP/held.c" <<'C'
#include <unistd.h>
void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned);
void GOMP_barrier(void);
int omp_get_thread_num(void);
static void region(void *unused)
{
    (void)unused;
    if (omp_get_thread_num() == 0)
        usleep(100000);
    GOMP_barrier();
    __asm__ volatile("");
    GOMP_barrier();
    __asm__ volatile("");
}
int main(void)
{
    for (int step = 0; step < 5; step++)
        GOMP_parallel(region, 0, 2, 0);
    return 0;
}
C
clang -O2 -g -fno-plt -o "$TMP/held" "$TMP/held.c" -l:libgomp.so.1
record -e REALTIME@200/s -- "$TMP/held"
check "a barrier that is called through a register: a wait there is one" "$HQ" "$DB" 'procedures of "[barrier]" expect any realtime > 0.2s'
cat >"$TMP/many.c" <<'C'
#include <time.h>
int main(void)
{
    struct timespec now;
    do
        for (int i = 0; i < 1000; i++)
#pragma omp parallel num_threads(1)
            __asm__ volatile("");
    while (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), now.tv_sec == 0 && now.tv_nsec < 500000000);
    return 0;
}
C
gcc -O1 -g -fopenmp -o "$TMP/many" "$TMP/many.c"
record -e CPUTIME@500/s -- "$TMP/many"
check "own work: it is told as such" holds "$(rows 'procedures of "[hq: measuring]" columns cputime' | awk -F, '{ print $NF + 0 }') > 0"
check "own work: it hangs below who opens regions" [ "$(rows 'tree of main all columns kind' | awk -F, '/hq: measuring/ { print $2 }' | sort -u)" = runtime ]
check "own work: it is hq's" holds "$(rows 'groups by runtime columns cputime' | awk -F, '/,hq,/ { print $NF + 0 }') > 0"
check "own work: and no time is lost" holds "$("$HQ" "$DB" 'modules all columns cputime.x as csv' 2>>"$TMP/err" | awk -F, 'NR > 1 { sum += $NF } END { printf "%.0f", sum * 1e9 }') == $(value 'sum CPUTIME')"
check "own work: the verifier finds nothing" "$HQ" verify "$DB"

# Time in the kernel of which no place is known, that of threads changing, is in the region where the thread was then, as the kernel counts changes: of one
# region all but the first period or two of each thread, of many at least half (they wait three times in each region and once between two).
cat >"$TMP/changes.c" <<'C'
int main(void)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 8000; i++) {
#pragma omp barrier
    }
    return 0;
}
C
sed 's/int main(void)/static void region(void)/; s/8000/3/; s/return 0;/return;/' "$TMP/changes.c" >"$TMP/short.c"
echo 'int main(void) { for (int i = 0; i < 3000; i++) region(); return 0; }' >>"$TMP/short.c"
# changes PROGRAM RUNTIME LEAST: in ms, `all` is the time of which no place is known
changes() {
    OMP_WAIT_POLICY=passive KMP_BLOCKTIME=0 record --clock=perf -e CPUTIME@1000/s -- "$1"
    check "$2: a region all along: the files keep the format's rules" sound
    rows 'tree all columns kind, cputime' | awk -F, '$(NF - 2) <= r { r = 0 } $2 == "region" { r = $(NF - 2) } /kernel, place unknown/ { n += $NF; i += r ? $NF : 0 } END { print n * 1000, i * 1000 }' >"$TMP/unknown"
    read -r all inside <"$TMP/unknown"
    if [ "$(value perf-clock)" = 1 ] && holds "$all >= 20"; then
        check "$2: what the kernel takes in a region is the region's: $inside of $all ms" holds "$inside >= ${3/all/$all}"
    else
        skip "$2: the kernel's software clock sees all of the time here, or may not be used"
    fi
    check "$2: and none is lost" holds "$("$HQ" "$DB" 'modules all columns cputime.x as csv' 2>>"$TMP/err" | awk -F, 'NR > 1 { sum += $NF } END { printf "%.0f", sum * 1e9 }') == $(value 'sum CPUTIME')"
    check "$2: it is no work" [ "$(rows 'procedures of "[kernel, place unknown]" columns kind' | awk -F, '{ print $2 }' | grep -vc runtime)" = 0 ]
}
gcc -O1 -g -fopenmp -o "$TMP/changes" "$TMP/changes.c" && changes "$TMP/changes" libgomp 'all - 4'
gcc -O1 -g -fopenmp -o "$TMP/short" "$TMP/short.c" && changes "$TMP/short" "libgomp, many regions" 'all / 2'

# In C++ a region is in the procedure that it was written in, also where that has no linkage name of its own.
places() {
    record -e CPUTIME@500/s -- "$1"
    rows regions | sed 's/.*,//; s/(double)//; s/void //' | sort | tr '\n' ' ' >"$TMP/hosts"
    check "$2: regions are in the procedures that they were written in: $(cat "$TMP/hosts")" [ "$(cat "$TMP/hosts")" = "field<double>::fill main outer::inner plain " ]
    check "$2: main is one procedure" [ "$(rows 'procedures matching /^(main::)*main($|\()/ columns cputime' | wc -l)" = 1 ]
}
places "$PROGRAMS/places" libgomp

# Whatever kind a task is of, it gets its arguments, and its work hangs below the loop that creates it, in whichever thread it ran: SECONDS for each of four,
# right to a period or two. With more threads than processors libomp gives its processor away after each task, and where others want it a hundred thousand
# tasks would take minutes.
tasks() {
    local program=$1 want
    want=$(KMP_USE_YIELD=0 "$program" 0.001)
    KMP_USE_YIELD=0 record -e CPUTIME@500/s -- "$program" 0.04
    check "$2: tasks compute what they do alone" [ "$(cat "$TMP/out")" = "$want" ]
    check "$2: and are right" [ "${want##* }" = 0 ]
    check "$2: a task's files keep the format's rules" sound
    rows 'tree of create all columns kind, cputime' >"$TMP/create"
    check "$2: the verifier finds nothing" "$HQ" verify "$DB"
}
tasks "$PROGRAMS/tasks" libgomp
check "libgomp: tasks below the loop that creates them" [ "$(awk -F, '$3 ~ /^loop/ { l = $8 } $3 ~ /^task at/ && $8 == l + 1 { t = $8 } $3 == "burn" && $8 == t + 1 { print "yes"; exit }' "$TMP/create")" = yes ]
all_below() { [ "$(awk -F, '$3 == "burn" { s += $NF } END { print s }' "$TMP/create")" = "$(rows 'procedures of burn columns cputime' | awk -F, '{ print $NF }')" ]; }
check "libgomp: all of their work" all_below

# A detached task has the handle of its event in its arguments, where the runtime writes it: kept or run at once, copied by bytes or by a function of the compiler's
# (an array of a length that is not known), fulfilled within the task or by another one.
cat >"$TMP/detached.c" <<'C'
#include "burn.h"
#include <omp.h>
#include <stdio.h>
#ifdef __clang__
#define LENGTH 100 /* it copies no others */
#else
#define LENGTH n
#endif
static int ran, wrong;
static double seconds = 0.02;
static void one(omp_event_handle_t event, const unsigned char *data, int n)
{
    for (int i = 0; i < n; i++)
        if (data[i] != i % 7) {
#pragma omp atomic
            wrong++;
        }
    burn(seconds);
#pragma omp atomic
    ran++;
    omp_fulfill_event(event);
}
__attribute__((noinline)) static void create(int n)
{
    omp_event_handle_t event, other;
    unsigned char fixed[40], array[LENGTH];

    for (int i = 0; i < 40; i++)
        fixed[i] = (unsigned char)(i % 7);
    for (int i = 0; i < n; i++)
        array[i] = (unsigned char)(i % 7);
#pragma omp task detach(event) firstprivate(fixed)
    one(event, fixed, 40);
#pragma omp task detach(event) firstprivate(array)
    one(event, array, n);
#pragma omp task detach(event) firstprivate(array) if (0)
    one(event, array, n);
#pragma omp task detach(other)
    burn(seconds);
#pragma omp task firstprivate(other)
    omp_fulfill_event(other);
#pragma omp taskwait
}
int main(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        create(100);
        create(50);
    }
    printf("%d %d\n", ran, wrong);
    return 0;
}
C
# detached PROGRAM RUNTIME TASKS: those matching have rows; one that libomp runs at once hangs below its creator.
detached() {
    record -e CPUTIME@500/s -- "$1"
    check "$2: detached tasks run on their arguments" [ "$status $(cat "$TMP/out")" = "0 6 0" ]
    rows 'tree of create all columns cputime' | awk -F, '$3 ~ /^task at/ && $NF > 0.02 { print $3 }' | sort -u >"$TMP/rows"
    awk -v t="$3" '$0 ~ t { print "task at detached.c:" NR }' "$TMP/detached.c" | sort >"$TMP/told"
    check "$2: detached tasks have rows: $(tr '\n' ';' <"$TMP/rows") for $(tr '\n' ';' <"$TMP/told")" cmp -s "$TMP/told" "$TMP/rows"
}
if [ "$(gcc -dumpversion | cut -d. -f1)" -ge 11 ]; then
    gcc -O1 -g -fopenmp -Itests/programs -o "$TMP/detached" "$TMP/detached.c"
    detached "$TMP/detached" libgomp 'omp task detach'
fi

# Tasks that create tasks by the same call are one row, also behind another one that was waited for; those that a region within a task creates are below that region.
cat >"$TMP/recur.c" <<'C'
#include "burn.h"
static __attribute__((noinline)) void recur(int depth)
{
#pragma omp task firstprivate(depth)
    {
        burn(0.004);
        if (depth < 3) {
#pragma omp task
            burn(0.004);
#pragma omp taskwait
            recur(depth + 1);
            recur(depth + 1);
        }
    }
#pragma omp taskwait
}
static __attribute__((noinline)) void again(int depth)
{
#pragma omp task firstprivate(depth)
    {
        burn(0.01);
        if (depth < 1) {
#pragma omp parallel num_threads(1)
            again(depth + 1);
            burn(0.01);
        }
    }
#pragma omp taskwait
}
int main(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        recur(0);
        for (int i = 0; i < 5; i++)
            again(0);
    }
    return 0;
}
C
# recurs PROGRAM RUNTIME
recurs() {
    record -e CPUTIME@1000/s -- "$1"
    rows 'tree all columns cputime' | awk -F, '$3 == "task at recur.c:4"' | wc -l >"$TMP/rows-recur"
    check "$2: tasks that recur are one row" [ "$(cat "$TMP/rows-recur")" = 1 ]
    rows 'tree of "parallel region at recur.c:23" all columns cputime' | awk -F, '$3 == "task at recur.c:19"' | wc -l >"$TMP/again"
    check "$2: tasks of a region in a task are below it" [ "$(cat "$TMP/again")" = 1 ]
}
gcc -O1 -g -fopenmp -fno-optimize-sibling-calls -Itests/programs -o "$TMP/recur" "$TMP/recur.c"
recurs "$TMP/recur" libgomp

cat >"$TMP/targets.c" <<'C'
#include "burn.h"
int main(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 8; i++) {
#pragma omp target nowait
        burn(0.02);
    }
    return 0;
}
C

# Threads that sleep 1 : 2 : 3 : 4 wait, by wall clock, as long as they clock themselves, whether the runtime sleeps or spins: each of 40 naps and 30 waits is right to a
# period of 2 ms, which makes some 10 ms of 1.6 and 1.0 s; ten times that is for what a busy machine puts between two readings of a clock.
naps() {
    OMP_WAIT_POLICY=$3 record -e REALTIME@500/s -- "$1" 0.016
    read -r slept waited _ <"$TMP/out"
    IFS=, read -r work waiting entries <<<"$(rows 'regions columns work, waiting, entries' | awk -F, '{ print $(NF - 2) "," $(NF - 1) "," $NF }')"
    check "$2, $3: ten entries" [ "$entries" = 10 ]
    check "$2, $3: the work ($work s) is the naps ($slept s)" holds "$work > 0.92 * $slept - 0.02 && $work < 1.08 * $slept + 0.02"
    check "$2, $3: the waiting ($waiting s) is that by the program's clock ($waited s)" holds "$waiting > 0.9 * $waited - 0.03 && $waiting < 1.1 * $waited + 0.03"
}
naps "$PROGRAMS/naps" libgomp passive
naps "$PROGRAMS/naps" libgomp active

# A thread sleeps in one call, or in two with nothing between them, from the region's end into the time between regions, and is not sampled meanwhile: what it slept
# until the region was left is its wait, the rest is idle. All of it was the region's with libomp (2.7 times the wait), and a tenth more with libgomp.
pauses() {
    OMP_WAIT_POLICY=passive record -e REALTIME@500/s -- "$1" "$3" "$4" "$5"
    read -r _ waited idled <"$TMP/out"
    waiting=$(rows 'regions columns waiting' | awk -F, '{ print $NF }')
    idle=$(rows 'procedures where name = "[idle: no region]" columns realtime.x' | awk -F, '{ print $NF }')
    check "$2, pauses of $5 s: the waiting ($waiting s) is that by the program's clock ($waited s)" holds "$waiting > 0.95 * $waited - 0.04 && $waiting < 1.05 * $waited + 0.04"
    check "$2, pauses of $5 s: threads idle ($idle s) as long as by its clock ($idled s)" holds "$idle > 0.95 * $idled - 0.06 && $idle < 1.05 * $idled + 0.06"
    check "$2, pauses of $5 s: the verifier finds nothing" "$HQ" verify "$DB"
}
for pause in "0.01 40 0.02" "0.02 8 0.1"; do
    pauses "$PROGRAMS/naps" libgomp $pause
done

# A sample is of when it fired: on a processor that two threads share it comes to one that waits at a region's end when the other has had its turn, and has
# left the region. More than half of that waiting was in no region. The runtime is to spin, so it is to see two processors at its start.
cat >"$TMP/turns.c" <<'C'
#define _GNU_SOURCE
#include "burn.h"
#include <omp.h>
#include <sched.h>
int main(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    for (int i = 0; i < 200; i++)
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 0)
            burn(0.0001);
    return 0;
}
C
# By wall clock, too: as long as the program clocks itself. The ends of 600 waits are right to a period of a millisecond each; five standard errors, and 4 %.
cat >"$TMP/own-turns.c" <<'C'
#define _GNU_SOURCE
#include "burn.h"
#include <omp.h>
#include <sched.h>
#include <stdio.h>
int main(void)
{
    double waited = 0;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    for (int i = 0; i < 300; i++) {
        double done[2], left;
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 0)
                burn(0.0001);
            done[omp_get_thread_num()] = omp_get_wtime();
        }
        left = omp_get_wtime();
        waited += left - done[0] + left - done[1];
    }
    printf("%.4f\n", waited);
    return 0;
}
C
# own_turns PROGRAM RUNTIME
own_turns() {
    OMP_WAIT_POLICY=active KMP_BLOCKTIME=infinite record -e REALTIME@1000/s -- "$1"
    waited=$(cat "$TMP/out") at_end=$(rows 'procedures where kind = wait columns realtime' | awk -F, '/region.s end/ { n += $NF } END { print n + 0 }')
    check "$2: turns, REALTIME: the waiting at the regions' ends ($at_end s) is that by the program's clock ($waited s)" holds "($at_end - $waited) ^ 2 <= (5 * sqrt(1200 / 12) * 0.001 + 0.04 * $waited) ^ 2"
}
gcc -O2 -g -fopenmp -Itests/programs -o "$TMP/own-turns" "$TMP/own-turns.c"
if [ "$(nproc)" -gt 1 ]; then
    gcc -O2 -g -fopenmp -Itests/programs -o "$TMP/turns" "$TMP/turns.c"
    OMP_WAIT_POLICY=active record -e CPUTIME@500/s -- "$TMP/turns"
    rows 'procedures where kind = wait columns cputime' | awk -F, '/region.s end/ { at_end = $NF } /idle/ { idle = $NF } END { print at_end + 0, idle + 0 }' >"$TMP/waits"
    read -r at_end idle <"$TMP/waits"
    check "turns: the waiting is at the regions' ends ($at_end s) and not between them ($idle s)" holds "$at_end > 0.05 && $idle < 0.25 * $at_end"
    own_turns "$TMP/own-turns" libgomp
else
    skip "a runtime that spins on one processor"
fi

# A runtime within the program: nothing of it is seen, `info` says so, and a region's body is no task.
check "static: a program with its own libgomp" gcc -O2 -g -fopenmp -Itests/programs -o "$TMP/static" tests/programs/uneven.c -Wl,-Bstatic -lgomp -Wl,-Bdynamic -ldl
record -e CPUTIME@500/s -- "$TMP/static" 0.005
"$HQ" "$DB" info >"$TMP/info" 2>&1
check "static: it is told" grep -q 'static holds its OpenMP runtime, linked statically' "$TMP/info"
rows 'tree all' >"$TMP/tree"
check "static: a body of a region is no task" [ "$(grep -cE "(^|[^a-z_])task " "$TMP/tree")" = 0 ]
check "static: it is a part of its procedure" grep -q ',compute,' "$TMP/tree"
record -- "$PROGRAMS/uneven" 0.002
"$HQ" "$DB" info >"$TMP/info" 2>&1
check "shared: nothing is told" [ "$(grep -c 'linked statically' "$TMP/info")" = 0 ]

# The same for libomp, which tells a tool about its regions.
if clang -O2 -g -fopenmp -pthread -Itests/programs -o "$TMP/openmp" tests/programs/openmp.c 2>"$TMP/err"; then
    record -e CPUTIME@500/s -- "$TMP/openmp" 0.04
    looks libomp
    clang -O2 -g -fopenmp -fno-optimize-sibling-calls -Itests/programs -o "$TMP/within-libomp" "$TMP/within.c" && within "$TMP/within-libomp" libomp
    clang -O2 -g -fopenmp -Itests/programs -o "$TMP/inlined-libomp" "$TMP/inlined.c" && inlined "$TMP/inlined-libomp" libomp
    clang -O2 -g -fopenmp -fPIE -pie -Itests/programs -o "$TMP/jumps-libomp" "$TMP/jumps.c" && jumps "$TMP/jumps-libomp" libomp
    clang -O2 -g -fopenmp -fno-pie -no-pie -Itests/programs -o "$TMP/jumps-fixed" "$TMP/jumps.c" && jumps "$TMP/jumps-fixed" "libomp, fixed addresses"
    clang -O2 -g -fopenmp -Itests/programs -o "$TMP/ends-libomp" "$TMP/ends.c" &&
        ends "$TMP/ends-libomp" libomp 'parallel region at ends.c:5 20;parallel region at ends.c:8 40;parallel region at ends.c:14 20;'
    clang++ -O2 -g -fopenmp -Itests/programs -o "$TMP/places-libomp" tests/programs/places.cc
    places "$TMP/places-libomp" libomp
    clang -O2 -g -fopenmp -Itests/programs -o "$TMP/uneven-libomp" tests/programs/uneven.c
    uneven "$TMP/uneven-libomp"
    clang -O1 -g -fopenmp -o "$TMP/sizes-libomp" "$TMP/sizes.c" && sizes "$TMP/sizes-libomp" libomp
    clang -O1 -g -fopenmp -o "$TMP/leagues-libomp" "$TMP/leagues.c" && leagues "$TMP/leagues-libomp" libomp
    clang -O1 -g -fopenmp -o "$TMP/changes-libomp" "$TMP/changes.c" && changes "$TMP/changes-libomp" libomp 'all - 4'
    clang -O1 -g -fopenmp -o "$TMP/short-libomp" "$TMP/short.c" && changes "$TMP/short-libomp" "libomp, many regions" 'all / 2'
    clang -O2 -g -fopenmp -fno-optimize-sibling-calls -Itests/programs -o "$TMP/tasks-libomp" tests/programs/tasks.c
    tasks "$TMP/tasks-libomp" libomp
    check "libomp: all of their work is below the procedure that creates them" all_below
    check "libomp: as tasks" [ "$(awk -F, '$3 ~ /^task at/ { t = $8 } $3 == "burn" && $8 != t + 1 { wrong++ } END { print wrong + 0 }' "$TMP/create")" = 0 ]
    clang -O1 -g -fopenmp -Itests/programs -o "$TMP/detached-libomp" "$TMP/detached.c" && detached "$TMP/detached-libomp" libomp 'omp task detach.*[^0][)]$'
    clang -O1 -g -fopenmp -fno-optimize-sibling-calls -Itests/programs -o "$TMP/recur-libomp" "$TMP/recur.c" && recurs "$TMP/recur-libomp" libomp
    clang -O2 -g -fopenmp -o "$TMP/naps-libomp" tests/programs/naps.c
    clang -O2 -g -fopenmp -Itests/programs -o "$TMP/own-turns-libomp" "$TMP/own-turns.c"
    [ "$(nproc)" -gt 1 ] && own_turns "$TMP/own-turns-libomp" libomp
    naps "$TMP/naps-libomp" libomp passive
    for pause in "0.01 40 0.02" "0.02 8 0.1"; do
        pauses "$TMP/naps-libomp" libomp $pause
    done
    OMP_TOOL_LIBRARIES=/nowhere/tool.so record -- "$TMP/openmp" 0.002
    check "libomp: a tool of the program's own comes first" grep -q 'an OpenMP tool of its own' "$TMP/err"
    check "libomp: beside it no region is seen" [ "$(value entries)" = 0 ]
    for tool in disabled Disabled enabled; do
        OMP_TOOL=$tool record -- "$TMP/openmp" 0.002
        check "libomp: OMP_TOOL=$tool is told where it keeps hq out" [ "$(grep -c "OMP_TOOL=$tool keeps" "$TMP/err") $(value entries)" = "$([ $tool = enabled ] && echo "0 $(tail -1 "$TMP/out")" || echo 1 0)" ]
    done
    # A region of a program by gcc by libomp, in which a library by clang opens others: each is seen by one of the two ways.
    printf 'void work(void);\nint main(void)\n{\n#pragma omp parallel num_threads(2)\n    {\n        work();\n        work();\n    }\n    work();\n}\n' >"$TMP/outer.c"
    printf 'void work(void)\n{\n#pragma omp parallel num_threads(2)\n    __asm__ volatile("");\n    __asm__ volatile("");\n#pragma omp task\n    __asm__ volatile("");\n}\n' >"$TMP/inner.c"
    gcc -O1 -g -fopenmp -c -o "$TMP/outer.o" "$TMP/outer.c" && clang -O1 -g -fopenmp -c -o "$TMP/inner.o" "$TMP/inner.c" && clang -fopenmp -o "$TMP/mixed" "$TMP/outer.o" "$TMP/inner.o"
    record -- "$TMP/mixed"
    rows 'regions all columns entries sort by entries' | awk -F, '{ print $3, $NF }' | sort | tr '\n' ';' >"$TMP/regions"
    check "libomp: regions of gcc and of clang within: $(cat "$TMP/regions")" [ "$(cat "$TMP/regions")" = "parallel region at inner.c:3 5;parallel region at outer.c:4 1;" ]
    # Target tasks are run by threads that libomp has for them. That it opens a region to make these is its own affair, and what they do belongs to the program's.
    clang -O1 -g -fopenmp -Itests/programs -o "$TMP/targets" "$TMP/targets.c"
    record -e CPUTIME@500/s -- "$TMP/targets"
    check "libomp: hidden helper threads are no region: $(rows 'regions all columns entries' | cut -d, -f3,8- | tr '\n' ';')" [ "$(rows 'regions all' | awk -F, '{ print $3 }')" = "parallel region at targets.c:4" ]
    check "libomp: target tasks are of the region that creates them" [ "$(rows 'tree of "parallel region at targets.c:4" all columns cputime' | awk -F, '$3 == "burn" { s += $NF } END { print s }')" = "$(rows 'procedures of burn columns cputime' | awk -F, '{ print $NF }')" ]
else
    skip "there is no clang with libomp"
fi
finish
