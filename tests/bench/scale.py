# SPDX-License-Identifier: BSD-3-Clause
"""The scale benchmark: measurements of an SPMD program (tests/tools/spmd) of 64, 1,024 and 8,192 profiles through `hq build` and the first
questions, and a database of ten million contexts. Prints what it finds beside the goal, and fails if a goal is missed by more than SLACK
(for machines that others use too).

SCALES="64 1024" and BIG=0 in the environment make it shorter.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

HQ, BUILD = os.environ["HQ"], os.environ["BUILD"]
SCALES = [int(n) for n in os.environ.get("SCALES", "64 1024 8192").split()]
BIG = os.environ.get("BIG", "1") != "0"
SLACK = float(os.environ.get("SLACK", "1.5"))
MPIRUN = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
missed = 0


def goal(what, value, bound, unit):
    """One line; counts a miss."""
    global missed
    ok = bound is None or value <= bound * SLACK
    missed += not ok
    against = "" if bound is None else f"   goal {bound:g} {unit}" + ("" if value <= bound else "   MISSED" if not ok else "   (over, within the slack)")
    print(f"  {what:<46} {value:10.4g} {unit}{against}", flush=True)


def run(*command):
    """Wall clock, CPU seconds and peak memory in MB of a command."""
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, **MPIRUN})
    text = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - start
    if status:
        sys.exit(f"{' '.join(command)}: status {status}: {text.decode(errors='replace')}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def megabytes(path):
    if os.path.isfile(path):
        return os.path.getsize(path) / 1e6
    return sum(os.path.getsize(os.path.join(d, f)) for d, _, names in os.walk(path) for f in names) / 1e6


def forget(path):
    """Takes a file out of the page cache."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def ask(database, query, bound):
    forget(database + "/hq.db")
    cold = run(HQ, database, query)[0]
    warm = min(run(HQ, database, query)[0] for _ in range(5))
    goal(f"`{query}` warm", warm * 1e3, bound, "ms")
    goal(f"`{query}` cold", cold * 1e3, None, "ms")


def complete(database, text):
    """The first Tab, in a database that is not in memory and in one that is."""
    command = [f"{BUILD}/tools/completing", "-t", database, text]
    forget(database + "/hq.db")
    for state in ("cold", "warm"):
        took = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[0])
        goal(f"Tab after `{text}` {state}", took, 100, "ms")


def procedures(database):
    """Names with the most time first."""
    out = subprocess.run([HQ, database, "procedures as tsv all"], capture_output=True, text=True, check=True).stdout
    rows = [line.split("\t") for line in out.splitlines()]
    column = rows[0].index("name")
    return [row[column] for row in rows[1:] if len(row) > column and "+0x" not in row[column]]


def scale(profiles, tmp):
    large = profiles == 8192
    database = f"{tmp}/spmd{profiles}"
    print(f"{profiles} profiles of 3,600 values and 4,100 trace records")
    subprocess.run([f"{BUILD}/tools/spmd", database, str(profiles)], check=True)
    os.sync()       # or the first build waits until these are on the disk
    goal("measurements", megabytes(database + "/measurements"), None, "MB")
    run(HQ, "build", "-o", f"{tmp}/warm.db", database)      # structure cache, page cache
    for jobs in (1, 2):
        wall, cpu, memory = run(HQ, "build", "--force", "-j", str(jobs), database)
        goal(f"build, {jobs} thread(s): wall clock", wall, 10 if large and jobs == 2 else None, "s")
        goal(f"build, {jobs} thread(s): CPU", cpu, 20 if large else None, "s")
        goal(f"build, {jobs} thread(s): memory", memory, 600 if large else None, "MB")
    for mpi in ("mpich", "openmpi"):
        if shutil.which(f"mpirun.{mpi}") and os.path.exists(f"libhqmpi-{mpi}.so"):
            wall, _, _ = run(f"mpirun.{mpi}", "-n", "2", HQ, "build", "-j", "1", "-o", f"{tmp}/mpi.db", database)
            goal(f"build, 2 ranks of {mpi}: wall clock", wall, None, "s")
            same = subprocess.run(["cmp", f"{tmp}/mpi.db", database + "/hq.db"]).returncode == 0
            goal(f"build, 2 ranks of {mpi}: files that differ", 0 if same else 1, 0, "")
            os.unlink(f"{tmp}/mpi.db")
    os.unlink(f"{tmp}/warm.db")
    goal("database", megabytes(database + "/hq.db"), 500 if large else None, "MB")
    name = procedures(database)[0]
    for query in ("tree", f'callers of "{name}"', "flat", "hot path", "trace", "procedures", "info"):
        ask(database, query, 50)
    half = f"procedures ranks 0-{profiles // 2 - 1}"
    ask(database, half, 1000)
    values = profiles // 2 * 3600
    print(f"  values touched per second, half of the ranks: {values / run(HQ, database, half)[0] / 1e6:.0f} million")
    ask(database, "procedures columns stddev($1), p90($1)", 1000)
    ask(database, "procedures during 10%..20%", 1000)
    goal("`hq verify`", run(HQ, "verify", database)[0], None, "s")
    shutil.rmtree(database)


def big(tmp):
    database = f"{tmp}/big"
    print("a database of about ten million contexts")
    subprocess.run([f"{BUILD}/tools/spmd", database, "1", "2700000", "1000"], check=True)
    wall, cpu, memory = run(HQ, "build", database)
    goal("build: wall clock", wall, None, "s")
    goal("build: memory", memory, None, "MB")
    goal("database", megabytes(database + "/hq.db"), None, "MB")
    out = subprocess.run([f"{BUILD}/tools/opening", database], capture_output=True, text=True, check=True).stdout
    contexts, opening, name = out.splitlines()
    print(f"  {contexts} contexts")
    goal("opening", float(opening), 10, "ms")
    ask(database, f'callers of "{name}"', 50)
    for text in ("tree of ", "callers of std", "callers of nosuch", "tree where name = "):
        complete(database, text)
    shutil.rmtree(database)


with tempfile.TemporaryDirectory(prefix="hq-bench.") as top:
    os.environ["XDG_CACHE_HOME"] = top + "/cache"
    for n in SCALES:
        scale(n, top)
    if BIG:
        big(top)
print(f"{missed} goals missed (slack {SLACK:g})")
sys.exit(missed > 0)
