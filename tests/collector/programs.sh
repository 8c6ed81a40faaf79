#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 900
# Real programs do what they do without the collector, and at least 99.9 % of their samples have a full path.
. tests/collector/lib.sh
: "${CC:=cc}"
TOP=$PWD LIMIT=300
cd "$TMP" || exit 1

input=/usr/bin/python3.11
[ -f $input ] || input=$HQ
head -c 12000000 "$(readlink -f /usr/lib/x86_64-linux-gnu/libLLVM-14.so.1 || echo $input)" >input 2>/dev/null || cp $input input

# try NAME COMMAND...: it is measured if the samples stand for at least half of the CPU time that the same run takes, on however fast or busy a
# processor: each of its threads lives at least as long as it computes. A fifth of a second may pass before a library is loaded, or beside it: in hq.
try() {
    local name=$1 bare cpu TIMEFORMAT='%U %S'
    shift
    command -v "$1" >/dev/null || { skip "$1 is not installed"; return; }
    "$@" >"$TMP/bare" 2>/dev/null
    bare=$?
    { time record -e REALTIME@2000/s -- "$@"; } 2>"$TMP/cpu"
    cpu=$(awk '{ print $1 + $2 }' "$TMP/cpu")
    check "$name ends as it does without" [ "$status" = $bare ]
    check "$name is measured" holds "$(value samples) > 0 && $(value 'sum REALTIME') / 1e9 > 0.5 * $cpu - 0.2"
    check "$name has full paths" full 99.9
    check "$name leaves sound files" sound
    echo "$name: $(value 'sum REALTIME') ns for $cpu s, $(value samples) samples, $(value partial) partial, $(value threads) threads, $(value files) files"
}
same_output() { check "$1 writes the same" cmp -s "$TMP/bare" "$TMP/out"; }

try python3 /usr/bin/python3 -c 'import re, json
print(sum(i * i for i in range(8000000)))
print(len(json.dumps(json.loads(json.dumps([{"a": i, "b": str(i)} for i in range(100000)])))))
print(len(re.findall(r"(a|b)+c", "ababac" * 100000)))'
same_output python3
try sqlite3 sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x + 1 from c where x < 2000000) select count(*), sum(x * x % 7) from c;'
same_output sqlite3
try xz xz -k -c -2 -T2 input
same_output xz
try zstd zstd -q -c -11 -T2 input
same_output zstd
try openssl openssl speed -seconds 1 -bytes 4096 sha256 aes-128-cbc
try perl perl -e 'my %h; for my $i (1 .. 4000000) { $h{"k" . $i % 1000} .= substr("abcdef", $i % 5, 1); } my $n = 0; for (values %h) { $n++ while /a.c/g } print "$n\n"'
same_output perl
cat >big.c <<'C'
#define F(n) int f##n(int x) { int s = 0; for (int i = 0; i < x; i++) { s += i * n ^ (s >> 3); if (s & n) s -= f##n(i / 2); } return s; }
#define G(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define H(n) G(n##0) G(n##1) G(n##2) G(n##3) G(n##4) G(n##5) G(n##6) G(n##7) G(n##8) G(n##9)
H(1)
C
try cc1 "$CC" -O2 -S -o "$TMP/big.s" big.c
try openmp "$PROGRAMS/parallel"
try throws "$PROGRAMS/throws" 1
try plugins "$PROGRAMS/adversary" 1 "$PROGRAMS"

if $CC -fsanitize=address -O1 -o "$TMP/sanitized" -I"$TOP/tests/programs" "$TOP/tests/programs/ends.c" -lpthread 2>/dev/null; then
    record -- "$TMP/sanitized" return
    check "a program with AddressSanitizer runs and is measured" holds "$status == 7 && $(value 'sum CPUTIME') > 0.2e9"
else
    skip "there is no AddressSanitizer"
fi
try jit "$PROGRAMS/jit"
# Its two halves take as much CPU time, but beside others not as long.
record -e CPUTIME@1000/s -- "$PROGRAMS/jit"
check "jit: paths go through code in no module" holds "$(share '^(.*;)?main;[?][+]0x[0-9a-f]+;[?][+]0x[0-9a-f]+;[?][+]0x[0-9a-f]+;work;burn') > 35"
check "jit: and end in it" holds "$(share ';main;[?][+]0x[0-9a-f]+$') > 35"

if command -v redis-server >/dev/null; then
    record -e REALTIME@2000/s -- bash -c 'redis-server --port 0 --unixsocket "$0/redis" --save "" --daemonize no >/dev/null & server=$!
        until redis-cli -s "$0/redis" ping >/dev/null 2>&1; do :; done
        redis-benchmark -s "$0/redis" -n 60000 -q -t set,get,lpush,lrange_100 >"$0/benchmark"
        redis-cli -s "$0/redis" info cpu | tr -d "\r" >"$0/redis.cpu"
        redis-cli -s "$0/redis" shutdown nosave; wait $server' "$TMP"
    check "redis runs" [ $status = 0 ]
    check "redis answers" grep -q LRANGE "$TMP/benchmark"
    cpu=$(awk -F: '$1 ~ /^used_cpu_(user|sys)$/ { n += $2 } END { print n + 0 }' "$TMP/redis.cpu")
    check "redis is measured" holds "$cpu > 0 && $(value 'sum REALTIME') / 1e9 > 0.5 * $cpu"
    check "redis has full paths" full 99.9
    check "redis: sound" sound
    echo "redis: $(value samples) samples, $(value partial) partial, $(value threads) threads, $(value files) files"
else
    skip "redis-server is not installed"
fi

record -e REALTIME@500/s -- "$PROGRAMS/depth" 20000 0.3
check "20,000 frames: the program ends well" [ $status = 0 ]
check "20,000 frames: the innermost are kept" cut_short 10
check "20,000 frames: sound" sound
check "20,000 frames: the answer says why" grep -q 'partial: too many frames.: a recursion' <("$HQ" "$DB" "procedures limit 1" 2>&1)

if command -v hpcc >/dev/null; then
    cp "$TOP/tests/hpccinf.txt" .
    mpirun=mpirun
    ldd "$(command -v hpcc)" | grep -q 'libmpi.so' && mpirun=$(command -v mpirun.openmpi || echo mpirun)
    # The inner loops of OpenBLAS are assembly without unwind information, of which one path in 400 was partial.
    bound=99.9
    case $(ldd "$(command -v hpcc)" | awk '/libblas/ { print $3 }' | xargs -r readlink -f) in *openblas*) bound=99 ;; esac
    record -e REALTIME@2000/s -- "$mpirun" -n 2 hpcc
    check "hpcc ends" [ $status = 0 ]
    check "hpcc succeeds" grep -q 'Success=1' hpccoutf.txt
    check "hpcc has full paths" full $bound
    check "hpcc: sound" sound
    echo "hpcc: $(value samples) samples, $(value partial) partial, $(value threads) threads, $(value files) files"
    rm -rf "$DB" hpccoutf.txt
    timeout $LIMIT "$mpirun" -n 2 "$HQ" record -e REALTIME@2000/s -o "$DB" -- hpcc >"$TMP/out" 2>"$TMP/err"
    check "hpcc under hq under mpirun" [ $? = 0 ]
    "$READ" "$DB/measurements" >"$TMP/sums" 2>&1
    check "both ranks share the recording" [ "$(value files)" = 2 ]
    # Wherever mpirun puts it: what Open MPI says of its own (5: btl_tcp) may have no end of line before it.
    check "one line says so" [ "$(grep -o 'hq: ' "$TMP/err" | wc -l)" = 1 ]
    check "full paths" full $bound
elif apt-cache policy hpcc 2>/dev/null | grep -q 'Candidate: [0-9]'; then
    skip "hpcc is not installed"
else
    skip "hpcc is not in this release"
fi
finish
