# SPDX-License-Identifier: BSD-3-Clause
"""Baselines of programs that live in system calls: what the hour may have made of a share is inconclusive, what it may not fails."""

import os
import re
import subprocess

from counting import check, finish

HQ, TMP, TOP, BUILD = (os.environ[v] for v in ("HQ", "HQ_TEST_TMP", "TOP", "BUILD"))

HEAD = """info command ./app
metric cputime seconds 1e-9 5000000 sampled
module prog /src/app
module libc /usr/lib/x86_64-linux-gnu/libc.so.6
file a prog a.c
file c libc io.c
proc main a main 1
proc f a f 10
proc g a g 20
proc write c write 30
profile p host=h pid=1 tid=1 command=/src/app end=10000000
"""


def runs(**percent):
    """Three runs of 20,000 samples, which differ a little."""
    names = []
    for i in range(3):
        names.append("_".join(percent) + "_" + "_".join(map(str, percent.values())) + f".{i}.hq")
        text = HEAD
        for scope, share in percent.items():
            n = 200 * share + (i if scope == "f" else 0)
            text += f"value p cputime {n * 5000000} {n} main:3 > {scope}:31\n"
        with open(f"{TMP}/{names[-1]}.txt", "w") as f:
            f.write(text)
        subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/{names[-1]}.txt", f"{TMP}/{names[-1]}"], check=True)
    return names


def hq(databases, *args, want):
    more = [word for d in databases[1:] for word in ("--run", d)]
    r = subprocess.run([HQ, "check", databases[0], "q.hq", *more, *args], cwd=TMP, capture_output=True, text=True)
    check(r.returncode == want, f"{databases[0]} {args}: status {r.returncode}, not {want}: {r.stdout}{r.stderr}")
    return r.stdout


with open(f"{TMP}/q.hq", "w") as f:
    f.write("procedures\n")
hq(runs(f=58, g=0, write=42), "--update", want=0)
with open(f"{TMP}/q.baseline") as f:
    baseline = f.read()
check("\nsystem: 40%\n" in baseline, f"the baseline knows how much is in the system: {baseline}")
# Twice 0.42 (1 - 0.42) / (1 + 0.42): such time twice as long in the next hour.
check(re.search(r"\ncputime\.x 4[12]\.\d+% \+-35% of .*: procedure write\n", baseline) and
      re.search(r"\ncputime\.x 58\.\d+% \+-10% of .*: procedure f\n", baseline),
      f"rows in the system have a wider tolerance: {baseline}")
out = hq(runs(f=46, g=0, write=54), "--verbose", want=0)
check("ruled out where the tolerance is wider: a rise of 12." in out and "procedure write, tolerance 35; hq race finds smaller ones" in out,
      f"which passes, and says so: {out}")
out = hq(runs(f=38, g=0, write=62), want=4)
check("rose: cputime of procedure write: 42.0% -> 62.0%" in out and "cannot tell: 62% of the time is in the system" in out and
      "may raise a share by 28.6 points: race it (hq race)" in out, f"what the hour may have made: {out}")
check("because:" in out or "where it is now:" in out, f"where it is, is told all the same: {out}")
out = hq(runs(f=22, g=0, write=78), want=1)
check("cannot tell" not in out, f"more than that: {out}")
out = hq(runs(f=54, g=6, write=40), want=1)       # nothing that computes rises by the hour while the system takes what it took
check("cputime of procedure g: 0.5% -> 6.0%" in out, f"a rise of what computes: {out}")
hq(runs(f=90, g=0, write=10), want=4)            # all but the system takes a larger part where the system takes less
hq(runs(f=73, g=20, write=7), want=4)            # one row fell by more than is new: it may have been part of that
hq(runs(f=38, g=30, write=32), want=1)           # both fell: it is extra
with open(f"{TMP}/q.baseline", "w") as f:
    f.write(re.sub("system: .*\n", "", baseline))
hq(runs(f=38, g=0, write=62), want=1)            # a baseline of before says nothing of it
with open(f"{TMP}/q.baseline", "w") as f:
    f.write(baseline.replace("system: 40%", "system: much"))
check("wrong number" in hq(runs(f=38, g=0, write=62), want=3), "a wrong line is told")

# A program that computes is judged as before.
hq(runs(f=66, g=30, write=4), "--update", want=0)
with open(f"{TMP}/q.baseline") as f:
    check("system:" not in f.read(), "little of it is not said")
hq(runs(f=56, g=40, write=4), want=1)
finish()
