#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `source of` finds the text where it was compiled, below --source-path, or in a database built --with-source; without any of them it has the lines' numbers.
set -u
cd "$HQ_TEST_TMP" || exit 1
passed=0 failed=0
mkdir -p src/deep elsewhere/deep
sed 's|WORK(units);|& // here|' "$TOP/tests/programs/split.c" >src/deep/split.c
(cd src && gcc -O2 -g -o ../program "$PWD/deep/split.c") || exit 1
"$HQ" record -o s.hq -- ./program 0.3 >/dev/null 2>&1 || exit 1

# says PATTERN, or says nothing: what the last command noted on standard error
says() {
    if { [ -n "$1" ] && grep -q -- "$1" err; } || { [ -z "$1" ] && ! grep -qE 'is not there|was changed' err; }; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: said that "%s"\n' "$1"
        cat err
    fi
}

# shows YES|NO WHAT COMMAND...: whether the text of the source is in the output
shows() {
    local want=$1 what=$2 got=no
    shift 2
    "$@" >out 2>err && grep -q -- '// here' out && got=yes
    if [ "$got" = "$want" ] && grep -q 'split.c:[0-9]' out; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n' "$what"
        cat out err
    fi
}
shows yes 'from where it was compiled' "$HQ" s.hq 'source of "split.c"'
says ""
# Lines that cost nothing have a line, too.
"$HQ" --quiet s.hq 'source of "split.c"' >whole 2>/dev/null
first=$(sed -n 's/.*split.c:\([0-9]*\) .*/\1/p' whole | head -n 1)
"$HQ" --quiet s.hq "source of \"split.c\" where line >= $first" >chosen 2>/dev/null
if [ -n "$first" ] && cmp -s whole chosen; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    diff whole chosen
fi
mv src/deep/split.c elsewhere/deep/
shows no 'numbers only when the file is gone' "$HQ" s.hq 'source of "split.c"'
says 'src/deep/split.c is not there, so its lines have no text'
shows yes 'below a directory, by the last parts of the path' "$HQ" --source-path "$PWD/nowhere:$PWD/elsewhere" s.hq 'source of "split.c"'
mv elsewhere/deep/split.c src/deep/
touch -d '+1 hour' src/deep/split.c
shows yes 'a file that is newer than the recording' "$HQ" s.hq 'source of "split.c"'
says 'src/deep/split.c was changed after the program was recorded'
# The database that is there has no texts: the option makes it anew.
"$HQ" build --with-source s.hq >/dev/null 2>&1
rm -rf src program
shows yes 'from the database' "$HQ" s.hq 'source of "split.c"'
says ""
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
