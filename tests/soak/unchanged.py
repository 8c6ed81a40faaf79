# SPDX-License-Identifier: BSD-3-Clause
# timeout: 3600
"""Repeated runs of an unchanged program against one baseline, at the default settings: at most 1 in 100 may fail. HQ_RUNS (100) runs;
with N runs the bound is 1 % of N and three standard deviations of that count."""

import math
import os
import subprocess
import sys

HQ, TMP, PROGRAMS = (os.environ[v] for v in ("HQ", "HQ_TEST_TMP", "PROGRAMS"))
runs = int(os.environ.get("HQ_RUNS", "100"))
counts = {}


def hq(*args):
    return subprocess.run([HQ, *args], cwd=TMP, capture_output=True, text=True, stdin=subprocess.DEVNULL)


with open(f"{TMP}/shares.hq", "w") as f:
    f.write("procedures\ntree\nloops\n")
for i in range(runs + 1):
    done = hq("record", "--force", "-o", "run.hq", "--", f"{PROGRAMS}/benchmark", "2", "1")
    if done.returncode:
        sys.exit(f"run {i}: {done.stderr}")
    done = hq("check", *(["--update"] if i == 0 else []), "run.hq", "shares.hq")
    if i:
        counts[done.returncode] = counts.get(done.returncode, 0) + 1
    if i and done.returncode == 1:
        print(f"run {i}:\n{done.stdout}")
bound = runs / 100 + 3 * math.sqrt(runs / 100)
print(f"exit statuses of {runs} runs: {dict(sorted(counts.items()))}")
good = counts.get(1, 0) <= bound and set(counts) <= {0, 1, 4}
print(f"{int(good)} passed, {int(not good)} failed")
sys.exit(not good)
