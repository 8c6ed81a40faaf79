#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The prompt through a pseudo terminal: every *.pty script here, in a directory with the database good.hq.
set -u
cd "$HQ_TEST_TMP" || exit 1
"$HQ" record -o good.hq -- "$PROGRAMS/split" 0.5 >/dev/null 2>&1 && "$HQ" --quiet good.hq info >/dev/null ||
    { echo "cannot make a database"; exit 1; }
# 20,000 call paths of a pseudo-random program.
awk 'BEGIN { x = 1; for (i = 0; i < 20000; i++) { line = "main"
    for (d = 0; d < 8; d++) { x = (x * 16807) % 2147483647; line = line ";proc_" (1000 + x % 1000) }
    print line, 1 + x % 50 } }' >big.folded
"$HQ" import --quiet big.folded -o big.hq 2>/dev/null || "$HQ" import big.folded -o big.hq || exit 1
# For hostile.pty: a history and a start-up file of the line editor that are garbage, and a pipe that nobody writes to.
{ echo metrics; printf '\033]0;owned\007\302\233\000info\n'; head -c 300000 /dev/zero | tr '\0' a; yes '' | head -n 10000; } >odd
{ printf '\000\377\233\n"\\C-\n"a: b\n'; printf '%s\n' 'set editing-mode nonsense' '"\C-x": "' '$include /no/such' '$include /dev' '$if' '$if' '$endif' 'set bell-style' '$nonsense'; } >inputrc
mkfifo pipe
PATH=$(dirname "$HQ"):$PATH
export PATH TERM=xterm
unset NO_COLOR XDG_STATE_HOME PAGER EDITOR VISUAL
export HQ_PAGER='' HQ_HISTORY=''
exec "$TOP/$BUILD/tools/pty" "$TOP"/tests/repl/*.pty
