# SPDX-License-Identifier: BSD-3-Clause
"""The CI recipe of doc/checks.md, as it stands there: the same program passes, a slower one fails, too short a run is
inconclusive, and the baseline can be written again. Shares are chosen so that each outcome is five standard deviations away from another."""

import re
import xml.etree.ElementTree

from lib import *

TOP = os.environ["TOP"]
text = open(f"{TOP}/doc/checks.md").read()
os.makedirs(f"{TMP}/perf")


def write(name, content, mode=0o644):
    with open(f"{TMP}/{name}", "w") as f:
        f.write(content)
    os.chmod(f"{TMP}/{name}", mode)


for script in re.findall(r"```sh\n(.*?)```", text, re.S):
    name = re.search(r"perf/\w+\.sh", script).group()
    write(name, script, 0o755)
shares = next(b for b in re.findall(r"```hq\n(.*?)```", text, re.S) if "perf/shares.hq" in b)
write("perf/shares.hq", shares)
write("perf/limits.hq", "procedures of solve expect cputime < 55%\nprocedures expect rows >= 3\n")
env = dict(os.environ, PATH=os.path.dirname(HQ) + ":" + os.environ["PATH"])


def app(seconds, factor):
    write("app", f"#!/bin/sh\nexec {PROGRAMS}/benchmark {seconds} {factor}\n", 0o755)


def step(name, want, what):
    status, out, err = run("sh", f"perf/{name}.sh", env=env)
    check(status in want if isinstance(want, tuple) else status == want, f"{what}: exit status {status}, not {want}; {out[-1500:]}{err[-500:]}")
    return out


app(1.5, 1)
step("update", 0, "the baseline of five runs is written")
baseline = open(f"{TMP}/perf/shares.baseline").read()
for name in ("read_input", "solve", "write_output"):
    check(re.search(rf"^cputime \d.*: procedure {name}$", baseline, re.M), f"the baseline has {name}:\n{baseline}")

# On a machine that others use, five runs may differ too much to tell.
step("check", (0, 4), "the same program again does not fail")

app(1.5, 3)
out = step("check", 1, "solve made three times as slow fails")
check("rose: cputime of procedure solve" in out, f"solve is named:\n{out}")
check(re.search(r"because: \+[\d.]+ points in main > solve", out), f"the context is named:\n{out}")
check(re.search(r"solve: [\d.]+% \[[\d.]+%, [\d.]+%\], limit 55%", out), f"a failed limit says what was measured:\n{out}")
check(re.search(r"^not ok \d+ - perf/limits.hq:1: procedures of solve expect cputime < 55%$", out, re.M), f"the limit fails:\n{out}")
report = xml.etree.ElementTree.parse(f"{TMP}/perf.xml").getroot()
check(sum(int(s.get("failures")) for s in report) >= 2, "perf.xml counts the failures")
markdown = open(f"{TMP}/perf.md").read()
check("because: +" in markdown and "because: +" in open(f"{TMP}/perf.xml").read(), "both reports name the context")
check(markdown.startswith("### hq check: ") and "**FAIL**" in markdown, f"perf.md tells of the failure:\n{markdown}")
status, out, err = run(HQ, "check", "--bisect", "perf.runs", "perf/limits.hq", "perf/shares.hq")
check(status == 1, f"--bisect calls it bad: {status}")

status, out, err = run(HQ, "check", "--update", "perf.runs", "perf/limits.hq", "perf/shares.hq")
check(status == 1, f"writing the baseline again leaves the limit failed: {status}")
status, out, err = run(HQ, "check", "perf.runs", "perf/shares.hq")
check(status in (0, 4) and "rose:" not in out, f"its own runs do not fail by the new baseline: {status}\n{out}")

app(0.03, 3)
status, out, err = run(HQ, "record", "--force", "-o", "short.hq", "--", "./app")
status, out, err = run(HQ, "check", "short.hq", "perf/shares.hq")
check(status == 4, f"too short a run is inconclusive: {status}\n{out}")
check("# TODO inconclusive" in out and "record several runs (hq record --runs 5)" in out, f"it says what to do:\n{out}")
with open(f"{TMP}/perf/shares.baseline") as f:
    baseline = f.read()
check(re.search(r"^clock: \S", baseline, re.M), f"the baseline tells its clock:\n{baseline[:300]}")
check("CPUTIME was sampled by" not in out, f"the same clock is not worth a word:\n{out}")
write("perf/sundial.hq", shares)
write("perf/sundial.baseline", re.sub(r"^clock: .*", "clock: a sundial", baseline, flags=re.M))
status, out, err = run(HQ, "check", "short.hq", "perf/sundial.hq")
check("in this run and by a sundial in the baseline's" in out, f"another clock is told:\n{out}")
status, out, err = run(HQ, "check", "--bisect", "short.hq", "perf/shares.hq")
check(status == 125, f"--bisect skips it: {status}")
status, out, err = run(HQ, "check", "--bisect", "--inconclusive=pass", "short.hq", "perf/shares.hq")
check(status == 2 and "nobody could judge" in err, f"--bisect never calls good what nobody could judge: {status} {err}")
finish()
