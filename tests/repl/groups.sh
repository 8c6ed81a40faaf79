#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Files of groups: what reads them, what is wrong with them, and that none is read that was not named.
passed=0 failed=0
check() { if "${@:2}"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "not ok $1"; fi; }
cd "$HQ_TEST_TMP" || exit 1
"$TOP/build/tools/fixture" "$TOP/tests/query/groups.fixture" my.hq || exit 1
ask() { "$HQ" "$@" 2>&1; }
has() { grep -qF -e "$1" <<<"$2"; }
status() { "$HQ" "${@:2}" >/dev/null 2>&1; [ $? = "$1" ]; }
cat >my.groups <<'END'
-- the solvers
group solver = solve, group krylov      -- defined below
group krylov = files of "krylov/*",
               lines 3-4 of "blas.h"
END
for name in groups hq.groups .groups; do cp my.groups $name; done

check "no file is read that was not named" has "no group is defined" "$(ask my.hq groups)"
grep -v "^value" "$TOP/tests/query/groups.fixture" >empty.fixture
"$TOP/build/tools/fixture" empty.fixture empty.hq || exit 1
check "a ready-made set of nothing asks for no definition" has "nothing was measured that a group could hold" "$(ask empty.hq groups by runtime)"
check "--groups reads one" has "my.groups:2" "$(ask --groups my.groups my.hq groups)"
check "so does set" has "my.groups:3" "$(ask my.hq 'set groups my.groups; groups')"
check "set groups off" has "no group is defined" "$(ask --groups my.groups my.hq 'set groups off; groups')"
check "state and its text again" has krylov "$(ask my.hq "$(ask my.hq 'set groups my.groups; group a = group krylov, "x y"; state'); groups all")"
check "a statement beside the file" has "query:1" "$(ask --groups my.groups my.hq 'group all = main, group solver; groups')"
check "undo takes back the file" has "no group is defined" "$(ask my.hq 'set groups my.groups; undo; groups')"
check "undo leaves what the command line named" has my.groups:2 "$(ask --groups my.groups my.hq 'set lines on; undo; groups')"
check "--groups takes the ready-made sets" has "user code" "$(ask --groups runtime my.hq 'flat by group depth 1')"
check "a query of a file names its line" has "units.hq:2" "$(printf 'set lines off\ngroup main = main\ngroups\n' >units.hq; ask my.hq -f units.hq)"

printf 'procedures where group = solver expect cputime.x < 1%%\n' >check.hq
check "hq check takes --groups" status 0 check --groups my.groups my.hq check.hq

wrong() { # WHAT STATUS SENTENCE < FILE
    cat >wrong.groups
    check "$1" has "$3" "$(ask --groups wrong.groups my.hq groups)"
    check "$1: status" status "$2" --groups wrong.groups my.hq groups
}
wrong "a circle" 2 'wrong.groups:3:14: `a` holds itself by way of this' <<<$'group a = group b\ngroup b = group c\ngroup c = x, group a'
wrong "itself" 2 'wrong.groups:1:11: `a` holds itself' <<<'group a = group a'
wrong "unknown" 2 'wrong.groups:2:11: there is no group `krylof`; did you mean krylov?' <<<$'group krylov = cg\ngroup x = group krylof'
wrong "twice" 2 'wrong.groups:2:7: the group `a` is defined already, at wrong.groups:1' <<<$'group a = x\ngroup a = y'
wrong "another statement" 2 'wrong.groups:1:1: a file of groups holds `group NAME = ...` and nothing else' <<<'tree'
wrong "a mistake" 2 'wrong.groups:1:10: a pattern is missing' <<<'group a ='
wrong "a wrong expression" 2 'wrong.groups:1:11:' <<<'group a = /(/'
wrong "backwards" 2 'the range 9-3 runs backwards' <<<'group a = lines 9-3 of "x.c"'
{ for ((i = 0; i < 1100; i++)); do echo "group g$i = group g$((i + 1))"; done; echo "group g1100 = main"; } >deep
wrong "too deep" 2 'groups hold each other more than 1000 deep' <deep
check "a file that is not there" status 3 --groups nowhere my.hq groups
check "what was set stays after a mistake" has my.groups:2 "$(ask -k my.hq 'set groups my.groups; set groups wrong.groups; groups')"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
