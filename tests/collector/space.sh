#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Where data finds no room the program goes on undisturbed, and what was lost is said and counted.
. tests/collector/lib.sh

# A file-size limit: SIGXFSZ must not reach the program. 160 KiB hold the start and little more.
for kib in 64 160 400; do
    (ulimit -f $kib; record -e REALTIME@4000/s -- "$PROGRAMS/paths" 0.4 2; echo $status >"$TMP/status")
    "$READ" "$DB/measurements" >"$TMP/sums" 2>&1
    check "limit of $kib KiB: the program ends as it would" [ "$(cat "$TMP/status")" = 3 ]
    check "limit of $kib KiB: one sentence" grep -Eq 'lost, for want of space|runs unmeasured' "$TMP/err"
    if [ $kib -gt 128 ]; then
        check "limit of $kib KiB: counted" holds "$(value 'loss 0') > 0"
        check "limit of $kib KiB: what there is, is sound" sound
        check "limit of $kib KiB: samples are there" holds "$(value samples) > 10"
    fi
done

record -e REALTIME@4000/s -- "$PROGRAMS/paths" 0.4 2
check "without a limit nothing is lost" holds "$(value 'loss 0') == 0 && $(value samples) > 500"
check "and the file is sound" sound
check "the file is larger than the limits above" holds "$(value bytes) > 400 * 1024"

# Read-only: refused before the program starts, or in one sentence by the library.
open=$(mktemp -d /tmp/hq-space.XXXXXX)         # $TMP lies where other users cannot go
trap 'rm -rf "$open"' EXIT
chmod 755 "$open"
mkdir "$open/read-only"
chmod 555 "$open/read-only"
plain=()        # how to become a user without rights
[ "$(id -u)" != 0 ] || plain=(setpriv --reuid=65534 --regid=65534 --clear-groups)
# The tree may lie where only its owner can go.
cp "$HQ" "$(dirname "$HQ")/libhqpreload.so" "$PROGRAMS/ends" "$open"
if "${plain[@]}" env "$open/hq" help >/dev/null 2>&1; then
    "${plain[@]}" "$open/hq" record -o "$open/read-only/db" -- true 2>"$TMP/err"
    check "a read-only place is an error" [ $? = 3 ]
    check "a read-only place: the reason" grep -q 'Permission denied' "$TMP/err"
    mkdir "$open/all"
    chmod 777 "$open/all"
    for home in HOME= HOME=/nonexistent TMPDIR=/nonexistent TMPDIR="$open/read-only"; do
        rm -rf "$open/all/db"
        "${plain[@]}" env "$home" "$open/hq" record -o "$open/all/db" -- "$open/ends" return 2>"$TMP/err"
        # A machine that stands still may keep time from being sampled, of which there is a line.
        check "with $home a plain user records" [ "$?:$(grep -vc 'are in no sample' "$TMP/err")" = 7:1 ]
        check "with $home a plain user asks" [ "$("${plain[@]}" env "$home" "$open/hq" "$open/all/db" 'procedures limit 3 as csv' 2>"$TMP/err" | grep -c ,work,)" = 1 ]
    done
else
    skip "hq cannot be run by another user here"
fi
mkdir "$TMP/there"
# Limits that leave no room for any measurements: the program runs as it would.
for limit in "-f 0" "-n 4" "-n 5"; do
    for by in collector perf; do
        (ulimit $limit; "$HQ" record --by=$by -o "$TMP/there/new/deep.hq" -- "$PROGRAMS/ends" return 2>&1; echo "status $?") | cat >"$TMP/err"
        check "ulimit $limit, $by: the program ends as it would" grep -qx 'status 7' "$TMP/err"
        check "ulimit $limit, $by: one sentence" [ "$(grep -c '^hq: the limit of .* leaves no room for measurements; the program runs unmeasured$' "$TMP/err"):$(wc -l <"$TMP/err")" = 1:2 ]
        check "ulimit $limit, $by: nothing is left" [ -d "$TMP/there" -a ! -e "$TMP/there/new" ]
    done
    (ulimit $limit; "$HQ" record --require -o "$TMP/there/new/deep.hq" -- "$PROGRAMS/ends" return 2>&1; echo "status $?") | cat >"$TMP/err"
    check "ulimit $limit, --require: it is not run" grep -qx 'status 125' "$TMP/err"
done
(ulimit -f 0; exec 2>"$TMP/full"; exec "$HQ" record -o "$TMP/nothing" -- "$PROGRAMS/ends" return)
check "standard error may not grow either: the program ends as it would" [ $? = 7 ]
printf '#!/missing\n' >"$TMP/bad"
chmod 755 "$TMP/bad"
"$HQ" record -o "$TMP/bad.hq" -- "$TMP/bad" 2>/dev/null
check "a program that cannot be started leaves nothing" [ "$? $(ls -d "$TMP/bad.hq" 2>&1 >/dev/null | wc -l)" = "126 1" ]
# Room for the name of the launch, and none for a file of measurements: it is no recording, but is one as long as it may become one.
(ulimit -f 64; "$HQ" record -o "$TMP/small.hq" -- sh -c '"$0" record -o "$1" -- true 2>"$2"; exit 5' "$HQ" "$TMP/small.hq" "$TMP/inner" 2>"$TMP/err")
check "no room for measurements: the program ends as it would" [ $? = 5 ]
check "no room for measurements: another command waits for its end" grep -q 'still runs' "$TMP/inner"
"$HQ" "$TMP/small.hq" "procedures" >"$TMP/err" 2>&1
check "no room for measurements: asked, it says so" [ "$? $(grep -c 'no measurements in it.*disk full' "$TMP/err")" = "3 1" ]
"$HQ" record -o "$TMP/small.hq" -- "$PROGRAMS/ends" return 2>"$TMP/err"
check "no room for measurements: its place is free afterwards" [ $? = 7 ]
"$HQ" record -o "$TMP/small.hq" -- "$PROGRAMS/ends" return 2>"$TMP/err"
check "and taken when there is a recording" [ "$? $(grep -c 'holds a recording already' "$TMP/err")" = "2 1" ]
record -e REALTIME@4000/s -- sh -c 'rm -rf "$1"; exec "$0" 0.3 2' "$PROGRAMS/paths" "$DB"
check "a directory that vanishes: the program ends as it would" [ $status = 3 ]
check "a directory that vanishes: the line at the end says so" grep -q 'was removed while the program ran' "$TMP/err"
mkdir -p "$TMP/own"
HQ_DIR=$TMP/missing HQ_EVENTS=CPUTIME@5000000 LD_PRELOAD=$(dirname "$HQ")/libhqpreload.so "$PROGRAMS/ends" exit 2>"$TMP/err"
check "a directory that has gone: the program runs" [ $? = 7 ]
check "a directory that has gone: one sentence" [ "$(grep -c 'cannot write measurements.*No such file' "$TMP/err")" = 1 ]

# The sentence itself ends nobody: not where standard error is a file at its limit, nor a pipe that nobody reads.
record -- sh -c 'ulimit -f 0; exec "$0" return' "$PROGRAMS/ends"
check "standard error is a file at its limit: the program ends as it would" [ $status = 7 ]
record -- sh -c 'ulimit -f 0; exec env -i "$0" return' "$PROGRAMS/ends"
check "who cannot be measured is not noted: the program ends as it would" [ $status = 7 ]
HQ_DIR=$TMP/missing HQ_EVENTS=CPUTIME@5000000 perl -e 'pipe R, W; open STDERR, ">&W"; close R; $ENV{LD_PRELOAD} = shift; exec @ARGV' \
    "$(dirname "$HQ")/libhqpreload.so" "$PROGRAMS/ends" exit
check "standard error is a pipe that nobody reads: the program ends as it would" [ $? = 7 ]
HQ_DIR=$TMP/missing HQ_EVENTS=CPUTIME@5000000 timeout -k 1 60 perl -e 'pipe R, W; fcntl W, 4, 2048; 1 while syswrite W, "x" x 4096; fcntl W, 4, 0;
    open STDERR, ">&W"; $^F = 9; fcntl R, 2, 0; $ENV{LD_PRELOAD} = shift; exec @ARGV' \
    "$(dirname "$HQ")/libhqpreload.so" "$PROGRAMS/ends" exit
check "standard error is a full pipe that nobody drains: the program does not wait" [ $? = 7 ]

# A directory of this node first: nothing stays there, all arrives, also of a process that was killed.
for way in return kill; do
    record --buffer "$TMP/new/buffer" -- "$PROGRAMS/ends" $way
    check "--buffer, $way: the data arrives" holds "$(value 'sum CPUTIME') > 0.2e9"
    check "--buffer, $way: sound" sound
    check "--buffer, $way: nothing is left behind" [ ! -e "$TMP/new" ]
done
mkdir "$TMP/buffer"
record --buffer "$TMP/buffer" -- "$PROGRAMS/ends" return
check "--buffer: a directory that was there stays" [ -d "$TMP/buffer" ]
check "--buffer: and is empty" [ -z "$(ls "$TMP/buffer")" ]
printf 'no program' >"$TMP/broken"
chmod +x "$TMP/broken"
record --buffer "$TMP/new/buffer" -- "$TMP/broken"
check "--buffer: nothing is left where nothing could run" [ ! -e "$TMP/new" ]

# Small file systems, where that can be made: full from the start, and full after a while.
for kib in 64 256 600; do
    mkdir -p "$TMP/small"
    if unshare -m sh -c "mount -t tmpfs -o size=${kib}k none '$TMP/small'" 2>/dev/null; then
        unshare -m bash -c "mount -t tmpfs -o size=${kib}k none '$TMP/small' || exit 99
            timeout 60 '$HQ' record -e REALTIME@4000/s -o '$TMP/small/db' -- '$PROGRAMS/paths' 0.4 2 2>'$TMP/err'
            echo \$? >'$TMP/status'; '$READ' '$TMP/small/db/measurements' >'$TMP/sums' 2>&1"
        check "a disk of $kib KiB: the program ends as it would" [ "$(cat "$TMP/status")" = 3 ]
        check "a disk of $kib KiB: one sentence" [ "$(grep -Ec 'lost, for want of space|runs unmeasured' "$TMP/err")" -ge 1 ]
        [ $kib = 64 ] || check "a disk of $kib KiB: sound" sound
        [ $kib = 64 ] || check "a disk of $kib KiB: counted" holds "$(value 'loss 0') > 0"
    else
        skip "a small file system cannot be mounted here"
    fi
done
finish
