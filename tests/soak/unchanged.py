# SPDX-License-Identifier: BSD-3-Clause
# timeout: 7200
"""Repeated runs of unchanged programs against baselines, at the default settings: at most 1 in 100 may fail. HQ_RUNS (100) runs of each
kind of program, a new baseline every ten; with N runs the bound is 1 % of N and three standard deviations of that count.
HQ_KINDS chooses among the kinds: one that computes, an interpreter, a compiler, and one that lives in system calls."""

import math
import os
import subprocess
import sys

HQ, TMP, PROGRAMS, TOP = (os.environ[v] for v in ("HQ", "HQ_TEST_TMP", "PROGRAMS", "TOP"))
RUNS = int(os.environ.get("HQ_RUNS", "100"))
PER_BASELINE = 10

PYTHON = """
import json, random, re
words = [str(random.random()) for _ in range(60000)]
for _ in range(6):
    text = json.dumps({w: [i, w] for i, w in enumerate(words)})
    sorted(json.loads(text)), re.findall(r"0[.](\\d+)9", text), sum(map(len, set(text.split(","))))
"""
COMPILE = f"cd {TOP} && for f in repl/session.c query/grammar/parse_expr.c query/grammar/lexer.c repl/baseline/baseline.c; do " \
          "gcc -O2 -g -std=gnu11 -D_GNU_SOURCE -include build/config.h -I. -c -o /dev/null $f || exit 1; done"
KERNEL = "for i in 1 2 3 4 5 6; do dd if=/dev/urandom of=noise bs=16k count=3000 2>/dev/null; cat noise | cksum >/dev/null; " \
         "ls -lR /usr/share/doc /usr/lib/python3* >/dev/null 2>&1; done"
KINDS = {
    "benchmark": [f"{PROGRAMS}/benchmark", "2", "1"],
    "python3": ["python3", "-c", PYTHON],
    "gcc": ["sh", "-c", COMPILE],
    "kernel": ["sh", "-c", KERNEL],
}


def hq(*args):
    return subprocess.run([HQ, *args], cwd=TMP, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def record(program):
    done = hq("record", "--force", "-o", "run.hq", "--", *program)
    if done.returncode:
        sys.exit(f"recording: {done.stderr}")


def soak(kind, program):
    """The exit statuses of all runs."""
    counts = {}
    for i in range(RUNS):
        if i % PER_BASELINE == 0:
            record(program)
            hq("check", "--update", "run.hq", "shares.hq")
        record(program)
        done = hq("check", "run.hq", "shares.hq")
        counts[done.returncode] = counts.get(done.returncode, 0) + 1
        if done.returncode == 1:
            print(f"{kind}, run {i}:\n" + "\n".join(line for line in done.stdout.splitlines() if "rose:" in line or "new:" in line))
    return counts


with open(f"{TMP}/shares.hq", "w") as f:
    f.write("procedures\ntree\nloops\n")
bound = RUNS / 100 + 3 * math.sqrt(RUNS / 100)
failed = 0
kinds = os.environ.get("HQ_KINDS", " ".join(KINDS)).split()
for kind in kinds:
    counts = soak(kind, KINDS[kind])
    print(f"{kind}: exit statuses of {RUNS} runs: {dict(sorted(counts.items()))}", flush=True)
    failed += counts.get(1, 0) > bound or not set(counts) <= {0, 1, 4}
print(f"{len(kinds) - failed} passed, {failed} failed")
sys.exit(failed > 0)
