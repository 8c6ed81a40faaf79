#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What a visit to a marked procedure costs (`hq record --mark`), by jumps and by breakpoints, beside two round trips of an empty SIGTRAP handler: runs in turns. The goals are 0.5 us
for each of entry and exit by jump, and 1.3 round trips by breakpoint. BUILD and HQ as for tests/run.
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

def visit(by, depth, scratch):
    run = [HQ, "record", "--force", "-o", scratch + "/r.hq", "--mark", "visited", "--", PROGRAM, "visits", VISITS, depth]
    return float(subprocess.check_output(run, stderr=subprocess.DEVNULL, env=dict(os.environ, HQ_MARKS_BY=by)))


for depth in "5", "40":
    traps, jumps, breakpoints = [], [], []
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(PAIRS):
            traps.append(2 * float(subprocess.check_output([PROGRAM, "trap", VISITS, depth])))
            jumps.append(visit("jumps", depth, scratch))
            breakpoints.append(visit("breakpoints", depth, scratch))
    ratio = statistics.median(b / t for b, t in zip(breakpoints, traps))
    print(f"depth {depth}: a visit by jumps {statistics.median(jumps):.0f} ns (goal 1000), by breakpoints {statistics.median(breakpoints):.0f} ns, "
          f"two empty round trips {statistics.median(traps):.0f} ns, ratio {ratio:.2f} (goal 1.3)")
