#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Queries on 8,192 profiles of 3,600 values each (HQ_BENCH_PROFILES, HQ_BENCH_CONTEXTS): every view over sums with any one clause in 100 ms warm,
# statistics over all profiles in 1 s. Times are of the whole command. HQ_BENCH_QUERY_DB names a database to use, or to make there and keep.
set -u
HQ=${HQ:-./hq} BUILD=${BUILD:-build}
db=${HQ_BENCH_QUERY_DB:-${TMPDIR:-/tmp}/hq-bench-queries.$$}
passed=0 failed=0
[ -n "${HQ_BENCH_QUERY_DB:-}" ] || trap 'rm -rf "$db"' EXIT

milliseconds() { # milliseconds QUERY: wall-clock time, the best of three runs
    local best=999999999 start end
    for _ in 1 2 3; do
        start=${EPOCHREALTIME/[.,]/}
        "$HQ" "$db" "$1" >/dev/null 2>&1 || return 1
        end=${EPOCHREALTIME/[.,]/}
        [ $((end - start)) -lt $best ] && best=$((end - start))
    done
    echo $((best / 1000))
}

bound() { # bound LIMIT-MS QUERY
    local ms
    ms=$(milliseconds "$2")
    if [ -n "$ms" ] && [ "$ms" -le "$1" ]; then
        passed=$((passed + 1))
        printf '  %5s ms  %s\n' "$ms" "$2"
    else
        failed=$((failed + 1))
        printf '  %5s ms  %s  (bound: %s ms)\n' "${ms:-error}" "$2" "$1"
    fi
}

if [ ! -f "$db/hq.db" ]; then
    "$BUILD/tools/spmd" "$db" "${HQ_BENCH_PROFILES:-8192}" "${HQ_BENCH_CONTEXTS:-3600}" 50 || exit 2
    "$HQ" build "$db" >/dev/null 2>&1 || exit 2
    rm -rf "$db/measurements.done"
fi
name=$("$HQ" "$db" "procedures limit 1 columns name as csv" 2>/dev/null | tail -n 1 | sed 's/.*,//')

for view in tree callers flat "hot path" procedures loops lines files modules threads profiles metrics info; do
    bound 100 "$view"
done
for clause in "of $name" "where cputime.x > 1%" "where name = malloc" "matching /^malloc\$/" "sort by cputime.x, name" "limit 5" "depth 3" "flatten" \
    "through $name" "not through $name > *" "prune $name" "hide $name" "ranks 0-3" "percent of parent" "columns a = cputime.x / @cputime, cputime" \
    "columns ci(cputime)" "compare with '$db'" "expect cputime < 101%"; do
    for view in tree callers flat; do
        bound 100 "$view $clause"
    done
done
bound 100 "explain 50% of cputime"
bound 100 "source of $name"
bound 100 "tree columns mean(cputime), imbalance(cputime)"
bound 1000 "flat columns mean(cputime), imbalance(cputime)"
bound 1000 "procedures columns p50(cputime), p99(cputime)"
bound 1000 "procedures ranks 0-4095 columns stddev(cputime)"
bound 1000 "threads of $name per host"
bound 1000 "tree during 10%..20%"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
