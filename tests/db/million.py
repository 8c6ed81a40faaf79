#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""100,000 different call paths, each recorded once by an exact event: what they cost in memory and in files, and that every level of them adds up. PATHS=6: a million."""
import json
import os
import resource
import subprocess

from counting import check, finish, seconds

HQ, TMP, TOP, BUILD = (os.environ[v] for v in ("HQ", "HQ_TEST_TMP", "TOP", "BUILD"))
DIGITS = int(os.environ.get("PATHS", "5"))
PATHS, database = 10 ** DIGITS, f"{TMP}/million.hq"


def run(*command):
    done = subprocess.run([HQ, *command], capture_output=True, text=True, timeout=seconds(350))
    check(done.returncode == 0, f"{command}: status {done.returncode}: {done.stderr}")
    return done.stdout


def rows(question):
    return json.loads(run(database, f"{question} columns alloc_calls, alloc_bytes as json"))["rows"]


out = run("record", "-o", database, "-e", "ALLOC", "--", f"{TOP}/{BUILD}/programs/million", str(DIGITS))
check(out == f"{PATHS}\n", f"the program counts its paths: {out}")
memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
check(memory < 1000 * PATHS + (20 << 20), f"memory of the measured process: {memory / PATHS} bytes a path")
size = sum(os.stat(f"{database}/measurements/{name}").st_size for name in os.listdir(f"{database}/measurements"))
check(size < 250 * PATHS, f"measurements: {size / PATHS} bytes a path")
run("build", database)
size = os.path.getsize(f"{database}/hq.db")
check(size < 900 * PATHS, f"database: {size / PATHS} bytes a path")
check("whole" in run("verify", database), "the database is whole")

(whole,) = [r for r in rows("procedures") if r["name"] == "level"]
check(whole["values"] == [PATHS, 16 * PATHS], f"all paths: {whole}")
for depth in range(1, 4):
    level = [r["values"] for r in rows(f"tree of level all depth {depth + 1}") if r["depth"] == depth and r["name"] == "level"]
    check(len(level) == 10 ** depth and all(v == [PATHS // 10 ** depth, 16 * PATHS // 10 ** depth] for v in level), f"depth {depth}: {len(level)} rows, {level[:3]}")
callers = [r["values"][0] for r in rows("callers of malloc depth 2") if r["name"] == "level" and r["depth"] == 1]
check(sum(callers) == PATHS, f"callers: {callers}")
finish()
