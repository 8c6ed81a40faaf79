# SPDX-License-Identifier: BSD-3-Clause
"""Names of code that was made at run time: /tmp/perf-PID.map, if it can be believed, also when it is gone."""
import csv
import glob
import io
import os
import re
import subprocess
import sys

sys.path.insert(0, "tests")
from counting import check, finish

HQ, tmp, programs = os.environ["HQ"], os.environ["HQ_TEST_TMP"], os.environ["PROGRAMS"]
OWN = ["Inner.call", "count\x1b[31mdown", "int Plain::name(int)", "outer"]


def maps(database):
    for path in glob.glob(f"{database}/measurements/*.hqm"):
        pid = re.search(r"-(\d+)-\d+\.hqm$", path)[1]
        yield from (f"/tmp/perf-{pid}.map", f"/tmp/perf-{pid}.map.real")


def record(mode, remove=True):
    database = f"{tmp}/generated-{mode}.hq"
    subprocess.run([HQ, "record", "-f", "-o", database, "--", f"{programs}/jit", mode], check=True, capture_output=True)
    for path in maps(database):
        if remove and os.path.lexists(path):
            os.remove(path)
    return database


def ask(database, query):
    done = subprocess.run([HQ, database, query + " as csv"], capture_output=True, text=True, errors="surrogateescape")
    check(done.returncode == 0, f"{query}: {done.stderr}")
    return list(csv.DictReader(io.StringIO(done.stdout)))


def names(database):
    return sorted(row["name"] for row in ask(database, "procedures of '[generated code]'"))


def nameless(database):
    """Rows of the tree that stand for code without a name: not the kernel's time, whose place the clock cannot tell, nor the collector's."""
    return [row["name"] for row in ask(database, "tree") if row["name"].startswith("[") and not row["name"].startswith(("[kernel", "[hq:"))]


database = record("names")
check(names(database) == OWN, f"procedures are named: {names(database)}")
rows = {row["name"]: row for row in ask(database, "procedures")}
check(rows["outer"]["file"] == "/src/app.js" and rows["outer"]["line"] == "3", f"with file and line: {rows['outer']}")
check(rows["Inner.call"]["file"] == "/src/inner.py", f"or with the file alone: {rows['Inner.call']}")
check("before" not in rows, "later lines hold")
check(abs(float(rows["outer"]["cputime"]) - float(rows["work"]["cputime"])) < 1e-9, "outer has what work has")
check(nameless(database) == [], f"nothing is without a name: {nameless(database)}")
text = subprocess.run([HQ, database, "procedures"], check=True, capture_output=True, text=True).stdout
check("\x1b" not in text and re.search(r"  outer  app.js:3$", text, re.M), f"the screen shows them and nothing odd:\n{text}")
os.remove(database + "/hq.db")
check(names(database) == OWN, "a later build knows the names too")
check([row["name"] for row in ask(database, "modules of '[generated code]'")] == ["[generated code]"], "it is one load module")

check(names(record("odd")) == OWN, "lines that make no sense are passed over")
for mode in ("old", "link"):
    check(names(record(mode)) == ["[generated code]"], f"a map that is not the process's own is not believed: {mode}")
if os.geteuid() == 0:
    check(names(record("foreign")) == ["[generated code]"], "nor is another user's")

text = subprocess.run([HQ, f"{tmp}/generated-old.hq", "procedures"], check=True, capture_output=True, text=True).stdout
check(re.search(r"  \[generated code\]$", text, re.M), f"code without a name looks well:\n{text}")

for query, said in (("info", "/tmp/perf-PID.map: [generated code]"), ("source of '[generated code]'", "of generated code only procedures are")):
    done = subprocess.run([HQ, f"{tmp}/generated-old.hq", query], capture_output=True, text=True)
    check(said in (done.stdout + done.stderr).replace("\n", " "), f"{query} says {said}:\n{done.stdout}{done.stderr}")

# Where the recording cannot be written the names come from the map itself.
database = record("names", remove=False)
for path in glob.glob(f"{database}/measurements/*.map"):
    os.remove(path)
check(names(database) == OWN, "the map is still there at the build")
check(len(glob.glob(f"{database}/measurements/*.map")) == 1, "and is kept then")
for path in maps(database):
    if os.path.lexists(path):
        os.remove(path)

# A part of the program that it maps once more, as V8 does, has the names of the file.
database = record("copy")
rows = {row["name"]: row for row in ask(database, "procedures")}
check("copied" in rows and float(rows["copied"]["cputime.x"]) >= 0.15, f"a copy has its file's names: {sorted(rows)}")
check("[generated code]" not in rows, f"and is not generated: {sorted(rows)}")
check([row["line"] for row in ask(database, "loops of copied")] != [], "nor without lines and loops")
finish()
