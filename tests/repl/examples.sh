#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every query that comes with hq runs on a recorded program and begins by saying what it answers; one that `needs` other
# metrics or data than a recording by CPU time has is only parsed.
set -u
cd "$HQ_TEST_TMP" || exit 1
"$HQ" record -o good.hq -- "$PROGRAMS/split" 0.3 >/dev/null 2>&1 || { echo "cannot record"; exit 1; }
passed=0 failed=0
check() {
    if [ "$1" = yes ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        printf 'FAILED: %s: %s\n' "$name" "$2"
        cat out err
    fi
}
for file in "$TOP"/examples/queries/*.hq; do
    name=$(basename "$file" .hq)
    case $(head -n 1 "$file") in "-- "*'?'*) check yes ;; *) check no "does not begin with a question" ;; esac
    "$HQ" good.hq -D old=good.hq -q "$name" >out 2>err
    status=$?
    if grep -q '^-- needs:' "$file"; then
        ! grep -q 'cannot stand here\|no view or statement\|expected' err && check yes || check no "does not parse"
    else
        # A budget may fail on this program, and there is no MPI in it.
        case $status in 0 | 1 | 4) check yes ;; *) check no "exit status $status" ;; esac
    fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
