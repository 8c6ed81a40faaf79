# SPDX-License-Identifier: BSD-3-Clause
"""What the end-to-end tests share: run hq as a user does, read its JSON, count checks."""

import json
import math
import os
import shutil
import subprocess

from counting import check, finish  # noqa: F401

HQ = os.environ["HQ"]
TMP = os.environ["HQ_TEST_TMP"]
PROGRAMS = os.environ["PROGRAMS"]


def run(*command, **options):
    """Runs a command and returns (status, standard output, standard error)."""
    options.setdefault("cwd", TMP)
    done = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", **options)
    return done.returncode, done.stdout, done.stderr


def record(db, *command, options=(), **run_options):
    """Records a program and checks that hq passed its success through."""
    status, out, err = run(HQ, "record", *options, "-o", db, "--", *command, **run_options)
    check(status == 0, f"record {' '.join(map(str, command))}: exit status {status}, standard error: {err[-500:]}")
    return out, err


def ask(db, query):
    """The result of a query as parsed JSON; an empty one after a counted failure."""
    status, out, err = run(HQ, db, query + " as json")
    check(status == 0, f"`{query}`: exit status {status}, standard error: {err[-500:]}")
    return json.loads(out) if status == 0 else {"columns": [], "rows": [], "coverage": {}}


def column(result, name):
    for i, c in enumerate(result["columns"]):
        if c["name"] == name:
            return i
    raise SystemExit(f"no column {name} in {[c['name'] for c in result['columns']]}")


def value(result, row, name):
    v = row["values"][column(result, name)]
    return 0.0 if v is None else v


def mpis(*needed):
    """The MPIs that are here with all that is needed of each ("mpicc", "mpirun"); none: the test is skipped."""
    here = []
    for mpi in ("openmpi", "mpich"):
        if all(shutil.which(f"{program}.{mpi}") for program in needed):
            here.append(mpi)
        else:
            print(f"skipped: there is no {mpi}")
    if not here:
        print("neither Open MPI nor MPICH is here")
        raise SystemExit(77)
    return here


def find(result, name):
    return next((r for r in result["rows"] if r["name"] == name), None)


def total(db, metric="cputime"):
    """Inclusive total of a metric: the sum of the top rows of the complete tree."""
    result = ask(db, "tree depth 1")
    return sum(value(result, r, metric) for r in result["rows"] if r["depth"] == 0)


def samples(result):
    return result["coverage"]["samples"]


def near_share(share, expected, n, what, sigmas=3.0, slack=0.005):
    """A share found by n samples lies within `sigmas` standard deviations of a known one.

    Samples of one thread come at regular times, so the binomial deviation is an upper bound; `slack` covers the
    time that the program spends outside what it measures of itself.
    """
    bound = sigmas * math.sqrt(max(expected * (1 - expected), 1e-4) / max(n, 1)) + slack
    check(abs(share - expected) <= bound, f"{what}: share {share:.4f}, expected {expected:.4f} +- {bound:.4f} ({n} samples)")


def full_paths(db, at_least, what):
    """The share of samples whose call path is complete."""
    coverage = ask(db, "tree depth 1")["coverage"]
    n, partial = coverage["samples"], coverage["partial"]
    check(n > 0 and 1 - partial / n >= at_least, f"{what}: {partial} of {n} call paths are partial")


def nothing_above_total(db, what, metric="cputime"):
    whole = total(db, metric)
    for view in ("tree", "callers", "flat", "procedures"):
        result = ask(db, view)
        top = max((value(result, r, metric) for r in result["rows"]), default=0)
        check(top <= whole * (1 + 1e-9), f"{what}: a row of {view} has {top}, the total is {whole}")
