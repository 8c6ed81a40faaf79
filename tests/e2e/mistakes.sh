#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What a new user gets wrong: every mistake gives one clear sentence, its exit status, and loses nothing.
set -u
cd "$HQ_TEST_TMP" || exit 1
passed=0 failed=0

# expect STATUS TEXT COMMAND...: the exit status, and TEXT (a basic regular expression) on standard error.
expect() {
    local status=$1 text=$2 got
    shift 2
    "$@" >out 2>err </dev/null
    got=$?
    if [ "$got" -eq "$status" ] && { [ -z "$text" ] || grep -q -- "$text" err; }; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n  exit status %s (expected %s); standard error (expected /%s/):\n' "$*" "$got" "$status" "$text"
        sed 's/^/    /' err
    fi
}
# says TEXT: standard output of the last command has it.
says() {
    if grep -q -- "$1" out; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        printf 'FAILED: standard output lacks /%s/:\n' "$1"
        sed 's/^/    /' out
    fi
}

"$HQ" record -o good.hq -- "$PROGRAMS/split" 0.5 >/dev/null 2>&1 || { echo "cannot record"; exit 1; }

# The whole trace of a recording, with and without a database that is up to date.
rm -f good.hq/hq.db
expect 0 '' "$HQ" export chrome good.hq
says heavy
expect 0 '' "$HQ" export chrome good.hq
says heavy

# A program that is started by a link is shown under the name that it was started by.
ln -s "$PROGRAMS/split" by-a-link
"$HQ" record -o link.hq -- ./by-a-link 0.1 >/dev/null 2>&1
expect 0 '' "$HQ" link.hq info
says '^executables .*/split (as by-a-link)$'
expect 0 '' "$HQ" link.hq profiles
says ', by-a-link$'
expect 0 '' "$HQ" link.hq modules
says ' by-a-link$'
expect 0 '' "$HQ" link.hq 'procedures of "by-a-link"'
says ' heavy '
# Not under a name that only the program says, nor that of a script that it interprets.
"$HQ" record -o named.hq -- bash -c "exec -a a-name-of-its-own '$PROGRAMS/split' 0.1" >/dev/null 2>&1
expect 0 '' "$HQ" named.hq modules
says ' split$'
printf '#!%s 0.1\n' "$PROGRAMS/split" >script && chmod +x script
"$HQ" record -o script.hq -- ./script >/dev/null 2>&1
expect 0 '' "$HQ" script.hq modules
says ' split$'

# Recording
expect 127 'no-such-program' "$HQ" record -o x.hq -- no-such-program
expect 126 'good.hq' "$HQ" record -o x.hq -- ./good.hq
expect 2 'program to run' "$HQ" record -o x.hq
expect 2 'NOSUCH' "$HQ" record -e NOSUCH -o x.hq -- true
expect 2 '5x' "$HQ" record -e CPUTIME@5x -o x.hq -- true
expect 2 'more than 20000/s' "$HQ" record -e CPUTIME@20001/s -o x.hq -- true
expect 2 'more than 20000/s' "$HQ" record -e REALTIME@49us -o x.hq -- true
expect 0 'asked for 20000/s, at most' "$HQ" record --clock=timer -e CPUTIME@20000/s -o fast.hq -- true
expect 2 'force' "$HQ" record -o good.hq -- true
expect 0 '' "$HQ" good.hq "procedures of heavy"
says heavy
expect 7 '0 samples.* the program ended with status 7: record it anew with --force' "$HQ" record -e CPUTIME@10000s -o seven.hq -- sh -c 'exit 7'
expect 0 '' "$HQ" record --force -o seven.hq -- true
gcc -O1 -static -o static -x c - <<<'#include <stdio.h>
int main(void) { puts("static program ran"); return 0; }' && {
    expect 0 'static' "$HQ" record -o static.hq -- ./static
    says 'static program ran'
}
# A recording is not replaced while its program runs: that says when it has started, and waits.
mkfifo up down
"$HQ" record -o live.hq -- sh -c 'echo >up; read -r line <down' >/dev/null 2>&1 &
read -r _ <up
expect 2 'still runs' "$HQ" record --force -o live.hq -- true
expect 0 'still runs' "$HQ" live.hq info
echo >down
wait
expect 0 '' "$HQ" record --force -o live.hq -- true
touch file
expect 2 'file' "$HQ" record -o file -- true

# A database that is none
expect 3 'missing.hq' "$HQ" missing.hq tree
mkdir empty
expect 3 'empty' "$HQ" empty tree
printf 'some text\n' >text
expect 3 'text' "$HQ" text tree
cp -r good.hq damaged.hq
printf 'garbage' | dd of=damaged.hq/hq.db bs=1 seek=32 conv=notrunc 2>/dev/null
rm -rf damaged.hq/measurements
expect 3 'damaged.hq' "$HQ" damaged.hq tree
cp -r good.hq cut.hq
rm -rf cut.hq/measurements
truncate -s 1000 cut.hq/hq.db
expect 3 'cut.hq' "$HQ" cut.hq tree
# With the measurements still there a damaged database is made anew.
cp -r good.hq heals.hq
truncate -s 1000 heals.hq/hq.db
expect 0 '' "$HQ" heals.hq "procedures of heavy"
says heavy
# A damaged measurement file is named and the others are used.
cp -r good.hq onebad.hq
rm onebad.hq/hq.db
printf 'garbage' >onebad.hq/measurements/host-1-0.hqm
expect 3 'host-1-0.hqm' "$HQ" onebad.hq "procedures of heavy"
says heavy

# The database answers without measurements and binaries.
cp "$PROGRAMS/split" moved && "$HQ" record -o moved.hq -- ./moved 0.3 >/dev/null 2>&1
expect 0 '' "$HQ" build moved.hq
cp -r moved.hq elsewhere.hq
rm -rf moved.hq/measurements moved
expect 0 '' "$HQ" moved.hq "procedures of heavy"
says heavy
# Built without the binary it has addresses, and says why.
rm elsewhere.hq/hq.db
expect 0 'moved: cannot be read: .*; its procedures are shown by their addresses' "$HQ" elsewhere.hq procedures
says 'moved+0x'
printf 'int main(void) { return 0; }' | gcc -O1 -o moved -x c -
rm elsewhere.hq/hq.db
expect 0 'moved: not the file that was measured' "$HQ" elsewhere.hq procedures
# What the kernel's library lacks is nobody's concern, and a note names the file of this recording, not one with the same code.
gcc -O1 -o nameless -x c - <<<'volatile long n; __attribute__((noinline)) void spin(void) { while (n < 300000000) n++; } int main(void) { spin(); }'
cp nameless twin
for program in nameless twin; do
    expect 0 '' "$HQ" record -o $program.hq -- ./$program
    expect 0 '' "$HQ" $program.hq info
    says "^structure .*procedures: .*$program"
    if grep -q 'vdso\|measurements/' out; then failed=$((failed + 1)); echo "FAILED: info of $program:"; cat out; else passed=$((passed + 1)); fi
done
expect 0 'nameless has no debug information about it' "$HQ" nameless.hq "source of spin"

# Queries
expect 2 'procedures' "$HQ" good.hq "procedres"
expect 2 'cputime' "$HQ" good.hq "tree sort by cputim"
expect 2 'limit' "$HQ" good.hq "tree limt 3"
expect 2 '\^' "$HQ" good.hq "tree where cputime >"
expect 2 'shell' "$HQ" good.hq "tree where > 5%"
expect 0 'heavy' "$HQ" good.hq "callers of heavvy"
expect 2 'heavy' "$HQ" --strict good.hq "callers of heavvy"
expect 0 'single quotes' "$HQ" good.hq "callers of heavy sort by ${unset_as_dollar_1-} limit 10"
says heavy
expect 0 '' "$HQ" good.hq 'callers of heavy sort by $1 limit 10'
says heavy
expect 2 'json' "$HQ" good.hq "tree as jsno"
expect 3 'nosuch.hq' "$HQ" good.hq -f nosuch.hq

# One question may go without quotes.
expect 0 '' "$HQ" good.hq callers of heavy
says heavy
expect 2 limit "$HQ" good.hq procedures limit 1 "modules limit 1"
expect 2 'procedres' "$HQ" good.hq procedres limit 1

# Letters are compared as everywhere, also where the small I has no dot.
mkdir locales
if localedef -i tr_TR -f UTF-8 locales/tr_TR.UTF-8 2>/dev/null; then
    expect 0 '' env LOCPATH="$PWD/locales" LC_ALL=tr_TR.UTF-8 "$HQ" good.hq "PROCEDURES LIMIT 1"
    says main
else
    echo "skipped: no Turkish locale"
fi

expect 0 '' "$HQ" verify good.hq
says 'whole; 1 profile, .* contexts, 1 metric$'

# The command line
expect 127 'sh -c' "$HQ" record -o x.hq -- cd /
expect 127 'no such file' "$HQ" record -o x.hq -- ./no-such-program
expect 2 'record' "$HQ" recrod -o x.hq -- true
expect 2 'output' "$HQ" record --ouptut x.hq -- true
expect 0 '' "$HQ" --help
says record
expect 0 '' "$HQ" record --help
says CPUTIME
expect 0 '' "$HQ" help exit status
says 'as json'
expect 0 '' "$HQ" --version
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
