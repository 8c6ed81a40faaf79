#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What a visit to a marked procedure costs (`hq record --mark`), beside two round trips of an empty SIGTRAP handler: pairs of runs in turns. The goal is 1.3 for each of entry and
exit by breakpoint. BUILD and HQ as for tests/run.
"""
import os
import statistics
import subprocess
import sys
import tempfile

PROGRAM = os.path.join(os.environ.get("BUILD", "build"), "programs/visited")
HQ = os.environ.get("HQ", "./hq")
PAIRS = int(sys.argv[1]) if len(sys.argv) > 1 else 9
VISITS = "200000"

for depth in "5", "40":
    traps, visits = [], []
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(PAIRS):
            traps.append(2 * float(subprocess.check_output([PROGRAM, "trap", VISITS, depth])))
            run = [HQ, "record", "--force", "-o", scratch + "/r.hq", "--mark", "visited", "--", PROGRAM, "visits", VISITS, depth]
            visits.append(float(subprocess.check_output(run, stderr=subprocess.DEVNULL)))
    ratios = [v / t for v, t in zip(visits, traps)]
    print(f"depth {depth}: a visit {statistics.median(visits):.0f} ns, two empty round trips {statistics.median(traps):.0f} ns, ratio {statistics.median(ratios):.2f} (goal 1.3)")
