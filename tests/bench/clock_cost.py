#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the clocks of CPUTIME cost beside each other: CPU time of starting programs and of 20,000 threads in a row, with the software clock
and with timers, as ratios of runs in turns, ROUNDS (default 9) of each; HQ_BENCH_QUICK=1: 3 short ones. The work itself costs the same:
what is told of 200/s and 1000/s by overhead.py holds for the clock that `hq record` takes."""
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


def compare(what, rate, command, count, unit):
    costs = [[cost(clock, rate, command) for clock in ("bare", "timer", "perf")] for _ in range(rounds)]
    bare, timer, perf = (median(c[i] for c in costs) for i in range(3))
    print(f"{what:34} bare {bare / count * 1e6:8.1f} us, timer {timer / count * 1e6:8.1f}, perf {perf / count * 1e6:8.1f} a {unit}; "
          f"perf by timer {median(c[2] / c[1] for c in costs):.3f}, timer by bare {median(c[1] / c[0] for c in costs):.3f}", flush=True)


compile("clock_threads")
compare("start and end of a program", 200, ["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done"], 11, "process")
compare("threads in a row", 200, [f"{room}/clock_threads", "2000" if quick else "20000"], 2000 if quick else 20000, "thread")
shutil.rmtree(room)
