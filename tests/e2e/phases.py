# SPDX-License-Identifier: BSD-3-Clause
# alone: yes
"""The trace of a program whose threads tell when each of their phases began and ended shows these phases, and slices of it add up."""

import sys
from xml.etree import ElementTree

from lib import *

STEPS = 3
MARGIN = 0.06           # s: from the start of the process to main, and what a sample is late
CPU = {"init": 0.4, "compute": 0.25, "exchange": 0.15, "rest": 0.1}    # s that tests/programs/phases.c spends in each

# Where a thread has to wait for a processor its samples are late by as much, and phases cannot be told apart: try for a calm moment.
for attempt in range(5):
    out, err = record("phases.hq", f"{PROGRAMS}/phases", STEPS, options=["--force"])
    truth = [(int(t), name, float(a), float(b)) for t, name, a, b in (line.split() for line in out.splitlines())]
    calm = all(b - a < CPU[name] + 0.04 for _, name, a, b in truth if name in CPU)
    if calm:
        break
if not calm:
    print("skipped: the processors are too busy to tell the phases of a program apart")
    sys.exit(77)
db = "phases.hq"

# Cells in the middle of a phase show its procedure, or nothing when the thread was not on a CPU. At 200/s
# a few cells near a preemption may show what ran before it.
trace = ask(db, "trace level 4 width 1000")
cells = [(value(trace, r, "thread"), value(trace, r, "time"), r["name"]) for r in trace["rows"]]
check(len(cells) > 300, f"the picture has {len(cells)} cells that are not blank")
for thread, name, start, end in truth:
    inside = [n for t, at, n in cells if t == thread and start + MARGIN < at < end - MARGIN]
    right = sum(n == name for n in inside)
    if name == "wait_a_while":
        check(len(inside) <= 2, f"thread {thread} is blank while it waits: {inside}")
    elif end - start > 3 * MARGIN:
        check(right >= 0.9 * len(inside), f"thread {thread}, {name} from {start} to {end}: {right} of {len(inside)} cells")

# One visit to each step, apart by the rest between them.
visits = ask(db, "iterations of step")
for thread in (0, 1):
    mine = [r for r in visits["rows"] if r["name"].startswith(f"thread {thread} #")]
    check(len(mine) == STEPS, f"thread {thread} makes {len(mine)} visits to step")
    begins = [start for t, name, start, end in truth if t == thread and name == "compute"]
    for row, begin in zip(mine, begins):
        check(abs(value(visits, row, "start") - begin) < MARGIN, f"a step begins at {begin}, the trace says {value(visits, row, 'start')}")
        texts = [v for v in row["values"] if isinstance(v, str)]
        check(any(v.startswith("compute") for v in texts), f"compute takes most of a step: {texts}")

# Adjoining slices add up to the whole, for every context.
whole = ask(db, "tree")
parts = [ask(db, f"tree during {a}%..{b}%") for a, b in ((0, 21.7), (21.7, 60), (60, 100))]
sums = {}
for part in parts:
    for r in part["rows"]:
        sums[r["id"]] = sums.get(r["id"], 0) + value(part, r, "cputime")
for r in whole["rows"]:
    check(abs(sums.get(r["id"], 0) - value(whole, r, "cputime")) < 1e-6, f"{r['name']}: slices add up to {sums.get(r['id'], 0)}")

# While a step is on the stack, all is below it.
during = ask(db, "procedures during step")
steps = find(during, "step")
check(steps is not None and abs(value(during, steps, "cputime") - max(value(during, r, "cputime") for r in during["rows"])) < 1e-9,
      "a slice during step holds nothing outside of it")
check(find(during, "init") is None and find(during, "rest") is None, "a slice during step has no init and no rest")

path = ask(db, f"trace at {(truth[0][2] + truth[0][3]) / 2}s thread {truth[0][0]}")
check(any(r["name"] == truth[0][1] for r in path["rows"]) or not path["rows"], "the call path in the middle of the first phase")

status, svg, err = run(HQ, db, "trace level 4 as svg")
check(status == 0 and svg.startswith("<svg ") and svg.count("<rect") <= 20100 and "main &gt; work &gt; step &gt; compute" in svg, "svg with call paths")
try:
    ElementTree.fromstring(svg)
except ElementTree.ParseError as error:
    check(False, f"the svg is well-formed: {error}")
# What was sampled before a process is killed is there.
status, out, err = run(HQ, "record", "-o", "killed.hq", "--", f"{PROGRAMS}/phases", 1, "die")
check(status != 0, f"the status of a killed program is passed through: {status}")
last = max(float(line.split()[3]) for line in out.splitlines())
trace = ask("killed.hq", "trace level 4 width 1000")
latest = max((value(trace, r, "time") for r in trace["rows"]), default=0)
check(abs(latest - last) < 2 * MARGIN, f"the trace of a killed program reaches its end: {latest} of {last} s")
finish()
