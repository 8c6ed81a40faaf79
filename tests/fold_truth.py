# SPDX-License-Identifier: BSD-3-Clause
"""
Holds a fold against what tests/programs/folded.c is: three procedures of 0.5, 0.3 and 0.2 of an iteration, whose pages and bytes come at rates of 1 : 3 : 0.5. For the test
(tests/e2e/fold.sh), where it is a program, and the benchmark (tests/bench/fold.py).

    fold_truth.py HQ DATABASE PRINTED
"""
import json
import statistics
import subprocess
import sys

BORDERS, SPEEDS = [0, 0.5, 0.8, 1], [1, 3, 0.5]
RATES = {"perf::page_faults": 8000.0, "alloc_bytes": 32e6}  # a second, at rate 1
NEAR = 0.02  # of a border: there no rate is judged


def ask(hq, db, query):
    """The rows, each a dictionary by column, and the notes."""
    done = subprocess.run([hq, db, query + " as json"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    table = json.loads(done.stdout)
    names = [c["name"] for c in table["columns"]]
    return [dict(zip(names, r["cells"] if "cells" in r else r["values"]), name=r["name"]) for r in table["rows"]], done.stderr.strip().replace("\n", "; ")


def judge_rates(rows, metric):
    """By how much the worst of the three mean rates is off, and at which part of the points the band holds the truth."""
    n, worst, held, judged = len(rows), 0, 0, 0
    for first, last, speed in zip(BORDERS, BORDERS[1:], SPEEDS):
        truth = RATES[metric] * speed
        part = [r for i, r in enumerate(rows) if first + NEAR * (first > 0) < (i + 0.5) / n < last - NEAR * (last < 1)]
        worst = max(worst, abs(statistics.mean(r[metric] for r in part) / truth - 1))
        held += sum(r[metric + "_low"] <= truth <= r[metric + "_high"] for r in part)
        judged += len(part)
    return worst, held / judged


def judge_borders(rows):
    """By how much the worst of the two is off, of the iteration."""
    n = len(rows)
    begin = [next((i / n for i, r in enumerate(rows) if name in (r["routines"] or "")), -1) for name in ("second", "third")]
    return max(abs(b - t) for b, t in zip(begin, BORDERS[1:]))


def judge_fold(hq, db, metrics, clause):
    rows, notes = ask(hq, db, f'fold of phase "iteration" {clause} points 400')
    out = {"notes": notes, "border_off": judge_borders(rows)}
    for metric in metrics:
        out[f"rate_off {metric}"], out[f"held {metric}"] = judge_rates(rows, metric)
    return out


def judge(hq, db, printed, metrics):
    """
    All figures by name: those of a fold by CPU time, which other programs cannot change; with `elapsed`, of one by elapsed time. quiet: what that one folds are iterations
    that ran all of their time, so that their rates are those of the program. steady: the program could do what it wanted to in the CPU time that it was given.
    """
    printed = [[float(x) for x in line.split()] for line in open(printed)]
    visits, _ = ask(hq, db, 'phases of phase "iteration"')
    out = judge_fold(hq, db, metrics, "on cputime")
    out |= {f"elapsed {k}": v for k, v in judge_fold(hq, db, metrics, "").items()}
    out |= {"quiet": int("of them the thread did not run" not in out["elapsed notes"]), "visits": len(visits)}
    for metric in metrics:
        own = [p[5] if metric == "alloc_bytes" else p[4] for p in printed]
        out[f"count_off {metric}"] = max(abs(v[metric] - o) for v, o in zip(visits, own))
    # Where a hypervisor takes the processor away its time is CPU time, in which nothing is done.
    out["steady"] = int(all(p[0] < 54 and abs(p[4] / p[0] / 12 - 1) < 0.03 for p in printed))
    out["time_off"] = max(abs(v["cputime"] * 1e3 - p[0]) for v, p in zip(visits, printed))
    return out


if __name__ == "__main__":
    for key, value in judge(*sys.argv[1:4], [m for m in RATES if m in sys.argv[4:]]).items():
        print(key, value)
