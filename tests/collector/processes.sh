#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every way to make a process or a thread and every way to end is covered, and status and signals pass through.
. tests/collector/lib.sh

for way in fork _Fork vfork clone spawn exec system popen daemon failed-exec syscall clone3; do
    record -- "$PROGRAMS/family" $way
    check "family $way succeeds" [ $status = 0 ]
    check "family $way: the child is measured" holds "$(value 'sum CPUTIME') > 0.2e9"
    check "family $way: in child_work" holds "$(share child_work) > 90"
    check "family $way: paths reach the start" full 97
    check "family $way leaves sound files" sound
done
record -- "$PROGRAMS/family" instruction
check "a child behind everybody's back does no harm" [ $status = 0 ]
check "and leaves sound files" sound
check "its time is known to be missing" grep -Eq 'of 0\.[0-9]+ s of CPU time 0\.[0-9]+ s are in no sample' "$TMP/err"
for way in spawn exec; do
    record -- "$PROGRAMS/family" $way-without-environment
    check "$way without environment: the child runs" [ $status = 0 ]
    check "$way without environment: one sentence names it" [ "$(grep -c 'not measured: .*/family (started without LD_PRELOAD in its environment)\(; hq record --by=perf needs no collector\)\?$' "$TMP/err")" = 1 ]
    check "$way without environment: info names it, too" [ "$("$HQ" "$DB" info 2>/dev/null | grep -c '^not measured .*family (started')" = 1 ]
done
record -- "$PROGRAMS/family" fork
check "where all is measured nothing is said to be missing" [ "$(wc -l <"$TMP/err")" = 1 ]
record -- "$PROGRAMS/family" exec
check "exec makes a second image" [ "$(value files):$(value execed)" = 2:1 ]
check "of one process, whose thread goes on" grep -q ', 1 thread, 1 process in ' "$TMP/err"
check "so info says" [ "$("$HQ" "$DB" info 2>/dev/null | sed -nE 's/^(processes|threads|programs executed in place of another) +([0-9]+).*/\2/p' | tr '\n' ' ')" = "1 1 1 " ]
# A launcher's children have no rank before they execute what has one.
record -e ALLOC -- bash -c 'for rank in 0 1; do OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=2 "$1/family" none & done; wait' sh "$PROGRAMS"
check "so it says of ranks that a launcher's children execute" [ "$("$HQ" "$DB" info 2>/dev/null | sed -nE 's/^(processes|threads|programs executed in place of another) +([0-9]+).*/\2/p' | tr '\n' ' ')" = "3 2 3 " ]
check "and the closing line" grep -q ', 3 threads, 3 processes in ' "$TMP/err"
record -e CPUTIME@1000/s -- true # which has a sample once in a hundred times
[ "$(value samples)" -gt 0 ] || check "who has a high rate is not told to ask for it" grep -q 'run it longer, ask for the time that it waits too' "$TMP/err"
record -- "$PROGRAMS/family" exec
# /proc/self/exe is another program to whoever asks.
record -e CPUTIME@1000/s -- bash -c 'exec /proc/self/exe -c "i=0; while [ \$i -lt 20000 ]; do i=\$((i+1)); done"'
check "a program that executes itself by /proc/self/exe: its file is known" [ "$("$HQ" "$DB" info 2>&1 >/dev/null | grep -c warning)" = 0 ]

declare -A expected=([return]=7 [exit]=7 [_exit]=7 [_Exit]=7 [quick_exit]=7 [exit_group]=7 [abort]=134 [fault]=139 [kill]=137 [term]=143 [thread]=7
    [first-thread-leaves]=0)
ulimit -c 0
for way in "${!expected[@]}"; do
# The kernel looks at CPU clocks at its tick: of 0.3 s a loaded machine delivers two thirds.
    record -- "$PROGRAMS/ends" "$way"
    # bash and timeout both report a signal as 128 + number.
    check "ends $way: the status passes through" [ $status = "${expected[$way]}" ]
    check "ends $way: all is there" holds "$(value 'sum CPUTIME') > 0.2e9"
    check "ends $way: sound" sound
    check "ends $way: the end is noted" [ "$(value running)" = 0 ]
    [ "${expected[$way]}" -le 128 ] || check "ends $way: the signal is noted" [ "$(value signalled)" = 1 ]
done
record -- "$PROGRAMS/ends" first-thread-leaves
check "the second thread outlives the first" holds "$(share burn_on) > 15"

# A signal sent to hq record reaches the program.
held "$HQ" record --force -o "$DB" -- sh -c 'trap "exit 9" USR1; echo ready; while :; do :; done' >"$TMP/out" 2>"$TMP/err"
until grep -q ready "$TMP/out"; do :; done
order first USR1
ended
check "signals are passed on" [ $? = 9 ]

record -- "$PROGRAMS/threads" 8 4 100000
check "eight threads are there" [ "$(value threads)" -ge 8 ]
check "each knows who made it" [ "$(value created)" = 8 ]
check "both creators are kept" [ "$("$READ" "$DB/measurements" threads | wc -l)" -ge 8 ]
check "paths of threads are full" full 99.9
check "time of the threads" holds "$(value 'sum CPUTIME') > 0.6e9"
check "sound" sound

# A forked child that ends at once touches few pages of ours: it would pay for each.
cat >"$TMP/forks.py" <<'PY'
import os, resource
for _ in range(200):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt // 200)
PY
bare=$(python3 "$TMP/forks.py")
record -- python3 "$TMP/forks.py"
check "a forked child touches few pages ($(cat "$TMP/out"), bare $bare)" holds "$(cat "$TMP/out") < $bare + 120"

# 20,000 short threads: lanes are used again, so memory and files stay small. 60 us each: about 1.2 s of CPU.
bare=$("$PROGRAMS/threads" 20000 4 60)
record -e CPUTIME@1000/s -- "$PROGRAMS/threads" 20000 4 60
check "20,000 threads" [ $status = 0 ]
check "lanes are used again" holds "$(value lanes) <= 8"
check "memory is bounded" holds "$(cat "$TMP/out") < $bare + 20000"
check "files are small" holds "$(value bytes) < 4e6"
check "20,000 threads leave sound files" sound
check "and full paths" full 99
finish
