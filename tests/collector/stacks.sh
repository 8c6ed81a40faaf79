#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs whose stacks are small, alternate, unreadable or gone run as without the collector, and are sampled.
. tests/collector/lib.sh
# Outside of the signal that a coroutine began in is what had returned when it ran. What later calls have left there is as it happens: a word that is no
# address of code (reason 2) ends the path, and rightly so. Reason 6 is the kernel's time, which no walk has failed for.
unread() { if [[ $1 = coroutines* ]]; then paths | grep -c 'partial:[^26]'; else value partial; fi; }
try() {
    record -e $1@1000/s -- "$PROGRAMS/stacks" $2
    check "stacks $2 under $1 runs as without" [ "$status:$(cat "$TMP/out")" = 0:ok ]
    check "stacks $2 under $1 is measured" holds "$(value "sum $1") > 0.25e9"
    check "stacks $2 under $1 leaves sound files" sound
    check "pages that can be read are read, $2 under $1" holds "\"$2\" == \"closed\" || $(unread "$2") == 0"
}
for way in "coroutines 8192" "coroutines 65536" without "told 8192" "told 65536" nested dangling bare closed gone; do
    try CPUTIME "$way"
done
for way in "coroutines 8192" "told 8192" closed; do
    try REALTIME "$way"
done
# Without a clock no signal is ours, and the alternate stack is all the same.
for way in "coroutines 8192" without "told 8192" nested dangling; do
    record -e LOCK -- "$PROGRAMS/stacks" $way
    check "stacks $way with exact events alone runs as without" [ "$status:$(cat "$TMP/out")" = 0:ok ]
done
finish
