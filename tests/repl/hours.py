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
            n = round(200 * share) + (i if scope == "f" else 0)
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
hq(runs(f=50, g=8, write=42), "--update", want=0)
with open(f"{TMP}/q.baseline") as f:
    baseline = f.read()
check(baseline.startswith("hq baseline 3\n") and "\nsystem: 40%\n" in baseline, f"the baseline knows how much is in the system: {baseline}")
# What computes is of that: 50 of 58. Twice 0.42 (1 - 0.42) / (1 + 0.42): such time twice as long in the next hour.
check(re.search(r"\ncputime\.system\.x 4[12]\.\d+% \+-35% of .*: procedure write\n", baseline) and
      re.search(r"\ncputime\.x 86\.2\d% \+-10% of .*: procedure f\n", baseline) and not re.search(r"\ncputime .*: procedure write\n", baseline),
      f"what computes is apart, and what is in the system has a wider tolerance: {baseline}")
out = hq(runs(f=40, g=6.4, write=53.6), "--verbose", want=0)
check("points of what computes" in out and "ruled out where the tolerance is wider: a rise of 12." in out and
      re.search(r"(procedure write|procedure main), tolerance 35; hq race finds smaller ones", out) and "shares are of what computes, 46% of the time" in out,
      f"which passes, and says so: {out}")
out = hq(runs(f=50, g=8, write=80), "--verbose", want=0)  # twice as long in the system: what computes is what it was
check("all cputime that computes: 58 s -> 58 s in a run" in out and "all cputime: 100 s -> 138 s" in out, f"and so are its seconds: {out}")
out = hq(runs(f=50, g=16, write=80), want=1)              # which hides no rise of what computes
check("rose: cputime of procedure g: 13.8% -> 24.2%" in out and "cannot tell" not in out, f"nothing hides a rise: {out}")
out = hq(runs(f=32, g=5.1, write=62), want=4)
check("rose: cputime.system of procedure write: 42.0% -> 62." in out and "cannot tell: 63% of the time is in the system" in out and
      "may raise a share by 28.6 points: race it (hq race)" in out, f"what the hour may have made: {out}")
check("because:" in out or "where it is now:" in out, f"where it is, is told all the same: {out}")
out = hq(runs(f=19, g=3, write=78), want=1)
check("cannot tell" not in out, f"more than that: {out}")
hq(runs(f=50, g=8, write=10), want=0)            # less in the system changes nothing of what computes
hq(runs(f=31, g=25, write=40), want=1)           # no machine makes that of it
out = hq(runs(f=25, g=8, write=21), want=4)      # all but one takes half: it did not become slower
check("cannot tell: the rest of the program takes other seconds" in out, f"the machine, or the rest: {out}")
with open(f"{TMP}/q.baseline", "w") as f:
    f.write(re.sub("system: .*\n", "", baseline))
hq(runs(f=32, g=5.1, write=62), want=1)          # without it nothing is known of hours
with open(f"{TMP}/q.baseline", "w") as f:
    f.write(baseline.replace("hq baseline 3", "hq baseline 2").replace("+-35%", "+-12%"))
hq(runs(f=50, g=8, write=42), want=2)            # one of before had shares of all
hq(runs(f=50, g=8, write=42), "--update", want=0)
with open(f"{TMP}/q.baseline") as f:
    again = f.read()
check(again == baseline.replace("+-35%", "+-12%"), f"an update writes it again, with its tolerances: {again}")
with open(f"{TMP}/q.baseline", "w") as f:
    f.write(baseline.replace("system: 40%", "system: much"))
check("wrong number" in hq(runs(f=38, g=0, write=62), want=3), "a wrong line is told")

# A program that computes is judged as before.
hq(runs(f=66, g=30, write=4), "--update", want=0)
with open(f"{TMP}/q.baseline") as f:
    check("system:" not in f.read(), "little of it is not said")
hq(runs(f=56, g=40, write=4), want=1)
finish()
