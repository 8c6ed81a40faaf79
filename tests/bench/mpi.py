#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What `-e MPI` adds to a call: pairs of runs of one rank, bare and recorded, in turns, for each MPI that is here. Of a message to itself, the sum for send, receive and wait.
HQ as for tests/run.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HQ = os.environ.get("HQ", "./hq")
PAIRS = int(sys.argv[1]) if len(sys.argv) > 1 else 10
CALLS = "100000"

for compiler in "mpicc.openmpi", "mpicc.mpich":
    if not shutil.which(compiler):
        print(f"{compiler}: not here")
        continue
    with tempfile.TemporaryDirectory() as scratch:
        program = scratch + "/calls"
        subprocess.run([compiler, "-O2", "-Itests/programs", "-o", program, "tests/bench/mpi_calls.c"], check=True)
        for depth in "5", "40":
            bare, more = [], []
            for _ in range(PAIRS):
                run = [program, CALLS, depth]
                bare.append([float(x) for x in subprocess.check_output(run).split()])
                recorded = subprocess.check_output([HQ, "record", "--force", "-e", "MPI", "-o", scratch + "/r.hq", "--"] + run, stderr=subprocess.DEVNULL)
                more.append([float(x) - b for x, b in zip(recorded.split(), bare[-1])])
            for n, what in enumerate(("a barrier of one", "a message to itself")):
                print(f"{compiler}, depth {depth}: {what} {statistics.median(b[n] for b in bare):.0f} ns, more by {statistics.median(m[n] for m in more):.0f} ns, "
                      f"least {min(m[n] for m in more):.0f}")
