#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What samples CPUTIME: which clock it is and that this is said, that it is right where timers are not, and that neither its
# descriptors nor its signal are seen by the program.
. tests/collector/lib.sh
CLOCK=$PROGRAMS/clock

by() { [ "$(value "$1-clock"):$(value files)" = 1:1 ]; }
sampled() { holds "$(value 'sum CPUTIME') >= $1 * 1e9"; }
lost() { awk '/^loss / { n += $NF } END { print n + 0 }' "$TMP/sums"; }
# cost NAME: percentage of the time in a procedure and what it calls.
cost() {
    "$HQ" "$DB" 'procedures all as csv' 2>/dev/null |
        awk -F, -v n="$1" -v all="$(value 'sum CPUTIME')" 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i } index($0, n) && $column["kind"] ~ /procedure|runtime/ { x = $(NF - 1) } END { printf "%.2f", 1e11 * x / all }'
}
# spent NAME: the same in seconds.
spent() { awk -v p="$(cost "$1")" -v all="$(value 'sum CPUTIME')" 'BEGIN { printf "%.4f", p * all / 1e11 }'; }
# agrees SECONDS TRUE ROUNDS PERIOD: a part of each round, of random length, begins and ends somewhere between two samples: its
# weight is wrong by less than a period, with a variance of at most a quarter. Four standard errors, and 2 %.
agrees() { holds "($1 - $2) ^ 2 <= (4 * sqrt($3 / 4) * $4 + 0.02 * $2) ^ 2"; }

record --clock=timer -- "$CLOCK" close
check "timer: it is used" by timer
check "timer: it is said" grep -q ', CPUTIME by timers$' "$TMP/err"
"$HQ" "$DB" info >"$TMP/info" 2>&1
check "timer: its bias is said" grep -q "^clock of CPUTIME .*tick.*too often" "$TMP/info"
"$HQ" record --clock=perf -e REALTIME -o "$DB" -- true 2>"$TMP/err"
check "a clock of nothing is a mistake" [ $? = 2 ]

record --clock=perf -e CPUTIME@1000/s -- "$CLOCK" calls 1 30000000
if ! by perf; then
    skip "the kernel's software clock may not be used here"
    finish
fi

read -r truth rounds seconds <"$TMP/out"
check "long calls: the program runs as without hq" [ $status = 0 ]
check "long calls: their time" agrees "$(spent long_call)" "$(awk "BEGIN { print $seconds * $truth / (100 - $truth) }")" "$rounds" 0.001
check "long calls: the time of what follows them" agrees "$(spent user_work)" "$seconds" "$rounds" 0.001
check "long calls: all time is there" sampled 0.97
check "perf: it is said" grep -q ', CPUTIME by the software clock$' "$TMP/err"
"$HQ" "$DB" info >"$TMP/info" 2>&1
check "perf: info says it" grep -q "^clock of CPUTIME .*the kernel's software clock$" "$TMP/info"

# Some by one clock and some by the other: a process that executes another program counts once, and its programs twice. Either of the two shells that are
# forked is one more if a sample falls into it before it executes what it is for.
record -- bash -c '"$0" -c "exec \"\$0\" close" "$1"; HQ_CLOCK=timer "$1" close; true' "$BASH" "$CLOCK"
counts=$(sed -nE 's/.* 3 processes in .* CPUTIME by the software clock in ([0-9]+) of ([0-9]+) executed programs and forked processes, by timers in 1$/\1 \2/p' "$TMP/err")
read -r by_perf all <<<"$counts"
check "two clocks: each has its number" holds "${by_perf:-0} >= 3 && ${by_perf:-0} <= 5 && ${all:-0} == ${by_perf:-0} + 1"

# The clock stands still while the kernel changes threads. That time is nobody's but the kernel's.
record --clock=perf -e CPUTIME@4000/s -- "$CLOCK" changes 1
read -r truth rounds seconds <"$TMP/out"
check "changes of threads: the program runs as without hq" [ $status = 0 ]
check "changes of threads: work between them has its own time alone" agrees "$(spent user_work)" "$seconds" "$rounds" 0.00025
check "changes of threads: all time is there" sampled 0.97

# What that costs is bounded: unless the clock is insisted on, such a thread has fewer samples, which weigh more. The variance
# of a procedure's time is at most a quarter of the whole time by the longest weight, which is at most 50 ms; four times its root.
check "changes of threads: insisted on, all samples are there" [ "$(value slowed-threads)" = 0 ]
record -e CPUTIME@4000/s -- "$CLOCK" changes 3
read -r truth _ seconds <"$TMP/out"
if [ "$(value perf-clock):$(value timer-threads)" = 1:0 ]; then
    check "many changes of threads: fewer samples" holds "$(value slowed-threads) > 0 && $(value 'count CPUTIME') * 500000 < $(value 'sum CPUTIME')"
    check "many changes of threads: this is said" grep -q 'by the software clock, less often in [12] of the threads' "$TMP/err"
    "$HQ" "$DB" info >"$TMP/info" 2>&1
    check "many changes of threads: info says it" grep -q '^threads sampled less often' "$TMP/info"
    # Samples of unequal weight tell less than as many of equal weight. The first tenths of a second have many of little weight.
    weight=$(sed -n 's/^CPUTIME that a sample stands for.* \([0-9]*\) us$/\1/p' "$TMP/info")
    check "many changes of threads: what a sample stands for" holds "${weight:-0} / 1e6 > 1.2 * $(value 'sum CPUTIME') / 1e9 / $(value 'count CPUTIME') && ${weight:-0} <= 100000"
    certain=$("$HQ" "$DB" summary 2>/dev/null | sed -n 's/.*known to +-\([0-9.]*\) %.*/\1/p')
    check "many changes of threads: the summary knows what that means" holds "(${certain:-0} - 98 / sqrt($(value 'sum CPUTIME') / 1000 / $weight)) ^ 2 < 0.01"
    check "many changes of threads: all time is there" sampled 2.7
    check "many changes of threads: work between them has its time" holds "($(spent user_work) - $seconds) ^ 2 <= 16 * 0.05 / 4 * $(value 'sum CPUTIME') / 1e9"
else
    skip "the software clock is not what is taken here"
fi

for way in lowest close closefrom close_range dup2 dup3 bare; do
    record --clock=perf -- "$CLOCK" $way
    check "$way: the program runs as without hq" [ $status = 0 ]
    check "$way: the clock goes on" [ "$(value timer-threads):$(lost)" = 0:0 ]
    check "$way: all time is there" sampled 0.65
done

for way in fork threads limit filter; do
    record --clock=perf -- "$CLOCK" $way
    check "$way: the program runs as without hq" [ $status = 0 ]
    check "$way: it is measured" sampled 0.3
done
# Nothing is queued, so nothing turns into SIGIO.
if (ulimit -i 0) 2>/dev/null; then
    (ulimit -i 0; timeout 100 "$HQ" record --force --clock=perf -o "$DB" -- "$CLOCK" close >"$TMP/out" 2>"$TMP/err"; exit $?)
    check "no pending signals: the program runs" [ $? = 0 ]
    "$READ" "$DB/measurements" >"$TMP/sums" 2>&1
    check "no pending signals: it is measured" sampled 0.65
else
    skip "the number of pending signals cannot be limited here"
fi

for way in trap sent; do
    record --clock=perf -- "$CLOCK" $way
    check "$way: ends the program as without hq" [ $status = 133 ]
    check "$way: that the signal may be ours is said" grep -q '^hq: .*SIGTRAP.*--clock=timer' "$TMP/err"
done
record --clock=timer -- "$CLOCK" trap
check "trap, timers: the signal cannot be ours" [ "$status:$(grep -c SIGTRAP "$TMP/err")" = 133:0 ]
record --clock=perf -- "$CLOCK" handled
check "handled: the program's handler runs" [ $status = 0 ]

for rate in 1000 4000; do
    record --clock=perf -e CPUTIME@$rate/s -- "$CLOCK" exec
    check "exec at $rate/s: the programs run" [ $status = 0 ]
done
record --clock=perf -e CPUTIME@1000/s -- "$CLOCK" bare-exec trapped
check "exec by an instruction: the programs run, or end by SIGTRAP" [ $status = 0 ]
record --clock=timer -e CPUTIME@1000/s -- "$CLOCK" bare-exec
check "exec by an instruction, timers: the programs run" [ $status = 0 ]
record -- "$CLOCK" traced
check "traced: the program runs as without hq" [ $status = 0 ]

# An ordinary user, whom the kernel lets see user mode alone.
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null)
if [ "$(id -u)" = 0 ] && [ "${paranoid:-2}" -ge 2 ] && command -v setpriv >/dev/null; then
    user=$(mktemp -d /tmp/hq-clock.XXXXXX) && chmod 777 "$user" || exit 1
    trap 'rm -rf "$user"' EXIT
    DB=$user/test.hq
    as_user() { (HQ="setpriv --reuid 65534 --regid 65534 --clear-groups $HQ"; HOME=$user TMPDIR=$user timeout 100 $HQ record --force -o "$DB" "$@" >"$TMP/out" 2>"$TMP/err"); status=$?; "$READ" "$DB/measurements" >"$TMP/sums" 2>&1; }
    as_user -- "$CLOCK" close
    if [ -d "$DB" ]; then
        check "user: timers" by timer
        "$HQ" "$DB" info >"$TMP/info" 2>&1
        check "user: why" grep -q "^clock of CPUTIME .*perf_event_paranoid" "$TMP/info"
        as_user --clock=perf -e CPUTIME@1000/s -- "$CLOCK" calls 1 30000000
        read -r truth _ <"$TMP/out"
        check "user, perf: the program runs" [ $status = 0 ]
        check "user, perf: in user mode" by user
        check "user, perf: time in the kernel has a row of its own" holds "$(cost 'kernel, place unknown') >= $truth - 5"
        check "user, perf: none of it is at the next sample" holds "$(cost user_work) <= 100 - $truth + 5"
        as_user --clock=perf -- "$CLOCK" close
        check "user, perf: the clock goes on" [ "$(value timer-threads):$(lost)" = 0:0 ]
        # The kernel keeps two pages a clock in memory, and a user may have so many of them, and what RLIMIT_MEMLOCK adds.
        pages=$(cat /proc/sys/kernel/perf_event_mlock_kb)
        if (ulimit -l 0) 2>/dev/null && [ "$((pages / 4 * $(nproc) / 2))" -lt 200 ]; then
            (ulimit -l 0; as_user --clock=perf -e CPUTIME@1000/s -- "$CLOCK" many; exit $status)
            check "user, many threads: the program runs" [ $? = 0 ]
            "$READ" "$DB/measurements" >"$TMP/sums" 2>&1
            check "user, many threads: some have clocks, the others timers" holds "$(value timer-threads) > 0 && $(value timer-threads) < 201"
            check "user, many threads: all time is there" sampled 0.5
        fi
    else
        skip "another user cannot run this hq"
    fi
    DB=$TMP/test.hq
    record -- "$CLOCK" drop
    check "drop: the program runs" [ $status = 0 ]
    check "drop: threads that may no longer count the kernel have timers" [ "$(value timer-threads)" = 3 ]
    "$HQ" "$DB" info >"$TMP/info" 2>&1
    check "drop: the bias of these is said" grep -q "^clock of CPUTIME .*the kernel's software clock; in some threads timers.*too often" "$TMP/info"
else
    skip "another user may count the kernel here, or nobody else can be"
fi
finish
