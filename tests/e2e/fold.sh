#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A recording of a program of three phases of known rates, folded: what runs when, how fast its bytes and pages come, and each iteration's exact
# counts.
. tests/collector/lib.sh
metrics=alloc_bytes
if "$HQ" record --list | grep -q '^perf::PAGE-FAULTS '; then
    metrics="$metrics perf::page_faults"
    pages='-e perf::PAGE-FAULTS@40'
else
    skip "the kernel counts no events of its own here"
fi
# shellcheck disable=SC2086
record -e CPUTIME@200/s -e ALLOC ${pages:-} -- "$PROGRAMS/folded" 60 50
check "the program runs as ever" [ $status = 0 ]
check "the files keep the format's rules" sound
# shellcheck disable=SC2086
python3 tests/fold_truth.py "$HQ" "$DB" "$TMP/out" $metrics >"$TMP/figures" 2>>"$TMP/err"
# figure NAME: one of them.
figure() { awk -v k="$1 " 'index($0, k) == 1 { print $NF }' "$TMP/figures"; }
check "the verifier finds nothing" "$HQ" verify "$DB"
check "each iteration is there" [ "$(figure visits)" = 60 ]
check "each has allocated what the program counts, to the byte" [ "$(figure 'count_off alloc_bytes')" = 0.0 ]
# The program reads its clock within its own bounds, and the marks of the two are apart by what noting a sample takes.
check "and has the CPU time that its own clock shows ($(figure time_off) ms off)" holds "$(figure time_off) >= 0 && $(figure time_off) < 2"
if [ -n "${pages:-}" ]; then
    # Others than its own: its stack, what the collector touches for the first time.
    check "each has touched the pages that it counts ($(figure 'count_off perf::page_faults') off)" holds "$(figure 'count_off perf::page_faults') < 40"
fi
# Of 60 iterations and 600 samples: two to three times the goals of tests/bench/fold.py, which has 200. By CPU time nothing that runs beside it matters;
# by elapsed time it does unless there are ten iterations that ran all of their time.
judge() { # judge WHAT KEY-PREFIX FACTOR
    check "$1: the procedures begin at 0.5 and 0.8 ($(figure "$2border_off") off)" holds "$(figure "$2border_off") < 0.02 * $3"
    for metric in $metrics; do
        check "$1: rates of 1 : 3 : 0.5 of $metric ($(figure "$2rate_off $metric") off)" holds "$(figure "$2rate_off $metric") < 0.05 * $3"
        check "$1: the band holds them at most points of $metric ($(figure "$2held $metric"))" holds "$(figure "$2held $metric") > 0.8 - 0.1 * $3"
    done
}
[ "$(figure steady)" = 0 ] || judge "by CPU time" "" 1
# CPU time is known at samples without a counter beside it, too.
record -e CPUTIME@1000/s -- "$PROGRAMS/folded" 10 30
"$HQ" "$DB" 'fold of phase "iteration" on cputime points 3 as csv' >"$TMP/alone" 2>>"$TMP/err"
check "CPU time alone: a fold on it" [ "$(awk -F, 'NR > 1 && $11 > 0.9 && $11 < 1.1' "$TMP/alone" | wc -l)" = 3 ]
# How long the three last: by samples, within what is said of that; where two are marked, exactly.
cat >"$TMP/routines.py" <<'END'
import json, sys
rows = {r["name"]: r["values"] for r in json.load(sys.stdin)["rows"]}
whole = rows["phase iteration"][1]
for name, share in ("first", 0.5), ("second", 0.3), ("third", 0.2):
    begin, length, low, high = rows[name][:4]
    print(name, round(length / whole - share, 4), round((high - low) / 2 / whole, 4))
END
routines() { "$HQ" "$DB" 'routines of phase "iteration" on cputime as json' 2>>"$TMP/err" | python3 "$TMP/routines.py"; }
off() { routines | awk -v k="$1" '$1 == k { print ($2 < 0 ? -$2 : $2) }'; }
sure() { routines | awk -v k="$1" '$1 == k { print $3 }'; }
record -e CPUTIME@1000/s -- "$PROGRAMS/folded" 40 20
for name in first second third; do
    # 5 standard deviations: one of 1.7 million misses them
    check "by samples: $name lasts what it does, but for $(off $name) (said: $(sure $name))" holds "$(off $name) <= 2.55 * $(sure $name) && $(sure $name) < 0.05"
done
record -e CPUTIME@1000/s --mark second --mark third -- "$PROGRAMS/folded" 40 20
for name in first second third; do
    check "by marks: $name lasts what it does, but for $(off $name)" holds "$(off $name) < 0.01"
done
check "and of what is marked nothing is left to chance" [ "$(sure second)$(sure third)" = 0.00.0 ]
# A routine of one part in a hundred is too short for samples to be a run of its own. Where it is marked its own time is known, and marks that come
# faster than CPU time is noted take no samples away: what is called a hundred times in each visit is there for its time.
cat >"$TMP/short.c" <<'END'
#include <stdio.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec * 1e3 + t.tv_nsec * 1e-6; }
__attribute__((noipa)) static double until(double end) { double t; while ((t = now()) < end) { } return t; }
__attribute__((noipa)) static void tiny(void) { __asm__ volatile(""); }
__attribute__((noipa)) double long_one(double at) { double t = until(at + 6); __asm__ volatile(""); return t; }
__attribute__((noipa)) double short_one(double at) { double t = until(at + 0.1); __asm__ volatile(""); return t; }
__attribute__((noipa)) double often(double at) { for (double end = at + 4, t = at; t < end; t = until(t + 0.04)) tiny(); __asm__ volatile(""); return now(); }
__attribute__((noipa)) void step(double *spent) {
    double a = now(), b = often(a), c = long_one(b), d = short_one(c);
    spent[0] += b - a, spent[1] += c - b, spent[2] += d - c;
    __asm__ volatile("");
}
int main(void) { double spent[3] = {0}; for (int i = 0; i < 60; i++) step(spent); printf("%.3f %.3f %.3f\n", spent[0] / 60, spent[1] / 60, spent[2] / 60); }
END
"${CC:-cc}" -O1 -g -o "$TMP/short" "$TMP/short.c"
record -e CPUTIME@1000/s --mark step --mark long_one --mark short_one --mark tiny -- "$TMP/short"
"$HQ" "$DB" 'routines of step on cputime as json' >"$TMP/json" 2>>"$TMP/err"
python3 - "$TMP/json" "$TMP/out" >"$TMP/lengths" <<'END'
import json, sys
rows = {r["name"]: r["values"] for r in json.load(open(sys.argv[1]))["rows"]}
for name, own in zip(("often", "long_one", "short_one"), map(float, open(sys.argv[2]).read().split())):
    print(name, rows[name][1] * 1e3 / own if name in rows else 0, rows[name][4] * 1e3 / own if name in rows else 0)
END
of() { awk -v k="$1" '$1 == k { print $2 }' "$TMP/lengths"; }
check "marks: the long one lasts what the program says (times $(of long_one))" holds "$(of long_one) > 0.98 && $(of long_one) < 1.02"
check "and the short one is there (times $(of short_one))" holds "$(of short_one) > 0.8 && $(of short_one) < 1.2"
# 240 samples of it, half a percent of them by chance
sampled=$(awk '$1 == "often" { print $3 }' "$TMP/lengths")
check "and what is full of marks loses no samples (times $sampled)" holds "$sampled > 0.93 && $sampled < 1.07"
[ "$(figure steady)$(figure quiet)" != 11 ] || judge "by elapsed time" "elapsed " 2
finish
