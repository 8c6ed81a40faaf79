#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `hq record --mark`: every visit to procedures of an unmodified binary is counted, however it ends, and nothing else changes; what cannot be marked
# is named with the reason.
. tests/collector/lib.sh

rows() { "$HQ" "$DB" "$1 as csv" 2>>"$TMP/err" | sed '1d; s/\r$//'; }
visits() { rows "iterations of $1" | wc -l; }
# counted NAME: what the program says.
counted() { awk -v n="$1" '$1 == n { print $2 }' "$TMP/out"; }

all="plain recurses tail_calls may_tail_call by_pointer switches jumps_out in_handler in_coroutine loops bare relative only_jumps branches calls_first by_stack"
marks() { for name in "$@"; do printf ' --mark %s' "$name"; done; }
plugin=$PROGRAMS/libwatched.so

"$PROGRAMS/watched" 200 "$plugin" >"$TMP/bare"
bare=$?
for clock in "-e CPUTIME@1000/s" "-e CPUTIME@1000/s --clock=timer" "-e REALTIME@1000/s" "-e CPUTIME@500/s"; do
    export HQ_MARKS_BY=jumps
    [ "$clock" != "-e CPUTIME@500/s" ] || HQ_MARKS_BY=breakpoints
    # shellcheck disable=SC2046,SC2086
    record $clock $(marks $all inlined plugin_work) --mark-in "$plugin" -- "$PROGRAMS/watched" 200 "$plugin"
    check "$clock: the exit status is the program's" [ $status = $bare ]
    check "$clock: its output, too" diff "$TMP/bare" "$TMP/out"
    check "$clock: the files keep the format's rules" sound
    check "$clock: all call paths are whole" [ "$(value partial)" = 0 ]
    # The forked child makes two visits to `plain`, and one more by way of tail_calls, which calls it.
    check "$clock: plain" [ "$(visits plain)" = $(($(counted plain) + 3)) ]
    check "$clock: tail_calls" [ "$(visits tail_calls)" = $(($(counted tail_calls) + 1)) ]
    for name in may_tail_call by_pointer switches in_handler in_coroutine; do
        check "$clock: $name" [ "$(visits $name)" = "$(counted $name)" ]
    done
    check "$clock: recursion, the outermost" [ "$(visits recurses)" = $(($(counted recurses) / 21)) ]
    check "$clock: left by longjmp, the outermost" [ "$(visits jumps_out)" = $(($(counted jumps_out) / 4)) ]
    check "$clock: instructions that depend on where they stand" [ "$(visits relative)" = "$(counted relative_all)" ]
    check "$clock: a procedure that is one jump" [ "$(visits only_jumps)" = 400 ]
    check "$clock: one that begins with a call" [ "$(visits calls_first)" = 400 ]
    check "$clock: one that leaves by a pointer on the stack" [ "$(visits by_stack)" = 400 ]
    check "$clock: a library that is opened and closed again and again" [ "$(visits plugin_work)" = "$(counted plugin_work)" ]
    sum=$(awk '$1 != "signals" { n += $2 } END { print n + 4 + 1200 }' "$TMP/out")
    check "$clock: as many entries as there were in all, nested ones too" [ "$(value entries)" = "$sum" ]
    for reason in 'loops in watched is not marked: a loop goes through' 'bare in watched is not marked: it has no unwind' \
        'inlined in watched is not marked: it has no code of its own'; do
        check "$clock: what cannot be marked is named" grep -q "$reason" "$TMP/err"
    done
    check "$clock: the verifier finds nothing" "$HQ" verify "$DB"
done
check "a visit is as long as what is in it" [ "$(rows 'iterations of recurses where length > 1s' | wc -l)" = 0 ]

unset HQ_MARKS_BY

record --mark no_such_thing -- "$PROGRAMS/watched" 10
check "a name that is none is refused" [ $status = 2 ]
check "with a sentence" grep -q 'no such procedure' "$TMP/err"
check "and the old recording stays" [ "$(visits only_jumps)" = 400 ]
record --mark loops -- "$PROGRAMS/watched" 10
check "if nothing is left to be marked, the program is not run" [ $status = 2 ]

PATH=$PROGRAMS:$PATH record --mark plain -- env LC_ALL=C watched 200 "$plugin"
check "a program that a launcher finds by PATH is looked in" [ "$(visits plain)" = $(($(counted plain) + 3)) ]

cat >"$TMP/throws.cc" <<'END'
#include <cstdio>
#include <stdexcept>
static volatile long sink;
namespace inner {
struct thing {
    __attribute__((noipa)) long leaves(long n) const
    {
        sink++;
        if (n % 3 == 0)
            throw std::runtime_error("three");
        return sink;
    }
};
}
__attribute__((noipa)) static long outer(const inner::thing &t, long n)
{
    return t.leaves(n) + sink;
}
int main()
{
    inner::thing t;
    long caught = 0;
    for (long i = 0; i < 3000; i++) {
        try {
            sink += outer(t, i);
        } catch (const std::exception &) {
            caught++;
        }
    }
    printf("%ld %ld\n", sink != 0 ? caught : 0, 3000L);
}
END
for level in 0 2; do
    g++ -O$level -g -o "$TMP/throws" "$TMP/throws.cc"
    record --mark inner::thing::leaves --mark 'out*' -- "$TMP/throws"
    check "C++ -O$level: exceptions are caught as ever" [ "$(cat "$TMP/out")" = "1000 3000" ]
    check "C++ -O$level: all visits are there ($(visits leaves) $(visits outer))" [ "$(visits leaves) $(visits outer)" = "3000 3000" ]
    check "C++ -O$level: those that an exception leaves end before the next begins" [ "$(value marks)" = 12000 ]
    record --mark leaves -- "$TMP/throws"
    check "C++ -O$level: the last part of a name will do" [ "$(visits leaves)" = 3000 ]
done

# What leaves by a jump through a slot of the loader's (-fno-plt) goes where that slot leads to.
cat >"$TMP/slots.c" <<'END'
#include <stdlib.h>
#include <stdio.h>
__attribute__((noipa)) static int only(int n) { return abs(n); }
__attribute__((noipa)) static int last(int n) { return n & 1 ? n : abs(n); }
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += only(i) + last(-2 * i);
    return printf("%d\n", sum) < 0;
}
END
for options in "-fPIE -pie" "-fno-pie -no-pie"; do
    # shellcheck disable=SC2086
    gcc -O2 -g -fno-plt -fno-builtin $options -o "$TMP/slots" "$TMP/slots.c"
    for by in jumps breakpoints; do
        HQ_MARKS_BY=$by record --mark only --mark last -- "$TMP/slots"
        check "slots $options, $by: the program does as ever" [ "$status $(cat "$TMP/out")" = "0 14850" ]
        check "slots $options, $by: all visits are there" [ "$(visits only) $(visits last)" = "100 100" ]
    done
done

# Visits that are left: as long as they were by the program's own clock, though who catches goes on for ten times that; a microsecond each is what
# marks are rounded to, and a breakpoint or two lie within. Without anything done about it each would last to the next sample.
# Also where the C library's file has the name that it had before 2.34.
mkdir "$TMP/older"
cp "$(ldd "$PROGRAMS/left" | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')" "$TMP/older/libc-2.31.so"
ln -s libc-2.31.so "$TMP/older/libc.so.6"
for libc in here older; do
    LD_LIBRARY_PATH=$([ $libc = here ] || echo "$TMP/older") record -e CPUTIME@100/s --mark throws --mark jumps -- "$PROGRAMS/left" 40
    for kind in throws jumps; do
        rows "phases of $kind columns length" | awk -F, '{ n++; sum += $NF } END { printf "%d %.0f\n", n, 1e6 * sum }' >"$TMP/$kind"
        read -r n sum <"$TMP/$kind"
        read -r least most <<<"$(awk -v k=$kind '$1 == k { print $2, $3 }' "$TMP/out")"
        check "$libc: left by what $kind: all visits" [ "$n" = 40 ]
        check "$libc: left by what $kind: as long as they were ($least <= $sum <= $most)" holds "$least - 200 <= $sum && $sum <= $most + 200"
    done
done

# By a jump wherever one may stand, with all registers as they were; and also where handlers come in between.
"$PROGRAMS/jumped" >"$TMP/bare"
jumped=(moves relative adds jumps_in calls tail tight)
for by in jumps breakpoints; do
    # shellcheck disable=SC2046
    HQ_MARKS_BY=$by record $(marks "${jumped[@]}") -- "$PROGRAMS/jumped"
    check "$by: all registers are what they were" diff <(awk '{ print $1, $4, 0 }' "$TMP/bare") <(awk '{ print $1, $4, $5 }' "$TMP/out")
    for name in "${jumped[@]}"; do
        visits=1000
        [ "$name" != moves ] || visits=3000 # two of the others call it
        check "$by: visits of $name" [ "$(visits "$name")" = $visits ]
    done
    check "$by: call paths are whole" [ "$(value partial)" = 0 ] # of however few samples
    case $by in
    jumps) awk '{ print $1, $2, $3 }' >"$TMP/expected" <<'END' ;;
moves e9 e9
relative e9 e9
adds e9 e9
jumps_in cc e9
calls cc e9
tail e9 e9
tight e9 cc
END
    breakpoints) awk '{ print $1, "cc cc" }' "$TMP/bare" >"$TMP/expected" ;;
    esac
    check "$by: which they are" diff "$TMP/expected" <(cut -d' ' -f1-3 "$TMP/out")
    HQ_MARKS_BY=$by record --mark moves -- "$PROGRAMS/jumped" alarm
    check "$by: visits of handlers that come anywhere" [ "$(value entries) $(value marks)" = "$(cat "$TMP/out") $((2 * $(cat "$TMP/out")))" ]
done

# A million visits, each of some instructions.
cat >"$TMP/million.c" <<'END'
#include <stdio.h>
static volatile long sink;
__attribute__((noipa)) static void visited(long x) { sink += x; }
int main(void)
{
    for (long i = 0; i < 1000000; i++)
        visited(i);
    printf("%ld\n", sink);
}
END
gcc -O2 -o "$TMP/million" "$TMP/million.c"
record --mark visited -- "$TMP/million"
check "a million visits: the program's result" [ "$(cat "$TMP/out")" = 499999500000 ]
"$HQ" "$DB" 'iterations of visited limit 1' >"$TMP/visited" 2>>"$TMP/err"
check "a million visits: all of them" grep -q '^1000000 visits' "$TMP/err"
check "a million visits: bytes in the database" holds "$("$HQ" "$DB" info 2>>"$TMP/err" | awk '$1 == "marks" { print $3 ~ /MiB/ ? $2 * 1048576 : $2 * 1024 }') < 2 * 1000000 * 6"
# What the breakpoints cost is hq's, not that of the procedures that they are in: these do next to nothing.
cat >"$TMP/tiny.c" <<'C'
#include <time.h>
volatile int n;
__attribute__((noinline)) void tiny(int i) { n += i; }
__attribute__((noinline)) void caller(void) { for (int i = 0; i < 1000; i++) tiny(i); }
int main(void)
{
    struct timespec now;
    do
        caller();
    while (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), now.tv_sec == 0 && now.tv_nsec < 500000000);
    return 0;
}
C
gcc -O2 -g -o "$TMP/tiny" "$TMP/tiny.c"
for clock in auto timer; do
    record -e CPUTIME@1000/s --clock=$clock --mark tiny -- "$TMP/tiny"
    check "$clock: much of it is hq's" "$HQ" "$DB" 'procedures of "[hq: measuring]" expect any cputime > 25%'
    check "$clock: and little of tiny's" "$HQ" "$DB" 'procedures of tiny expect any cputime.x < 25%'
    # Timers fire at the kernel's tick, when a thread may lose the processor, too: then it is not known (handler.c).
    [ "$(value perf-clock)" = 0 ] || check "$clock: nor of the caller's" "$HQ" "$DB" 'procedures of caller expect any cputime.x < 25%'
done
sed 's/^    do$/#pragma omp parallel num_threads(1)\n    do/' "$TMP/tiny.c" >"$TMP/region.c"
gcc -O2 -g -fopenmp -o "$TMP/region" "$TMP/region.c"
record -e CPUTIME@1000/s --mark tiny -- "$TMP/region"
check "nor the runtime's overhead, without a word" grep -q 'of the overhead is what hq record itself did' <("$HQ" "$DB" regions 2>&1)
# Of a procedure that is inlined in one place and called in another the latter visits alone are marked: whoever asks is told.
cat >"$TMP/both.c" <<'C'
#include <time.h>
static volatile long n;
static inline long both(void)
{
    struct timespec start, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do
        n++;
    while (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), (now.tv_sec - start.tv_sec) * 1e9 + now.tv_nsec - start.tv_nsec < 1e8);
    return n;
}
static long (*volatile pointer)(void) = both;
__attribute__((noinline)) long host(void) { return both() + both(); }
int main(void) { return host() + pointer() < 0; }
C
gcc -O3 -g -o "$TMP/both" "$TMP/both.c"
record -e CPUTIME@1000/s --mark both --mark host -- "$TMP/both"
for query in "iterations of both" "phases of both" "procedures during both"; do
    check "$query: inlined visits are told" grep -q "^both is inlined in host, where its visits are not marked" <("$HQ" "$DB" "$query" 2>&1)
done
check "nothing is told where all are marked" [ "$("$HQ" "$DB" 'iterations of host' 2>&1 | grep -c 'not marked')" = 0 ]
finish
