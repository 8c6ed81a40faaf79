#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What hq adds to a deferred task, from its creation to its end, with libgomp and with libomp: pairs of runs, bare and recorded, in turns. HQ as for tests/run."""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

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
    for compiler, runtime in ("gcc", "libgomp"), ("clang", "libomp"):
        program = os.path.join(directory, runtime)
        if not shutil.which(compiler) or subprocess.run([compiler, "-O2", "-fopenmp", "-Itests/programs", "-o", program, "tests/bench/created.c"]).returncode:
            print(f"{runtime}: no {compiler} that builds it")
            continue
        measure(runtime, program, directory)
