#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The program of `make demo`: its questions lead to what was planted, a strip with all of the flame."""
import json
import os
import shutil
import subprocess
import sys

from counting import check, finish, seconds

TOP, TMP, HQ = (os.environ[v] for v in ("TOP", "HQ_TEST_TMP", "HQ"))
if not shutil.which("mpicc"):
    print("skipped: there is no mpicc")
    sys.exit(77)


def run(*command):
    done = subprocess.run(command, cwd=TMP, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=seconds(300),
                          env={**os.environ, "OMP_NUM_THREADS": "2"})
    check(done.returncode == 0, f"{command}: {done.returncode}: {done.stderr}")
    return done.stdout


run("mpicc", "-O2", "-g", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-o", "flame", f"{TOP}/examples/flame.c", "-lm")
kind = "mpich" if "libmpich" in run("ldd", "flame") else "openmpi"
out = run(HQ, "record", "-o", "demo.hq", "--", shutil.which(f"mpirun.{kind}") or "mpirun", "-n", "2", "./flame", "120")
check("in 120 steps on 2 ranks" in out, f"it ran: {out}")
summary = [(r["name"], *r["values"]) for r in json.loads(run(HQ, "--quiet", "demo.hq", "summary as json"))["rows"]]
balance = [value for name, value, _ in summary if name == "balance"]
check(balance and "rank 0 has" in balance[0] and "perfect balance would save" in balance[0], f"the first look tells of the balance: {summary}")
rows = json.loads(run(HQ, "--quiet", "demo.hq", "threads of react per rank as json"))["rows"]
values = {r["name"]: r["values"][0] or 0 for r in rows}
# A burning cell takes 24 steps for 1: by the rows of the strips (85 of 128 against none) 16 times as many, and its exp() is dearer. Threads that wait inside of
# the region count, too, and on busy processors they wait long.
check(values["rank 0"] > 2 * values["rank 1"], f"the first rank has the flame: {values}")
hot = [name for name, *_ in ((r["name"],) for r in json.loads(run(HQ, "--quiet", "demo.hq", "loops sort by cputime columns cputime, cputime.x as json"))["rows"])]
check(any(name.startswith("loop at flame.c") for name in hot[:3]), f"its loop is among the first: {hot[:5]}")
callers = run(HQ, "--quiet", "demo.hq", "callers of MPI_Allreduce limit 3 depth 4")
check("gather" in callers, f"the other rank waits in gather: {callers}")
check("* rate(" in run(HQ, "--quiet", "demo.hq", "source of burn"), "the source is shown")
run(HQ, "report", "demo.hq", "--with-source")
check(os.path.getsize(f"{TMP}/demo.html") > 50000 or not os.path.exists(f"{TOP}/build/page/page.js"), "and the page is written")
finish()
