#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `hq record --by=perf`: the kernel samples, and stacks are unwound later: static programs, another C library, what runs already.
. tests/collector/lib.sh
: "${CC:=cc}"

# by_perf ARGS...: as record of lib.sh, and unwinds.
by_perf() {
    timeout 100 "$HQ" record --by=perf --force -o "$DB" "$@" >"$TMP/out" 2>"$TMP/err"
    status=$?
    timeout 100 "$HQ" build "$DB" >>"$TMP/out" 2>>"$TMP/err"
    "$READ" "$DB/measurements" >"$TMP/sums" 2>&1
}
# programs_paths: as paths of lib.sh, without the kernel's part, which begins with address 0 of its module.
programs_paths() { paths | sed 's/;?+0x0\(;.*\)*$//'; }
# near SHARE EXPECTED POINTS: a share of the samples in percent.
near() { holds "$1 > $2 - $3 && $1 < $2 + $3"; }

# ---- nothing is measured, and told so ----

$CC -static -O2 -g -o "$TMP/static" tests/programs/split.c || exit 1
rm -rf "$TMP/none.hq"
"$HQ" record --require -o "$TMP/none.hq" -- "$TMP/static" 0.1 >"$TMP/out" 2>"$TMP/err"
check "--require: a status of its own" [ $? = 125 ]
check "--require: one sentence says why" grep -q "static is statically linked.*; nothing is run, since --require" "$TMP/err"
check "--require: nothing else is said to be run" [ "$(grep -c 'is run' "$TMP/err")" = 1 ]
check "--require: the program is not run" [ ! -s "$TMP/out" ]
check "--require: no recording is left" [ ! -e "$TMP/none.hq" ]
record --require -- "$TMP/static" 0.1
check "--require: also with --force" [ $status = 125 ]
record --require -- "$PROGRAMS/split" 0.5
check "--require: what can be measured is" [ $status = 0 ]
record --require -e CPUTIME@10000s -- true
check "--require: too short for a sample" [ $status = 125 ]
record -- "$TMP/static" 0.1
check "without it the program is run" [ $status = 0 ]
check "without it one sentence says so" [ "$(grep -c 'statically linked.*; it is run all the same' "$TMP/err")/$(grep -c 'is run' "$TMP/err")" = 1/1 ]
check "what measures it is told, or forbidden" [ "$(grep -c 'by=perf' "$TMP/err")" -le 1 ]
record -e CPUTIME@10000s -- env "$TMP/static" 0.3
check "started by another: it is named" grep -q 'not measured: .*static (statically linked)' "$TMP/err"
check "started by another: nobody is told to run it longer" eval '! grep -q "too little CPU time" "$TMP/err"'
check "started by another: what used the time" grep -q '0 samples.*; what used CPU time was not measured' "$TMP/err"
install -m 4755 "$TMP/static" "$TMP/privileged"
if chown nobody "$TMP/privileged" 2>/dev/null && chmod 4755 "$TMP/privileged" && [ -u "$TMP/privileged" ]; then
    record -- "$TMP/privileged" 0.1
    check "set-user-ID: the way out" grep -q "once it runs, root may measure it" "$TMP/err"
    timeout 60 "$HQ" record --by=perf --require -o "$TMP/none.hq" -- "$TMP/privileged" 0.1 >"$TMP/out" 2>"$TMP/err"
    check "set-user-ID by perf: refused with --require" [ $? = 125 ]
    check "set-user-ID by perf: the kernel's reason, and that nothing is run" grep -q "takes its clock away.*; nothing is run" "$TMP/err"
fi
for words in "-p 1 -- true" "--by=perf -e ALLOC -- true" "--by=perf --stack=12 -- true" "--by=perf -p 0" "--stack=fp -- true" \
    "--by=perf -p $$ -- true" "--by=perf --buffer /tmp -- true" "--by=perf"; do
    # shellcheck disable=SC2086
    "$HQ" record -o "$TMP/none.hq" $words >"$TMP/out" 2>"$TMP/err"
    check "refused: $words" [ $? = 2 ]
    check "refused in one sentence: $words" [ "$(wc -l <"$TMP/err")" -le 2 ]
done

# What the kernel forbids is told with the remedy, before anything runs: EPERM of a container's filter, EACCES of
# kernel.perf_event_paranoid, ENOSYS of a kernel without it.
for error in 1 13 38; do
    "$BUILD/tools/refused" $error "$HQ" record --by=perf -o "$TMP/none.hq" -- echo run >"$TMP/out" 2>"$TMP/err"
    status=$?
    [ $status != 77 ] || { skip "a filter of system calls may not be set here"; break; }
    check "refused by the kernel ($error): status 3" [ $status = 3 ]
    check "refused by the kernel ($error): one sentence" [ "$(grep -c 'perf_event' "$TMP/err")/$(wc -l <"$TMP/err")" = 1/1 ]
    [ $error = 38 ] || check "refused by the kernel ($error): with the remedy" grep -q 'takes root.*perf_event_paranoid' "$TMP/err"
    check "refused by the kernel ($error): the program is not run" [ ! -s "$TMP/out" ]
    check "refused by the kernel ($error): no recording is left" [ ! -e "$TMP/none.hq" ]
    "$BUILD/tools/refused" $error "$HQ" record --by=perf -o "$TMP/none.hq" -p $$ >"$TMP/out" 2>"$TMP/err"
    check "refused by the kernel ($error): also for -p" [ $? = 3 ]
    check "refused by the kernel ($error): and nothing is left" [ ! -e "$TMP/none.hq" ]
done

if ! "$HQ" record --by=perf -o "$TMP/probe.hq" -- true 2>"$TMP/err"; then
    check "why not is said" grep -q "perf_event" "$TMP/err"
    skip "the kernel's software clock may not be used here"
    finish
fi

# ---- known paths ----

by_perf -e CPUTIME@2000/s -- "$PROGRAMS/paths" 0.5 1
check "paths: the exit status is the program's" [ $status = 3 ]
check "paths: sound files" sound
check "paths: samples" holds "$(value samples) > 100"
check "paths: the clock" holds "$(value samples) * 0.0005 < 3 && $(value 'perf-clock') + $(value 'user-clock') == 1"
# All of the program's own time is below both, which left and right call in turns.
programs_paths >"$TMP/paths"
check "paths: all are right" [ "$(awk '$3 ~ /spend/ && $3 !~ /;run;both(;(left|right);both)*(;spend)?$/ { n++ } END { print n + 0 }' "$TMP/paths")" = 0 ]
check "paths: to their depth" [ "$(awk '$3 ~ /spend$/ && split($3, f, ";") < 83 { n++ } END { print n + 0 }' "$TMP/paths")" = 0 ]
check "paths: all are full" holds "$(value partial) <= 0.005 * $(value samples)"
check "paths: two threads" holds "$(value threads) == 2"

by_perf -e CPUTIME@1000/s --stack=512 -- "$PROGRAMS/paths" 0.5
check "a short copy: its end is the reason" holds "$(value 'reason 7') > 100"
check "a short copy: of all that is deep" [ "$(programs_paths | awk '$3 ~ /spend$/ && $3 !~ /^partial:7;/ { n++ } END { print n + 0 }')" = 0 ]
check "a short copy: what it holds is right" [ "$(programs_paths | awk '$3 ~ /spend/ && $3 !~ /^partial:7;(both;)?((left|right);both;)*spend$/ { n++ } END { print n + 0 }')" = 0 ]

# Shares of a known split, with one static program and one of the default kind. Five standard errors at 500 samples: 10 points.
musl-gcc -static -O2 -g -o "$TMP/musl" tests/programs/split.c || exit 1
for program in "$TMP/static" "$TMP/musl" "$PROGRAMS/split"; do
    by_perf -e CPUTIME@1000/s -- "$program" 0.7
    check "$program: samples" holds "$(value samples) > 200"
    check "$program: heavy" near "$(share ';heavy(;|$)')" 70 10
    check "$program: shared" near "$(share ';shared(;|$)')" 20 9
    check "$program: recurse" near "$(share ';recurse(;|$)')" 10 7
    check "$program: below their callers" [ "$(programs_paths | awk '$3 ~ /;shared$/ && $3 !~ /main;(left|right);shared$/ || $3 ~ /;heavy$/ && $3 !~ /main;heavy$/ { n++ } END { print n + 0 }')" = 0 ]
    check "$program: all are full" holds "$(value partial) <= 0.01 * $(value samples)"
done
"$HQ" "$DB" info >"$TMP/info" 2>>"$TMP/err"
check "info: the clock" grep -q "clock of CPUTIME .*software clock" "$TMP/info"
check "info: the command" grep -q "command .*split 0.7" "$TMP/info"
"$HQ" verify "$DB" >"$TMP/out" 2>&1
check "verify" [ $? = 0 ]

# A goroutine's stack ends where its bottom is, whatever was on that memory before.
by_perf -e CPUTIME@1000/s -- "$PROGRAMS/routine" 0.3
check "a planted bottom: samples" holds "$(value samples) > 80"
check "a planted bottom: it is the end" holds "$(value partial) <= 0.01 * $(value samples)"
check "a planted bottom: below it" holds "$(share '(^|;)bottom;routine;burn') > 90"

# Where Go changes stacks the path ends, whatever stands on the other one.
by_perf -e CPUTIME@1000/s -- "$PROGRAMS/switched" 0.3
check "a changed stack: samples" holds "$(value samples) > 80"
check "a changed stack: it is the end" holds "$(value partial) <= 0.01 * $(value samples)"
check "a changed stack: below it" holds "$(share '(^|;)runtime.systemstack;routine;burn') > 90"
check "a changed stack: nobody has called that" holds "$(share '(^|;)nobody;') == 0"

$CC -O0 -g -o "$TMP/framed" tests/programs/split.c || exit 1
by_perf -e CPUTIME@1000/s --stack=fp -- "$TMP/framed" 0.7
check "frame pointers: samples" holds "$(value samples) > 200"
check "frame pointers: shared" near "$(share 'main;(left|right);shared(;|$)')" 20 9
check "frame pointers: nothing is copied" holds "$(stat -c %s "$DB"/measurements/*.perf) < 1000 * $(value samples)"

# ---- an ordinary user ----

# as_user COMMAND...: without rights, in a directory of its own, with little memory for the kernel's buffers.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    theirs=$(mktemp -d /tmp/hq-user.XXXXXX) # $TMP lies where other users cannot go
    trap 'rm -rf "$theirs"' EXIT
    chmod 777 "$theirs"
    cp "$HQ" "$TMP/static" "$theirs"
    as_user() { (ulimit -l 0 && HOME=$theirs setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"); }
    if as_user "$theirs/hq" help >/dev/null 2>&1; then
        as_user "$theirs/hq" record --by=perf -e CPUTIME@1000/s -o "$theirs/u.hq" -- "$theirs/static" 0.5 >"$TMP/out" 2>"$TMP/err"
        status=$?
        if [ $status = 0 ]; then
            "$HQ" build "$theirs/u.hq" >"$TMP/out" 2>>"$TMP/err"
            "$READ" "$theirs/u.hq/measurements" >"$TMP/sums" 2>&1
            check "a user: samples, or what was lost in small buffers" holds "$(value samples) > 0 && $(value samples) + $(value 'loss 5') > 20"
            [ "$(value user-clock)" = 0 ] || check "a user: that the kernel's time is missing is said" grep -q 'in user mode' "$TMP/err"
        else
            check "a user: why not, and what to do" grep -q 'does not permit perf_event here: it takes root' "$TMP/err"
        fi
        as_user "$theirs/hq" record --by=perf -o "$theirs/p.hq" -p $$ >"$TMP/out" 2>"$TMP/err"
        check "a user: another one's process" [ $? = 3 ]
        check "a user: and why" grep -q 'root' "$TMP/err"
    else
        skip "another user cannot run hq here"
    fi
fi

# ---- children, and other programs ----

by_perf -e CPUTIME@1000/s -- sh -c "'$TMP/static' 0.3; '$PROGRAMS/split' 0.3; true"
check "children: files of both" holds "$(value files) >= 2"
check "children: what they run" near "$(share ';heavy(;|$)')" 68 15
"$HQ" "$DB" info >"$TMP/info" 2>>"$TMP/err"
check "children: named by their files" grep -q "executables .*static" "$TMP/info"

# ---- a process that runs already ----

held sh -c 'echo $$ >"$1" && exec "$2" 100 2' - "$TMP/pid" "$PROGRAMS/paths" >/dev/null
until [ -s "$TMP/pid" ]; do :; done
pid=$(cat "$TMP/pid")
until [ "$(ls "/proc/$pid/task" | wc -l)" = 3 ]; do :; done
by_perf -e CPUTIME@1000/s --duration 0.5s -p "$pid"
check "-p: ends by itself" [ $status = 0 ]
check "-p: the process runs on" [ -e "/proc/$pid/task/$pid" ]
cp "$TMP/sums" "$TMP/first"
programs_paths >"$TMP/paths"
timeout 100 "$HQ" record --by=perf -e CPUTIME@1000/s -o "$TMP/second.hq" -p "$pid" 2>"$TMP/err2" &
recorder=$!
# Its stream begins before the process is found: it ends when samples, 16 KiB each, have come.
until [ "$(cat "$TMP/second.hq"/measurements/*.perf 2>/dev/null | wc -c)" -gt 100000 ]; do [ -e "/proc/$recorder" ] || break; done
order first KILL
ended
wait $recorder
check "-p: ends with the process" [ $? = 0 ]
check "-p: and says what there is" grep -q "samples.* in .*second.hq" "$TMP/err2"
check "-p: threads that were there" holds "$(value threads) >= 2"
check "-p: samples" holds "$(value samples) > 10"
check "-p: all paths are right" [ "$(awk '$3 ~ /spend/ && $3 !~ /;run;both(;(left|right);both)*(;spend)?$/ { n++ } END { print n + 0 }' "$TMP/paths")" = 0 ]
check "-p: all are full" holds "$(value partial) <= 1 + 0.01 * $(value samples)"
"$HQ" record --by=perf -o "$TMP/gone.hq" -p "$pid" 2>"$TMP/err"
check "-p: nobody is there" [ $? = 3 ]
check "-p: said so" grep -q "there is no process $pid" "$TMP/err"

# ---- what is left out is counted ----

# Two threads; a path has 85 frames.
by_perf -e CPUTIME@1000/s --max-size 256KiB -- "$PROGRAMS/paths" 0.6 1
check "--max-size: bounds the copies" holds "$(stat -c %s "$DB"/measurements/*.perf) < 300000 + 1000 * $(value samples)"
check "--max-size: no sample is left out" holds "$(value samples) > 100 && $(value 'loss 0') == 0"
check "--max-size: what is not kept is said" grep -qE "; of [1-9][0-9]* beyond --max-size only the call paths are kept" "$TMP/err"
programs_paths >"$TMP/paths"
check "--max-size: all paths are right" [ "$(awk '$3 ~ /spend/ && $3 !~ /;run;both(;(left|right);both)*(;spend)?$/ { n++ } END { print n + 0 }' "$TMP/paths")" = 0 ]
check "--max-size: to their depth" [ "$(awk '$3 ~ /spend$/ && split($3, f, ";") < 83 { n++ } END { print n + 0 }' "$TMP/paths")" = 0 ]
check "--max-size: all are full" holds "$(value partial) <= 0.005 * $(value samples)"
check "--max-size: two threads" holds "$(value threads) == 2"
# Programs that begin when it has been reached.
by_perf -e CPUTIME@1000/s --max-size 64KiB -- sh -c "'$TMP/static' 0.3; '$PROGRAMS/split' 0.3; true"
check "--max-size: programs begin behind it" holds "$(value files) >= 2 && $(share ';heavy(;|$)') > 40"
check "--max-size: below their callers" [ "$(programs_paths | awk '$3 ~ /;shared$/ && $3 !~ /main;(left|right);shared$/ || $3 ~ /;heavy$/ && $3 !~ /main;heavy$/ { n++ } END { print n + 0 }')" = 0 ]
by_perf -e CPUTIME@1000/s --max-size 64KiB --stack=fp -- "$TMP/framed" 0.3
check "--max-size: frame pointers have no copies" holds "$(value samples) > 10 && $(value 'loss 0') == 0"

# What an earlier version has unwound is unwound again, while the files are there that it takes.
cp "$TMP/static" "$TMP/leaves"
by_perf -e CPUTIME@1000/s -- "$TMP/leaves" 0.3
done=$(ls "$DB"/measurements/*.unwound)
bytes=$(awk '{ print $2 }' "$done")
wanted=$(cat "$done")
sums=$(cat "$DB"/measurements/*.hqm | cksum)
echo "1 $bytes" >"$done"
for f in "$DB"/measurements/*.hqm; do printf 'nonsense' >"$f"; done
"$HQ" build "$DB" >"$TMP/out" 2>"$TMP/err"
check "an earlier version: unwound again" [ "$(cat "$DB"/measurements/*.hqm | cksum)" = "$sums" ]
check "an earlier version: and noted" [ "$(cat "$done")" = "$wanted" ]
echo "1 $bytes" >"$done"
rm "$TMP/leaves"
for i in 1 2; do
    "$HQ" "$DB" info >"$TMP/out" 2>"$TMP/err"
    check "an earlier version, without the program: stays ($i)" [ "$(cat "$DB"/measurements/*.hqm | cksum)" = "$sums" ]
    check "an earlier version, without the program: said ($i)" grep -q "are those of an earlier version" "$TMP/err"
done

# A stream that was cut off reads as far as it goes; one that is none is refused.
stream=$(ls "$DB"/measurements/*.perf)
truncate -s -700 "$stream"
"$HQ" build "$DB" >"$TMP/out" 2>"$TMP/err"
check "cut off: built again" [ $? = 0 ]
printf 'nonsense' | dd of="$stream" conv=notrunc status=none
truncate -s -8 "$stream"
"$HQ" build "$DB" >"$TMP/out" 2>"$TMP/err"
check "no stream: refused" [ $? = 3 ]
check "no stream: said so" grep -q "is no stream" "$TMP/err"
finish
