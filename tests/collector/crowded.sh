#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# More threads than processors: how long they could run and had none is told, as the kernel counts it (tests/programs/crowded.c
# reads the same), and whoever asks for waits is told what that does to them.
. tests/collector/lib.sh

told() { awk -v k="$1" '$1 == k { print $2 }' "$TMP/out"; }
# fact N: the Nth number of the line in info.
fact() { "$HQ" "$DB" info 2>/dev/null | sed -n 's/^without a processor//p' | grep -oE '[0-9.]+' | sed -n "${1}p"; }
note() { "$HQ" "$DB" "$1" 2>&1 >/dev/null | grep -c 'threads wanted a processor they had none'; }

record -e REALTIME@200/s -- "$PROGRAMS/crowded" work 4 0.3
check "ends well" [ $status = 0 ]
if holds "$(told delayed) < 0"; then
    skip "the kernel does not count how long threads want a processor"
    finish
fi
check "sound" sound
# The initial thread, which waits, and what a thread does around its own reading add little, but on a busy machine more.
check "as the threads have seen it: $(fact 1) of $(told delayed) s" holds "$(fact 1) > 0.95 * $(told delayed) - 0.05 && $(fact 1) < 1.05 * $(told delayed) + 0.5"
# By arithmetic: what has passed while they worked, and was no CPU time.
gone=$(awk -v w="$(told worked)" -v u="$(told used)" 'BEGIN { print w - u }')
check "as it has passed: $(fact 1) of $gone s" holds "$(fact 1) > 0.85 * $gone - 0.05 && $(fact 1) < 1.15 * $gone + 0.5"
check "and what they had: $(fact 2) of $(told used) and $(told delayed) s" holds "$(fact 2) > 0.95 * ($(told used) + $(told delayed)) - 0.05 && $(fact 2) < 1.1 * ($(told used) + $(told delayed)) + 1"
check "its share: $(fact 3) %" holds "$(fact 3) > 40 && $(fact 3) <= 100"
check "summary says so" grep -q '^processors  for ' <("$HQ" "$DB" summary 2>/dev/null)
check "who asks for waits is told" [ "$(note "procedures where waits")" = 1 ]
check "by pictures, too" [ "$(note "trace imbalance")" = 1 ]
check "who asks for something else is not" [ "$(note "procedures")" = 0 ]
check "the first page has it once" [ "$(note summary)" = 0 ]

# What ran in the process before the image, or in its parent, is not counted.
record -e REALTIME@200/s -- "$PROGRAMS/crowded" work 4 0.2
alone=$(fact 1)
record -e REALTIME@200/s -- bash -c '"$0" work 4 0.2 & "$0" work 4 0.2; wait; exec "$0" work 1 0.1' "$PROGRAMS/crowded"
all=$(awk '$1 == "delayed" { n += $2 } END { print n }' "$TMP/out")
check "of several images and processes, each its own: $(fact 1) of $all s (one alone $alone)" holds "$(fact 1) > 0.9 * $all - 0.1 && $(fact 1) < 1.1 * $all + 1"

# Threads that end are counted, and those that are ended by exit.
record -e REALTIME@200/s -- "$PROGRAMS/crowded" leave 4 0.3
check "exit ends the threads: $(fact 1) of $(told delayed) s" holds "$(fact 1) > 0.9 * $(told delayed) - 0.1 && $(fact 1) < 1.1 * $(told delayed) + 0.5"

# Under CPU time it is in elapsed times only, as regions have them: no wait has it.
record -e CPUTIME@200/s -- "$PROGRAMS/crowded" work 4 0.3
check "CPU time has it, too: $(fact 1) of $(told delayed) s" holds "$(fact 1) > 0.95 * $(told delayed) - 0.05 && $(fact 1) < 1.05 * $(told delayed) + 0.5"
record -e CPUTIME@200/s -- "$PROGRAMS/crowded" mutex 4 0.1
check "no note with CPU time" [ "$(note "procedures where waits")" = 0 ]
finish
