# SPDX-License-Identifier: BSD-3-Clause
"""Runs completion.txt: what Tab offers at each place, on a made database."""

import os
import re
import subprocess

from counting import seconds

HQ, TMP, TOP, BUILD = (os.environ[v] for v in ("HQ", "HQ_TEST_TMP", "TOP", "BUILD"))
passed = failed = 0
FIXTURE = """info command ./app
metric cputime seconds 1e-9 5000000 sampled
module app /opt/app
file solver app /src/solver.c
file part app "/src/main part.c"
proc main part main 1
proc push part "std::list<int>::push_back(int)" 5
proc solve solver solve 10
proc small solver solve_small 20
proc sort part "void std::sort<int*>(int*, int*)" 30
profile p rank=0 host=node1 pid=1 tid=1 command=/opt/app end=10000000
profile q rank=1 host=node2 pid=1 tid=1 command=/opt/app end=10000000
value p cputime 300000000 60 main:2 > push:6 > solve:11
value p cputime 50000000 10 main:2 > push:6
value p cputime 1000000 1 main:2 > phase=step > solve:12
value q cputime 1000000 1 main:2 > phase=setup > solve:12
value q cputime 10000000 2 main:3 > small:21
value q cputime 5000000 1 main:3 > sort:31
"""


def run(*command):
    done = subprocess.run(command, cwd=TMP, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=seconds(60))
    if done.returncode:
        raise SystemExit(f"{command}: {done.stderr}")
    return done.stdout


def offers(text):
    """What would be typed, whether there is more, and what else may stand there."""
    lines = run(f"{TOP}/{BUILD}/tools/completing", "completion.hq", text.replace("\\n", "\n")).splitlines()
    sorts = [line[1:-1] for line in lines if line.startswith("(") and line.endswith(")")]
    return [line.split("\t")[0] for line in lines if "\t" in line], sorts[0] if sorts else ""


def fits(row):
    text, wanted, sorts = re.fullmatch(r"`(.*)` ->(.*?)(?: ?; (.*))?", row).groups()
    words = [w.replace("+", " ") for w in wanted.split()]
    more = words[-1:] == ["..."]
    words = words[:-1] if more else words
    got, other = offers(text)
    return (got[:len(words)] == words if more else got == words) and (sorts is None or other == sorts), f"{got} ({other})"


open(f"{TMP}/fixture.txt", "w").write(FIXTURE)
for name in ("completion.hq", "old.hq", "sub/deep.hq"):
    os.makedirs(f"{TMP}/{name}/..", exist_ok=True)
    os.makedirs(f"{TMP}/sub", exist_ok=True)
    run(f"{TOP}/{BUILD}/tools/fixture", "fixture.txt", name)
open(f"{TMP}/queries.txt", "w").write("tree\n")
open(f"{TMP}/completing_test", "w").write("#!/bin/sh\n")
os.chmod(f"{TMP}/completing_test", 0o755)
os.environ["PATH"] += f":{TMP}"
os.environ["HQ_QUERIES"] = f"{TOP}/examples/queries"
for row in open(f"{TOP}/tests/repl/completion.txt"):
    row = row.rstrip("\n")
    if not row.startswith("`"):
        continue
    good, got = fits(row)
    passed += good
    failed += not good
    if not good:
        print(f"FAILED: {row}\n  got {got}")
for text in ("", "trace ", "tree ", "set "):
    lines = run(f"{TOP}/{BUILD}/tools/completing", "completion.hq", text).splitlines()
    silent = [line for line in lines if line.endswith("\t")]
    passed += not silent
    failed += bool(silent)
    if silent:
        print(f"FAILED: nothing is said of {silent}, which may stand after `{text}`")
print(f"{passed} passed, {failed} failed")
raise SystemExit(1 if failed else 0)
