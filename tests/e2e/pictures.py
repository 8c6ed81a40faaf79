#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# The pictures of doc/phases.md are what hq draws: of a made run of three ranks that take steps of three routines with known rates, rank 2 every fourth time without
# the second. Coordinates may differ by rounding. HQ_UPDATE=1 writes them.
import os
import re
import subprocess
import tempfile

from counting import check, finish, seconds

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HQ = os.environ.get("HQ", os.path.join(TOP, "hq"))
FIXTURE = os.path.join(os.environ.get("BUILD", os.path.join(TOP, "build")), "tools/fixture")
PARTS = (("assemble", 40, 0.5, 1), ("solve", 50, 0.3, 3), ("smooth", 60, 0.2, 0.5))  # line, share of a step, faults by time
STEPS, STEP, GAP, TICK, FAULT = 24, 10000, 600, 430, 310  # us; of a fault at rate 1
HEAD = """metric CPUTIME seconds 1e-9 430000 sampled traced
metric FAULTS events 1 10 sampled traced
module app /src/app
file a app /src/app.c
proc main a main 10
loop steps main 22
proc assemble a assemble 40
proc solve a solve 50
proc smooth a smooth 60
"""
PHASE = "main:12 > steps:23 > phase=step"


def run(faster):
    """The text of a fixture; faster: solve takes two thirds of its time."""
    lines, values = [HEAD], {}
    for rank in range(3):
        at, tick, fault, seed = 1000, 0, 0.0, 7 + rank
        events = []
        for step in range(STEPS):
            seed = (seed * 1103515245 + 12345) % 2**31
            length = STEP * (0.97 + 0.06 * (seed >> 8) / 2**23)
            events.append((int(at), 0, f"mark p{rank} {int(at)} enter {PHASE}"))
            for name, line, share, rate in PARTS:
                end = at + length * share * (0.66 if faster and name == "solve" else 0 if rank == 2 and step % 4 == 3 and name == "solve" else 1)
                path = f"{PHASE} > steps:25 > {name}:{line + 1}"
                while tick < end:
                    if tick >= at:
                        events.append((int(tick), 1, f"trace p{rank} {int(tick)} CPUTIME 1 {path}"))
                        values[rank, "CPUTIME", path] = values.get((rank, "CPUTIME", path), 0) + 1
                    tick += TICK
                fault = max(fault, at)
                while fault < end:
                    events.append((int(fault), 1, f"trace p{rank} {int(fault)} FAULTS 1 {path}"))
                    values[rank, "FAULTS", path] = values.get((rank, "FAULTS", path), 0) + 1
                    seed = (seed * 1103515245 + 12345) % 2**31
                    fault += FAULT / rate * (0.5 + seed / 2**31)
                at = end
            events.append((int(at), 2, f"mark p{rank} {int(at)} leave {PHASE}"))
            at += GAP
        lines.append(f"profile p{rank} rank={rank} host=node pid={10 + rank} start=0 end={int(at) + 1000} realtime=1000000000\n")
        lines += [line + "\n" for _, _, line in sorted(events)]
    for (rank, metric, path), n in values.items():
        lines.append(f"value p{rank} {metric} {n * (430000 if metric == 'CPUTIME' else 10)} {n} {path}\n")
    return "".join(lines)


def numbers(text):
    return [float(x) for x in re.findall(r"-?\d+\.?\d*", text)]


def same(a, b):
    """The same but for what rounding makes of coordinates."""
    a, b = (re.sub(r"base64,[^\"]*", "", text) for text in (a, b))  # compressed by whichever zlib there is
    x, y = numbers(a), numbers(b)
    return re.sub(r"-?\d+\.?\d*", "#", a) == re.sub(r"-?\d+\.?\d*", "#", b) and len(x) == len(y) and all(abs(p - q) <= 0.3 for p, q in zip(x, y))


BY = 'of phases of phase "step" by length / 1s, faults eps 0.15 min 5'
PICTURES = {
    "fold": 'fold of phase "step"',
    "compare": 'fold of phase "step" compare with {old}',
    "clusters": f"clusters {BY}",
    "when": f"trace of clusters {BY} width 600 height 60",
}
with tempfile.TemporaryDirectory(prefix="hq-pictures.") as scratch:
    for name in "new", "old":
        with open(os.path.join(scratch, name + ".fixture"), "w") as out:
            out.write(run(name == "new"))
        subprocess.run([FIXTURE, os.path.join(scratch, name + ".fixture"), os.path.join(scratch, name)], check=True)
    for name, query in PICTURES.items():
        path = os.path.join(TOP, "doc", f"phases-{name}.svg")
        done = subprocess.run([HQ, "new" if name in ("fold", "compare") else "old", query.format(old="old") + " as svg"], cwd=scratch, capture_output=True, text=True, timeout=seconds(100))
        if os.environ.get("HQ_UPDATE"):
            with open(path, "w") as out:
                out.write(done.stdout)
        check(done.returncode == 0 and done.stdout.startswith("<svg"), f"{name}: {done.stderr}")
        wide = float(re.search(r'<svg [^>]*width="([\d.]+)"', done.stdout)[1])
        check(name == "when" or wide <= 930, f"{name}: the legend makes the picture no wider: {wide}")
        check(os.path.exists(path) and same(done.stdout, open(path).read()), f"{name}: doc/phases-{name}.svg is another picture; HQ_UPDATE=1 writes it")
    # A legend adds up to the picture and stays in it: 45 procedures, of which 40 are listed, one of 400 letters, and a rank without a sample.
    names = ["n" * 400] + [f"p{i}" for i in range(44)]
    with open(os.path.join(scratch, "many.fixture"), "w") as out:
        out.write("metric CPUTIME seconds 0.001 1 sampled traced\nmodule m /x/m\nfile f m /x/f.c\nprofile p rank=0 start=0 end=460000\nprofile r rank=1 start=0 end=460000\n")
        out.write("".join(f'proc q{i} f "{n}" {i + 1}\nvalue p CPUTIME 10 10 q{i}:{i + 1}\n' for i, n in enumerate(names)))
        out.write("trace r 1000 CPUTIME 1 q0:1\n")
        out.write("".join(f"trace p {(10 * i + k) * 1000 + 1000} CPUTIME 1 q{i}:{i + 1}\n" for i in range(len(names)) for k in range(10)))
    subprocess.run([FIXTURE, os.path.join(scratch, "many.fixture"), os.path.join(scratch, "many")], check=True)
    drawn = subprocess.run([HQ, "many", "trace width 300 height 30 as svg"], cwd=scratch, capture_output=True, text=True, timeout=seconds(100)).stdout
    wide, high = (float(x) for x in re.search(r'<svg [^>]*width="([\d.]+)" height="([\d.]+)"', drawn).groups())
    rows = [(float(share.rstrip("%")), float(x), float(y), name) for share, x, y, name in re.findall(r'text-anchor="end">([\d.]+%)</text><text x="([\d.]+)" y="([\d.]+)">([^<]*)<', drawn)]
    check(len(rows) == 42 and rows[40][3] == "... 5 more" and rows[41][3].startswith("no samples"), f"the legend: {rows[-3:]}")
    check(abs(sum(r[0] for r in rows) - 100) < 42 * 0.05, f"its shares add up to the picture: {sum(r[0] for r in rows)}")
    check(all(x + 6.6 * len(name) <= wide and y < high for _, x, y, name in rows), f"it stays in the picture, {wide} x {high}: {max(rows, key=lambda r: len(r[3]))}")
finish()
