#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Building databases: the same bytes however it is done, one build at a time, never half a file.
. tests/db/lib.sh
says() { grep -q -- "$1" "$TMP/said"; }
status_is() { local want=$1; shift; "$@" >"$TMP/out" 2>"$TMP/said"; local got=$?; [ $got = "$want" ] || { echo "status $got"; cat "$TMP/said"; false; }; }
no_leftovers() { local found; found=$(find "$1" -name '*tmp*' -o -name '*spool*'); [ -z "$found" ] || { echo "$found"; false; }; }

"$BUILD/tools/spmd" "$TMP/spmd" 150 300 700
"$HQ" record -o "$TMP/threads" -- "$PROGRAMS/threads" >/dev/null 2>&1

# ---- the same file for any number of threads, and whatever order the files are given in ----
for db in spmd threads; do
    for jobs in 1 2 3 7; do
        check "$db with $jobs threads" "$HQ" build -j $jobs -o "$TMP/$db.$jobs.db" "$TMP/$db"
        check "$db: $jobs threads make the same file" cmp "$TMP/$db.1.db" "$TMP/$db.$jobs.db"
    done
    check "$db is whole" "$HQ" verify "$TMP/$db.1.db"
done
mkdir "$TMP/a" "$TMP/b"
n=0
for file in "$TMP"/spmd/measurements/*; do
    n=$((n + 1))
    cp "$file" "$TMP/$([ $((n % 3)) = 0 ] && echo a || echo b)/"
done
check "joined from two directories" "$HQ" build -o "$TMP/joined.db" "$TMP/b" "$TMP/a"
"$BUILD/tools/dump" "$TMP/joined.db" >"$TMP/joined.txt"
"$BUILD/tools/dump" "$TMP/spmd.1.db" >"$TMP/spmd.txt"
check "holds what the one directory held" cmp "$TMP/joined.txt" "$TMP/spmd.txt"
check "a measurement given twice counts once" "$HQ" build -o "$TMP/twice.db" "$TMP/a" "$TMP/b" "$TMP/spmd"
"$BUILD/tools/dump" "$TMP/twice.db" >"$TMP/twice.txt"
check "and changes nothing" cmp "$TMP/twice.txt" "$TMP/spmd.txt"

# ---- two first questions at once, and more ----
for round in 1 2 3; do
    rm -f "$TMP"/spmd/hq.db*
    pids=()
    for i in 1 2 3 4; do
        "$HQ" "$TMP/spmd" "procedures as csv" >"$TMP/answer.$i" 2>"$TMP/answer.$i.err" &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do check "question of round $round" wait "$pid"; done
    for i in 2 3 4; do check "the same answer" cmp "$TMP/answer.1" "$TMP/answer.$i"; done
    check "no leftovers" no_leftovers "$TMP/spmd"
done

# ---- killed builds leave no broken file ----
for round in 1 2 3 4 5 6; do
    rm -f "$TMP/spmd/hq.db"
    held "$HQ" build "$TMP/spmd" >/dev/null 2>&1
    # Not for the time but for different places to be killed at.
    for _ in $(seq $((round * round * 300))); do :; done
    order all KILL
    ended
    check "after a killed build" "$HQ" build "$TMP/spmd"
    check "it is whole" "$HQ" verify "$TMP/spmd"
    check "the same as ever" cmp "$TMP/spmd/hq.db" "$TMP/spmd.1.db"
    check "no leftovers" no_leftovers "$TMP/spmd"
done

# ---- new measurements lead to a new database ----
before=$("$HQ" "$TMP/spmd" "profiles all as csv" 2>/dev/null | wc -l)
cp "$TMP/threads/measurements/"*.hqm "$TMP/spmd/measurements/"
check "asked again" status_is 0 "$HQ" "$TMP/spmd" "profiles all as csv"
check "there is more" test "$(wc -l <"$TMP/out")" -gt "$before"
check "and it is said" says "built again"
check "asked a third time" status_is 0 "$HQ" "$TMP/spmd" "info"
check "nothing is said" test ! -s "$TMP/said"

# ---- damage ----
mkdir -p "$TMP/bad/measurements"
cp "$TMP"/spmd/measurements/node0000-100[0-3]-0.hqm "$TMP/bad/measurements/"
head -c 5000 "$TMP/bad/measurements/node0000-1000-0.hqm" >"$TMP/x" && mv "$TMP/x" "$TMP/bad/measurements/node0000-1000-0.hqm"
echo nonsense >"$TMP/bad/measurements/node0000-1001-0.hqm"
: >"$TMP/bad/measurements/node0000-1002-0.hqm"
check "a damaged measurement is left out" status_is 3 "$HQ" "$TMP/bad" "info"
check "and it is said" says "node0000-1001-0.hqm.*made without it"
rm "$TMP/bad/measurements/"*100[03]-0.hqm "$TMP/bad/hq.db"
check "only damaged ones" status_is 3 "$HQ" "$TMP/bad" "info"
"$HQ" record -o "$TMP/half" -- "$PROGRAMS/threads" >/dev/null 2>&1
check "a whole one" status_is 0 "$HQ" "$TMP/half" "info"
check "is not said to be damaged" test ! -s "$TMP/said"
for file in "$TMP"/half/measurements/*.hqm; do truncate -s $(($(stat -c %s "$file") / 2)) "$file"; done
rm "$TMP/half/hq.db"
check "cut files" status_is 3 "$HQ" "$TMP/half" "procedures limit 1"
check "the build tells" says "hqm: the measurement file is damaged: [0-9]* of its [0-9]* samples are there"
check "asked again" status_is 3 "$HQ" "$TMP/half" "procedures limit 1"
check "the database tells" says "half: [0-9]* of [0-9]* samples are there: 1 measurement file has damaged parts"
check "what is lost is a loss" grep -q "damaged measurement file" <("$BUILD/tools/dump" "$TMP/half/hq.db")
for file in "$TMP"/half/measurements/*.hqm; do truncate -s 4096 "$file"; done
check "nothing is left of any" status_is 3 "$HQ" "$TMP/half" "info"
check "and it is said" says "none of their samples is left"
"$HQ" record -o "$TMP/idle" -- sh -c "$PROGRAMS/split 0.3; /bin/true; /bin/true" >/dev/null 2>"$TMP/closing"
check "processes without samples" status_is 0 "$HQ" "$TMP/idle" "info"
threads=$(sed -n 's/^threads  *\([0-9]*\), [0-9]* of them with samples$/\1/p' "$TMP/out")
check "have a thread, as at the end of the recording" grep -q ", $threads threads, " "$TMP/closing"
mkdir -p "$TMP/none/measurements"
check "no measurements" status_is 3 "$HQ" "$TMP/none" "info"
check "no such directory" status_is 3 "$HQ" build "$TMP/nothing"
head -c 3000 "$TMP/threads/hq.db" >"$TMP/cut.db" 2>/dev/null || head -c 3000 "$TMP/threads.1.db" >"$TMP/cut.db"
check "a cut database" status_is 3 "$HQ" "$TMP/cut.db" "info"
check "verify finds it" status_is 3 "$HQ" verify "$TMP/cut.db"
cp "$TMP/cut.db" "$TMP/threads/hq.db"
check "a damaged database is made anew from its measurements" status_is 0 "$HQ" "$TMP/threads" "info"
check "and that is said" says "threads/hq.db is damaged.*built again"
check "and nothing else" test "$(wc -l <"$TMP/said")" = 1
check "and is whole" "$HQ" verify "$TMP/threads"
check "the output cannot be written" status_is 3 "$HQ" build -o /proc/nothing/x.db "$TMP/threads"

# ---- a directory that may only be read ----
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
else
    other=()
fi
# The tests' own directory is closed to others.
open=$(mktemp -d "/tmp/hq-read-only.XXXXXX")
trap 'chmod -R u+w "$open"; rm -rf "$open"' EXIT
mkdir -m 777 "$open/cache"
cp -r "$TMP/threads" "$open/threads"
rm -f "$open"/threads/hq.db*
cp "$HQ" "$open/hq"
chmod -R a+rX "$open/hq" "$open/threads" "$open"
chmod a-w "$open/threads"
if "${other[@]}" test -x "$open/hq" && "${other[@]}" test -r "$open/threads/measurements" && ! "${other[@]}" test -w "$open/threads"; then
    ask=("${other[@]}" env "XDG_CACHE_HOME=$open/cache" HOME=/ "$open/hq" "$open/threads" procedures)
    check "a read-only recording" status_is 0 "${ask[@]}"
    check "its database is in the cache" test -n "$(find "$open/cache" -name '*hq.db')"
    check "nothing in the recording" test ! -e "$open/threads/hq.db"
    check "the cache cannot be written either" status_is 3 "${ask[@]/#XDG_CACHE_HOME=*/XDG_CACHE_HOME=/dev/null/cache}"
    check "what to do is said" says "threads cannot be written and neither can the cache directory; use .hq build -o ELSEWHERE .*set XDG_CACHE_HOME"
    chmod -R a-w "$open/cache"
    check "asked again, it is not built again" status_is 0 "${ask[@]}"
else
    skipped=$((skipped + 1))
    echo "skipped: there is no user who cannot write here"
fi

# ---- processes that were killed are counted, whoever comes after them ----
burn='for ((i = 0; i < 20000; i++)); do :; done'
check "a recording with two of them" "$HQ" record -o "$TMP/two" -- bash -c "($burn; kill -9 \$BASHPID); ($burn; kill -9 \$BASHPID); $burn"
"$HQ" "$TMP/two" info >"$TMP/said" 2>&1
check "info counts both" says "^processes without an end .* 2$"

# ---- recordings at different rates, of which one has counted more ----
"$HQ" record -e CPUTIME@100/s -o "$TMP/slow" -- "$PROGRAMS/split" 0.3 >/dev/null 2>&1
"$HQ" record -e CPUTIME@900/s -e ALLOC -o "$TMP/fast" -- "$PROGRAMS/split" 0.3 >/dev/null 2>&1
check "are put together" "$HQ" build -o "$TMP/rates" "$TMP/slow" "$TMP/fast"
holds() { awk "BEGIN { exit !($1) }"; }
total() { "$HQ" "$TMP/$1" "threads ${2-} columns cputime as json" 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["total"][0])'; }
# 1/900 s is no whole number of ns, and no multiple of a unit that 1/100 s has, too
check "a slice of all of the time has it all: $(total rates) and $(total rates 'during 0%..100%') s" \
    holds "$(total rates) > 0.1 && $(total rates) < 1.0001 * $(total rates 'during 0%..100%') && $(total rates) > 0.9999 * $(total rates 'during 0%..100%')"
check "each has its own" holds "$(total rates) < 1.0001 * ($(total slow) + $(total fast)) && $(total rates) > 0.9999 * ($(total slow) + $(total fast))"
"$HQ" "$TMP/rates" info >"$TMP/said" 2>&1
check "info has both rates" says "CPUTIME (every 10 ms) in 1 of 2 processes, CPUTIME (every 1.1111. ms) in 1 of 2"
"$HQ" "$TMP/rates" "procedures columns alloc_bytes" >/dev/null 2>"$TMP/said"
check "what one has not measured is told" says "not all processes have measured: alloc_bytes (1 of 2)"
"$HQ" "$TMP/rates" "procedures columns cputime" >/dev/null 2>"$TMP/said"
check "and what both have is not" eval '! says "not all processes"'
check "no period of samples is the one of all" eval '"$HQ" "$TMP/rates" "metrics as json" 2>&1 | grep -q "\"cputime\".*\"s\",null,"'

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
