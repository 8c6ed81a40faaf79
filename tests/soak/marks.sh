#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# 300 kills at random moments of a program with a marked procedure, then ten million visits. HQ_SEED chooses other moments.
HQ_KILLS=${HQ_KILLS:-300} bash tests/collector/marks_killed.sh || exit 1
. tests/collector/lib.sh
# 9 us of CPU time each: more than the usual limit has where others run beside.
LIMIT=3600 record --mark visited -- "$PROGRAMS/visited" visits 10000000
check "ten million visits: the program ends as ever" [ $status = 0 ]
check "ten million visits: entries" [ "$(value entries)" = 10000000 ]
"$HQ" "$DB" 'iterations of visited limit 1' >"$TMP/visited" 2>>"$TMP/err"
check "ten million visits: visits" grep -q '^10000000 visits' "$TMP/err"
finish
