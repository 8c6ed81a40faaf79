#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Names and the room that they have: whole in a pipe, unless COLUMNS says how wide it is or `set names short` asks for it;
# what is for programs has them whole whatever is set; two names never look alike.
passed=0 failed=0
check() { if "${@:2}"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "not ok $1"; fi; }
cd "$HQ_TEST_TMP" || exit 1
name='void ns::Grid<double, 3>::smooth_residual(std::vector<double, std::allocator<double> > const\&, int)'
other=${name/double/float}
sed "s|^proc \(.*\) g \([0-9]*\)|proc \1 \"$name\" \2|; s|^proc \(.*\) h \([0-9]*\)|proc \1 \"$other\" \2|" \
    "$TOP/tests/query/paper.fixture" >long.fixture
"$TOP/build/tools/fixture" long.fixture long.hq || exit 1
whole=${name//\\/}
entity=$(sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g' <<<"$whole")
ask() { "$HQ" long.hq "$@" 2>/dev/null; }
has() { grep -qF -e "$1" <<<"$2"; }
lacks() { [ -n "$2" ] && ! grep -qF -e "$1" <<<"$2"; }

check "a pipe has names whole" has "$whole" "$(ask procedures)"
check "COLUMNS bounds it" lacks "$whole" "$(COLUMNS=70 ask procedures)"
check "the name's last part stays" has smooth_residual "$(COLUMNS=70 ask procedures)"
check "set names full" has "$whole" "$(COLUMNS=70 ask "set names full; procedures")"
check "csv" has "$whole" "$(COLUMNS=70 ask "procedures as csv")"

# A dimension of clusters that is named by a long name has room; axes of a narrow range tell their values apart.
sed "s|^proc solve a solve|proc solve a \"$name\"|" "$TOP/tests/query/marked.fixture" >steps.fixture
"$TOP/build/tools/fixture" steps.fixture steps.hq || exit 1
of='clusters of phases of phase "step" min 2'
check "the dimension is there in 150 columns" grep -q 'share of .*smooth_residual.* name$' <<<"$(COLUMNS=150 "$HQ" steps.hq "$of" 2>/dev/null)"
check "marks of the axis differ" [ -z "$("$HQ" steps.hq "$of as svg" 2>/dev/null | grep -o '>-4[.0-9]*<' | sort | uniq -d)" ]

# The line is as wide as COLUMNS says where names have their least (24 columns); what is no number counts for nothing.
export LC_ALL=C.UTF-8
for view in tree procedures callers flat "hot path"; do
    for columns in 45 50 60 70 80 100 120; do
        longest=$(COLUMNS=$columns ask "$view" | grep -v '^(' | wc -L)
        check "$view in $columns columns: $longest" [ "$longest" -le "$columns" ]
    done
done
# Facts go on below their beginning; what is to be pasted is in one line, whatever it is long.
"$TOP/build/tools/fixture" "$TOP/tests/query/teams.fixture" teams.hq || exit 1
for columns in 60 70 80; do
    for of in summary info; do
        told=$(COLUMNS=$columns "$HQ" teams.hq "$of" 2>/dev/null | grep -v '^ask next\|^command\|^director\|^executables')
        longest=$(wc -L <<<"$told")
        check "$of in $columns columns: $longest" [ "$((longest > 30 && longest <= columns))" = 1 ]
        check "$of in $columns columns has the words of the whole" [ "$(tr -s ' \n' ' ' <<<"$told")" = "$("$HQ" teams.hq "$of" 2>/dev/null | grep -v '^ask next\|^command\|^director\|^executables' | tr -s ' \n' ' ')" ]
    done
done
for topic in $("$HQ" help topics | awk '$2 { print $1 }'); do
    longest=$(COLUMNS=80 "$HQ" help "$topic" | wc -L)
    check "help $topic in 80 columns: $longest" [ "$((longest > 0 && longest <= 80))" = 1 ]
done
# A mark of the time axis stands just before the end.
{
    printf '%s\n' 'metric CPUTIME seconds 1 1 sampled traced' 'module app /x/app' 'file a app /x/a.c' 'proc main a main 1'
    for rank in 0 1; do
        printf '%s\n' "profile p$rank rank=$rank tid=$((rank + 1)) end=50800000" "value p$rank CPUTIME 50 50 main:2"
        for second in $(seq 50); do echo "trace p$rank ${second}500000 CPUTIME 1 main:2"; done
    done
} >marks.fixture
"$TOP/build/tools/fixture" marks.fixture marks.hq || exit 1
for of in "trace" "trace summary" "trace imbalance"; do
    for columns in $(seq 60 90); do
        longest=$(COLUMNS=$columns "$HQ" --quiet marks.hq "$of" 2>/dev/null | grep '^ ' | wc -L)
        check "$of in $columns columns: $longest" [ "$((longest > 0 && longest <= columns))" = 1 ]
    done
done
for word in views clauses functions settings formats statements clusters fold routines group regions messages trace imbalance sort; do
    for columns in 80 60; do
        longest=$(COLUMNS=$columns "$HQ" help "$word" | wc -L)
        check "help $word in $columns columns: $longest" [ "$((longest > 0 && longest <= columns))" = 1 ]
    done
done
check "a pipe has usage lines whole" has 'fold of PATTERN | cluster N [of phases ...] [on cputime] [frames K+1] [points N] [instances all|sd|mad] (view)' "$("$HQ" help fold)"
for columns in 0 -5 abc 60x 100000 ''; do
    check "COLUMNS=$columns" has "$whole" "$(COLUMNS=$columns ask procedures)"
done
check "COLUMNS=20 says what it can" has residual "$(COLUMNS=20 ask procedures)"

# What leaving out made equal says where it differs, in each width.
for columns in 24 50 60 70 80; do
    names=$(COLUMNS=$columns ask "procedures columns cycles matching /residual/" | grep residual | sed 's/^[ 0-9.%]* //; s/  .*//')
    check "two names in $columns columns" [ "$(sort -u <<<"$names" | wc -l)" = 2 ]
done

for format in table tree markdown folded dot svg plot; do
    pattern=$whole
    [ $format = svg ] && pattern=$entity
    [ $format = markdown ] && pattern='::smooth\_residual(std::vector&lt;double, std::allocator&lt;double> > const&, int)'
    view=tree
    [ $format = plot ] && view=procedures
    [ $format = plot ] || check "whole as $format" has "$pattern" "$(ask "$view as $format")"
    check "set names short: as $format" lacks 'std::allocator' "$(ask "set names short; $view as $format")"
    check "the last part: as $format" has residual "$(ask "set names short; $view as $format")"
    ask "set names short; $view as $format to short.out"
    check "to a file: as $format" lacks 'std::allocator' "$(cat short.out)"
done
for format in csv tsv json speedscope callgrind; do
    view=procedures
    case $format in speedscope | callgrind) view=tree ;; esac
    check "set names short leaves $format" has 'std::allocator' "$(ask "set names short; $view as $format")"
done

# Checks: what a verdict calls the row; the baseline has the name whole.
echo 'set names short; procedures matching /double/ expect no rows' >names.hq
tap=$("$HQ" check long.hq names.hq 2>/dev/null)
check "TAP has the short name" has "ns::Grid<double, 3>::smooth_residual(...)" "$tap"
check "TAP has no more" lacks "std::allocator" "$tap"
echo 'procedures matching /double/ expect no rows' >names.hq
check "TAP has names whole" has "$whole" "$("$HQ" check long.hq names.hq 2>/dev/null)"
echo 'set names short; procedures' >base.hq
"$HQ" check --update long.hq base.hq >/dev/null 2>&1
check "baselines have names whole" has "$whole" "$(cat base.hq.baseline 2>/dev/null || cat ./*.baseline)"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
