#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""doc/tutorial.md is true: its commands work in their order, and the answers have the headings and the scopes that it shows."""
import os
import re
import shutil
import subprocess

from counting import check, finish, seconds

TOP, TMP, HQ = (os.environ[v] for v in ("TOP", "HQ_TEST_TMP", "HQ"))


def steps(page):
    """(command, what the page shows of its output)"""
    for block in re.findall(r"^```console\n(.*?)^```$", page, re.S | re.M):
        for step in re.split(r"^\$ ", block, flags=re.M)[1:]:
            yield step.split("\n", 1)


def words(line):
    return re.sub(r"[├└│]", " ", line).split()


def scopes(text):
    """The names in the rows of a result: what stands behind the numbers. Code without a name stands for its load module."""
    found = (re.match(r" *\d+ .*(?:\d m?s|%) +(?:[\d.]+ +)*(?:\* +)?(?:\[I\] )?(?:loop at )?(\S+)", re.sub(r"[├└│]", " ", line)) for line in text.splitlines())
    return {re.sub(r"[.\d]*\+0x.*", "", row.group(1)) for row in found if row}


os.symlink(HQ, f"{TMP}/hq")
os.symlink(f"{TOP}/examples", f"{TMP}/examples")
for command, shown in steps(open(f"{TOP}/doc/tutorial.md").read()):
    if "flame" in command and not shutil.which("mpicc"):
        continue
    done = subprocess.run(["bash", "-c", command], cwd=TMP, capture_output=True, text=True, timeout=seconds(200))
    check(done.returncode == 0, f"{command}: status {done.returncode}: {done.stdout}{done.stderr}")
    got = done.stdout + done.stderr
    for line in shown.splitlines():
        if line.lstrip().startswith("#"):
            check(any(words(line) == words(other) for other in got.splitlines()), f"{command}: there is no heading {line}:\n{got}")
        if line.startswith(("TAP", "ok ")):
            check(line in got, f"{command}: it does not say {line}:\n{got}")
    # Some sixty samples: the smaller rows come and go. A third of the scopes is there unless the page is about another program.
    there, wanted = scopes(shown), scopes(got)
    check(3 * len(there & wanted) >= len(there), f"{command}: of {sorted(there)} there are {sorted(there & wanted)}:\n{got}")
finish()
