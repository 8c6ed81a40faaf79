#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Runs every example of examples/queries on a fixture and compares the answer with tests/query/examples/NAME.out.
# `tests/query/examples.py --update` writes the answers: read what `git diff` says of them.
import glob, os, re, subprocess, sys, tempfile

from counting import seconds

TOP = os.environ.get("TOP") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HQ = os.environ.get("HQ", os.path.join(TOP, "hq"))
FIXTURE = os.path.join(TOP, "build/tools/fixture")
HERE = os.path.join(TOP, "tests/query")
WANTED = 25


def make(source, db):
    subprocess.run([FIXTURE, source, db], check=True)


def databases(directory):
    text = open(os.path.join(HERE, "app.fixture")).read()
    traced = text.replace("metric CPUTIME seconds 0.001 10 sampled", "metric CPUTIME seconds 0.001 10 sampled traced")
    combined = os.path.join(directory, "examples.fixture")
    with open(combined, "w") as f:
        f.write(traced + open(os.path.join(HERE, "examples.extra")).read())
    make(combined, os.path.join(directory, "db"))
    for name in "old", "marked", "counted":
        make(os.path.join(HERE, name + ".fixture"), os.path.join(directory, name))
    return [os.path.join(directory, name) for name in ("db", "old", "marked", "counted")]


def answer(path, db, old, marked, counted):
    text = open(path).read()
    if "-- needs: marks" in text:
        db = old = marked
    if "-- needs: counters at marks" in text:
        db = counted
    parameters = ["-D", "old=" + old] if "{{old" in text else []
    done = subprocess.run([HQ, db, *parameters, "-f", path], capture_output=True, text=True, timeout=seconds(60))
    return done.returncode, "".join(line.rstrip() + "\n" for line in done.stdout.splitlines()), done.stderr


def check(path, dbs, update):
    name = os.path.basename(path)[:-3]
    golden = os.path.join(HERE, "examples", name + ".out")
    first = open(path).readline()
    if not re.match(r"-- .*\?", first):
        return "%s does not begin with the question that it answers" % name
    status, out, err = answer(path, *dbs)
    if status not in (0, 1, 4):
        return "%s: status %d: %s" % (name, status, err)
    if "nothing matches" in err or "hint:" in err:
        return "%s: %s" % (name, err)
    if update:
        with open(golden, "w") as f:
            f.write(out)
        return None
    expected = open(golden).read() if os.path.exists(golden) else ""
    if out != expected:
        return "%s: expected\n%s\nbut got\n%s" % (name, expected, out)
    return None


def main():
    update = "--update" in sys.argv
    paths = sorted(glob.glob(os.path.join(TOP, "examples/queries/*.hq")))
    wrong = ["there are only %d examples" % len(paths)] if len(paths) < WANTED else []
    with tempfile.TemporaryDirectory(prefix="hq-examples.") as directory:
        dbs = databases(directory)
        wrong += [w for w in (check(p, dbs, update) for p in paths) if w]
    for line in wrong:
        print(line)
    print("%d passed, %d failed" % (len(paths) - len(wrong), len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
