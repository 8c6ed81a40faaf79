#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Info has as many partial call paths as the answers, also where the process has counted fewer when it took the samples: those of a parallel
# region have the path on which it was opened.
passed=0 failed=0
check() { if "${@:2}"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "not ok $1"; fi; }
cd "$HQ_TEST_TMP" || exit 1
"$TOP/build/tools/fixture" "$TOP/tests/query/jit.fixture" jit.hq || exit 1
answer=$("$HQ" jit.hq 'procedures columns cycles' 2>&1 >/dev/null | grep -o '[0-9]* with a partial call path')
check "the answer has 50" [ "$answer" = "50 with a partial call path" ]
check "and so has info" grep -q '^partial paths *50$' <<<"$("$HQ" jit.hq info 2>/dev/null)"
check "as a number for programs" grep -q "^,root,partial paths,.*,50," <<<"$("$HQ" jit.hq "info as csv" 2>/dev/null)"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
