#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
How right a fold is: tests/programs/folded.c, 200 iterations of 47 to 53 ms whose three procedures take 0.5, 0.3 and 0.2 of each and allocate bytes, and touch pages, at rates of
1 : 3 : 0.5, sampled at 200/s, ten samples in each. Goals: the procedures begin within 1 % of the iteration of where they do, mean rates are within 5 %, the band holds the truth
at 90 to 99 % of the points that are farther than 2 % from a border.

    tests/bench/fold.py [RUNS]
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import fold_truth

PROGRAM = os.path.join(os.environ.get("BUILD", "build"), "programs/folded")
HQ = os.environ.get("HQ", "./hq")
RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 3

listed = subprocess.run([HQ, "record", "--list"], stdout=subprocess.PIPE, text=True).stdout
pages = ["-e", "perf::PAGE-FAULTS@40"] if "\nperf::PAGE-FAULTS " in listed else []
metrics = [m for m in fold_truth.RATES if m == "alloc_bytes" or pages]
missed = 0
for run in range(RUNS):
    with tempfile.TemporaryDirectory() as scratch:
        db, printed = f"{scratch}/r.hq", f"{scratch}/printed"
        with open(printed, "w") as out:
            subprocess.run([HQ, "record", "-o", db, "-e", "CPUTIME@200/s", "-e", "ALLOC", *pages, "--", PROGRAM, "200", "50"], stdout=out, stderr=subprocess.DEVNULL, check=True)
        figures = fold_truth.judge(HQ, db, printed, metrics)
    for how, prefix in ("by CPU time", ""), ("by elapsed time", "elapsed "):
        if not figures["steady"]:
            print(f"run {run + 1}, {how}: the processor was taken away from the machine meanwhile, nothing is judged")
            continue
        if prefix and not figures["quiet"]:
            print(f"run {run + 1}, {how}: nearly all iterations were held up by other programs, nothing is judged")
            continue
        print(f"run {run + 1}, {how}: borders {100 * figures[prefix + 'border_off']:.2f} % off (goal 1); {figures[prefix + 'notes']}")
        missed += figures[prefix + "border_off"] > 0.01
        for metric in metrics:
            off, held = (figures[f"{prefix}{what} {metric}"] for what in ("rate_off", "held"))
            print(f"  {metric}: mean rates {100 * off:.2f} % off at most (goal 5), the band holds them at {100 * held:.1f} % of the points (goal 90 to 99)")
            missed += (off > 0.05) + (not 0.9 <= held <= 0.99)
    print("  counts of single iterations off at most: " + ", ".join(f"{m} {figures['count_off ' + m]:g}" for m in metrics) + f", CPU time {1e3 * figures['time_off']:.0f} us")
print(f"{missed} goals missed in {RUNS} runs")
sys.exit(missed > 0)
