#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs mistakes.txt: exit status and standard error of each command line there.
set -u
cd "$HQ_TEST_TMP" || exit 1
hq() { "$HQ" "$@"; }
export HQ
export -f hq
"$HQ" record -o good.hq -- "$PROGRAMS/split" 0.5 >/dev/null 2>&1 && "$HQ" --quiet good.hq info >/dev/null ||
    { echo "cannot make a database"; exit 1; }
mkdir empty.hq
mkfifo fifo.hq
printf 'some text\n' >text.hq
printf 'a;b;c 12\na;b x\n' >bad.folded
mkdir damaged.hq cut.hq zeros.hq
cp good.hq/hq.db damaged.hq
printf 'garbage' | dd of=damaged.hq/hq.db bs=1 seek=16 conv=notrunc 2>/dev/null
head -c 1000 good.hq/hq.db >cut.hq/hq.db
head -c 4096 /dev/zero >zeros.hq/hq.db
printf 'a;b 12\n' >two.folded
{ printf 'PERFILE2'; head -c 4096 /dev/zero; } | gzip >packed.gz
printf 'info\nprocedures limit 1\n' >good.txt
printf -- '-- a comment\ninfo\nprocedres\n' >bad.txt
printf 'procedures expect rows > 0\n' >checks.txt
printf '#!/bin/sh\n' | tee runs >stays
printf '#!/nosuch/sh\n' >lost
printf '#!/bin/sh\r\n' >crlf
chmod +x runs lost crlf
printf 'info\ninclude "nosuch.txt"\n' >includes.txt
printf 'include "loop.txt"\n' >loop.txt

passed=0 failed=0
while IFS= read -r row; do
    case $row in '' | '#'*) continue ;; esac
    status=${row%% | *}
    row=${row#* | }
    text=${row%% | *}
    command=${row#* | }
    # A shell of its own, as a user has it: $1 is empty.
    timeout 20 bash -o pipefail -c "$command" >out 2>err </dev/null
    got=$?
    # A program that head has left behind ends by SIGPIPE.
    [ $got -eq 141 ] && got=0
    if [ "$text" = - ]; then [ ! -s err ]; else grep -qF -- "$text" err; fi
    said=$?
    if [ $got -eq "$status" ] && [ $said -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n  exit status %s, expected %s; expected on standard error: %s\n' "$command" $got "$status" "$text"
        sed 's/^/    /' err
    fi
done <"$TOP/tests/repl/mistakes.txt"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
