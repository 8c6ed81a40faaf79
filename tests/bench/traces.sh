#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Pictures of long traces: 8,192 profiles of HQ_BENCH_RECORDS records each (50,000: 1.3 GB; 1,000,000 take 26 GB). Drawing reads only what
# it shows, so the length hardly counts. Bounds: 160x48 cells in 100 ms warm and 1 s cold, a 2560x1600 svg in 3 s.
# HQ_BENCH_DB names a database to use, or to make there and keep.
set -u
records=${HQ_BENCH_RECORDS:-50000}
db=${HQ_BENCH_DB:-${TMPDIR:-/tmp}/hq-bench-traces.$$}
passed=0 failed=0
[ -n "${HQ_BENCH_DB:-}" ] || trap 'rm -rf "$db"' EXIT

milliseconds() { # milliseconds COMMAND...: the wall-clock time, the best of three runs
    local best=999999999 start end
    for _ in 1 2 3; do
        start=${EPOCHREALTIME/[.,]/}
        "$@" >/dev/null 2>&1 || return 1
        end=${EPOCHREALTIME/[.,]/}
        [ $((end - start)) -lt $best ] && best=$((end - start))
    done
    echo $((best / 1000))
}
# bound WHAT LIMIT-MS COMMAND...; a WHAT that ends in `cold` has nothing of the file in memory.
bound() {
    local what=$1 limit=$2 ms
    shift 2
    case $what in
    *cold) ms=$(milliseconds cold "$@") ;;
    *) ms=$(milliseconds "$@") ;;
    esac
    if [ -n "$ms" ] && [ "$ms" -le "$limit" ]; then
        passed=$((passed + 1))
        echo "ok    $what: $ms ms (at most $limit)"
    else
        failed=$((failed + 1))
        echo "FAIL  $what: ${ms:-no} ms (at most $limit)"
    fi
}
# Drops the file from the page cache; that costs next to nothing.
cold() {
    dd of="$db/hq.db" oflag=nocache conv=notrunc,fdatasync count=0 2>/dev/null
    "$@"
}

[ -f "$db/hq.db" ] || "$BUILD/tools/long_traces" 8192 "$records" "$db" || exit 1
echo "$(stat -c %s "$db/hq.db") bytes, 8192 profiles"
bound "trace, 160x48 cells, cold" 1000 "$HQ" "$db" "trace width 160 height 48"
bound "trace, 160x48 cells, warm" 100 "$HQ" "$db" "trace width 160 height 48"
bound "trace depth, 160 instants" 100 "$HQ" "$db" "trace depth of rank 4000 width 160"
bound "trace summary, 160 instants of 512 profiles" 400 "$HQ" "$db" "trace summary width 160"
bound "trace as svg, 2560x1600" 3000 "$HQ" "$db" "trace width 2560 height 1600 as svg"
bound "tree during 1 % of four ranks" 100 "$HQ" "$db" "tree during 50%..51% ranks 0-3"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
