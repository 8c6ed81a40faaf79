# SPDX-License-Identifier: BSD-3-Clause
# Shared by the collector's tests. Sourced; runs in the top directory.
set -u
HQ=$(realpath "${HQ:-./hq}")
BUILD=$(realpath "${BUILD:-build}")
READ=$BUILD/tools/measurements
PROGRAMS=$BUILD/programs
TMP=${HQ_TEST_TMP:-$(mktemp -d)}
DB=$TMP/test.hq
. tests/held.sh
passed=0 failed=0 skipped=0

# record ARGS...: records into $DB; standard error in $TMP/err, output in $TMP/out, status in $status, sums in $TMP/sums. What takes longer than LIMIT
# seconds hangs; on a crowded machine it has more (tests/run).
record() {
    timeout "$((${LIMIT:-100} * ${HQ_TEST_CROWD:-100} / 100))" "$HQ" record --force -o "$DB" "$@" >"$TMP/out" 2>"$TMP/err"
    status=$?
    "$READ" "$DB/measurements" >"$TMP/sums" 2>&1
}

# value KEY: a number of the last recording, 0 if it is not there.
value() { awk -v k="$1 " 'index($0, k) == 1 { v = $NF } END { printf "%.15g\n", v + 0 }' "$TMP/sums"; }

# paths: COUNT EVENT a;b;c lines of the last recording.
paths() { "$READ" "$DB/measurements" paths; }

# share REGEX: percentage of the samples (of all events) whose path matches.
share() { paths | awk -v r="$1" '{ n += $1 } $3 ~ r { m += $1 } END { printf "%.2f\n", n ? 100 * m / n : 0 }'; }

check() {
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $name ($*)"
        sed 's/^/  | /' "$TMP/err" "$TMP/sums" 2>/dev/null | head -30
    fi
}
skip() { skipped=$((skipped + 1)); echo "skipped: $1"; }

# holds EXPRESSION: an awk condition.
holds() { awk "BEGIN { exit !($1) }"; }

# sound: the files keep every rule of the format.
sound() { awk '/^broken/ { broken = 1 } /^files/ { read = 1 } END { exit broken || !read }' "$TMP/sums"; }

# full PERCENT: so many samples have a full path.
full() { holds "$(value samples) > 0 && $(value partial) <= (100 - $1) / 100 * $(value samples)"; }

# cut_short LEAST: of tests/programs/depth.c more than LEAST samples lie as deep as it goes, and all of these have too many frames (reason 4). How many came
# on the way there and back is left to chance.
cut_short() { paths | awk -v least="$1" '$3 ~ /;down(;|$)/ { n += $1; if ($3 !~ /^partial:4;/) other++ } END { exit other || n <= least }'; }

finish() {
    if [ $skipped -gt 0 ]; then echo "$passed passed, $failed failed, $skipped skipped"; else echo "$passed passed, $failed failed"; fi
    [ $failed -eq 0 ]
    exit
}
