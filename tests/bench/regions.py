#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What hq adds to the opening of a parallel region: pairs of runs, bare and recorded, in turns. BUILD and HQ as for tests/run."""
import os
import statistics
import subprocess
import sys
import tempfile

PROGRAM = os.path.join(os.environ.get("BUILD", "build"), "programs/entries")
HQ = os.environ.get("HQ", "./hq")
PAIRS = int(sys.argv[1]) if len(sys.argv) > 1 else 20

for depth in 5, 15, 40:
    bare, more = [], []
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(PAIRS):
            run = [PROGRAM, "200000", str(depth)]
            bare.append(float(subprocess.check_output(run)))
            recorded = subprocess.check_output([HQ, "record", "--force", "-o", scratch + "/r.hq", "--"] + run, stderr=subprocess.DEVNULL)
            more.append(float(recorded) - bare[-1])
    print(f"depth {depth}: bare {statistics.median(bare):.0f} ns, more by {statistics.median(more):.0f} ns (goal 300), least {min(more):.0f}")
