#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 900
# Progress on a terminal for what takes longer than a second, and nothing otherwise. The work is ended by Ctrl-C once its line is seen, or from outside
# where no line is to come, so it is as long as a fast machine needs.
set -u
cd "$HQ_TEST_TMP" || exit 1
awk 'BEGIN { x = 1; for (i = 0; i < 20000; i++) { line = "main"
    for (d = 0; d < 8; d++) { x = (x * 16807) % 2147483647; line = line ";proc_" (1000 + x % 1000) }
    print line, 1 + x % 50 } }' >stacks.folded
# 400,000 lines of paths of their own; and seven thousand operations a row.
for i in $(seq 20); do sed "s/^main/main;part_$i/" stacks.folded; done >long.folded
awk 'BEGIN { for (n = 1; n <= 8; n++) { printf "let a%d = %s", n, (n > 1 ? "a" (n - 1) : "$1"); for (i = 0; i < 900; i++) printf "*1"; print "" }
    print "tree all columns x = a8 sort by a8 + a1" }' >slow.txt
"$HQ" import --quiet stacks.folded -o small.hq || exit 1
sed '$s/$/ expect rows > 0/' slow.txt >check.txt
"$TOP/$BUILD/tools/spmd" ranks 20 || exit 1
cat >slowly <<END
#!/bin/sh
LD_PRELOAD=$PROGRAMS/libslow.so exec "\$@"
END
chmod +x slowly
PATH=$(dirname "$HQ"):$PATH
export PATH TERM=xterm HQ_PAGER= HQ_HISTORY=
cat >steps.pty <<'END'
# each step of a build has its line; none is left, and what --verbose says stands on lines of its own
run ./slowly hq build -j 1 ranks
wait reading measurements 
wait /20 (
wait gathering values 
wait /20 (
wait ranks/hq.db
exit 0
run ./slowly hq build -j 1 -v --force ranks
wait reading measurements 
wait gathering values 
wait ranks/hq.db
exit 0
run ./slowly hq build -j 1 --quiet --force ranks
wait ranks/hq.db
exit 0
never reading measurements
never gathering values
# the first question builds, too
run rm ranks/hq.db
exit 0
run ./slowly hq ranks 'procedures limit 1'
wait reading measurements 
wait total
exit 0
run rm ranks/hq.db
exit 0
run ./slowly hq --quiet ranks 'procedures limit 1'
wait total
exit 0
never reading measurements
run hq check small.hq check.txt
wait checking, 1 s
wait , 2 s
type \x03
exit 130
run timeout --foreground 3 hq check --quiet small.hq check.txt
exit 124
never checking
run hq verify small.hq
wait whole
exit 0
run hq verify --quiet small.hq
exit 0
never whole
run hq import long.folded -o long.hq
wait importing
wait , 1 s
type \x03
exit 130
run timeout --foreground 3 hq import --quiet long.folded -o long.hq
exit 124
never importing
run hq small.hq
wait hq small> 
type include slow.txt\r
wait working (Ctrl-C cancels), 1 s
wait , 2 s
type \x03
wait cancelled
wait hq small> 
type procedures limit 1\r
wait main
wait hq small> 
type \x04
exit 0
run timeout --foreground 3 hq --quiet small.hq -f slow.txt
exit 124
never working
run timeout --foreground 3 hq small.hq -f slow.txt 2>stderr.out
exit 124
never working
run cat stderr.out
exit 0
never working
env TERM=dumb
run timeout --foreground 3 hq small.hq -f slow.txt
exit 124
never working
END
exec "$TOP/$BUILD/tools/pty" steps.pty
