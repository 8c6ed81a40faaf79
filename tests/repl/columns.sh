#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# In a pipe nothing is shortened, unless COLUMNS says how wide it is; `set names full` and csv keep names whole.
passed=0 failed=0
check() { if "${@:2}"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "not ok $1"; fi; }
cd "$HQ_TEST_TMP" || exit 1
name='void ns::Grid<double, 3>::smooth_residual(std::vector<double, std::allocator<double> > const\&, int)'
sed "s|^proc \(.*\) g \([0-9]*\)|proc \1 \"$name\" \2|" "$TOP/tests/query/paper.fixture" >long.fixture
"$TOP/build/tools/fixture" long.fixture long.hq || exit 1
whole=${name//\\/}
shortened() { ! grep -qF "$whole" <(COLUMNS=70 "$HQ" long.hq procedures 2>/dev/null); }
check "a pipe has names whole" grep -qF "$whole" <("$HQ" long.hq procedures 2>/dev/null)
check "COLUMNS bounds it" shortened
check "the name's last part stays" grep -q smooth_residual <(COLUMNS=70 "$HQ" long.hq procedures 2>/dev/null)
check "set names full" grep -qF "$whole" <(COLUMNS=70 "$HQ" long.hq "set names full; procedures" 2>/dev/null)
check "csv" grep -qF "$whole" <(COLUMNS=70 "$HQ" long.hq "procedures as csv" 2>/dev/null)
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
