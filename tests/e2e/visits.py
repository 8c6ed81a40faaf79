# SPDX-License-Identifier: BSD-3-Clause
"""
Visits of a program that makes a known number of them: where samples tell them apart there are as many, and where not, nothing that follows from their
number is said. Visits and gaps are of processor time, which is what is sampled, so a busy machine changes nothing.
"""
import json

from lib import *


def visits(name, count, visit, gap):
    record(f"{name}.hq", f"{PROGRAMS}/visits", count, visit, gap, options=["--force"])
    status, out, err = run(HQ, f"{name}.hq", "iterations of step as json")
    check(status == 0, f"{name}: exit status {status}: {err}")
    return json.loads(out), err


def deviation(result, row):
    return row["values"][column(result, "deviation")]


# A period is 5 ms, or a tick of 4 ms or 10 ms: 100 ms hold many of either.
result, note = visits("apart", 10, 100, 100)
rows = result["rows"]
check(len(rows) == 10, f"{len(rows)} of 10 visits that lie far apart: {note}")
check("uncertain" not in note + str(rows) and "median" in note, f"they are told apart: {note}")
check(all(deviation(result, r) is not None for r in rows), "each has a deviation")
status, out, err = run(HQ, "apart.hq", "procedures during iteration 3 of step as json")
cost = sum(r["values"][1] or 0 for r in json.loads(out)["rows"])
check(status == 0 and 0.05 < cost < 0.15, f"the third visit costs {cost} s of 0.1: {err}")

# Gaps are far shorter than the period: what is seen is fewer.
for name, parameters in (("merged", (300, 4, 0.2)), ("short", (150, 0.3, 9))):
    result, note = visits(name, *parameters)
    rows = result["rows"]
    check(rows and all("(uncertain)" in r["name"] for r in rows), f"{name}: every row is marked: {rows[:2]}")
    check(all(deviation(result, r) is None for r in rows), f"{name}: no row has a deviation")
    check("median" not in note and "cannot be told apart" in note and "samples a second" in note, f"{name}: the note says what would do: {note}")
    status, out, err = run(HQ, f"{name}.hq", "procedures during iteration 3 of step")
    check(status == 2 and "not known" in err, f"{name}: iteration 3 is refused: {status} {err}")
    for expectation in ("no deviation > 20%", f"rows == {parameters[0]}", "rows >= 1", "all length < 1s"):
        status, out, err = run(HQ, f"{name}.hq", f"iterations of step expect {expectation}")
        check(status == 4 and "inconclusive" in err + out, f"{name}: expect {expectation}: {status} {err}")
    status, out, err = run(HQ, f"{name}.hq", "procedures during step")
    check(status == 0, f"{name}: the time in all of them is known: {err}")

# No gap at all: one row, which may be many. What is called once outside of a loop is one.
result, note = visits("adjoining", 100, 4, 0)
check(len(result["rows"]) == 1 and "(uncertain)" in result["rows"][0]["name"] and "loop" in note, f"without gaps: {note}")
status, out, err = run(HQ, "adjoining.hq", "iterations of once as json")
check(len(json.loads(out)["rows"]) == 1 and "uncertain" not in out + err, f"called once: {err}")
finish()
