#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Databases and recordings of earlier versions answer as they did: tests/older/VERSION holds what a version made and what it answered.

    older.py --write VERSION HQ     asks HQ, the hq of that version, for the answers (tests/older/README)
"""
# timeout: 600
import csv
import fcntl
import io
import json
import lzma
import math
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections import Counter

from counting import check, finish

TOP = os.environ.get("TOP", os.getcwd())
OLDER = os.path.join(TOP, "tests/older")

# Of a database everything is compared: it answers without the programs and libraries that it is of.
OF_DATABASES = [
    "profiles", "threads all", "threads of main", "tree all", "set lines on; tree all", "callers all", "procedures all", "loops all", "lines all",
    "files all", "modules all", "flat all", "set inline off; procedures all", "set normalise off; loops all", "hot path", "explain 90% of $1",
    "procedures all during 0%..50%", "procedures all during 50%..", "trace width 20", "trace summary width 5",
    "procedures of main columns $1, @1, max($1), mean($1), min($1), ci($1) per thread", "procedures all not through main",
    "tree all prune /^(left|right|step|apply.*)$/", "tree all hide /^(left|right|step|apply.*)$/",
]
# A recording is built anew, so what it says of libraries and of loops depends on the machine and on the version; these do not.
OF_RECORDINGS = ["profiles", "threads all", "modules all", "procedures all"]
# What was recorded of the program itself; of a parallel region the callers are another matter, so only the place of the cost is compared.
PROGRAM = {"plain": "split", "threads": "threads", "processes": "family", "realtime": "family", "alloc": "amounts", "openmp": "parallel", "mpi": "mpi",
           "templates": "templates"}
ONLY_EXCLUSIVE = {"openmp"}
# A hot path by a metric of which there is nothing ended at the first row; it goes by the first of which there is something.
OTHERWISE = {("alloc", "hot path")}
# Since 0.2.0 a line is listed at which there are inlined calls alone.
LISTS_MORE = {"lines all"}
# Columns of text that the tests of other things know the words of.
WORDS = {"id", "process", "path", "depth"}


def ask(hq, db, query, everything):
    """(columns, rows) of the answer as csv. What later versions leave out unless it is asked for is asked for."""
    text = "; ".join(everything + [query]) + " as csv"
    done = subprocess.run([hq, "--quiet", db, text], capture_output=True, text=True)
    if done.returncode != 0:
        return [done.stderr.strip()], []
    table = list(csv.reader(io.StringIO(done.stdout)))
    return table[0], table[1:]


def shown_settings(hq, db):
    """Statements that show what a version leaves out by itself."""
    there = subprocess.run([hq, "--quiet", db, "set"], capture_output=True, text=True).stdout
    return [f"set {name} on" for name in ("helpers", "internals") if f"\n  {name} " in there]


def totals(hq, db):
    """{metric: total}, of all profiles."""
    done = subprocess.run([hq, "--quiet", db, "metrics as csv"], capture_output=True, text=True)
    names = [row["name"] for row in csv.DictReader(io.StringIO(done.stdout))]
    query = "procedures limit 1 columns " + ", ".join(f"t{i} = @{2 * i + 1}" for i in range(len(names)))
    columns, rows = ask(hq, db, query, shown_settings(hq, db))
    return {name: rows[0][columns.index(f"t{i}")] for i, name in enumerate(names)}


def unpack(archive, where):
    with tarfile.open(archive, "r:xz") as tar:
        tar.extractall(where, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))


def answers_of(hq, db, queries):
    """Statistics of 0.1.0 were over ranks alone: helpers and launchers, which `set helpers on` counts since 0.2.0, are not asked for in them."""
    everything = shown_settings(hq, db)
    return {query: ask(hq, db, query, [s for s in everything if not (" mean(" in query and "helpers" in s)]) for query in queries}


def is_body(name):
    """Since 0.2.0 the body of a parallel region is no procedure of its own; here it costs nothing outside of what it calls."""
    return "._omp_fn." in name


# ---- comparing ----

def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def same(a, b):
    x, y = number(a), number(b)
    if x is None or y is None:
        return a == b
    return math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-12)


def named(text):
    """Since 0.2.0 a thread of the only process is told without it."""
    return re.sub(r"^process \d+ (?=thread \d+$)", "", text)


def keyed(answer, columns):
    """{names: [numbers]} of the rows, by the texts of the columns that identify a row."""
    have, rows = answer
    at = [have.index(c) for c in columns]
    found = Counter()
    for row in rows:
        found[tuple(f"{number(row[i]):.9g}" if number(row[i]) is not None else named(row[i]) for i in at)] += 1
    return found


def has_own_cost(columns, row):
    return any(c.endswith(".x") and number(cell) for c, cell in zip(columns, row))


def difference(old, new, columns, where=lambda row: True, more=False):
    """None, or what differs: rows as multisets, numbers to nine digits. `more`: rows that cost nothing themselves may come."""
    if not set(columns) <= set(new[0]):
        return f"columns {new[0]} instead of {columns}"
    rows = [keyed((have, [r for r in rows if where(dict(zip(have, r)))]), columns) for have, rows in (old, new)]
    gone, come = rows[0] - rows[1], rows[1] - rows[0]
    if more:
        come = Counter({row: n for row, n in come.items() if has_own_cost(columns, row)})
    if not gone and not come:
        return None
    return f"gone: {list(gone)[:3]}\nnew:  {list(come)[:3]} ({sum(gone.values())} and {sum(come.values())} rows)"


def check_baseline(version, hq, db):
    """Baselines are not read for good: a sentence says what to do, and an update keeps their tolerances."""
    where = os.path.dirname(db)
    for name in ("shares.hq", "shares.baseline"):
        shutil.copy(os.path.join(OLDER, version, name), where)
    text = open(os.path.join(where, "shares.baseline")).read().replace("+-2%", "+-6%")
    open(os.path.join(where, "shares.baseline"), "w").write(text)
    done = subprocess.run([hq, "check", db, os.path.join(where, "shares.hq")], capture_output=True, text=True)
    check(done.returncode == 2 and done.stdout.count("is a baseline of hq 0.1") == 1, f"{version}: its baseline: {done.returncode} {done.stdout}")
    subprocess.run([hq, "check", "--update", db, os.path.join(where, "shares.hq")], capture_output=True)
    again = open(os.path.join(where, "shares.baseline")).read()
    values = [[line for line in t.splitlines() if " +-" in line] for t in (text, again)]
    check(values[0] == values[1], f"{version}: an update keeps the values of its baseline:\n{again}")
    done = subprocess.run([hq, "check", db, os.path.join(where, "shares.hq")], capture_output=True, text=True)
    check(done.returncode in (0, 4), f"{version}: the updated baseline: {done.returncode} {done.stdout}")


def check_databases(version, hq, scratch, expected):
    where = os.path.join(scratch, "databases")
    unpack(os.path.join(OLDER, version, "databases.tar.xz"), where)
    for name, answers in expected["databases"].items():
        db = os.path.join(where, name + ".hq")
        got = totals(hq, db)
        check(list(got) == list(expected["totals"][name]) and all(same(got[m], t) for m, t in expected["totals"][name].items()),
              f"{version} {name}.hq: totals {got} instead of {expected['totals'][name]}")
        now = answers_of(hq, db, answers)
        for query, old in answers.items():
            problem = difference(old, now[query], [c for c in old[0] if c not in WORDS], more=query in LISTS_MORE)
            check(bool(problem) == ((name, query) in OTHERWISE), f"{version} {name}.hq: {query}\n{problem}")
        if name == "plain":
            check_baseline(version, hq, db)
        check(subprocess.run([hq, "verify", db], capture_output=True).returncode == 0, f"{version} {name}.hq: verify")


def locked(path):
    """The file, locked; who held it before may have removed it meanwhile."""
    while True:
        lock = open(path, "w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            if os.path.samestat(os.fstat(lock.fileno()), os.stat(path)):
                return lock
        except FileNotFoundError:
            pass
        lock.close()


def check_recordings(version, hq, scratch, expected):
    """They know their programs by their paths, so they are unpacked where they were made."""
    where = expected["path"]
    lock = locked(where + ".lock")
    unpack(os.path.join(OLDER, version, "recordings.tar.xz"), where)
    for name, answers in expected["recordings"].items():
        db = os.path.join(scratch, name + ".hq")
        done = subprocess.run([hq, "build", "--quiet", "-o", db, os.path.join(where, name + ".hq")], capture_output=True, text=True)
        check(done.returncode == 0, f"{version} {name}: the recording is built: {done.stderr}")
        got = totals(hq, db)
        check(all(same(got.get(m, "none"), t) for m, t in expected["totals"][name].items()),
              f"{version} {name}: totals {got} instead of {expected['totals'][name]}")
        now = answers_of(hq, db, answers)
        for query, old in answers.items():
            columns = [c for c in old[0] if c not in WORDS and c not in ("file", "line", "callsite")]
            # Where another C library is installed, what is above a thread's first procedure is not known.
            if name in ONLY_EXCLUSIVE or query == "modules all":
                columns = [c for c in columns if c + ".x" not in old[0]]
            problem = difference(old, now[query], columns, lambda row: query != "procedures all" or (row["module"] == PROGRAM[name] and not is_body(row["name"])))
            check(not problem, f"{version} {name}, built anew: {query}\n{problem}")
    shutil.rmtree(where)
    os.remove(lock.name)


def check_regions(version, hq, scratch):
    """A recording whose parallel regions are joined with what opens them, and the database of a version that did not: both sides have what the regions of
    each procedure as one row at the top, and nothing is lost."""
    new, old = os.path.join(scratch, "regions.hq"), os.path.join(scratch, "databases", "openmp.hq")
    program = os.path.join(os.environ["TOP"], os.environ.get("BUILD", "build"), "programs/parallel")
    done = subprocess.run([hq, "record", "-o", new, "--", program, "1"], capture_output=True, text=True)
    check(done.returncode == 0, f"recording: {done.stderr}")
    for here, there in ((new, old), (old, new)):
        done = subprocess.run([hq, here, f'tree compare with "{there}" as json'], capture_output=True, text=True)
        check("which call path opens a parallel region" in done.stderr, f"it says so: {done.stderr}")
        answer = json.loads(done.stdout)
        top = {row["name"]: row["values"] for row in answer["rows"] if row["depth"] == 0}
        for name in ("main", "outer"):
            check(name in top and all(v and v > 0 for v in top[name][:2]), f"{here}: {name}: {top.get(name)}")
        names = {row["name"] for row in answer["rows"]}
        check(not [n for n in names if ("GOMP" in n and not n.endswith("@plt")) or "_omp_fn" in n or n.startswith("[wait")], f"{here}: {sorted(names)}")
        for side in (0, 1):
            check(same(sum(v[side] or 0 for v in top.values()), answer["total"][side]), f"{here}: side {side}: {top} of {answer['total']}")
        columns, rows = ask(hq, here, f'procedures of work compare with "{there}"', [])
        check(len(rows) == 1 and all(float(rows[0][columns.index(c)]) > 0 for c in ("cputime", "old.cputime")), f"{here}: work: {rows}")


def write(version, hq):
    """In a directory with NAME.hq, each with its measurements and its hq.db, and the programs."""
    names = sorted(n[:-3] for n in os.listdir(".") if n.endswith(".hq"))
    result = {"path": os.getcwd(),
              "totals": {n: totals(hq, n + ".hq") for n in names},
              "databases": {n: answers_of(hq, n + ".hq", OF_DATABASES) for n in names},
              "recordings": {n: answers_of(hq, n + ".hq", OF_RECORDINGS) for n in names}}
    for name, answers in result["databases"].items():
        for query, (columns, rows) in list(answers.items()):
            if not rows:
                print(f"{name}: {query}: {columns}")
                del answers[query]
    to = os.path.join(OLDER, version)
    os.makedirs(to, exist_ok=True)
    with lzma.open(os.path.join(to, "answers.json.xz"), "wt", preset=9) as f:
        json.dump(result, f, indent=0)
    for archive, wanted in (("databases", ["hq.db"]), ("recordings", ["measurements"])):
        with tarfile.open(os.path.join(to, archive + ".tar.xz"), "w:xz", preset=9) as tar:
            for n in names:
                for part in wanted:
                    tar.add(f"{n}.hq/{part}")
            for n in sorted(os.listdir(".")):
                if archive == "recordings" and (os.path.isfile(n) or n == "src"):
                    tar.add(n)


if sys.argv[1:2] == ["--write"]:
    write(*sys.argv[2:])
    sys.exit()
scratch = os.environ["HQ_TEST_TMP"]
os.environ["XDG_CACHE_HOME"] = os.path.join(scratch, "cache")
for version in sorted(v for v in os.listdir(OLDER) if os.path.isdir(os.path.join(OLDER, v))):
    with lzma.open(os.path.join(OLDER, version, "answers.json.xz"), "rt") as f:
        expected = json.load(f)
    check_databases(version, os.environ["HQ"], os.path.join(scratch, version), expected)
    check_regions(version, os.environ["HQ"], os.path.join(scratch, version))
    check_recordings(version, os.environ["HQ"], os.path.join(scratch, version), expected)
finish()
