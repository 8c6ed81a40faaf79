#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""doc/extending.md is true: its examples, added to a copy of the tree, build, and their tests pass; those that it says complain, do."""
# timeout: 600
import os
import re
import shutil
import subprocess

from counting import check, finish

TOP = os.environ["TOP"]
COPY = os.path.join(os.environ["HQ_TEST_TMP"], "tree")
ROOMS = [name for name in os.listdir(TOP)
         if os.path.isdir(os.path.join(TOP, name)) and not name.startswith((".", "build")) and not name.endswith(".hq")]


def run(*command, **environment):
    done = subprocess.run(command, cwd=COPY, capture_output=True, text=True, env={**os.environ, "TOP": COPY, **environment})
    return done.returncode, done.stdout + done.stderr


def copy():
    """The tree with the objects that are built, so that only what the examples concern is built again."""
    for room in ROOMS:
        shutil.copytree(os.path.join(TOP, room), os.path.join(COPY, room), symlinks=True)
    shutil.copytree(os.path.join(TOP, "build"), os.path.join(COPY, "build"), symlinks=True,
                    ignore=shutil.ignore_patterns("programs", "*_test", "libhqtest.a"))
    for name in ("Makefile", "README.md"):
        shutil.copy2(os.path.join(TOP, name), COPY)


def add_examples(page):
    """[file] of the code blocks that name one; they are written."""
    files = []
    for name, more, before, text in re.findall(r"^```\w+ (\S+)( \+)?(?: before (.*?))?\n(.*?)^```$", page, re.S | re.M):
        path = os.path.join(COPY, name)
        check(os.path.exists(path) == bool(more), f"{name} is {'there' if more else 'new'}")
        old = open(path).read() if more else ""
        head, tail = old.rstrip("\n"), ""
        if before:
            check(before in old, f"{name} has {before}")
            start = old.rindex("\n", 0, old.index(before)) + 1
            head, tail = old[:start - 1], old[start:]
        with open(path, "w") as f:
            f.write(head + "\n" + text + tail if more else text)
        files.append(name)
    return files


page = open(os.path.join(TOP, "doc/extending.md")).read()
copy()
files = add_examples(page)
check(len(files) == 30, f"there are 30 examples: {files}")
for name in re.findall(r"`((?:query|db|preload|repl|format|tests|doc)/[\w/]+\.\w+)`", page):
    check(os.path.exists(os.path.join(COPY, name)), f"{name}, of which doc/extending.md speaks")

units = [f"build/tests/{name}_test" for name in ("import_strace", "manual", "grammar")]
tools = [f"build/tools/{name}" for name in ("fixture", "completing", "measurements")]
status, output = run("make", "-j2", "all", *tools, "build/programs/gizmo", "build/programs/libgizmo.so", *units)
check(status == 0, output)
check("warning" not in output, output)

tests = [f for f in files if f.startswith("tests/") and f.endswith(".sh")] + units[:1]
status, output = run("tests/run", "BUILD=build", "HQ=./hq", *tests, "tests/repl/manual.sh")
check(status == 0, output)
queries = [f for f in files if f.endswith(".test")]
status, output = run("tests/query/run", *queries, HQ=os.path.join(COPY, "hq"), BUILD="build")
check(status == 0, output)

# What the row alone makes known.
for word in ("inlined", "jsonl", "cbrt", "top"):
    check(run("./hq", "help", word)[0] == 0, f"help {word}")
check("SYNC" in run("./hq", "record", "--list")[1], "record --list")
check("strace" in run("./hq", "import", "--formats")[1], "import --formats")
check("metrics" in run("./hq", "--completion", "bash")[1], "completion of the command")

# What complains, and how it is told the news.
complaints = {unit: (unit,) for unit in units[1:]}
for test, renew in complaints.items():
    check(run("tests/run", "BUILD=build", "HQ=./hq", test)[0] != 0, f"{test} complains")
    run(*renew, HQ_UPDATE="1", HQ=os.path.join(COPY, "hq"), BUILD="build")
    status, output = run("tests/run", "BUILD=build", "HQ=./hq", test)
    check(status == 0, f"{test} is content after the update: {output}")
for test in ("tests/repl/completion.py", "tests/repl/mistakes.sh", "tests/e2e/documents.py"):
    check(run("tests/run", "BUILD=build", "HQ=./hq", test)[0] != 0, f"{test} complains")
check("groups.test" in run("tests/query/run", HQ=os.path.join(COPY, "hq"), BUILD="build")[1], "groups.test complains")
status, output = run("tests/run", "BUILD=build", "HQ=./hq", "tests/collector/symbols.sh")
check(status == 0, f"what is preloaded needs nothing new: {output}")
check("`inlined`" in open(os.path.join(COPY, "doc/language.md")).read(), "doc/language.md has the view")
check("`top P%`" in open(os.path.join(COPY, "doc/language.md")).read(), "doc/language.md has the clause")

finish()
