#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What threads that wait cost under REALTIME@200/s: THREADS (default 10000) idle threads beside one that computes, as CPU time of the
process by work done, under hq by bare, ROUNDS (default 7) runs in turns. The work is counted in a window that begins when all threads wait and have
been sampled once. Bound: 2 %; the thread that computes has its 200 samples a second in that."""
import os, shutil, subprocess, sys, tempfile
from statistics import median

hq, quick = os.path.realpath(os.environ.get("HQ", "./hq")), os.environ.get("HQ_BENCH_QUICK")
rounds, threads = int(os.environ.get("ROUNDS", "3" if quick else "7")), os.environ.get("THREADS", "2000" if quick else "10000")
seconds = "1" if quick else "3"
here, room = os.path.dirname(os.path.realpath(__file__)), tempfile.mkdtemp()
subprocess.run([os.environ.get("CC", "cc"), "-O2", "-pthread", "-o", f"{room}/idle", f"{here}/idle_threads.c"], check=True)


def cost(prefix):
    """Nanoseconds of CPU time of the process by round of work."""
    out = subprocess.run([*prefix, f"{room}/idle", threads, seconds], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return float(out)


recorded = [hq, "record", "-e", "REALTIME@200/s", "-f", "-o", f"{room}/run.hq", "--"]
costs = []
for i in range(rounds):
    order = [[], recorded] if i % 2 else [recorded, []]
    pair = [cost(p) for p in order]
    costs.append(pair if i % 2 else pair[::-1])
ratios = sorted(c[1] / c[0] for c in costs)
shutil.rmtree(room)
print(f"{'ok   ' if median(ratios) <= 1.02 else 'FAIL '} {threads} idle threads: CPU time under hq by bare {median(ratios):.4f} "
      f"(at most 1.02; {ratios[0]:.4f} to {ratios[-1]:.4f} in {rounds} pairs)")
sys.exit(median(ratios) > 1.02)
