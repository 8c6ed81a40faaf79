#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the clocks of CPUTIME cost beside each other: CPU time of starting programs, of 20,000 threads in a row, and of 400,000 round trips
between two threads, with timers, the software clock as `auto` takes it, and as `--clock=perf` does, as ratios of runs in turns, ROUNDS
(default 9) of each; HQ_BENCH_QUICK=1: 3 short ones. The work itself costs the same: what is told of 200/s and 1000/s by overhead.py holds
for the clock that `hq record` takes."""
import os, resource, shutil, subprocess, sys, tempfile
from statistics import median

hq, quick = os.path.realpath(os.environ.get("HQ", "./hq")), os.environ.get("HQ_BENCH_QUICK")
rounds = int(os.environ.get("ROUNDS", "3" if quick else "9"))
here, room = os.path.dirname(os.path.realpath(__file__)), tempfile.mkdtemp()


def compile(name):
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-pthread", "-o", f"{room}/{name}", f"{here}/{name}.c"], check=True)


def cost(clock, rate, command):
    """Seconds of CPU time of the command, and of `hq record` itself."""
    prefix = [] if clock == "bare" else [hq, "record", f"--clock={clock}", "-e", f"CPUTIME@{rate}/s", "-f", "-o", f"{room}/run.hq", "--"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*prefix, *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


CLOCKS = ("bare", "timer", "auto", "perf")


def compare(what, rate, command, count, unit):
    costs = [[cost(clock, rate, command) for clock in CLOCKS] for _ in range(rounds)]
    each = ", ".join(f"{clock} {median(c[i] for c in costs) / count * 1e6:.1f}" for i, clock in enumerate(CLOCKS))
    ratios = ", ".join(f"{clock} {median(c[i] / c[0] for c in costs):.3f}" for i, clock in enumerate(CLOCKS) if i)
    print(f"{what:34} us a {unit}: {each}; by bare: {ratios}", flush=True)


compile("clock_threads")
compile("clock_changes")
compare("start and end of a program", 200, ["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done"], 11, "process")
compare("threads in a row", 200, [f"{room}/clock_threads", "2000" if quick else "20000"], 2000 if quick else 20000, "thread")
for rate in (200, 1000):
    compare(f"changes of threads, {rate}/s", rate, [f"{room}/clock_changes", "50000" if quick else "400000"], 50000 if quick else 400000, "round trip")
shutil.rmtree(room)
