#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What measuring costs, against its goals: CPU time of real programs under hq, an empty handler at the same rate, gperftools and `perf record -g`.

Three things are measured, for they hide each other: what a sample costs (by so many samples that their cost stands far above the noise), what starting
and finishing costs (/bin/true), and the ratio of CPU time at ordinary rates, which holds both. Runs that are compared come one after the other,
in an order that changes.

HQ_BENCH_MINUTES (14) is how long it may take; HQ_BENCH_QUICK=1 stands for three minutes. HQ_BENCH_PROGRAMS=NAME,... chooses programs,
HQ_BENCH_RATES (200,1000) the ordinary rates. Exit status 1 if a goal was missed."""
import os
import random
import shutil
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/lib")
from estimate import estimate, per_sample, per_sample_ratio, verdict          # noqa: E402
from profilers import Empty, Gperftools, Hq, Perf, Profiler                   # noqa: E402
from workloads import Workload, workloads                                     # noqa: E402

HQ, BUILD = os.path.abspath(os.environ.get("HQ", "./hq")), os.path.abspath(os.environ.get("BUILD", "build"))
QUICK = os.environ.get("HQ_BENCH_QUICK", "0") != "0"
SECONDS = 60 * float(os.environ.get("HQ_BENCH_MINUTES", "3" if QUICK else "14"))
RATES = [int(r) for r in os.environ.get("HQ_BENCH_RATES", "200,1000").split(",")]
GOALS = {200: 1.01, 1000: 1.04}
MANY, GPERFTOOLS_MOST = 20000, 4000     # signals a second
BEGUN = time.monotonic()


def text(interval, digits=2, unit=""):
    return f"{interval[0]:.{digits}f}{unit} [{interval[1]:.{digits}f}, {interval[2]:.{digits}f}]" if interval else "-"


class Goals:
    """The rows of the table at the end."""

    def __init__(self):
        self.rows, self.missed = [], False

    def add(self, what, goal, interval, digits=2):
        judged = verdict(interval, goal)
        self.missed |= judged == "missed"
        self.rows.append((what, f"<= {goal}", text(interval, digits), judged))

    def show(self):
        rows = [("goal", "bound", "measured [95 % interval]", "")] + self.rows
        widths = [max(len(r[i]) for r in rows) for i in range(4)]
        print("\n" + "\n".join("  ".join(c.ljust(w) for c, w in zip(r, widths)).rstrip() for r in rows))


def under(workload, n, tool, rate, clock):
    """(CPU seconds, elapsed seconds, samples) of a run under a profiler."""
    tool.prepare()
    cpu, wall = workload.run(n, tool.prefix(rate, clock), tool.environment(rate, clock))
    return cpu, wall, tool.samples()


def start_and_finish(work, tools, goals):
    """/bin/true: nothing but starting and finishing."""
    true = Workload("true", lambda n: ["/bin/true"], work)
    times = {}
    for _ in range(20 if QUICK else 60):
        bare = true.run(1)
        for name, tool in tools:
            cpu, wall, _ = under(true, 1, tool, 200, "CPUTIME")
            times.setdefault(name, []).append((1000 * (cpu - bare[0]), 1000 * (wall - bare[1])))
    print("Starting and finishing, on /bin/true, milliseconds more than bare: CPU, elapsed")
    for name, rounds in times.items():
        cpu, wall = (estimate([[r[i]] for r in rounds]) for i in (0, 1))
        print(f"  {name:24} {text(cpu):24} {text(wall)}")
        if name == "hq, the library":
            goals.add("start and finish on /bin/true, CPU ms", 3, cpu)
            goals.add("the same, elapsed ms", 3, wall)


def shuffled(runs, chance=random.Random(1)):
    """In an order that changes, lest what comes first be always the one with the cold file cache."""
    return chance.sample(runs, len(runs))


def rounds_within(programs, length, seconds):
    """(round, program, units of work that take `length` seconds) for as many rounds as fit, at least one."""
    end = time.monotonic() + seconds
    units = {p.name: p.units(length) for p in programs}
    start, number = time.monotonic(), 0
    while number == 0 or time.monotonic() + (time.monotonic() - start) / number < end:
        for program in programs:
            yield number, program, units[program.name]
        number += 1


def cost_of_samples(programs, tools, seconds, goals):
    """Timers of elapsed time deliver as many signals as are asked for: CPU time more than bare, by sample."""
    cells = {}
    for number, program, n in rounds_within(programs, 1.0 if QUICK else 2.0, seconds):
        row = {}
        for tool, rate in shuffled([(Profiler("bare", ""), 1)] + tools):
            row[tool.name, rate] = under(program, n, tool, rate, "REALTIME")
        bare = row.pop(("bare", 1))[0]
        # Programs that use the signal themselves stop gperftools' timer.
        cells.setdefault(program.name, []).append({key: (cpu - bare, samples) for key, (cpu, _, samples) in row.items() if samples and samples >= 500})
    report_cost(cells, [(t.name, r) for t, r in tools], number + 1, goals)


def pairs(cells, one, other):
    """For each program the rounds that have both."""
    return [[(r[one], r[other]) for r in rounds if one in r and other in r] for rounds in cells.values()]


def report_cost(cells, keys, rounds, goals):
    print(f"\nA sample's cost in microseconds of CPU time, by timers of elapsed time, all of the signal's delivery included; {rounds} rounds")
    print(f"  {'':9}" + "".join(f"{f'{t} {r}/s':>18}" for t, r in keys))
    for name, rows in cells.items():
        values = [[r[k] for r in rows if k in r] for k in keys]
        print(f"  {name:9}" + "".join(f"{per_sample(v):18.2f}" if v else f"{'-':>18}" for v in values))
    for key in keys:
        interval = estimate([[r[key] for r in rows if key in r] for rows in cells.values()], per_sample)
        print(f"  median {key[0]} at {key[1]}/s: {text(interval)}")
    for rate in (MANY, GPERFTOOLS_MOST):
        interval = estimate(pairs(cells, ("hq", rate), ("empty", rate)), per_sample_ratio)
        goals.add(f"a sample's cost by that of an empty handler, {rate}/s", 1.15, interval)
    interval = estimate(pairs(cells, ("hq", GPERFTOOLS_MOST), ("gperftools", GPERFTOOLS_MOST)), per_sample_ratio)
    goals.add(f"a sample's cost by gperftools', {GPERFTOOLS_MOST}/s", 1, interval)


def ordinary(programs, tools, seconds, goals):
    """CPUTIME at ordinary rates: ratios to the bare program, starting and finishing included."""
    cells = {}
    for number, program, n in rounds_within(programs, 2.0 if QUICK else 5.0, seconds):
        # perf is far from all goals: once is enough.
        runs = [(tool, rate) for rate in RATES for tool in tools if tool.name != "perf -g" or number == 0]
        row = {(tool.name, rate): under(program, n, tool, rate, "CPUTIME") for tool, rate in shuffled([(Profiler("bare", ""), 1)] + runs)}
        row["bare"] = row.pop(("bare", 1))
        cells.setdefault(program.name, []).append(row)
    report_ordinary(cells, [t.name for t in tools], number + 1, goals)


def report_ordinary(cells, names, rounds, goals):
    for rate in RATES:
        print(f"\nAt a nominal {rate}/s of CPU time, {rounds} rounds: CPU ratio (elapsed ratio) to the bare program, samples delivered")
        for program, rows in cells.items():
            line = f"  {program:9} bare {statistics.median(r['bare'][0] for r in rows):5.2f} s"
            for name in names:
                runs = [(r[name, rate], r["bare"]) for r in rows if (name, rate) in r]
                cpu, wall = (statistics.median(t[i] / b[i] for t, b in runs) for i in (0, 1))
                samples = [t[2] for t, _ in runs if t[2]]
                line += f" | {name} {cpu:.3f} ({wall:.3f})" + (f" {statistics.median(samples):.0f}" if samples else "")
            print(line)
        for name in names:
            ratios = [[r[name, rate][0] / r["bare"][0] for r in rows if (name, rate) in r] for rows in cells.values()]
            costs = [[(r[name, rate][0] - r["bare"][0], r[name, rate][2]) for r in rows if (name, rate) in r and r[name, rate][2]] for rows in cells.values()]
            print(f"  median {name:10} CPU ratio {text(estimate(ratios), 4)}, microseconds a sample {text(estimate(costs, per_sample), 1)}")
            if name == "hq" and rate in GOALS:
                goals.add(f"CPU ratio at {rate}/s, median over {len(cells)} programs", GOALS[rate], estimate(ratios), 4)


def bytes_written(programs, hq, goals):
    """One longer run of some programs: what the file holds, the pages that were touched."""
    values = []
    print("\nBytes written by sample (of pages that were touched), CPUTIME at 200/s")
    for program in programs[:1 if QUICK else 3]:
        under(program, program.units(3 if QUICK else 12), hq, 200, "CPUTIME")
        sums = hq.sums()
        values.append(sums["written"] / max(1, sums["samples"]))
        print(f"  {program.name:9} {sums['samples']} samples: {values[-1]:.1f}; the trace is {12 * sums['trace'] / max(1, sums['samples']):.1f} of them")
    if not QUICK:       # the start of the file weighs more in a short run
        goals.add("bytes written by sample (and their range)", 65, (statistics.median(values), min(values), max(values)), 1)


def main():
    work = tempfile.mkdtemp()
    wanted = os.environ.get("HQ_BENCH_PROGRAMS", "").split(",")
    programs = [w for w in workloads(work, BUILD, HQ) if wanted == [""] or w.name in wanted]
    goals, empty, whole, library = Goals(), Empty(work), Hq(work, HQ, BUILD), Hq(work, HQ, BUILD, whole=False)
    gperftools = [Gperftools(work)] if Gperftools.library else []
    perf = [Perf(work)] if Perf.works(work) else []
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; intervals are right for a quiet machine, where load is about 1")
    start_and_finish(work, [("hq, the library", library), ("hq record, all of it", whole), ("empty handler", empty)] + [("gperftools", g) for g in gperftools], goals)
    # Programs of one thread that are not waiting: the timers of elapsed time then tick while the program runs.
    busy = [p for p in programs if p.name not in ("redis", "hpcc", "OpenMP", "throws")]
    rates = [(t, r) for r in (MANY, GPERFTOOLS_MOST) for t in (empty, library)] + [(g, GPERFTOOLS_MOST) for g in gperftools]
    cost_of_samples(busy, rates, 0.35 * SECONDS, goals)
    bytes_written(busy, whole, goals)
    sys.stdout.flush()
    ordinary(programs, [empty, whole] + gperftools + perf, SECONDS - (time.monotonic() - BEGUN), goals)
    goals.show()
    print(f"\n{(time.monotonic() - BEGUN) / 60:.1f} minutes; load {os.getloadavg()[0]:.1f}")
    shutil.rmtree(work, ignore_errors=True)
    return 1 if goals.missed else 0


sys.exit(main())
