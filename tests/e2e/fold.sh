#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A recording of a program of three phases of known rates, folded: what runs when, and how fast its pages come. Bounds are wide: whatever else
# runs on the machine takes time away from single instances.
. tests/collector/lib.sh
if ! "$HQ" record --list | grep -q '^perf::PAGE-FAULTS '; then
    skip "the kernel counts no events of its own here"
    finish
fi
record -e CPUTIME@200/s -e perf::PAGE-FAULTS@4 -- "$PROGRAMS/folded" 40 30
check "the program runs as ever" [ $status = 0 ]
"$HQ" "$DB" 'fold of phase "iteration" points 200 instances all as json' >"$TMP/fold.json" 2>>"$TMP/err"
python3 - "$TMP/fold.json" >"$TMP/numbers" <<'END'
import json, sys

table = json.load(open(sys.argv[1]))
names = [c["name"] for c in table["columns"]]
rows = [dict(zip(names, r["cells"] if "cells" in r else r["values"])) for r in table["rows"]]
n = len(rows)


def rate(first, end):
    part = [r["perf::page_faults"] for i, r in enumerate(rows) if first < (i + 0.5) / n < end]
    return sum(part) / len(part)


def begin(name):
    return next(((i + 0.5) / n for i, r in enumerate(rows) if name in r["routines"]), -1)


print(rate(0.55, 0.75) / rate(0.05, 0.45), rate(0.85, 0.98) / rate(0.05, 0.45), begin("second"), begin("third"), rows[-1]["perf::page_faults_sum"])
END
read -r second third at_second at_third pages <"$TMP/numbers"
check "three times as many pages in the second ($second)" holds "$second > 1.5 && $second < 6"
check "half as many in the third ($third)" holds "$third < 1.2"
check "the second begins at a half ($at_second)" holds "$at_second > 0.35 && $at_second < 0.65"
check "the third at 0.8 ($at_third)" holds "$at_third > 0.65 && $at_third < 0.95"
# 8 pages a ms at rate 1, for 30 ms at 0.5 * 1 + 0.3 * 3 + 0.2 * 0.5 in the mean: arithmetic, and a few of the program's start.
check "as many pages an instance as the program touches ($pages of 360)" holds "$pages > 335 && $pages < 385"
finish
