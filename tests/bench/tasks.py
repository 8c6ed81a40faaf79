#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What hq adds to a deferred task, from its creation to its end, with libgomp and with libomp: pairs of runs, bare and recorded, in turns. HQ as for tests/run."""
import os
import statistics
import subprocess
import sys
import tempfile

from lib import runtimes

HQ = os.environ.get("HQ", "./hq")
PAIRS = int(sys.argv[1]) if len(sys.argv) > 1 else 20


def measure(name, program, scratch):
    for depth in "5", "40":
        bare, more = [], []
        for _ in range(PAIRS):
            run = [program, "200000", depth]
            bare.append(float(subprocess.check_output(run)))
            recorded = subprocess.check_output([HQ, "record", "--force", "-o", scratch + "/r.hq", "--"] + run, stderr=subprocess.DEVNULL)
            more.append(float(recorded) - bare[-1])
        print(f"{name}, depth {depth}: bare {statistics.median(bare):.0f} ns, more by {statistics.median(more):.0f} ns (goal 200), least {min(more):.0f}")


with tempfile.TemporaryDirectory() as directory:
    for name, built in runtimes.built("tests/bench/created.c", directory):
        measure(name, built, directory)
