#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# hq build --clock-offsets: hosts and ranks are shifted, and mistakes are told with their line.
set -u
passed=0 failed=0
check() { # check WHAT COMMAND...
    local what=$1
    shift
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "failed: $what"; fi
}
fact() { "$HQ" run.hq info 2>/dev/null | sed -n "s/^$1  *//p"; }
seconds() { date -d "$(fact started)" +%s; }
tells() { # tells TEXT: building with the offsets on standard input fails with status 2 and says TEXT
    local out status
    cat >wrong
    out=$("$HQ" build --clock-offsets wrong run.hq 2>&1)
    status=$?
    [ $status -eq 2 ] && case $out in *"$1"*) true ;; *) echo "$out" && false ;; esac
}

cd "$HQ_TEST_TMP" || exit 1
for rank in 0 1; do
    OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=2 "$HQ" record -o run.hq --force -- "${BASH}" -c 'for ((i = 0; i < 30000; i++)); do :; done' 2>/dev/null
done
"$HQ" build run.hq >/dev/null || exit 1
before=$(seconds)
echo "host $(fact host) -1h  # an hour" >offsets
check "builds" "$HQ" build --clock-offsets offsets run.hq >/dev/null
check "an hour earlier" [ $((before - $(seconds))) -eq 3600 ]
check "no such rank" tells "wrong:2: there is no rank 9" <<<$'\nrank 9 1s'
check "no number of a rank" tells "wrong:1: this is no number of a rank" <<<"rank -1 1s"
check "nor is a word" tells "wrong:1: this is no number of a rank" <<<"rank first 1s"
check "not a line" tells "wrong:1: this is neither a host nor a rank" <<<"node2 1s"
check "no offset" tells "wrong:1: there are not three words" <<<"host node2"
check "no time" tells 'unknown unit "parsec"' <<<"host $(fact host) 1parsec"
check "no file" [ "$("$HQ" build --clock-offsets nowhere run.hq >/dev/null 2>&1; echo $?)" -eq 3 ]
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
