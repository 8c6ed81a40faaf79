#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Progress on a terminal for what takes longer than a second, and nothing otherwise. The work is ended by Ctrl-C once its line is seen, or from outside
# where no line is to come, so it is as long as a fast machine needs.
set -u
cd "$HQ_TEST_TMP" || exit 1
awk 'BEGIN { x = 1; for (i = 0; i < 20000; i++) { line = "main"
    for (d = 0; d < 8; d++) { x = (x * 16807) % 2147483647; line = line ";proc_" (1000 + x % 1000) }
    print line, 1 + x % 50 } }' >stacks.folded
# 400,000 lines of paths of their own; and a hundred thousand operations a row.
for i in $(seq 20); do sed "s/^main/main;part_$i/" stacks.folded; done >long.folded
awk 'BEGIN { printf "let a = $1"; for (i = 0; i < 300; i++) printf "*1"; printf "\nlet b = a"; for (i = 0; i < 300; i++) printf "+a"
    print "\ntree all columns x = b sort by b + a" }' >slow.txt
"$HQ" import --quiet stacks.folded -o small.hq || exit 1
PATH=$(dirname "$HQ"):$PATH
export PATH TERM=xterm HQ_PAGER= HQ_HISTORY=
cat >steps.pty <<'END'
run hq import long.folded -o long.hq
wait importing
wait , 1 s
wait , 2 s
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
