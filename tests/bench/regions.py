#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What hq adds to the opening of a parallel region, with libgomp and with libomp: short runs, bare and recorded, in turns, so that what else the machine does comes to all of
them alike. Printed are the medians of the pairs, and the least of each kind: what it takes when nobody disturbs. BUILD and HQ as for tests/run; BEFORE: another hq, whose cost
ours is compared with.

    tests/bench/regions.py [PAIRS]
"""
import os
import statistics
import subprocess
import sys
import tempfile

from lib import runtimes

HQ = os.environ.get("HQ", "./hq")
BEFORE = os.environ.get("BEFORE")
PAIRS = int(sys.argv[1]) if len(sys.argv) > 1 else 40
REGIONS = "20000"


def measure(hq, program, depth, scratch):
    """Nanoseconds of CPU time for each region."""
    run = [program, REGIONS, str(depth)]
    if hq:
        run = [hq, "record", "--force", "-o", scratch + "/r.hq", "--"] + run
    return float(subprocess.check_output(run, stderr=subprocess.DEVNULL))


def compare(name, program, scratch):
    for depth in 5, 15, 40:
        times = {kind: [] for kind in (None, HQ, BEFORE)}
        for _ in range(PAIRS):
            for kind, measured in times.items():
                measured.append(measure(kind, program, depth, scratch))
        bare, least = times[None], {kind: min(measured) for kind, measured in times.items()}
        more = [recorded - alone for recorded, alone in zip(times[HQ], bare)]
        line = f"{name}, depth {depth}: bare {statistics.median(bare):.0f} ns, least {least[None]:.0f}; more by {statistics.median(more):.0f} ns (goal 300), "
        line += f"least {least[HQ] - least[None]:.0f}"
        if BEFORE:
            ratios = [(new - alone) / (old - alone) for new, old, alone in zip(times[HQ], times[BEFORE], bare) if old > alone]
            line += f"; before {least[BEFORE] - least[None]:.0f}; ratio {statistics.median(ratios):.2f}, of the least {(least[HQ] - least[None]) / (least[BEFORE] - least[None]):.2f}"
        print(line, flush=True)


with tempfile.TemporaryDirectory() as directory:
    for runtime, built in runtimes.built("tests/programs/entries.c", directory):
        compare(runtime, built, directory)
