#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What exact events cost programs that allocate or write all the time: CPU time by that of the bare program, medians of runs in turns. Beside
`-e ALLOC` the same of heaptrack and of gperftools' heap profiler, where they are here. HQ as for tests/run; BEFORE: another hq, whose cost ours is compared with.

    tests/bench/exact.py [ROUNDS]
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from lib.workloads import spent

HQ, BEFORE = os.environ.get("HQ", "./hq"), os.environ.get("BEFORE")
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 7
TCMALLOC = "/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4"
BASH = "i=0; while ((i < 30000)); do x=a$i; y=${x#a}; a[i%10]=$y; ((i++)); done"
PYTHON = "d = {}\nfor i in range(60000): d[i % 1000] = [str(i) * 20, list(range(80))]"
SQL = """with recursive c(x) as (select 1 union all select x + 1 from c where x < 60000)
select count(distinct substr(hex(x * 7919), 1, 5)), sum(length(hex(x) || x)) from c;"""


def seconds(command, environment):
    return spent(lambda: subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **environment}))[0]


def measure(name, event, command, scratch):
    ways = {"bare": (command, {}), "hq": ([HQ, "record", "--force", "-e", event, "-o", scratch + "/hq.hq", "--", *command], {})}
    if BEFORE:
        ways["before"] = ([BEFORE, "record", "--force", "-e", event, "-o", scratch + "/before.hq", "--", *command], {})
    if event == "ALLOC" and shutil.which("heaptrack"):
        ways["heaptrack"] = (["heaptrack", "-o", scratch + "/heaptrack", *command], {})
    if event == "ALLOC" and os.path.exists(TCMALLOC) and name != "bash":    # which has a malloc of its own then
        ways["gperftools"] = (command, {"LD_PRELOAD": TCMALLOC, "HEAPPROFILE": scratch + "/heap"})
    times = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, (run, environment) in ways.items():
            times[way].append(seconds(run, environment))
    bare = times.pop("bare")
    line = f"{event}, {name}: bare {statistics.median(bare):.2f} s"
    for way, measured in times.items():
        line += f", {way} {statistics.median(m / b for m, b in zip(measured, bare)):.2f} times that"
    if BEFORE:
        more = [(m - b) / (o - b) for m, o, b in zip(times["hq"], times["before"], bare) if o > b]
        line += f"; what it takes more by what it took before: {statistics.median(more):.2f}"
    print(line, flush=True)


with tempfile.TemporaryDirectory() as directory:
    for compiler, source in ("g++", "allocated.cc"), ("gcc", "written.c"):
        subprocess.run([compiler, "-O2", "-o", f"{directory}/{source.split('.')[0]}", "tests/bench/" + source], check=True)
    for name, event, command in (("std::map", "ALLOC", [directory + "/allocated", "10"]),
                                 ("bash", "ALLOC", ["bash", "-c", BASH]),
                                 ("python3", "ALLOC", [sys.executable, "-c", PYTHON]),
                                 ("sqlite3", "ALLOC", ["sqlite3", ":memory:", SQL]),
                                 ("short writes", "IO", [directory + "/written", "300000"])):
        if shutil.which(command[0]):
            measure(name, event, command, directory)
