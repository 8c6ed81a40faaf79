#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What stacks of K callers tell (`fold of PROCEDURE frames K+1`): the share of time by representative routine, from pieces of 0+1, 1+1 and 2+1 frames that were cut from whole
call paths and put together again, beside the truth of these paths (figure 5 of the paper on call-stack reconstruction). Of a program of ours, and of NPB BT (procedure adi)
where BT names its binary:

    BT=~/NPB3.0-omp-C/bin/bt.W tests/bench/run frames

Off is half the sum of the differences: the share of time that has another routine than it should.
"""
import collections
import csv
import io
import os
import subprocess
import tempfile

HQ = os.environ.get("HQ", "./hq")
BUILD = os.environ.get("BUILD", "build")
POINTS = 2000


def shares(db, what, frames):
    """{innermost representative routine: share of the mean visit}"""
    out = subprocess.check_output([HQ, db, f"fold of {what} {frames} points {POINTS} as csv"], text=True, stderr=subprocess.DEVNULL)
    count = collections.Counter(row["routines"].split(" [")[0].split(" > ")[-1] for row in csv.DictReader(io.StringIO(out)))
    return {name: n / POINTS for name, n in count.items()}


def bench(name, command, what, mark):
    with tempfile.TemporaryDirectory() as scratch:
        db = os.path.join(scratch, "r.hq")
        subprocess.run([HQ, "record", *mark, "-e", "CPUTIME@1000/s", "-o", db, "--", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        truth = shares(db, what, "frames 63+1")
        short = [shares(db, what, f"frames {k}+1") for k in range(3)]
    print(f"{name}: share of the time of {what}, by representative routine")
    print(f"  {'':28}{'whole':>8}{'0+1':>8}{'1+1':>8}{'2+1':>8}")
    for routine in sorted(truth, key=truth.get, reverse=True):
        print(f"  {routine:28}" + "".join(f"{100 * s.get(routine, 0):7.1f}%" for s in [truth, *short]))
    off = [sum(abs(truth.get(r, 0) - s.get(r, 0)) for r in set(truth) | set(s)) / 2 for s in short]
    print(f"  {'off':28}{'':8}" + "".join(f"{100 * x:7.1f}%" for x in off))


bench("a program of ours", [os.path.join(BUILD, "programs/aligned"), "60", "40"], 'phase "step"', [])
if "BT" in os.environ:
    bench("NPB BT", [os.environ["BT"]], "adi", ["--mark", "adi"])
else:
    print("NPB BT: BT names no binary")
