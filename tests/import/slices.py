# SPDX-License-Identifier: BSD-3-Clause
"""
Adjoining slices of time add up to the whole, for every procedure and thread, whatever tool the trace came from; what was going on at an instant is
in the slice and in the picture of that instant, however long it had lasted; and what has no times says so.
"""
import json
import random

from lib import HQ, TMP, check, finish, run, write  # noqa: F401

RNG = random.Random(13)


def values(database, query):
    """name -> (inclusive, exclusive) of the first metric"""
    rows = json.loads(run(database, f"{query} as json"))["rows"]
    return {(r["name"], r["module"]): (r["values"][0] or 0, r["values"][1] or 0) for r in rows}


def total(database, query):
    return sum(r["values"][0] or 0 for r in json.loads(run(database, f"{query} as json"))["rows"])


def slices(end):
    cuts = sorted(RNG.uniform(0, end) for _ in range(RNG.choice((1, 2, 7))))
    bounds = [""] + [f"{c:.6f}s" for c in cuts] + [""]
    return [f"during {a}..{b}" for a, b in zip(bounds, bounds[1:])]


def check_slices(name, database, end, exact=True):
    """exact: each procedure has in the slices what it has in the database; else only the threads have."""
    whole, all_of_it = values(database, "procedures all"), values(database, "procedures all during 0%..100%")
    check(sum(x for _, x in whole.values()) > 0, f"{name}: nothing in it")
    for attempt in range(4):
        parts = slices(end)
        sums = {}
        for part in parts:
            for row, pair in values(database, f"procedures all {part}").items():
                old = sums.get(row, (0, 0))
                sums[row] = old[0] + pair[0], old[1] + pair[1]
        for row, pair in all_of_it.items():
            got = sums.get(row, (0, 0))
            check(all(abs(g - w) <= 1e-9 * abs(w) + 1e-12 for g, w in zip(got, pair)), f"{name}: {row} has {got} in {parts}, and {pair} in all")
        for row, pair in whole.items() if exact else ():
            got = sums.get(row, (0, 0))
            check(all(abs(g - w) <= 1e-9 * abs(w) + 1e-12 for g, w in zip(got, pair)), f"{name}: {row} has {got} in {parts}, and {pair} in the database")
        threads = [total(database, f"threads all {part}") for part in parts]
        want = total(database, "threads all")
        check(abs(sum(threads) - want) <= 1e-7 * want, f"{name}: threads have {sum(threads)} of {want} in {parts}")


def perf(name, event, period):
    time, lines = 100.0, []
    for i in range(300):
        tid = RNG.choice((10, 11))
        time += RNG.uniform(0.001, 0.02)
        lines.append(f"prog 10/{tid} [000] {time:.6f}: {period(i)} {event}:\n")
        for frame in ("leaf%d" % RNG.randrange(3), "middle", "main"):
            lines.append(f"\t1000 {frame}+0x10 (/bin/prog)\n")
        lines.append("\n")
    return write(f"{name}.perf", "".join(lines)), time - 100.0


for name, event, period in (("clock", "cpu-clock", lambda i: 1000000),
                            ("frequency", "cycles", lambda i: RNG.randrange(1, 1 << 22)),
                            ("large", "cycles", lambda i: 9_000_000_000 + i),
                            ("uneven", "task-clock", lambda i: RNG.randrange(1, 4000000)),
                            ("counts", "cycles", lambda i: "")):
    path, end = perf(name, event, period)
    check_slices(f"perf {name}", path, end)

# Spans: A from 0 s to 1 s, B from 1 s to 11 s with C in it from 9 s to 10 s, a pause, A again from 12 s to 13 s.
events = [("A", 0, 1), ("B", 1, 10), ("C", 9, 1), ("A", 12, 1)]
chrome = write("spans.json", json.dumps({"traceEvents": [
    {"ph": "X", "name": n, "ts": start * 1e6, "dur": length * 1e6, "pid": 1, "tid": 1} for n, start, length in events]}))
check_slices("chrome", chrome, 13)
part = values(chrome, "procedures all during 2s..3s")
check(part == {("B", None): (1, 1)} or list(part.values()) == [(1, 1)], f"one second of B: {part}")
part = {n: v for (n, _), v in values(chrome, "procedures all during 8.5s..12.5s").items()}
check(part == {"A": (0.5, 0.5), "B": (2.5, 1.5), "C": (1, 1)}, f"parts of all: {part}")
cells = [line.split(",") for line in run(chrome, "trace level 1 width 130 as csv").splitlines()[1:]]
head = run(chrome, "trace level 1 width 130 as csv").splitlines()[0].split(",")
for cell in cells:
    at, name = float(cell[head.index("time")]), cell[head.index("name")]
    right = "A" if at < 1 or at > 12 else "B" if at < 11 else None
    check(name == right, f"at {at} s the picture shows {name}")
check(len(cells) == 120, f"{len(cells)} cells of 120 are not blank")
check("(uncertain)" not in run(chrome, "iterations of A"), "visits of exact spans are known")
visits = json.loads(run(chrome, "iterations of A as json"))["rows"]
check([r["values"][:2] for r in visits] == [[0, 1], [12, 1]], f"visits of A: {visits}")

# Visits that follow one another at once are as many as there are.
steps = [{"ph": "X", "name": "loop", "ts": 0, "dur": 1000000, "pid": 1, "tid": 1}] + [
    {"ph": "X", "name": "step", "ts": i * 10000, "dur": 10000, "pid": 1, "tid": 1} for i in range(100)]
back_to_back = write("steps.json", json.dumps({"traceEvents": steps}))
check(len(json.loads(run(back_to_back, "iterations of step as json"))["rows"]) == 100, "a hundred steps, one right behind the other")
check(len(json.loads(run(back_to_back, "iterations of loop as json"))["rows"]) == 1, "the loop around them is one")
check_slices("steps", back_to_back, 1)

# Formats without times say so.
speedscope = write("x.speedscope.json", json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [{"name": "a"}]},
                   "profiles": [{"type": "evented", "name": "x", "unit": "seconds", "startValue": 0, "endValue": 2,
                                 "events": [{"type": "O", "frame": 0, "at": 0}, {"type": "C", "frame": 0, "at": 2}]}]}))
folded = write("x.folded", "a;b 3\n")
for path in (speedscope, folded):
    check("no traces" in run(path, "procedures during 0%..50%", status=2), f"{path} knows no time")

finish()
