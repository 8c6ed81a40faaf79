#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# kill -9 at random moments: what was measured until then is there and sound, and the database can be built from it.
# HQ_KILLS, HQ_BUILD_EVERY: how often; HQ_SEED: other moments; HQ_EVIDENCE: a directory that keeps the recordings of failures.
. tests/collector/lib.sh
# Here some; tests/soak/killed.sh runs many and builds after each.
times=${HQ_KILLS:-40} every=${HQ_BUILD_EVERY:-20} evidence=${HQ_EVIDENCE:-$TMP/evidence}
RANDOM=${HQ_SEED:-7}

# kind NAME: sets `event`, `flying` (how many samples may be in flight at once) and `command`.
kinds=(tree growth threads forks)
kind() {
    case $1 in
    tree) event=CPUTIME flying=2 rate=1000/s command=("$PROGRAMS/paths" 10 1) ;;
    growth) event=REALTIME flying=4 rate=8000/s command=("$PROGRAMS/paths" 10 3) ;;
    threads) event=REALTIME flying=8 rate=2000/s command=("$PROGRAMS/threads" 10000000 4 60) ;;
    forks) event=REALTIME flying=3 rate=2000/s command=(bash -c 'while :; do (for ((i = 0; i < 500; i++)); do :; done); done') ;;
    esac
}
declare -A bad=([unsound]=0 [missing]=0 [unbuilt]=0)
empty=0

# fails WHAT: counts it, and keeps all that there is to see.
fails() {
    local kept=$evidence/kill-$i-$1

    bad[$1]=$((bad[$1] + 1))
    mkdir -p "$evidence"
    cp -r "$DB" "$kept"
    cp "$TMP/sums" "$TMP/err" "$TMP/out" "$kept" 2>/dev/null
    echo "kill $i, $name: $1; kept in $kept"
    sed 's/^/  | /' "$TMP/sums" "$TMP/err" "$TMP/out" 2>/dev/null
}

# one NUMBER NAME: record, wait for a file, kill between 0 and 0.2 s later.
one() {
    local i=$1 name=$2 event flying rate command victim

    kind "$name"
    rm -rf "$DB"
    : >"$TMP/out"
    held "$HQ" record -e "$event@$rate" -o "$DB" -- "${command[@]}" >/dev/null 2>"$TMP/err"
    until [ -n "$(ls "$DB"/measurements/*.hqm 2>/dev/null)" ]; do :; done
    read -rt "0.$(printf %03d $((RANDOM % 200)))" <> <(:)
    if [ "$name" = forks ] || [ $((i % 5)) = 4 ]; then
        order all KILL              # all at once: hq record, the program, and its children
    else
        victim=$(ls -t "$DB"/measurements/*.hqm | tail -n 1)
        victim=${victim%-*}
        order "${victim##*-}" KILL
    fi
    ended
    "$READ" "$DB/measurements" >"$TMP/sums" 2>&1
    sound || fails unsound
    [ "$(value samples)" -gt 0 ] || empty=$((empty + 1))
    # A sample is in its cell before it is counted.
    holds "$(value "count $event") - $(value samples) <= $flying && $(value "count $event") >= $(value samples)" || fails missing
    if [ $((i % every)) = 0 ]; then
        "$HQ" build "$DB" >"$TMP/out" 2>&1 || fails unbuilt
    fi
}

# The number of a process that was not begun by `held`, as a file's name may give it when it is used again: this shell would end here.
held true
order $$ KILL
ended
check "a number that is another's by now ends nobody" [ $? = 0 ]

for ((kill = 0; kill < times; kill++)); do
    one $kill "${kinds[kill % ${#kinds[@]}]}"
done
check "$times kills leave sound files" [ "${bad[unsound]}" = 0 ]
check "and lose at most the samples in flight" [ "${bad[missing]}" = 0 ]
check "and can be built" [ "${bad[unbuilt]}" = 0 ]
check "most have samples" [ $empty -lt $((times / 2)) ]
finish
